"""Laying text out in terminal cells: widths, cutting, wrapping and tables."""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

__all__ = ["cell_width", "cut", "padded", "table", "wrapped"]

_WIDE: Final = frozenset("WF")
_GAP: Final = "  "
_SHORTEST_CELL: Final = 12


def cell_width(text: str) -> int:
    """Say how many cells a terminal needs for a text: two for wide characters, none for combining ones.

    Args:
        text: Text without control characters.
    """
    return len(text) if text.isascii() else sum(map(_cells, text))


def cut(text: str, width: int) -> str:
    """Cut a text to a width, with an ellipsis where something is missing.

    Args:
        text: Text without control characters.
        width: How many cells there are, at least 1.
    """
    if len(text) * 2 <= width or cell_width(text) <= width:
        return text
    return text[: _fitting(text, width - 1)] + "…"


def padded(text: str, width: int) -> str:
    """Fill a text up to a width with spaces.

    Args:
        text: Text without control characters.
        width: How many cells it shall take.
    """
    return text + " " * (width - cell_width(text))


def wrapped(text: str, width: int, *, indent: str = "", hanging: str = "  ", most: int | None = None) -> Iterator[str]:
    """Break a text into lines between its words; words that are too long for a line are broken.

    Args:
        text: Text without control characters, but for newlines, which count as spaces.
        width: How many cells a line has, the indent included.
        indent: What stands before every line.
        hanging: What stands before every line but the first, after the indent.
        most: How many lines there may be; the last one then ends in an ellipsis.
    """
    line, lead, given = "", indent, 0
    words = deque(text.split())
    while words:
        word = words.popleft()
        joined = f"{line} {word}" if line else word
        room = max(width - cell_width(lead), _SHORTEST_CELL)
        if cell_width(joined) <= room:
            line = joined
            continue
        if not line:
            fitting = max(_fitting(word, room), 1)
            line, word = word[:fitting], word[fitting:]
        words.appendleft(word)
        given += 1
        if given == most:
            yield lead + cut(f"{line} …" if cell_width(line) <= room - 2 else f"{line}…", room)
            return
        yield lead + line
        line, lead = "", indent + hanging
    if line:
        yield lead + line


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[list[str]]:
    """Line up columns, the first to the left and the others to the right, and cut the first where it does not fit.

    Args:
        header: The column's names.
        rows: The cells of each row, as many as there are names.
        width: How many cells a line has.

    Yields:
        The padded cells of a line, the header's first; joined by two spaces they make the line.
    """
    widths = [max(map(cell_width, column)) for column in zip(header, *rows, strict=True)]
    others = sum(widths[1:]) + len(_GAP) * (len(widths) - 1)
    widths[0] = min(widths[0], max(width - others, _SHORTEST_CELL))
    for cells in (header, *rows):
        first = padded(cut(cells[0], widths[0]), widths[0])
        yield [first, *(cell.rjust(wide) for cell, wide in zip(cells[1:], widths[1:], strict=True))]


def _cells(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in _WIDE else 1


def _fitting(text: str, width: int) -> int:
    """Say how many characters fit."""
    return sum(used <= width for used in accumulate(map(_cells, text)))
