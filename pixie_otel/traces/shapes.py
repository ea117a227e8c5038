"""The shapes that OTLP documents come in, brought down to one: groups of spans and log records.

Files hold OTLP as lines of ``resourceSpans``, but also as Tempo's ``batches``, as bare ResourceSpans (Java's logging
exporters), in wrappers (``trace``, ``result``, ``data``), in lists, with keys in snake_case and with the older
``instrumentationLibrarySpans``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.salvage import Complain, canonical_id

__all__ = ["Group", "groups"]

_WRAPPERS: Final = ("trace", "result", "data", "log", "resourceSpan")
_SCOPE_LISTS: Final = ("scopeSpans", "instrumentationLibrarySpans")
_LOG_LISTS: Final = ("scopeLogs", "instrumentationLibraryLogs")
_RESOURCE_LISTS: Final = ("resourceSpans", "batches", "resourceLogs")
_METRICS: Final = ("resourceMetrics", "resourceProfiles")


@dataclass(frozen=True, slots=True)
class Group:
    """Spans or log records of one resource and scope.

    Attributes:
        resource: The resource as it stood.
        scope: The instrumentation scope as it stood.
        records: The spans or log records, each an object.
        logs: Whether the records are log records.
        metrics: How many resource entries of metrics or profiles stood there in place of records.
    """

    resource: JsonValue
    scope: JsonValue
    records: list[dict[str, JsonValue]]
    logs: bool = False
    metrics: int = 0


def groups(document: JsonValue, complain: Complain) -> Iterator[Group]:
    """Find the spans and log records of a cleaned document, whatever its shape.

    Args:
        document: A parsed document, as `pixie_otel.traces.salvage.clean` gives it.
        complain: Told of parts that have the wrong type.

    Yields:
        The groups in the document's order; none where it holds no OTLP.
    """
    pending: list[JsonValue] = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending.extend(reversed(value))
        elif isinstance(value, dict):
            found = list(_groups_in(value, complain))
            yield from found
            if not found and not _holds_otlp(value):
                pending.extend(_unwrapped(value[key]) for key in reversed(_WRAPPERS) if key in value)


def _groups_in(value: dict[str, JsonValue], complain: Complain) -> Iterator[Group]:
    for key in _RESOURCE_LISTS:
        for entry in _objects(value.get(key), key, complain):
            yield from _resource(entry, complain)
    for key in _METRICS:
        if isinstance(entries := value.get(key), list):
            yield Group(None, None, [], metrics=len(entries))
    if any(key in value for key in (*_SCOPE_LISTS, *_LOG_LISTS)):
        yield from _resource(value, complain)
    elif "spans" in value and ("scope" in value or "instrumentationLibrary" in value):
        yield from _scope(None, value, "spans", complain)
    elif _is_span(value):
        yield Group(value.get("resource"), value.get("scope"), [_with_hex_ids(value, complain)])


def _holds_otlp(value: dict[str, JsonValue]) -> bool:
    return any(key in value for key in (*_RESOURCE_LISTS, *_METRICS, *_SCOPE_LISTS, *_LOG_LISTS))


def _resource(entry: dict[str, JsonValue], complain: Complain) -> Iterator[Group]:
    for key in _SCOPE_LISTS:
        for scope in _objects(entry.get(key), key, complain):
            yield from _scope(entry.get("resource"), scope, "spans", complain)
    for key in _LOG_LISTS:
        for scope in _objects(entry.get(key), key, complain):
            yield from _scope(entry.get("resource"), scope, "logRecords", complain)


def _scope(resource: JsonValue, entry: dict[str, JsonValue], key: str, complain: Complain) -> Iterator[Group]:
    scope = entry.get("scope", entry.get("instrumentationLibrary"))
    records = [_with_hex_ids(record, complain) for record in _objects(entry.get(key), key, complain)]
    yield Group(resource, scope, records, logs=key == "logRecords")


def _objects(value: JsonValue, key: str, complain: Complain) -> Iterator[dict[str, JsonValue]]:
    if value is None:
        return
    if not isinstance(value, list):
        complain("bad-shape", f"{key} is no list; it is skipped")
        return
    for index, item in enumerate(value):
        if isinstance(item, dict):
            yield item
        else:
            complain("bad-shape", f"{key}[{index}] is {str(item)[:40]!r}, not an object; it is skipped")


def _is_span(value: dict[str, JsonValue]) -> bool:
    return isinstance(value.get("traceId"), str) and isinstance(value.get("spanId"), str) and "name" in value


def _unwrapped(value: JsonValue) -> JsonValue:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            inner: JsonValue = json.loads(value)
        except (ValueError, RecursionError):
            return None
        return inner
    return value if isinstance(value, dict | list) else None


def _with_hex_ids(record: dict[str, JsonValue], complain: Complain) -> dict[str, JsonValue]:
    """Bring base64 ids to hex; `canonical_id` tells the two apart by their length."""
    changed = dict(record)
    for key, size in (("traceId", 16), ("spanId", 8), ("parentSpanId", 8)):
        value = record.get(key)
        if not isinstance(value, str) or not value:
            continue
        identity = canonical_id(value, size)
        if identity is not None and identity != value.lower():
            if identity:
                complain("encoded-id", f"{key} {value!r} is not plain hex; it is read as {identity}")
            changed[key] = identity
    return changed
