"""Facts about the settings in ``pyproject.toml``."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pixie_otel.config import PixieConfig, get_config
from pixie_otel.errors import ConfigError


def _write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def _read(folder: Path, settings: str) -> PixieConfig:
    return PixieConfig.read(_write(folder, f"[tool.pixie-otel]\n{settings}\n"))


def test_every_setting_is_understood(tmp_path: Path) -> None:
    """Each option of the command has its place, in either spelling and with lists where it can be repeated."""
    config = _read(
        tmp_path,
        """
        evaluators = ["...", "ExactMatch", "evals/tone.py:Polite"]
        select = "last_llm_call"
        per = "conversation"
        explain = true
        expect = "data/expected.jsonl"
        threshold = 0.7
        thresholds = { ExactMatch = 1, JSONDiff = "None" }
        pct = 0.9
        allow-errors = 0.05
        trace = ["4bf92f35"]
        service = "bot"
        since = "7d"
        until = 2026-11-30
        where = ["status=ok", "tokens>10"]
        limit = 100
        sample = 0.5
        seed = 7
        all = false
        timeout = 30
        concurrency = 4
        strict = true
        max-line-bytes = 1000
        verbose = true
        quiet = true
        no-progress = true
        cases = "cases.csv"
        out = "runs"
        dataset_dir = "/data/sets"
        file = "traces/"
        endpoint = "http://localhost:4318"
        service-name = "support-bot"
        instrument = ["openai"]
        capture-content = false
        redact = true
        """,
    )
    assert config == PixieConfig(
        root=tmp_path,
        source=tmp_path / "pyproject.toml",
        evaluators=("...", "ExactMatch", f"{tmp_path}/evals/tone.py:Polite"),
        select="last_llm_call",
        per="conversation",
        explain=True,
        expect=tmp_path / "data/expected.jsonl",
        threshold=0.7,
        thresholds={"ExactMatch": 1.0, "JSONDiff": None},
        pct=0.9,
        allow_errors=0.05,
        trace=("4bf92f35",),
        service=("bot",),
        since="7d",
        until="2026-11-30",
        where=("status=ok", "tokens>10"),
        limit=100,
        sample=0.5,
        seed=7,
        all=False,
        timeout=30.0,
        concurrency=4,
        strict=True,
        max_line_bytes=1000,
        verbose=True,
        quiet=True,
        no_progress=True,
        cases=tmp_path / "cases.csv",
        out=tmp_path / "runs",
        dataset_dir=Path("/data/sets"),
        file=f"{tmp_path}/traces/",
        endpoint="http://localhost:4318",
        service_name="support-bot",
        instrument=("openai",),
        capture_content=False,
        redact=True,
    )


def test_a_tilde_is_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No shell reads the file, so what it would make of ``~`` is made here."""
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("USERPROFILE", "/home/ada")
    config = _read(tmp_path, 'out = "~/runs"\nfile = "~/traces/"\nevaluators = ["~/evals/tone.py:polite"]')
    assert config.file == "/home/ada/traces/"
    assert config.out == Path("/home/ada/runs")
    assert config.evaluators == (f"{Path('/home/ada/evals/tone.py')}:polite",)


@pytest.mark.parametrize(
    ("setting", "meant"), [("true", True), ("false", False), ("'openai'", ("openai",)), ("['a', 'b']", ("a", "b"))]
)
def test_instrumentation_is_switched_or_listed(tmp_path: Path, setting: str, meant: object) -> None:
    """What is instrumented is all, nothing, one library or several."""
    assert _read(tmp_path, f"instrument = {setting}").instrument == meant


@pytest.mark.parametrize("key", ["evaluator", "evaluators"])
def test_a_list_may_be_named_like_its_option_or_in_the_plural(tmp_path: Path, key: str) -> None:
    """``--evaluator`` is ``evaluator`` or ``evaluators``, and one value needs no list."""
    assert _read(tmp_path, f'{key} = "ExactMatch"').evaluators == ("ExactMatch",)


def test_what_is_not_said_is_left_open(tmp_path: Path) -> None:
    """Without settings everything is open, and only the folder of datasets has a place."""
    config = PixieConfig.read(_write(tmp_path, ""))
    assert config == PixieConfig(root=tmp_path, source=tmp_path / "pyproject.toml")
    assert config.out is None
    assert config.dataset_dir == tmp_path / "datasets"


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    """Settings are looked for upwards, and the first pyproject.toml ends the search."""
    _write(tmp_path, "[tool.pixie-otel]\nseed = 1")
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert get_config(deep).seed == 1
    assert get_config(deep).root == tmp_path
    _write(tmp_path / "a", "[tool.other]")
    assert get_config(deep).seed is None


def test_the_current_folder_is_where_the_search_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a start the search begins in the current folder, and paths are absolute."""
    _write(tmp_path, '[tool.pixie-otel]\nout = "runs"')
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert get_config().out == tmp_path / "runs"


def test_a_folder_without_any_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no pyproject.toml up to the root, nothing is set and paths are relative to the start."""
    monkeypatch.setattr(Path, "is_file", lambda _: False)
    assert get_config(tmp_path) == PixieConfig(root=tmp_path)
    assert get_config(tmp_path).source is None


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("treshold = 1", "treshold: no such setting; did you mean threshold?"),
        ("nonsense = 1", "nonsense: no such setting; there are all, allow-errors, "),
        ("root = '/'", "root: no such setting"),
        ("allow-errors = 1\nallow_errors = 1", "allow_errors: given twice, in two spellings"),
        ("evaluator = 'A'\nevaluators = 'B'", "evaluators: given twice, in two spellings"),
        ("threshold = 1.5", "threshold: Input should be less than or equal to 1, not 1.5"),
        ("threshold = nan", "threshold: "),
        ("threshold = '0.5'", "threshold: Input should be a valid number, not '0.5'"),
        ("pct = true", "pct: Input should be a valid number, not True"),
        ("thresholds = { A = 'no' }", "thresholds.A: Input should be a valid number, not 'no'"),
        ("timeout = -1", "timeout: Input should be greater than or equal to 0, not -1"),
        ("thresholds = { A = -1 }", "thresholds.A: Input should be greater than or equal to 0, not -1"),
        ("limit = 0", "limit: Input should be greater than or equal to 1, not 0"),
        ("sample = 0", "sample: Input should be greater than 0, not 0"),
        ("where = 3", "where: a text or a list of texts belongs here, not 3"),
        ("where = [3]", "where.0: Input should be a valid string, not 3"),
        ("out = 3", "out: "),
        ("file = ''", "file: String should have at least 1 character, not ''"),
        ("instrument = 3", "instrument: true, false or a list of names belongs here, not 3"),
        ("capture-content = 'no'", "capture-content: Input should be a valid boolean, not 'no'"),
    ],
)
def test_a_wrong_setting_is_told_with_file_and_key(tmp_path: Path, setting: str, said: str) -> None:
    """A setting that is unknown or has a wrong value is a `ConfigError` that names the file, the key and the value."""
    with pytest.raises(ConfigError) as caught:
        _read(tmp_path, setting)
    assert f"{tmp_path / 'pyproject.toml'}: [tool.pixie-otel] {said}" in str(caught.value)


def test_all_wrong_values_are_told_at_once(tmp_path: Path) -> None:
    """Several wrong values are one error with a line each."""
    with pytest.raises(ConfigError) as caught:
        _read(tmp_path, "pct = 2\nlimit = 0")
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize("text", ["[tool\n", "tool = 3", "[tool]\npixie-otel = []", "a = 1\na = 2"])
def test_a_file_that_cannot_be_used_is_told(tmp_path: Path, text: str) -> None:
    """Broken TOML, and a table that is none, are `ConfigError`s that name the file."""
    with pytest.raises(ConfigError, match=r"pyproject\.toml: (no valid TOML|\[tool\.pixie-otel\] is a table)"):
        PixieConfig.read(_write(tmp_path, text))


def test_a_file_in_another_encoding_is_told(tmp_path: Path) -> None:
    """A file that is not UTF-8 is a `ConfigError`."""
    (tmp_path / "pyproject.toml").write_bytes(b"# \xff")
    with pytest.raises(ConfigError, match="no valid TOML"):
        get_config(tmp_path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Reading settings from nowhere is a `ConfigError`."""
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        PixieConfig.read(tmp_path / "pyproject.toml")


@example({"expect": "~nobody-of-that-name/x", "file": "~nobody-of-that-name/x", "evaluators": "~nobody/x.py:f"})
@given(st.dictionaries(st.sampled_from(list(PixieConfig.model_fields)), st.none() | st.integers() | st.text()))
def test_settings_made_in_python_follow_the_same_rules(settings: dict[str, object]) -> None:
    """Whatever is given to the class, it is accepted or refused by pydantic, never half taken."""
    try:
        config = PixieConfig.model_validate(settings)
    except ValueError:
        return
    assert config.threshold is None or 0 <= config.threshold <= 1


def test_a_current_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the current folder was deleted, the error says so."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ConfigError, match="the current folder no longer exists"):
        get_config()
