"""A trace as a whole."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from checked_traces import TRACE_ID, agent, llm, says, tool

from pixie_otel.evaluable import Document
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import ObservationKind, ObserveSpan, RetrieverSpan
from pixie_otel.traces.trace import Trace, Usage


def retriever(span_id: str, *contents: str) -> RetrieverSpan:
    """Make a retrieval below the agent."""
    documents = tuple(Document(content) for content in contents)
    return RetrieverSpan(
        trace_id=TRACE_ID,
        span_id=span_id,
        parent_span_id=agent().span_id,
        kind=ObservationKind.RETRIEVER,
        start_time_unix_nano=1_700_000_000_500_000_000,
        documents=documents,
    )


def test_a_trace_is_the_sequence_of_its_roots() -> None:
    """It can be indexed, counted and walked; its text shows the trees."""
    trace = Trace.from_spans([llm("00000000000000b0"), agent(), llm("00000000000000c0", parent=None)])

    assert len(trace) == 2
    assert [node.span.name for node in trace] == ["answer", "chat"]
    assert trace[0] is trace.roots[0]
    assert trace[:1] == trace.roots[:1]
    assert [node.span.span_id[-2:] for node in trace.walk()] == ["a0", "b0", "c0"]
    assert "answer [agent]" in trace.to_text()
    assert TRACE_ID in repr(trace)


def test_spans_stand_by_start() -> None:
    """Whatever order they were given in."""
    spans = [llm("00000000000000b0"), agent(), tool("00000000000000b1", "f"), retriever("00000000000000b2", "d")]
    trace = Trace.from_spans(spans)

    assert trace == Trace.from_spans(reversed(spans))
    assert hash(trace) == hash(Trace.from_spans(spans))
    assert trace != Trace.from_spans(spans[:2])
    assert trace != "a trace"
    assert [span.span_id[-2:] for span in trace.spans] == ["a0", "b0", "b1", "b2"]
    assert [span.tool_name for span in trace.tool_spans] == ["f"]
    assert [span.documents for span in trace.retriever_spans] == [(Document("d"),)]


def test_spans_of_several_traces_are_no_trace() -> None:
    """Nor is no span at all."""
    other = ObserveSpan(trace_id="other", span_id="1")

    with pytest.raises(ValueError, match="these have 2"):
        Trace.from_spans([agent(), other])
    with pytest.raises(ValueError, match="these have 0"):
        Trace.from_spans([])


def test_usage() -> None:
    """The real calls together; what no call recorded is not known, and zero is known."""
    first = llm("00000000000000b0", input_tokens=5, output_tokens=0, cost=0.5)
    trace = Trace.from_spans([agent(), first, llm("00000000000000b1", input_tokens=7)])

    assert trace.usage == Usage(12, 0, 0.5)
    assert trace.usage.total_tokens == 12
    assert Trace.from_spans([agent()]).usage == Usage()
    assert Usage().total_tokens is None
    assert Usage(output_tokens=3).total_tokens == 3


def test_times() -> None:
    """From the earliest start to the latest end."""
    trace = Trace.from_spans([agent(), llm("00000000000000b0")])

    assert trace.started_at == datetime.fromtimestamp(1_700_000_000.16, UTC)
    assert trace.duration_ms == 16.5
    timeless = Trace.from_spans([ObserveSpan(trace_id="t", span_id="1")])
    assert (timeless.started_at, timeless.duration_ms) == (None, None)
    assert (timeless.start_time_unix_nano, timeless.end_time_unix_nano) == (0, 0)


def test_session_and_services() -> None:
    """The first session named, roots first; every service once."""
    spans = [
        agent(resource={"service.name": "b"}),
        llm("00000000000000b0", session_id="s", resource={"service.name": "a"}),
        llm("00000000000000b1", session_id="t"),
    ]
    trace = Trace.from_spans(spans)

    assert trace.session_id == "s"
    assert trace.service_names == ["a", "b"]
    assert Trace.from_spans([agent()]).session_id is None


def test_content() -> None:
    """A health check has nothing to judge; anything with a kind, an input or an output has."""
    check = ObserveSpan(trace_id="t", span_id="1", name="GET /health")

    assert not Trace.from_spans([check]).has_content
    assert Trace.from_spans([ObserveSpan(trace_id="t", span_id="1", input="x")]).has_content
    assert Trace.from_spans([ObserveSpan(trace_id="t", span_id="1", output=0)]).has_content
    assert Trace.from_spans([llm("00000000000000b0")]).has_content


def test_copies() -> None:
    """A copy is equal, and what is changed in one is not changed in the other."""
    trace = Trace.from_spans([agent(metadata={"a": [1]}), llm("00000000000000b0", input_tokens=5)])
    trace.add_problem(Problem("odd", "it is odd", "memory"))
    twin = trace.copy()

    assert twin == trace
    assert (twin.problems, twin.usage) == (trace.problems, trace.usage)
    twin.roots[0].span.metadata["a"] = []
    twin.roots[0].children.clear()
    assert trace.roots[0].span.metadata == {"a": [1]}
    assert len(trace.spans) == 2


def test_problems() -> None:
    """What is wrong with how the spans hang together is known, and more can be noted."""
    trace = Trace.from_spans([llm("00000000000000b0", says("x"), parent="00000000000000ff")])
    trace.add_problem(Problem("odd", "it is odd", "memory"))

    assert {"orphan-span", "odd"} <= {problem.kind for problem in trace.problems}
    assert list(trace.wire_bytes()) == []
