"""The command as tests call it: in this process, in a folder of its own, on a few traces."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_calls import Done, Pixie
from otlp_lines import agent, chat, line, span, write

from pixie_otel.cli.main import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: empty, and with a terminal of 80 columns without colours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR", "CI", "PIXIE_OTEL_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def traces(folder: Path) -> Path:
    """Three traces in `traces.jsonl`: a good answer, a wrong one, and a health check."""
    return write(
        folder / "traces.jsonl",
        line(chat(2, parent=1), agent(1)),
        line(agent(3, "And of Italy?", "Milan.", trace=2), chat(4, "And of Italy?", "Milan.", parent=3, trace=2)),
        line(span(5, trace=3, name="GET /health")),
    )


@pytest.fixture
def pixie(folder: Path, capsys: pytest.CaptureFixture[str]) -> Pixie:
    """Call the command with some arguments."""

    def call(*arguments: object) -> Done:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call


@pytest.fixture
def judges(folder: Path) -> Path:
    """Evaluators of a user's, in `judges.py`."""
    return write(
        folder / "judges.py",
        "print('hello from the file')\n"
        "def paris(evaluable):\n"
        "    print('judging')\n"
        "    return 'Paris' in str(evaluable.eval_output)\n"
        "def broken(evaluable):\n"
        "    raise RuntimeError('out of order')\n"
        "def half(evaluable):\n"
        "    return 0.5\n",
    )
