"""OpenTelemetry's GenAI semantic conventions, the current form and all older ones.

Source: semantic-conventions-genai v0.1.0 (current), and semantic-conventions up to 1.26 (``gen_ai.prompt`` attributes),
1.27 (content events), 1.28 to 1.36 (one event or log record a message), 1.37 and later (messages on the span or in the
details event).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.dialects.chat import message, messages, tool_definitions
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import decoded, json_mapping, json_object, number, text, whole
from pixie_otel.traces.messages import AssistantMessage, Message, SystemMessage
from pixie_otel.traces.spans import ObservationKind, SpanEvent

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "gen_ai"
ROOTS: Final = frozenset({"gen_ai"})
"""The first segments of the keys that this dialect reads."""

_KINDS: Final = {
    "chat": ObservationKind.LLM,
    "generate_content": ObservationKind.LLM,
    "text_completion": ObservationKind.LLM,
    "completion": ObservationKind.LLM,
    "llm_call": ObservationKind.LLM,
    "embeddings": ObservationKind.EMBEDDING,
    "embedding": ObservationKind.EMBEDDING,
    "retrieval": ObservationKind.RETRIEVER,
    "rerank": ObservationKind.RERANKER,
    "execute_tool": ObservationKind.TOOL,
    "create_agent": ObservationKind.AGENT,
    "invoke_agent": ObservationKind.AGENT,
    "invoke_workflow": ObservationKind.CHAIN,
    "execute_event_loop_cycle": ObservationKind.CHAIN,
    "agent_step": ObservationKind.CHAIN,
    "chain": ObservationKind.CHAIN,
    "plan": ObservationKind.CHAIN,
    "tool": ObservationKind.TOOL,
}
_MESSAGE_ROLES: Final = {
    keys.GENAI_EVENT_SYSTEM: "system",
    keys.GENAI_EVENT_USER: "user",
    keys.GENAI_EVENT_ASSISTANT: "assistant",
    keys.GENAI_EVENT_TOOL: "tool",
}
_EVENT_CONTENT: Final = "gen_ai.event.content"


def read(span: SpanFacts) -> Reading | None:
    """Read what the GenAI conventions say of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of the keys is there.
    """
    attributes = _with_details(span)
    if not any(key.startswith(keys.GENAI_PREFIX) for key in attributes):
        return None
    said = text(attributes.get(keys.GENAI_OPERATION))
    reading = Reading(
        kind=None if said is None else _KINDS.get(said.lower()),
        operation=said,
        provider=text(attributes.get(keys.GENAI_PROVIDER)) or text(attributes.get(keys.GENAI_SYSTEM)),
        request_model=text(attributes.get(keys.GENAI_REQUEST_MODEL)),
        response_model=text(attributes.get(keys.GENAI_RESPONSE_MODEL)),
        session_id=text(attributes.get(keys.GENAI_CONVERSATION_ID)) or text(attributes.get(keys.SESSION_ID)),
        user_id=text(attributes.get(keys.USER_ID)) or text(attributes.get(keys.ENDUSER_ID)),
    )
    _read_usage(attributes, reading)
    if reading.kind is ObservationKind.TOOL:
        _read_tool(attributes, span.events, reading)
        return reading
    _read_messages(attributes, span.events, reading)
    if reading.kind is None:
        reading.kind = _guessed_kind(said, reading)
    match reading.kind:
        case ObservationKind.LLM:
            _read_call(attributes, reading)
        case ObservationKind.AGENT:
            reading.agent_name = text(attributes.get(keys.GENAI_AGENT_NAME))
            reading.agent_id = text(attributes.get(keys.GENAI_AGENT_ID))
        case ObservationKind.RETRIEVER | ObservationKind.RERANKER:
            _read_documents(attributes, reading)
        case ObservationKind.EMBEDDING:
            reading.texts = tuple(item.text for item in reading.input_messages or () if item.text) or None
        case _:
            pass
    return reading


def _with_details(span: SpanFacts) -> Mapping[str, JsonValue]:
    """Give the attributes with what details events add; the span's own count first."""
    details = [event.attributes for event in span.events if event.name == keys.GENAI_EVENT_DETAILS]
    if not details:
        return span.attributes
    merged: dict[str, JsonValue] = {}
    # Several such events may each hold one piece of the call.
    for found in (*details, span.attributes):
        merged.update({key: value for key, value in found.items() if value is not None})
    return merged


def _guessed_kind(operation: str | None, reading: Reading) -> ObservationKind | None:
    """Say what a span without a known operation is: what names a model and has tokens or messages called one."""
    if operation is not None and operation.lower() not in ("", "unknown"):
        return None
    has_model = reading.request_model is not None or reading.response_model is not None
    has_content = reading.input_messages is not None or reading.output_messages is not None
    has_tokens = reading.input_tokens is not None or reading.output_tokens is not None
    return ObservationKind.LLM if has_model and (has_content or has_tokens) else None


def _first(attributes: Mapping[str, JsonValue], *names: str) -> int | None:
    for name in names:
        found = whole(attributes.get(name))
        if found is not None:
            return found
    return None


def _read_usage(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.input_tokens = _first(attributes, keys.GENAI_INPUT_TOKENS, keys.GENAI_PROMPT_TOKENS)
    reading.output_tokens = _first(attributes, keys.GENAI_OUTPUT_TOKENS, keys.GENAI_COMPLETION_TOKENS)
    reading.cache_read_tokens = _first(attributes, keys.GENAI_CACHE_READ_TOKENS, keys.TRACELOOP_CACHE_READ_TOKENS)
    reading.cache_creation_tokens = _first(
        attributes,
        keys.GENAI_CACHE_CREATION_TOKENS,
        keys.GENAI_CACHE_WRITE_TOKENS,
        keys.TRACELOOP_CACHE_CREATION_TOKENS,
    )
    reading.reasoning_tokens = _first(attributes, keys.GENAI_REASONING_TOKENS, keys.TRACELOOP_REASONING_TOKENS)
    reading.cost = number(attributes.get(keys.GENAI_USAGE_COST))


def _read_call(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.request_temperature = number(attributes.get(keys.GENAI_REQUEST_TEMPERATURE))
    reading.request_max_tokens = whole(attributes.get(keys.GENAI_REQUEST_MAX_TOKENS))
    reading.request_top_p = number(attributes.get(keys.GENAI_REQUEST_TOP_P))
    reading.response_id = text(attributes.get(keys.GENAI_RESPONSE_ID))
    reading.output_type = text(attributes.get(keys.GENAI_OUTPUT_TYPE))
    reasons = decoded(attributes.get(keys.GENAI_FINISH_REASONS))
    if isinstance(reasons, str):
        reasons = [reasons]
    if isinstance(reasons, list) and reasons:
        reading.raw_finish_reasons = tuple(str(reason) for reason in reasons)
    elif reading.raw_finish_reasons is None:
        reading.raw_finish_reasons = (
            tuple(
                item.finish_reason
                for item in reading.output_messages or ()
                if isinstance(item, AssistantMessage) and item.finish_reason
            )
            or None
        )
    tools = decoded(attributes.get(keys.GENAI_TOOL_DEFINITIONS))
    if isinstance(tools, list):
        reading.tool_definitions = tool_definitions(tools) or None
    for key in (keys.GENAI_TIME_TO_FIRST_CHUNK, keys.GENAI_SERVER_TIME_TO_FIRST_TOKEN):
        seconds = number(attributes.get(key))
        if seconds is not None:
            reading.time_to_first_token_ms = seconds * 1000
            break


def _read_messages(attributes: Mapping[str, JsonValue], events: Sequence[SpanEvent], reading: Reading) -> None:
    given = messages(attributes.get(keys.GENAI_INPUT_MESSAGES))
    given_back = messages(attributes.get(keys.GENAI_OUTPUT_MESSAGES), role="assistant")
    instructions = messages(_instructions(attributes), role="system")
    if instructions and not any(isinstance(item, SystemMessage) for item in given):
        given = instructions + given
    if not given:
        given = messages(_old_prompt(attributes, events, keys.GENAI_EVENT_PROMPT, keys.GENAI_PROMPT))
    if not given_back:
        old = _old_prompt(attributes, events, keys.GENAI_EVENT_COMPLETION, keys.GENAI_COMPLETION)
        given_back = messages(old, role="assistant")
    if not given or not given_back:
        said, answered, reasons = _from_message_events(events)
        given = given or said
        given_back = given_back or answered
        reading.raw_finish_reasons = reasons or None
    reading.input_messages = given or None
    reading.output_messages = given_back or None


def _instructions(attributes: Mapping[str, JsonValue]) -> JsonValue:
    parts = decoded(attributes.get(keys.GENAI_SYSTEM_INSTRUCTIONS))
    if isinstance(parts, list):
        return {"role": "system", "parts": parts} if parts else None
    return parts


def _old_prompt(attributes: Mapping[str, JsonValue], events: Sequence[SpanEvent], event: str, key: str) -> JsonValue:
    """Give the messages of the forms up to 1.27: one attribute, on the span or on an event."""
    found = attributes.get(key)
    for candidate in events:
        if found is None and candidate.name == event:
            found = candidate.attributes.get(key)
    value = decoded(found)
    if isinstance(value, dict):
        for name in ("messages", "choices"):
            if isinstance(inner := value.get(name), list):
                return [item.get("message", item) if isinstance(item, dict) else item for item in inner]
        return value if "role" in value or "content" in value else None
    return value


def _from_message_events(
    events: Sequence[SpanEvent],
) -> tuple[tuple[Message, ...], tuple[Message, ...], tuple[str, ...]]:
    said: list[Message] = []
    answered: list[tuple[int, Message]] = []
    reasons: list[str] = []
    for event in events:
        if event.name == keys.GENAI_EVENT_CHOICE:
            body = _body(event)
            inner = decoded(body.get("message"))
            choice = inner if isinstance(inner, dict) else {"content": inner}
            if "tool_calls" in body and "tool_calls" not in choice:
                choice = {**choice, "tool_calls": body["tool_calls"]}
            reason = text(body.get("finish_reason"))
            reasons.extend([reason] if reason else [])
            answered.append(
                (whole(body.get("index")) or 0, message({**choice, "finish_reason": reason}, role="assistant"))
            )
        elif event.name in _MESSAGE_ROLES:
            said.extend(messages(_body(event), role=_MESSAGE_ROLES[event.name]))
    answered.sort(key=lambda item: item[0])
    # With content capture off the events come without bodies; that nothing was recorded must not look like silence.
    recorded = any(item.content or getattr(item, "tool_calls", ()) for item in said)
    outputs = tuple(item for _, item in answered if item.content or getattr(item, "tool_calls", ()))
    return tuple(said) if recorded else (), outputs, tuple(reasons)


def _body(event: SpanEvent) -> dict[str, JsonValue]:
    body = json_object(event.body)
    if body is None:
        body = json_object(event.attributes.get(_EVENT_CONTENT))
    found = dict(event.attributes) if body is None else body
    return {**found, "role": found.get("role") or _MESSAGE_ROLES.get(event.name)}


def _read_tool(attributes: Mapping[str, JsonValue], events: Sequence[SpanEvent], reading: Reading) -> None:
    reading.tool_name = text(attributes.get(keys.GENAI_TOOL_NAME))
    reading.tool_description = text(attributes.get(keys.GENAI_TOOL_DESCRIPTION))
    reading.tool_call_id = text(attributes.get(keys.GENAI_TOOL_CALL_ID))
    reading.arguments = decoded(attributes.get(keys.GENAI_TOOL_CALL_ARGUMENTS))
    reading.result = decoded(attributes.get(keys.GENAI_TOOL_CALL_RESULT))
    for event in events:
        if event.name == keys.GENAI_EVENT_TOOL and reading.arguments is None:
            reading.arguments = decoded(event.attributes.get("content"))
        elif event.name == keys.GENAI_EVENT_CHOICE and reading.result is None:
            reading.result = decoded(event.attributes.get("message"))
    reading.input = reading.arguments
    reading.output = reading.result


def _read_documents(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.query = text(attributes.get(keys.GENAI_RETRIEVAL_QUERY))
    reading.input = reading.query
    listed = decoded(attributes.get(keys.GENAI_RETRIEVAL_DOCUMENTS))
    if isinstance(listed, list):
        reading.documents = tuple(_document(json_mapping(item)) for item in listed)
        reading.output = listed


def _document(item: dict[str, JsonValue]) -> Document:
    identity = item.get("id")
    return Document(
        content=text(item.get("content")) or "",
        id=None if identity is None else str(identity),
        score=number(item.get("score")),
        metadata=json_object(item.get("metadata")),
    )
