"""`main`: the parts of the command, and every way in which it ends."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest
from command_calls import Pixie

from pixie_otel.cli import evaluators
from pixie_otel.errors import PixieError


def test_version(pixie: Pixie) -> None:
    """`--version` prints the name and the version of the distribution."""
    done = pixie("--version")

    assert (done.code, done.out) == (0, f"pixie-otel {importlib.metadata.version('pixie-otel')}\n")


def test_help_shows_where_to_start(pixie: Pixie) -> None:
    """`--help` lists the commands and gives an example of each."""
    done = pixie("--help")

    assert done.code == 0
    assert "pixie-otel eval traces.jsonl" in done.out
    assert all(name in done.out for name in ("eval", "show", "evaluators"))


def test_no_command_is_usage(pixie: Pixie) -> None:
    """Without a command, the help is shown and the exit code is that of wrong usage."""
    done = pixie()

    assert done.code == 2
    assert "Start here" in done.out + done.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["eval"], 2, "no PATH was given"),
        (["eval", "--no-such-option"], 2, "--no-such-option"),
        (["eval", "traces.jsonl", "--limit", "some"], 2, "--limit"),
        (["eval", "traces.jsonl", "-e", "ExactMach"], 2, "did you mean ExactMatch"),
        (["eval", "traces.jsonl", "-e", "no_such_file.py:f"], 2, "no_such_file.py"),
        (["eval", "traces.jsonl", "--select", "middle"], 2, "unknown selector 'middle'"),
        (["eval", "traces.jsonl", "--where", "colour=red"], 2, "unknown field 'colour'"),
        (["eval", "traces.jsonl", "--threshold", "high"], 2, "'high' is no number"),
        (["eval", "traces.jsonl", "--threshold", "NoSuch=1"], 2, "'NoSuch', which does not run"),
        (["eval", "traces.jsonl", "--pct", "2"], 2, "pct is 2.0"),
        (["eval", "traces.jsonl", "--allow-errors", "nan"], 2, "allow_errors is nan"),
        (["eval", "traces.jsonl", "--limit", "0"], 2, "limit is 0"),
        (["eval", "traces.jsonl", "--timeout", "-1"], 2, "-1.0"),
        (["eval", "traces.jsonl", "--concurrency", "0"], 2, "concurrency is 0"),
        (["eval", "traces.jsonl", "--max-line-bytes", "0"], 2, "--max-line-bytes is 0"),
        (["eval", "traces.jsonl", "--since", "yesterday"], 2, "'yesterday' is no moment"),
        (["eval", "traces.jsonl", "--expect", "nowhere.csv"], 2, "nowhere.csv"),
        (["eval", "traces.jsonl", "--cases", "cases.csv", "-e", "ExactMatch"], 2, "PATH is about traces"),
        (["eval", "--cases", "cases.csv"], 2, "--cases needs evaluators"),
        (["eval", "nowhere.jsonl"], 3, "nowhere.jsonl: no such file"),
        (["eval", "traces.jsonl", "--service", "nobody"], 3, "(--service nobody)"),
        (["show"], 2, "no PATH was given"),
        (["show", "traces.jsonl", "--limit", "0"], 2, "--limit is 0"),
        (["show", "nowhere.jsonl"], 3, "nowhere.jsonl: no such file"),
        (["show", "traces.jsonl", "--trace", "ffffffff"], 3, "none of 3 traces fits --trace ffffffff"),
    ],
)
def test_what_cannot_be_done_is_said(pixie: Pixie, traces: Path, arguments: list[str], code: int, said: str) -> None:
    """Wrong usage ends with 2 and unreadable input with 3, each with a message on stderr that names what was wrong."""
    done = pixie(*arguments)

    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err
    assert not done.out


def test_an_error_that_is_nobodys_fault_is_incomplete(pixie: Pixie, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is neither usage nor input, such as a full disk, ends with 4."""

    def full(*_: object, **__: object) -> None:
        raise PixieError("the disk is full")

    monkeypatch.setattr("pixie_otel.cli.console.Console.write", full)
    done = pixie("evaluators")

    assert (done.code, done.err) == (4, "Error: the disk is full\n")


class TestBugs:
    """What nobody foresaw."""

    @pytest.fixture(autouse=True)
    def bug(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put a bug into a command."""

        def broken(*_: object, **__: object) -> None:
            raise ZeroDivisionError("nobody \x1b[31m foresaw")

        monkeypatch.setattr("pixie_otel.cli.console.Console.write", broken)

    def test_is_admitted(self, pixie: Pixie) -> None:
        """An unforeseen exception ends with an exit code of its own and a message, without a traceback."""
        done = pixie("evaluators")

        assert done.code == 70
        assert r"Error: ZeroDivisionError: nobody \x1b[31m foresaw" in done.err
        assert "bug in pixie-otel" in done.err
        assert "Traceback" not in done.err

    def test_shows_its_traceback_when_asked(self, pixie: Pixie, monkeypatch: pytest.MonkeyPatch) -> None:
        """`PIXIE_OTEL_DEBUG` shows where it happened."""
        monkeypatch.setenv("PIXIE_OTEL_DEBUG", "1")

        done = pixie("evaluators")

        assert done.code == 70
        assert "Traceback" in done.err

    def test_shows_its_traceback_with_verbose(self, pixie: Pixie, traces: Path) -> None:
        """So does `-v`."""
        assert "Traceback" in pixie("show", traces, "-v").err


def test_every_command_has_examples() -> None:
    """Every command's help has examples, each of which begins with the command."""
    from pixie_otel.cli.eval import eval_command
    from pixie_otel.cli.show import show_command

    for command in (eval_command, show_command, evaluators.evaluators_command):
        _, _, examples = str(command.__doc__).partition("Examples:\n")
        assert examples.count("pixie-otel ") >= 3
