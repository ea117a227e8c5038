"""MLflow's traces as JSON, as ``Trace.to_json`` and its page's download give them.

Source: mlflow 3.17 (spans with ids in base64, schema 3) and 2.x (spans with a context). Attributes are JSON in text in
both, as MLflow's own OTLP export has them; what is known of the trace stands on its root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Raw

from pixie_otel.attributes import mlflow as mlflow_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.forms import building
from pixie_otel.traces.group import Group
from pixie_otel.traces.lenient import Complain
from pixie_otel.traces.opened import opened

__all__ = ["NAME", "convert", "recognises"]

NAME: Final = "MLflow trace JSON"
_READ: Final = frozenset(
    {"trace_id", "span_id", "parent_span_id", "parent_id", "context", "name", "attributes", "events", "links", "status"}
    | {"start_time_unix_nano", "end_time_unix_nano", "start_time", "end_time", "status_code", "status_message"}
)
_ABOUT_TRACE: Final = ("trace_metadata", "request_metadata")
_INFO: Final = f"{mlflow_keys.PREFIX}info."
_SPAN: Final = f"{mlflow_keys.PREFIX}field."
_SCOPE: Final = building.scope_of(f"{mlflow_keys.PREFIX}tracing.provider")


def recognises(members: Mapping[str, Raw]) -> bool:
    """Say whether an object is a trace of MLflow's.

    Args:
        members: The object's values by key.
    """
    return "info" in members and "spans" in building.child(members, "data")


def convert(members: Mapping[str, Raw], complain: Complain) -> Iterator[Group]:
    """Make spans of OTLP of it.

    Args:
        members: The object's values by key.
        complain: Told of spans that are no objects.

    Yields:
        The trace's spans.
    """
    info = building.child(members, "info")
    whole = building.trace_id(building.value(info, "trace_id", "request_id"))
    records: list[bytes] = []
    for raw in building.items(building.child(members, "data"), "spans"):
        item = opened(raw)
        if isinstance(item, dict):
            records.append(_span(item, whole, info))
        else:
            complain("bad-shape", "a span of an MLflow trace is no object; it is left out")
    yield Group(scope=_SCOPE, records=tuple(records), form=NAME)


def _span(item: Mapping[str, Raw], whole: str, info: Mapping[str, Raw]) -> bytes:
    context, status = building.child(item, "context"), building.child(item, "status")
    parent = building.span_id(building.value(item, "parent_span_id", "parent_id"))
    attributes = {key: _as_text(value) for key, value in building.mapping(item, "attributes").items()}
    if not parent:
        attributes |= {key: value for key, value in _about(info).items() if key not in attributes}
    trace = building.value(item, "trace_id") or building.value(context, "trace_id")
    return building.span(
        trace=building.trace_id(trace) or whole,
        identity=building.span_id(building.value(item, "span_id") or building.value(context, "span_id")),
        parent=parent,
        name=building.value(item, "name"),
        kind=1,
        start=building.nanoseconds(building.value(item, "start_time_unix_nano", "start_time")),
        end=building.nanoseconds(building.value(item, "end_time_unix_nano", "end_time")),
        code=building.status_code(building.value(item, "status_code") or building.value(status, "code")),
        message=building.value(item, "status_message") or building.value(status, "message"),
        attributes=attributes | building.rest(item, _READ, _SPAN),
        events=[
            building.event(
                building.value(each, "name"),
                building.value(each, "time_unix_nano", "timestamp"),
                building.value(each, "attributes"),
            )
            for each in building.objects(item, "events")
        ],
    )


def _about(info: Mapping[str, Raw]) -> dict[str, JsonValue]:
    """Give what is known of the trace as attributes, under MLflow's own names."""
    found = building.rest(info, (*_ABOUT_TRACE, "tags"), _INFO)
    for key in _ABOUT_TRACE:
        found |= _named(building.mapping(info, key), _INFO)
    return found | _named(building.mapping(info, "tags"), mlflow_keys.TRACE_TAG_PREFIX)


def _named(values: Mapping[str, JsonValue], prefix: str) -> dict[str, JsonValue]:
    return {
        key if key.startswith(mlflow_keys.PREFIX) else f"{prefix}{key}": value
        for key, value in values.items()
        if value not in (None, "")
    }


def _as_text(value: JsonValue) -> JsonValue:
    return value if isinstance(value, str) or value is None else msgspec.json.encode(value).decode()
