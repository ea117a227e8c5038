"""Putting one trace together: from the places of its records to its trees, with what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter, eq
from typing import Final
from weakref import ReferenceType, ref

from msgspec import Struct

from pixie_otel import attributes as keys
from pixie_otel.errors import InputError
from pixie_otel.traces import wire
from pixie_otel.traces.contexts import Entry
from pixie_otel.traces.ids import SPAN_ID_BYTES, TRACE_ID_BYTES, canonical_id, read_span_id
from pixie_otel.traces.index import Place
from pixie_otel.traces.indexing import Indexer
from pixie_otel.traces.integrity import trace_problems
from pixie_otel.traces.lenient import Complain, shown
from pixie_otel.traces.logs import LogRecord, in_order
from pixie_otel.traces.pending import settle
from pixie_otel.traces.record import SpanRecord, nanoseconds, read_span, span_digest
from pixie_otel.traces.report import Problem, ReadReport
from pixie_otel.traces.stores import SalvageStore
from pixie_otel.traces.trace import Trace
from pixie_otel.traces.tree import ObservationNode, link, nodes
from pixie_otel.traces.twins import Twins

__all__ = ["Assembly"]

_BEFORE_ATTRIBUTES: Final = b',"attributes":['
_START: Final[Callable[[SpanRecord], int]] = attrgetter("start_time_unix_nano")
_END: Final[Callable[[SpanRecord], int]] = attrgetter("end_time_unix_nano")


class _Account:
    """What is wrong with one trace, which may show long after it was put together, when a span is decoded.

    A trace's records hold it, so it holds no record and only a weak reference to the trace: no cycle for each trace.
    """

    def __init__(self, trace_id: str, report: ReadReport) -> None:
        self.trace_id = trace_id
        self.report = report
        self.problems: list[Problem] = []
        self.counts: dict[str, int] = {}
        self.trace: ReferenceType[Trace] | None = None

    def add(self, problem: Problem) -> None:
        """Count a problem, and note it on the trace, made or in the making, while there is room for its kind."""
        self.report.add(problem)
        self.counts[problem.kind] = count = self.counts.get(problem.kind, 0) + 1
        if count > self.report.max_problems_per_kind:
            return
        trace = None if self.trace is None else self.trace()
        if trace is None:
            self.problems.append(problem)
        else:
            trace.add_problem(problem)


class _Complaint(Struct, gc=False, eq=False):
    """Takes what is wrong with one record and says where the record is."""

    account: _Account
    entry: Entry
    offset: int
    span_id: str | None = None
    known_line: int | None = None

    def __call__(self, kind: str, message: str) -> None:
        account = self.account
        # Finding the line reads the input once more, so it is done only for problems that are kept.
        line = self._line() if account.report.keeps(kind) else None
        account.add(Problem(kind, message, self.entry.origin.source, line, account.trace_id, self.span_id))

    def _line(self) -> int | None:
        if self.known_line is not None:
            return self.known_line
        try:
            return self.entry.store.line_of(self.offset)
        except InputError:
            # The input may be gone, too.
            return None


class Assembly:
    """Puts one trace together.

    Args:
        key: The trace's key in the index.
        indexer: What was read.
        report: Told of what is wrong with the trace.
    """

    def __init__(self, key: bytes, indexer: Indexer, report: ReadReport) -> None:
        self._account = _Account(key.hex(), report)
        self._report = report
        self._indexer = indexer
        self._records: list[SpanRecord] = []
        self._twins = Twins()
        self._logs: list[LogRecord] = []

    def trace(self, places: list[Place]) -> Trace | None:
        """Decode the records at some places and make a trace of them; ``None`` where no span is among them."""
        contexts: dict[int, tuple[Entry, int]] = {}
        entry_of = self._indexer.contexts.entry
        for offset, length, context in places:
            known = contexts.get(context)
            if known is None:
                known = contexts[context] = entry_of(context), offset
            entry = known[0]
            data = entry.store.pread(offset, length)
            if entry.origin.logs:
                batch = self._indexer.salvage.batch_of(offset)
                self._logs.append(LogRecord(wire.decode_log(data), data, batch))
            else:
                self._add_span(data, entry, offset)
        if not self._records:
            return None
        account, source = self._account, self._records[0].origin.source
        for problem in self._twins.problems(account.trace_id, source):
            account.add(problem)
        if any(map(eq, map(_START, self._records), map(_END, self._records))):
            # Copies of spans that were made at their start take no time.
            self._settle(source)
        records = self._records
        self._report.spans_used += len(records)
        self._twins.sort(records)
        self._tell_of_origins(contexts.values())
        if self._logs:
            self._attach_logs()
        links = link(records)
        for problem in trace_problems(records, links, trace_id=account.trace_id, source=source):
            account.add(problem)
        # Those without a start come first.
        start = records[0].start_time_unix_nano or next(filter(None, (r.start_time_unix_nano for r in records)), 0)
        roots = nodes([ObservationNode(record) for record in records], links)
        trace = Trace(
            account.trace_id,
            roots,
            problems=account.problems,
            source=source,
            start_time_unix_nano=start,
            scopes=self._indexer.contexts.scope_names(tuple(contexts)),
        )
        account.trace = ref(trace)
        return trace

    def _settle(self, source: str) -> None:
        """Leave out the copies of spans that are there."""
        settled = settle(self._records)
        self._records = settled.kept
        self._report.duplicate_spans += len(settled.left_out)
        for problem in settled.problems(self._account.trace_id, source):
            self._account.add(problem)

    def _add_span(self, data: bytes, entry: Entry, offset: int) -> None:
        complain = _Complaint(self._account, entry, offset)
        head = _head(data) if entry.plain else None
        if head is None:
            if isinstance(entry.store, SalvageStore):
                # What was salvaged lies in a spool that may be gone when the span is decoded.
                complain.known_line = entry.store.line_of(offset)
            record = self._looked_into(data, entry, complain)
            if record is None:
                self._report.bad_spans += 1
                return
        else:
            complain.span_id = head.span_id
            record = SpanRecord(
                data=data,
                origin=entry.origin,
                trace_id=self._account.trace_id,
                span_id=head.span_id,
                parent_span_id=head.parent_span_id or None,
                start_time_unix_nano=head.start_time_unix_nano,
                end_time_unix_nano=head.end_time_unix_nano,
                complain=complain,
            )
        if self._twins.is_known(record):
            self._report.duplicate_spans += 1
        else:
            self._records.append(record)

    def _looked_into(self, data: bytes, entry: Entry, complain: _Complaint) -> SpanRecord | None:
        """Decode a span that is not written as most are; ``None`` where it is none."""
        span = read_span(data, complain)
        if span is None:
            return None
        if span.trace_id != self._account.trace_id:
            self._check_trace_id(span.trace_id, complain)
        span_id = read_span_id(span.span_id) or _made_up_id(span, complain)
        complain.span_id = span_id
        if span_id == span.span_id and isinstance(entry.store, SalvageStore):
            self._check_span_id(span_id, complain)
        return SpanRecord(
            data=data,
            origin=entry.origin,
            trace_id=self._account.trace_id,
            span_id=span_id,
            parent_span_id=read_span_id(span.parent_span_id),
            start_time_unix_nano=nanoseconds(span.start_time_unix_nano, "startTimeUnixNano", complain),
            end_time_unix_nano=nanoseconds(span.end_time_unix_nano, "endTimeUnixNano", complain),
            complain=complain,
            dropped_attributes=wire.integer(span.dropped_attributes_count) or 0,
            decoded=span,
        )

    def _check_trace_id(self, written: str, complain: Complain) -> None:
        """Say, once for the trace, where its id is not written as hex."""
        identity = canonical_id(written, TRACE_ID_BYTES)
        if identity is None:
            if self._account.trace_id != written:
                # An id of another form is a digest in the index; people know it as it was written.
                self._account.trace_id = written
                complain(
                    "odd-id", f"traceId {shown(written)} is no {TRACE_ID_BYTES} bytes in hex or base64; it is kept"
                )
        elif not identity:
            complain("missing-id", "a span has no trace id; it is taken for a trace of its own")
        elif identity != self._account.trace_id:
            complain("duplicate-key", f"a span has a second traceId, {shown(written)}; the first counts")
        elif written.lower() != identity and "encoded-id" not in self._account.counts:
            complain("encoded-id", f"ids are not plain hex: traceId {shown(written)} is read as {identity}")

    def _check_span_id(self, span_id: str, complain: Complain) -> None:
        if canonical_id(span_id, SPAN_ID_BYTES) is None:
            complain("odd-id", f"spanId {shown(span_id)} is no {SPAN_ID_BYTES} bytes in hex or base64; it is kept")

    def _tell_of_origins(self, contexts: Iterable[tuple[Entry, int]]) -> None:
        complaints: dict[tuple[str, str], tuple[Entry, int]] = {}
        for entry, offset in contexts:
            for complaint in entry.origin.complaints:
                complaints.setdefault(complaint, (entry, offset))
        for complaint, (entry, offset) in complaints.items():
            _Complaint(self._account, entry, offset)(*complaint)

    def _attach_logs(self) -> None:
        holders: dict[str, SpanRecord] = {}
        for record in self._records:
            # As in `link`, the one that ended last stands for several spans with one id.
            holder = holders.setdefault(record.span_id, record)
            if record.end_time_unix_nano > holder.end_time_unix_nano:
                holders[record.span_id] = record
        for log in in_order(self._logs):
            owner = holders.get(read_span_id(log.span_id) or "")
            if owner is not None:
                owner.logs.append(log)
                self._report.log_records_used += 1
        for record in self._records:
            self._attach_stray(record)

    def _attach_stray(self, record: SpanRecord) -> None:
        """Find the answer that a span's instrumentation logged when the span was no longer the current one.

        OpenLLMetry does so for streams. Only a record that is alone within the span's time is taken for it.
        """
        names = {log.event_name for log in record.logs}
        if not names or keys.GENAI_EVENT_CHOICE in names:
            return
        stray = self._indexer.strays.alone_within(record.start_time_unix_nano, record.end_time_unix_nano)
        if stray is not None and stray.event_name == keys.GENAI_EVENT_CHOICE:
            record.logs.append(wire.decode_log(self._indexer.salvage.pread(stray.offset, stray.length)))
            self._report.log_records_used += 1


def _head(data: bytes) -> wire.WireHead | None:
    """Decode what stands before the attributes of a plain span; ``None`` where the input is no longer what it was."""
    try:
        return wire.decode_head(data[: data.find(_BEFORE_ATTRIBUTES)] + b"}")
    except ValueError:
        return None


def _made_up_id(span: wire.WireSpan, complain: Complain) -> str:
    complain("missing-id", "a span has no id; no other span can be below it")
    return span_digest(span)[:SPAN_ID_BYTES].hex()
