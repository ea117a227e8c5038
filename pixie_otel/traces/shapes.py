"""The shapes that OTLP documents come in, brought down to one: groups of spans and log records.

Files hold OTLP as lines of ``resourceSpans``, but also as Tempo's ``batches``, as bare ResourceSpans (Java's logging
exporters), in wrappers (``trace``, ``result``, ``data``), in lists, with keys in snake_case and with the older
``instrumentationLibrarySpans``. A document is opened level by level and never decoded as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.formats import describe_foreign_value
from pixie_otel.traces.forms import form_of
from pixie_otel.traces.group import Group
from pixie_otel.traces.ids import SPAN_ID_BYTES, TRACE_ID_BYTES, canonical_id
from pixie_otel.traces.lenient import Complain, Notes, camel_key, read_json, shown, silence
from pixie_otel.traces.opened import first_byte, opened, whole

__all__ = ["describe_document", "groups"]

_WRAPPERS: Final = (
    *("trace", "result", "data", "log", "resourceSpan"),
    # Lists of spans and traces: of queries, and of files that MLflow keeps.
    *("traces", "spans", "span", "project", "edges", "node", "results", "items", "runs"),
    # What log services put around a line.
    *("events", "message", "@message", "msg", "line", "textPayload", "jsonPayload", "MESSAGE"),
)
_SCOPE_LISTS: Final = ("scopeSpans", "instrumentationLibrarySpans")
_LOG_LISTS: Final = ("scopeLogs", "instrumentationLibraryLogs")
_RESOURCE_LISTS: Final = ("resourceSpans", "batches", "resourceLogs")
_METRICS: Final = ("resourceMetrics", "resourceProfiles")
_OTLP_KEYS: Final = frozenset({*_SCOPE_LISTS, *_LOG_LISTS, *_RESOURCE_LISTS, *_METRICS})
_MAX_UNWRAPPINGS: Final = 10
_TEMPO: Final = "a trace of Tempo's"
_TEMPO_KEYS: Final = ("batches", "trace")
_ID_BYTES: Final = {"traceId": TRACE_ID_BYTES, "spanId": SPAN_ID_BYTES, "parentSpanId": SPAN_ID_BYTES}

_NULL: Final = b"null"
_SKETCH_DEPTH: Final = 4
_SKETCH_ITEMS: Final = 3
_SKETCH_TEXT: Final = 200

_Fields: TypeAlias = dict[str, list[Raw]]
"""An object's values by key in lowerCamelCase; two of one that stands in it in both ways."""


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
    pending: list[tuple[Raw, int, bool]] = [(whole(data, notes), 0, False)]
    while pending:
        raw, unwrappings, is_tempo = pending.pop()
        inside: Sequence[Raw] = ()
        match opened(raw):
            case list() as items:
                inside = items
            case dict() as members:
                fields = _fields(members)
                is_tempo = is_tempo or not fields.keys().isdisjoint(_TEMPO_KEYS)
                here = list(_groups_in(fields, notes)) or ([] if _OTLP_KEYS.isdisjoint(fields) else [Group()])
                here = [_of_tempo(group) for group in here] if is_tempo else here
                here = here or _converted(members, notes) or _bare_span(fields)
                found += here
                if not here and unwrappings < _MAX_UNWRAPPINGS:
                    inside = _unwrapped(fields, notes)
                    unwrappings += 1
                if not here and not inside:
                    notes("not-otlp", f"{_shown(raw)} beside OTLP is none; it is left out")
            case None:
                notes("not-otlp", f"{_shown(raw)} beside OTLP is none; it is left out")
        pending.extend((inner, unwrappings, is_tempo) for inner in reversed(inside))
    if found:
        notes.tell(complain)
    return found


def describe_document(data: bytes) -> str | None:
    """Say what a document is that is not OTLP; ``None`` where that is not known.

    Args:
        data: The document; it is JSON, or nearly.
    """
    return describe_foreign_value(_sketch(whole(data, silence), _SKETCH_DEPTH))


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


def _of_tempo(group: Group) -> Group:
    """Give records of Tempo's, whose ids are base64 as protobuf's own JSON has bytes, with ids in hex."""
    return replace(group, records=tuple(_with_hex_ids(record) for record in group.records), form=_TEMPO)


def _with_hex_ids(record: bytes) -> bytes:
    members = opened(Raw(record))
    if not isinstance(members, dict):
        return record
    found: dict[str, Raw] = {}
    for key, size in _ID_BYTES.items():
        written = read_json(bytes(members[key]), silence) if key in members else None
        identity = canonical_id(written, size) if isinstance(written, str) else None
        if identity and identity != written:
            found[key] = Raw(msgspec.json.encode(identity))
    links = opened(members["links"]) if "links" in members else None
    if isinstance(links, list):
        found["links"] = Raw(msgspec.json.encode([Raw(_with_hex_ids(bytes(link))) for link in links]))
    return msgspec.json.encode(members | found) if found else record


def _converted(members: dict[str, Raw], notes: Notes) -> list[Group]:
    """Give what a document of another tool holds, made into records of OTLP."""
    form = form_of(members)
    return [] if form is None else list(form.convert(members, notes)) or [Group(form=form.name)]


def _bare_span(fields: _Fields) -> list[Group]:
    if not _is_span(fields):
        return []
    span = msgspec.json.encode({key: values[-1] for key, values in fields.items()})
    return [Group(_last(fields, "resource"), _last(fields, "scope"), (span,))]


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
    members = opened(raw)
    if not isinstance(members, dict) or all(camel_key(key) == key for key in members):
        return bytes(raw)
    return msgspec.json.encode(read_json(bytes(raw), notes))


def _listed(fields: _Fields, key: str, notes: Notes) -> list[Raw]:
    found: list[Raw] = []
    for raw in fields.get(key, ()):
        items = opened(raw)
        if isinstance(items, list):
            found += items
        elif raw != Raw(_NULL):
            notes("bad-shape", f"{key} is {_shown(raw)}, not a list; it is left out")
    return found


def _objects(fields: _Fields, key: str, notes: Notes) -> Iterator[_Fields]:
    for index, raw in enumerate(_listed(fields, key, notes)):
        members = opened(raw)
        if isinstance(members, dict):
            yield _fields(members)
        else:
            notes("bad-shape", f"{key}[{index}] is {_shown(raw)}, not an object; it is left out")


def _last(fields: _Fields, key: str) -> bytes:
    return bytes(fields[key][-1]) if key in fields else _NULL


def _is_span(fields: _Fields) -> bool:
    return "name" in fields and all(
        key in fields and first_byte(fields[key][-1]) == b'"' for key in ("traceId", "spanId")
    )


def _unwrapped(fields: _Fields, notes: Notes) -> list[Raw]:
    found: list[Raw] = []
    for key in _WRAPPERS:
        for raw in fields.get(key, ()):
            if opened(raw) is not None:
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
        return whole(text.strip().encode(), notes)
    except (ValueError, RecursionError):
        return None


def _shown(raw: Raw) -> str:
    match opened(raw):
        case list() as items:
            return shown([True for _ in items])
        case dict() as members:
            return shown(dict.fromkeys(members))
        case None:
            return shown(read_json(bytes(raw), silence))


def _sketch(raw: Raw, depth: int) -> JsonValue:
    """Give the beginning of a document, enough to tell what it is."""
    match opened(raw):
        case list() as items:
            return [_sketch(item, depth - 1) for item in items[:_SKETCH_ITEMS]] if depth else []
        case dict() as members:
            return {key: _sketch(value, depth - 1) for key, value in members.items()} if depth else {}
        case None:
            value = read_json(bytes(raw), silence)
            return value[:_SKETCH_TEXT] if isinstance(value, str) else value
