"""What stands for a run."""

from __future__ import annotations

from typing import Any

from checked_traces import TRACE_ID

from pixie_otel.traces.judged_run import JudgedRun, judged_root, judged_run
from pixie_otel.traces.spans import ObservationKind, ObserveSpan
from pixie_otel.traces.trace import Trace


def span(span_id: str, parent: str | None = None, **fields: Any) -> ObserveSpan:
    """Make a span that takes a millisecond; ids that sort later happen later."""
    start = int(span_id, 16) * 1_000_000
    times = {"start_time_unix_nano": start, "end_time_unix_nano": start + 1_000_000}
    return ObserveSpan(trace_id=TRACE_ID, span_id=span_id, parent_span_id=parent, **{**times, **fields})


def run(*spans: ObserveSpan) -> JudgedRun:
    """Judge the trace of some spans."""
    return judged_run(Trace.from_spans(spans).roots)


def test_the_roots_own() -> None:
    """What the root recorded counts, one side alone too."""
    found = run(span("1", output="answer"), span("2", "1", input="q", output="other", kind=ObservationKind.LLM))

    assert (found.span.span_id, found.input, found.output) == ("1", None, "answer")


def test_the_first_question_and_the_last_answer() -> None:
    """Below a root without either, the question is the first call's and the answer the last one's."""
    found = run(
        span("1", kind=ObservationKind.AGENT),
        span("2", "1", input="question", output="call", kind=ObservationKind.LLM),
        span("3", "1", input={"city": "Paris"}, output="sunny", kind=ObservationKind.TOOL),
        span("4", "1", kind=ObservationKind.CHAIN),
        span("5", "4", input="history", output="answer", kind=ObservationKind.LLM),
    )

    assert (found.span.span_id, found.input, found.output) == ("2", "question", "answer")
    assert found.duration_ms == 4.0


def test_helpers_are_not_asked() -> None:
    """A retrieval before the call is no question, nor a guardrail after it an answer."""
    found = run(
        span("1"),
        span("2", "1", input="query", output="documents", kind=ObservationKind.RETRIEVER),
        span("3", "1", input="question", output="answer", kind=ObservationKind.LLM),
        span("4", "1", input="answer", output="fine", kind=ObservationKind.GUARDRAIL),
    )

    assert (found.span.span_id, found.input, found.output) == ("3", "question", "answer")


def test_helpers_alone() -> None:
    """A run that only retrieves and reads is its helpers."""
    found = run(
        span("1"),
        span("2", "1", input="query", output="documents", kind=ObservationKind.RETRIEVER),
        span("3", "1", input="documents", output="best", kind=ObservationKind.RERANKER),
    )

    assert (found.input, found.output) == ("query", "best")


def test_siblings_of_a_missing_root() -> None:
    """Spans whose parent is not in the input stand together in its place."""
    found = run(
        span("2", "1", input="question", output="call", kind=ObservationKind.LLM),
        span("3", "1", input="history", output="answer", kind=ObservationKind.LLM),
        span("4", input="of", output="another root", kind=ObservationKind.LLM),
    )

    assert (found.input, found.output) == ("question", "answer")


def test_the_last_to_end_answers() -> None:
    """The end counts, whatever started last."""
    found = run(
        span("1"),
        span("2", "1", input="q", output="answer", kind=ObservationKind.AGENT, end_time_unix_nano=9_000_000),
        span("3", "1", input="title?", output="title", kind=ObservationKind.LLM),
    )

    assert found.output == "answer"


def test_nothing_recorded() -> None:
    """Then the first root stands for the run, with nothing."""
    trace = Trace.from_spans([span("1"), span("2", "1")])
    top = judged_root(trace.roots)

    assert top is not None
    assert top.span.span_id == "1"
    assert judged_run(trace.roots) == JudgedRun(top.span, None, None, 1.0)
    assert judged_root([]) is None
