"""The first reading of the inputs: where every span and log record is, and what became of every line.

A line in the form that OpenTelemetry's own exporters write is taken apart without decoding the spans in it. Any other
line, and any span that does not look right, is parsed, brought into that form and kept aside, so that the second
reading knows one form only.
"""

from __future__ import annotations

import hashlib
import re
from binascii import unhexlify
from typing import Final

import msgspec
from msgspec import Raw, UnsetType

from pixie_otel import attributes as keys
from pixie_otel.traces import wire
from pixie_otel.traces.contexts import Contexts
from pixie_otel.traces.documents import Document, iter_documents
from pixie_otel.traces.group import Group
from pixie_otel.traces.ids import TRACE_ID_BYTES, canonical_id
from pixie_otel.traces.index import SpanIndex
from pixie_otel.traces.lenient import silence
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.lines import Line, behind_prefix, is_log, iter_lines, looks_like_lines, split_joined
from pixie_otel.traces.logs import Strays
from pixie_otel.traces.record import span_digest
from pixie_otel.traces.report import Problem, ReadReport
from pixie_otel.traces.salvage import salvage_log, salvage_span
from pixie_otel.traces.shapes import describe_document, groups
from pixie_otel.traces.stored import SourceBytes, Spool
from pixie_otel.traces.stores import InputStore, SalvageStore, Store

__all__ = ["Indexer", "is_written_plainly"]

_SPAN_ID: Final = rb"(?!0{16})[0-9a-f]{16}+"
_TRACE_ID: Final = rb'\{"traceId":"((?!0{32})[0-9a-f]{32}+)","spanId":"'
_HEAD: Final = re.compile(_TRACE_ID + rb'[0-9a-f]{16}+"')
_START_KEY: Final = b'"startTimeUnixNano":"'
_PLAIN_HEAD: Final = re.compile(
    _TRACE_ID + _SPAN_ID + rb'"(?:,"traceState":"[^"]*+")?+(?:,"parentSpanId":"(?:' + _SPAN_ID + rb')?+")?+'
    rb'(?:,"flags":[0-9]*+)?+,"name":"[^"]*+","kind":[0-9]'
    rb',"startTimeUnixNano":"([0-9]{1,19}+)","endTimeUnixNano":"[0-9]{1,19}+","attributes":\['
)
_PLAIN_ENDS: Final = tuple(b'}}],"status":{%b}}' % code for code in (b"", b'"code":0', b'"code":1', b'"code":2'))
"""How most spans begin and end: all that a tree needs of them stands before the attributes.

Of the lists that OTLP knows in a span, only one of keys and values ends like this, since events and links end with a
number or a list. So the status comes right after the attributes, and no count of dropped ones, nor any other field that
a tree needs, stands between them.
"""
_OTHER_PLAIN_END: Final = re.compile(
    rb'\}\}\],(?:"droppedAttributesCount":0,"events":\[\],"droppedEventsCount":0,)?+"status":\{(?:"code":[0-2])?+\}'
    rb'(?:,"links":\[\],"droppedLinksCount":0)?+(?:,"flags":[0-9]++)?+\}'
)
"""The same with flags behind it, and as JavaScript's exporter writes it, which leaves nothing out."""
_END_START: Final = b'}}],"'
_LOGGED: Final = "lines of a log"
_BETWEEN: Final = re.compile(rb"\s*,\s*")
_SOUGHT_BYTES: Final = 64


class Indexer:
    """Reads inputs once and notes where everything is.

    Args:
        limits: Bounds of reading.
        report: Told of every line, span and log record, and of what is wrong.
        spool: Keeps what had to be brought into the common form.
    """

    def __init__(self, limits: ReadLimits, report: ReadReport, spool: Spool) -> None:
        self.index = SpanIndex()
        self.contexts = Contexts(spool)
        self.strays = Strays()
        self.salvage = SalvageStore(spool)
        self._limits = limits
        self._report = report
        self._log_text = 0
        self._log: tuple[str, bool] | None = None
        self._batches = 0

    def read(self, source: SourceBytes) -> None:
        """Read one input; whatever is in it, it ends in the index or in the report.

        Args:
            source: The input, unpacked.
        """
        store = InputStore(source)
        self._log_text = 0
        if looks_like_lines(source, self._limits):
            for line in iter_lines(source, self._limits, self._report):
                store.mark(line.number, line.offset)
                self._read_line(line, source, store)
            if self._log_text:
                lines = "1 line is" if self._log_text == 1 else f"{self._log_text} lines are"
                message = f"{lines} a program's text, and no traces; left out"
                self._report.add(Problem("log-text", message, source.name))
        else:
            for document in iter_documents(source, self._limits, self._report):
                store.mark(document.number, document.offset)
                trouble = self._read_piece(document, source.name, store)
                if trouble is not None:
                    kind, message = trouble
                    self._report.skip_document(Problem(kind, f"{message}; skipped", source.name, document.number))

    def _read_line(self, line: Line, source: SourceBytes, store: InputStore) -> None:
        name = source.name
        trouble = self._read_piece(line, name, store)
        if trouble is None:
            return
        kind, message = trouble
        if kind == "bad-line" and (self._read_logged(line, name, store) or self._read_parts(line, name, store)):
            return
        if kind == "bad-line" and not line.data.startswith((b"{", b"[")) and self._is_log(source):
            self._log_text += 1
            self._report.source(name).lines.reject("log-text")
            return
        if kind == "bad-line" and line.last_without_newline:
            kind, message = "torn-last-line", f"the file ends in the middle of a line ({message})"
        self._report.skip_line(Problem(kind, f"{message}; skipped", name, line.number))

    def _read_logged(self, line: Line, name: str, store: InputStore) -> bool:
        """Read a document behind what a logger put before it; say whether there is one."""
        document = behind_prefix(line)
        if document is None or self._read_piece(document, name, store) is not None:
            return False
        self._report.source(name).note_form(_LOGGED)
        return True

    def _is_log(self, source: SourceBytes) -> bool:
        """Say whether text is to be expected in an input, beside traces."""
        if self._log is None or self._log[0] != source.name:
            forms = self._report.source(source.name).forms
            self._log = source.name, bool(forms) or is_log(source)
        return self._log[1]

    def _read_parts(self, line: Line, name: str, store: InputStore) -> bool:
        """Read a line in which documents run into each other; say whether any of it could be used."""
        parts = split_joined(line)
        if len(parts) == 1:
            return False
        lost = [trouble for part in parts if (trouble := self._read_piece(part, name, store)) is not None]
        if len(lost) == len(parts):
            return False
        if lost:
            message = f"a torn line runs into the next: {len(lost)} of {len(parts)} pieces were lost ({lost[0][1]})"
            self._report.add(Problem("torn-line", message, name, line.number))
        else:
            message = f"{len(parts)} documents stand on one line without a newline between them; all were read"
            self._report.add(Problem("joined-lines", message, name, line.number))
        return True

    def _read_piece(self, piece: Line | Document, name: str, store: Store) -> tuple[str, str] | None:
        """Index a line or a document; give the kind of problem and the message where nothing of it can be used."""
        try:
            batch = wire.decode_batch(piece.data)
        except (ValueError, RecursionError):
            return self._read_other(piece, name)
        if not _is_common(batch):
            return self._read_other(piece, name)
        spans = batch.resource_spans
        if not isinstance(spans, UnsetType):
            self._read_spans(piece, spans, name, store)
        logs = batch.resource_logs
        if not isinstance(logs, UnsetType):
            self._read_logs(piece, logs, name)
        for others in (batch.resource_metrics, batch.resource_profiles):
            if not isinstance(others, UnsetType):
                self._report.metrics += len(others)
        return None

    def _read_spans(self, piece: Line | Document, resources: list[wire.ResourceSpans], name: str, store: Store) -> None:
        position = 0
        for resource in resources:
            scopes = resource.scope_spans
            for scope in [] if isinstance(scopes, UnsetType) else scopes:
                spans = scope.spans
                if not isinstance(spans, UnsetType) and spans:
                    shared = name, bytes(resource.resource), bytes(scope.scope)
                    position = self._read_scope(piece, spans, position, store, shared)

    def _read_scope(
        self, piece: Line | Document, spans: list[Raw], position: int, store: Store, shared: tuple[str, bytes, bytes]
    ) -> int:
        """Index the spans of a scope, which stand behind a position, and give the position behind them."""
        data, offset = piece.data, piece.offset
        add, plain_head = self.index.add, _PLAIN_HEAD.match
        context = self.contexts.number(store, *shared, plain=True)
        self._report.spans_read += len(spans)
        position = _found(data, spans[0], position)
        for span in spans:
            length = len(span)
            # The position is a guess: what nobody asked for may hold the same text and something else after it.
            is_there = data.startswith(span, position)
            end = position + length
            is_plain = data.endswith(_PLAIN_ENDS, position, end) or _ends_plainly(data, position, end)
            head = plain_head(data, position) if is_plain else None
            if is_there and head is not None:
                trace_id, start = head.groups()
                add(unhexlify(trace_id), int(start), offset + position, length, context)
            elif is_there and (ids := _HEAD.match(data, position)) is not None:
                number = self.contexts.number(store, *shared)
                add(unhexlify(ids[1]), _start(bytes(span)), offset + position, length, number)
            else:
                self._put_span(bytes(span), piece.number, *shared)
            position = end + 1 if data[end : end + 2] == b",{" else _after(data, end)
        return position

    def _put_span(self, data: bytes, number: int, name: str, resource: bytes, scope: bytes) -> None:
        """Index a span whose ids do not stand where they mostly do, or are no plain ids."""
        try:
            span = wire.decode_span(data)
        except (ValueError, RecursionError):

            def complain(kind: str, message: str) -> None:
                # The rest is told when the span is read for good.
                if kind == "bad-span":
                    self._report.add(Problem(kind, message, name, number))

            salvaged = salvage_span(data, complain)
            if salvaged is None:
                self._report.bad_spans += 1
                return
            span = salvaged
        start = wire.integer(span.start_time_unix_nano) or 0
        context = self.contexts.number(self.salvage, name, resource, scope, logs=False)
        key = _trace_key(span.trace_id) or span_digest(span)
        self.index.add(key, start, self.salvage.put(number, data), len(data), context)

    def _read_logs(self, piece: Line | Document, resources: list[wire.ResourceLogs], name: str) -> None:
        for resource in resources:
            scopes = resource.scope_logs
            for scope in [] if isinstance(scopes, UnsetType) else scopes:
                records = scope.log_records
                self._batches += 1
                for record in [] if isinstance(records, UnsetType) else records:
                    self._put_log(bytes(record), piece.number, name, bytes(resource.resource), bytes(scope.scope))

    def _put_log(self, data: bytes, number: int, name: str, resource: bytes, scope: bytes) -> None:
        """Index a log record of the list that is being read."""
        self._report.log_records += 1

        def complain(kind: str, message: str) -> None:
            self._report.add(Problem(kind, message, name, number))

        try:
            log = wire.decode_log(data)
        except (ValueError, RecursionError):
            salvaged = salvage_log(data, complain)
            if salvaged is None:
                return
            log, data = salvaged, msgspec.json.encode(salvaged)
        key = _trace_key(log.trace_id or "")
        if key is not None:
            context = self.contexts.number(self.salvage, name, resource, scope, logs=True)
            self.index.add(key, 0, self.salvage.put(number, data, self._batches), len(data), context)
        elif (log.event_name or "").startswith(keys.GENAI_PREFIX):
            self.strays.add(log, data, self.salvage.put(number, data))

    def _read_other(self, piece: Line | Document, name: str) -> tuple[str, str] | None:
        """Index what is not in the common form, or give the problem with it."""

        def complain(kind: str, message: str) -> None:
            self._report.add(Problem(kind, message, name, piece.number))

        try:
            found = groups(piece.data, complain)
        except (ValueError, RecursionError) as error:
            return "bad-line", f"it is no JSON: {_why(error)}"
        if not found:
            return _not_otlp(piece.data)
        for group in found:
            self._put_group(group, piece.number, name)
        for form in sorted({group.form for group in found if group.form}):
            self._report.source(name).note_form(form)
        return None

    def _put_group(self, group: Group, number: int, name: str) -> None:
        self._report.metrics += group.metrics
        self._batches += 1
        for record in group.records:
            if group.logs:
                self._put_log(record, number, name, group.resource, group.scope)
            else:
                self._report.spans_read += 1
                self._put_span(record, number, name, group.resource, group.scope)


def is_written_plainly(span: bytes) -> bool:
    """Say whether a span is written as OpenTelemetry's exporters write most, as far as its beginning and end tell.

    Args:
        span: Its JSON.
    """
    return _PLAIN_HEAD.match(span) is not None and (span.endswith(_PLAIN_ENDS) or _ends_plainly(span, 0, len(span)))


def _is_common(batch: wire.Batch) -> bool:
    """Say whether a line is in the form of OpenTelemetry's exporters, so that nothing in it was passed over."""
    spans, logs = batch.resource_spans, batch.resource_logs
    if batch.is_mixed():
        return False
    if isinstance(spans, UnsetType) and isinstance(logs, UnsetType):
        return not isinstance(batch.resource_metrics, UnsetType) or not isinstance(batch.resource_profiles, UnsetType)
    for resource in [] if isinstance(spans, UnsetType) else spans:
        if isinstance(resource.scope_spans, UnsetType) or not isinstance(resource.older_scope_spans, UnsetType):
            return False
        if any(
            isinstance(s.spans, UnsetType) or not isinstance(s.older_scope, UnsetType) for s in resource.scope_spans
        ):
            return False
    for entry in [] if isinstance(logs, UnsetType) else logs:
        if isinstance(entry.scope_logs, UnsetType) or any(
            isinstance(s.log_records, UnsetType) for s in entry.scope_logs
        ):
            return False
    return True


def _start(span: bytes) -> int:
    """Find a span's start without decoding it: within JSON's strings every quote has a backslash before it."""
    at = span.find(_START_KEY)
    if at >= 0 and span.find(b"{", 1, at) < 0:
        at += len(_START_KEY)
        digits = span[at : span.find(b'"', at)]
        return int(digits) if digits.isdigit() and len(digits) < 20 else 0
    # It is written in another way, or what was found may be the start of something within the span.
    try:
        return wire.integer(wire.decode_span(span).start_time_unix_nano) or 0
    except (ValueError, RecursionError):
        found = salvage_span(span, silence)
        return 0 if found is None else wire.integer(found.start_time_unix_nano) or 0


def _found(data: bytes, piece: Raw, position: int) -> int:
    """Find a piece by its beginning first: looking for all of a long one at once takes much longer."""
    beginning = bytes(memoryview(piece)[:_SOUGHT_BYTES])
    position = data.index(beginning, position)
    while not data.startswith(piece, position):
        position = data.index(beginning, position + 1)
    return position


def _ends_plainly(data: bytes, position: int, end: int) -> bool:
    begins = data.rfind(_END_START, position, end)
    return begins >= 0 and _OTHER_PLAIN_END.fullmatch(data, begins, end) is not None


def _after(data: bytes, end: int) -> int:
    """Give where the next item of a list begins, right behind the comma after this one."""
    found = _BETWEEN.match(data, end)
    return end if found is None else found.end()


def _trace_key(trace_id: str) -> bytes | None:
    """Give the 16 bytes by which a trace is grouped; ``None`` for a record without a trace id."""
    identity = canonical_id(trace_id, TRACE_ID_BYTES)
    if identity is None:
        return hashlib.blake2b(trace_id.encode(errors="replace"), digest_size=TRACE_ID_BYTES).digest()
    return bytes.fromhex(identity) or None


def _not_otlp(data: bytes) -> tuple[str, str]:
    foreign = describe_document(data)
    if foreign is not None:
        return "not-otlp", f"this is {foreign}, not OTLP JSON"
    return "not-otlp", "this JSON holds no OTLP resourceSpans, resourceLogs or resourceMetrics"


def _why(error: ValueError | RecursionError) -> str:
    return "nested too deep" if isinstance(error, RecursionError) else str(error)
