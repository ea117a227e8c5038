"""Lines that a container's runtime wrapped, as Docker and Kubernetes write them, back to what the program wrote.

Runtimes cut what is longer than 16 KiB; the pieces are joined. Every line gives one line, an empty one for a piece
that is not the last, so that line numbers stay what they were.

Source: Docker's ``json-file`` driver, the CRI log format of Kubernetes, and Fluent Bit's records of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from pixie_otel.traces.limits import ReadLimits

__all__ = ["container_form", "unwrapped"]

_CRI: Final = re.compile(
    rb"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[\d.]*(?:Z|[+-]\d\d:\d\d) (stdout|stderr) ([PF])(?::[\w:]*)? ?", re.MULTILINE
)
_SCALAR: Final = rb'"[\w@.\-]+"\s*:\s*(?:"[^"\\]*"|[\d.]+|null)\s*,\s*'
_LOG: Final = rb'"log"\s*:\s*"'
_DOCKER: Final = re.compile(
    rb'^\{\s*(?:%b|(?:%b)*"(?:stream|_p|logtag)"\s*:\s*"\w+"\s*,\s*(?:%b)*%b)' % (_LOG, _SCALAR, _SCALAR, _LOG),
    re.MULTILINE,
)
_PIECE_BYTES: Final = 16 * 1024
_NEWLINE: Final = b"\n"

_NAMES: Final = {"cri": "a Kubernetes log", "docker": "a Docker log"}


class _Pod(Struct, gc=False):
    pod_name: str | None = None
    container_name: str | None = None


class _Record(Struct, gc=False):
    """A line of Docker's, or of Fluent Bit's."""

    log: str
    stream: str | None = None
    logtag: str | None = None
    p: str | None = msgspec.field(name="_p", default=None)
    kubernetes: _Pod | None = None


class _Piece(NamedTuple):
    """What a line held: which stream it is of, the text, and whether it ends there."""

    stream: object
    text: bytes
    is_last: bool


_decode: Final = msgspec.json.Decoder(_Record).decode


def container_form(head: bytes) -> str | None:
    """Say whose wrapping the lines of an input have; ``None`` where they have none.

    Args:
        head: The first few kilobytes.
    """
    if _CRI.search(head) is not None:
        return _NAMES["cri"]
    return _NAMES["docker"] if _DOCKER.search(head) is not None else None


def unwrapped(chunks: Iterator[bytes], limits: ReadLimits, note: Callable[[int], None]) -> Iterator[bytes]:
    """Give what was written before it was wrapped; lines that are not wrapped, as they are.

    Args:
        chunks: The text.
        limits: How long a line may be; what is longer is handed on to be reported.
        note: Told at the end how many lines were wrapped.
    """
    pending: dict[object, list[bytes]] = {}
    count = 0
    for line in _lines(chunks, limits.max_line_bytes):
        piece = _piece(line)
        if piece is None:
            yield line
            continue
        count += 1
        held = pending.setdefault(piece.stream, [])
        held.append(piece.text)
        if piece.is_last or sum(map(len, held)) > limits.max_line_bytes:
            yield b"".join(pending.pop(piece.stream))
        yield _NEWLINE
    for held in pending.values():
        # Its writer was cut off, or the rest is in the next file.
        yield b"".join(held)
    note(count)


def _lines(chunks: Iterator[bytes], longest: int) -> Iterator[bytes]:
    """Give lines with their ends; one that is too long in pieces, none of which begins like a wrapped line."""
    rest = b""
    for chunk in chunks:
        data = rest + chunk
        *lines, rest = data.split(_NEWLINE)
        for line in lines:
            yield line + _NEWLINE
        if len(rest) > longest:
            yield rest
            rest = b""
    if rest:
        yield rest


def _piece(line: bytes) -> _Piece | None:
    head = _CRI.match(line)
    if head is not None:
        text = line[head.end() :].rstrip(b"\r\n")
        return _Piece(head[1], text, head[2] == b"F")
    if not line.startswith(b"{") or b'"log"' not in line:
        return None
    try:
        record = _decode(line)
    except (ValueError, RecursionError):
        return None
    text = record.log.encode("utf-8", "replace")
    tag = record.logtag or record.p
    is_last = tag != "P" if tag else text.endswith(_NEWLINE) or len(text) < _PIECE_BYTES
    # Between the parts of JSON a space is as good as a newline, and a line stays one.
    text = text.rstrip(b"\r\n").replace(_NEWLINE, b" ")
    pod = record.kubernetes
    return _Piece((record.stream, pod and pod.pod_name, pod and pod.container_name), text, is_last)
