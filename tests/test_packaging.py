"""What is shipped, what it is called, and what importing it costs."""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pixie_otel

ROOT = Path(__file__).parent.parent
FACE = ast.parse((ROOT / "pixie_otel" / "__init__.py").read_text(encoding="utf-8"))


def type_checking_imports() -> dict[str, str]:
    """Read which name a type checker finds in which module."""
    block = next(node for node in FACE.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: str(node.module) for node in imports for alias in node.names}


def loaded_modules(program: str) -> set[str]:
    """Run a program in an interpreter of its own and tell what that had loaded at its end."""
    report = "import atexit, json, sys; atexit.register(lambda: print('\\n' + json.dumps(sorted(sys.modules))))"
    done = subprocess.run([sys.executable, "-c", f"{report}\n{program}"], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_packages_listed_are_the_folders_there_are() -> None:
    """Every folder with an `__init__.py`, seen through the links, is listed as a package, and no other."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]

    top = {ROOT / "pixie_otel", ROOT / "pixie_otel" / "exporters", ROOT / "pixie_otel" / "cli"}
    found = {init.parent.relative_to(ROOT) for folder in top for init in folder.rglob("__init__.py")}

    assert sorted(listed) == sorted(".".join(folder.parts) for folder in found)


@pytest.mark.parametrize("name", ["exporters", "cli"])
def test_the_links_point_at_the_real_folders(name: str) -> None:
    """`pixie_otel/exporters` and `pixie_otel/cli` are relative links to the folders beside the package."""
    link = ROOT / "pixie_otel" / name

    assert link.is_symlink()
    assert link.readlink() == Path("..", name)
    assert link.resolve() == (ROOT / name).resolve()


def test_the_package_says_that_it_is_typed() -> None:
    """`py.typed` lies in the package, so type checkers read our annotations."""
    assert (ROOT / "pixie_otel" / "py.typed").is_file()


def test_public_names_are_sorted() -> None:
    """`__all__` is in the order that the linter sorts it into: constants, classes, then functions."""
    constants = [name for name in pixie_otel.__all__ if name.isupper()]
    classes = [name for name in pixie_otel.__all__ if name[0].isupper() and not name.isupper()]
    functions = [name for name in pixie_otel.__all__ if name[0].islower()]

    assert pixie_otel.__all__ == sorted(constants) + sorted(classes) + sorted(functions)


def test_the_lists_of_public_names_agree() -> None:
    """What is imported lazily, what a type checker sees and what is exported are the same names and modules."""
    assert sorted(pixie_otel._MODULES) == sorted(pixie_otel.__all__)
    assert type_checking_imports() == pixie_otel._MODULES


@pytest.mark.parametrize("name", pixie_otel.__all__)
def test_a_public_name_resolves(name: str) -> None:
    """A public name can be had from the package, and is the very object that its module defines."""
    value = getattr(pixie_otel, name)

    assert value is getattr(sys.modules[pixie_otel._MODULES[name]], name)


def test_public_names_are_listed_before_their_use() -> None:
    """`dir(pixie_otel)` shows all public names, so that completion knows them."""
    assert {*pixie_otel.__all__, "__version__"} <= set(dir(pixie_otel))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A name that does not exist is refused as Python does it, naming the package and the attribute."""
    with pytest.raises(AttributeError, match="module 'pixie_otel' has no attribute 'no_such_name'"):
        pixie_otel.no_such_name  # noqa: B018 -- looking it up is the test


def test_the_version_is_the_one_of_pyproject() -> None:
    """`pixie_otel.__version__` is what the installed distribution says, which is what pyproject.toml says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert pixie_otel.__version__ == project["version"]


def test_importing_the_package_loads_nothing_heavy() -> None:
    """`import pixie_otel` loads no telemetry SDK, no judge, no model library and nothing of the command line."""
    heavy = {"autoevals", "msgspec", "openai", "opentelemetry", "opentelemetry.sdk", "pydantic", "rich", "typer"}

    assert not heavy & loaded_modules("import pixie_otel")


def test_help_loads_no_judge_and_no_exporter() -> None:
    """`pixie-otel --help` loads neither what judges nor what exports, and draws no table."""
    heavy = {"autoevals", "openai", "opentelemetry.exporter", "rich.table"}

    loaded = loaded_modules(
        "import sys; sys.argv = ['pixie-otel', '--help']\nfrom pixie_otel.cli.main import main\nsys.exit(main())"
    )

    assert not heavy & loaded


def test_the_module_is_the_command() -> None:
    """`python -m pixie_otel --help` prints the command's help, under the command's name."""
    done = subprocess.run(
        [sys.executable, "-m", "pixie_otel", "--help"], capture_output=True, text=True, check=True, encoding="utf-8"
    )

    assert "pixie-otel" in done.stdout
    assert "eval" in done.stdout
