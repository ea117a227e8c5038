"""`pixie-otel doctor`: what is wrong with traces, and what to change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_calls import Pixie
from foreign_forms import jaeger
from otlp_lines import agent, batch, chat, line, span, write

BARE = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 1, "session.id": "s"}


@pytest.fixture
def bare(folder: Path) -> Path:
    """A good trace, and a model call without messages."""
    good = line(agent(11, trace=11), chat(12, parent=11, trace=11, attributes={"session.id": "s"}))
    return write(folder / "bare.jsonl", good, line(span(13, trace=13, attributes=BARE), service="other"))


def test_says_what_is_wrong(pixie: Pixie, bare: Path) -> None:
    """On stdout, with exit code 0 where nothing was to fail."""
    done = pixie("doctor", bare)

    assert done.code == 0
    assert done.out.startswith(
        "Examined 2 traces (3 spans, 2 model calls): 1 error.\n\nERROR content-off: in 1 trace\n"
    )
    assert not done.err


def test_takes_several_paths_and_filters(pixie: Pixie, bare: Path, traces: Path) -> None:
    """Those of `show`."""
    assert pixie("doctor", bare, traces).out.startswith("Examined 5 traces")
    assert "content-off" not in pixie("doctor", bare, "--service", "support-bot").out
    assert "Examined 1 trace " in pixie("doctor", bare, "--trace", f"{13:032x}").out
    assert "Examined 1 trace " in pixie("doctor", bare, "--limit", "1").out


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--fail-on", "content-off"], 1),
        (["--fail-on", "torn-line", "--fail-on", "content-off"], 1),
        (["--fail-on", "any"], 1),
        (["--fail-on", "warning"], 1),
        (["--fail-on", "error"], 1),
        (["--fail-on", "torn-line"], 0),
        (["--fail-on", "content-off", "--service", "support-bot"], 0),
    ],
)
def test_fails_on_what_is_named(options: list[str], code: int, pixie: Pixie, bare: Path) -> None:
    """A kind, or all kinds of some weight."""
    done = pixie("doctor", bare, *options)

    assert done.code == code
    assert ("Found what --fail-on names: content-off." in done.err) is bool(code)
    assert json.loads(pixie("doctor", bare, *options, "--json").out)["exit_code"] == code


def test_an_unknown_kind_is_wrong_usage(pixie: Pixie, bare: Path) -> None:
    """The kinds are named, and the closest one."""
    done = pixie("doctor", bare, "--fail-on", "content-of")

    assert done.code == 2
    assert "did you mean content-off?" in done.err
    assert "torn-line" in done.err
    assert not done.out


def test_no_trace_is_an_error(pixie: Pixie, folder: Path, bare: Path) -> None:
    """What is wrong with the file is said all the same."""
    empty = write(folder / "empty.jsonl", "{}}\n")
    done = pixie("doctor", empty)

    assert done.code == 3
    assert "ERROR bad-document: 1 time" in done.out
    assert "no trace was found" in done.err
    assert json.loads(pixie("doctor", empty, "--json").out)["exit_code"] == 3
    assert pixie("doctor", bare, "--service", "absent").code == 3


def test_wrong_usage(pixie: Pixie, bare: Path) -> None:
    """No path, or a limit of none."""
    assert pixie("doctor").code == 2
    assert pixie("doctor", bare, "--limit", "0").code == 2
    assert pixie("doctor", "absent.jsonl").code == 3


def test_strict_ends_at_the_first_problem(pixie: Pixie, folder: Path) -> None:
    """As everywhere."""
    assert pixie("doctor", write(folder / "a.jsonl", line(chat(1)), "{}}\n"), "--strict").code == 3


def test_lists_kinds(pixie: Pixie) -> None:
    """Without any path, for people and for programs."""
    assert "torn-line (error)" in pixie("doctor", "--kinds").out
    kinds = json.loads(pixie("doctor", "--kinds", "--json").out)["kinds"]
    assert {"kind", "weight", "title", "fix"} == kinds[0].keys()


def test_says_what_was_converted(pixie: Pixie, folder: Path) -> None:
    """On stderr, as other commands do."""
    (folder / "a.json").write_bytes(jaeger([batch(agent(1))]))
    done = pixie("doctor", "a.json")

    assert done.code == 0
    assert done.err == "a.json: converted from a Jaeger JSON export\n"
