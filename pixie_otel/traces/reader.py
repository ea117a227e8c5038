"""Reading traces: from paths to `Trace` values, with an account of everything that was read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any
from weakref import ReferenceType, ref

from pixie_otel import attributes as keys
from pixie_otel.errors import InputError
from pixie_otel.traces import wire
from pixie_otel.traces.contexts import Entry
from pixie_otel.traces.doubles import RecentTraces
from pixie_otel.traces.files import find_sources, open_source
from pixie_otel.traces.ids import SPAN_ID_BYTES, TRACE_ID_BYTES, canonical_id, read_span_id
from pixie_otel.traces.index import Place
from pixie_otel.traces.indexing import Indexer
from pixie_otel.traces.integrity import trace_problems
from pixie_otel.traces.lenient import Complain, shown
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.logs import LogRecord, in_order
from pixie_otel.traces.record import Origin, SpanRecord, span_digest
from pixie_otel.traces.report import Problem, ReadReport
from pixie_otel.traces.salvage import salvage_span
from pixie_otel.traces.stored import Spool
from pixie_otel.traces.trace import Trace
from pixie_otel.traces.tree import ObservationNode, link, nodes, order

__all__ = ["TraceReader", "read_traces"]


def read_traces(*paths: str | os.PathLike[str]) -> Iterator[Trace]:
    """Read the traces of files.

    Args:
        paths: Files, folders, globs, or ``-`` for standard input; JSON or JSON lines, plain, gzip or zstd.

    Yields:
        The traces by start time, then by id. To know what was wrong with the input, use `TraceReader`.

    Raises:
        InputError: A path leads to nothing that can be read.
    """
    return iter(TraceReader(*paths))


class TraceReader:
    """Reads the traces of files, and accounts for everything in them.

    Spans of one trace may lie anywhere in any of the files. Memory holds an index of 36 bytes a span, and one trace at
    a time as long as the caller keeps no other.

    Args:
        paths: Files, folders, globs, or ``-`` for standard input.
        limits: Bounds of reading.
        strict: Whether the first thing that is wrong ends the reading with an `InputError`.

    Attributes:
        sources: The inputs behind the paths.
        report: The account, complete when the iteration has ended.

    Raises:
        InputError: A path leads to nothing that can be read.
    """

    def __init__(self, *paths: str | os.PathLike[str], limits: ReadLimits | None = None, strict: bool = False) -> None:
        self.sources = find_sources(paths)
        self._limits = limits or ReadLimits()
        self._strict = strict
        self.report = ReadReport(strict=strict)

    def report_json(self) -> dict[str, Any]:
        """Give the account as it is now, as a JSON object."""
        return dict(self.report.to_json())

    def __iter__(self) -> Iterator[Trace]:
        """Read everything and give the traces by start time, then by id.

        Raises:
            InputError: An input cannot be opened; or anything is wrong and the reading is strict.
        """
        self.report = ReadReport(strict=self._strict)
        with ExitStack() as stack:
            unpacked = stack.enter_context(Spool(self._limits.spool_bytes))
            salvaged = stack.enter_context(Spool(self._limits.spool_bytes))
            indexer = Indexer(self._limits, self.report, salvaged)
            stack.callback(indexer.index.close)
            for source in self.sources:
                with open_source(source, limits=self._limits, report=self.report, spool=unpacked) as opened:
                    indexer.read(opened)
            indexer.strays.sort()
            recent = RecentTraces()
            for key, places in indexer.index.traces():
                trace = _Assembly(key, indexer, self.report).trace(places)
                if trace is not None:
                    if self._strict:
                        # What is wrong within a span shows when it is decoded.
                        _ = trace.spans
                    recent.add(trace)
                    yield trace


class _Complaint:
    """Takes what is wrong with one record and says where the record is."""

    __slots__ = ("_assembly", "_entry", "_offset")

    def __init__(self, assembly: _Assembly, entry: Entry, offset: int) -> None:
        self._assembly = assembly
        self._entry = entry
        self._offset = offset

    def __call__(self, kind: str, message: str) -> None:
        # Finding the line reads the input once more, so it is done only for problems that are kept.
        line = _line_of(self._entry, self._offset) if self._assembly.report.keeps(kind) else None
        self._assembly.add_problem(Problem(kind, message, self._entry.origin.source, line, self._assembly.trace_id))


class _Assembly:
    """Puts one trace together."""

    def __init__(self, key: bytes, indexer: Indexer, report: ReadReport) -> None:
        self.trace_id = key.hex()
        self.report = report
        self._indexer = indexer
        self._problems: list[Problem] = []
        self._problem_counts: Counter[str] = Counter()
        # The trace holds the records and they hold this, so that a reference here would be a cycle for each trace.
        self._trace: ReferenceType[Trace] | None = None
        self._records: list[SpanRecord] = []
        self._first: dict[str, SpanRecord] = {}
        self._twins: dict[str, dict[bytes, SpanRecord]] = {}
        self._logs: list[LogRecord] = []
        self._duplicates = 0

    def add_problem(self, problem: Problem) -> None:
        """Count a problem, and note it on the trace, made or in the making, while there is room for its kind."""
        self.report.add(problem)
        self._problem_counts[problem.kind] += 1
        if self._problem_counts[problem.kind] > self.report.max_problems_per_kind:
            return
        trace = None if self._trace is None else self._trace()
        if trace is None:
            self._problems.append(problem)
        else:
            trace.add_problem(problem)

    def trace(self, places: list[Place]) -> Trace | None:
        """Decode the records at some places and make a trace of them; ``None`` where no span is among them."""
        contexts: dict[int, tuple[Entry, int]] = {}
        for place in places:
            entry = self._indexer.contexts.entry(place.context)
            contexts.setdefault(place.context, (entry, place.offset))
            data = entry.store.pread(place.offset, place.length)
            if entry.origin.logs:
                batch = entry.origin.source, entry.store.line_of(place.offset)
                self._logs.append(LogRecord(wire.decode_log(data), data, batch))
            else:
                self._add_span(data, entry, place.offset)
        records = self._records
        if not records:
            return None
        self.report.spans_used += len(records)
        source = records[0].origin.source
        self._say_twins(source)
        self._sort()
        self._tell_of_origins(contexts.values())
        if self._logs:
            self._attach_logs()
        links = link(records)
        for problem in trace_problems(records, links, trace_id=self.trace_id, source=source):
            self.add_problem(problem)
        start = min((record.start_time_unix_nano for record in records if record.start_time_unix_nano), default=0)
        roots = nodes([ObservationNode(record) for record in records], links)
        trace = Trace(self.trace_id, roots, problems=self._problems, source=source, start_time_unix_nano=start)
        self._trace = ref(trace)
        return trace

    def _add_span(self, data: bytes, entry: Entry, offset: int) -> None:
        complain = _Complaint(self, entry, offset)
        try:
            span = wire.decode_span(data)
        except (ValueError, RecursionError):
            salvaged = salvage_span(data, complain)
            if salvaged is None:
                self.report.bad_spans += 1
                return
            span = salvaged
        if span.trace_id != self.trace_id:
            self._check_trace_id(span.trace_id, complain)
        record = SpanRecord(
            span,
            entry.origin,
            trace_id=self.trace_id,
            span_id=read_span_id(span.span_id) or _made_up_id(span, complain),
            parent_span_id=read_span_id(span.parent_span_id),
            complain=complain,
        )
        first = self._first.setdefault(record.span_id, record)
        if first is record or not self._is_known(record, first):
            self._records.append(record)

    def _check_trace_id(self, written: str, complain: Complain) -> None:
        """Say, once for the trace, where its id is not written as hex."""
        identity = canonical_id(written, TRACE_ID_BYTES)
        if identity is None:
            if not self._problem_counts["odd-id"]:
                # An id of another form is a digest in the index; people know it as it was written.
                self.trace_id = written
                complain("odd-id", f"traceId {shown(written)} is neither 16 bytes in hex nor in base64; it is kept")
        elif not identity:
            complain("missing-id", "a span has no trace id; it is taken for a trace of its own")
        elif identity != self.trace_id:
            complain("duplicate-key", f"a span has a second traceId, {shown(written)}; the first counts")
        elif written.lower() != identity and not self._problem_counts["encoded-id"]:
            complain("encoded-id", f"ids are not plain hex: traceId {shown(written)} is read as {identity}")

    def _is_known(self, record: SpanRecord, first: SpanRecord) -> bool:
        """Say whether a span whose id is there already is the same span once more."""
        twins = self._twins.get(record.span_id)
        if twins is None:
            twins = self._twins[record.span_id] = {span_digest(first.span): first}
        known = twins.setdefault(span_digest(record.span), record)
        if known is record:
            return False
        # Whichever was read first, the same one of the two origins is kept.
        known.origin = min(known.origin, record.origin, key=Origin.order)
        self._duplicates += 1
        self.report.duplicate_spans += 1
        return True

    def _say_twins(self, source: str) -> None:
        if self._duplicates:
            message = f"{self._duplicates} spans stand in the input more than once; each counts once"
            self.add_problem(Problem("duplicate-span", message, source, trace_id=self.trace_id))
        for span_id, twins in sorted(self._twins.items()):
            if len(twins) > 1:
                message = f"span id {shown(span_id)} is used by {len(twins)} different spans; all are kept"
                problem = Problem("conflicting-span", message, source, trace_id=self.trace_id, span_id=span_id)
                self.add_problem(problem)

    def _sort(self) -> None:
        # `order` cannot tell different spans with the same id and the same times apart.
        digests = {id(twin): digest for twins in self._twins.values() for digest, twin in twins.items()}
        if digests:
            self._records.sort(key=lambda record: digests.get(id(record), b""))
        self._records.sort(key=order)

    def _tell_of_origins(self, contexts: Iterable[tuple[Entry, int]]) -> None:
        told: set[tuple[str, str]] = set()
        for entry, offset in contexts:
            for complaint in entry.origin.complaints:
                if complaint not in told:
                    told.add(complaint)
                    _Complaint(self, entry, offset)(*complaint)

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
                self.report.log_records_used += 1
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
            self.report.log_records_used += 1


def _line_of(entry: Entry, offset: int) -> int | None:
    try:
        return entry.store.line_of(offset)
    except InputError:
        # A span that is decoded after the reading has ended may find its input gone.
        return None


def _made_up_id(span: wire.WireSpan, complain: Complain) -> str:
    complain("missing-id", "a span has no id; no other span can be below it")
    return span_digest(span)[:SPAN_ID_BYTES].hex()
