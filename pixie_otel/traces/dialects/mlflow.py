"""MLflow: ``mlflow.spanType``, and a function's or a provider's input and output, all as JSON text.

Source: MLflow's tracing 3.x, its decorators and its automatic logging of OpenAI, Anthropic, LangChain and others. In
its GenAI mode it writes OpenTelemetry's conventions only, which `pixie_otel.traces.dialects.genai` reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.attributes import mlflow as own_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chunks import joined_chunks
from pixie_otel.traces.dialects.identities import SESSION_NAMES, USER_NAMES, first_identity
from pixie_otel.traces.dialects.provider import read_parameters, read_response, read_usage
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.recorded import (
    read_function,
    read_given,
    read_given_back,
    says_something,
)
from pixie_otel.traces.dialects.toolcalls import tool_list
from pixie_otel.traces.dialects.values import (
    below,
    decoded,
    json_mapping,
    json_object,
    json_value,
    number,
    text,
)
from pixie_otel.traces.messages import Message
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "mlflow"
ROOTS: Final = frozenset({"mlflow"})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_KINDS: Final = {
    "LLM": ObservationKind.LLM,
    "CHAT_MODEL": ObservationKind.LLM,
    "CHAIN": ObservationKind.CHAIN,
    "WORKFLOW": ObservationKind.CHAIN,
    "TASK": ObservationKind.CHAIN,
    "PARSER": ObservationKind.CHAIN,
    "AGENT": ObservationKind.AGENT,
    "TOOL": ObservationKind.TOOL,
    "RETRIEVER": ObservationKind.RETRIEVER,
    "EMBEDDING": ObservationKind.EMBEDDING,
    "RERANKER": ObservationKind.RERANKER,
    "GUARDRAIL": ObservationKind.GUARDRAIL,
    "EVALUATOR": ObservationKind.EVALUATOR,
}
_COUNTED: Final = re.compile(r"_\d{1,6}")
"""What older versions put behind a name that a trace has already."""


def read(span: SpanFacts) -> Reading | None:
    """Read what MLflow's keys say of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its keys is there.
    """
    attributes = span.attributes
    if not any(key.startswith(own_keys.PREFIX) for key in attributes):
        # In the GenAI mode, a stream's pieces are all that is left in MLflow's own form.
        streamed = _streamed(span)
        return None if streamed is None else Reading(output_messages=streamed)
    said = _text(attributes, own_keys.SPAN_TYPE)
    # LangChain's metadata, and what the application tagged the trace with.
    metadata = {**json_mapping(attributes.get(keys.METADATA)), **below(attributes, own_keys.TRACE_TAG_PREFIX)}
    reading = Reading(
        kind=None if said is None else _KINDS.get(said.upper()),
        input=_value(attributes, own_keys.INPUTS),
        output=_value(attributes, own_keys.OUTPUTS),
        metadata=metadata or None,
        session_id=_text(attributes, own_keys.TRACE_SESSION)
        or _text(attributes, keys.SESSION_ID)
        or first_identity(metadata, SESSION_NAMES),
        user_id=_text(attributes, own_keys.TRACE_USER)
        or _text(attributes, keys.USER_ID)
        or first_identity(metadata, USER_NAMES),
    )
    match reading.kind:
        case ObservationKind.LLM:
            _read_call(span, reading)
        case ObservationKind.EMBEDDING:
            _read_model(attributes, reading)
            read_function(reading)
        case ObservationKind.TOOL:
            _read_tool(span, reading)
        case _:
            read_function(reading)
    return reading


def _value(attributes: Mapping[str, JsonValue], key: str) -> JsonValue:
    """Give a value; text that was written as JSON is text, whatever stands in it."""
    said = attributes.get(key)
    return decoded(said, depth=1) if isinstance(said, str) and said[:1] == '"' else json_value(said)


def _text(attributes: Mapping[str, JsonValue], key: str) -> str | None:
    return text(_value(attributes, key))


def _read_model(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.request_model = _text(attributes, own_keys.MODEL)
    reading.provider = _text(attributes, own_keys.PROVIDER)
    reading.fill(read_usage(json_mapping(attributes.get(own_keys.TOKEN_USAGE))))
    cost = json_mapping(attributes.get(own_keys.COST))
    parts = [part for said in cost.values() if (part := number(said)) is not None]
    total = number(cost.get("total_cost"))
    reading.cost = sum(parts) if total is None and parts else total


def _read_call(span: SpanFacts, reading: Reading) -> None:
    attributes = span.attributes
    _read_model(attributes, reading)
    reading.tool_definitions = tool_list(attributes.get(own_keys.CHAT_TOOLS)) or None
    reading.fill(read_given(reading.input))
    reading.fill(read_parameters(attributes.get(own_keys.INVOCATION_PARAMETERS)))
    answered = read_given_back(reading.output)
    if not any(map(says_something, answered.output_messages or ())):
        # What MLflow makes of a stream has no tool calls; the stream's pieces have them.
        answered.output_messages = _streamed(span) or answered.output_messages
    reading.fill(answered)


def _streamed(span: SpanFacts) -> tuple[Message, ...] | None:
    pieces = (event for event in span.events if event.name.startswith(own_keys.CHUNK_EVENT_PREFIX))
    response = joined_chunks(json_object(event.attributes.get(own_keys.CHUNK_VALUE)) for event in pieces)
    found = () if response is None else read_response(response).output_messages or ()
    return tuple(filter(says_something, found)) or None


def _read_tool(span: SpanFacts, reading: Reading) -> None:
    function = _text(span.attributes, own_keys.FUNCTION_NAME)
    if function is not None and span.name.startswith(function) and _COUNTED.fullmatch(span.name[len(function) :]):
        reading.tool_name = function
    if json_object(reading.input) is not None:
        reading.input = decoded(reading.input)
    read_function(reading)
