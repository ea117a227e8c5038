"""Spans, log records, resources and scopes as clean OTLP JSON, however they were written.

What is written as OpenTelemetry's exporters write it stays as it is, byte for byte. In everything else ids become hex,
numbers in 64 bits become text, enums become numbers, and values of wrong types become what a reading makes of them; so
a reading of what comes out gives what a reading of what went in gave. Fields that OTLP does not know are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias, cast

import msgspec

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces import wire
from pixie_otel.traces.forms.building import any_value
from pixie_otel.traces.ids import SPAN_ID_BYTES, TRACE_ID_BYTES, canonical_id
from pixie_otel.traces.indexing import is_written_plainly
from pixie_otel.traces.lenient import SNAKE_KEYS, read_json, silence
from pixie_otel.traces.record import SpanRecord, nanoseconds
from pixie_otel.traces.salvage import salvage_object, salvage_value

__all__ = ["clean_log", "clean_object", "clean_span", "is_clean"]

_Object: TypeAlias = dict[str, JsonValue]

_KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_CODES: Final = ("UNSET", "OK", "ERROR")
_VARIANTS: Final = ("stringValue", "intValue", "boolValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue")
_SPAN_FIELDS: Final = frozenset(
    {"traceId", "spanId", "traceState", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"}
    | {"attributes", "events", "links", "status", "resource", "scope"}
)
_UNUSUAL: Final = re.compile(rb'"(?:%b)"\s*:|[0-9]{20}' % "|".join(sorted(SNAKE_KEYS)).encode())
"""What only the lenient reader brings into the form of OTLP, or can hold."""
_LOG_TIMES: Final = ("timeUnixNano", "observedTimeUnixNano")


def is_clean(record: SpanRecord) -> bool:
    """Say whether a span can stay as it is written.

    Args:
        record: The span.
    """
    data = record.data
    if not is_written_plainly(data) or b"\n" in data or b"\r" in data:
        return False
    try:
        data.decode()
        span = wire.decode_whole_span(data)
        wire.plain_values(span.attributes)
        events = wire.decode_events(span.events) or ()
        for event in events:
            wire.decode_attributes(event.attributes)
    except (ValueError, RecursionError):
        return False
    return span.trace_id == record.trace_id


def clean_span(record: SpanRecord) -> _Object:
    """Give a span's fields as they should be written.

    Args:
        record: The span.
    """
    found = _object(record.data)
    status = found.get("status")
    known: _Object = {
        "traceId": record.trace_id,
        "spanId": record.span_id,
        "traceState": _text(found.get("traceState")) or None,
        "parentSpanId": record.parent_span_id,
        "flags": found.get("flags"),
        "name": record.name,
        "kind": _enum(found.get("kind"), _KINDS),
        "startTimeUnixNano": str(record.start_time_unix_nano),
        "endTimeUnixNano": str(record.end_time_unix_nano),
        "attributes": _attributes(found.get("attributes")) or None,
        # Dropped counts, and whatever else there is.
        **{key: value for key, value in found.items() if key not in _SPAN_FIELDS},
        "events": _items(found.get("events"), _event) or None,
        "links": _items(found.get("links"), _link) or None,
        "status": _status(status if isinstance(status, dict) else {}),
    }
    return {key: value for key, value in known.items() if value is not None}


def clean_log(data: bytes) -> _Object:
    """Give a log record's fields as they should be written.

    Args:
        data: Its JSON.
    """
    found = _object(data)
    for key in _LOG_TIMES:
        if key in found:
            found[key] = str(_time(found[key]))
    for key, size in (("traceId", TRACE_ID_BYTES), ("spanId", SPAN_ID_BYTES)):
        if (identity := _text(found.get(key))) and (hexadecimal := canonical_id(identity, size)) is not None:
            found[key] = hexadecimal
    if "body" in found:
        found["body"] = _value(found["body"])
    if "attributes" in found:
        found["attributes"] = _attributes(found["attributes"])
    return {key: value for key, value in found.items() if value is not None}


def clean_object(data: bytes) -> _Object:
    """Give a resource's or a scope's fields as they should be written; none where it is no object.

    Args:
        data: Its JSON.
    """
    found = salvage_object(data, silence, "")
    if "attributes" in found:
        found["attributes"] = _attributes(found["attributes"])
    return {key: value for key, value in found.items() if value is not None}


def _object(data: bytes) -> _Object:
    found: JsonValue = None
    try:
        # Nearly all are read so in a fifth of the time.
        found = msgspec.json.decode(data) if _UNUSUAL.search(data) is None else read_json(data, silence)
    except (ValueError, RecursionError):
        found = read_json(data, silence)
    return found if isinstance(found, dict) else {}


def _items(value: JsonValue, clean: Callable[[_Object], _Object]) -> list[JsonValue]:
    items = value if isinstance(value, list) else []
    return [clean(item) for item in items if isinstance(item, dict)]


def _event(event: _Object) -> _Object:
    return {
        **{key: value for key, value in event.items() if value is not None},
        "timeUnixNano": str(_time(event.get("timeUnixNano"))),
        "name": _text(event.get("name")),
        "attributes": _attributes(event.get("attributes")),
    }


def _link(link: _Object) -> _Object:
    found: _Object = {key: value for key, value in link.items() if value is not None}
    for key, size in (("traceId", TRACE_ID_BYTES), ("spanId", SPAN_ID_BYTES)):
        identity = _text(link.get(key))
        found[key] = canonical_id(identity, size) or identity
    found["attributes"] = _attributes(link.get("attributes"))
    return found


def _status(status: _Object) -> _Object:
    code, message = _enum(status.get("code"), _CODES), _text(status.get("message"))
    found: _Object = {"code": code, "message": message}
    return {key: value for key, value in found.items() if value}


def _enum(value: JsonValue, names: tuple[str, ...]) -> int:
    number = wire.integer(value)
    if number is None:
        name = _text(value).upper().rpartition(".")[2].removeprefix("SPAN_KIND_").removeprefix("STATUS_CODE_")
        number = names.index(name) if name in names else 0
    return number if 0 <= number < len(names) else 0


def _time(value: JsonValue) -> int:
    return nanoseconds(value if isinstance(value, int | str) else None, "", silence)


def _text(value: JsonValue) -> str:
    if isinstance(value, dict | list) or value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _attributes(value: JsonValue) -> list[JsonValue]:
    """Give attributes as a list of pairs; of a key that stands twice the last value counts, as in a reading."""
    values: _Object = {}
    if isinstance(value, dict):
        values = {key: _mapped(inner) for key, inner in value.items()}
    elif isinstance(value, list):
        for pair in value:
            if isinstance(pair, dict) and isinstance(key := pair.get("key"), str):
                values[key] = _value(pair.get("value"))
    return [{"key": key, "value": inner} for key, inner in values.items()]


def _mapped(value: JsonValue) -> JsonValue:
    """Give a value of attributes written as an object: an AnyValue, or the value itself."""
    if isinstance(value, dict) and len(value) == 1 and not value.keys().isdisjoint(_VARIANTS):
        return _value(value)
    return _any(value)


def _value(value: JsonValue, depth: int = wire.MAX_VALUE_DEPTH) -> JsonValue:
    """Give an AnyValue with the one type that counts in it; what is none becomes one of what a reading makes of it."""
    if value is None or not depth:
        return {}
    given = [key for key in _VARIANTS if isinstance(value, dict) and value.get(key) is not None]
    if not isinstance(value, dict) or not given:
        return _read(value)
    variant, inner = given[0], value[given[0]]
    values = inner.get("values") if isinstance(inner, dict) else inner
    items = values if isinstance(values, list) else []
    match variant:
        case "stringValue" if isinstance(inner, str):
            return {variant: inner}
        case "arrayValue" if isinstance(values, list) or values is None:
            return {variant: {"values": [_value(item, depth - 1) for item in items]}}
        case "kvlistValue" if isinstance(values, list) or values is None:
            pairs = {
                key: _value(item.get("value"), depth - 1)
                for item in items
                if isinstance(item, dict) and isinstance(key := item.get("key"), str)
            }
            return {variant: {"values": [{"key": key, "value": item} for key, item in pairs.items()]}}
        case "bytesValue" if isinstance(inner, str):
            return {variant: inner}
        case "doubleValue" if isinstance(inner, int | float | str) and not isinstance(inner, bool):
            return _double(value, inner)
        case _:
            return _read(value)


def _double(value: JsonValue, inner: float | str) -> JsonValue:
    try:
        return {"doubleValue": wire.json_double(inner)}
    except ValueError:
        return _read(value)


def _read(value: JsonValue) -> JsonValue:
    return _any(salvage_value(msgspec.json.encode(value), silence, ""))


def _any(value: JsonValue) -> JsonValue:
    return cast("JsonValue", any_value(value))
