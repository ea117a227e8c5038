"""What OpenTelemetry's ConsoleSpanExporter prints: a JSON object for each span, over many lines or on one.

Source: opentelemetry-python's ``ReadableSpan.to_json`` (1.45); older ones have ``resource`` as a plain map. It names no
scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Raw

from pixie_otel.traces.forms import building
from pixie_otel.traces.group import Group
from pixie_otel.traces.lenient import Complain

__all__ = ["NAME", "convert", "recognises"]

NAME: Final = "ConsoleSpanExporter output"
_READ: Final = frozenset(
    {"name", "context", "kind", "parent_id", "start_time", "end_time", "status", "attributes", "events", "links"}
    | {"resource"}
)
_PREFIX: Final = "console."


def recognises(members: Mapping[str, Raw]) -> bool:
    """Say whether an object is a span as the exporter prints it.

    Args:
        members: The object's values by key.
    """
    if "context" not in members or "name" not in members:
        return False
    identity = building.text_of(building.value(building.child(members, "context"), "trace_id"))
    return identity.startswith("0x")


def convert(members: Mapping[str, Raw], _complain: Complain) -> Iterator[Group]:
    """Make a span of OTLP of it.

    Args:
        members: The object's values by key.

    Yields:
        The span, with its resource.
    """
    context, status = building.child(members, "context"), building.child(members, "status")
    resource = building.mapping(members, "resource")
    attributes = resource.get("attributes", resource)
    record = building.span(
        trace=building.trace_id(building.value(context, "trace_id")),
        identity=building.span_id(building.value(context, "span_id")),
        parent=building.span_id(building.value(members, "parent_id")),
        name=building.value(members, "name"),
        kind=building.value(members, "kind"),
        start=building.nanoseconds(building.value(members, "start_time")),
        end=building.nanoseconds(building.value(members, "end_time")),
        attributes=building.mapping(members, "attributes") | building.rest(members, _READ, _PREFIX),
        code=building.status_code(building.value(status, "status_code")),
        message=building.value(status, "description"),
        events=[
            building.event(
                building.value(item, "name"), building.value(item, "timestamp"), building.value(item, "attributes")
            )
            for item in building.objects(members, "events")
        ],
        links=[_link(item) for item in building.objects(members, "links")],
    )
    yield Group(building.resource_of(attributes if isinstance(attributes, dict) else {}), records=(record,), form=NAME)


def _link(item: Mapping[str, Raw]) -> dict[str, object]:
    context = building.child(item, "context")
    return {
        "traceId": building.trace_id(building.value(context, "trace_id")),
        "spanId": building.span_id(building.value(context, "span_id")),
        "attributes": building.attribute_list(building.mapping(item, "attributes")),
    }
