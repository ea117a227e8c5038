"""Log records that belong to spans: in the order in which they were made, each once, and found by time where lost."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from pixie_otel.traces.record import log_time
from pixie_otel.traces.wire import WireLog, integer

__all__ = ["LogRecord", "Stray", "Strays", "in_order"]

_MAX_STRAYS: Final = 10_000
_DIGEST_BYTES: Final = 16


class LogRecord(NamedTuple):
    """A log record of a trace.

    Attributes:
        log: The record.
        data: Its JSON.
        batch: The list of records that it was written in, by a number of its own.
    """

    log: WireLog
    data: bytes
    batch: int

    @property
    def times(self) -> tuple[int, int]:
        """When it was made, and when it was seen."""
        return log_time(self.log), integer(self.log.observed_time_unix_nano) or 0


def in_order(records: Iterable[LogRecord]) -> list[WireLog]:
    """Put the log records of a trace in order, whichever line was read first.

    Producers often give several records the same time, and then their order within their list counts. What was
    delivered twice counts once: a record is there as often as in the one list in which it is most often.

    Args:
        records: The records; those of one list in the order in which they stand there.
    """
    ordered: list[WireLog] = []
    for _, same_time in groupby(sorted(records, key=attrgetter("times")), key=attrgetter("times")):
        tied = list(same_time)
        ordered.extend([tied[0].log] if len(tied) == 1 else _tied(tied))
    return ordered


def _tied(records: list[LogRecord]) -> list[WireLog]:
    batches: dict[int, list[LogRecord]] = {}
    for record in records:
        batches.setdefault(record.batch, []).append(record)
    kept: Counter[bytes] = Counter()
    ordered: list[WireLog] = []
    for batch in sorted(batches.values(), key=lambda batch: [record.data for record in batch]):
        here: Counter[bytes] = Counter()
        for record in batch:
            here[record.data] += 1
            if here[record.data] > kept[record.data]:
                kept[record.data] += 1
                ordered.append(record.log)
    return ordered


class Stray(NamedTuple):
    """A log record of a model's message that was written outside of its span's context.

    Attributes:
        time: When it was made, in nanoseconds since 1970.
        digest: Stands for its content.
        event_name: What it is.
        offset: Where its JSON begins in its store.
        length: How many bytes it has.
    """

    time: int
    digest: bytes
    event_name: str
    offset: int
    length: int


class Strays:
    """The stray log records of a reading; of very many the earliest, whatever the order in which they come."""

    def __init__(self) -> None:
        self._records: list[Stray] = []

    def add(self, log: WireLog, data: bytes, offset: int) -> None:
        """Take a record.

        Args:
            log: The record.
            data: Its JSON.
            offset: Where that begins in its store.
        """
        digest = hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
        self._records.append(Stray(log_time(log), digest, log.event_name or "", offset, len(data)))
        if len(self._records) >= 2 * _MAX_STRAYS:
            self.sort()

    def sort(self) -> None:
        """Put them in order of time; call it once all are in."""
        self._records.sort()
        del self._records[_MAX_STRAYS:]

    def alone_within(self, start_nano: int, end_nano: int) -> Stray | None:
        """Give the one record of a span of time; ``None`` where there is none, or where there are different ones.

        Args:
            start_nano: The beginning, in nanoseconds since 1970.
            end_nano: The end.
        """
        first = bisect_left(self._records, start_nano, key=attrgetter("time"))
        last = bisect_right(self._records, end_nano, key=attrgetter("time"))
        if first >= last or self._records[first].digest != self._records[last - 1].digest:
            return None
        # Sorted by time and content, a record that was delivered twice stands beside itself.
        return self._records[first] if self._records[first].time == self._records[last - 1].time else None
