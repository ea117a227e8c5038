"""Records of OTLP made of what other tools write: ids, times, values and spans."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.ids import SPAN_ID_BYTES, TRACE_ID_BYTES, canonical_id
from pixie_otel.traces.lenient import read_json, silence
from pixie_otel.traces.opened import opened, value_of
from pixie_otel.traces.wire import MAX_VALUE_DEPTH, integer, is_64_bit

__all__ = [
    "ERROR",
    "OK",
    "UNSET",
    "Values",
    "any_value",
    "as_attribute",
    "attribute_list",
    "child",
    "event",
    "flattened",
    "items",
    "mapping",
    "nanoseconds",
    "objects",
    "resource_of",
    "rest",
    "scope_of",
    "span",
    "span_id",
    "status_code",
    "text_of",
    "trace_id",
    "value",
]

Values: TypeAlias = Mapping[str, JsonValue]

UNSET: Final = 0
OK: Final = 1
ERROR: Final = 2

_encode: Final = msgspec.json.encode

_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9})\d*)?\s*(Z|UTC|[+-]\d\d:?\d\d)?", re.ASCII | re.IGNORECASE
)
_SECOND: Final = 1_000_000_000
_UNITS: Final = ((10**17, 1), (10**14, 10**3), (10**11, 10**6), (1, _SECOND))
"""Numbers from so many on are times in units of so many nanoseconds: no trace is from before 1973 or after 5000."""
_EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_JSON_KEYS: Final = frozenset({"metadata", "variables", "parameters", "json_schema", "arguments"})
"""Where conventions have JSON as text, and exports have what it stands for."""
_ERRORS: Final = frozenset({"ERROR", "FAILED", "FAILURE"})
_DEEPEST_FLATTENED: Final = 16


def trace_id(value: JsonValue) -> str:
    """Give a trace's id as OTLP has it; one of another form, as it stands.

    Args:
        value: Hex, base64, a UUID, or hex behind ``tr-``, as MLflow has it.
    """
    text = text_of(value).removeprefix("tr-")
    if _UUID.fullmatch(text):
        return text.replace("-", "").lower()
    return canonical_id(text, TRACE_ID_BYTES) or text


def span_id(value: JsonValue) -> str:
    """Give a span's id as OTLP has it; one of another form, as it stands.

    Args:
        value: Hex or base64; or a UUID, in whose place come 8 bytes that it alone makes.
    """
    text = text_of(value)
    if _UUID.fullmatch(text):
        return hashlib.blake2b(text.lower().encode(), digest_size=SPAN_ID_BYTES).hexdigest()
    return canonical_id(text, SPAN_ID_BYTES) or text


def text_of(value: JsonValue) -> str:
    """Give a text or a number as text; an empty one for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def nanoseconds(value: JsonValue) -> int:
    """Give a moment in nanoseconds since 1970; 0 where it is none.

    Args:
        value: A moment in ISO 8601, in UTC where it names no zone; or a number whose size tells its unit.
    """
    if isinstance(value, str):
        found = _TIME.match(value.strip())
        if found is None:
            return _of_number(integer(value) or 0)
        date, time, fraction, zone = found.groups()
        offset = "+00:00" if zone is None or zone.upper() in {"Z", "UTC"} else zone
        try:
            seconds = (datetime.fromisoformat(f"{date}T{time}{offset}") - _EPOCH) // timedelta(seconds=1)
        except ValueError:
            return 0
        return max(seconds * _SECOND + int((fraction or "0").ljust(9, "0")), 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return _of_number(value)


def _of_number(number: float) -> int:
    unit = next((unit for least, unit in _UNITS if number >= least), 0)
    return int(number * unit) if isinstance(number, int) else round(number * unit)


def any_value(value: JsonValue, depth: int = MAX_VALUE_DEPTH) -> dict[str, object]:
    """Give a value as OTLP's AnyValue; what is nested too deep is null.

    Args:
        value: Any JSON value.
        depth: How deep it may be nested.
    """
    if value is None or not depth:
        return {}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue" if is_64_bit(value) else "stringValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value if math.isfinite(value) else _not_finite(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item, depth - 1) for item in value]}}
    return {"kvlistValue": {"values": [{"key": key, "value": any_value(v, depth - 1)} for key, v in value.items()]}}


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def attribute_list(values: Values) -> list[dict[str, object]]:
    """Give attributes as OTLP has them, without those that are null.

    Args:
        values: The values by key.
    """
    return [{"key": key, "value": any_value(value)} for key, value in values.items() if value is not None]


def flattened(values: Values, prefix: str = "", depth: int = _DEEPEST_FLATTENED) -> dict[str, JsonValue]:
    """Give nested attributes under flat keys, as conventions with indexed keys have them.

    Args:
        values: Objects in objects, or keys with dots in them already.
        prefix: What stands before each key.
        depth: How many levels may be flattened.
    """
    flat: dict[str, JsonValue] = {}
    for key, value in values.items():
        name = f"{prefix}{key}"
        inner: JsonValue = value
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            inner = {str(index): item for index, item in enumerate(value)}
        if not isinstance(inner, dict):
            flat[name] = value
        elif key.rpartition(".")[2] in _JSON_KEYS or not depth:
            flat[name] = _encode(value).decode()
        else:
            flat.update(flattened(inner, f"{name}.", depth - 1))
    return flat


def event(name: JsonValue, time: JsonValue, attributes: JsonValue = None) -> dict[str, object]:
    """Make an event of a span.

    Args:
        name: Its name.
        time: When it happened, see `nanoseconds`.
        attributes: Its attributes by key.
    """
    values = attributes if isinstance(attributes, dict) else {}
    return {
        "timeUnixNano": str(nanoseconds(time)),
        "name": text_of(name),
        "attributes": attribute_list(values),
    }


def span(
    *,
    trace: str,
    identity: str,
    parent: str,
    name: JsonValue,
    start: int,
    end: int,
    attributes: Values,
    kind: JsonValue = None,
    code: int = UNSET,
    message: JsonValue = None,
    events: Iterable[Mapping[str, object]] = (),
    links: Iterable[Mapping[str, object]] = (),
) -> bytes:
    """Make a span.

    Args:
        trace: The trace's id.
        identity: Its own.
        parent: The parent's; empty for a root.
        name: Its name.
        start: When it began, in nanoseconds since 1970.
        end: When it ended.
        attributes: Its attributes by key.
        kind: OpenTelemetry's span kind, by number or name.
        code: The status: unset, ok or error.
        message: What the status says.
        events: What `event` gave.
        links: Links as OTLP has them.

    Returns:
        Its JSON.
    """
    said = text_of(message)
    status: dict[str, object] = {"code": code} if code else {}
    found: dict[str, object] = {
        "traceId": trace,
        "spanId": identity,
        **({"parentSpanId": parent} if parent else {}),
        "name": text_of(name),
        "kind": kind if isinstance(kind, int | str) else 0,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end),
        "attributes": attribute_list(attributes),
        "events": list(events),
        "links": list(links),
        "status": status | ({"message": said} if said else {}),
    }
    return _encode({key: value for key, value in found.items() if value != []})


def status_code(name: JsonValue) -> int:
    """Read a status that is written as a word, such as ``ERROR`` or ``STATUS_CODE_OK``, or as OTLP's number.

    Args:
        name: What was written.
    """
    if isinstance(name, int) and not isinstance(name, bool):
        return name if name in {OK, ERROR} else UNSET
    word = text_of(name).upper().rpartition(".")[2].removeprefix("STATUS_CODE_")
    return ERROR if word in _ERRORS else OK if word == "OK" else UNSET


def resource_of(attributes: Values) -> bytes:
    """Give a resource's JSON; ``null`` where it has no attributes."""
    return _encode({"attributes": attribute_list(attributes)}) if attributes else b"null"


def scope_of(name: JsonValue, version: JsonValue = None) -> bytes:
    """Give an instrumentation scope's JSON; ``null`` where it has no name."""
    if not isinstance(name, str) or not name:
        return b"null"
    return _encode({"name": name} | ({"version": version} if isinstance(version, str) and version else {}))


def rest(members: Mapping[str, Raw], known: Iterable[str], prefix: str) -> dict[str, JsonValue]:
    """Give what an object holds beside what is known of it, as attributes, so that nothing of it is lost.

    Args:
        members: The object's values by key.
        known: The keys that are read.
        prefix: What stands before the others in attributes.
    """
    unknown = {key: value_of(raw) for key, raw in members.items() if key not in known}
    return {f"{prefix}{key}": as_attribute(value) for key, value in unknown.items() if value not in (None, "", [], {})}


def as_attribute(value: JsonValue) -> JsonValue:
    """Give a value as attributes have it: what is no text, number or list of these is JSON."""
    is_plain = not isinstance(value, dict | list) or (
        isinstance(value, list) and not any(isinstance(item, dict | list) for item in value)
    )
    return value if is_plain else _encode(value).decode()


def child(members: Mapping[str, Raw], key: str) -> dict[str, Raw]:
    """Give the object at a key; an empty one where there is none.

    Args:
        members: An object's values by key.
        key: The key.
    """
    inner = opened(members[key]) if key in members else None
    return inner if isinstance(inner, dict) else {}


def items(members: Mapping[str, Raw], key: str) -> list[Raw]:
    """Give the items of the list at a key; none where there is no list."""
    inner = opened(members[key]) if key in members else None
    return inner if isinstance(inner, list) else []


def objects(members: Mapping[str, Raw], key: str) -> list[dict[str, Raw]]:
    """Give the objects of the list at a key; what is no object among them is left out."""
    inner = [opened(raw) for raw in items(members, key)]
    return [item for item in inner if isinstance(item, dict)]


def value(members: Mapping[str, Raw], *keys: str) -> JsonValue:
    """Give the value at the first key that has one other than null; ``None`` where there is none."""
    for key in keys:
        if key in members and (found := value_of(members[key])) is not None:
            return found
    return None


def mapping(members: Mapping[str, Raw], key: str) -> dict[str, JsonValue]:
    """Give the object at a key, decoded; an empty one where there is none.

    Args:
        members: An object's values by key.
        key: The key. Its object may be written as text.
    """
    found = value(members, key)
    if isinstance(found, str) and found.startswith("{"):
        try:
            found = read_json(found.encode("utf-8", "replace"), silence, is_otlp=False)
        except (ValueError, RecursionError):
            return {}
    return found if isinstance(found, dict) else {}
