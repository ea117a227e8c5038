"""AutoGen: what its agents were asked and answered, which only its event log holds.

Source: autogen-core and autogen-agentchat 0.7.5 (``autogen_core/logging.py``). Its spans name agents and tools and hold
no content. Where an application sends the logger ``autogen_core.events`` to OpenTelemetry as well, each call of a model
is a log record of the span of its agent. A model's call has no span of its own, so it is no observation.
"""

from __future__ import annotations

from typing import Final

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.provider import read_response
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import json_mapping

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "autogen"
ROOTS: Final = frozenset({"autogen-core"})
"""The first segment of the scope whose spans this dialect reads."""

_CALLS: Final = ("LLMCall", "LLMStreamStart", "LLMStreamEnd")


def read(span: SpanFacts) -> Reading | None:
    """Read what the agent of a span was asked, and what its model answered last.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where the span has no such log record.
    """
    reading = Reading()
    for event in span.events:
        said = _call(event.body)
        if not said:
            continue
        if reading.input_messages is None:
            reading.input_messages = messages(said.get("messages")) or None
        response = json_mapping(said.get("response"))
        answers = read_response(response).output_messages or messages(response.get("content"), role="assistant")
        reading.output_messages = answers or reading.output_messages
    return reading if reading.input_messages or reading.output_messages else None


def _call(body: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(body, str) or not body.startswith("{") or '"type": "LLM' not in body:
        return {}
    found = json_mapping(body)
    return found if found.get("type") in _CALLS else {}
