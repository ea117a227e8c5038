"""Why spans failed."""

from __future__ import annotations

from observed import event

from pixie_otel.traces.dialects.failures import failure, last_exception
from pixie_otel.traces.dialects.reading import SpanFacts
from pixie_otel.traces.spans import SpanError

FIRST = event("exception", {"exception.type": "A", "exception.message": "a"})
LAST = event("exception", {"exception.type": "B", "exception.message": "b"})


def test_the_last_exception_counts() -> None:
    """Those before it may have been handled."""
    span = SpanFacts(trace_id="t", span_id="s", events=(FIRST, LAST, event("x")))

    assert last_exception(span) is LAST
    assert failure(span) == SpanError("b", "B")
    assert last_exception(SpanFacts(trace_id="t", span_id="s")) is None


def test_what_says_more_comes_first() -> None:
    """The dialect's words, then the status, then the exception; the error's type before the exception's."""
    span = SpanFacts(trace_id="t", span_id="s", events=(LAST,), status_message="m", attributes={"error.type": "E"})

    assert failure(span) == SpanError("m", "E")
    assert failure(span, "said") == SpanError("said", "E")
    assert failure(SpanFacts(trace_id="t", span_id="s", attributes={"error.type": "<class 'a.B'>"})).type == "a.B"
