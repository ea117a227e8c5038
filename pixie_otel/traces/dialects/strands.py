"""Strands Agents: what its spans say beside OpenTelemetry's GenAI keys, and what they said before they had these.

Source: strands-agents 0.1, 0.2, 1.0, 1.9 and 1.62 (``strands/telemetry/tracer.py``). Up to 0.1 nothing names the
operation, and prompts and answers stand whole in ``gen_ai.prompt`` and ``gen_ai.completion``.
"""

from __future__ import annotations

from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.attributes import strands as strands_keys
from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.dialects.chat import message, messages
from pixie_otel.traces.dialects.message_events import event_values, recorded
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.toolcalls import tool_result
from pixie_otel.traces.dialects.values import decoded, json_mapping, text
from pixie_otel.traces.spans import ObservationKind, SpanError

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "strands"
ROOTS: Final = frozenset({strands_keys.EVENT_START_TIME})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_FAILED: Final = "error"


def read(span: SpanFacts) -> Reading | None:
    """Read what is Strands' own on a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where Strands did not make the span, or the GenAI keys say it all.
    """
    attributes = span.attributes
    operation = text(attributes.get(keys.GENAI_OPERATION))
    if operation is None:
        reading = _old(span)
    elif operation == strands_keys.MEMORY_SEARCH:
        reading = _search(span)
    elif operation.startswith("invoke_"):
        # A graph or a swarm of agents is invoked under its own name.
        reading = Reading(kind=ObservationKind.AGENT)
    else:
        reading = Reading()
    status = attributes.get(strands_keys.TOOL_STATUS, attributes.get(strands_keys.OLD_TOOL_STATUS))
    if status == _FAILED and span.status_message is None:
        said = event_values(span.events)[1] if reading.result is None else reading.result
        reading.error = SpanError(message=text(said) or "")
    return reading


def _old(span: SpanFacts) -> Reading:
    attributes = span.attributes
    given, given_back = decoded(attributes.get(keys.GENAI_PROMPT)), decoded(attributes.get(keys.GENAI_COMPLETION))
    if keys.OI_TOOL_NAME in attributes:
        arguments = decoded(attributes.get(strands_keys.TOOL_PARAMETERS))
        result = tool_result(attributes.get(strands_keys.TOOL_RESULT))
        return Reading(
            kind=ObservationKind.TOOL,
            tool_name=text(attributes.get(keys.OI_TOOL_NAME)),
            tool_call_id=text(attributes.get(keys.OI_TOOL_ID)),
            arguments=arguments,
            result=result,
            input=arguments,
            output=result,
        )
    answers = (message({"content": given_back}, role="assistant"),) if isinstance(given_back, list) else ()
    reading = Reading(output_messages=answers or None)
    if strands_keys.CYCLE_ID in attributes:
        reading.kind = ObservationKind.CHAIN
    elif isinstance(given, list) and keys.GENAI_AGENT_NAME in attributes:
        reading.kind = ObservationKind.LLM
    elif keys.GENAI_AGENT_NAME in attributes:
        reading.kind = ObservationKind.AGENT
        reading.input = given
        reading.output = recorded(given_back)
        return reading
    reading.input_messages = messages(given) or None
    return reading


def _search(span: SpanFacts) -> Reading:
    """Read a search of an agent's memory."""
    reading = Reading(kind=ObservationKind.RETRIEVER)
    for event in span.events:
        content = event.attributes.get("content")
        if event.name == strands_keys.MEMORY_QUERY:
            reading.query = text(content)
            reading.input = reading.query
        elif event.name == strands_keys.MEMORY_RESULTS and isinstance(found := decoded(content), list):
            reading.output = found
            reading.documents = tuple(_document(item) for item in found if isinstance(item, dict))
    return reading


def _document(item: dict[str, JsonValue]) -> Document:
    store = text(item.get("store_name"))
    metadata = json_mapping(item.get("metadata"))
    if store is not None:
        metadata = {"store_name": store, **metadata}
    return Document(content=text(item.get("content")) or "", metadata=metadata or None)
