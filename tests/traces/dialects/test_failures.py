"""Why spans failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from observed import event, observed

from pixie_otel.traces.dialects.failures import failure, last_exception
from pixie_otel.traces.dialects.reading import SpanFacts
from pixie_otel.traces.spans import SpanError

if TYPE_CHECKING:
    from pixie_otel.evaluable import JsonValue

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


def test_a_message_of_its_own() -> None:
    """LiteLLM and others write the message beside the type."""
    span = observed({"gen_ai.operation.name": "chat", "error.type": "BadRequestError", "error.message": "bad"})

    assert span.error == SpanError("bad", "BadRequestError")


@pytest.mark.parametrize(
    "kind",
    [
        {"openinference.span.kind": "LLM"},
        {"gen_ai.operation.name": "execute_tool"},
        {"openinference.span.kind": "RETRIEVER"},
    ],
)
def test_an_exception_without_a_status(kind: dict[str, JsonValue]) -> None:
    """What gave nothing back failed, if only the exception tells; what gave something back got over it."""
    given_back = {"output.value": "x", "gen_ai.tool.call.result": "x"}

    assert observed(kind, LAST).error == SpanError("b", "B")
    assert observed({**kind, **given_back}, LAST).error is None


@pytest.mark.parametrize("kind", [{}, {"openinference.span.kind": "CHAIN"}, {"gen_ai.operation.name": "invoke_agent"}])
def test_handled_exceptions(kind: dict[str, JsonValue]) -> None:
    """A step of an app may well give nothing back and go on."""
    assert observed(kind, LAST).error is None
