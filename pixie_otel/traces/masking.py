"""What people and models said taken out of spans and log records; what they were, how long and how much, left in.

A text stays only where its key is of a convention, is known to hold no content (a kind, a model, an id, the name of a
tool), and it is one word. Everything else that is text goes, whatever its key is, so that what applications and
conventions that nobody knows yet record leaks nothing.
Of messages, what answers and requests of models look like stays: roles, types, tool calls by name, tokens.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

import msgspec

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.content_keys import is_counted, is_known, is_parameters, is_safe, words_of
from pixie_otel.traces.forms.building import any_value
from pixie_otel.traces.lenient import read_json, silence
from pixie_otel.traces.salvage import salvage_value

__all__ = ["DROPPED", "masked_log", "masked_object", "masked_span"]

DROPPED: Final = "<dropped>"
"""What stands where content was."""

_Object: TypeAlias = dict[str, JsonValue]

_MAX_DEPTH: Final = 32
_MOST_WORDS_IN_NAME: Final = 6
_WORD: Final = re.compile(r"[\w.:/@+#-]{1,128}")
_NAME: Final = re.compile(r"[\w.:/@+#\-<>()'\[\] ]{1,96}")
_SPAN_NAME: Final = re.compile(r"[^?\n\r]{0,128}")
_STRUCTURED: Final = ("{", "[")

_ROLES: Final = frozenset(
    {"system", "developer", "user", "human", "assistant", "ai", "model", "tool", "function", "chatbot", "ipython"}
    | {"tool-call", "tool-response"}
)
_TYPES: Final = frozenset(
    {"text", "input_text", "output_text", "message", "function", "function_call", "function_call_output", "reasoning"}
    | {"thinking", "redacted_thinking", "tool_use", "tool_result", "tool_call", "tool_call_response", "tool-call"}
    | {"tool-result", "image", "image_url", "input_image", "file", "input_file", "blob", "uri", "input_audio", "audio"}
    | {"document", "refusal", "system", "human", "ai", "tool", "constructor", "server_tool_call", "object", "json"}
    | {"server_tool_call_response", "web_search_call", "summary_text", "media"}
)
_CONTAINERS: Final = frozenset(
    {"messages", "message", "choices", "parts", "tool_calls", "toolCalls", "function", "tool_call", "toolUse", "delta"}
    | {"toolResult", "output", "candidates", "generations", "contents", "content", "response", "lc_kwargs", "kwargs"}
    | {"documents", "replies", "input", "data", "meta", "generation_info", "response_metadata", "tools"}
    | {"functionCall", "functionResponse", "function_call", "additional_kwargs", "result", "update", "request"}
    | {"config"}
)
"""What is looked into; what is in it stays only where it looks like a part of a message or an answer."""
_SCALARS: Final = frozenset(
    {"id", "call_id", "tool_call_id", "toolUseId", "toolCallId", "finish_reason", "finishReason", "stop_reason"}
    | {"object", "mime_type", "modality", "index", "score", "created", "status", keys.EVENT_NAME}
)
_MODELS: Final = ("model", "model_name", "modelVersion", "model_id")
_CALLED: Final = ("name", "tool_name", "toolName")
_CALLS: Final = frozenset({"function", "tool_call", "tool_calls", "toolUse", "functionCall", "function_call"})
_SCHEMA_TYPES: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null", "function"})
_CALL_TYPES: Final = frozenset(
    {"function", "function_call", "function_call_output", "tool_use", "tool_call", "tool-call", "tool_result"}
    | {"tool-result", "tool_call_response", "server_tool_call", "server_tool_call_response"}
)
_CALL_SIGNS: Final = ("arguments", "tool_call_id", "toolUseId", "call_id")
_CONTENT: Final = frozenset(
    {"content", "text", "arguments", "args", "parameters", "input", "output", "result", "response", "page_content"}
    | {"reasoning_content", "thinking", "refusal", "metadata", "image_url", "data", "url", "uri", "description"}
    | {"system", "system_instruction", "systemInstruction", "instructions", "prompt"}
)


def masked_span(span: _Object) -> _Object:
    """Take the content out of a span.

    Args:
        span: Its fields, as `pixie_otel.traces.cleaning.clean_span` gives them.
    """
    kept = _fields(span, _SPAN_FIELDS)
    kept |= masked_object(span) | {"name": _name(span.get("name"))}
    for key in ("events", "links"):
        owners = span.get(key)
        if isinstance(owners, list):
            kept[key] = [_owner(owner) for owner in owners if isinstance(owner, dict)]
    status = span.get("status")
    if isinstance(status, dict) and status.get("message"):
        kept["status"] = status | {"message": DROPPED}
    # In the order of OpenTelemetry's exporters, what comes out is read in the quick way.
    return {key: kept[key] for key in span if key in kept}


def masked_log(log: _Object) -> _Object:
    """Take the content out of a log record.

    Args:
        log: Its fields, as `pixie_otel.traces.cleaning.clean_log` gives them.
    """
    kept = _fields(log, _LOG_FIELDS)
    kept |= masked_object(log)
    if log.get("eventName"):
        kept["eventName"] = _event_name(log["eventName"])
    if "body" in log:
        body = _plain(log["body"])
        kept["body"] = _any(_text(body) if isinstance(body, str) else _tree(body))
    return kept


def masked_object(owner: _Object) -> _Object:
    """Give the attributes of a resource, a scope or anything else without content, and its name and version.

    Args:
        owner: What has attributes.
    """
    kept: _Object = {key: _name(owner[key]) for key in ("name", "version") if key in owner}
    attributes = owner.get("attributes")
    if isinstance(attributes, list):
        pairs = [pair for pair in attributes if isinstance(pair, dict)]
        values = [(key, pair.get("value")) for pair in pairs if isinstance(key := pair.get("key"), str)]
        masked = [(key, _attribute(key, value)) for key, value in values]
        kept["attributes"] = [{"key": key, "value": value} for key, value in masked if value is not None]
    return kept


_WHOLE: Final = frozenset({"status", "traceState"})
_SPAN_FIELDS: Final = frozenset(
    {"traceId", "spanId", "traceState", "parentSpanId", "flags", "kind", "startTimeUnixNano", "endTimeUnixNano"}
    | {"status"}
)
_LOG_FIELDS: Final = frozenset(
    {"traceId", "spanId", "flags", "timeUnixNano", "observedTimeUnixNano", "severityNumber", "severityText"}
)
_OWNER_FIELDS: Final = frozenset({"traceId", "spanId", "traceState", "flags", "timeUnixNano"})


def _fields(owner: _Object, known: frozenset[str]) -> _Object:
    """Give the fields that are known, and counts, where they hold what they should."""
    return {
        key: value
        for key, value in owner.items()
        if (key in known and (key in _WHOLE or _is_word(value))) or (key.endswith("Count") and _is_number(value))
    }


def _owner(owner: _Object) -> _Object:
    """Take the content out of an event or a link."""
    kept = _fields(owner, _OWNER_FIELDS)
    kept |= masked_object(owner)
    if "name" in owner:
        kept["name"] = _event_name(owner["name"])
    return kept


def _attribute(key: str, value: JsonValue) -> JsonValue:
    """Take the content out of an AnyValue; ``None`` where something else would then be taken for an id or the like."""
    found = _plain(value)
    if not isinstance(found, str | list | dict):
        return value
    words = words_of(key)
    if isinstance(value, dict) and "bytesValue" in value:
        return _any(DROPPED)
    if not is_known(key):
        return _any(_unknown(words, found))
    if is_safe(words):
        kept = _safe(found, _NAME if words[-1] == "name" else _WORD)
        return None if kept is None else _any(kept)
    return _any(_masked(words, found))


def _safe(value: JsonValue, pattern: re.Pattern[str]) -> JsonValue:
    """Give a value whose key is safe, where it looks like one of what is no content; ``None`` where it does not."""
    if isinstance(value, list):
        kept = [_safe(item, _WORD) for item in value]
        return kept if None not in kept else None
    if not isinstance(value, str):
        return None
    # Some producers write every value as JSON.
    inner = _parsed(value) if value.startswith(('"', "[")) else value
    if isinstance(inner, list):
        return value if _safe(inner, _WORD) is not None else None
    if not isinstance(inner, str) or pattern.fullmatch(inner) is None:
        return None
    return value if inner.count(" ") < _MOST_WORDS_IN_NAME else None


def _unknown(words: list[str], value: JsonValue) -> JsonValue:
    """Give what stays of a value whose key is of no convention: the numbers of what counts something."""
    is_text = isinstance(value, str)
    parsed = _parsed(value) if isinstance(value, str) and value.startswith(_STRUCTURED) else value
    counted = _numbers(parsed) if is_counted(words) and isinstance(parsed, dict) else None
    if not counted:
        return DROPPED
    return msgspec.json.encode(counted).decode() if is_text else counted


def _masked(words: list[str], value: JsonValue) -> JsonValue:
    """Take the content out of a value that may hold some."""
    if isinstance(value, str):
        parsed = _parsed(value) if value.startswith(_STRUCTURED) else None
        if not isinstance(parsed, dict | list):
            return DROPPED
        kept = _masked(words, parsed)
        return kept if kept == DROPPED else msgspec.json.encode(kept).decode()
    if is_counted(words) or words[-2:] == ["provider", "metadata"]:
        return _numbers(value)
    if words[-1] == "metadata" and isinstance(value, dict):
        return _ids(value)
    if words[-1] == "schema":
        return _schema(value)
    if is_parameters(words) and isinstance(value, dict):
        return _parameters(value)
    return _tree(value)


def _text(text: str) -> JsonValue:
    return _masked([""], text)


def _tree(value: JsonValue, depth: int = _MAX_DEPTH, name: str = "") -> JsonValue:
    """Give what of a value looks like messages, answers or documents, without their content."""
    if value is None or value in ([], {}):
        return value
    if not depth or not isinstance(value, dict | list):
        return DROPPED
    if isinstance(value, list):
        kept = [_tree(item, depth - 1, name) for item in value]
        return DROPPED if all(item == DROPPED or item is None for item in kept) else kept
    return _part(value, depth, name)


def _part(part: _Object, depth: int, name: str) -> JsonValue:
    """Give an object that is a message, a part of one, an answer or a document without its content."""
    kept: _Object = {}
    is_known = False
    for key, value in part.items():
        if key in {"role", "type"}:
            if isinstance(value, str) and value.lower() in (_ROLES if key == "role" else _TYPES):
                kept[key] = value
                is_known = True
        elif key in {"usage", "token_usage", "usage_metadata", "usageMetadata", "tokenUsage", "llm_output"}:
            kept[key] = _numbers(value)
            is_known = True
        elif isinstance(value, dict | list) and key in _CONTAINERS:
            inner = _tree(value, depth - 1, key)
            kept[key] = inner
            is_known = is_known or inner not in (DROPPED, [], {})
        elif key in _CONTENT:
            kept[key] = None if value is None else DROPPED
        elif isinstance(value, str) and value.startswith(_STRUCTURED) and key in _CONTAINERS:
            kept[key] = _text(value)
    is_call = name in _CALLS or kept.get("type") in _CALL_TYPES or any(sign in part for sign in _CALL_SIGNS)
    called = [key for key in _CALLED if is_call and _is_name(part.get(key))]
    if not (is_known or called or _is_document(part)):
        return DROPPED
    return kept | _scalars(part) | {key: part[key] for key in called}


def _scalars(part: _Object) -> _Object:
    """Give the ids and reasons of an object that is known for a part of messages, answers or documents."""
    kept: _Object = {}
    for key, value in part.items():
        if (key in _SCALARS or (key in _MODELS and not part.keys().isdisjoint(_ANSWERS))) and _is_word(value):
            kept[key] = value
    return kept


_ANSWERS: Final = frozenset({"choices", "usage", "messages", "output", "object", "usageMetadata", "tools", "input"})


def _is_word(value: JsonValue) -> bool:
    if isinstance(value, list):
        # LangChain names a class by its path.
        return all(isinstance(item, str) and _WORD.fullmatch(item) for item in value)
    return _WORD.fullmatch(value) is not None if isinstance(value, str) else isinstance(value, int | float)


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and value.isdecimal())


def _is_name(value: JsonValue) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _is_document(part: _Object) -> bool:
    return not part.keys().isdisjoint(("page_content", "content", "text")) and (
        "metadata" in part or "score" in part or "meta" in part
    )


def _numbers(value: JsonValue, depth: int = _MAX_DEPTH) -> JsonValue:
    """Give the numbers of an object that counts something."""
    if isinstance(value, dict) and depth:
        inner = {key: _numbers(item, depth - 1) for key, item in value.items() if _WORD.fullmatch(key)}
        return {key: item for key, item in inner.items() if item is not None}
    return value if isinstance(value, int | float) else None


def _ids(value: _Object) -> JsonValue:
    """Give the ids of sessions and users among what users put somewhere."""
    kept = {key: item for key, item in value.items() if is_safe(["metadata", *words_of(key)]) and _is_word(item)}
    return kept or DROPPED


def _schema(value: JsonValue, depth: int = _MAX_DEPTH) -> JsonValue:
    """Give a JSON Schema, or what describes a tool with one, without what it says to people and models."""
    if not depth or not isinstance(value, dict):
        return DROPPED
    kept: _Object = {}
    for key, item in value.items():
        if isinstance(item, dict):
            kept[key] = _schema(item, depth - 1)
        elif (key == "type" and isinstance(item, str) and item in _SCHEMA_TYPES) or (key == "name" and _is_name(item)):
            kept[key] = item
    return kept


def _parameters(value: _Object) -> JsonValue:
    """Give the numbers among a model's parameters, and its name."""
    kept = {key: item for key, item in value.items() if isinstance(item, int | float) and _WORD.fullmatch(key)}
    return kept | {key: item for key, item in value.items() if key in _MODELS and _is_word(item)}


def _name(value: JsonValue) -> JsonValue:
    """Give the name of a span or an event, where it is short: names are the same over and over, and no sentences."""
    is_name = isinstance(value, str) and _SPAN_NAME.fullmatch(value) and value.count(" ") < _MOST_WORDS_IN_NAME
    return value if is_name else DROPPED


def _event_name(value: JsonValue) -> JsonValue:
    """Give the name of an event, where it is a word: what has several may be a line of a log."""
    return value if value == keys.OI_EVENT_FIRST_TOKEN or (isinstance(value, str) and _is_word(value)) else DROPPED


def _parsed(text: str) -> JsonValue:
    try:
        return read_json(text.encode("utf-8", "replace"), silence, is_otlp=False)
    except (ValueError, RecursionError):
        return None


def _plain(value: JsonValue) -> JsonValue:
    """Give an AnyValue as what it stands for."""
    text = value.get("stringValue") if isinstance(value, dict) else None
    return text if isinstance(text, str) else salvage_value(msgspec.json.encode(value), silence, "")


def _any(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return {"stringValue": value}
    found: JsonValue = msgspec.json.decode(msgspec.json.encode(any_value(value)))
    return found
