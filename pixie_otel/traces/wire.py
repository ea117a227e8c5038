"""The wire model: OTLP JSON, decoded no further than asked.

`WireSpan` and `WireLog` hold attributes, events and bodies as the bytes that stood in the file; the functions here
turn those into Python values on demand. What does not fit the model is decoded value by value by
`pixie_otel.traces.salvage`, so that one bad value costs that value and no more.

Source: opentelemetry-proto, ``docs/specification.md`` (OTLP/JSON) and ``common.proto`` (AnyValue).
"""

from __future__ import annotations

import math
import re
from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from pixie_otel.evaluable import JsonValue

__all__ = [
    "MAX_VALUE_DEPTH",
    "Batch",
    "ResourceLogs",
    "ResourceSpans",
    "ScopeLogs",
    "ScopeSpans",
    "WholeSpan",
    "WireEvent",
    "WireHead",
    "WireLog",
    "WireSpan",
    "WireStatus",
    "decode_attributes",
    "decode_batch",
    "decode_events",
    "decode_head",
    "decode_log",
    "decode_span",
    "decode_value",
    "decode_whole_span",
    "integer",
    "is_64_bit",
    "json_double",
    "plain_values",
]

_NULL: Final = Raw(b"null")
_MOST_SAFE_DIGITS: Final = 19
"""So many digits always fit into 64 bits."""
_INTEGER: Final = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
_NOT_FINITE: Final = {
    "nan": "NaN",
    "inf": "Infinity",
    "infinity": "Infinity",
    "-inf": "-Infinity",
    "-infinity": "-Infinity",
}
MAX_VALUE_DEPTH: Final = 64
"""How deep a value may be nested: OpenTelemetry's own limit for attributes, and safe for everything that reads it."""
_LEAST_INT: Final = -(2**63)
_MOST_INT: Final = 2**64 - 1


class WireStatus(Struct, gc=False):
    """A span's status: code 0 unset, 1 ok, 2 error (or the enum's name), and a message."""

    code: int | str | None = 0
    message: str | None = ""


class WireSpan(Struct, gc=False, rename="camel"):
    """A span as written, with attributes, events and links left as bytes."""

    trace_id: str
    span_id: str | None = ""
    parent_span_id: str | None = ""
    name: str | None = ""
    kind: int | str | None = 0
    start_time_unix_nano: str | int | None = 0
    end_time_unix_nano: str | int | None = 0
    attributes: Raw = _NULL
    events: Raw = _NULL
    status: WireStatus | None = None
    dropped_attributes_count: int | str | None = 0
    dropped_events_count: int | str | None = 0
    flags: Raw = _NULL


class WireHead(Struct, gc=False, rename="camel"):
    """What a tree needs of a span; for those that are written as most are."""

    span_id: str
    start_time_unix_nano: int
    end_time_unix_nano: int
    parent_span_id: str = ""


class WireEvent(Struct, gc=False, rename="camel"):
    """A span event as written."""

    name: str | None = ""
    time_unix_nano: str | int | None = 0
    attributes: Raw = _NULL


class WireLog(Struct, gc=False, rename="camel"):
    """A log record as written, with body and attributes left as bytes."""

    trace_id: str | None = ""
    span_id: str | None = ""
    time_unix_nano: str | int | None = 0
    observed_time_unix_nano: str | int | None = 0
    event_name: str | None = ""
    body: Raw = _NULL
    attributes: Raw = _NULL


class ScopeSpans(Struct, gc=False, rename="camel"):
    """The spans of one scope."""

    scope: Raw = _NULL
    spans: list[Raw] | UnsetType = UNSET
    older_scope: Raw | UnsetType = msgspec.field(name="instrumentationLibrary", default=UNSET)


class ResourceSpans(Struct, gc=False, rename="camel"):
    """The spans of one resource."""

    resource: Raw = _NULL
    scope_spans: list[ScopeSpans] | UnsetType = UNSET
    older_scope_spans: Raw | UnsetType = msgspec.field(name="instrumentationLibrarySpans", default=UNSET)


class ScopeLogs(Struct, gc=False, rename="camel"):
    """The log records of one scope."""

    scope: Raw = _NULL
    log_records: list[Raw] | UnsetType = UNSET


class ResourceLogs(Struct, gc=False, rename="camel"):
    """The log records of one resource."""

    resource: Raw = _NULL
    scope_logs: list[ScopeLogs] | UnsetType = UNSET


class Batch(Struct, gc=False, rename="camel"):
    """One line of an OTLP JSON file: traces, logs or metrics; collectors put all three into one file."""

    resource_spans: list[ResourceSpans] | UnsetType = UNSET
    resource_logs: list[ResourceLogs] | UnsetType = UNSET
    resource_metrics: list[Raw] | UnsetType = UNSET
    resource_profiles: list[Raw] | UnsetType = UNSET
    batches: Raw | UnsetType = UNSET
    snake_case_spans: Raw | UnsetType = msgspec.field(name="resource_spans", default=UNSET)
    snake_case_logs: Raw | UnsetType = msgspec.field(name="resource_logs", default=UNSET)

    def is_mixed(self) -> bool:
        """Say whether records stand in it in a form that is not looked for here."""
        return not (self.batches is self.snake_case_spans is self.snake_case_logs is UNSET)


class _KeyValue(Struct, gc=False):
    key: str
    value: _AnyValue | None = None


class _Values(Struct, gc=False):
    values: list[_AnyValue | None] | None = None


class _KeyValues(Struct, gc=False):
    values: list[_KeyValue] | None = None


class _AnyValue(Struct, gc=False, rename="camel"):
    string_value: str | None = None
    int_value: int | str | None = None
    bool_value: bool | None = None
    double_value: float | str | None = None
    array_value: _Values | None = None
    kvlist_value: _KeyValues | None = None
    bytes_value: str | None = None


class WholeSpan(Struct, gc=False, rename="camel"):
    """A span with its attributes; for those that are written as they should be."""

    trace_id: str
    name: str | None = ""
    kind: int | str | None = 0
    attributes: list[_KeyValue] | None = None
    events: Raw = _NULL
    status: WireStatus | None = None
    dropped_attributes_count: int | str | None = 0


decode_batch: Final = msgspec.json.Decoder(Batch).decode
"""Decode one line; spans and log records stay bytes."""
decode_span: Final = msgspec.json.Decoder(WireSpan).decode
"""Decode one span; its attributes and events stay bytes."""
decode_head: Final = msgspec.json.Decoder(WireHead, strict=False).decode
"""Decode a span's place in its tree; times may be numbers or, as OTLP JSON has them, text."""
decode_whole_span: Final = msgspec.json.Decoder(WholeSpan).decode
"""Decode one span, attributes and all; its events stay bytes."""
decode_log: Final = msgspec.json.Decoder(WireLog).decode
"""Decode one log record; its body and attributes stay bytes."""
decode_events: Final = msgspec.json.Decoder(list[WireEvent] | None).decode
"""Decode a span's events; their attributes stay bytes."""
_decode_key_values: Final = msgspec.json.Decoder(list[_KeyValue] | None).decode
_decode_any_value: Final = msgspec.json.Decoder(_AnyValue | None).decode


def decode_attributes(raw: Raw | bytes) -> dict[str, JsonValue]:
    """Decode a list of attributes.

    Args:
        raw: The JSON list of key-value pairs, or ``null``.

    Returns:
        The values by key.

    Raises:
        ValueError: Something in it is not as OTLP says; `pixie_otel.traces.salvage` can save the rest.
        RecursionError: It is nested too deep.
    """
    return plain_values(_decode_key_values(raw))


def plain_values(pairs: list[_KeyValue] | None) -> dict[str, JsonValue]:
    """Give decoded key-value pairs as plain values by key; raises as `decode_attributes` does."""
    if not pairs:
        return {}
    values: dict[str, JsonValue] = {}
    for pair in pairs:
        value = pair.value
        text = None if value is None else value.string_value
        values[pair.key] = _plain(value) if text is None else text
    if len(values) != len(pairs):
        raise ValueError("an attribute key stands twice")
    return values


def decode_value(raw: Raw | bytes) -> JsonValue:
    """Decode one AnyValue, such as a log record's body; raises as `decode_attributes` does."""
    return _plain(_decode_any_value(raw))


def integer(value: object) -> int | None:
    """Read an integer the way OTLP JSON writes it: a number, or a decimal string.

    Args:
        value: What stood in the file.

    Returns:
        The integer, or ``None`` for anything else: a fraction, digits of other scripts, more than 64 bits.
    """
    if isinstance(value, str):
        if len(value) <= _MOST_SAFE_DIGITS and value.isascii() and value.isdigit():
            return int(value)
        value = int(value) if _INTEGER.fullmatch(value) else None
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not is_64_bit(value):
        return None
    return value


def is_64_bit(number: int) -> bool:
    """Say whether a number fits into 64 bits, with a sign or without."""
    return _LEAST_INT <= number <= _MOST_INT


def json_double(value: float | str) -> float | str:
    """Read a double; what JSON has no number for stays the text that OTLP writes for it.

    Args:
        value: A number, ``"NaN"``, ``"Infinity"``, ``"-Infinity"`` or a number as text.

    Returns:
        A finite float, or one of the three texts.

    Raises:
        ValueError: It is none of these, or a number that no double can hold.
    """
    if isinstance(value, str):
        # Python would also take digits of other scripts, underscores between them, and white space around them.
        if (text := _NOT_FINITE.get(value.lower())) is not None:
            return text
        if not _NUMBER.fullmatch(value):
            raise ValueError(f"{value!r} is no number")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is no number that 64 bits can hold")
    return number


def _plain(value: _AnyValue | None, depth: int = MAX_VALUE_DEPTH) -> JsonValue:
    if value is None:
        return None
    if not depth:
        raise ValueError(f"it is nested more than {MAX_VALUE_DEPTH} levels deep")
    if value.string_value is not None:
        return value.string_value
    if value.int_value is not None:
        number = integer(value.int_value)
        if number is None:
            raise ValueError(f"intValue {value.int_value!r} is no 64-bit integer")
        return number
    if value.bool_value is not None:
        return value.bool_value
    if value.double_value is not None:
        return json_double(value.double_value)
    if value.array_value is not None:
        return [_plain(inner, depth - 1) for inner in value.array_value.values or ()]
    if value.kvlist_value is not None:
        pairs = value.kvlist_value.values or ()
        found = {pair.key: _plain(pair.value, depth - 1) for pair in pairs}
        if len(found) != len(pairs):
            raise ValueError("a key stands twice")
        return found
    if value.bytes_value is None:
        raise ValueError("none of OTLP's types is there: it is null, or of a type that is not known")
    return value.bytes_value
