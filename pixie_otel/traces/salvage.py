"""Save what can be saved of spans, log records and values that are not as OTLP says: one bad value costs that value.

The fast path decodes whole structures and knows only "right" or "wrong". What is wrong comes here, is read leniently,
put into the form that the fast path gives, and each thing that had to be given up is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.lenient import Complain, read_json, shown
from pixie_otel.traces.wire import MAX_VALUE_DEPTH, WireEvent, WireLog, WireSpan, WireStatus, integer, json_double

__all__ = [
    "salvage_attributes",
    "salvage_events",
    "salvage_log",
    "salvage_object",
    "salvage_span",
    "salvage_value",
]

_JsonObject: TypeAlias = dict[str, JsonValue]

_LONGEST_PATH: Final = 80


def salvage_span(data: bytes, complain: Complain) -> WireSpan | None:
    """Read a span whose fields are not all as OTLP says; attributes and events are left for later.

    Args:
        data: The span's JSON.
        complain: Told of each field that had to be given up.

    Returns:
        The span, or ``None`` where it is no JSON object.
    """
    span = _record(data, complain, "bad-span", "span")
    if span is None:
        return None
    return WireSpan(
        trace_id=_text(span, "traceId", complain),
        span_id=_text(span, "spanId", complain),
        parent_span_id=_text(span, "parentSpanId", complain),
        name=_text(span, "name", complain),
        kind=_enum(span, "kind", complain),
        start_time_unix_nano=_number(span, "startTimeUnixNano", complain),
        end_time_unix_nano=_number(span, "endTimeUnixNano", complain),
        attributes=_raw(span.get("attributes")),
        events=_raw(span.get("events")),
        status=_status(span.get("status"), complain),
        dropped_attributes_count=_number(span, "droppedAttributesCount", complain),
        dropped_events_count=_number(span, "droppedEventsCount", complain),
    )


def salvage_log(data: bytes, complain: Complain) -> WireLog | None:
    """Read a log record as `salvage_span` reads a span."""
    log = _record(data, complain, "bad-log", "log record")
    if log is None:
        return None
    owner = "a log record's "
    return WireLog(
        trace_id=_text(log, "traceId", complain, owner),
        span_id=_text(log, "spanId", complain, owner),
        time_unix_nano=_number(log, "timeUnixNano", complain, owner),
        observed_time_unix_nano=_number(log, "observedTimeUnixNano", complain, owner),
        event_name=_text(log, "eventName", complain, owner),
        body=_raw(log.get("body")),
        attributes=_raw(log.get("attributes")),
    )


def salvage_events(data: bytes, complain: Complain) -> list[WireEvent]:
    """Read a span's events one by one.

    Args:
        data: The JSON of the events.
        complain: Told of each one, and each field, that had to be given up.
    """
    events: list[WireEvent] = []
    for item in _items(data, complain, "events"):
        if isinstance(item, dict):
            name = _text(item, "name", complain, "an event's ")
            time = _number(item, "timeUnixNano", complain, "an event's ")
            events.append(WireEvent(name, time, _raw(item.get("attributes"))))
        else:
            complain("bad-value", f"an event is {shown(item)}, not an object; it is skipped")
    return events


def salvage_object(data: bytes, complain: Complain, what: str) -> _JsonObject:
    """Read a resource or a scope; give an empty object where it is none.

    Args:
        data: Its JSON.
        complain: Told of what had to be given up.
        what: What it is, for messages.
    """
    found = _json(data, complain, what)
    if isinstance(found, dict):
        return found
    if found is not None:
        complain("bad-value", f"the {what} is {shown(found)}, not an object; it is left out")
    return {}


def salvage_attributes(data: bytes, complain: Complain) -> _JsonObject:
    """Decode attributes one by one; of a key that stands twice the last value counts.

    Args:
        data: The JSON of the attributes: OTLP's list of pairs, or an object.
        complain: Told of each one that had to be given up.

    Returns:
        The values by key.
    """
    # Attributes written as an object have the user's own keys.
    pairs = _json(data, complain, "attributes", is_otlp=not data.startswith(b"{"))
    if isinstance(pairs, dict):
        return {key: _mapped(value, complain, key) for key, value in pairs.items()}
    if not isinstance(pairs, list):
        if pairs is not None:
            complain("bad-value", f"attributes are {shown(pairs)}, not a list of keys and values; they are left out")
        return {}
    return _pairs(pairs, complain, "attribute", MAX_VALUE_DEPTH)


def salvage_value(data: bytes, complain: Complain, where: str) -> JsonValue:
    """Decode one AnyValue as well as it can be decoded.

    Args:
        data: Its JSON.
        complain: Told of each part that had to be given up.
        where: What it is, for messages.

    Returns:
        The value; where its type does not fit, what stood there.
    """
    return _value(_json(data, complain, where), complain, where, MAX_VALUE_DEPTH)


def _record(data: bytes, complain: Complain, kind: str, what: str) -> _JsonObject | None:
    try:
        value = read_json(data, complain)
    except (ValueError, RecursionError) as error:
        complain(kind, f"a {what} cannot be decoded ({_why(error)}); it is skipped")
        return None
    if isinstance(value, dict):
        return value
    complain(kind, f"a {what} is {shown(value)}, not an object; it is skipped")
    return None


def _json(data: bytes, complain: Complain, what: str, *, is_otlp: bool = True) -> JsonValue:
    try:
        return read_json(data, complain, is_otlp=is_otlp)
    except (ValueError, RecursionError) as error:
        complain("bad-value", f"the {what} cannot be decoded ({_why(error)}); left out")
        return None


def _items(data: bytes, complain: Complain, what: str) -> list[JsonValue]:
    found = _json(data, complain, what)
    if isinstance(found, list):
        return found
    if found is not None:
        complain("bad-value", f"the {what} are {shown(found)}, not a list; they are left out")
    return []


def _text(record: _JsonObject, key: str, complain: Complain, owner: str = "") -> str:
    value = record.get(key)
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, dict | list):
        complain("bad-value", f"{owner}{key} is {shown(value)}, not text; it is left out")
        return ""
    text = shown(value)
    complain("bad-value", f"{owner}{key} is {text}, not text; it is read as {text!r}")
    return text


def _number(record: _JsonObject, key: str, complain: Complain, owner: str = "") -> int:
    value = record.get(key)
    if value is None:
        return 0
    number = integer(value)
    if number is None:
        complain("bad-value", f"{owner}{key} is {shown(value)}, no whole number in 64 bits; it is read as 0")
    return number or 0


def _enum(record: _JsonObject, key: str, complain: Complain, owner: str = "") -> int | str:
    value = record.get(key)
    if value is None or isinstance(value, str):
        return value or 0
    number = integer(value)
    if number is None:
        complain("bad-value", f"{owner}{key} is {shown(value)}, neither a number nor a name; it is read as 0")
    return number or 0


def _status(value: JsonValue, complain: Complain) -> WireStatus | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        complain("bad-value", f"status is {shown(value)}, not an object; it is left out")
        return None
    return WireStatus(_enum(value, "code", complain, "status."), _text(value, "message", complain, "status."))


def _raw(value: JsonValue) -> Raw:
    return Raw(msgspec.json.encode(value))


def _mapped(value: JsonValue, complain: Complain, key: str) -> JsonValue:
    """Read a value of attributes written as an object: an AnyValue, or the value itself."""
    where = f"attribute {shown(key)}"
    if isinstance(value, dict) and len(value) == 1 and not _VARIANTS.keys().isdisjoint(value):
        return _value(value, complain, where, MAX_VALUE_DEPTH)
    if not _is_shallow(value):
        _tell_depth(complain, where)
        return None
    return value


def _value(value: JsonValue, complain: Complain, where: str, depth: int) -> JsonValue:
    if value is None:
        return None
    if not depth:
        _tell_depth(complain, where)
        return None
    if not isinstance(value, dict):
        return _kept(value, complain, where, "not an object that names its type")
    given = [variant for variant in _VARIANTS if value.get(variant) is not None]
    if not given:
        is_null = value.keys() <= _VARIANTS.keys()
        return None if is_null else _kept(value, complain, where, "none of OTLP's types")
    if len(given) > 1:
        complain("bad-value", f"{where} has {' and '.join(given)}; {given[0]} counts")
    variant = given[0]
    return _VARIANTS[variant](value[variant], complain, f"{where}.{variant}", depth)


def _kept(value: JsonValue, complain: Complain, where: str, why: str) -> JsonValue:
    """Keep a value that is not as OTLP says."""
    if not _is_shallow(value):
        _tell_depth(complain, where)
        return None
    complain("bad-value", f"{where} is {shown(value)}, {why}; it is kept as it stands")
    return value


def _tell_depth(complain: Complain, where: str) -> None:
    shortened = where if len(where) <= _LONGEST_PATH else where[:_LONGEST_PATH] + "…"
    complain("nested-too-deep", f"{shortened} is nested more than {MAX_VALUE_DEPTH} levels deep; it is left out")


def _is_shallow(value: JsonValue) -> bool:
    level = [value]
    for _ in range(MAX_VALUE_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return True
    return False


def _inside(value: JsonValue) -> Iterable[JsonValue]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _pairs(pairs: list[JsonValue], complain: Complain, where: str, depth: int) -> _JsonObject:
    values: _JsonObject = {}
    for pair in pairs:
        if not isinstance(pair, dict) or not isinstance(key := pair.get("key"), str):
            complain("bad-value", f"{where}: {shown(pair)} stands where a key and a value should; it is left out")
            continue
        name = f"{where} {shown(key)}"
        if key in values:
            complain("duplicate-key", f"{name} stands twice; the last value counts")
        values[key] = _value(pair.get("value"), complain, name, depth)
    return values


def _read_text(value: JsonValue, complain: Complain, where: str, _depth: int) -> JsonValue:
    return value if isinstance(value, str) else _kept(value, complain, where, "not text")


def _read_integer(value: JsonValue, complain: Complain, where: str, _depth: int) -> JsonValue:
    number = integer(value)
    return _kept(value, complain, where, "no whole number in 64 bits") if number is None else number


def _read_bool(value: JsonValue, complain: Complain, where: str, _depth: int) -> JsonValue:
    return value if isinstance(value, bool) else _kept(value, complain, where, "neither true nor false")


def _read_double(value: JsonValue, complain: Complain, where: str, _depth: int) -> JsonValue:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return json_double(value)
        except ValueError:
            pass
    return _kept(value, complain, where, "no number that 64 bits can hold")


def _read_array(value: JsonValue, complain: Complain, where: str, depth: int) -> JsonValue:
    items = value.get("values") if isinstance(value, dict) else value
    if isinstance(items, list):
        return [_value(item, complain, f"{where}[{index}]", depth - 1) for index, item in enumerate(items)]
    return [] if items is None else _kept(items, complain, where, "not a list")


def _read_mapping(value: JsonValue, complain: Complain, where: str, depth: int) -> JsonValue:
    items = value.get("values") if isinstance(value, dict) else value
    if isinstance(items, list):
        return _pairs(items, complain, where, depth - 1)
    return {} if items is None else _kept(items, complain, where, "not a list")


# In the order in which the fast path looks for them.
_VARIANTS: Final[dict[str, Callable[[JsonValue, Complain, str, int], JsonValue]]] = {
    "stringValue": _read_text,
    "intValue": _read_integer,
    "boolValue": _read_bool,
    "doubleValue": _read_double,
    "arrayValue": _read_array,
    "kvlistValue": _read_mapping,
    "bytesValue": _read_text,
}


def _why(error: ValueError | RecursionError) -> str:
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)
