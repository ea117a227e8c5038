"""Files of rows that people write: JSONL, JSON and CSV, read with the line of every row.

JSONL and CSV are streamed; a JSON document is read whole. In a ``.json`` file the rows are the items of an array, or
objects one after the other. The first line of a CSV file names the columns; a cell is text, and an empty cell is not
given at all. Spreadsheets write empty cells behind the last column and empty rows behind the last row: these are none.
"""

from __future__ import annotations

import csv
import json
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from pixie_otel.errors import ConfigError

__all__ = ["Row", "read_rows"]

_BOM: Final = b"\xef\xbb\xbf"
_SPACE: Final = frozenset(" \t\r\n")
_MAX_CELL: Final = 64 * 1024 * 1024
_MAX_DOCUMENT: Final = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file.

    Attributes:
        line: The line where it starts, counted from 1.
        values: Its values by name; empty where there is a problem.
        problem: Why it is no row, where it is none.
    """

    line: int
    values: dict[str, Any]
    problem: str | None = None


def read_rows(path: str | os.PathLike[str]) -> Iterator[Row]:
    """Read the rows of a file, one at a time.

    Args:
        path: A ``.jsonl``, ``.ndjson``, ``.json`` or ``.csv`` file.

    Yields:
        The rows in their order; a row that cannot be read says why.

    Raises:
        ConfigError: The file cannot be read, or is none of these.
    """
    file = Path(path)
    readers = {".jsonl": _json_lines, ".ndjson": _json_lines, ".json": _json_document, ".csv": _csv_rows}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise ConfigError(f"{file}: rows are read from .jsonl, .json or .csv files; give it one of these suffixes")
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise ConfigError(f"{file}: is no regular file")
        yield from reader(file)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error


def _json_lines(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            text = line.removeprefix(_BOM) if number == 1 else line
            if not text.strip():
                continue
            try:
                yield _row(number, _DECODER.decode(text.decode()))
            except (ValueError, RecursionError) as error:
                yield Row(number, {}, _reason(error))


def _json_document(path: Path) -> Iterator[Row]:
    if path.stat().st_size > _MAX_DOCUMENT:
        raise ConfigError(f"{path}: too big for one JSON document, which is read whole: write it as .jsonl")
    try:
        text = path.read_bytes().removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        yield Row(path.read_bytes().count(b"\n", 0, error.start) + 1, {}, _reason(error))
        return
    document = _Document(text)
    position, line = 0, 1
    try:
        for start, value in document.values():
            line += text.count("\n", position, start)
            position = start
            yield _row(line, value)
    except (ValueError, RecursionError) as error:
        # Where a row ends is not known any longer, so this is the last that can be said of the file.
        torn = error.pos if isinstance(error, json.JSONDecodeError) else document.position
        yield Row(line + text.count("\n", position, torn), {}, _reason(error))


class _Document:
    """The values of a JSON document that is an array, or values one after the other, each with where it starts."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.position = 0

    def values(self) -> Iterator[tuple[int, object]]:
        self._skip_space()
        if self._takes("["):
            yield from self._items()
        while self.position < len(self._text):
            yield self._value()

    def _items(self) -> Iterator[tuple[int, object]]:
        if self._takes("]"):
            return
        yield self._value()
        while self._takes(","):
            yield self._value()
        if not self._takes("]"):
            raise json.JSONDecodeError("',' or ']' expected", self._text, self.position)

    def _value(self) -> tuple[int, object]:
        start = self.position
        value, self.position = _DECODER.raw_decode(self._text, start)
        self._skip_space()
        return start, value

    def _takes(self, mark: str) -> bool:
        if not self._text.startswith(mark, self.position):
            return False
        self.position += 1
        self._skip_space()
        return True

    def _skip_space(self) -> None:
        while self._text[self.position : self.position + 1] in _SPACE:
            self.position += 1


def _csv_rows(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        undecodable: list[int] = []
        reader = csv.reader(_text_lines(file, undecodable), strict=True)
        header: list[str] | None = None
        start = 1
        while True:
            try:
                cells = _next_cells(reader)
            except csv.Error as error:
                yield Row(start, {}, f"no valid CSV: {error}")
                return
            if cells is None:
                return
            line, start = start, reader.line_num + 1
            if undecodable:
                yield Row(undecodable[0], {}, "is not UTF-8")
                undecodable.clear()
            elif any(cells) and header is None:
                header = _without_empty_end([cell.strip() for cell in cells])
                if problem := _header_problem(header):
                    yield Row(line, {}, problem)
                    return
            elif any(cells) and header is not None:
                yield _from_cells(line, header, cells)


def _text_lines(file: Iterator[bytes], undecodable: list[int]) -> Iterator[str]:
    for number, line in enumerate(file, start=1):
        text = line.removeprefix(_BOM) if number == 1 else line
        try:
            yield text.decode()
        except UnicodeDecodeError:
            undecodable.append(number)
            yield text.decode(errors="replace")


def _next_cells(reader: Iterator[list[str]]) -> list[str] | None:
    # The limit is one for the whole process; the rest of it keeps its own.
    before = csv.field_size_limit(_MAX_CELL)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(before)


def _without_empty_end(cells: list[str]) -> list[str]:
    length = len(cells)
    while length and not cells[length - 1]:
        length -= 1
    return cells[:length]


def _header_problem(header: Sequence[str]) -> str | None:
    if "" in header:
        return "the first line names the columns, and a name is empty"
    double = [name for name, count in Counter(header).items() if count > 1]
    return f"the column {double[0]!r} stands twice" if double else None


def _from_cells(line: int, header: Sequence[str], cells: list[str]) -> Row:
    if len(cells) > len(header):
        cells = [*cells[: len(header)], *_without_empty_end(cells[len(header) :])]
    if len(cells) != len(header):
        return Row(line, {}, f"{len(cells)} cells, and the first line names {len(header)} columns")
    return Row(line, {name: cell for name, cell in zip(header, cells, strict=True) if cell})


def _row(line: int, value: object) -> Row:
    if not isinstance(value, dict):
        return Row(line, {}, f"a row is an object with named values, not {str(value)[:60]!r}")
    return Row(line, cast("dict[str, Any]", value))


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8"
    if isinstance(error, RecursionError):
        return "is nested too deep"
    return (
        f"no valid JSON: {error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else str(error)
    )


def _refuse_constant(name: str) -> Any:  # noqa: ANN401 - the type that `json` wants, and it returns nothing
    raise ValueError(f"no valid JSON: {name} is no JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        double = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{double!r} stands twice in one object")
    return found


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_object)
