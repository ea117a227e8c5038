"""OpenTelemetry's GenAI semantic conventions, the current form and all older ones.

Source: semantic-conventions-genai v0.1.0 (current), and semantic-conventions up to 1.26 (``gen_ai.prompt`` attributes),
1.27 (content events), 1.28 to 1.36 (one event or log record a message), 1.37 and later (messages on the span or in the
details event).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.dialects.call_ids import called
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.identities import first_identity
from pixie_otel.traces.dialects.literals import literal
from pixie_otel.traces.dialects.message_events import event_messages, event_values, left_out, one_of_pieces, recorded
from pixie_otel.traces.dialects.operations import operation_kind
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.retrieved import document
from pixie_otel.traces.dialects.toolcalls import tool_list, tool_result
from pixie_otel.traces.dialects.values import (
    decoded,
    first_number,
    first_whole,
    json_mapping,
    number,
    text,
    whole,
)
from pixie_otel.traces.messages import AssistantMessage, SystemMessage, ToolResultMessage
from pixie_otel.traces.spans import ObservationKind, SpanEvent

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "gen_ai"
ROOTS: Final = frozenset({"gen_ai"})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_CLIENT: Final = "client"
_NOT_SPECIFIED: Final = "<not specified>"
"""What Google's agent kit writes for the id of a call that failed."""
_NOTHING: Final[tuple[JsonValue, ...]] = (None, "", [], {})
_INPUT_KEYS: Final = (keys.GENAI_INPUT_TOKENS, keys.GENAI_PROMPT_TOKENS, keys.GENAI_RESPONSE_PROMPT_TOKENS)
_OUTPUT_KEYS: Final = (keys.GENAI_OUTPUT_TOKENS, keys.GENAI_COMPLETION_TOKENS, keys.GENAI_RESPONSE_COMPLETION_TOKENS)
_CACHE_READ_KEYS: Final = (keys.GENAI_CACHE_READ_TOKENS, keys.TRACELOOP_CACHE_READ_TOKENS)
_CACHE_CREATION_KEYS: Final = (
    keys.GENAI_CACHE_CREATION_TOKENS,
    keys.GENAI_CACHE_WRITE_TOKENS,
    keys.TRACELOOP_CACHE_CREATION_TOKENS,
)
_REASONING_KEYS: Final = (keys.GENAI_REASONING_TOKENS, keys.TRACELOOP_REASONING_TOKENS)
_COST_KEYS: Final = (keys.GENAI_USAGE_COST, keys.OPERATION_COST, keys.GENAI_COST_TOTAL)
"""The conventions have no key for what a call cost, producers have these."""
_REFERENCES: Final = (keys.GENAI_INPUT_MESSAGES_REF, keys.GENAI_OUTPUT_MESSAGES_REF, keys.GENAI_SYSTEM_INSTRUCTIONS_REF)
_ELSEWHERE: Final = "content was uploaded to where its attributes point: it is not in the file"
_FIRST_TOKEN_KEYS: Final = (
    keys.GENAI_TIME_TO_FIRST_CHUNK,
    keys.GENAI_CLIENT_TIME_TO_FIRST_CHUNK,
    keys.GENAI_SERVER_TIME_TO_FIRST_TOKEN,
)
_MESSAGE_LISTS: Final = (keys.GENAI_INPUT_MESSAGES, keys.GENAI_OUTPUT_MESSAGES, keys.GENAI_SYSTEM_INSTRUCTIONS)


def read(span: SpanFacts) -> Reading | None:
    """Read what the GenAI conventions say of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of the keys is there.
    """
    attributes = _with_details(span)
    if not any(map(str.startswith, attributes, repeat(keys.GENAI_PREFIX))) and not any(
        event.name.startswith(keys.GENAI_PREFIX) for event in span.events
    ):
        return None
    said = text(attributes.get(keys.GENAI_OPERATION))
    reading = Reading(
        kind=operation_kind(said),
        operation=said,
        provider=text(attributes.get(keys.GENAI_PROVIDER)) or text(attributes.get(keys.GENAI_SYSTEM)),
        request_model=_model(attributes.get(keys.GENAI_REQUEST_MODEL)),
        response_model=_model(attributes.get(keys.GENAI_RESPONSE_MODEL)),
        session_id=first_identity(attributes, (keys.SESSION_ID, keys.GENAI_CONVERSATION_ID, keys.GENAI_THREAD_ID)),
        user_id=first_identity(attributes, (keys.USER_ID, keys.ENDUSER_ID)),
        agent_name=text(attributes.get(keys.GENAI_AGENT_NAME)),
        agent_id=text(attributes.get(keys.GENAI_AGENT_ID)),
    )
    _read_usage(attributes, reading)
    if reading.kind is not ObservationKind.TOOL:
        _read_messages(attributes, span.events, reading)
    _read_finish(attributes, reading)
    if not attributes.keys().isdisjoint(_REFERENCES):
        reading.notes = (_ELSEWHERE,)
    if reading.kind is None:
        reading.kind = _guessed_kind(span, said, reading)
    match reading.kind:
        # Another vocabulary may say that a span is a call, and leave what all calls have to this one.
        case ObservationKind.LLM | None:
            _read_call(attributes, reading)
            reading.time_to_first_token_ms = _time_to_first_token(attributes, span)
        case ObservationKind.TOOL:
            _read_tool(attributes, span.events, reading)
        case ObservationKind.RETRIEVER | ObservationKind.RERANKER:
            _read_documents(attributes, reading)
        case ObservationKind.EMBEDDING:
            reading.texts = tuple(item.text for item in reading.input_messages or () if item.text) or None
        case _:
            pass
    return reading


def _model(value: JsonValue) -> str | None:
    """Give a model's name; Spring AI writes that there is none."""
    return None if value == "none" else text(value)


def _with_details(span: SpanFacts) -> Mapping[str, JsonValue]:
    """Give the attributes with what details events add; the span's own count first, where they say something."""
    # Where a log record holds them, some producers write them into its body.
    details = [
        {**json_mapping(event.body), **event.attributes}
        for event in span.events
        if event.name == keys.GENAI_EVENT_DETAILS
    ]
    if not details:
        return span.attributes
    merged: dict[str, JsonValue] = {}
    for found in details:
        for key, value in found.items():
            # Several such events may each hold one piece of the call, or of one list.
            before = merged.get(key) if key in _MESSAGE_LISTS else None
            merged[key] = value if before is None else _joined(before, value)
    merged.update({key: value for key, value in span.attributes.items() if _says_more(value, merged.get(key))})
    return merged


def _says_more(value: JsonValue, told: JsonValue) -> bool:
    """Say whether an attribute says something, and no less than the event does: one that was cut is no list."""
    found = decoded(value)
    return found not in _NOTHING and (isinstance(found, list) or not isinstance(decoded(told), list))


def _joined(before: JsonValue, after: JsonValue) -> JsonValue:
    first, second = decoded(before), decoded(after)
    if not isinstance(first, list) or not isinstance(second, list):
        return before if first not in _NOTHING else after
    # The same event may be there as a span event and as a log record; and a later one may hold the history as well.
    if first[: len(second)] == second:
        return first
    return second if second[: len(first)] == first else [*first, *second]


def _guessed_kind(span: SpanFacts, operation: str | None, reading: Reading) -> ObservationKind | None:
    """Say what a span without a known operation is.

    What names a model and has tokens or messages is called one. Frameworks have operations of their own, whose spans
    may hold the sums of the calls below; of those, only what ended as a call ends is one. A span that is full drops
    its oldest attributes, the model among them, so that of a client's call the tokens may be all that is left.
    """
    attributes = span.attributes
    has_model = reading.request_model is not None or reading.response_model is not None
    has_content = reading.input_messages is not None or reading.output_messages is not None
    has_tokens = reading.input_tokens is not None or reading.output_tokens is not None
    if not has_model:
        if operation is None and span.otel_kind == _CLIENT and reading.output_tokens is not None:
            return ObservationKind.LLM
        named = operation is None and text(attributes.get(keys.GENAI_TOOL_NAME)) is not None
        return ObservationKind.TOOL if named and not has_content else None
    if not (has_content or has_tokens):
        return None
    if operation is None or operation.lower() in ("", "unknown"):
        return ObservationKind.LLM
    return ObservationKind.LLM if reading.raw_finish_reasons or text(attributes.get(keys.GENAI_RESPONSE_ID)) else None


def _read_usage(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.input_tokens = first_whole(attributes, _INPUT_KEYS)
    reading.output_tokens = first_whole(attributes, _OUTPUT_KEYS)
    reading.cache_read_tokens = first_whole(attributes, _CACHE_READ_KEYS)
    reading.cache_creation_tokens = first_whole(attributes, _CACHE_CREATION_KEYS)
    reading.reasoning_tokens = first_whole(attributes, _REASONING_KEYS)
    reading.cost = first_number(attributes, _COST_KEYS)


def _read_call(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.request_temperature = number(attributes.get(keys.GENAI_REQUEST_TEMPERATURE))
    reading.request_max_tokens = whole(attributes.get(keys.GENAI_REQUEST_MAX_TOKENS))
    reading.request_top_p = number(attributes.get(keys.GENAI_REQUEST_TOP_P))
    reading.response_id = text(attributes.get(keys.GENAI_RESPONSE_ID))
    reading.output_type = text(attributes.get(keys.GENAI_OUTPUT_TYPE))
    reading.tool_definitions = tool_list(attributes.get(keys.GENAI_TOOL_DEFINITIONS)) or None
    if reading.output_messages and (identity := text(attributes.get(keys.GENAI_TOOL_CALL_ID))):
        # OpenLIT's messages have the id of the item that OpenAI's responses put a call into.
        reading.output_messages = called(reading.output_messages, identity)


def _read_finish(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reasons = decoded(attributes.get(keys.GENAI_FINISH_REASONS))
    listed = reasons if isinstance(reasons, list) else [reasons]
    found = tuple(reason for item in listed if (reason := text(item)))
    if not found and (said := text(attributes.get(keys.GENAI_FINISH_REASON))):
        # Semantic Kernel names those of all choices in one text.
        found = tuple(reason for part in said.split(",") if (reason := part.strip()))
    if not found and reading.raw_finish_reasons is None:
        answers = (item for item in reading.output_messages or () if isinstance(item, AssistantMessage))
        found = tuple(item.finish_reason for item in answers if item.finish_reason)
    reading.raw_finish_reasons = found or reading.raw_finish_reasons


def _time_to_first_token(attributes: Mapping[str, JsonValue], span: SpanFacts) -> float | None:
    for key in _FIRST_TOKEN_KEYS:
        said = number(attributes.get(key))
        if said is not None:
            # The conventions say seconds, and some producers write milliseconds: nothing comes after the span's end.
            duration = (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9
            return said if 0 < duration < said else said * 1000
    return None


def _read_messages(attributes: Mapping[str, JsonValue], events: Sequence[SpanEvent], reading: Reading) -> None:
    given = messages(attributes.get(keys.GENAI_INPUT_MESSAGES))
    given_back = messages(attributes.get(keys.GENAI_OUTPUT_MESSAGES), role="assistant")
    if not given:
        given = messages(_old_prompt(attributes, events, keys.GENAI_EVENT_PROMPT, keys.GENAI_PROMPT))
    if not given_back:
        old = _old_prompt(attributes, events, keys.GENAI_EVENT_COMPLETION, keys.GENAI_COMPLETION)
        given_back = messages(old, role="assistant")
    if not given or not given_back:
        said, answered, reasons = event_messages(events)
        given = given or said
        given_back = given_back or answered
        reading.raw_finish_reasons = reasons or None
    instructions = messages(_instructions(attributes), role="system")
    if reading.kind is ObservationKind.LLM:
        given_back = one_of_pieces(given_back)
    if instructions:
        told = {item.text for item in given if isinstance(item, SystemMessage)}
        given = (*(item for item in instructions if item.text not in told), *given)
    reading.input_messages = None if all(map(left_out, given)) else given
    reading.output_messages = None if all(map(left_out, given_back)) else given_back


def _instructions(attributes: Mapping[str, JsonValue]) -> JsonValue:
    """Give the system instructions as a message: the conventions say a list of parts, and some write messages."""
    said = decoded(attributes.get(keys.GENAI_SYSTEM_INSTRUCTIONS))
    parts: JsonValue = [said] if isinstance(said, dict) else said
    if not isinstance(parts, list) or any(isinstance(part, dict) and "role" in part for part in parts):
        return parts
    return {"role": "system", "parts": parts} if parts else None


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


def _read_tool(attributes: Mapping[str, JsonValue], events: Sequence[SpanEvent], reading: Reading) -> None:
    reading.tool_name = text(attributes.get(keys.GENAI_TOOL_NAME))
    reading.tool_description = text(attributes.get(keys.GENAI_TOOL_DESCRIPTION))
    identity = text(attributes.get(keys.GENAI_TOOL_CALL_ID))
    reading.tool_call_id = None if identity == _NOT_SPECIFIED else identity
    # OpenLIT has an older name for the arguments, and writes those of LangChain's tools as Python shows them.
    arguments = attributes.get(keys.GENAI_TOOL_CALL_ARGUMENTS, attributes.get(keys.GENAI_TOOL_ARGS))
    reading.arguments = literal(recorded(arguments))
    reading.result = tool_result(recorded(attributes.get(keys.GENAI_TOOL_CALL_RESULT)))
    for given, given_back in (event_values(events), _tool_messages(attributes)):
        if reading.arguments is None:
            reading.arguments = given
        if reading.result is None:
            reading.result = given_back
    reading.input = reading.arguments
    reading.output = reading.result


def _tool_messages(attributes: Mapping[str, JsonValue]) -> tuple[JsonValue, JsonValue]:
    """Give what a tool was called with and what it gave back, where that stands in messages only."""
    asked = messages(attributes.get(keys.GENAI_INPUT_MESSAGES), role="assistant")
    told = messages(attributes.get(keys.GENAI_OUTPUT_MESSAGES), role="tool")
    calls = [call.arguments for item in asked if isinstance(item, AssistantMessage) for call in item.tool_calls]
    results = [recorded(item.text) for item in told if isinstance(item, ToolResultMessage)]
    return calls[0] if calls else None, results[0] if results else None


def _read_documents(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    asked = (item.text for item in reversed(reading.input_messages or ()) if item.text)
    reading.query = reading.input = text(attributes.get(keys.GENAI_RETRIEVAL_QUERY)) or next(asked, None)
    listed = decoded(attributes.get(keys.GENAI_RETRIEVAL_DOCUMENTS))
    if isinstance(listed, list):
        reading.documents = tuple(
            Document(content=item) if isinstance(item, str) else document(item)
            for item in listed
            if isinstance(item, str | dict)
        )
        reading.output = listed
