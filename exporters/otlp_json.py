"""Spans as OTLP JSON, one at a time, so that a span that cannot be written is that span and no other.

The lines mean what those of OpenTelemetry's own encoder mean, in an order that lets our reader find a span's place in
its tree without decoding it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias, cast

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode

from pixie_otel.exporters.otlp_values import attribute_list, name_of, text

__all__ = ["EncodedSpan", "encode", "encode_resource", "encode_scope", "encode_span", "join_lines"]


class EncodedSpan(NamedTuple):
    """A span as it is written, and what it shares with others."""

    data: bytes
    """The span's own JSON object."""
    resource: bytes
    """The JSON object of its resource."""
    scope: bytes
    """The JSON object of its instrumentation scope."""
    resource_schema: str
    """The resource's schema URL; empty where it has none."""
    scope_schema: str
    """The scope's schema URL; empty where it has none."""


_KINDS: Final[Mapping[object, int]] = {kind: number for number, kind in enumerate(SpanKind, start=1)}
_STATUSES: Final = {
    StatusCode.UNSET: b',"status":{',
    StatusCode.OK: b',"status":{"code":1',
    StatusCode.ERROR: b',"status":{"code":2',
}
_OWN_ATTRIBUTES: Final = ReadableSpan.attributes
_HAS_IS_REMOTE: Final = 0x100
_IS_REMOTE: Final = 0x200
_MOST_TIME: Final = 2**64 - 1
_LINE_START: Final = b'{"resourceSpans":['
_LINE_END: Final = b"]}\n"
_MOST_RESOURCES: Final = 64
_MOST_SCOPES: Final = 1024

# By identity, as hashing a resource writes all of it as JSON; the object is held, so that its id stays its own.
_resources: Final[dict[int, tuple[Resource, bytes]]] = {}
_scopes: Final[dict[int, tuple[InstrumentationScope, bytes]]] = {}


def encode(span: ReadableSpan) -> EncodedSpan:
    """Encode a span together with what it shares with others; raises as `encode_span` does."""
    data = encode_span(span)
    try:
        resource, scope = span.resource, span.instrumentation_scope
        return EncodedSpan(
            data,
            encode_resource(resource),
            encode_scope(scope),
            name_of(resource.schema_url),
            "" if scope is None else name_of(scope.schema_url),
        )
    except Exception as error:
        raise ValueError(f"the span's resource or scope cannot be encoded: {type(error).__name__}") from error


def encode_span(span: ReadableSpan) -> bytes:
    """Encode a span as an OTLP JSON object.

    Args:
        span: A span that has ended.

    Raises:
        ValueError: It cannot be encoded.
    """
    try:
        return _span(span)
    except Exception as error:
        raise ValueError(f"the span cannot be encoded: {type(error).__name__}") from error


def encode_resource(resource: Resource) -> bytes:
    """Encode a resource as an OTLP JSON object, once for each resource."""
    known = _resources.get(id(resource))
    if known is not None:
        return known[1]
    data = b"{" + attribute_list(resource.attributes)[1:] + b"}"
    if len(_resources) >= _MOST_RESOURCES:
        _resources.clear()
    _resources[id(resource)] = resource, data
    return data


def encode_scope(scope: InstrumentationScope | None) -> bytes:
    """Encode an instrumentation scope as an OTLP JSON object, once for each scope."""
    if scope is None:
        return b"{}"
    known = _scopes.get(id(scope))
    if known is not None:
        return known[1]
    fields = b"".join(
        b',"%b":%b' % (field, text(name_of(value)))
        for field, value in ((b"name", scope.name), (b"version", scope.version))
        if value
    )
    data = b"{" + (fields + attribute_list(scope.attributes))[1:] + b"}"
    if len(_scopes) >= _MOST_SCOPES:
        _scopes.clear()
    _scopes[id(scope)] = scope, data
    return data


_Shared: TypeAlias = tuple[bytes, bytes, str, str]
"""What spans of one resource and scope have in common, as in `EncodedSpan`."""


class _Batch:
    """The spans of one line, by resource and scope."""

    def __init__(self) -> None:
        self._groups: dict[_Shared, list[bytes]] = {}
        self.size = len(_LINE_START) + len(_LINE_END)
        self.count = 0

    def growth(self, data: bytes, shared: _Shared) -> int:
        """Say by how much a span would lengthen the line, at most."""
        size = len(data) + 1
        if shared in self._groups:
            return size
        resource, scope, resource_schema, scope_schema = shared
        around = *_around(b"resource", resource, b"scopeSpans", resource_schema), b","
        return size + sum(map(len, (*around, *_around(b"scope", scope, b"spans", scope_schema), b",")))

    def add(self, data: bytes, shared: _Shared, growth: int) -> None:
        """Put a span to those of its resource and scope."""
        self._groups.setdefault(shared, []).append(data)
        self.size += growth
        self.count += 1

    def line(self) -> tuple[bytes, int]:
        """Give the line, and how many spans are in it."""
        resources: dict[tuple[bytes, str], list[tuple[bytes, str, list[bytes]]]] = {}
        for (resource, scope, resource_schema, scope_schema), spans in self._groups.items():
            resources.setdefault((resource, resource_schema), []).append((scope, scope_schema, spans))
        # One join makes one copy of what may be megabytes.
        parts = [_LINE_START]
        for (resource, schema), scopes in resources.items():
            start, end = _around(b"resource", resource, b"scopeSpans", schema)
            parts.append(start)
            for scope, scope_schema, spans in scopes:
                scope_start, scope_end = _around(b"scope", scope, b"spans", scope_schema)
                parts.append(scope_start)
                for span in spans:
                    parts += span, b","
                parts[-1] = scope_end
                parts.append(b",")
            parts[-1] = end
            parts.append(b",")
        parts[-1] = _LINE_END
        return b"".join(parts), self.count


def join_lines(spans: Iterable[EncodedSpan], max_line_bytes: int) -> list[tuple[bytes, int]]:
    """Join spans into lines of an OTLP JSON file, those of one resource and scope together.

    Args:
        spans: Encoded spans, in any order.
        max_line_bytes: How long a line may be; one that holds a single span may be longer.

    Returns:
        Each line, its newline included, and how many spans are in it.
    """
    lines: list[tuple[bytes, int]] = []
    batch = _Batch()
    for span in spans:
        data, shared = span[0], span[1:]
        growth = batch.growth(data, shared)
        if batch.count and batch.size + growth > max_line_bytes:
            lines.append(batch.line())
            batch = _Batch()
            growth = batch.growth(data, shared)
        batch.add(data, shared, growth)
    if batch.count:
        lines.append(batch.line())
    return lines


def _around(name: bytes, shared: bytes, items: bytes, schema: str) -> tuple[bytes, bytes]:
    """Give what stands before and behind the spans of a scope, or the scopes of a resource."""
    end = b'],"schemaUrl":%b}' % text(schema) if schema else b"]}"
    return b'{"%b":%b,"%b":[' % (name, shared, items), end


def _span(span: ReadableSpan) -> bytes:
    # The order counts: what a tree needs stands before the attributes, and the status right behind them.
    context: SpanContext | None = span.get_span_context()
    parent, attributes = span.parent, _attributes_of(span)
    parts = [
        b"{%b%b" % (_ids(context), _trace_state(context) if context is not None and context.trace_state else b""),
        b"" if parent is None else _parent(parent),
        b',"flags":%d,"name":%b,"kind":%d,"startTimeUnixNano":"%d","endTimeUnixNano":"%d"'
        % (
            _flags(parent),
            text(name_of(span.name)),
            _KINDS.get(span.kind, 0),
            _time(span.start_time),
            _time(span.end_time),
        ),
        attribute_list(attributes) if attributes else b"",
    ]
    if count := span.dropped_attributes:
        parts.append(_dropped(b"Attributes", count))
    if events := span.events:
        parts.append(b',"events":[%b]' % b",".join(map(_event, events)))
    if count := span.dropped_events:
        parts.append(_dropped(b"Events", count))
    if links := span.links:
        parts.append(b',"links":[%b]' % b",".join(map(_link, links)))
    if count := span.dropped_links:
        parts.append(_dropped(b"Links", count))
    parts += _status(span.status), b"}"
    return b"".join(parts)


def _attributes_of(span: ReadableSpan) -> Mapping[str, object]:
    """Give a span's attributes as the plain dict that OpenTelemetry keeps them in, where it still does."""
    if type(span).attributes is _OWN_ATTRIBUTES:
        inner: object = getattr(getattr(span, "_attributes", None), "_dict", None)
        if type(inner) is dict:
            return cast("dict[str, object]", inner)
    return span.attributes or {}


def _ids(context: SpanContext | None) -> bytes:
    trace_id, span_id = (0, 0) if context is None else (context.trace_id, context.span_id)
    # What is negative, or has more bits, leaves something.
    if trace_id >> 128 or span_id >> 64:
        raise ValueError("an id does not fit into its bits")
    return b'"traceId":"%032x","spanId":"%016x"' % (trace_id, span_id)


def _parent(parent: SpanContext) -> bytes:
    if parent.span_id >> 64:
        raise ValueError("an id does not fit into its bits")
    return b',"parentSpanId":"%016x"' % parent.span_id


def _trace_state(context: SpanContext) -> bytes:
    return b',"traceState":' + text(",".join(f"{key}={value}" for key, value in context.trace_state.items()))


def _flags(remote: SpanContext | None) -> int:
    return _HAS_IS_REMOTE | _IS_REMOTE if remote is not None and remote.is_remote else _HAS_IS_REMOTE


def _time(time: object) -> int:
    """Give a time that OTLP can hold; some give a span's start as a float, or before 1970."""
    if type(time) is int and 0 <= time <= _MOST_TIME:
        return time
    if isinstance(time, int) or (isinstance(time, float) and math.isfinite(time)):
        return min(max(int(time), 0), _MOST_TIME)
    return 0


def _dropped(what: bytes, count: int) -> bytes:
    return b',"dropped%bCount":%d' % (what, count) if count else b""


def _status(status: Status | None) -> bytes:
    if status is None:
        return b""
    start = _STATUSES[status.status_code]
    if not status.description:
        return start + b"}"
    return b'%b%b"message":%b}' % (start, b"" if start[-1:] == b"{" else b",", text(name_of(status.description)))


def _event(event: Event) -> bytes:
    return b'{"timeUnixNano":"%d","name":%b%b%b}' % (
        _time(event.timestamp),
        text(name_of(event.name)),
        attribute_list(event.attributes),
        _dropped(b"Attributes", event.dropped_attributes),
    )


def _link(link: Link) -> bytes:
    # The official encoder writes no trace state of links either.
    return b'{%b%b%b,"flags":%d}' % (
        _ids(link.context),
        attribute_list(link.attributes),
        _dropped(b"Attributes", link.dropped_attributes),
        _flags(link.context),
    )
