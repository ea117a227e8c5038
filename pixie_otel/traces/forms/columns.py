"""Rows of a table of spans, as the collector's ClickHouse exporter lays it out: a column for each field.

Source: the contrib exporter's ``otel_traces`` table, as ``SELECT * … FORMAT JSONEachRow`` gives it; maps of attributes
are plain, lists of events lie in columns side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Raw

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.forms import building
from pixie_otel.traces.group import Group
from pixie_otel.traces.lenient import Complain

__all__ = ["NAME", "convert", "recognises"]

NAME: Final = "rows of a ClickHouse span table"
_EVENTS: Final = ("Events.Name", "Events.Timestamp", "Events.Attributes")
_READ: Final = frozenset(
    {"Timestamp", "TraceId", "SpanId", "ParentSpanId", "SpanName", "SpanKind", "ServiceName", "ResourceAttributes"}
    | {"ScopeName", "ScopeVersion", "SpanAttributes", "Duration", "StatusCode", "StatusMessage", *_EVENTS}
)
_PREFIX: Final = "clickhouse."


def recognises(members: Mapping[str, Raw]) -> bool:
    """Say whether an object is such a row.

    Args:
        members: The object's values by key.
    """
    return {"TraceId", "SpanId"} <= members.keys() and not members.keys().isdisjoint(("SpanName", "SpanAttributes"))


def convert(members: Mapping[str, Raw], _complain: Complain) -> Iterator[Group]:
    """Make a span of OTLP of it.

    Args:
        members: The object's values by key.

    Yields:
        The span, with its resource and scope.
    """
    start = building.nanoseconds(building.value(members, "Timestamp"))
    duration = building.value(members, "Duration")
    # 64-bit integers are text in ClickHouse's JSON unless it is told otherwise.
    length = int(duration) if isinstance(duration, int) or (isinstance(duration, str) and duration.isdigit()) else 0
    record = building.span(
        trace=building.trace_id(building.value(members, "TraceId")),
        identity=building.span_id(building.value(members, "SpanId")),
        parent=building.span_id(building.value(members, "ParentSpanId")),
        name=building.value(members, "SpanName"),
        kind=building.value(members, "SpanKind"),
        start=start,
        end=start + length,
        code=building.status_code(building.value(members, "StatusCode")),
        message=building.value(members, "StatusMessage"),
        attributes=building.mapping(members, "SpanAttributes") | building.rest(members, _READ, _PREFIX),
        events=_events(members),
    )
    service = building.value(members, "ServiceName")
    resource = {keys.SERVICE_NAME: service} | building.mapping(members, "ResourceAttributes")
    scope = building.scope_of(building.value(members, "ScopeName"), building.value(members, "ScopeVersion"))
    known: dict[str, JsonValue] = {key: value for key, value in resource.items() if value not in (None, "")}
    yield Group(building.resource_of(known), scope, (record,), form=NAME)


def _events(members: Mapping[str, Raw]) -> list[dict[str, object]]:
    names, times, attributes = (building.value(members, key) for key in _EVENTS)
    if not isinstance(names, list):
        return []
    times = times if isinstance(times, list) else []
    attributes = attributes if isinstance(attributes, list) else []
    return [
        building.event(
            name,
            times[index] if index < len(times) else None,
            attributes[index] if index < len(attributes) else None,
        )
        for index, name in enumerate(names)
    ]
