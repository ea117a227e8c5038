"""Spans and log records as AWS's distribution of OpenTelemetry puts them into CloudWatch: flat, one object for each.

Attributes are plain maps there. What a model was told and said is not on its span but in a log record, whose body has
``input`` and ``output`` with messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Raw

from pixie_otel import attributes as keys
from pixie_otel.attributes import strands as strands_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.forms import building
from pixie_otel.traces.group import Group
from pixie_otel.traces.lenient import Complain, read_json, silence

__all__ = ["NAME", "convert", "messages_of", "recognises"]

NAME: Final = "CloudWatch/ADOT spans"
_TIMES: Final = ("timeUnixNano", "observedTimeUnixNano")
_SPAN_READ: Final = frozenset(
    {"resource", "scope", "traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"}
    | {"durationNano", "attributes", "status", "events", "links", "flags", "traceState", "_type"}
)
_PREFIX: Final = "cloudwatch."
_CONTENT: Final = ("content", "message", "response", strands_keys.TOOL_RESULT)
"""Where the distribution puts the content of a message that was an attribute of an event."""


def recognises(members: Mapping[str, Raw]) -> bool:
    """Say whether an object is such a span or log record.

    Args:
        members: The object's values by key.
    """
    if not {"traceId", "spanId"} <= members.keys():
        return False
    is_log = "body" in members and not members.keys().isdisjoint(_TIMES)
    return is_log or ("durationNano" in members and "name" in members)


def convert(members: Mapping[str, Raw], _complain: Complain) -> Iterator[Group]:
    """Make a span or a log record of OTLP of it.

    Args:
        members: The object's values by key.

    Yields:
        The one record, with its resource and scope.
    """
    resource = building.resource_of(_attributes(building.child(members, "resource")))
    scope = building.child(members, "scope")
    shared = resource, building.scope_of(building.value(scope, "name"), building.value(scope, "version"))
    if "body" in members and "durationNano" not in members:
        yield Group(*shared, (_log(members),), logs=True, form=NAME)
    else:
        yield Group(*shared, (_span(members),), form=NAME)


def messages_of(body: JsonValue) -> dict[str, JsonValue]:
    """Give the messages in the body of a log record as attributes of OpenTelemetry's conventions; none where none are.

    Args:
        body: The body, decoded.
    """
    found: dict[str, JsonValue] = {}
    for side, key in (("input", keys.GENAI_INPUT_MESSAGES), ("output", keys.GENAI_OUTPUT_MESSAGES)):
        part = body.get(side) if isinstance(body, dict) else None
        messages = part.get("messages") if isinstance(part, dict) else None
        if isinstance(messages, list) and messages:
            found[key] = msgspec.json.encode([_message(message) for message in messages]).decode()
    return found


def _message(message: JsonValue) -> JsonValue:
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    if isinstance(content, dict):
        reason = content.get("finish_reason")
        content = next((content[key] for key in _CONTENT if key in content), content)
        if isinstance(reason, str):
            message = {**message, "finish_reason": reason}
    if isinstance(content, str) and content.startswith(("[{", "{")):
        try:
            content = read_json(content.encode("utf-8", "replace"), silence, is_otlp=False)
        except (ValueError, RecursionError):
            return message
    return {**message, "content": content}


def _span(members: Mapping[str, Raw]) -> bytes:
    start = building.nanoseconds(building.value(members, "startTimeUnixNano"))
    duration = building.value(members, "durationNano")
    length = duration if isinstance(duration, int) else 0
    status = building.child(members, "status")
    return building.span(
        trace=building.trace_id(building.value(members, "traceId")),
        identity=building.span_id(building.value(members, "spanId")),
        parent=building.span_id(building.value(members, "parentSpanId")),
        name=building.value(members, "name"),
        kind=building.value(members, "kind"),
        start=start,
        end=building.nanoseconds(building.value(members, "endTimeUnixNano")) or start + length,
        code=building.status_code(building.value(status, "code")),
        message=building.value(status, "message"),
        attributes=_attributes(members) | building.rest(members, _SPAN_READ, _PREFIX),
        events=[
            building.event(
                building.value(item, "name"), building.value(item, "timeUnixNano"), building.value(item, "attributes")
            )
            for item in building.objects(members, "events")
        ],
        links=[
            {
                "traceId": building.trace_id(building.value(item, "traceId")),
                "spanId": building.span_id(building.value(item, "spanId")),
                "attributes": building.attribute_list(_attributes(item)),
            }
            for item in building.objects(members, "links")
        ],
    )


def _log(members: Mapping[str, Raw]) -> bytes:
    body = building.value(members, "body")
    messages = messages_of(body)
    attributes = _attributes(members) | messages
    name = keys.GENAI_EVENT_DETAILS if messages else building.value(members, "eventName")
    found: dict[str, object] = {
        "traceId": building.trace_id(building.value(members, "traceId")),
        "spanId": building.span_id(building.value(members, "spanId")),
        **{key: str(building.nanoseconds(building.value(members, key))) for key in _TIMES if key in members},
        **{
            key: given
            for key in ("severityNumber", "severityText", "flags")
            if isinstance(given := building.value(members, key), int | str)
        },
        "eventName": building.text_of(name),
        # The messages are the body, in the words of the conventions.
        "body": building.any_value(None if messages else body),
        "attributes": building.attribute_list(attributes),
    }
    return msgspec.json.encode(found)


def _attributes(members: Mapping[str, Raw]) -> dict[str, JsonValue]:
    return {key: building.as_attribute(value) for key, value in building.mapping(members, "attributes").items()}
