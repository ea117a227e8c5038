"""`pixie-otel show`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from command_calls import Pixie
from foreign_forms import jaeger
from otlp_lines import agent, batch, chat, line, write


def test_shows_trees(pixie: Pixie, traces: Path) -> None:
    """A trace is a heading, its facts and its tree with kinds, models, tokens, inputs and outputs."""
    done = pixie("show", traces, "--trace", f"{1:032x}")

    assert done.code == 0
    assert done.out.splitlines() == [
        "Trace 00000000000000000000000000000001",
        "2025-11-30 10:53:20 UTC · 11 ms · 2 spans · 1 LLM call · 14→3 tokens ·",
        "support-bot",
        "agent [agent] · 10 ms",
        "│   in: What is the capital of France?",
        "│   out: Paris.",
        "└─ ChatCompletion [llm] · 10 ms · gpt-4o-mini · 14→3 tokens",
        "       user: What is the capital of France?",
        "       → assistant: Paris.",
    ]
    assert not done.err


def test_shows_as_many_as_asked_for(pixie: Pixie, traces: Path) -> None:
    """`--limit` counts the traces that fit; a blank line stands between two."""
    out = pixie("show", traces, "--limit", "2").out

    assert out.count("Trace ") == 2
    assert out.count("\n\n") == 1


def test_shows_what_fits_a_condition(pixie: Pixie, traces: Path) -> None:
    """`--where` leaves out the rest."""
    out = pixie("show", traces, "--where", "kind!=llm").out

    assert "GET /health" in out
    assert out.count("Trace ") == 1


def test_cuts_to_a_width(pixie: Pixie, folder: Path) -> None:
    """Lines are cut to the terminal's width or the one given, and `--full` cuts nothing."""
    path = write(folder / "long.jsonl", line(agent(1, "word " * 100), chat(2, "word " * 100, parent=1)))

    assert max(map(len, pixie("show", path).out.splitlines())) == 80
    assert max(map(len, pixie("show", path, "--width", "40").out.splitlines())) == 40
    assert max(map(len, pixie("show", path, "--full").out.splitlines())) > 400


def test_shows_ids_when_verbose(pixie: Pixie, traces: Path) -> None:
    """`-v` adds span ids and dialects."""
    assert f"id: {1:016x}, read as openinference" in pixie("show", traces, "-v").out


def test_says_what_was_wrong(pixie: Pixie, folder: Path) -> None:
    """What is wrong with a file is said on stderr, beside what could be read."""
    path = write(folder / "torn.jsonl", line(agent(1)), '{"resourceSpans": [\n')

    done = pixie("show", path)

    assert done.code == 0
    assert "Trace " in done.out
    assert "Problems with the input" in done.err
    assert "torn.jsonl:2" in done.err


def test_says_what_was_converted(pixie: Pixie, folder: Path) -> None:
    """Once a form, on stderr."""
    for name in ("a.json", "b.json"):
        (folder / name).write_bytes(jaeger([batch(agent(1))]))
    done = pixie("show", "a.json", "b.json")

    assert done.code == 0
    assert done.err == "a.json and 1 more: converted from a Jaeger JSON export\n"


def test_strict_ends_at_the_first_problem(pixie: Pixie, folder: Path) -> None:
    """With `--strict` the same file is an error."""
    path = write(folder / "torn.jsonl", line(agent(1)), '{"resourceSpans": [\n')

    done = pixie("show", path, "--strict")

    assert done.code == 3
    assert "torn.jsonl:2" in done.err


def test_no_trace_is_an_error(pixie: Pixie, folder: Path) -> None:
    """A file without traces ends with 3 and says so."""
    done = pixie("show", write(folder / "empty.jsonl", "{}\n"))

    assert done.code == 3
    assert "no trace was found" in done.err


def test_reads_folders_globs_and_compressed_files(pixie: Pixie, traces: Path, folder: Path) -> None:
    """A folder, a glob and a packed file show the same traces as the file."""
    expected = pixie("show", traces).out
    (folder / "packed").mkdir()
    (folder / "packed" / "traces.jsonl.gz").write_bytes(gzip.compress(traces.read_bytes()))

    for path in ("packed", "packed/*.gz", "*.jsonl"):
        assert pixie("show", path).out == expected


def test_gives_a_line_of_json_for_each_trace(pixie: Pixie, traces: Path) -> None:
    """`--json` gives each trace as a line, with its spans and what is known of them."""
    first, *others = map(json.loads, pixie("show", traces, "--json").out.splitlines())

    assert len(others) == 2
    assert first["trace_id"] == f"{1:032x}"
    assert first["usage"] == {"input_tokens": 14, "output_tokens": 3, "cost": None}
    assert [span["name"] for span in first["spans"]] == ["agent", "ChatCompletion"]
    assert first["spans"][1]["output_messages"] == [{"role": "assistant", "content": "Paris."}]
