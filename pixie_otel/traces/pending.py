"""Spans that were written when they started: Logfire writes a copy of a span before the span itself.

The copy has an id of its own, names the span as its parent, and keeps the real parent in an attribute. Where the span
itself is there, the copy says nothing that it does not; where the program ended first, the copy is all there is of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from pixie_otel.attributes import logfire as logfire_keys
from pixie_otel.traces import wire
from pixie_otel.traces.ids import read_span_id
from pixie_otel.traces.record import SpanRecord
from pixie_otel.traces.report import Problem

__all__ = ["Settled", "settle"]

_PENDING: Final = b'"pending_span"'
_PARENT: Final = f'"{logfire_keys.PENDING_PARENT_ID}"'.encode()


@dataclass(slots=True)
class Settled:
    """The spans of a trace without copies of each other.

    Attributes:
        kept: The spans; where a copy is all there is of one, it has that one's id and parent.
        left_out: The copies of spans that are there.
        standing_in: The copies among those that were kept.
    """

    kept: list[SpanRecord]
    left_out: list[SpanRecord] = field(default_factory=list[SpanRecord])
    standing_in: list[SpanRecord] = field(default_factory=list[SpanRecord])

    def problems(self, trace_id: str, source: str) -> list[Problem]:
        """Say what of this a reader should know.

        Args:
            trace_id: The trace.
            source: The input that it came from.
        """
        found: list[Problem] = []
        if self.left_out:
            copies = _counted(self.left_out, "copy of a span was", "copies of spans were")
            message = f"{copies} left out; made at the start, they say nothing that the spans themselves do not"
            found.append(Problem("pending-span", message, source, trace_id=trace_id))
        if self.standing_in:
            first = min(self.standing_in, key=lambda record: (record.start_time_unix_nano, record.span_id))
            message = (
                f"{_counted(self.standing_in, 'span is', 'spans are')} there only as recorded at the start; the "
                f"program ended first, or the rest is not in the input (first: {first.name!r} {first.span_id})"
            )
            found.append(Problem("unfinished-span", message, source, trace_id=trace_id, span_id=first.span_id))
        return found


def settle(records: list[SpanRecord]) -> Settled:
    """Leave out the copies of spans that are there, and let the others stand in for what is not.

    Args:
        records: The spans of a trace, in any order.
    """
    copies = [
        record
        for record in records
        if record.start_time_unix_nano == record.end_time_unix_nano
        and record.parent_span_id is not None
        and _PENDING in record.data
        and _PARENT in record.data
    ]
    # One whose real parent is its parent was put in its place before, as a converted file has it.
    copied = {
        id(record): parent
        for record in copies
        if (parent := _parent(record)) is not None and parent != record.parent_span_id
    }
    if not copied:
        return Settled(records)
    there = {record.span_id for record in records if id(record) not in copied}
    settled = Settled([])
    for record in sorted(copies, key=lambda record: (record.start_time_unix_nano, record.span_id)):
        span_id = record.parent_span_id
        if id(record) not in copied or span_id is None:
            continue
        if span_id in there:
            settled.left_out.append(record)
        else:
            there.add(span_id)
            record.span_id, record.parent_span_id = span_id, copied[id(record)] or None
            settled.standing_in.append(record)
    left = set(map(id, settled.left_out))
    settled.kept = [record for record in records if id(record) not in left]
    return settled


def _parent(record: SpanRecord) -> str | None:
    """Give the id of the real parent of what a span is a copy of, "" where it has none; ``None`` for another span."""
    try:
        attributes = wire.decode_attributes(record.span.attributes)
    except (ValueError, RecursionError):
        return None
    parent = attributes.get(logfire_keys.PENDING_PARENT_ID)
    if attributes.get(logfire_keys.SPAN_TYPE) != _PENDING.decode().strip('"') or not isinstance(parent, str):
        return None
    return read_span_id(parent) or ""


def _counted(records: Iterable[SpanRecord], one: str, several: str) -> str:
    number = len(list(records))
    return f"1 {one}" if number == 1 else f"{number} {several}"
