"""Reading traces: from paths to `Trace` values, with an account of everything that was read."""

from __future__ import annotations

import hashlib
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Final
from weakref import ReferenceType, ref

from pixie_otel import attributes as keys
from pixie_otel.evaluable import canonical_json
from pixie_otel.traces import wire
from pixie_otel.traces.doubles import RecentTraces
from pixie_otel.traces.files import find_sources, open_source
from pixie_otel.traces.index import Place
from pixie_otel.traces.indexing import Entry, Indexer
from pixie_otel.traces.integrity import trace_problems
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.record import Origin, SpanRecord, log_time
from pixie_otel.traces.report import Problem, ReadReport
from pixie_otel.traces.salvage import canonical_id, clean, parse, salvage_span, silence
from pixie_otel.traces.stored import Spool
from pixie_otel.traces.trace import Trace
from pixie_otel.traces.tree import ObservationNode, link, nodes, order

__all__ = ["TraceReader", "read_traces"]

_SPAN_ID: Final = re.compile(r"[0-9a-f]*[1-9a-f][0-9a-f]*")
_SPAN_ID_LENGTH: Final = 16


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
            indexer.strays.sort(key=lambda item: item[0])
            recent = RecentTraces()
            for key, places in indexer.index.traces():
                trace = _Assembly(key, indexer.entries, indexer.strays, self.report).trace(places)
                if trace is not None:
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
        line = self._entry.store.line_of(self._offset) if self._assembly.report.keeps(kind) else None
        self._assembly.add_problem(Problem(kind, message, self._entry.origin.source, line, self._assembly.trace_id))


class _Assembly:
    """Puts one trace together."""

    def __init__(
        self, key: bytes, entries: list[Entry], strays: list[tuple[int, wire.WireLog]], report: ReadReport
    ) -> None:
        self.trace_id = key.hex()
        self._strays = strays
        self.report = report
        self._entries = entries
        self._problems: list[Problem] = []
        # The trace holds the records and they hold this, so that a reference here would be a cycle for each trace.
        self._trace: ReferenceType[Trace] | None = None
        self._records: list[SpanRecord] = []
        self._seen: dict[str, list[tuple[SpanRecord, bytes]]] = {}
        self._logs: list[tuple[int, wire.WireLog]] = []
        self._duplicates = 0

    def add_problem(self, problem: Problem) -> None:
        """Count a problem, and note it on the trace, made or in the making."""
        self.report.add(problem)
        trace = None if self._trace is None else self._trace()
        if trace is None:
            self._problems.append(problem)
        else:
            trace.add_problem(problem)

    def trace(self, places: list[Place]) -> Trace | None:
        """Decode the records at some places and make a trace of them; ``None`` where no span is among them."""
        for place in places:
            entry = self._entries[place.context]
            data = entry.store.pread(place.offset, place.length)
            if entry.origin.logs:
                log = wire.decode_log(data)
                self._logs.append((log_time(log), log))
            else:
                self._add_span(data, entry, place.offset)
        records = self._records
        if not records:
            return None
        self.report.spans_used += len(records)
        source = records[0].origin.source
        self._say_twins(source)
        records.sort(key=order)
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
                return
            span = salvaged
        if span.trace_id != self.trace_id and canonical_id(span.trace_id, 16) is None:
            # An id of another form is a digest in the index; people know it as it was written.
            self.trace_id = span.trace_id
        record = SpanRecord(
            span,
            entry.origin,
            trace_id=self.trace_id,
            span_id=_span_id(span.span_id) or _made_up_id(data, complain),
            parent_span_id=_span_id(span.parent_span_id),
            complain=complain,
        )
        twins = self._seen.get(record.span_id)
        if twins is None:
            self._seen[record.span_id] = [(record, data)]
        elif self._is_known(record, data, twins):
            return
        else:
            twins.append((record, data))
        self._records.append(record)

    def _is_known(self, record: SpanRecord, data: bytes, twins: list[tuple[SpanRecord, bytes]]) -> bool:
        for known, known_data in twins:
            if data == known_data or _content(data) == _content(known_data):
                # Whichever was read first, the same one of the two origins is kept.
                known.origin = min(known.origin, record.origin, key=Origin.order)
                self._duplicates += 1
                self.report.duplicate_spans += 1
                return True
        return False

    def _say_twins(self, source: str) -> None:
        if self._duplicates:
            message = f"{self._duplicates} spans stand in the input more than once; each counts once"
            self.add_problem(Problem("duplicate-span", message, source, trace_id=self.trace_id))
        for span_id, twins in self._seen.items():
            if len(twins) > 1:
                message = f"span id {span_id} is used by {len(twins)} different spans; all are kept"
                problem = Problem("conflicting-span", message, source, trace_id=self.trace_id, span_id=span_id)
                self.add_problem(problem)
                # `order` cannot tell them apart where they have the same times.
                self._records.sort(key=lambda record: _twin_order(record, self._seen))

    def _attach_logs(self) -> None:
        self._logs.sort(key=lambda item: item[0])
        for _, log in self._logs:
            twins = self._seen.get(_span_id(log.span_id) or "")
            if twins is not None:
                twins[-1][0].logs.append(log)
                self.report.log_records_used += 1
        if self._strays:
            for record in self._records:
                self._attach_stray(record)

    def _attach_stray(self, record: SpanRecord) -> None:
        """Find the answer that a span's instrumentation logged when the span was no longer the current one.

        OpenLLMetry does so for streams. Only a record that is alone within the span's time is taken for it.
        """
        names = {log.event_name for log in record.logs}
        if not names or keys.GENAI_EVENT_CHOICE in names:
            return
        first = bisect_left(self._strays, record.start_time_unix_nano, key=lambda item: item[0])
        last = bisect_right(self._strays, record.end_time_unix_nano, key=lambda item: item[0])
        if last - first == 1 and self._strays[first][1].event_name == keys.GENAI_EVENT_CHOICE:
            record.logs.append(self._strays[first][1])
            self.report.log_records_used += 1


def _twin_order(record: SpanRecord, seen: dict[str, list[tuple[SpanRecord, bytes]]]) -> str:
    twins = seen[record.span_id]
    return "" if len(twins) == 1 else next(_content(data) for twin, data in twins if twin is record)


def _content(data: bytes) -> str:
    """Give a span's content in a form that does not depend on how it was written."""
    try:
        return canonical_json(clean(parse(data, silence), silence))
    except (ValueError, RecursionError):
        return data.decode(errors="replace")


def _span_id(span_id: str | None) -> str | None:
    if not span_id:
        return None
    if len(span_id) == _SPAN_ID_LENGTH and _SPAN_ID.fullmatch(span_id):
        return span_id
    identity = canonical_id(span_id, 8)
    return span_id if identity is None else identity or None


def _made_up_id(data: bytes, complain: _Complaint) -> str:
    complain("missing-id", "a span has no id; no other span can be below it")
    return hashlib.blake2b(data, digest_size=8).hexdigest()
