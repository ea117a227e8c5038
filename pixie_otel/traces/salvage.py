"""Save what can be saved of JSON that is not quite OTLP: one bad value costs that value.

The fast path decodes whole structures and knows only "right" or "wrong". What is wrong comes here, is parsed into plain
Python values, put into the form that the fast path reads, and each thing that had to be given up is told.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.wire import WireSpan, WireStatus, integer, json_double

__all__ = [
    "Complain",
    "canonical_id",
    "clean",
    "parse",
    "salvage_attributes",
    "salvage_span",
    "salvage_value",
    "silence",
]

Complain: TypeAlias = Callable[[str, str], None]
"""Takes the kind of a problem and what to say about it."""

_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_SNAKE: Final = re.compile(r"_([a-z])")
_HEX: Final = re.compile(r"[0-9a-fA-F]+", re.ASCII)
_ID_CHARACTERS: Final = {16: (32, 24, 22), 8: (16, 12, 11)}
"""How long an id of so many bytes is in hex, in base64, and in base64 without padding."""
_SNAKE_KEYS: Final = frozenset(
    {
        "resource_spans",
        "resource_logs",
        "resource_metrics",
        "scope_spans",
        "scope_logs",
        "log_records",
        "instrumentation_library_spans",
        "instrumentation_library",
        "instrumentation_library_logs",
        "schema_url",
        "trace_id",
        "span_id",
        "parent_span_id",
        "trace_state",
        "start_time_unix_nano",
        "end_time_unix_nano",
        "time_unix_nano",
        "observed_time_unix_nano",
        "event_name",
        "dropped_attributes_count",
        "dropped_events_count",
        "dropped_links_count",
        "string_value",
        "bool_value",
        "int_value",
        "double_value",
        "array_value",
        "kvlist_value",
        "bytes_value",
    }
)


def silence(kind: str, message: str) -> None:
    """Take a complaint that was made elsewhere already.

    Args:
        kind: Not used.
        message: Not used.
    """


def parse(data: bytes, complain: Complain) -> JsonValue:
    """Parse JSON that the fast decoder refused, giving up as little as possible.

    Args:
        data: The bytes of one JSON value.
        complain: Told of invalid UTF-8 and of NaN and infinities, which become text.

    Returns:
        The value, not yet cleaned.

    Raises:
        ValueError: It is no JSON.
        RecursionError: It is nested too deep.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        complain("invalid-utf8", "bytes that are no UTF-8 were replaced by U+FFFD")
        text = data.decode(errors="replace")

    def constant(name: str) -> str:
        complain("bad-value", f"{name} is no JSON; it is read as text")
        return name

    value: JsonValue = json.loads(text, parse_constant=constant)
    return value


def clean(value: JsonValue, complain: Complain) -> JsonValue:
    """Put a parsed document into the form that the fast decoder reads.

    Args:
        value: Any parsed JSON.
        complain: Told of lone surrogates.

    Returns:
        The same with OTLP's snake_case keys in lowerCamelCase, lone surrogates replaced, and numbers that have no
        64-bit form as text.
    """
    if isinstance(value, str):
        if value.isascii() or not _SURROGATES.search(value):
            return value
        complain("lone-surrogate", "half a surrogate pair was replaced by U+FFFD")
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_camel(str(clean(key, complain))): clean(inner, complain) for key, inner in value.items()}
    if isinstance(value, list):
        return [clean(inner, complain) for inner in value]
    if isinstance(value, float):
        return json_double(value)
    if isinstance(value, int) and not isinstance(value, bool) and integer(value) is None:
        return str(value)
    return value


def salvage_span(data: bytes, complain: Complain) -> WireSpan | None:
    """Read a span whose fields are not all as OTLP says; attributes and events are left for later.

    Args:
        data: The span's JSON.
        complain: Told of each field that had to be given up.

    Returns:
        The span, or ``None`` where it is no JSON object.
    """
    try:
        value = clean(parse(data, complain), complain)
    except (ValueError, RecursionError) as error:
        complain("bad-span", f"a span cannot be decoded ({_why(error)}); it is skipped")
        return None
    if not isinstance(value, dict):
        complain("bad-span", f"a span is {_shown(value)}, not an object; it is skipped")
        return None
    status = value.get("status")
    return WireSpan(
        trace_id=_text(value, "traceId", complain),
        span_id=_text(value, "spanId", complain),
        parent_span_id=_text(value, "parentSpanId", complain),
        name=_text(value, "name", complain),
        kind=_enum(value.get("kind"), "kind", complain),
        start_time_unix_nano=_number(value, "startTimeUnixNano", complain),
        end_time_unix_nano=_number(value, "endTimeUnixNano", complain),
        attributes=_raw(value.get("attributes")),
        events=_raw(value.get("events")),
        status=_status(status, complain),
        dropped_attributes_count=_number(value, "droppedAttributesCount", complain),
        dropped_events_count=_number(value, "droppedEventsCount", complain),
    )


def salvage_attributes(data: bytes, complain: Complain) -> dict[str, JsonValue]:
    """Decode attributes one by one; of a key that stands twice the last value counts.

    Args:
        data: The JSON of the attributes.
        complain: Told of each one that had to be given up.

    Returns:
        The values by key.
    """
    try:
        pairs = clean(parse(data, complain), complain)
    except (ValueError, RecursionError) as error:
        complain("bad-value", f"attributes cannot be decoded ({_why(error)}); they are skipped")
        return {}
    if isinstance(pairs, dict):
        return pairs
    if not isinstance(pairs, list):
        if pairs is not None:
            complain("bad-value", f"attributes are {_shown(pairs)}, not a list; they are skipped")
        return {}
    values: dict[str, JsonValue] = {}
    for pair in pairs:
        if not isinstance(pair, dict) or not isinstance(key := pair.get("key"), str):
            complain("bad-value", f"an attribute is {_shown(pair)}, with no text as its key; it is skipped")
            continue
        if key in values:
            complain("duplicate-key", f"attribute {key!r} stands twice; the last value counts")
        values[key] = salvage_value(pair.get("value"), complain, key)
    return values


def salvage_value(value: JsonValue, complain: Complain, where: str) -> JsonValue:
    """Read one AnyValue as well as it can be read.

    Args:
        value: The parsed AnyValue.
        complain: Told where it is not as OTLP says.
        where: What to call it in a message.

    Returns:
        The value; where its type does not fit, what stood there.
    """
    if value is None:
        return None
    if not isinstance(value, dict):
        complain("bad-value", f"{where} is {_shown(value)} itself, not an object that says its type")
        return value
    for variant, inner in value.items():
        if inner is None:
            continue
        read = _VARIANTS.get(variant)
        if read is not None:
            return read(inner, complain, where)
    return None


def canonical_id(value: str, size: int) -> str | None:
    """Read a trace or span id.

    Args:
        value: Hex of either case, with or without ``0x``, or base64; the length tells which.
        size: The id's size in bytes: 16 for traces, 8 for spans.

    Returns:
        Lower-case hex; ``""`` for an empty or all-zero id; ``None`` where it is no such id.
    """
    text = value.strip().removeprefix("0x")
    hexadecimal, padded, bare = _ID_CHARACTERS[size]
    if not text.strip("0"):
        return ""
    if len(text) == hexadecimal and _HEX.fullmatch(text):
        return text.lower()
    if len(text) in (padded, bare):
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        except (binascii.Error, ValueError):
            return None
        return data.hex() if len(data) == size else None
    return None


def _camel(key: str) -> str:
    return _SNAKE.sub(lambda match: match[1].upper(), key) if key in _SNAKE_KEYS else key


def _text(span: dict[str, JsonValue], key: str, complain: Complain) -> str:
    value = span.get(key)
    if isinstance(value, str) or value is None:
        return value or ""
    complain("bad-value", f"{key} is {_shown(value)}, not text")
    return "" if isinstance(value, dict | list) else str(value)


def _number(span: dict[str, JsonValue], key: str, complain: Complain) -> int:
    value = span.get(key)
    if value is None:
        return 0
    number = integer(value)
    if number is None:
        complain("bad-value", f"{key} is {_shown(value)}, no integer; it is read as 0")
        return 0
    return number


def _enum(value: JsonValue, key: str, complain: Complain) -> int | str:
    if value is None or isinstance(value, bool):
        return 0
    if isinstance(value, str):
        return value
    number = integer(value)
    if number is None:
        complain("bad-value", f"{key} is {_shown(value)}, neither a number nor a name")
        return 0
    return number


def _status(value: JsonValue, complain: Complain) -> WireStatus | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        complain("bad-value", f"status is {_shown(value)}, not an object")
        return None
    return WireStatus(_enum(value.get("code"), "status.code", complain), _text(value, "message", complain))


def _raw(value: JsonValue) -> Raw:
    return Raw(msgspec.json.encode(value))


def _read_text(value: JsonValue, complain: Complain, where: str) -> JsonValue:
    if not isinstance(value, str):
        complain("bad-value", f"{where} says stringValue and is {_shown(value)}")
    return value


def _read_integer(value: JsonValue, complain: Complain, where: str) -> JsonValue:
    number = integer(value)
    if number is None:
        complain(
            "bad-value", f"{where} says intValue and is {_shown(value)}, no 64-bit integer; it is kept as it stands"
        )
        return value
    return number


def _read_bool(value: JsonValue, complain: Complain, where: str) -> JsonValue:
    if not isinstance(value, bool):
        complain("bad-value", f"{where} says boolValue and is {_shown(value)}")
    return value


def _read_double(value: JsonValue, complain: Complain, where: str) -> JsonValue:
    try:
        if isinstance(value, int | float | str):
            return json_double(value)
    except (ValueError, OverflowError):
        pass
    complain("bad-value", f"{where} says doubleValue and is {_shown(value)}")
    return value


def _read_array(value: JsonValue, complain: Complain, where: str) -> JsonValue:
    items = value.get("values") if isinstance(value, dict) else value
    if not isinstance(items, list):
        if items is not None:
            complain("bad-value", f"{where} says arrayValue and is {_shown(value)}")
        return []
    return [salvage_value(item, complain, f"{where}[{index}]") for index, item in enumerate(items)]


def _read_mapping(value: JsonValue, complain: Complain, where: str) -> JsonValue:
    pairs = value.get("values") if isinstance(value, dict) else value
    if not isinstance(pairs, list):
        if pairs is not None:
            complain("bad-value", f"{where} says kvlistValue and is {_shown(value)}")
        return {}
    found: dict[str, JsonValue] = {}
    for pair in pairs:
        if isinstance(pair, dict) and isinstance(key := pair.get("key"), str):
            found[key] = salvage_value(pair.get("value"), complain, f"{where}.{key}")
        else:
            complain("bad-value", f"{where} holds {_shown(pair)} where a key and a value should stand; it is skipped")
    return found


_VARIANTS: Final[dict[str, Callable[[JsonValue, Complain, str], JsonValue]]] = {
    "stringValue": _read_text,
    "intValue": _read_integer,
    "boolValue": _read_bool,
    "doubleValue": _read_double,
    "arrayValue": _read_array,
    "kvlistValue": _read_mapping,
    "bytesValue": _read_text,
}


def _shown(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _why(error: ValueError | RecursionError) -> str:
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)
