"""Users' files: imported once, shadowing nothing, and blamed by line."""

import contextlib
import os
import pickle
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pixie_otel.errors import ConfigError
from pixie_otel.evals.userfile import find_in_file, load_file

Write = Callable[..., str]


@pytest.fixture(autouse=True)
def clean_imports() -> Iterator[None]:
    """Forget what a test imported, and the folders it added."""
    modules, path = set(sys.modules), [*sys.path]
    yield
    for name in set(sys.modules) - modules:
        del sys.modules[name]
    sys.path[:] = path


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of a user's, and give its path."""

    def write(content: str, name: str = "my-evals.py") -> str:
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(textwrap.dedent(content), encoding="utf-8")
        return str(file)

    return write


def test_a_file_is_imported_once(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """Two references to one file, however it is written, share one module."""
    path = write("print('imported')\nvalue = []\n")

    first, second = load_file(path), load_file(os.path.relpath(path))

    assert first is second
    assert capsys.readouterr().err == "imported\n"


def test_what_a_file_prints_is_no_output_of_ours(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints at import go to stderr, as stdout may be data."""
    load_file(write("print('noise')"))

    assert capsys.readouterr() == ("", "noise\n")


def test_a_file_that_was_edited_is_imported_anew(write: Write) -> None:
    """The same size and the same second are no reason to run what stood there before."""
    before = load_file(write("value = 1"))
    after = load_file(write("value = 2"))

    assert (before.value, after.value) == (1, 2)


def test_no_bytecode_is_left_beside_the_file(write: Write, tmp_path: Path) -> None:
    """Importing a user's file writes nothing into the user's folder."""
    load_file(write("value = 1"))

    assert [item.name for item in tmp_path.iterdir()] == ["my-evals.py"]


def test_classes_of_a_file_can_be_pickled(write: Write) -> None:
    """The module is registered, which pickle and dataclasses rely on."""
    module = load_file(
        write(
            """
            from __future__ import annotations
            from dataclasses import dataclass

            @dataclass
            class Point:
                x: int
            """
        )
    )

    assert pickle.loads(pickle.dumps(module.Point(1))) == module.Point(1)


def test_neighbours_are_found(write: Write) -> None:
    """A file can import the modules beside it, also later, from inside a function."""
    write("answer = 42", "my_neighbour_of_evals.py")
    module = load_file(
        write(
            """
            import my_neighbour_of_evals

            def later():
                from my_neighbour_of_evals import answer
                return answer
            """
        )
    )

    assert module.my_neighbour_of_evals.answer == 42
    assert module.later() == 42


def test_neighbours_of_one_name_do_not_mix(write: Write) -> None:
    """Files of different folders each import the module beside them, whichever came first, and whatever is loaded."""
    write("value = 'a'", "a/helpers_of_evals.py")
    write("value = 'b'", "b/helpers_of_evals.py")
    write("value = 'only a'", "a/other_helpers_of_evals.py")
    one = write("import helpers_of_evals", "a/one.py")
    two = write("import helpers_of_evals\nimport other_helpers_of_evals", "b/two.py")
    three = write("import helpers_of_evals\nimport other_helpers_of_evals", "a/three.py")

    first, second, third = (load_file(path) for path in (one, two, three))

    assert [module.helpers_of_evals.value for module in (first, second, third)] == ["a", "b", "a"]
    assert third.helpers_of_evals is first.helpers_of_evals
    assert third.other_helpers_of_evals is second.other_helpers_of_evals


def test_neighbours_hide_nothing_that_is_installed(write: Write, tmp_path: Path) -> None:
    """A module called like one of the standard library or an installed package stays out of the way."""
    write("raise RuntimeError('the wrong one')", "colorsys.py")
    write("raise RuntimeError('the wrong one')", "autoevals.py")
    sys.modules.pop("colorsys", None)

    module = load_file(write("import colorsys, autoevals"))

    assert Path(module.colorsys.__file__).parent != tmp_path
    assert sys.path.index(str(tmp_path)) > sys.path.index(str(Path(module.autoevals.__file__).parents[1]))


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("x = 1\nraise ValueError('no key')\n", 2, "raised ValueError: no key"),
        ("import os\n\n\ndef f():\n    return {}['k']\n\nf()\n", 5, "raised KeyError: 'k'"),
        ("import sys\nsys.exit(3)\n", 2, r"called sys.exit\(3\); an evaluators' file is imported, so guard"),
        ("import no_such_module_at_all\n", 1, "raised ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("def f(:\n", 1, "raised SyntaxError"),
        ("import json\njson.loads('{')\n", 2, "raised JSONDecodeError"),
        ("class Stop(BaseException): pass\nraise Stop('x')\n", 2, "raised Stop: x"),
    ],
)
def test_a_file_that_cannot_be_imported_is_blamed_by_line(write: Write, content: str, line: int, message: str) -> None:
    """The message holds the file, its own line, and what happened; nothing half imported stays behind."""
    path = write(content)
    before = set(sys.modules)

    with pytest.raises(ConfigError, match=rf"my-evals\.py:{line}: importing it {message}"):
        load_file(path)

    assert not [name for name in set(sys.modules) - before if name.startswith("pixie_user_file")]


@pytest.mark.parametrize("content", [b"x = '\xff'", b"x = 1\0"])
def test_bytes_that_are_no_python_are_an_error_of_ours(write: Write, content: bytes) -> None:
    """Invalid UTF-8 and NULs end in a message."""
    path = write("")
    Path(path).write_bytes(content)

    with pytest.raises(ConfigError, match=r"my-evals\.py.*: importing it raised (SyntaxError|ValueError)"):
        load_file(path)


def test_ctrl_c_during_an_import_is_ctrl_c(write: Write) -> None:
    """An interrupt is not turned into a message about the file, and nothing half imported stays behind."""
    path = write("raise KeyboardInterrupt")

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            load_file(path)


@pytest.mark.parametrize("name", ["nowhere.py", "folder.py"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    """The message holds the path as it was typed and as it was resolved."""
    (tmp_path / "folder.py").mkdir()
    path = str(tmp_path / "x" / ".." / name)

    with pytest.raises(ConfigError) as caught:
        load_file(path)

    assert path in str(caught.value)
    assert str((tmp_path / name).resolve()) in str(caught.value)


def test_two_files_of_one_name_are_two_modules(write: Write) -> None:
    """Files of the same name in different folders do not mix."""
    one, two = load_file(write("value = 1", "a/evals.py")), load_file(write("value = 2", "b/evals.py"))

    assert (one.value, two.value) == (1, 2)


def test_a_missing_name_lists_what_there_is(write: Write) -> None:
    """Functions, classes and objects of the file are offered, what it imported and hides is not."""
    path = write(
        """
        import json
        from functools import partial
        from dataclasses import dataclass

        def polite(evaluable): ...
        def _private(evaluable): ...
        class Short:
            def __call__(self, evaluable): ...
        short = Short()
        part = partial(polite)
        number = 5
        """
    )

    with pytest.raises(
        ConfigError, match=r"has no 'polit'; did you mean polite\? It defines: polite, Short, short, part$"
    ):
        find_in_file(load_file(path), "polit", path)


def test_a_file_without_callables_says_so(write: Write) -> None:
    """A file that holds nothing to call is no evaluators' file."""
    path = write("number = 5")

    with pytest.raises(ConfigError, match="has no 'x'; It defines: nothing that can be called"):
        find_in_file(load_file(path), "x", path)


def test_what_is_found_is_the_object_itself(write: Write) -> None:
    """Finding calls nothing."""
    module: object = load_file(write("def f(evaluable): ..."))

    assert find_in_file(module, "f", "x") is module.f
    with contextlib.suppress(ConfigError):
        find_in_file(module, "__nothing__", "x")
