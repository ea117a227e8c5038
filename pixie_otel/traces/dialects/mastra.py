"""Mastra: what agents, workflows and the steps of a generation were given and gave back, beside OpenTelemetry's keys.

A generation is all that a model was called for in one run of an agent, and holds the sums; each step of it is a call.

Source: ``@mastra/otel-exporter`` 1.4 and ``@mastra/otel-bridge`` 1.5, which write the same attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pixie_otel import attributes as general_keys
from pixie_otel.attributes import mastra as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.failures import failure
from pixie_otel.traces.dialects.first_token import ms_until
from pixie_otel.traces.dialects.identities import SESSION_NAMES, USER_NAMES, first_identity
from pixie_otel.traces.dialects.plain import plain_messages
from pixie_otel.traces.dialects.provider import read_request, read_response
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.retrieved import documents, question
from pixie_otel.traces.dialects.values import decoded, json_mapping, json_object, text
from pixie_otel.traces.messages import Message
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "mastra"
ROOTS: Final = frozenset({"mastra"})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_GENERATION: Final = "model_generation"
_STEP: Final = "model_step"
_KINDS: Final = {
    "agent_run": ObservationKind.AGENT,
    _GENERATION: ObservationKind.LLM,
    _STEP: ObservationKind.LLM,
    "tool_call": ObservationKind.TOOL,
    "mcp_tool_call": ObservationKind.TOOL,
    "client_tool_call": ObservationKind.TOOL,
    "provider_tool_call": ObservationKind.TOOL,
    "rag_embedding": ObservationKind.EMBEDDING,
    "rag_vector_operation": ObservationKind.RETRIEVER,
    "scorer_run": ObservationKind.EVALUATOR,
    "generic": ObservationKind.OTHER,
    "model_chunk": ObservationKind.OTHER,
    "model_inference": ObservationKind.OTHER,
}
"""What the types of spans are; all others are parts of workflows and the like."""
_USER_NAMES: Final = (*USER_NAMES, "resourceId")
_NO_METADATA: Final = frozenset({"body", "headers", "modelMetadata"})
"""What describes the provider's response rather than the run."""


def read(span: SpanFacts) -> Reading | None:
    """Read what Mastra says of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where it does not say what the span is.
    """
    attributes = span.attributes
    kind = text(attributes.get(keys.SPAN_TYPE))
    if kind is None:
        return None
    kind = kind.lower()
    said = {
        key.removeprefix(keys.METADATA): value for key, value in attributes.items() if key.startswith(keys.METADATA)
    }
    given, given_back = (
        decoded(attributes.get(keys.INPUT.format(kind))),
        decoded(attributes.get(keys.OUTPUT.format(kind))),
    )
    reading = Reading(
        kind=_KINDS.get(kind, ObservationKind.CHAIN),
        input=given,
        output=given_back,
        metadata={key: value for key, value in said.items() if key not in _NO_METADATA} or None,
        session_id=first_identity(said, SESSION_NAMES),
        user_id=first_identity(said, _USER_NAMES),
    )
    match kind:
        case "agent_run":
            reading.input = _conversation(given)
            reading.output = _answer(given_back)
        case "model_generation":
            _read_generation(span, reading)
        case "model_step":
            _read_step(attributes, given, given_back, reading)
        case "rag_vector_operation":
            reading.query = question(given)
            reading.documents = documents(given_back)
        case "rag_embedding":
            reading.texts = (given,) if isinstance(given, str) else None
        case _:
            pass
    return reading


def _conversation(given: JsonValue) -> JsonValue:
    """Give what an agent was asked: a text, or the conversation as plain messages."""
    listed = given.get("messages") if isinstance(given, dict) else given
    return plain_messages(messages(listed)) or given if isinstance(listed, list) else given


def _answer(given_back: JsonValue) -> JsonValue:
    """Give what an agent answered: its text, else the object that it was asked for."""
    if not isinstance(given_back, dict) or not {"text", "object"} & given_back.keys():
        return given_back
    return text(given_back.get("text")) or given_back.get("object")


def _read_generation(span: SpanFacts, reading: Reading) -> None:
    reasons = decoded(span.attributes.get(general_keys.GENAI_FINISH_REASONS))
    if reasons == ["error"]:
        reading.error = failure(span)
    reading.time_to_first_token_ms = ms_until(span.attributes.get(keys.COMPLETION_START_TIME), span)
    # Calls of tools are left out of the answer, which is an empty text then: what the steps say counts.
    answers = decoded(span.attributes.get(general_keys.GENAI_OUTPUT_MESSAGES))
    if isinstance(answers, list) and not any(item.text for item in messages(answers, role="assistant")):
        reading.output_messages = ()


def _read_step(attributes: Mapping[str, JsonValue], given: JsonValue, given_back: JsonValue, reading: Reading) -> None:
    reading.operation = "chat"
    reading.output = None
    model = json_mapping(attributes.get(keys.METADATA_MODEL))
    reading.request_model = text(model.get("modelId"))
    reading.provider = text(model.get("modelProvider"))
    if isinstance(given, dict):
        body = json_object(given.get("body"))
        reading.fill(read_request(given if body is None else body))
    else:
        reading.input_messages = messages(given) or None
    reading.output_messages = _step_answer(given_back) or None
    reading.fill(read_response(attributes.get(keys.METADATA_BODY)))


def _step_answer(given_back: JsonValue) -> tuple[Message, ...]:
    if not isinstance(given_back, dict):
        return messages(given_back, role="assistant")
    parts: list[JsonValue] = []
    if (thought := text(given_back.get("reasoning"))) is not None:
        parts.append({"type": "reasoning", "text": thought})
    if (said := text(given_back.get("text"))) is not None:
        parts.append({"type": "text", "text": said})
    calls = given_back.get("toolCalls")
    return messages({"role": "assistant", "content": parts, "tool_calls": calls}) if parts or calls else ()
