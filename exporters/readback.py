"""Spans that never were in a file, read as if they came from one.

What is read is what the exporter writes, by what reads the files, so that a trace in memory cannot differ from the same
trace read back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import copy
from typing import Final, TypeAlias
from weakref import ReferenceType, ref

from msgspec import Struct
from opentelemetry.sdk.trace import ReadableSpan

from pixie_otel.diagnostics import internal_error
from pixie_otel.exporters.otlp_json import EncodedSpan
from pixie_otel.exporters.redaction import RedactionError, Redactor, encode_redacted
from pixie_otel.traces import wire
from pixie_otel.traces.doubles import RecentTraces
from pixie_otel.traces.ids import SPAN_ID_BYTES, TRACE_ID_BYTES, canonical_id, read_span_id
from pixie_otel.traces.index import trace_order
from pixie_otel.traces.integrity import trace_problems
from pixie_otel.traces.lenient import silence
from pixie_otel.traces.pending import settle
from pixie_otel.traces.record import Origin, SpanRecord, nanoseconds, span_digest
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import ObserveSpan
from pixie_otel.traces.trace import Trace
from pixie_otel.traces.tree import ObservationNode, link, nodes, order
from pixie_otel.traces.twins import Twins

__all__ = ["Held", "record", "record_or_reason", "traces"]

Held: TypeAlias = SpanRecord | ObserveSpan
"""A span in memory: as it would stand in a file, or as an observation where nothing else is left of it."""

_SOURCE: Final = "memory"
_HEX: Final = re.compile(r"(?:[0-9a-f]{2})+", re.ASCII)
_MOST_ORIGINS: Final = 256
_origins: Final[dict[tuple[bytes, bytes], Origin]] = {}


def record(encoded: EncodedSpan) -> SpanRecord:
    """Give a span as the reader has it before it decodes it.

    Args:
        encoded: The span as it is written.
    """
    span = wire.decode_span(encoded.data)
    trace_id = canonical_id(span.trace_id, TRACE_ID_BYTES)
    return SpanRecord(
        data=encoded.data,
        origin=_origin(encoded.resource, encoded.scope),
        # A span made by hand may have no ids; it is a trace of its own then, as it is in a file.
        trace_id=trace_id or span_digest(span).hex(),
        span_id=read_span_id(span.span_id) or span_digest(span)[:SPAN_ID_BYTES].hex(),
        parent_span_id=read_span_id(span.parent_span_id),
        start_time_unix_nano=nanoseconds(span.start_time_unix_nano, "startTimeUnixNano", silence),
        end_time_unix_nano=nanoseconds(span.end_time_unix_nano, "endTimeUnixNano", silence),
        complain=silence,
        dropped_attributes=wire.integer(span.dropped_attributes_count) or 0,
        decoded=None if trace_id else span,
    )


def record_or_reason(span: ReadableSpan, redactor: Redactor) -> SpanRecord | str:
    """Read a span as from a file, or say why that cannot be done.

    Args:
        span: A span that has ended.
        redactor: Knows what is to be hidden.

    Returns:
        The span; or ``redaction_failed`` or ``encode_error``, by which it is counted as dropped.
    """
    try:
        return record(encode_redacted(span, redactor))
    except RedactionError:
        return "redaction_failed"
    except ValueError:
        return "encode_error"
    except Exception as error:  # noqa: BLE001 - one bad span is that span
        internal_error("reading a span", error)
        return "encode_error"


def traces(held: Iterable[Held]) -> dict[str, Trace]:
    """Build the traces of some spans, by their ids; they come in the order in which a file's do.

    Args:
        held: The spans, in any order.
    """
    by_trace: dict[str, list[Held]] = {}
    for span in held:
        by_trace.setdefault(span.trace_id, []).append(span)
    recent = RecentTraces()
    found: dict[str, Trace] = {}
    for trace_id in sorted(by_trace, key=lambda trace_id: _order(trace_id, by_trace[trace_id])):
        spans = by_trace[trace_id]
        found[trace_id] = trace = _trace(trace_id, spans)
        recent.add(trace, sum(len(span.data) for span in spans if isinstance(span, SpanRecord)))
    return found


def _order(trace_id: str, spans: list[Held]) -> tuple[int, int, bytes]:
    key = bytes.fromhex(trace_id) if _HEX.fullmatch(trace_id) else trace_id.encode(errors="replace")
    return trace_order(key or b"\0", [span.start_time_unix_nano for span in spans])


def _trace(trace_id: str, held: list[Held]) -> Trace:
    account = _Account(trace_id)
    twins = Twins()
    records: list[SpanRecord] = []
    for item in held:
        if isinstance(item, SpanRecord):
            # What is wrong with a span is told once, and each trace that is built wants to hear it.
            own = copy(item)
            own.complain = _Complaint(account, own.span_id)
            if not twins.is_known(own):
                records.append(own)
    settled = settle(records)
    records = settled.kept
    twins.sort(records)
    spans: list[Held] = [*records]
    if any(isinstance(item, ObserveSpan) for item in held):
        spans += _loose(records, held)
        spans.sort(key=order)
    links = link(spans)
    account.problems += [*twins.problems(trace_id, _SOURCE), *settled.problems(trace_id, _SOURCE)]
    account.problems += trace_problems(spans, links, trace_id=trace_id, source=_SOURCE)
    start = next(filter(None, (span.start_time_unix_nano for span in spans)), 0)
    roots = nodes([ObservationNode(span) for span in spans], links)
    trace = Trace(
        trace_id,
        roots,
        problems=account.problems,
        source=_SOURCE,
        start_time_unix_nano=start,
        end_time_unix_nano=max((span.end_time_unix_nano for span in spans), default=0),
        scopes=frozenset(
            span.scope.name if isinstance(span, ObserveSpan) else span.origin.scope.name for span in spans
        ),
    )
    account.trace = ref(trace)
    return trace


def _loose(records: list[SpanRecord], held: list[Held]) -> list[ObserveSpan]:
    """Give what is there as an observation only, each once."""
    known: dict[str, list[ObserveSpan]] = {}
    found: list[ObserveSpan] = []
    for span in held:
        if isinstance(span, ObserveSpan):
            same = known.get(span.span_id)
            if same is None:
                same = [twin.observe() for twin in records if twin.span_id == span.span_id]
                known[span.span_id] = same
            if span not in same:
                same.append(span)
                found.append(span)
    return found


class _Account:
    """What is wrong with one trace; holds it weakly, as its spans hold this."""

    def __init__(self, trace_id: str) -> None:
        self.trace_id = trace_id
        self.problems: list[Problem] = []
        self.trace: ReferenceType[Trace] | None = None

    def add(self, problem: Problem) -> None:
        trace = None if self.trace is None else self.trace()
        if trace is None:
            self.problems.append(problem)
        else:
            trace.add_problem(problem)


class _Complaint(Struct, gc=False, eq=False):
    """Takes what is wrong with the values of one span."""

    account: _Account
    span_id: str

    def __call__(self, kind: str, message: str) -> None:
        account = self.account
        account.add(Problem(kind, message, _SOURCE, trace_id=account.trace_id, span_id=self.span_id))


def _origin(resource: bytes, scope: bytes) -> Origin:
    known = _origins.get((resource, scope))
    if known is None:
        if len(_origins) >= _MOST_ORIGINS:
            _origins.clear()
        known = _origins[resource, scope] = Origin(_SOURCE, resource, scope)
    return known
