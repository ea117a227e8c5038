"""A span between file and observation: grouped with its logs, decoded only as far as somebody asks."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces import wire
from pixie_otel.traces.dialects.reading import SpanFacts
from pixie_otel.traces.observe import observe
from pixie_otel.traces.salvage import Complain, clean, parse, salvage_attributes, salvage_value
from pixie_otel.traces.spans import ObserveSpan, Scope, SpanEvent

__all__ = ["Origin", "SpanRecord", "log_time"]

_STATUS_ERRORS: Final = frozenset({2, "2", "STATUS_CODE_ERROR", "ERROR", "StatusCode.ERROR"})
_OTEL_KINDS: Final = ("", "internal", "server", "client", "producer", "consumer")


class Origin:
    """What the spans or log records of one scope and resource in one input have in common.

    Args:
        source: The input's name, for messages.
        resource: The resource's JSON.
        scope: The scope's JSON.
        logs: Whether they are log records.
    """

    __slots__ = ("_resource", "_scope", "logs", "resource_json", "scope_json", "source")

    def __init__(self, source: str, resource: bytes, scope: bytes, *, logs: bool = False) -> None:
        self.source = source
        self.resource_json = resource
        self.scope_json = scope
        self.logs = logs
        self._resource: dict[str, JsonValue] | None = None
        self._scope: Scope | None = None

    def order(self) -> tuple[bytes, bytes, str]:
        """Give the key by which one of two origins of the same span is chosen."""
        return (self.resource_json, self.scope_json, self.source)

    def resource(self, complain: Complain) -> dict[str, JsonValue]:
        """Give the resource's attributes, decoded once."""
        if self._resource is None:
            self._resource = _attributes_within(_object(self.resource_json, complain), complain)
        return self._resource

    def scope(self, complain: Complain) -> Scope:
        """Give the scope, decoded once."""
        if self._scope is None:
            found = _object(self.scope_json, complain)
            name, version = found.get("name"), found.get("version")
            self._scope = Scope(
                name=name if isinstance(name, str) else "",
                version=version if isinstance(version, str) else "",
                attributes=_attributes_within(found, complain),
            )
        return self._scope


class SpanRecord:
    """One span of a trace, not yet decoded.

    Args:
        span: The span as it was written.
        origin: Its resource and scope.
        trace_id: The trace's id, brought into one form.
        span_id: The span's id, likewise.
        parent_span_id: The parent's id; ``None`` where it has none.
        complain: Told of values that cannot be decoded.
    """

    __slots__ = (
        "complain",
        "end_time_unix_nano",
        "logs",
        "origin",
        "parent_span_id",
        "span",
        "span_id",
        "start_time_unix_nano",
        "trace_id",
    )

    def __init__(
        self,
        span: wire.WireSpan,
        origin: Origin,
        *,
        trace_id: str,
        span_id: str,
        parent_span_id: str | None,
        complain: Complain,
    ) -> None:
        self.span = span
        self.origin = origin
        self.trace_id = trace_id
        self.span_id = span_id
        self.parent_span_id = parent_span_id
        self.complain = complain
        self.start_time_unix_nano = max(0, wire.integer(span.start_time_unix_nano) or 0)
        self.end_time_unix_nano = max(0, wire.integer(span.end_time_unix_nano) or 0)
        self.logs: list[wire.WireLog] = []

    @property
    def name(self) -> str:
        """The span's name."""
        return self.span.name or ""

    @property
    def dropped_attributes(self) -> int:
        """How many attributes the producer dropped."""
        return wire.integer(self.span.dropped_attributes_count) or 0

    def wire_bytes(self) -> list[bytes]:
        """Give the JSON of attributes, events, logs and status as it stood, for searching without decoding."""
        parts = [bytes(self.span.attributes), bytes(self.span.events)]
        for log in self.logs:
            parts += [bytes(log.body), bytes(log.attributes)]
        if self.span.status is not None and self.span.status.message:
            parts.append(self.span.status.message.encode(errors="replace"))
        return parts

    def observe(self) -> ObserveSpan:
        """Decode the span and read it through its dialects."""
        status = self.span.status
        failed = status is not None and status.code in _STATUS_ERRORS
        return observe(
            SpanFacts(
                trace_id=self.trace_id,
                span_id=self.span_id,
                parent_span_id=self.parent_span_id,
                name=self.name,
                start_time_unix_nano=self.start_time_unix_nano,
                end_time_unix_nano=self.end_time_unix_nano,
                attributes=_attributes(self.span.attributes, self.complain),
                events=self._events(),
                resource=dict(self.origin.resource(self.complain)),
                scope=self.origin.scope(self.complain),
                otel_kind=_otel_kind(self.span.kind),
                status_message=(status.message or "") if status is not None and failed else None,
                dropped_attributes=self.dropped_attributes,
            )
        )

    def _events(self) -> tuple[SpanEvent, ...]:
        raw = bytes(self.span.events)
        if not self.logs and raw in (b"null", b"[]"):
            return ()
        found = [
            SpanEvent(
                name=event.name or "",
                time_unix_nano=wire.integer(event.time_unix_nano) or 0,
                attributes=_attributes(event.attributes, self.complain),
            )
            for event in self._wire_events(raw)
        ]
        found.extend(self._log_event(log) for log in self.logs)
        # Producers of log records often give them all the same time, and then their order counts.
        found.sort(key=lambda event: event.time_unix_nano)
        return tuple(found)

    def _wire_events(self, raw: bytes) -> list[wire.WireEvent]:
        try:
            return wire.decode_events(raw) or []
        except (ValueError, RecursionError):
            pass
        found: list[wire.WireEvent] = []
        for item in _list(raw, self.complain):
            if not isinstance(item, dict):
                self.complain("bad-value", "an event is no object; it is skipped")
                continue
            name, time = item.get("name"), wire.integer(item.get("timeUnixNano"))
            found.append(
                wire.WireEvent(
                    name=name if isinstance(name, str) else "",
                    time_unix_nano=time or 0,
                    attributes=Raw(msgspec.json.encode(item.get("attributes"))),
                )
            )
        return found

    def _log_event(self, log: wire.WireLog) -> SpanEvent:
        attributes = _attributes(log.attributes, self.complain)
        name = log.event_name or attributes.get(keys.EVENT_NAME)
        return SpanEvent(
            name=name if isinstance(name, str) else "",
            time_unix_nano=log_time(log),
            attributes=attributes,
            body=_value(log.body, self.complain),
        )


def log_time(log: wire.WireLog) -> int:
    """Give when a log record was made, or at least seen, in nanoseconds since 1970; 0 where it does not say."""
    return wire.integer(log.time_unix_nano) or wire.integer(log.observed_time_unix_nano) or 0


def _attributes(raw: Raw, complain: Complain) -> dict[str, JsonValue]:
    try:
        return wire.decode_attributes(raw)
    except (ValueError, RecursionError):
        return salvage_attributes(bytes(raw), complain)


def _value(raw: Raw, complain: Complain) -> JsonValue:
    try:
        return wire.decode_value(raw)
    except (ValueError, RecursionError):
        pass
    try:
        return salvage_value(clean(parse(bytes(raw), complain), complain), complain, "body")
    except (ValueError, RecursionError):
        complain("bad-value", "a log record's body cannot be decoded; it is skipped")
        return None


def _object(data: bytes, complain: Complain) -> dict[str, JsonValue]:
    try:
        found = clean(parse(data, complain), complain)
    except (ValueError, RecursionError):
        complain("bad-value", "a resource or scope cannot be decoded; it is skipped")
        return {}
    return found if isinstance(found, dict) else {}


def _list(data: bytes, complain: Complain) -> list[JsonValue]:
    try:
        found = clean(parse(data, complain), complain)
    except (ValueError, RecursionError):
        complain("bad-value", "the events cannot be decoded; they are skipped")
        return []
    if not isinstance(found, list):
        complain("bad-value", "the events are no list; they are skipped")
        return []
    return found


def _attributes_within(found: dict[str, JsonValue], complain: Complain) -> dict[str, JsonValue]:
    return _attributes(Raw(msgspec.json.encode(found.get("attributes"))), complain)


def _otel_kind(kind: int | str | None) -> str:
    if isinstance(kind, str) and not kind.isascii():
        return ""
    number = wire.integer(kind)
    if number is not None:
        return _OTEL_KINDS[number] if 0 <= number < len(_OTEL_KINDS) else ""
    name = str(kind or "").removeprefix("SPAN_KIND_").removeprefix("SpanKind.").lower()
    return name if name in _OTEL_KINDS else ""
