"""From what an input holds to its text: gzip and zstd unpacked, UTF-16 and UTF-32 turned into UTF-8, all within caps.

So is what is no text but OTLP all the same, and what a container's runtime wrapped.
Everything is a stream of chunks. Damage ends the stream with a complaint; what came before it is kept.
"""

from __future__ import annotations

import codecs
import gzip
import io
import itertools
import sys
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol

from pixie_otel.errors import MissingExtraError
from pixie_otel.traces.containers import container_form, unwrapped
from pixie_otel.traces.formats import BinaryForm, binary_form, describe_foreign

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import WriteableBuffer

    from pixie_otel.traces.limits import ReadLimits

__all__ = [
    "HEAD_BYTES",
    "Complain",
    "NoteForm",
    "PackedInput",
    "foreign_message",
    "is_plain",
    "text_chunks",
    "zstd_library",
]

HEAD_BYTES: Final = 4096
"""How much of the beginning tells what an input is."""

_CHUNK: Final = 128 * 1024
_MOST_LEVELS: Final = 3
_RATIO_GRACE: Final = 64 * 1024 * 1024
_WINDOW_LOG_MAX: Final = 27
"""128 MiB, what the `zstd` command accepts unless told otherwise."""

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_BOMS: Final = (
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Complain(Protocol):
    """What is told of a problem: its kind, and the message."""

    def __call__(self, kind: str, message: str) -> None:
        """Report a problem."""
        ...


class NoteForm(Protocol):
    """What is told in which form other than OTLP JSON an input was written: what it is, and how often."""

    def __call__(self, name: str, count: int = 1) -> None:
        """Note a form."""
        ...


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


class PackedInput(io.RawIOBase):
    """An input as it was given, counted as it is consumed.

    Args:
        inner: Where it comes from.
        digest: What is to see every byte as well, if anything.
    """

    def __init__(self, inner: _Readable, digest: _Digest | None = None) -> None:
        super().__init__()
        self.consumed = 0
        self._inner = inner
        self._digest = digest

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer, waiting for a pipe to give enough, so that only the end gives less."""
        target = memoryview(buffer)
        filled = 0
        while filled < len(target):
            piece = self._inner.read(len(target) - filled)
            if piece is None:
                raise BlockingIOError("it is a non-blocking descriptor")
            if not piece:
                break
            target[filled : filled + len(piece)] = piece
            filled += len(piece)
            if self._digest is not None:
                self._digest.update(piece)
        self.consumed += filled
        return filled


def is_plain(head: bytes) -> bool:
    """Tell whether an input can be read as it lies.

    Args:
        head: Its first `HEAD_BYTES`.
    """
    return (
        _packing(head) is None
        and _encoding(head) is None
        and describe_foreign(head) is None
        and container_form(head) is None
    )


def text_chunks(packed: PackedInput, limits: ReadLimits, complain: Complain, note: NoteForm) -> Iterator[bytes]:
    """Give the UTF-8 text of an input in chunks; nothing, and a complaint, where it is no text.

    Args:
        packed: The input as it was given.
        limits: How much it may unpack to.
        complain: Told of damage, caps and foreign formats.
        note: Told what it was made of, where that was not text.

    Raises:
        MissingExtraError: It is zstd, and the library for that is not installed.
    """
    reader = io.BufferedReader(packed, _CHUNK)
    chunks: Iterator[bytes] = iter(lambda: reader.read(_CHUNK), b"")
    head, chunks = _with_head(_capped(chunks, packed, limits, complain))
    level = 0
    while (packing := _packing(head)) is not None:
        level += 1
        if level > _MOST_LEVELS:
            complain(
                "nested-compression",
                f"it is packed more than {_MOST_LEVELS} times, {packing} data last; unpack it and give the result",
            )
            return
        unpacked = _gunzip(_Chunks(chunks), complain) if packing == "gzip" else _unzstd(_Chunks(chunks), complain)
        head, chunks = _with_head(_capped(unpacked, packed, limits, complain))
    if (encoding := _encoding(head)) is not None:
        head, chunks = _with_head(_transcode(chunks, encoding, complain))
    binary = binary_form(head)
    if binary is not None:
        note(binary.value)
        yield from _lines_of(chunks, binary, limits, complain)
    elif (foreign := describe_foreign(head)) is not None:
        complain("foreign-format", foreign_message(foreign))
    elif (container := container_form(head)) is not None:
        yield from unwrapped(chunks, limits, lambda count: note(container, count))
    else:
        yield from chunks


def _lines_of(chunks: Iterator[bytes], form: BinaryForm, limits: ReadLimits, complain: Complain) -> Iterator[bytes]:
    # Few inputs are of this form, and reading it takes libraries that are slow to load.
    from pixie_otel.traces.binary import json_lines

    return json_lines(chunks, form, limits, complain)


def foreign_message(foreign: str) -> str:
    """Say that an input is not what is read here.

    Args:
        foreign: What it is.
    """
    return f"this is {foreign}, not OTLP JSON; give traces as OTLP JSON (.jsonl or .json, also as .gz or .zst)"


class _Chunks(io.RawIOBase):
    """Chunks as a file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        super().__init__()
        self._chunks = chunks
        self._held = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if not self._held:
            self._held = next(self._chunks, b"")
        target = memoryview(buffer)
        length = min(len(target), len(self._held))
        target[:length] = self._held[:length]
        self._held = self._held[length:]
        return length


def _packing(head: bytes) -> str | None:
    if head.startswith(_GZIP):
        return "gzip"
    # Parallel compressors begin with a skippable frame: 0x184D2A50 to 0x184D2A5F, little-endian.
    skippable = head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F
    return "zstd" if head.startswith(_ZSTD) or skippable else None


def _encoding(head: bytes) -> str | None:
    return next((encoding for mark, encoding in _BOMS if head.startswith(mark)), None)


def _with_head(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= HEAD_BYTES:
            break
    return head[:HEAD_BYTES], itertools.chain([head] if head else [], chunks)


def _capped(chunks: Iterator[bytes], packed: PackedInput, limits: ReadLimits, complain: Complain) -> Iterator[bytes]:
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > limits.max_decompressed_bytes:
            complain(
                "too-much-data",
                f"it holds more than {limits.max_decompressed_bytes} bytes, the limit max_decompressed_bytes; "
                f"the rest was not read: split the file, or raise the limit",
            )
            return
        if total > _RATIO_GRACE and total > packed.consumed * limits.max_ratio:
            complain(
                "compression-bomb",
                f"it unpacks to more than {limits.max_ratio} times its size, the limit max_ratio; "
                f"the rest was not read: if the file can be trusted, unpack it first or raise the limit",
            )
            return
        yield chunk


def _gunzip(packed: io.RawIOBase, complain: Complain) -> Iterator[bytes]:
    reader: BinaryIO = io.BufferedReader(packed, _CHUNK)
    with gzip.GzipFile(fileobj=reader) as unpacked:
        while True:
            try:
                chunk = unpacked.read1(_CHUNK)
            except EOFError:
                complain("truncated-gzip", "the gzip data ends too early; what came before the break was read")
                return
            except (gzip.BadGzipFile, zlib.error) as error:
                complain("bad-gzip", f"the gzip data is damaged ({error}); what came before the damage was read")
                return
            if not chunk:
                return
            yield chunk


def zstd_library() -> Any:  # noqa: ANN401 - a module
    """Give the library for zstd: Python's own, or the one that brings it to older versions.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise MissingExtraError("Reading zstd-compressed files", "zstd") from error
    return zstd


def _unzstd(packed: io.RawIOBase, complain: Complain) -> Iterator[bytes]:
    zstd = zstd_library()
    reader: BinaryIO = io.BufferedReader(packed, _CHUNK)
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG_MAX}
    frame = zstd.ZstdDecompressor(options=options)
    data = reader.read(_CHUNK)
    while data or not frame.needs_input:
        try:
            chunk = frame.decompress(data, _CHUNK)
        except zstd.ZstdError as error:
            complain("bad-zstd", _zstd_message(str(error)))
            return
        if chunk:
            yield chunk
        data = b""
        if frame.eof:
            data = frame.unused_data
            frame = zstd.ZstdDecompressor(options=options)
            # A file may end after any frame.
            if not data and not (data := reader.read(_CHUNK)):
                return
        elif frame.needs_input:
            data = reader.read(_CHUNK)
    complain("truncated-zstd", "the zstd data ends too early; what came before the break was read")


def _zstd_message(error: str) -> str:
    if "too much memory" in error:
        mebibytes = 1 << (_WINDOW_LOG_MAX - 20)
        return f"the zstd data needs a window of more than {mebibytes} MiB; unpack it with `zstd -d --long=31` first"
    return f"the zstd data is damaged ({error}); what came before the damage was read"


def _transcode(chunks: Iterator[bytes], encoding: str, complain: Complain) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    for chunk in itertools.chain(chunks, [b""]):
        final = not chunk
        try:
            text = decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            complain("invalid-text", f"it is not valid {encoding.upper()} ({error.reason}); U+FFFD was put there")
            decoder.errors = "replace"
            text = decoder.decode(chunk, final)
        if text:
            yield text.encode()
