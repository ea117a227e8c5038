"""Traces from files of any form to lines of clean OTLP JSON: all of them, those that fit, or parts of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from pixie_otel.errors import ObservationError
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces import wire
from pixie_otel.traces.cleaning import clean_log, clean_object, clean_span, is_clean
from pixie_otel.traces.filters import TraceFilter
from pixie_otel.traces.ids import read_span_id
from pixie_otel.traces.index import Place
from pixie_otel.traces.indexing import Indexer
from pixie_otel.traces.logs import LogRecord, in_order
from pixie_otel.traces.masking import masked_log, masked_object, masked_span
from pixie_otel.traces.reader import TraceReader
from pixie_otel.traces.record import Origin, SpanRecord, log_time, span_digest
from pixie_otel.traces.selectors import Selector
from pixie_otel.traces.trace import Trace
from pixie_otel.traces.tree import ObservationNode

__all__ = ["Conversion", "Converted", "RecordReader"]

_LINE_BYTES: Final = 8 * 1024 * 1024
"""A trace's records go on as few lines as hold about so many bytes each."""

_Record: TypeAlias = tuple[Origin, bytes]
_encode: Final = msgspec.json.encode


class RecordReader(TraceReader):
    """A reader that also gives the log records of a trace as they were written."""

    _logs: dict[str, list[tuple[Origin, bytes]]]

    def __iter__(self) -> Iterator[Trace]:
        """Read as `TraceReader` does."""
        self._logs = {}
        return super().__iter__()

    def _note_places(self, trace: Trace, places: list[Place], indexer: Indexer) -> None:
        found: list[tuple[Origin, LogRecord]] = []
        for offset, length, context in places:
            entry = indexer.contexts.entry(context)
            if entry.origin.logs:
                data = entry.store.pread(offset, length)
                log = LogRecord(wire.decode_log(data), data, indexer.salvage.batch_of(offset))
                found.append((entry.origin, log))
        if found:
            by_log = {id(record.log): (origin, record.data) for origin, record in found}
            self._logs[trace.trace_id] = [by_log[id(log)] for log in in_order(record for _, record in found)]

    def logs_of(self, trace: Trace) -> list[tuple[Origin, bytes]]:
        """Give the log records of a trace that was read last, in order, each once; they are forgotten then.

        Args:
            trace: The trace.
        """
        return self._logs.pop(trace.trace_id, [])


@dataclass(frozen=True, slots=True)
class Converted:
    """A trace as it is to be written.

    Attributes:
        trace_id: Its id.
        lines: Its lines, without their ends.
        spans: How many spans are in them.
        log_records: How many log records are.
    """

    trace_id: str
    lines: list[bytes]
    spans: int
    log_records: int


@dataclass(slots=True)
class Conversion:
    """Makes lines of the traces of some inputs.

    Attributes:
        reader: Reads the traces.
        filter: Which traces to take.
        selector: Of these, which spans to take with all that is below them; all spans, where there is none.
        drops_content: Whether what people and models said is left out.
        limit: How many traces at most, the earliest first.
        read: How many traces were read so far.
        unselected: How many of them fit and hold nothing that the selector picks.
    """

    reader: RecordReader
    filter: TraceFilter
    selector: Selector | None = None
    drops_content: bool = False
    limit: int | None = None
    read: int = 0
    unselected: int = 0

    def __iter__(self) -> Iterator[Converted]:
        """Give the traces by start time."""
        taken = 0
        for trace in self.reader:
            self.read += 1
            logs = self.reader.logs_of(trace)
            if not self.filter.matches(trace):
                continue
            tops = trace.roots if self.selector is None else _picked(trace, self.selector)
            if not tops:
                self.unselected += 1
                continue
            yield self._converted(trace, tops, logs)
            taken += 1
            if taken == self.limit:
                return

    def _converted(self, trace: Trace, tops: list[ObservationNode], logs: list[_Record]) -> Converted:
        records = _records(tops)
        cut = {id(top.source) for top in tops} if self.selector is not None else frozenset[int]()
        spans = [(record.origin, self._span(record, is_top=id(record) in cut)) for record in records]
        kept = {record.span_id for record in records}
        if self.selector is not None:
            logs = [(origin, data) for origin, data in logs if read_span_id(wire.decode_log(data).span_id) in kept]
        logs = sorted([*logs, *_strays(records)], key=_times)
        written = [(origin, self._log(data)) for origin, data in logs]
        lines = [*self._lines(spans, "resourceSpans", "scopeSpans", "spans")]
        lines += self._lines(written, "resourceLogs", "scopeLogs", "logRecords")
        return Converted(trace.trace_id, lines, len(spans), len(written))

    def _span(self, record: SpanRecord, *, is_top: bool) -> bytes:
        is_cut = is_top and record.parent_span_id is not None
        if not self.drops_content and not is_cut and is_clean(record):
            return record.data
        span = clean_span(record)
        if is_cut:
            # What was above is not there, and would be missed.
            span.pop("parentSpanId", None)
        return _encode(masked_span(span) if self.drops_content else span)

    def _log(self, data: bytes) -> bytes:
        log = clean_log(data)
        return _encode(masked_log(log) if self.drops_content else log)

    def _lines(self, records: Iterable[_Record], resources: str, scopes: str, key: str) -> Iterator[bytes]:
        held: list[_Record] = []
        size = 0
        for record in records:
            if held and size + len(record[1]) > _LINE_BYTES:
                yield self._line(held, resources, scopes, key)
                held, size = [], 0
            held.append(record)
            size += len(record[1])
        if held:
            yield self._line(held, resources, scopes, key)

    def _line(self, records: list[_Record], resources: str, scopes: str, key: str) -> bytes:
        """Put records below their scopes and resources, which stand once for all in a row."""
        entries: list[dict[str, object]] = []
        of_resource: list[dict[str, object]] = []
        of_scope: list[msgspec.Raw] = []
        above: Origin | None = None
        for origin, data in _grouped(records) if key == "spans" else records:
            if above is None or above.resource_json != origin.resource_json:
                of_resource = []
                entries.append({"resource": self._shared(origin.resource_json), scopes: of_resource})
                above = None
            if above is None or above.scope_json != origin.scope_json:
                of_scope = []
                scope = self._shared(origin.scope_json)
                entry: dict[str, object] = {"scope": scope} if scope else {}
                of_resource.append(entry | {key: of_scope})
            above = origin
            of_scope.append(msgspec.Raw(data))
        return _encode({resources: entries})

    def _shared(self, data: bytes) -> dict[str, JsonValue]:
        found = clean_object(data)
        return masked_object(found) if self.drops_content else found


def _strays(records: Iterable[SpanRecord]) -> Iterator[_Record]:
    """Give the log records that were found to belong to a span without saying so, and now say so."""
    for record in records:
        for log in record.logs:
            if not log.trace_id:
                ids = {"traceId": record.trace_id, "spanId": record.span_id}
                # It comes behind those of the same moment that say so, and stays there.
                seen = max(
                    wire.integer(other.observed_time_unix_nano) or 0 for other in _of_time(record.logs, log_time(log))
                )
                fields: dict[str, object] = msgspec.json.decode(_encode(log))
                yield record.origin, _encode(fields | ids | {"observedTimeUnixNano": str(seen)})


def _of_time(logs: Iterable[wire.WireLog], time: int) -> Iterator[wire.WireLog]:
    return (log for log in logs if log_time(log) == time)


def _times(record: _Record) -> tuple[int, int]:
    log = wire.decode_log(record[1])
    return log_time(log), wire.integer(log.observed_time_unix_nano) or 0


def _grouped(records: list[_Record]) -> list[_Record]:
    """Bring spans of one resource and scope together, in the order in which these come first."""
    resources: dict[bytes, dict[bytes, list[_Record]]] = {}
    for record in records:
        origin = record[0]
        resources.setdefault(origin.resource_json, {}).setdefault(origin.scope_json, []).append(record)
    return [record for scopes in resources.values() for group in scopes.values() for record in group]


def _picked(trace: Trace, selector: Selector) -> list[ObservationNode]:
    """Give the topmost nodes that a selector picks."""
    try:
        ids = {picked.span.span_id for picked in selector.pick(trace)}
    except ObservationError:
        return []
    found: list[ObservationNode] = []
    pending = list(reversed(trace.roots))
    while pending:
        node = pending.pop()
        if node.span.span_id in ids:
            found.append(node)
        else:
            pending.extend(reversed(node.children))
    return found


def _record(node: ObservationNode) -> SpanRecord:
    source = node.source
    if not isinstance(source, SpanRecord):
        # Leaving it out would lose a span without a word.
        raise TypeError(f"span {node.span.span_id} of a file is read from a {type(source).__name__}")
    return source


def _records(tops: Iterable[ObservationNode]) -> list[SpanRecord]:
    """Give the records of nodes and of all below them, in order of start."""
    records = [_record(node) for top in tops for node in top.walk()]
    known = Counter(record.span_id for record in records)
    # Different spans of one id come in an order that does not depend on how they are written.
    digests = {id(record): span_digest(record.span) for record in records if known[record.span_id] > 1}
    records.sort(key=lambda record: digests.get(id(record), b""))
    return sorted(records, key=lambda record: (record.start_time_unix_nano, record.span_id))
