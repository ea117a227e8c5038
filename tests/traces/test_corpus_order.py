"""Real traces whose spans and log records come in any order, with those of other traces between them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from reading import read
from recorded_facts import Truth, compare

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pixie_otel.traces.trace import Trace

CORPUS = Path(__file__).parent / "corpus"
TRUTHS = sorted(CORPUS.glob("*/*.truth.json"))
SAMPLE = [*TRUTHS[::5], *(path for path in TRUTHS if path.name.startswith(("multi", "parallel")))]
"""Every fifth file, and all that have several traces or calls at one time."""


def single_lines(path: Path) -> list[str]:
    """Give a file with every span and log record on a line of its own."""
    found: list[str] = []
    for text in path.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        for outer, inner, items in (
            ("resourceSpans", "scopeSpans", "spans"),
            ("resourceLogs", "scopeLogs", "logRecords"),
        ):
            for resource in line.get(outer, ()):
                for scope in resource[inner]:
                    found += [
                        json.dumps({outer: [{**resource, inner: [{**scope, items: [item]}]}]}) for item in scope[items]
                    ]
    return found


def lines_of(truths: Iterable[Truth]) -> list[str]:
    """Give the lines of all files."""
    return [line for truth in truths for path in truth.files for line in single_lines(path)]


def told(traces: Iterable[Trace]) -> dict[str, Any]:
    """Give all that is read of each trace."""
    return {
        trace.trace_id: (
            sorted(trace.spans, key=lambda span: span.span_id),
            [call.span_id for call in trace.llm_calls],
            sorted((problem.kind, problem.message) for problem in trace.problems),
        )
        for trace in traces
    }


@pytest.mark.parametrize("path", sorted(set(SAMPLE)), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_facts_do_not_depend_on_the_order(path: Path) -> None:
    """A collector writes spans as they end, exporters in batches, and none of them traces as a whole."""
    truth = Truth.load(path)
    lines = lines_of([truth])
    before = told(read("\n".join(lines)).traces)
    mixed = random.Random(path.name)

    for _ in range(2):
        mixed.shuffle(lines)
        found = read("\n".join(lines)).traces

        assert compare(found, truth).misses == []
        assert told(found) == before


def test_all_libraries_in_one_file() -> None:
    """Traces of a hundred libraries, mixed span by span, read as they do in a row."""
    lines = lines_of(map(Truth.load, TRUTHS[::5]))
    before = told(read("\n".join(lines)).traces)
    random.Random(42).shuffle(lines)

    assert told(read("\n".join(lines)).traces) == before
