"""What a run is to do: what was typed, and what stands in the project's settings."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer.main
from command_calls import Pixie
from otlp_lines import write

from pixie_otel.cli.main import app
from pixie_otel.config import PixieConfig


def configure(folder: Path, *settings: str) -> None:
    """Write settings."""
    write(folder / "pyproject.toml", "[tool.pixie-otel]\n", *(f"{setting}\n" for setting in settings))


def test_settings_stand_in_for_options(
    pixie: Pixie,
    traces: Path,
    judges: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Settings of the nearest pyproject.toml hold where nothing was typed, with paths from its folder."""
    configure(folder, 'evaluators = ["judges.py:paris"]', "pct = 0.5", 'out = "kept"', "quiet = true")
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")

    done = pixie("eval", traces)

    assert (done.code, done.out) == (0, "PASSED: 1 of 2 judged cases passed, 50 % needed\n")
    assert (folder / "kept").is_dir()


def test_what_is_typed_goes_first(pixie: Pixie, traces: Path, judges: Path, folder: Path) -> None:
    """An option goes before the setting of its name, and other thresholds by name stay."""
    configure(
        folder,
        'evaluators = ["judges.py:paris", "judges.py:half"]',
        "pct = 0.5",
        "thresholds = { half = 0.4, paris = 1 }",
    )

    assert pixie("eval", traces).code == 0
    assert pixie("eval", traces, "--pct", "1").code == 1
    assert pixie("eval", traces, "--threshold", "half=0.9").code == 1
    # The threshold for the evaluator that was not asked for is left out, and not an error.
    assert pixie("eval", traces, "-e", "judges.py:half").code == 0


def test_what_is_typed_undoes_a_setting(pixie: Pixie, traces: Path, folder: Path) -> None:
    """A setting that says yes can be answered with no."""
    configure(folder, "all = true", "quiet = true")

    assert pixie("eval", traces).out == "PASSED: 3 of 3 judged cases passed\n"
    assert pixie("eval", traces, "--no-all").out == "PASSED: 2 of 2 judged cases passed\n"
    assert "SpanErrors passed" in pixie("eval", traces, "-v").out

    configure(folder, "verbose = true", "max-line-bytes = 100")
    assert pixie("eval", traces).code == 3
    assert "SpanErrors passed" in pixie("eval", traces, "--max-line-bytes", "100000").out
    assert "SpanErrors" not in pixie("eval", traces, "--max-line-bytes", "100000", "-q").out


def test_every_option_is_a_setting() -> None:
    """Whatever can be typed for a run can stand in the settings by the same name; but for what each run says anew."""
    command = typer.main.get_command(app).commands["eval"]  # type: ignore[attr-defined]
    options = {
        name.lstrip("-").replace("-", "_") for param in command.params for name in param.opts if name[:2] == "--"
    }
    of_init = {"file", "endpoint", "service_name", "instrument", "capture_content", "redact"}
    settings = {*PixieConfig.model_fields} - {"root", "source", "dataset_dir"} - of_init

    assert options - {"json", "evaluator", "help"} == settings - {"evaluators", "thresholds"}


def test_settings_can_name_finished_cases(pixie: Pixie, folder: Path) -> None:
    """A file of finished cases is judged where no traces are named."""
    write(folder / "cases.csv", "input,output,expectation\nq,a,a\n")
    configure(folder, 'cases = "cases.csv"', 'evaluators = ["ExactMatch"]')

    assert pixie("eval").code == 0


def test_wrong_settings_are_named(pixie: Pixie, traces: Path, folder: Path) -> None:
    """A wrong setting is an error that names file, setting and value."""
    configure(folder, "pct = 3")

    done = pixie("eval", traces)

    assert done.code == 2
    assert "pyproject.toml" in done.err
    assert "pct" in done.err
