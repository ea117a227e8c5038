"""Facts about where the settings of `init` come from and what becomes of wrong ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from programs import run_program

from pixie_otel.tracing.settings import Settings, is_strict, resolve


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("PIXIE_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    # Ends the search upwards.
    _project(tmp_path, "[project]\nname = 'app'\n")


def _project(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def _messages(**arguments: Any) -> list[str]:
    return [problem.message for problem in resolve(arguments)[1]]


def _settings(**arguments: Any) -> Settings:
    settings, problems = resolve(arguments)
    assert not problems
    return settings


def test_nothing_set_is_everything_recorded_nowhere() -> None:
    """Without settings everything is instrumented and recorded, credentials are taken out, and nothing is sent."""
    assert _settings() == Settings()
    assert Settings().instrument is True
    assert Settings().capture_content is True
    assert Settings().redact is True
    assert Settings().file is Settings().endpoint is None


def test_an_argument_counts_before_the_environment_and_that_before_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each setting is taken from the first place that has it."""
    _project(
        tmp_path,
        """
        [tool.pixie-otel]
        file = "project/"
        endpoint = "http://project:4318"
        service-name = "project"
        instrument = ["project"]
        capture-content = false
        redact = false
        """,
    )
    project = _settings()
    assert project == Settings(
        file=f"{tmp_path}/project/",
        endpoint="http://project:4318",
        service_name="project",
        instrument=("project",),
        capture_content=False,
        redact=False,
    )
    for name, value in {
        "FILE": "environment/",
        "ENDPOINT": "http://environment:4318",
        "INSTRUMENT": "a, b",
        "CAPTURE_CONTENT": "true",
        "REDACT": "on",
    }.items():
        monkeypatch.setenv(f"PIXIE_OTEL_{name}", value)
    assert _settings() == Settings(
        file=f"{tmp_path}/environment/",
        endpoint="http://environment:4318",
        service_name="project",
        instrument=("a", "b"),
    )
    given_ones = _settings(
        file=Path("given.jsonl"), endpoint="https://given", instrument=False, capture_content=False, redact=False
    )
    assert given_ones == Settings(
        file=f"{tmp_path}/given.jsonl",
        endpoint="https://given",
        service_name="project",
        instrument=False,
        capture_content=False,
        redact=False,
    )
    # The environment's service name is OpenTelemetry's own, and left to it.
    monkeypatch.setenv("OTEL_SERVICE_NAME", "deployed")
    assert _settings().service_name is None
    assert _settings(service_name="given").service_name == "given"


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As everywhere in OpenTelemetry, a variable without a value counts as absent."""
    for name in ("FILE", "ENDPOINT", "INSTRUMENT", "CAPTURE_CONTENT", "REDACT", "STRICT"):
        monkeypatch.setenv(f"PIXIE_OTEL_{name}", " ")
    assert _settings() == Settings()
    assert not is_strict(None)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("true", True),
        ("0", False),
        ("none", False),
        ("openai", ("openai",)),
        ("openai,anthropic,openai,", ("openai", "anthropic")),
    ],
)
def test_instrumentation_can_be_chosen_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, text: str, meant: object
) -> None:
    """`PIXIE_OTEL_INSTRUMENT` is yes, no or a list of names."""
    monkeypatch.setenv("PIXIE_OTEL_INSTRUMENT", text)
    assert _settings().instrument == meant


def test_one_name_needs_no_list() -> None:
    """`instrument="openai"` is a list of one, not of letters; so is one exporter."""
    exporter = InMemorySpanExporter()
    assert _settings(instrument="openai").instrument == ("openai",)
    assert _settings(exporters=exporter).exporters == (exporter,)


def test_everything_that_can_be_given_is_taken() -> None:
    """Headers, attributes, exporters, a sampler and a function that redacts are taken as they are."""

    def redact(key: str, value: Any) -> Any:
        return value

    exporter = InMemorySpanExporter()
    settings = _settings(
        headers={"authorization": "Bearer x"},
        resource_attributes={"a": 1, "b": ["x", "y"]},
        exporters=[exporter],
        sampler=ALWAYS_OFF,
        redact=redact,
        service_name=" bot ",
    )
    assert settings.headers == {"authorization": "Bearer x"}
    assert settings.resource_attributes == {"a": 1, "b": ["x", "y"]}
    assert (settings.exporters, settings.sampler, settings.redact) == ((exporter,), ALWAYS_OFF, redact)
    assert settings.service_name == "bot"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("file", 3, "init(file=…): a path belongs here, not 3"),
        ("file", " ", "a path belongs here, not ' '"),
        ("file", b"traces", "a path belongs here, not b'traces'"),
        ("file", "a\0b", "a path belongs here"),
        ("endpoint", 3, "a URL such as http://localhost:4318 belongs here, not 3"),
        ("endpoint", "localhost:4318", "belongs here, not 'localhost:4318'"),
        ("endpoint", "http://", "belongs here, not 'http://'"),
        ("endpoint", "http://host:x", "belongs here ("),
        ("endpoint", "ftp://host", "belongs here, not 'ftp://host'"),
        ("headers", ["a"], "names with their values belong here"),
        ("headers", {"a": 1}, "that of 'a' is not"),
        ("service_name", "", "a name belongs here, not ''"),
        ("resource_attributes", [], "names with their values belong here"),
        ("resource_attributes", {"a": object()}, "'a' is not so"),
        ("resource_attributes", {1: "a"}, "1 is not so"),
        ("instrument", 3, "a list of names such as ['openai'] belongs here, not 3"),
        ("instrument", ["openai", 3], "a list of names"),
        ("instrument", [""], "a list of names"),
        ("exporters", 3, "span exporters of OpenTelemetry belong here, not int"),
        ("exporters", [InMemorySpanExporter], "span exporters of OpenTelemetry belong here"),
        ("sampler", "always_on", "a sampler of OpenTelemetry belongs here, not 'always_on'"),
    ],
)
def test_a_wrong_argument_is_told_and_left_out(name: str, value: object, said: str) -> None:
    """An argument that cannot be used is one message that names it, and the default holds."""
    settings, problems = resolve({name: value})
    assert settings == Settings()
    assert len(problems) == 1
    assert problems[0].message.startswith(f"init({name}=…): ")
    assert said in problems[0].message
    assert problems[0].message.endswith("; it is ignored")


def test_what_counts_next_holds_where_a_value_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong argument leaves the place to the environment."""
    monkeypatch.setenv("PIXIE_OTEL_FILE", "traces/")
    settings, problems = resolve({"file": 3})
    assert settings.file == f"{tmp_path}/traces/"
    assert len(problems) == 1


@pytest.mark.parametrize(("name", "careful"), [("capture_content", False), ("redact", True)])
def test_what_is_wrong_with_privacy_is_decided_carefully(
    monkeypatch: pytest.MonkeyPatch, name: str, careful: object
) -> None:
    """A value that cannot be read never makes more be recorded than a right one would."""
    for arguments, variable, where in (
        ({name: "flase"}, "", f"init({name}=…)"),
        ({}, "flase", f"PIXIE_OTEL_{name.upper()}"),
    ):
        monkeypatch.setenv(f"PIXIE_OTEL_{name.upper()}", variable)
        settings, problems = resolve(arguments)
        assert getattr(settings, name) is careful
        assert [problem.message.startswith(where) for problem in problems] == [True]
        assert problems[0].message.endswith(f"; {careful} holds")


def test_secrets_are_not_repeated() -> None:
    """A message about a header or an endpoint shows no credentials."""
    said = _messages(headers={"authorization": 123456789}) + _messages(endpoint="ftp://user:hunter2@host")
    assert len(said) == 2
    assert not any("123456789" in message or "hunter2" in message for message in said)


def test_a_folder_stays_one(tmp_path: Path) -> None:
    """The separator at the end, which makes a path a folder, is kept; the path becomes absolute."""
    assert _settings(file="traces/").file == f"{tmp_path}/traces/"
    assert _settings(file="a/../traces").file == f"{tmp_path}/traces"
    assert _settings(file="/").file == "/"


def test_a_tilde_is_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no shell has read may begin with ``~``."""
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("USERPROFILE", "/home/ada")
    assert _settings(file="~/traces/").file == "/home/ada/traces/"


def test_a_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path needs a current folder; an absolute one does not."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "no longer exists" in _messages(file="traces/")[0]
    assert _settings(file=f"{tmp_path}/traces/").file == f"{tmp_path}/traces/"


@pytest.mark.parametrize(
    "text",
    [
        "[tool.pixie-otel]\nfiel = 'traces'\n",
        "[tool.pixie-otel]\nfile = 3\n",
        "[tool.pixie-otel\n",
        "[tool]\npixie-otel = 3\n",
    ],
)
def test_wrong_project_settings_are_told(tmp_path: Path, text: str) -> None:
    """What is wrong in the project's settings is one message that names the file, and they are left out."""
    path = _project(tmp_path, text)
    settings, problems = resolve({})
    assert settings == Settings()
    assert len(problems) == 1
    assert problems[0].message.startswith(f"{path}: ")
    assert problems[0].message.endswith("the project's settings are ignored")


@pytest.mark.parametrize(
    "text", ["capture-content = false\nfil = 1", "capture_content = no", "[broken\ncapture-content=0"]
)
def test_a_wish_for_privacy_among_settings_that_cannot_be_used_holds(tmp_path: Path, text: str) -> None:
    """Where the project's settings are wrong and speak of content, none is recorded, and that is told."""
    _project(tmp_path, f"[tool.pixie-otel]\n{text}\n")
    settings, problems = resolve({})
    assert not settings.capture_content
    assert "no content is recorded, as they speak of it" in problems[0].message


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_text("[project]\ndependencies = ['pixie-otel']\n"),
        lambda path: path.write_text("tool = 3 # pixie-otel\n"),
        lambda path: path.write_bytes(b"\xff no text"),
        lambda path: path.write_bytes(b"# " + b"pixie-otel" * 200_000),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.mkdir()),
    ],
)
def test_a_project_without_settings_of_ours_says_nothing(tmp_path: Path, write: Callable[[Path], object]) -> None:
    """A project that only depends on pixie-otel, and a file that is not about it, are no problem."""
    write(tmp_path / "pyproject.toml")
    assert _settings() == Settings()


def test_settings_of_a_project_hold_in_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest project is found upwards, and its paths are relative to it."""
    _project(tmp_path, "[tool.pixie-otel]\nfile = 'traces/'\n")
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert _settings().file == f"{tmp_path}/traces/"


def test_pydantic_is_loaded_only_for_a_project_with_settings(tmp_path: Path) -> None:
    """Most applications do not pay for what reads the project's settings."""
    program = """
        import sys
        from pixie_otel.tracing.settings import resolve
        resolve({"file": "traces/"})
        print("pydantic" in sys.modules)
    """
    _project(tmp_path, "[project]\ndependencies = ['pixie-otel']\n")
    assert run_program(program, tmp_path)[0] == "False\n"
    _project(tmp_path, "[tool.pixie-otel]\nfile = 'traces/'\n")
    assert run_program(program, tmp_path)[0] == "True\n"


@pytest.mark.parametrize(
    ("text", "strict"), [("1", True), ("true", True), ("0", False), ("no", False), ("what", False)]
)
def test_strictness_is_an_argument_or_a_variable(monkeypatch: pytest.MonkeyPatch, text: str, strict: object) -> None:
    """`strict` counts before `PIXIE_OTEL_STRICT`."""
    monkeypatch.setenv("PIXIE_OTEL_STRICT", text)
    assert is_strict(None) is strict
    assert is_strict(argument=True) is True
    assert is_strict(argument=False) is False


_ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(),
    st.binary(),
    st.lists(st.text()),
    st.dictionaries(st.text(), st.text()),
)


@given(st.dictionaries(st.sampled_from(sorted(Settings.__dataclass_fields__)), _ANYTHING))
def test_whatever_is_given_settings_come_out(arguments: dict[str, object]) -> None:
    """Every argument is taken or told of; nothing raises."""
    settings, problems = resolve(arguments)
    used = [name for name, value in arguments.items() if value is not None]
    told = [name for name in used if any(problem.message.startswith(f"init({name}=…)") for problem in problems)]
    assert len(told) == len(problems)
    assert isinstance(settings, Settings)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_whatever_stands_in_the_environment_settings_come_out(text: str) -> None:
    """Every text in every variable is taken or told of; nothing raises."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("FILE", "ENDPOINT", "INSTRUMENT", "CAPTURE_CONTENT", "REDACT", "STRICT"):
            patch.setenv(f"PIXIE_OTEL_{name}", text)
        settings, problems = resolve({})
        assert is_strict(None) in {True, False}
    assert isinstance(settings, Settings)
    assert len(problems) <= 5
