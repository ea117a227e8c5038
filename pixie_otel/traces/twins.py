"""Spans of one trace that have the same id: one span twice, or two spans that must not be taken for one."""

from __future__ import annotations

from pixie_otel.traces.lenient import shown
from pixie_otel.traces.record import Origin, SpanRecord, span_digest
from pixie_otel.traces.report import Problem
from pixie_otel.traces.tree import order

__all__ = ["Twins"]


class Twins:
    """The spans of one trace by their ids.

    Attributes:
        repeated: How many spans were there already.
    """

    def __init__(self) -> None:
        self._first: dict[str, SpanRecord] = {}
        self._different: dict[str, dict[bytes, SpanRecord]] = {}
        self.repeated = 0

    def is_known(self, record: SpanRecord) -> bool:
        """Take a span, and say whether it is one that was there before."""
        first = self._first.setdefault(record.span_id, record)
        if first is record:
            return False
        twins = self._different.get(record.span_id)
        if twins is None:
            twins = self._different[record.span_id] = {span_digest(first.span): first}
        known = twins.setdefault(span_digest(record.span), record)
        if known is record:
            return False
        # Whichever was read first, the same one of the two origins is kept.
        known.origin = min(known.origin, record.origin, key=Origin.order)
        self.repeated += 1
        return True

    def problems(self, trace_id: str, source: str) -> list[Problem]:
        """Say what of this a reader should know.

        Args:
            trace_id: The trace.
            source: The input that it came from.
        """
        found: list[Problem] = []
        if not self._different:
            return found
        if self.repeated:
            repeated = "1 repeated span was" if self.repeated == 1 else f"{self.repeated} repeated spans were"
            message = f"{repeated} left out; each span counts once"
            found.append(Problem("duplicate-span", message, source, trace_id=trace_id))
        for span_id, twins in sorted(self._different.items()):
            if len(twins) > 1:
                message = f"span id {shown(span_id)} is used by {len(twins)} different spans; all are kept"
                found.append(Problem("conflicting-span", message, source, trace_id=trace_id, span_id=span_id))
        return found

    def sort(self, records: list[SpanRecord]) -> None:
        """Put the trace's spans in order, whatever order they were taken in."""
        # `order` cannot tell different spans with the same id and the same times apart.
        if self._different:
            digests = {id(twin): digest for twins in self._different.values() for digest, twin in twins.items()}
            records.sort(key=lambda record: digests.get(id(record), b""))
        records.sort(key=order)
