"""Ended spans of OpenTelemetry's SDK, for hypothesis: everything that a span can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
KEYS = st.one_of(
    st.sampled_from(["input.value", "output.value", "llm.input_messages.0.message.content", "llm.token_count.prompt"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
)
INT_64 = st.integers(-(2**63), 2**63 - 1)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), TEXT, INT_64, st.floats(), st.binary(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
"""Everything that OpenTelemetry takes for the value of an attribute."""


def bounded(values: Mapping[str, Any], most: int | None = None) -> BoundedAttributes:
    """Give attributes as a span holds them."""
    return BoundedAttributes(maxlen=most, attributes=values)


ATTRIBUTES = st.builds(bounded, st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from([None, None, 2]))
TIMES = st.integers(0, 2**63)
CONTEXTS = st.builds(
    SpanContext,
    st.integers(0, 2**128 - 1),
    st.integers(0, 2**64 - 1),
    st.booleans(),
    st.just(TraceFlags(1)),
    st.sampled_from([None, TraceState([("vendor", "1"), ("other", "a:b")])]),
)
EVENTS = st.lists(st.builds(Event, TEXT, st.none() | ATTRIBUTES, TIMES), max_size=2)
LINKS = st.lists(st.builds(Link, CONTEXTS, ATTRIBUTES), max_size=2)
STATUSES = st.one_of(
    st.sampled_from([Status(StatusCode.UNSET), Status(StatusCode.OK)]),
    st.builds(Status, st.just(StatusCode.ERROR), st.none() | TEXT),
)
SCHEMAS = st.sampled_from(["", "https://opentelemetry.io/schemas/1.37.0"])
RESOURCES = st.builds(Resource, st.dictionaries(KEYS, VALUES, max_size=2), SCHEMAS)
SCOPES = st.none() | st.builds(
    InstrumentationScope,
    st.sampled_from(["scope", "other", ""]),
    st.sampled_from([None, "1.0"]),
    SCHEMAS,
    st.sampled_from([None, {"kind": "a", "number": 1}]),
)
SPANS = st.builds(
    ReadableSpan,
    name=TEXT,
    context=CONTEXTS,
    parent=st.none() | CONTEXTS,
    resource=RESOURCES,
    attributes=ATTRIBUTES,
    events=EVENTS,
    links=LINKS,
    kind=st.sampled_from(SpanKind),
    status=STATUSES,
    start_time=st.none() | TIMES,
    end_time=st.none() | TIMES,
    instrumentation_scope=SCOPES,
)


def sdk_span(
    attributes: Mapping[Any, Any] | None = None,
    *,
    cleaned: bool = True,
    number: int = 1,
    trace: int = 1,
    events: Sequence[Event] = (),
    links: Sequence[Link] = (),
    status: Status | None = None,
    resource: Mapping[str, Any] | None = None,
    **fields: Any,
) -> ReadableSpan:
    """Give an ended span.

    Args:
        attributes: Its attributes, as an application would set them.
        cleaned: Whether they go through the SDK, which makes them what attributes can be.
        number: Makes its id.
        trace: Makes its trace's id.
        events: Its events.
        links: Its links.
        status: Its status.
        resource: The attributes of its resource.
        fields: What else `ReadableSpan` takes.
    """
    start = 1_764_500_000_000_000_000 + number
    given: dict[str, Any] = {
        "name": f"span {number}",
        "context": SpanContext(trace, number, is_remote=False, trace_flags=TraceFlags(1)),
        "attributes": bounded(attributes or {}) if cleaned else attributes,
        "resource": Resource(resource or {"service.name": "support-bot"}),
        "events": events,
        "links": links,
        "status": status or Status(StatusCode.UNSET),
        "start_time": start,
        "end_time": start + 1_000_000,
        "instrumentation_scope": InstrumentationScope("tests", "1"),
    }
    return ReadableSpan(**given | fields)
