"""Where the spans of a reading lie between the first time and the second, with the lines that they came from."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Final, Protocol

from pixie_otel.traces.stored import SourceBytes, Spool

__all__ = ["InputStore", "SalvageStore", "Store"]

_LINES_A_MARK: Final = 256
_BYTES_A_MARK: Final = 1024 * 1024
_NUMBER_BYTES: Final = 8
_HEAD_BYTES: Final = 2 * _NUMBER_BYTES


class Store(Protocol):
    """Something that gives bytes again, and knows their line."""

    def pread(self, offset: int, length: int) -> bytes:
        """Give the bytes at an offset."""
        ...

    def line_of(self, offset: int) -> int | None:
        """Give the number of the line in which an offset lies."""
        ...


class InputStore:
    """An input, read where it lies.

    Lines are not remembered one by one but counted from marks a few hundred lines apart.

    Args:
        source: The input.
    """

    def __init__(self, source: SourceBytes) -> None:
        self._source = source
        self._offsets = array("Q")
        self._numbers = array("Q")
        self.pread = source.pread

    def mark(self, number: int, offset: int) -> None:
        """Note where a line begins; most are not kept.

        Args:
            number: The line's number.
            offset: Where it begins.
        """
        if (
            not self._numbers
            or number >= self._numbers[-1] + _LINES_A_MARK
            or offset >= self._offsets[-1] + _BYTES_A_MARK
        ):
            self._numbers.append(number)
            self._offsets.append(offset)

    def line_of(self, offset: int) -> int | None:
        """Give the number of the line in which an offset lies."""
        at = bisect_right(self._offsets, offset) - 1
        if at < 0:
            return None
        start = self._offsets[at]
        return self._numbers[at] + self._source.pread(start, offset - start).count(b"\n")


class SalvageStore:
    """Records brought into the common form, each behind the numbers of its line and of the list that it stood in.

    Args:
        spool: Where they are kept.
    """

    def __init__(self, spool: Spool) -> None:
        self._spool = spool

    def put(self, number: int, data: bytes, batch: int = 0) -> int:
        """Keep a record.

        Args:
            number: The line that it came from.
            data: Its JSON.
            batch: The list of records that it stood in, by a number of its own.

        Returns:
            The offset at which it can be read again.
        """
        self._spool.append(number.to_bytes(_NUMBER_BYTES) + batch.to_bytes(_NUMBER_BYTES) + data)
        return self._spool.size - len(data)

    def pread(self, offset: int, length: int) -> bytes:
        """Give the bytes at an offset."""
        return self._spool.read_at(offset, length)

    def line_of(self, offset: int) -> int | None:
        """Give the number of the line that the record at an offset came from."""
        data = self._spool.read_at(offset - _HEAD_BYTES, _NUMBER_BYTES)
        return int.from_bytes(data) if data else None

    def batch_of(self, offset: int) -> int:
        """Give the number of the list that the record at an offset stood in."""
        return int.from_bytes(self._spool.read_at(offset - _NUMBER_BYTES, _NUMBER_BYTES))
