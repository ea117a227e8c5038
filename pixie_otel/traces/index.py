"""Which spans belong to which trace: an index of 36 bytes a span, spilled to disk above a setting.

A trace's spans may lie anywhere in any of the files, so files are read twice: once to note where each span is, and once
more, trace by trace, to decode them. The index holds fixed-size rows in buckets by the last byte of the trace's key,
which is random even where ids begin with a time or with zeros; a bucket is sorted when all rows are in, which keeps the
sorting small whatever the number of spans.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from struct import Struct
from typing import IO, Final, TypeAlias

__all__ = ["ROW_BYTES", "Place", "SpanIndex", "trace_order"]

_ROW: Final = Struct(">16sQQI")
"""Trace key; start (48 bits) and the offset's upper 16; the offset's lower 32 and the length; context.

Big-endian, so that rows sort as bytes: by trace, by start, by place.
"""
ROW_BYTES: Final = _ROW.size
_WHOLE_ROW: Final = Struct(f"{ROW_BYTES}s")
_KEY_BYTES: Final = 16
_START: Final = slice(_KEY_BYTES, _KEY_BYTES + 6)
_LENGTH: Final = slice(_KEY_BYTES + 12, _KEY_BYTES + 16)
_BUCKETS: Final = 256
_START_SHIFT: Final = 15
"""Starts are kept in units of 2**15 ns, 33 µs, so that 63 bits of nanoseconds fit into 48."""
_LOWER: Final = 0xFFFFFFFF
_SMALL: Final = 1 << 31
"""Marks a trace that may have one span, or two; its rows are counted in the bits below."""
_ROWS: Final = _SMALL - 1
_FEW: Final = 4
"""How many timed rows two spans have, each of which was exported twice."""
_SPILL_BYTES: Final = 64 * 1024 * 1024


Place: TypeAlias = tuple[int, int, int]
"""Where a record stands: the offset of its JSON in its store, how many bytes it has, and the number of its context."""


class SpanIndex:
    """Rows of trace key and place: put in in any order, taken out trace by trace.

    Args:
        spill_bytes: Above this many bytes, rows go to a temporary file.

    Attributes:
        rows: How many spans and log records were noted.
        next_start: While `traces` gives a trace, no later than when the one after it starts, in nanoseconds since
            1970; ``None`` where it is the last.
        next_small_start: The same of the next one that may have one span, or two.
    """

    def __init__(self, spill_bytes: int = _SPILL_BYTES) -> None:
        self._buckets = [bytearray() for _ in range(_BUCKETS)]
        self._spilled: list[list[tuple[int, int]]] = [[] for _ in range(_BUCKETS)]
        self._file: IO[bytes] | None = None
        self._rows_held = spill_bytes // ROW_BYTES
        self._next_spill = self._rows_held
        self.rows = 0
        self.next_start: int | None = None
        self.next_small_start: int | None = None
        self._order: list[int] = []

    def add(self, key: bytes, start_nano: int, offset: int, length: int, context: int) -> None:
        """Note one span or log record.

        Args:
            key: 16 bytes that stand for the trace.
            start_nano: Its start, in nanoseconds since 1970; 0 where it has none.
            offset: Where its JSON begins in its store.
            length: How many bytes it has.
            context: The number of its context.
        """
        start = start_nano >> _START_SHIFT if 0 < start_nano < 1 << 63 else 0
        self._buckets[key[-1]] += _ROW.pack(key, start << 16 | offset >> 32, (offset & _LOWER) << 32 | length, context)
        self.rows += 1
        if self.rows >= self._next_spill:
            self._spill()

    def traces(self) -> Iterator[tuple[bytes, list[Place]]]:
        """Give the traces by their earliest start, and those of the same 33 µs in an order that their keys alone make.

        Call it once all rows are in.

        Yields:
            A trace's key, and its places in a fixed but unspecified order.
        """
        order: list[int] = []
        for number in range(_BUCKETS):
            self._sort(number, order)
        # One integer a trace (start, bucket, first row, rows) sorts fast and costs a third of a tuple's memory.
        order.sort()
        self._order = order
        small = (packed for packed in order if packed & _SMALL)
        next_small = next(small, None)
        for packed, following in zip_longest(order, order[1:]):
            if packed == next_small:
                next_small = next(small, None)
            self.next_start = None if following is None else following >> 72 << _START_SHIFT
            self.next_small_start = None if next_small is None else next_small >> 72 << _START_SHIFT
            yield self._trace(packed >> 64 & 0xFF, packed >> 32 & _LOWER, packed & _ROWS)

    def again(self, number: int) -> tuple[bytes, list[Place]]:
        """Give one of the traces that `traces` gave.

        Args:
            number: Which, from 0.

        Returns:
            The trace's key, and its places.
        """
        packed = self._order[number]
        return self._trace(packed >> 64 & 0xFF, packed >> 32 & _LOWER, packed & _ROWS)

    def close(self) -> None:
        """Give the temporary file back."""
        if self._file is not None:
            self._file.close()

    def _spill(self) -> None:
        for number, bucket in enumerate(self._buckets):
            if bucket:
                self._spilled[number].append(self._write(bucket))
                bucket.clear()
        self._next_spill = self.rows + self._rows_held

    def _write(self, rows: bytes | bytearray) -> tuple[int, int]:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="pixie-otel-index-")  # noqa: SIM115 - lives as long as the index
        place = self._file.seek(0, 2), len(rows)
        self._file.write(rows)
        return place

    def _sort(self, number: int, order: list[int]) -> None:
        """Sort a bucket in place and note where each trace begins in it."""
        chunks = [self._read(*place) for place in self._spilled[number]]
        data = b"".join((*chunks, self._buckets[number]))
        rows: list[bytes] = [row for (row,) in _WHOLE_ROW.iter_unpack(data)]
        rows.sort()
        key, earliest, first, timed = b"", 0, 0, 0
        for ordinal, row in enumerate(rows):
            is_same = row[:_KEY_BYTES] == key
            if is_same and earliest:
                continue
            if not is_same:
                if ordinal:
                    small = _small(rows[timed:ordinal]) if ordinal - timed <= _FEW else 0
                    order.append(earliest << 72 | number << 64 | first << 32 | small | ordinal - first)
                key, first = row[:_KEY_BYTES], ordinal
            # Log records have no start here, and so stand before the spans.
            earliest, timed = int.from_bytes(row[_START]), ordinal
        if rows:
            small = _small(rows[timed:]) if len(rows) - timed <= _FEW else 0
            order.append(earliest << 72 | number << 64 | first << 32 | small | len(rows) - first)
        if chunks:
            self._spilled[number] = [self._write(b"".join(rows))]
            self._buckets[number].clear()
        else:
            self._buckets[number][:] = b"".join(rows)

    def _trace(self, number: int, first: int, count: int) -> tuple[bytes, list[Place]]:
        at, size = first * ROW_BYTES, count * ROW_BYTES
        if self._spilled[number]:
            rows: bytes | bytearray = self._read(self._spilled[number][0][0] + at, size)
        else:
            rows = self._buckets[number][at : at + size]
        places = [
            ((upper & 0xFFFF) << 32 | lower >> 32, lower & _LOWER, context)
            for _, upper, lower, context in _ROW.iter_unpack(rows)
        ]
        return bytes(rows[:_KEY_BYTES]), places

    def _read(self, offset: int, length: int) -> bytes:
        if self._file is None:
            return b""
        self._file.seek(offset)
        return self._file.read(length)


def _small(rows: list[bytes]) -> int:
    """Give the mark of a small trace for the rows of at most two spans; one that was exported twice looks the same."""
    return _SMALL if len({(row[_START], row[_LENGTH]) for row in rows}) <= 2 else 0


def trace_order(key: bytes, starts: Iterable[int]) -> tuple[int, int, bytes]:
    """Give the key by which traces stand in the order in which `SpanIndex.traces` gives them.

    Args:
        key: The bytes that stand for the trace.
        starts: The starts of its spans, in nanoseconds since 1970.
    """
    units = [start >> _START_SHIFT for start in starts if 0 < start < 1 << 63]
    return min(filter(None, units), default=0), key[-1], key
