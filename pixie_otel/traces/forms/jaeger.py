"""Jaeger's own JSON, as its API and the download of its page give it: traces with the processes beside the spans.

Source: the JSON model of Jaeger's query service, with the tags of its translation of OpenTelemetry's spans. Lists are
text with JSON in it there, and stay that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Raw

from pixie_otel import attributes as keys
from pixie_otel.attributes import jaeger as jaeger_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.forms import building
from pixie_otel.traces.group import Group
from pixie_otel.traces.lenient import Complain
from pixie_otel.traces.opened import opened

__all__ = ["NAME", "convert", "recognises"]

NAME: Final = "a Jaeger JSON export"
_READ: Final = frozenset(
    {"traceID", "spanID", "parentSpanID", "operationName", "references", "startTime", "duration", "tags", "logs"}
    | {"processID", "process", "flags", "warnings"}
)
_PREFIX: Final = "jaeger."
_MICROSECOND: Final = 1000
_SCOPE_NAMES: Final = (jaeger_keys.SCOPE_NAME, jaeger_keys.LIBRARY_NAME)
_SCOPE_VERSIONS: Final = (jaeger_keys.SCOPE_VERSION, jaeger_keys.LIBRARY_VERSION)
_ERROR: Final = "error"
_EVENT: Final = "event"
_KINDS: Final = {"internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5}


def recognises(members: Mapping[str, Raw]) -> bool:
    """Say whether an object is a trace or a span of Jaeger's.

    Args:
        members: The object's values by key.
    """
    return "traceID" in members and ("spans" in members or {"spanID", "operationName"} <= members.keys())


def convert(members: Mapping[str, Raw], complain: Complain) -> Iterator[Group]:
    """Make spans of OTLP of it.

    Args:
        members: The object's values by key.
        complain: Told of spans that are no objects.

    Yields:
        Each span, with its scope and its process as the resource.
    """
    if "spans" not in members:
        yield _group(members, {})
        return
    processes = building.child(members, "processes")
    for raw in building.items(members, "spans"):
        item = opened(raw)
        if isinstance(item, dict):
            yield _group(item, processes)
        else:
            complain("bad-shape", "a span of a Jaeger trace is no object; it is left out")


def _group(item: Mapping[str, Raw], processes: Mapping[str, Raw]) -> Group:
    tags = _tags(item, "tags")
    scope = building.scope_of(_taken(tags, _SCOPE_NAMES), _taken(tags, _SCOPE_VERSIONS))
    start = building.nanoseconds(building.value(item, "startTime"))
    duration = building.value(item, "duration")
    length = int(duration * _MICROSECOND) if isinstance(duration, int | float) else 0
    kind = building.text_of(tags.pop(jaeger_keys.SPAN_KIND, None)).lower()
    code = building.status_code(tags.pop(jaeger_keys.STATUS_CODE, None))
    failed = tags.pop(_ERROR, None)
    if failed in (True, "true"):
        code = code or building.ERROR
    elif failed not in (None, False, "false"):
        tags[_ERROR] = failed
    record = building.span(
        trace=_padded(building.value(item, "traceID"), 32),
        identity=_padded(building.value(item, "spanID"), 16),
        parent=_parent(item),
        name=building.value(item, "operationName"),
        kind=_KINDS.get(kind, 0),
        start=start,
        end=start + length,
        code=code,
        message=tags.pop(jaeger_keys.STATUS_TEXT, None),
        attributes=tags | building.rest(item, _READ, _PREFIX),
        events=[_event(log) for log in building.objects(item, "logs")],
    )
    return Group(_resource(item, processes), scope, (record,), form=NAME)


def _resource(item: Mapping[str, Raw], processes: Mapping[str, Raw]) -> bytes:
    process = building.child(item, "process")
    if not process:
        process = building.child(processes, building.text_of(building.value(item, "processID")))
    name = building.value(process, "serviceName")
    return building.resource_of(({keys.SERVICE_NAME: name} if name is not None else {}) | _tags(process, "tags"))


def _parent(item: Mapping[str, Raw]) -> str:
    own = building.value(item, "traceID")
    for reference in building.objects(item, "references"):
        kind = building.value(reference, "refType")
        if kind == "CHILD_OF" and building.value(reference, "traceID") in (None, own):
            return _padded(building.value(reference, "spanID"), 16)
    return _padded(building.value(item, "parentSpanID"), 16)


def _padded(value: JsonValue, digits: int) -> str:
    """Give an id whose leading zeros Jaeger may have left out."""
    text = building.text_of(value)
    text = text.rjust(digits, "0") if text else ""
    return building.trace_id(text) if digits > 16 else building.span_id(text)


def _tags(members: Mapping[str, Raw], key: str) -> dict[str, JsonValue]:
    return {
        building.text_of(building.value(tag, "key")): _typed(tag)
        for tag in building.objects(members, key)
        if "key" in tag
    }


def _typed(tag: Mapping[str, Raw]) -> JsonValue:
    value, kind = building.value(tag, "value"), building.value(tag, "type")
    if kind == "bool" and isinstance(value, str):
        return value == "true"
    return value


def _taken(tags: dict[str, JsonValue], names: tuple[str, ...]) -> JsonValue:
    found = [tags.pop(name, None) for name in names]
    return next((value for value in found if value is not None), None)


def _event(log: Mapping[str, Raw]) -> dict[str, object]:
    fields = _tags(log, "fields")
    name = fields.pop(_EVENT, None)
    return building.event(name, building.value(log, "timestamp"), fields)
