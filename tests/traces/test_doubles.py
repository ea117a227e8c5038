"""The same call in two traces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from otlp_lines import batch, span

from pixie_otel.traces.doubles import RecentTraces
from pixie_otel.traces.reader import TraceReader

if TYPE_CHECKING:
    from pathlib import Path

    from pixie_otel.traces.trace import Trace

ANSWER = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}])
FULL = {"gen_ai.operation.name": "chat", "gen_ai.response.id": "r", "gen_ai.output.messages": ANSWER}
BARE = {"gen_ai.operation.name": "chat", "gen_ai.response.id": "r", "gen_ai.usage.input_tokens": 5}


def read(folder: Path, *spans: dict[str, Any]) -> list[Trace]:
    """Write the spans as they come and read them."""
    path = folder / "traces.jsonl"
    path.write_text("".join(json.dumps(batch(item)) + "\n" for item in spans), encoding="utf-8")
    return list(TraceReader(path))


def counts(traces: list[Trace]) -> list[int]:
    """Give how many calls each trace counts."""
    return [len(trace.llm_calls) for trace in traces]


def test_a_bare_span_of_a_call_that_another_trace_holds(tmp_path: Path) -> None:
    """The provider's SDK made a trace of its own beside the instrumentation's: it is no second call, and says so."""
    full, bare = read(tmp_path, span(1, trace=1, attributes=FULL), span(2, trace=2, attributes=BARE))

    assert counts([full, bare]) == [1, 0]
    assert [problem.kind for problem in bare.problems] == ["doubled-call"]
    assert full.trace_id in bare.problems[0].message
    assert not full.problems
    assert bare.usage.input_tokens is None


def test_the_order_of_lines_does_not_matter(tmp_path: Path) -> None:
    """What started first counts, wherever it stands in the file."""
    assert counts(read(tmp_path, span(2, trace=2, attributes=BARE), span(1, trace=1, attributes=FULL))) == [1, 0]


@pytest.mark.parametrize(
    "second",
    [
        {**BARE, "gen_ai.response.id": "other"},
        {key: value for key, value in BARE.items() if key != "gen_ai.response.id"},
        FULL,
        {**BARE, "gen_ai.input.messages": json.dumps([{"role": "user", "content": "Hi"}])},
        {**BARE, "gen_ai.completion.0.content": "Hello"},
    ],
)
def test_other_calls_count(tmp_path: Path, second: dict[str, object]) -> None:
    """Another answer, an answer without an id, or one that holds its own content is a call of its own."""
    assert counts(read(tmp_path, span(1, trace=1, attributes=FULL), span(2, trace=2, attributes=second))) == [1, 1]


def test_bare_spans_alone_count(tmp_path: Path) -> None:
    """With content capture off nobody holds the content, and some servers repeat their ids."""
    assert counts(read(tmp_path, span(1, trace=1, attributes=BARE), span(2, trace=2, attributes=BARE))) == [1, 1]


def test_a_bare_span_that_came_first_counts(tmp_path: Path) -> None:
    """What describes a call cannot start before it."""
    assert counts(read(tmp_path, span(1, trace=1, attributes=BARE), span(2, trace=2, attributes=FULL))) == [1, 1]


def test_traces_of_several_spans_count(tmp_path: Path) -> None:
    """A trace with more in it than that one span is no mere double."""
    traces = read(
        tmp_path,
        span(1, trace=1, attributes=FULL),
        span(2, trace=2, attributes=BARE),
        span(3, trace=2, parent=2),
    )

    assert counts(traces) == [1, 1]


@pytest.mark.parametrize(("size", "expected"), [(50, 0), (51, 1)])
def test_large_traces_are_not_held(size: int, expected: int, tmp_path: Path) -> None:
    """Memory is bounded by the bytes of the traces held, not by their number alone."""
    full, bare = (
        next(iter(read(tmp_path, span(number, trace=number, attributes=attributes))))
        for number, attributes in ((1, FULL), (2, BARE))
    )
    recent = RecentTraces(most_bytes=100)
    recent.add(full, size)
    recent.add(read(tmp_path, span(3, trace=3))[0], 50)
    recent.add(bare, 1)

    assert len(bare.llm_calls) == expected


def test_only_recent_traces_are_compared(tmp_path: Path) -> None:
    """The two are made at the same time, so memory stays small."""
    others = [span(i, trace=i) for i in range(2, 30)]

    assert (
        counts(read(tmp_path, span(1, trace=1, attributes=FULL), *others, span(30, trace=30, attributes=BARE)))[-1] == 1
    )
