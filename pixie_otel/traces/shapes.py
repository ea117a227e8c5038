"""The shapes that OTLP documents come in, brought down to one: groups of spans and log records.

Files hold OTLP as lines of ``resourceSpans``, but also as Tempo's ``batches``, as bare ResourceSpans (Java's logging
exporters), in wrappers (``trace``, ``result``, ``data``), in lists, with keys in snake_case and with the older
``instrumentationLibrarySpans``. A document is opened level by level and never decoded as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.formats import describe_foreign_value
from pixie_otel.traces.lenient import Complain, Notes, camel_key, read_json, shown, silence

__all__ = ["Group", "describe_document", "groups"]

_WRAPPERS: Final = ("trace", "result", "data", "log", "resourceSpan")
_SCOPE_LISTS: Final = ("scopeSpans", "instrumentationLibrarySpans")
_LOG_LISTS: Final = ("scopeLogs", "instrumentationLibraryLogs")
_RESOURCE_LISTS: Final = ("resourceSpans", "batches", "resourceLogs")
_METRICS: Final = ("resourceMetrics", "resourceProfiles")
_OTLP_KEYS: Final = frozenset({*_SCOPE_LISTS, *_LOG_LISTS, *_RESOURCE_LISTS, *_METRICS})
_MAX_UNWRAPPINGS: Final = 10

_NULL: Final = b"null"
_SKETCH_DEPTH: Final = 4
_SKETCH_ITEMS: Final = 3
_SKETCH_TEXT: Final = 200

_decode_list: Final = msgspec.json.Decoder(list[Raw]).decode
_decode_object: Final = msgspec.json.Decoder(dict[str, Raw]).decode

_Fields: TypeAlias = dict[str, list[Raw]]
"""An object's values by key in lowerCamelCase; two of one that stands in it in both ways."""


@dataclass(frozen=True, slots=True)
class Group:
    """Spans or log records of one resource and scope.

    Attributes:
        resource: The resource's JSON.
        scope: The JSON of the instrumentation scope.
        records: The JSON of each span or log record; of what is no object among them, too.
        logs: Whether the records are log records.
        metrics: How many resource entries of metrics or profiles stood there in place of records.
    """

    resource: bytes = _NULL
    scope: bytes = _NULL
    records: tuple[bytes, ...] = ()
    logs: bool = False
    metrics: int = 0


def groups(data: bytes, complain: Complain) -> list[Group]:
    """Find the spans and log records of a document, whatever its shape.

    Args:
        data: The document.
        complain: Told of parts that have the wrong type, and of what is no OTLP beside what is.

    Returns:
        The groups in the document's order, one without records where it is OTLP and holds nothing; none where it is no
        OTLP.

    Raises:
        ValueError: It is no JSON.
        RecursionError: The caller's own stack leaves no room for it.
    """
    notes = Notes()
    found: list[Group] = []
    pending: list[tuple[Raw, int]] = [(_whole(data, notes), 0)]
    while pending:
        raw, unwrappings = pending.pop()
        inside: Sequence[Raw] = ()
        match _opened(raw):
            case list() as items:
                inside = items
            case dict() as members:
                fields = _fields(members)
                here = list(_groups_in(fields, notes)) or ([] if _OTLP_KEYS.isdisjoint(fields) else [Group()])
                found += here
                if not here and unwrappings < _MAX_UNWRAPPINGS:
                    inside = _unwrapped(fields, notes)
                    unwrappings += 1
                if not here and not inside:
                    notes("not-otlp", f"{_shown(raw)} beside OTLP is none; it is left out")
            case None:
                notes("not-otlp", f"{_shown(raw)} beside OTLP is none; it is left out")
        pending.extend((inner, unwrappings) for inner in reversed(inside))
    if found:
        notes.tell(complain)
    return found


def describe_document(data: bytes) -> str | None:
    """Say what a document is that is not OTLP; ``None`` where that is not known.

    Args:
        data: The document; it is JSON, or nearly.
    """
    return describe_foreign_value(_sketch(_whole(data, silence), _SKETCH_DEPTH))


def _whole(data: bytes, complain: Complain) -> Raw:
    """Give a document as it lies where it is JSON, else mended."""
    try:
        raw = msgspec.json.decode(data, type=Raw)
        _opened(raw)
    except (ValueError, RecursionError):
        return Raw(msgspec.json.encode(read_json(data, complain)))
    return raw


def _opened(raw: Raw) -> list[Raw] | dict[str, Raw] | None:
    """Give what is in a list or an object; ``None`` for anything else."""
    first = _first_byte(raw)
    if first == b"[":
        return _decode_list(raw)
    if first != b"{":
        return None
    try:
        return _decode_object(raw)
    except ValueError:
        # A key has invalid UTF-8 or half a surrogate pair, which shows only now.
        return _decode_object(msgspec.json.encode(read_json(bytes(raw), silence, is_otlp=False)))


def _first_byte(raw: Raw) -> bytes:
    return bytes(memoryview(raw)[:1])


def _fields(members: dict[str, Raw]) -> _Fields:
    fields: _Fields = {}
    for key, value in members.items():
        fields.setdefault(camel_key(key), []).append(value)
    return fields


def _groups_in(fields: _Fields, notes: Notes) -> Iterator[Group]:
    for key in _RESOURCE_LISTS:
        for entry in _objects(fields, key, notes):
            yield from _resource(entry, notes)
    for key in _METRICS:
        if entries := _listed(fields, key, notes):
            yield Group(metrics=len(entries))
    if not fields.keys().isdisjoint((*_SCOPE_LISTS, *_LOG_LISTS)):
        yield from _resource(fields, notes)
    elif "spans" in fields and ("scope" in fields or "instrumentationLibrary" in fields):
        yield from _scope(_NULL, fields, "spans", notes)
    elif _is_span(fields):
        span = msgspec.json.encode({key: values[-1] for key, values in fields.items()})
        yield Group(_last(fields, "resource"), _last(fields, "scope"), (span,))


def _resource(entry: _Fields, notes: Notes) -> Iterator[Group]:
    for keys, records in ((_SCOPE_LISTS, "spans"), (_LOG_LISTS, "logRecords")):
        for key in keys:
            for scope in _objects(entry, key, notes):
                yield from _scope(_last(entry, "resource"), scope, records, notes)


def _scope(resource: bytes, entry: _Fields, key: str, notes: Notes) -> Iterator[Group]:
    scope = _last(entry, "scope" if "scope" in entry else "instrumentationLibrary")
    records = tuple(_record(raw, notes) for raw in _listed(entry, key, notes))
    yield Group(resource, scope, records, logs=key == "logRecords")


def _record(raw: Raw, notes: Notes) -> bytes:
    """Give a record with its keys in lowerCamelCase."""
    members = _opened(raw)
    if not isinstance(members, dict) or all(camel_key(key) == key for key in members):
        return bytes(raw)
    return msgspec.json.encode(read_json(bytes(raw), notes))


def _listed(fields: _Fields, key: str, notes: Notes) -> list[Raw]:
    found: list[Raw] = []
    for raw in fields.get(key, ()):
        items = _opened(raw)
        if isinstance(items, list):
            found += items
        elif raw != Raw(_NULL):
            notes("bad-shape", f"{key} is {_shown(raw)}, not a list; it is left out")
    return found


def _objects(fields: _Fields, key: str, notes: Notes) -> Iterator[_Fields]:
    for index, raw in enumerate(_listed(fields, key, notes)):
        members = _opened(raw)
        if isinstance(members, dict):
            yield _fields(members)
        else:
            notes("bad-shape", f"{key}[{index}] is {_shown(raw)}, not an object; it is left out")


def _last(fields: _Fields, key: str) -> bytes:
    return bytes(fields[key][-1]) if key in fields else _NULL


def _is_span(fields: _Fields) -> bool:
    return "name" in fields and all(
        key in fields and _first_byte(fields[key][-1]) == b'"' for key in ("traceId", "spanId")
    )


def _unwrapped(fields: _Fields, notes: Notes) -> list[Raw]:
    found: list[Raw] = []
    for key in _WRAPPERS:
        for raw in fields.get(key, ()):
            if _opened(raw) is not None:
                found.append(raw)
            elif (inner := _written(raw, notes)) is not None:
                found.append(inner)
    return found


def _written(raw: Raw, notes: Notes) -> Raw | None:
    """Give the document that stands in a string, as in Docker's logs; ``None`` where there is none."""
    text = read_json(bytes(raw), notes)
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        return _whole(text.strip().encode(), notes)
    except (ValueError, RecursionError):
        return None


def _shown(raw: Raw) -> str:
    match _opened(raw):
        case list() as items:
            return shown([True for _ in items])
        case dict() as members:
            return shown(dict.fromkeys(members))
        case None:
            return shown(read_json(bytes(raw), silence))


def _sketch(raw: Raw, depth: int) -> JsonValue:
    """Give the beginning of a document, enough to tell what it is."""
    match _opened(raw):
        case list() as items:
            return [_sketch(item, depth - 1) for item in items[:_SKETCH_ITEMS]] if depth else []
        case dict() as members:
            return {key: _sketch(value, depth - 1) for key, value in members.items()} if depth else {}
        case None:
            value = read_json(bytes(raw), silence)
            return value[:_SKETCH_TEXT] if isinstance(value, str) else value
