"""The Vercel AI SDK: one span around a call of the SDK, and one for each call of a model and run of a tool in it.

Source: the packages ``ai`` 3 to 6, and 7 with its legacy telemetry, which write ``ai.*``. What version 7 writes by
default are OpenTelemetry's GenAI attributes, which `pixie_otel.traces.dialects.genai` reads; the ``ai.*`` keys that it
adds on request are read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pixie_otel import attributes as general_keys
from pixie_otel.attributes import trulens as trulens_keys
from pixie_otel.attributes import vercel as keys
from pixie_otel.evaluable import Document, JsonValue, canonical_json
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.identities import SESSION_NAMES, USER_NAMES, first_identity
from pixie_otel.traces.dialects.plain import answer, plain_messages
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.toolcalls import tool_definitions, tool_list
from pixie_otel.traces.dialects.values import (
    decoded,
    first_text,
    first_whole,
    json_mapping,
    json_object,
    number,
    text,
    whole,
)
from pixie_otel.traces.messages import Message
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "vercel"
ROOTS: Final = frozenset({"ai", "vercel"})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_CALLS: Final = (".doGenerate", ".doStream")
_OBJECTS: Final = (keys.OPERATION_GENERATE_OBJECT, keys.OPERATION_STREAM_OBJECT)
_TEXT_KEYS: Final = (keys.RESPONSE_TEXT, keys.OLD_TEXT)
_OBJECT_KEYS: Final = (keys.RESPONSE_OBJECT, keys.OLD_OBJECT)
_CALL_KEYS: Final = (keys.RESPONSE_TOOL_CALLS, keys.OLD_TOOL_CALLS)


def read(span: SpanFacts) -> Reading | None:
    """Read what the Vercel AI SDK says of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its keys is there.
    """
    attributes = _own(span.attributes)
    if not attributes:
        return None
    operation = text(attributes.get(keys.OPERATION_ID))
    metadata = _metadata(attributes)
    reading = Reading(
        kind=_kind(operation, attributes),
        metadata=metadata or None,
        session_id=first_identity(metadata, SESSION_NAMES),
        user_id=first_identity(metadata, USER_NAMES),
        agent_name=text(attributes.get(keys.FUNCTION_ID)),
        provider=text(attributes.get(keys.MODEL_PROVIDER)),
        request_model=text(attributes.get(keys.MODEL_ID)),
    )
    match reading.kind:
        case ObservationKind.LLM:
            _read_call(attributes, reading)
            if (operation or "").startswith(_OBJECTS):
                reading.output_type = "json"
        case ObservationKind.TOOL:
            _read_tool(attributes, reading)
        case ObservationKind.EMBEDDING:
            _read_embedding(attributes, reading)
        case ObservationKind.RERANKER:
            _read_ranking(attributes, reading)
        case ObservationKind.CHAIN:
            reading.input = _given(attributes)
            reading.output = _given_back(attributes)
        case _:
            # Version 7 adds these to spans that are told apart by OpenTelemetry's keys.
            _read_embedding(attributes, reading)
            _read_details(attributes, reading)
    if general_keys.OI_SPAN_KIND in span.attributes:
        # OpenInference's processor adds its keys to these; it says what the span is, and the originals say the rest.
        reading.kind = None
    return reading


def _own(attributes: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, value in attributes.items():
        if key.startswith(keys.PREFIX):
            if not key.startswith(trulens_keys.PREFIX):
                found[key] = value
        elif key.startswith(keys.RELAYED):
            found[key.removeprefix(keys.RELAYED[: -len(keys.PREFIX)])] = value
    return found


def _kind(operation: str | None, attributes: Mapping[str, JsonValue]) -> ObservationKind | None:
    operation = operation or ""
    if operation.endswith(_CALLS):
        return ObservationKind.LLM
    if operation == keys.OPERATION_TOOL:
        return ObservationKind.TOOL
    if operation.endswith(".doEmbed"):
        return ObservationKind.EMBEDDING
    if operation.endswith(".doRerank"):
        return ObservationKind.RERANKER
    if operation.startswith(keys.PREFIX):
        return ObservationKind.CHAIN
    # Only calls of models have it.
    return ObservationKind.LLM if keys.PROMPT_MESSAGES in attributes else None


def _metadata(attributes: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        key.removeprefix(prefix): value
        for prefix in (keys.CONTEXT, keys.METADATA)
        for key, value in attributes.items()
        if key.startswith(prefix)
    }


def _read_call(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.operation = "chat"
    reading.response_model = text(attributes.get(keys.RESPONSE_MODEL))
    reading.response_id = text(attributes.get(keys.RESPONSE_ID))
    reading.request_temperature = number(attributes.get(keys.TEMPERATURE))
    reading.request_max_tokens = first_whole(attributes, (keys.MAX_OUTPUT_TOKENS, keys.MAX_TOKENS))
    reading.request_top_p = number(attributes.get(keys.TOP_P))
    reading.input_messages = messages(attributes.get(keys.PROMPT_MESSAGES)) or None
    reading.output_messages = _answer(attributes) or None
    tools = attributes.get(keys.PROMPT_TOOLS)
    reading.tool_definitions = (tool_definitions(tools) if isinstance(tools, list) else tool_list(tools)) or None
    reason = first_text(attributes, (keys.FINISH_REASON, keys.OLD_FINISH_REASON))
    reading.raw_finish_reasons = None if reason is None else (reason,)
    reading.time_to_first_token_ms = number(
        attributes.get(keys.MS_TO_FIRST_CHUNK, attributes.get(keys.OLD_MS_TO_FIRST_CHUNK))
    )
    reading.input_tokens = first_whole(attributes, (keys.INPUT_TOKENS, keys.PROMPT_TOKENS))
    reading.output_tokens = first_whole(attributes, (keys.OUTPUT_TOKENS, keys.COMPLETION_TOKENS))
    _read_details(attributes, reading)


def _read_details(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    """Read the cached and reasoning tokens, and what the provider alone says."""
    reading.cache_read_tokens = first_whole(attributes, (keys.CACHE_READ_TOKENS, keys.CACHED_INPUT_TOKENS))
    reading.cache_creation_tokens = first_whole(attributes, (keys.CACHE_WRITE_TOKENS,))
    reading.reasoning_tokens = first_whole(attributes, (keys.OUTPUT_REASONING_TOKENS, keys.REASONING_TOKENS))
    for said in json_mapping(attributes.get(keys.PROVIDER_METADATA)).values():
        if not isinstance(said, dict):
            continue
        usage = json_mapping(said.get("usage"))
        if reading.cost is None:
            reading.cost = next(
                (cost for part in (said, usage) if (cost := number(part.get("cost"))) is not None), None
            )
        if any(key.startswith(keys.INPUT_TOKEN_DETAILS) for key in attributes):
            continue
        # Until version 6 the input was what the provider calls so, and Anthropic's is without what was cached.
        read, written = whole(usage.get("cache_read_input_tokens")), whole(usage.get("cache_creation_input_tokens"))
        written = whole(said.get("cacheCreationInputTokens")) if written is None else written
        read = whole(said.get("cacheReadInputTokens")) if read is None else read
        if reading.cache_read_tokens is None:
            reading.cache_read_tokens = read
        if written is not None:
            reading.cache_creation_tokens = written
            if reading.input_tokens is not None:
                reading.input_tokens += written + (reading.cache_read_tokens or 0)


def _answer(attributes: Mapping[str, JsonValue]) -> tuple[Message, ...]:
    parts: list[JsonValue] = []
    if (thought := text(attributes.get(keys.RESPONSE_REASONING))) is not None:
        parts.append({"type": "reasoning", "text": thought})
    if (said := first_text(attributes, _TEXT_KEYS) or first_text(attributes, _OBJECT_KEYS)) is not None:
        parts.append({"type": "text", "text": said})
    if isinstance(files := decoded(attributes.get(keys.RESPONSE_FILES)), list):
        parts.extend({"type": "file", **file} for file in files if isinstance(file, dict))
    calls = decoded(first_text(attributes, _CALL_KEYS))
    if not parts and not calls:
        return ()
    return messages({"role": "assistant", "content": parts, "tool_calls": calls})


def _given(attributes: Mapping[str, JsonValue]) -> JsonValue:
    """Give what the app called the SDK with: the prompt where that is all, else the conversation."""
    prompt = json_object(attributes.get(keys.PROMPT))
    if prompt is None:
        if keys.VALUE in attributes:
            return decoded(attributes[keys.VALUE])
        listed = next((found for key in (keys.VALUES, keys.DOCUMENTS) if (found := attributes.get(key))), None)
        return _each(listed) if listed is not None else attributes.get(keys.PROMPT)
    system, said = prompt.get("system"), prompt.get("messages", prompt.get("prompt"))
    if not system and isinstance(said, str):
        return said
    told = messages({"role": "system", "content": system} if isinstance(system, str) else system, role="system")
    return plain_messages((*told, *messages(said))) or prompt


def _given_back(attributes: Mapping[str, JsonValue]) -> JsonValue:
    if (said := first_text(attributes, _TEXT_KEYS)) is not None:
        return said
    if (made := first_text(attributes, _OBJECT_KEYS)) is not None:
        return decoded(made)
    if keys.EMBEDDING in attributes:
        return decoded(attributes[keys.EMBEDDING])
    listed = next((found for key in (keys.EMBEDDINGS, keys.RANKING) if (found := attributes.get(key))), None)
    return answer(_answer(attributes)) if listed is None else _each(listed)


def _read_tool(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.tool_name = text(attributes.get(keys.TOOL_NAME))
    reading.tool_call_id = text(attributes.get(keys.TOOL_ID))
    reading.arguments = reading.input = decoded(attributes.get(keys.TOOL_ARGS))
    reading.result = reading.output = decoded(attributes.get(keys.TOOL_RESULT))


def _read_embedding(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    values = _each(attributes[keys.VALUES]) if keys.VALUES in attributes else [decoded(attributes.get(keys.VALUE))]
    reading.texts = tuple(value for value in values if isinstance(value, str)) or None
    reading.input_tokens = first_whole(attributes, (keys.EMBED_TOKENS, keys.INPUT_TOKENS))
    reading.output = _each(attributes.get(keys.EMBEDDINGS)) or None


def _read_ranking(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    offered = _each(attributes.get(keys.DOCUMENTS))
    reading.input = offered or None
    reading.output = ranking = _each(attributes.get(keys.RANKING)) or None
    places = ((place, whole(place.get("index"))) for place in ranking or () if isinstance(place, dict))
    reading.documents = tuple(
        _document(offered[index], number(place.get("relevanceScore")))
        for place, index in places
        if index is not None and 0 <= index < len(offered)
    )


def _document(value: JsonValue, score: float | None) -> Document:
    if not isinstance(value, dict):
        return Document(content=value if isinstance(value, str) else "", score=score)
    content = first_text(value, ("content", "text"))
    return Document(
        content=canonical_json(value) if content is None else content, id=text(value.get("id")), score=score
    )


def _each(values: JsonValue) -> list[JsonValue]:
    """Decode a list of JSON texts."""
    found = decoded(values)
    return [decoded(value) for value in found] if isinstance(found, list) else []
