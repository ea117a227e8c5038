"""Zipkin's JSON (version 2): a list of spans, with times in microseconds and everything else in tags.

The names of tags are those that OpenTelemetry's Zipkin exporters write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Raw

from pixie_otel import attributes as keys
from pixie_otel.attributes import jaeger as jaeger_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.forms import building
from pixie_otel.traces.group import Group
from pixie_otel.traces.lenient import Complain
from pixie_otel.traces.opened import first_byte, value_of

__all__ = ["NAME", "convert", "recognises"]

NAME: Final = "a Zipkin JSON export"
_READ: Final = frozenset(
    {"traceId", "id", "parentId", "name", "kind", "timestamp", "duration", "localEndpoint", "tags", "annotations"}
)
_PREFIX: Final = "zipkin."
_ERROR: Final = "error"
_MICROSECOND: Final = 1000


def recognises(members: Mapping[str, Raw]) -> bool:
    """Say whether an object is a span of Zipkin's.

    Args:
        members: The object's values by key.
    """
    if not {"traceId", "id"} <= members.keys():
        return False
    # Rows of many a data set have a list of tags.
    return "localEndpoint" in members or ("tags" in members and first_byte(members["tags"]) == b"{")


def convert(members: Mapping[str, Raw], _complain: Complain) -> Iterator[Group]:
    """Make a span of OTLP of it.

    Args:
        members: The object's values by key.

    Yields:
        The span, with its service as the resource.
    """
    tags = building.mapping(members, "tags")
    error = tags.pop(_ERROR, None)
    code = building.status_code(tags.pop(jaeger_keys.STATUS_CODE, None)) or (
        building.ERROR if error is not None else building.UNSET
    )
    scope = building.scope_of(
        tags.pop(jaeger_keys.SCOPE_NAME, None) or tags.pop(jaeger_keys.LIBRARY_NAME, None),
        tags.pop(jaeger_keys.SCOPE_VERSION, None) or tags.pop(jaeger_keys.LIBRARY_VERSION, None),
    )
    start = building.nanoseconds(building.value(members, "timestamp"))
    duration = building.value(members, "duration")
    record = building.span(
        trace=_trace(building.value(members, "traceId")),
        identity=building.span_id(building.value(members, "id")),
        parent=building.span_id(building.value(members, "parentId")),
        name=building.value(members, "name"),
        kind=building.value(members, "kind"),
        start=start,
        end=start + (duration * _MICROSECOND if isinstance(duration, int) else 0),
        code=code,
        message=error,
        attributes=tags | building.rest(members, _READ, _PREFIX),
        events=[_event(item) for item in building.objects(members, "annotations")],
    )
    service = building.value(building.child(members, "localEndpoint"), "serviceName")
    resource: dict[str, JsonValue] = {} if service is None else {keys.SERVICE_NAME: service}
    yield Group(building.resource_of(resource), scope, (record,), form=NAME)


def _event(annotation: Mapping[str, Raw]) -> dict[str, object]:
    """Give an annotation as an event; exporters write one with attributes as its name and JSON, or as JSON alone."""
    text, time = building.text_of(building.value(annotation, "value")), building.value(annotation, "timestamp")
    name, colon, written = text.partition(":")
    try:
        if text.startswith("{"):
            ((only, inside),) = msgspec.json.decode(text, type=dict[str, Raw]).items()
            return building.event(only, time, value_of(inside))
        if colon and written.lstrip().startswith("{"):
            return building.event(name.strip('" '), time, value_of(msgspec.json.decode(written, type=Raw)))
    except (ValueError, RecursionError):
        # It only looks like either.
        return building.event(text, time)
    return building.event(text, time)


def _trace(value: JsonValue) -> str:
    """Give a trace's id, which older tracers make half as long."""
    return building.trace_id(building.text_of(value).rjust(32, "0"))
