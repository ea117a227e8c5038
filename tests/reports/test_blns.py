"""Strings that break things, on their way to the terminal."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from corpora import corpora_path
from otlp_lines import agent, chat, line, write

from pixie_otel.cli.main import main
from pixie_otel.reports.layout import cell_width


@pytest.fixture
def naughty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a trace for each string, as name, input, output, message and attribute key."""
    strings: list[str] = json.loads((corpora_path("BLNS") / "blns.json").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return write(
        tmp_path / "naughty.jsonl",
        *(
            line(
                agent(number, text, text, name=text, trace=number, attributes={text or "k": text, "session.id": text}),
                chat(number + 10_000, text, text, parent=number, trace=number),
                service=text,
            )
            for number, text in enumerate(strings, 1)
        ),
    )


@pytest.mark.parametrize(
    "arguments", [("show",), ("show", "-v"), ("show", "--full"), ("eval",), ("eval", "-v"), ("eval", "--json")]
)
def test_nothing_gets_through(naughty: Path, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """None of them reaches the terminal as anything but printable text in lines that fit."""
    command, *options = arguments

    code = main([command, str(naughty), *options])
    captured = capsys.readouterr()

    assert code in {0, 1}
    assert "bug in pixie-otel" not in captured.err
    for shown in captured.out.split("\n"):
        if "--json" in options:
            break
        assert all(char.isprintable() or unicodedata.category(char) == "Zs" for char in shown)
        assert "--full" in options or cell_width(shown) <= 80


def test_programs_get_them_as_they_are(naughty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`show --json` gives every string back unchanged."""
    strings = json.loads((corpora_path("BLNS") / "blns.json").read_text(encoding="utf-8"))

    assert main(["show", str(naughty), "--json"]) == 0

    documents = [json.loads(shown) for shown in capsys.readouterr().out.split("\n") if shown]
    by_number = {int(document["trace_id"], 16): document for document in documents}
    names = [by_number[number]["spans"][0].get("name", "") for number in range(1, len(strings) + 1)]
    assert names == strings
