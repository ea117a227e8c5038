"""Langfuse's exports: a trace with its observations, or single observations.

Source: the public API (``GET /traces/{id}``, ``GET /observations``) and the downloads of the page, of version 3 of the
server, which takes OpenTelemetry's spans, and of the versions before. Attributes are those of Langfuse's own SDK.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Raw

from pixie_otel import attributes as keys
from pixie_otel.attributes import langfuse as langfuse_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.forms import building
from pixie_otel.traces.group import Group
from pixie_otel.traces.lenient import Complain
from pixie_otel.traces.opened import opened

__all__ = ["NAME", "convert", "recognises"]

NAME: Final = "a Langfuse export"
_READ: Final = frozenset(
    {"id", "traceId", "parentObservationId", "type", "name", "startTime", "endTime", "input", "output", "metadata"}
    | {"model", "modelParameters", "usage", "usageDetails", "costDetails", "level", "statusMessage"}
    | {"completionStartTime", "sessionId", "userId", "calculatedTotalCost", "totalCost"}
    # These are made of the others, or of the server.
    | {"latency", "timeToFirstToken", "createdAt", "updatedAt", "unit", "promptTokens", "completionTokens"}
    | {"totalTokens", "inputPrice", "outputPrice", "totalPrice", "calculatedInputCost", "calculatedOutputCost"}
    | {"modelId", "projectId", "inputCost", "outputCost", "internalModelId", "usagePricingTierId"}
)
_TRACE_READ: Final = frozenset(
    {"id", "timestamp", "name", "input", "output", "metadata", "sessionId", "userId", "observations", "projectId"}
    | {"htmlPath", "latency", "createdAt", "updatedAt", "totalCost"}
)
_OTEL: Final = ("attributes", "resourceAttributes", "scope")
"""What the server keeps of the span as it came, in the metadata."""
_TRACE_PREFIX: Final = f"{langfuse_keys.PREFIX}trace."
_TOKENS: Final = {"promptTokens": "input", "completionTokens": "output", "totalTokens": "total"}


def recognises(members: Mapping[str, Raw]) -> bool:
    """Say whether an object is a trace or an observation of Langfuse's.

    Args:
        members: The object's values by key.
    """
    if "observations" in members:
        return not members.keys().isdisjoint(("trace", "projectId", "htmlPath", "userId", "sessionId"))
    return {"traceId", "type", "startTime"} <= members.keys() and not members.keys().isdisjoint(
        ("parentObservationId", "statusMessage", "usageDetails", "modelParameters")
    )


def convert(members: Mapping[str, Raw], complain: Complain) -> Iterator[Group]:
    """Make spans of OTLP of it.

    Args:
        members: The object's values by key.
        complain: Told of observations that are no objects, or that have only their ids.

    Yields:
        Each observation, with its resource and scope; and the trace itself, where no single observation stands for it.
    """
    if "observations" not in members:
        yield _observation(members, {}, None)
        return
    trace = building.child(members, "trace") or dict(members)
    found: list[dict[str, Raw]] = []
    for raw in building.items(members, "observations"):
        item = opened(raw)
        if isinstance(item, dict):
            found.append(item)
        else:
            complain("bad-shape", "an observation of a Langfuse trace is no object; get the trace with all of them")
    are_tops = [building.value(item, "parentObservationId") is None for item in found]
    # The trace of an older SDK is more than any of its observations.
    made_up = "" if sum(are_tops) == 1 else _root_id(trace)
    if made_up:
        yield _root(trace, found, made_up)
    for item, is_top in zip(found, are_tops, strict=True):
        yield _observation(item, trace if is_top and not made_up else {}, trace, made_up if is_top else "")


def _root_id(trace: Mapping[str, Raw]) -> str:
    text = building.text_of(building.value(trace, "id"))
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _root(trace: Mapping[str, Raw], found: list[dict[str, Raw]], identity: str) -> Group:
    starts = [building.nanoseconds(building.value(item, "startTime")) for item in found]
    ends = [building.nanoseconds(building.value(item, "endTime")) for item in found]
    start = building.nanoseconds(building.value(trace, "timestamp")) or min(filter(None, starts), default=0)
    record = building.span(
        trace=building.trace_id(building.value(trace, "id")),
        identity=identity,
        parent="",
        name=building.value(trace, "name"),
        kind=1,
        start=start,
        end=max([start, *ends]),
        attributes={
            langfuse_keys.TYPE: "span",
            langfuse_keys.INPUT: building.as_attribute(building.value(trace, "input")),
            langfuse_keys.OUTPUT: building.as_attribute(building.value(trace, "output")),
            **_about_trace(trace),
        },
    )
    return Group(records=(record,), form=NAME)


def _about_trace(trace: Mapping[str, Raw]) -> dict[str, JsonValue]:
    metadata = building.mapping(trace, "metadata")
    rest = building.rest(trace, _TRACE_READ, _TRACE_PREFIX)
    return rest | {
        f"{_TRACE_PREFIX}name": building.value(trace, "name"),
        langfuse_keys.TRACE_INPUT: building.as_attribute(building.value(trace, "input")),
        langfuse_keys.TRACE_OUTPUT: building.as_attribute(building.value(trace, "output")),
        keys.SESSION_ID: building.value(trace, "sessionId"),
        keys.USER_ID: building.value(trace, "userId"),
        **_metadata(metadata, langfuse_keys.TRACE_METADATA),
    }


def _observation(
    item: Mapping[str, Raw], about: Mapping[str, Raw], trace: Mapping[str, Raw] | None, above: str = ""
) -> Group:
    metadata = building.mapping(item, "metadata")
    original = {key: found for key in _OTEL if isinstance(found := metadata.get(key), dict)}
    level = building.text_of(building.value(item, "level")).upper()
    message = building.value(item, "statusMessage")
    own = building.trace_id(building.value(item, "traceId"))
    own_attributes = _attributes(item, {key: value for key, value in metadata.items() if key not in original})
    came = original.get("attributes", {})
    start = building.nanoseconds(building.value(item, "startTime"))
    record = building.span(
        trace=own or building.trace_id(building.value(trace or {}, "id")),
        identity=building.span_id(building.value(item, "id")),
        parent=building.span_id(building.value(item, "parentObservationId")) or above,
        name=building.value(item, "name"),
        kind=1,
        start=start,
        end=building.nanoseconds(building.value(item, "endTime")) or start,
        code=building.ERROR if level == "ERROR" else building.UNSET,
        message=message if level == "ERROR" else None,
        # What the server made of the span is there in any case; what came adds what it has no field for.
        attributes=(_about_trace(about) if about else {}) | _strings(came) | own_attributes,
    )
    scope = original.get("scope", {})
    resource = building.resource_of(_strings(original.get("resourceAttributes", {})))
    return Group(resource, building.scope_of(scope.get("name"), scope.get("version")), (record,), form=NAME)


def _attributes(item: Mapping[str, Raw], metadata: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    usage = building.mapping(item, "usageDetails") or _usage(item)
    cost: dict[str, JsonValue] = building.mapping(item, "costDetails")
    total = building.value(item, "totalCost", "calculatedTotalCost")
    if not cost and isinstance(total, int | float) and total:
        cost["total"] = total
    found: dict[str, JsonValue] = {
        langfuse_keys.TYPE: building.text_of(building.value(item, "type")).lower() or "span",
        langfuse_keys.INPUT: building.as_attribute(building.value(item, "input")),
        langfuse_keys.OUTPUT: building.as_attribute(building.value(item, "output")),
        langfuse_keys.MODEL_NAME: building.value(item, "model"),
        langfuse_keys.MODEL_PARAMETERS: building.as_attribute(building.mapping(item, "modelParameters") or None),
        langfuse_keys.USAGE_DETAILS: building.as_attribute(usage or None),
        langfuse_keys.COST_DETAILS: building.as_attribute(cost or None),
        langfuse_keys.LEVEL: building.value(item, "level"),
        langfuse_keys.STATUS_MESSAGE: building.value(item, "statusMessage"),
        langfuse_keys.COMPLETION_START: building.value(item, "completionStartTime"),
        keys.SESSION_ID: building.value(item, "sessionId"),
        keys.USER_ID: building.value(item, "userId"),
        **_metadata(metadata, langfuse_keys.METADATA),
        **building.rest(item, _READ, langfuse_keys.OBSERVATION_PREFIX),
    }
    return {key: value for key, value in found.items() if value is not None}


def _usage(item: Mapping[str, Raw]) -> dict[str, JsonValue]:
    """Give the counts of tokens that an older server has in place of details."""
    usage = building.mapping(item, "usage")
    counts = {key: usage.get(key) for key in ("input", "output", "total")}
    older = {name: building.value(item, key) for key, name in _TOKENS.items()}
    return {key: count for key, count in (older | _known(counts)).items() if isinstance(count, int) and count}


def _known(counts: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: count for key, count in counts.items() if count is not None}


def _metadata(metadata: Mapping[str, JsonValue], key: str) -> dict[str, JsonValue]:
    return {f"{key}.{name}": building.as_attribute(value) for name, value in metadata.items() if value is not None}


def _strings(values: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(values, dict):
        return {}
    return {key: building.as_attribute(value) for key, value in values.items() if value is not None}
