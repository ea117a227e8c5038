"""From the bytes of an input to its JSON documents, where those span lines.

Such inputs are one document printed over many lines, several one after another, or an array of them. They are cut
into documents without being decoded, so that each is read like a line, and at most one is held.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from pixie_otel.traces.report import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pixie_otel.traces.limits import ReadLimits
    from pixie_otel.traces.report import ReadReport
    from pixie_otel.traces.stored import SourceBytes

__all__ = ["Document", "begins_with_document", "iter_documents", "json_error"]

_CHUNK: Final = 256 * 1024
_MAX_DEPTH: Final = 500
_SHOWN_BYTES: Final = 40
_RESCANNABLE_BYTES: Final = 32 * 1024 * 1024
"""How much is scanned again in all; a file made of nothing but torn documents would take for ever."""

_NEWLINE: Final = 0x0A
_COMMA: Final = 0x2C
_COLON: Final = 0x3A
_ARRAY: Final = 0x5B
_ARRAY_END: Final = 0x5D
_OBJECT: Final = 0x7B
_OBJECT_END: Final = 0x7D
_OPENERS: Final = (_ARRAY, _OBJECT)
_OPENER_OF: Final = {_ARRAY_END: _ARRAY, _OBJECT_END: _OBJECT}

_BOM: Final = b"\xef\xbb\xbf"
_GAP: Final = re.compile(rb"(?:[ \t\r\n,\x00]|\xef\xbb\xbf)*+")
_FRESH_START: Final = re.compile(rb"\n(?=[{\[])")

# A JSON string holds no newline, so one that meets a newline was torn.
_OPEN_STRING: Final = rb'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+'
_FLAT: Final = rb'[^"{}\[\]]*+'


def _token_pattern(levels: int) -> re.Pattern[bytes]:
    """Match a bracket, a string, or a whole value at most so many levels deep, which saves most of the steps."""
    value = _OPEN_STRING + rb'"'
    for _ in range(levels):
        value = rb"(?:%b\"|[{\[]%b(?:%b%b)*+[}\]])" % (_OPEN_STRING, _FLAT, value, _FLAT)
    return re.compile(rb"%b|(?P<open>%b)|[{}\[\]]" % (value, _OPEN_STRING))


_TOKEN: Final = _token_pattern(3)


class Document(NamedTuple):
    """One JSON document, checked to be JSON but not decoded.

    Attributes:
        number: The line at which it begins, counted from 1.
        offset: Where it begins in the input.
        data: Its text.
    """

    number: int
    offset: int
    data: bytes


class _Trouble(NamedTuple):
    """Something that is no document: what is wrong, where, and whether it cost a document."""

    kind: str
    message: str
    number: int
    is_lost: bool = True


class _MalformedError(Exception):
    """What begins like a document is none, as was found so many bytes behind its beginning."""

    def __init__(self, kind: str, message: str, found_after: int) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.found_after = found_after


def iter_documents(source: SourceBytes, limits: ReadLimits, report: ReadReport) -> Iterator[Document]:
    """Give the JSON documents of an input, whatever lines they span; the items of arrays count as documents.

    After something that is no JSON, reading goes on at the next line that begins with ``{`` or ``[``.

    Args:
        source: The input.
        limits: How long a document may be.
        report: Told of every document, and of what is wrong.
    """
    tally = report.source(source.name).documents
    scanner = _Scanner(source, limits.max_document_bytes)
    try:
        while (found := scanner.next()) is not None:
            if isinstance(found, Document):
                tally.total += 1
                tally.read += 1
                yield found
            else:
                if found.is_lost:
                    tally.pass_over(found.kind)
                report.add(Problem(found.kind, found.message, source.name, found.number))
    except OSError as error:
        message = f"reading stopped: {error.strerror or error}; what came before was read"
        report.add(Problem("read-error", message, source.name, scanner.line))


def begins_with_document(source: SourceBytes, limits: ReadLimits) -> bool:
    """Tell whether an input begins with a whole JSON document, or with one over the limit.

    Args:
        source: The input.
        limits: How long a document may be.
    """
    first = _Scanner(source, limits.max_document_bytes).next()
    return isinstance(first, Document) or (first is not None and first.kind == "document-too-long")


def json_error(data: bytes) -> str | None:
    """Say why a text is not JSON; None where it is. Nothing is decoded.

    Args:
        data: The text.
    """
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        return str(error)
    except RecursionError:
        return "it is nested too deeply"
    return None


class _Scanner:
    """A window that moves over an input from one document to the next."""

    def __init__(self, source: SourceBytes, longest: int) -> None:
        self.line = 1
        self._source = source
        self._longest = longest
        self._buffer = b""
        self._base = 0
        self._at = 0
        self._array_line: int | None = None
        self._is_resynced = False
        self._rescannable = _RESCANNABLE_BYTES

    def next(self) -> Document | _Trouble | None:
        """Give the next document, or what stands in its place; None at the end."""
        while True:
            if nuls := self._skip_gap():
                message = f"{nuls} NUL bytes were ignored; the file was cut short while a program wrote to it"
                return _Trouble("nul-bytes", message, self.line, is_lost=False)
            if self._at == len(self._buffer):
                return self._end()
            first = self._buffer[self._at]
            if first == _ARRAY and self._array_line is None:
                self._array_line = self.line
                self._advance(1)
            elif first == _ARRAY_END and (self._array_line is not None or self._is_resynced):
                self._array_line = None
                self._advance(1)
            else:
                return self._document()

    def _end(self) -> _Trouble | None:
        if self._array_line is None:
            return None
        message = "the array that begins here does not end; the file was cut off"
        line, self._array_line = self._array_line, None
        return _Trouble("truncated-document", message, line, is_lost=False)

    def _document(self) -> Document | _Trouble:
        line = self.line
        try:
            length = self._find_end()
        except _MalformedError as malformed:
            self._resync(malformed.found_after)
            message = f"{malformed.message}; it was skipped up to the next line that begins with {{ or ["
            return _Trouble(malformed.kind, message, line)
        document = Document(line, self._base + self._at, self._buffer[self._at : self._at + length])
        self._advance(length)
        if (error := json_error(document.data)) is not None:
            return _Trouble("bad-document", f"what begins here was skipped, as it is no JSON document: {error}", line)
        return document

    def _find_end(self) -> int:
        """Give the length of the value that begins here, by its brackets and strings."""
        if self._buffer[self._at] not in _OPENERS:
            shown = self._buffer[self._at : self._at + _SHOWN_BYTES].partition(b"\n")[0].decode("utf-8", "replace")
            raise _MalformedError("bad-document", f"expected {{ or [, found {shown!r}", 0)
        opened = bytearray()
        scanned = 0
        while True:
            for token in _TOKEN.finditer(self._buffer, self._at + scanned):
                if token.lastgroup == "open":
                    self._check_string(token.end())
                    break
                scanned = token.end() - self._at
                self._follow(token, opened)
                if not opened:
                    return self._checked_length(scanned)
            self._checked_length(len(self._buffer) - self._at)
            if not self._more():
                raise self._truncated(len(self._buffer))

    def _follow(self, token: re.Match[bytes], opened: bytearray) -> None:
        """Note what a token opens or closes."""
        start, end = token.span()
        first = self._buffer[start]
        if first in _OPENERS:
            # A new document often begins where a torn one did not end.
            if opened and self._buffer[start - 1] == _NEWLINE and not self._fits(start, opened[-1]):
                raise self._truncated(start)
            if end - start == 1:
                opened.append(first)
                if len(opened) > _MAX_DEPTH:
                    # What is nested so deep is a bomb, and scanning it again from each of its levels would be one.
                    self._rescannable = 0
                    message = f"it is nested more than {_MAX_DEPTH} levels deep"
                    raise _MalformedError("bad-document", message, start - self._at)
        elif first in _OPENER_OF and opened.pop() != _OPENER_OF[first]:
            message = f"what begins here is no JSON document: {chr(first)!r} closes what it did not open"
            raise _MalformedError("bad-document", message, start - self._at)

    def _fits(self, start: int, container: int) -> bool:
        """Tell whether a value may begin here, judging by what stands before it."""
        before = start - 1
        while self._buffer[before] in b" \t\r\n":
            before -= 1
        return self._buffer[before] in ((_ARRAY, _COMMA) if container == _ARRAY else (_COLON,))

    def _check_string(self, end: int) -> None:
        """See that a string without an end was cut by the window, not by a newline."""
        following = self._buffer[end : end + 2]
        if following[:1] == b"\n" or following == b"\\\n":
            raise self._truncated(end)

    def _truncated(self, found_at: int) -> _MalformedError:
        message = "the JSON document that begins here does not end"
        return _MalformedError("truncated-document", message, found_at - self._at)

    def _checked_length(self, length: int) -> int:
        if length > self._longest:
            message = (
                f"the JSON document that begins here is over max_document_bytes ({self._longest}); raise the limit"
            )
            raise _MalformedError("document-too-long", message, length)
        return length

    def _skip_gap(self) -> int:
        """Pass over what may stand between documents, and give the number of NULs in it."""
        nuls = 0
        while True:
            gap = _GAP.match(self._buffer, self._at)
            end = self._at if gap is None else gap.end()
            nuls += self._buffer.count(b"\x00", self._at, end)
            self._advance(end - self._at)
            # A byte order mark of three bytes may lie across the edge of the window.
            if len(self._buffer) - self._at >= len(_BOM) or not self._more():
                return nuls

    def _resync(self, found_after: int) -> None:
        """Go to the next line that begins like a document."""
        self._array_line = None
        self._is_resynced = True
        # A torn document may have taken the next one for a part of itself, so it is looked at again: within reason.
        self._rescannable -= found_after
        if self._rescannable < 0:
            self._advance(max(found_after - 1, 0))
        while (start := _FRESH_START.search(self._buffer, self._at)) is None:
            # The newline may be the last byte seen so far.
            self._advance(max(len(self._buffer) - self._at - 1, 0))
            if not self._more():
                self._advance(len(self._buffer) - self._at)
                return
        self._advance(start.end() - self._at)

    def _advance(self, count: int) -> None:
        self.line += self._buffer.count(b"\n", self._at, self._at + count)
        self._at += count

    def _more(self) -> bool:
        """Move the window on by reading about as much as it holds, so that long documents are scanned few times."""
        held = len(self._buffer) - self._at
        length = max(_CHUNK, min(held, self._longest - held))
        data = self._source.read_at(self._base + len(self._buffer), length)
        self._base += self._at
        self._buffer = self._buffer[self._at :] + data
        self._at = 0
        return bool(data)
