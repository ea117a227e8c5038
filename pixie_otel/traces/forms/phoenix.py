"""Spans as Phoenix gives them away: by its API and client, as rows of its data frames, and from its page.

Attributes are OpenInference's, under flat keys or nested. Source: ``arize-phoenix-client`` (``v1.Span``) and
``get_spans_dataframe().to_json(orient="records")``; the page's GraphQL has the same in camelCase.
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

NAME: Final = "a Phoenix span export"
_KIND: Final = ("span_kind", "spanKind")
_PARENT: Final = ("parent_id", "parentId", "parentSpanId")
_START: Final = ("start_time", "startTime")
_END: Final = ("end_time", "endTime")
_CODE: Final = ("status_code", "statusCode")
_MESSAGE: Final = ("status_message", "statusMessage")
_TRACE: Final = ("context.trace_id", "context.traceId")
_SPAN: Final = ("context.span_id", "context.spanId")
_READ: Final = frozenset(
    {"context", "name", "attributes", "events", *_KIND, *_PARENT, *_START, *_END, *_CODE, *_MESSAGE, *_TRACE, *_SPAN}
)
_ROW: Final = "attributes."
_NO_KIND: Final = "UNKNOWN"
_PREFIX: Final = "phoenix."


def recognises(members: Mapping[str, Raw]) -> bool:
    """Say whether an object is a span or a row of Phoenix's.

    Args:
        members: The object's values by key.
    """
    if "context.trace_id" in members and "context.span_id" in members:
        return True
    if "context" not in members or members.keys().isdisjoint((*_KIND, *_PARENT)):
        return False
    return not building.child(members, "context").keys().isdisjoint(("trace_id", "traceId"))


def convert(members: Mapping[str, Raw], _complain: Complain) -> Iterator[Group]:
    """Make a span of OTLP of it.

    Args:
        members: The object's values by key.

    Yields:
        The span; Phoenix has neither its resource nor its scope.
    """
    context = building.child(members, "context")
    rows = {key.removeprefix(_ROW): building.value(members, key) for key in members if key.startswith(_ROW)}
    attributes = building.flattened(building.mapping(members, "attributes") | rows)
    kind = building.value(members, *_KIND)
    if isinstance(kind, str) and kind.upper() != _NO_KIND:
        attributes.setdefault(keys.OI_SPAN_KIND, kind.upper())
    known = _READ.union(key for key in members if key.startswith(_ROW))
    record = building.span(
        trace=building.trace_id(building.value(context, "trace_id", "traceId") or building.value(members, *_TRACE)),
        identity=building.span_id(building.value(context, "span_id", "spanId") or building.value(members, *_SPAN)),
        parent=building.span_id(building.value(members, *_PARENT)),
        name=building.value(members, "name"),
        kind=1,
        start=building.nanoseconds(building.value(members, *_START)),
        end=building.nanoseconds(building.value(members, *_END)),
        code=building.status_code(building.value(members, *_CODE)),
        message=building.value(members, *_MESSAGE),
        attributes={key: value for key, value in attributes.items() if value is not None}
        | building.rest(members, known, _PREFIX),
        events=[_event(item) for item in building.objects(members, "events")],
    )
    yield Group(records=(record,), form=NAME)


def _event(item: Mapping[str, Raw]) -> dict[str, object]:
    attributes: dict[str, JsonValue] = building.mapping(item, "attributes")
    # The page's query has the message of an exception beside the event's name.
    message = building.value(item, "message", "exceptionMessage")
    if message:
        attributes.setdefault(keys.EXCEPTION_MESSAGE, message)
    return building.event(building.value(item, "name"), building.value(item, "timestamp"), attributes)
