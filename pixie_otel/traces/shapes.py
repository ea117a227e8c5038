"""The shapes that OTLP documents come in, brought down to one: groups of spans and log records.

Files hold OTLP as lines of ``resourceSpans``, but also as Tempo's ``batches``, as bare ResourceSpans (Java's logging
exporters), in wrappers (``trace``, ``result``, ``data``), in lists, with keys in snake_case and with the older
``instrumentationLibrarySpans``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.lenient import Complain, Notes, read_json, shown

__all__ = ["Group", "groups"]

_WRAPPERS: Final = ("trace", "result", "data", "log", "resourceSpan")
_SCOPE_LISTS: Final = ("scopeSpans", "instrumentationLibrarySpans")
_LOG_LISTS: Final = ("scopeLogs", "instrumentationLibraryLogs")
_RESOURCE_LISTS: Final = ("resourceSpans", "batches", "resourceLogs")
_METRICS: Final = ("resourceMetrics", "resourceProfiles")
_OTLP_KEYS: Final = frozenset({*_SCOPE_LISTS, *_LOG_LISTS, *_RESOURCE_LISTS, *_METRICS})
_MAX_UNWRAPPINGS: Final = 10

_JsonObject: TypeAlias = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Group:
    """Spans or log records of one resource and scope.

    Attributes:
        resource: The resource as it stood.
        scope: The instrumentation scope as it stood.
        records: The spans or log records; what is no object among them is there too, to be accounted for.
        logs: Whether the records are log records.
        metrics: How many resource entries of metrics or profiles stood there in place of records.
    """

    resource: JsonValue = None
    scope: JsonValue = None
    records: tuple[JsonValue, ...] = ()
    logs: bool = False
    metrics: int = 0


def groups(document: JsonValue, complain: Complain) -> list[Group]:
    """Find the spans and log records of a document, whatever its shape.

    Args:
        document: A parsed document, as `pixie_otel.traces.lenient.read_json` gives it.
        complain: Told of parts that have the wrong type, and of what is no OTLP beside what is.

    Returns:
        The groups in the document's order, one without records where it is OTLP and holds nothing; none where it is no
        OTLP.
    """
    notes = Notes()
    found: list[Group] = []
    pending: list[tuple[JsonValue, int]] = [(document, 0)]
    while pending:
        value, unwrappings = pending.pop()
        inside: list[JsonValue] = []
        if isinstance(value, list):
            inside = value
        elif isinstance(value, dict):
            here = list(_groups_in(value, notes))
            if not here and not value.keys().isdisjoint(_OTLP_KEYS):
                here = [Group()]
            found += here
            if not here and unwrappings < _MAX_UNWRAPPINGS:
                unwrapped = [_unwrapped(value[key], notes) for key in _WRAPPERS if key in value]
                inside = [inner for inner in unwrapped if inner is not None]
                unwrappings += 1
            if not here and not inside:
                notes("not-otlp", f"{shown(value)} beside OTLP is none; it is left out")
        elif value is not None:
            notes("not-otlp", f"{shown(value)} beside OTLP is none; it is left out")
        pending.extend((inner, unwrappings) for inner in reversed(inside))
    if found:
        notes.tell(complain)
    return found


def _groups_in(value: _JsonObject, complain: Complain) -> Iterator[Group]:
    for key in _RESOURCE_LISTS:
        for entry in _objects(value.get(key), key, complain):
            yield from _resource(entry, complain)
    for key in _METRICS:
        if entries := _listed(value.get(key), key, complain):
            yield Group(metrics=len(entries))
    if not value.keys().isdisjoint((*_SCOPE_LISTS, *_LOG_LISTS)):
        yield from _resource(value, complain)
    elif "spans" in value and ("scope" in value or "instrumentationLibrary" in value):
        yield from _scope(None, value, "spans", complain)
    elif _is_span(value):
        yield Group(value.get("resource"), value.get("scope"), (value,))


def _resource(entry: _JsonObject, complain: Complain) -> Iterator[Group]:
    for keys, records in ((_SCOPE_LISTS, "spans"), (_LOG_LISTS, "logRecords")):
        for key in keys:
            for scope in _objects(entry.get(key), key, complain):
                yield from _scope(entry.get("resource"), scope, records, complain)


def _scope(resource: JsonValue, entry: _JsonObject, key: str, complain: Complain) -> Iterator[Group]:
    scope = entry.get("scope", entry.get("instrumentationLibrary"))
    yield Group(resource, scope, tuple(_listed(entry.get(key), key, complain)), logs=key == "logRecords")


def _listed(value: JsonValue, key: str, complain: Complain) -> list[JsonValue]:
    if isinstance(value, list):
        return value
    if value is not None:
        complain("bad-shape", f"{key} is {shown(value)}, not a list; it is left out")
    return []


def _objects(value: JsonValue, key: str, complain: Complain) -> Iterator[_JsonObject]:
    for index, item in enumerate(_listed(value, key, complain)):
        if isinstance(item, dict):
            yield item
        else:
            complain("bad-shape", f"{key}[{index}] is {shown(item)}, not an object; it is left out")


def _is_span(value: _JsonObject) -> bool:
    return isinstance(value.get("traceId"), str) and isinstance(value.get("spanId"), str) and "name" in value


def _unwrapped(value: JsonValue, complain: Complain) -> JsonValue:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return read_json(value.encode(), complain)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict | list) else None
