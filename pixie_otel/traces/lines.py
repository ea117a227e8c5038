"""From the bytes of an input to its lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pixie_otel.traces.documents import begins_with_document, json_error
from pixie_otel.traces.report import Problem

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from pixie_otel.traces.limits import ReadLimits
    from pixie_otel.traces.report import ReadReport
    from pixie_otel.traces.stored import SourceBytes

__all__ = ["Line", "behind_prefix", "is_log", "iter_lines", "looks_like_lines", "split_joined"]

_NEWLINE: Final = 0x0A
_BOM: Final = b"\xef\xbb\xbf"
_PADDING: Final = b" \t\r\n\x00"
_PASS_OVER_BYTES: Final = 1024 * 1024

_ONLY_BRACKETS: Final = re.compile(rb"[\[{][\[{\s]*")
# Within a JSON string the quote would stand behind a backslash.
_PRETTY_START: Final = re.compile(rb'^\{\r?\n[ \t]+"', re.MULTILINE)
_LOGGED: Final = re.compile(
    rb'^[^"{}\n]+(?=\{\s*"(?:resource|(?:resource|scope)_?(?:spans|logs|metrics)|batches|trace_?id|name|context)"\s*:)',
    re.IGNORECASE | re.MULTILINE,
)
_LOOKED_AT_BYTES: Final = 256 * 1024
_DOCUMENT_START: Final = re.compile(rb'\{\s*"resource_?(?:spans|logs|metrics)"', re.IGNORECASE)


class Line(NamedTuple):
    """One line that has something in it.

    Attributes:
        number: Its number, counted from 1.
        offset: Where `data` begins in the input.
        data: What is in it, without the white space, NULs and byte order mark around it.
        last_without_newline: Whether it is the last line and no newline ends it, as when a writer was cut off.
    """

    number: int
    offset: int
    data: bytes
    last_without_newline: bool = False


def iter_lines(source: SourceBytes, limits: ReadLimits, report: ReadReport) -> Iterator[Line]:
    """Give the lines of an input, split at newline bytes and nowhere else.

    Blank lines are counted. Lines over the limit are passed over without being held, and reported.

    Args:
        source: The input.
        limits: How long a line may be.
        report: Told of every line, and of what is wrong.
    """
    tally = report.source(source.name).lines
    longest = limits.max_line_bytes
    number = offset = 0
    try:
        with source.reader() as reader:
            while raw := reader.readline(longest + 1):
                number += 1
                start = offset
                if len(raw) > longest and raw[-1] != _NEWLINE:
                    start, raw = _pass_nuls(reader, start, raw, longest)
                nuls = start - offset
                offset = start + len(raw)
                if len(raw) > longest and raw[-1] != _NEWLINE:
                    offset += _pass_rest(reader)
                    tally.pass_over("line-too-long")
                    report.add(_too_long(source.name, number, offset - start, longest))
                    continue
                if raw.startswith(_BOM):
                    raw = raw[len(_BOM) :]
                    start += len(_BOM)
                data = raw.strip(_PADDING)
                before = raw.find(data[:1])
                nuls += raw.count(b"\x00", 0, before) + raw.count(b"\x00", before + len(data))
                tally.total += 1
                if data:
                    tally.read += 1
                else:
                    tally.blank += 1
                if nuls:
                    report.add(_nuls(source.name, number, nuls))
                if data:
                    yield Line(number, start + before, data, raw[-1] != _NEWLINE)
    except OSError as error:
        message = f"reading stopped after {offset} bytes: {error.strerror or error}; what came before was read"
        report.add(Problem("read-error", message, source.name, number or None))
    _report_change(source, report)


def looks_like_lines(source: SourceBytes, limits: ReadLimits) -> bool:
    """Tell whether an input has one document to the line, judging by its beginning.

    Args:
        source: The input.
        limits: How long a line or a document may be.
    """
    try:
        # What a program printed over many lines may stand among its other lines.
        if _PRETTY_START.search(source.read_at(0, _LOOKED_AT_BYTES)) is not None:
            return False
        with source.reader() as reader:
            first = b""
            while not first and (raw := reader.readline(limits.max_line_bytes + 1)):
                first = raw.removeprefix(_BOM).strip(_PADDING)
        if not first.startswith((b"{", b"[")) or len(first) > limits.max_line_bytes or json_error(first) is None:
            return True
        # A line of brackets alone begins a pretty-printed document, be it a broken one.
        return _ONLY_BRACKETS.fullmatch(first) is None and not begins_with_document(source, limits)
    except OSError:
        # Reading it will meet the same error, and report it.
        return True


def is_log(source: SourceBytes) -> bool:
    """Tell whether an input is a program's log, in which traces stand behind what the logger puts before them.

    Args:
        source: The input.
    """
    try:
        return _LOGGED.search(source.read_at(0, _LOOKED_AT_BYTES)) is not None
    except OSError:
        return False


def behind_prefix(line: Line) -> Line | None:
    """Give what stands on a line behind the text that a logger puts before it; ``None`` where that is no document.

    Args:
        line: A line that is not JSON.
    """
    found = _LOGGED.match(line.data)
    if found is None:
        return None
    return Line(line.number, line.offset + found.end(), line.data[found.end() :], line.last_without_newline)


def split_joined(line: Line) -> list[Line]:
    """Take apart a line in which a torn document runs into the next one, as after a crash in the middle of a write.

    Args:
        line: A line that is not JSON.

    Returns:
        The parts in order; the line alone where no document begins in its middle.
    """
    starts = [match.start() for match in _DOCUMENT_START.finditer(line.data) if match.start()]
    ends = [*starts, len(line.data)]
    return [
        Line(line.number, line.offset + start, line.data[start:end], line.last_without_newline and end == ends[-1])
        for start, end in zip([0, *starts], ends, strict=True)
    ]


def _pass_nuls(reader: io.BufferedReader, start: int, raw: bytes, longest: int) -> tuple[int, bytes]:
    """Find where a line begins behind NULs, of which a file cut short under its writer may have any number."""
    while len(raw) > longest and raw[-1] != _NEWLINE and raw[0] == 0:
        start += len(raw) - len(raw.lstrip(b"\x00"))
        reader.seek(start)
        raw = reader.readline(longest + 1)
    return start, raw


def _pass_rest(reader: io.BufferedReader) -> int:
    """Pass over the rest of a line, and give how long it was."""
    passed = 0
    while piece := reader.readline(_PASS_OVER_BYTES):
        passed += len(piece)
        if piece[-1] == _NEWLINE:
            break
    return passed


def _too_long(name: str, number: int, length: int, longest: int) -> Problem:
    message = f"the line has {length} bytes, more than max_line_bytes ({longest}), and was skipped; raise the limit"
    return Problem("line-too-long", message, name, number)


def _nuls(name: str, number: int, nuls: int) -> Problem:
    message = f"{nuls} NUL bytes around the line were ignored; the file was cut short while a program wrote to it"
    return Problem("nul-bytes", message, name, number)


def _report_change(source: SourceBytes, report: ReadReport) -> None:
    try:
        growth = source.growth()
    except OSError:
        growth = 0
    if growth > 0:
        message = f"{growth} bytes were added while it was read, and left out; run again when the writer is done"
        report.add(Problem("growing-file", message, source.name))
    elif growth < 0:
        message = f"it was cut short by {-growth} bytes while it was read; run again on a copy of it"
        report.add(Problem("shrinking-file", message, source.name))
