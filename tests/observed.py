"""Observations made of attributes and events, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pixie_otel.traces.dialects.reading import SpanFacts
from pixie_otel.traces.observe import observe
from pixie_otel.traces.spans import LLMSpan, ObserveSpan, SpanEvent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pixie_otel.evaluable import JsonValue

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
START = 1_700_000_000_000_000_000


def observed(attributes: Mapping[str, JsonValue], *events: SpanEvent, **fields: object) -> ObserveSpan:
    """Read a span with some attributes and events, as if it came from a file."""
    facts: dict[str, Any] = {
        "trace_id": TRACE_ID,
        "span_id": "00000000000000a1",
        "name": "a span",
        "start_time_unix_nano": START,
        "end_time_unix_nano": START + 2_000_000_000,
        "attributes": dict(attributes),
        "events": events,
        **fields,
    }
    return observe(SpanFacts(**facts))


def observed_call(attributes: Mapping[str, JsonValue], *events: SpanEvent, **fields: object) -> LLMSpan:
    """Read a span that is a model call."""
    span = observed(attributes, *events, **fields)
    assert isinstance(span, LLMSpan)
    return span


def event(name: str, attributes: Mapping[str, JsonValue] | None = None) -> SpanEvent:
    """Make a span event."""
    return SpanEvent(name=name, attributes=dict(attributes or {}))


def log(name: str, body: JsonValue, **attributes: JsonValue) -> SpanEvent:
    """Make a log record of a span."""
    return SpanEvent(name=name, attributes=attributes, body=body)
