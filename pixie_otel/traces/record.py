"""A span between file and observation: grouped with its logs, decoded only as far as somebody asks."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw, Struct

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue, canonical_json
from pixie_otel.traces import wire
from pixie_otel.traces.dialects.reading import SpanFacts
from pixie_otel.traces.ids import read_span_id
from pixie_otel.traces.lenient import Complain, shown, silence
from pixie_otel.traces.observe import observe
from pixie_otel.traces.salvage import salvage_attributes, salvage_events, salvage_object, salvage_span, salvage_value
from pixie_otel.traces.spans import ObserveSpan, Scope, SpanEvent

__all__ = ["Origin", "SpanRecord", "log_time", "nanoseconds", "read_span", "span_digest"]

_UNSET: Final = 0
_ERROR: Final = 2
_STATUS_CODES: Final = {"": _UNSET, "UNSET": _UNSET, "OK": 1, "ERROR": _ERROR}
_REMOTE: Final = 0x300
"""The bits of a span's flags that say that it is known where the parent is, and that it is elsewhere."""
_OTEL_KINDS: Final = ("", "internal", "server", "client", "producer", "consumer")
_OTEL_KIND_NUMBERS: Final = {"UNSPECIFIED": 0, **{kind.upper(): number for number, kind in enumerate(_OTEL_KINDS)}}


class Origin:
    """What the spans or log records of one scope and resource in one input have in common.

    Args:
        source: The input's name, for messages.
        resource: The resource's JSON.
        scope: The scope's JSON.
        logs: Whether they are log records.
    """

    __slots__ = ("_decoded", "logs", "resource_json", "scope_json", "source")

    def __init__(self, source: str, resource: bytes, scope: bytes, *, logs: bool = False) -> None:
        self.source = source
        self.resource_json = resource
        self.scope_json = scope
        self.logs = logs
        self._decoded: _Decoded | None = None

    def order(self) -> tuple[bytes, bytes, str]:
        """Give the key by which one of two origins of the same span is chosen."""
        return (self.resource_json, self.scope_json, self.source)

    @property
    def resource(self) -> dict[str, JsonValue]:
        """The resource's attributes."""
        return self._decode().resource

    @property
    def scope(self) -> Scope:
        """The instrumentation scope."""
        return self._decode().scope

    @property
    def complaints(self) -> list[tuple[str, str]]:
        """What is wrong with the two, by kind and message."""
        return self._decode().complaints

    def _decode(self) -> _Decoded:
        if self._decoded is None:
            complaints: list[tuple[str, str]] = []

            def complain(kind: str, message: str) -> None:
                complaints.append((kind, message))

            resource = salvage_object(self.resource_json, complain, "resource")
            scope = salvage_object(self.scope_json, complain, "scope")
            name, version = scope.get("name"), scope.get("version")
            self._decoded = _Decoded(
                _attributes_within(resource, complain),
                Scope(
                    name=name if isinstance(name, str) else "",
                    version=version if isinstance(version, str) else "",
                    attributes=_attributes_within(scope, complain),
                ),
                complaints,
            )
        return self._decoded


class _Decoded(NamedTuple):
    resource: dict[str, JsonValue]
    scope: Scope
    complaints: list[tuple[str, str]]


class SpanRecord(Struct, gc=False, eq=False, kw_only=True):
    """One span of a trace, decoded no further than asked.

    Attributes:
        data: Its JSON.
        origin: Its resource and scope.
        trace_id: The trace's id, brought into one form.
        span_id: The span's id, likewise.
        parent_span_id: The parent's id; ``None`` where it has none.
        start_time_unix_nano: Start, in nanoseconds since 1970; 0 where not recorded.
        end_time_unix_nano: End, likewise.
        complain: Told of values that cannot be decoded.
        dropped_attributes: How many attributes the producer dropped.
        decoded: The span as it was written, where that had to be looked into.
        logs: The log records that belong to it, by time.
    """

    data: bytes
    origin: Origin
    trace_id: str
    span_id: str
    parent_span_id: str | None
    start_time_unix_nano: int
    end_time_unix_nano: int
    complain: Complain
    dropped_attributes: int = 0
    decoded: wire.WireSpan | None = None
    logs: list[wire.WireLog] = []

    @property
    def span(self) -> wire.WireSpan:
        """The span as it was written."""
        if self.decoded is None:
            self.decoded = read_span(self.data, self.complain) or wire.WireSpan(self.trace_id)
            if self.decoded.trace_id != self.trace_id:
                written = shown(self.decoded.trace_id)
                self.complain("duplicate-key", f"a span has a second traceId, {written}; the first counts")
        return self.decoded

    @property
    def name(self) -> str:
        """The span's name."""
        return self.span.name or ""

    @property
    def has_remote_parent(self) -> bool:
        """Whether its parent is said to be in another process."""
        written = bytes(self.span.flags).decode(errors="replace").strip('"')
        return (wire.integer(written) or 0) & _REMOTE == _REMOTE

    def wire_bytes(self) -> list[bytes]:
        """Give the JSON of the span and of its logs as it stood, for searching without decoding."""
        return [self.data, *(bytes(part) for log in self.logs for part in (log.body, log.attributes))]

    def observe(self) -> ObserveSpan:
        """Decode the span and read it through its dialects; what is wrong with it is told the first time only."""
        whole = self._whole()
        if whole is not None:
            complain, self.complain = self.complain, silence
            return self._observed(*whole, complain)
        span = self.span
        complain, self.complain = self.complain, silence
        return self._observed(span, _attributes(span.attributes, complain), complain)

    def _whole(self) -> tuple[wire.WholeSpan, dict[str, JsonValue]] | None:
        """Decode span and attributes at once; ``None`` where that takes more care."""
        if self.decoded is not None:
            return None
        try:
            span = wire.decode_whole_span(self.data)
            return (span, wire.plain_values(span.attributes)) if span.trace_id == self.trace_id else None
        except (ValueError, RecursionError):
            return None

    def _observed(
        self, span: wire.WholeSpan | wire.WireSpan, attributes: dict[str, JsonValue], complain: Complain
    ) -> ObserveSpan:
        status = span.status
        failed = _status_code(status, complain) == _ERROR
        return observe(
            SpanFacts(
                trace_id=self.trace_id,
                span_id=self.span_id,
                parent_span_id=self.parent_span_id,
                name=span.name or "",
                start_time_unix_nano=self.start_time_unix_nano,
                end_time_unix_nano=self.end_time_unix_nano,
                attributes=attributes,
                events=self._events(span.events, complain),
                resource=dict(self.origin.resource),
                scope=self.origin.scope,
                otel_kind=_otel_kind(span.kind, complain),
                status_message=(status.message or "") if status is not None and failed else None,
                dropped_attributes=wire.integer(span.dropped_attributes_count) or 0,
            )
        )

    def _events(self, raw: Raw, complain: Complain) -> tuple[SpanEvent, ...]:
        found = _span_events(raw, complain)
        if not self.logs and len(found) < 2:
            return tuple(found)
        found.extend(_log_event(log, complain) for log in self.logs)
        # Producers of log records often give them all the same time, and then their order counts.
        found.sort(key=lambda event: event.time_unix_nano)
        return tuple(found)


def read_span(data: bytes, complain: Complain) -> wire.WireSpan | None:
    """Decode a span, its attributes and events left for later; ``None`` where it is no JSON object.

    Args:
        data: Its JSON.
        complain: Told of what had to be given up.
    """
    try:
        return wire.decode_span(data)
    except (ValueError, RecursionError):
        return salvage_span(data, complain)


def _span_events(raw: Raw, complain: Complain) -> list[SpanEvent]:
    """Decode a span's events, in the order in which they stand.

    Args:
        raw: Their JSON.
        complain: Told of values that cannot be decoded.
    """
    if bytes(raw) in {b"null", b"[]"}:
        return []
    try:
        events = wire.decode_events(raw) or []
    except (ValueError, RecursionError):
        events = salvage_events(bytes(raw), complain)
    return [
        SpanEvent(
            name=event.name or "",
            time_unix_nano=nanoseconds(event.time_unix_nano, "an event's timeUnixNano", complain),
            attributes=_attributes(event.attributes, complain),
        )
        for event in events
    ]


def span_digest(span: wire.WireSpan) -> bytes:
    """Give 16 bytes that are the same for every way of writing the same span, trace, resource and scope left aside.

    Args:
        span: The span.
    """
    status = span.status
    facts: list[JsonValue] = [
        read_span_id(span.span_id),
        read_span_id(span.parent_span_id),
        span.name or "",
        _otel_kind(span.kind, silence),
        nanoseconds(span.start_time_unix_nano, "", silence),
        nanoseconds(span.end_time_unix_nano, "", silence),
        _status_code(status, silence),
        "" if status is None else status.message or "",
        _attributes(span.attributes, silence),
        [[event.name, event.time_unix_nano, event.attributes] for event in _span_events(span.events, silence)],
        wire.integer(span.dropped_attributes_count) or 0,
    ]
    return hashlib.blake2b(canonical_json(facts).encode(), digest_size=16).digest()


def _log_event(log: wire.WireLog, complain: Complain) -> SpanEvent:
    attributes = _attributes(log.attributes, complain)
    name = log.event_name or attributes.get(keys.EVENT_NAME)
    try:
        body = wire.decode_value(log.body)
    except (ValueError, RecursionError):
        body = salvage_value(bytes(log.body), complain, "a log record's body")
    return SpanEvent(
        name=name if isinstance(name, str) else "", time_unix_nano=log_time(log), attributes=attributes, body=body
    )


def log_time(log: wire.WireLog) -> int:
    """Give when a log record was made, or at least seen, in nanoseconds since 1970; 0 where it does not say."""
    return wire.integer(log.time_unix_nano) or wire.integer(log.observed_time_unix_nano) or 0


def _attributes(raw: Raw, complain: Complain) -> dict[str, JsonValue]:
    try:
        return wire.decode_attributes(raw)
    except (ValueError, RecursionError):
        return salvage_attributes(bytes(raw), complain)


def _attributes_within(found: dict[str, JsonValue], complain: Complain) -> dict[str, JsonValue]:
    return _attributes(Raw(msgspec.json.encode(found.get("attributes"))), complain)


def nanoseconds(value: str | int | None, what: str, complain: Complain) -> int:
    """Give a time as a number; 0 where it is missing or no time.

    Args:
        value: What was written.
        what: What it is, for messages.
        complain: Told where it is no time.
    """
    number = wire.integer(value)
    if number is not None and number >= 0:
        return number
    if value:
        complain("bad-value", f"{what} is {shown(value)}, no time in nanoseconds since 1970; it is read as unknown")
    return 0


def _otel_kind(kind: int | str | None, complain: Complain) -> str:
    number = kind if type(kind) is int else wire.integer(kind)
    if number is None:
        name = str(kind or "").upper().removeprefix("SPAN_KIND_").removeprefix("SPANKIND.")
        number = _OTEL_KIND_NUMBERS.get(name)
    if number is None or not 0 <= number < len(_OTEL_KINDS):
        complain("bad-value", f"kind is {shown(kind)}, none of OpenTelemetry's span kinds; it is left out")
        return ""
    return _OTEL_KINDS[number]


def _status_code(status: wire.WireStatus | None, complain: Complain) -> int:
    code = _UNSET if status is None else status.code
    number = code if type(code) is int else wire.integer(code)
    if number is None:
        name = str(code or "").upper().removeprefix("STATUS_CODE_").removeprefix("STATUSCODE.")
        number = _STATUS_CODES.get(name)
    if number is None or not _UNSET <= number <= _ERROR:
        complain("bad-value", f"status.code is {shown(code)}, none of OpenTelemetry's; it is read as unset")
        return _UNSET
    return number
