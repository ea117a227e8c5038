"""Spans as evaluators for agents on AWS get them: plain, with the events of each in ``span_events``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Raw

from pixie_otel import attributes as keys
from pixie_otel.traces.forms import building
from pixie_otel.traces.forms.cloudwatch import messages_of
from pixie_otel.traces.group import Group
from pixie_otel.traces.lenient import Complain

__all__ = ["NAME", "convert", "recognises"]

NAME: Final = "strands-evals spans"
_TRACE: Final = ("trace_id", "traceId")
_SPAN: Final = ("span_id", "spanId")
_PARENT: Final = ("parent_span_id", "parentSpanId")
_START: Final = ("start_time", "startTimeUnixNano", "start_time_unix_nano")
_END: Final = ("end_time", "endTimeUnixNano", "end_time_unix_nano")
_READ: Final = frozenset({"name", "kind", "attributes", "resource", "scope", "status", "span_events"}).union(
    _TRACE, _SPAN, _PARENT, _START, _END
)
_PREFIX: Final = "strands_evals."


def recognises(members: Mapping[str, Raw]) -> bool:
    """Say whether an object is such a span.

    Args:
        members: The object's values by key.
    """
    return "span_events" in members and not members.keys().isdisjoint(_SPAN)


def convert(members: Mapping[str, Raw], _complain: Complain) -> Iterator[Group]:
    """Make a span of OTLP of it.

    Args:
        members: The object's values by key.

    Yields:
        The span, with its resource and scope.
    """
    status, scope = building.child(members, "status"), building.child(members, "scope")
    record = building.span(
        trace=building.trace_id(building.value(members, *_TRACE)),
        identity=building.span_id(building.value(members, *_SPAN)),
        parent=building.span_id(building.value(members, *_PARENT)),
        name=building.value(members, "name"),
        kind=building.value(members, "kind"),
        start=building.nanoseconds(building.value(members, *_START)),
        end=building.nanoseconds(building.value(members, *_END)),
        code=building.status_code(building.value(status, "code", "status_code")),
        message=building.value(status, "message", "description"),
        attributes=building.mapping(members, "attributes") | building.rest(members, _READ, _PREFIX),
        events=[_event(item) for item in building.objects(members, "span_events")],
    )
    resource = building.mapping(building.child(members, "resource"), "attributes")
    named = building.scope_of(building.value(scope, "name"), building.value(scope, "version"))
    yield Group(building.resource_of(resource), named, (record,), form=NAME)


def _event(item: Mapping[str, Raw]) -> dict[str, object]:
    body = building.value(item, "body")
    messages = messages_of(body)
    name = keys.GENAI_EVENT_DETAILS if messages else building.value(item, "event_name", "name")
    attributes = building.mapping(item, "attributes") | messages
    if body is not None and not messages:
        attributes["body"] = building.as_attribute(body)
    time = building.value(item, "timeUnixNano", "time_unix_nano", "timestamp")
    return building.event(name, time, attributes)
