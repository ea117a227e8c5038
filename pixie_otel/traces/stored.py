"""Bytes that can be read from any offset: a plain file as it lies, or what was unpacked or piped in."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, Self

from pixie_otel.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from _typeshed import WriteableBuffer

__all__ = ["PlainFile", "SourceBytes", "Spool"]

_READER_BUFFER = 1024 * 1024


class _Store(Protocol):
    """Where bytes lie."""

    def read_at(self, offset: int, length: int) -> bytes:
        """Give up to `length` bytes from `offset`, fewer only at the end."""
        ...

    def growth(self) -> int:
        """Give how many bytes were added since it was opened; negative where it was cut short."""
        ...


class PlainFile:
    """A regular file, read where it lies.

    Once closed it is opened again for each read, so that thousands of files need not stay open.

    Args:
        path: The file.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._file: BinaryIO | None = self._path.open("rb", buffering=0)
        self._identity = _identity(self._file)
        self._descriptor = None if sys.platform == "win32" else self._file.fileno()
        self.size = os.fstat(self._file.fileno()).st_size
        """The size when it was opened."""

    def read_at(self, offset: int, length: int) -> bytes:
        """Give up to `length` bytes from `offset`, fewer only at the end of the file.

        Raises:
            InputError: The file was closed, and another one has taken its place.
        """
        # Most reads of all come here, a span each.
        if self._descriptor is not None:
            return os.pread(self._descriptor, length, offset)
        if self._file is not None:
            return _read_at(self._file, offset, length)
        with self._path.open("rb", buffering=0) as file:
            if _identity(file) != self._identity:
                raise InputError(f"{self._path}: another file took its place while it was read; run again on a copy")
            return _read_at(file, offset, length)

    def growth(self) -> int:
        """Give how many bytes were added since it was opened; negative where it was cut short."""
        status = self._path.stat() if self._file is None else os.fstat(self._file.fileno())
        return status.st_size - self.size

    def close(self) -> None:
        """Let go of the file; reading again opens it for that read."""
        self._descriptor = None
        if self._file is not None:
            self._file.close()
            self._file = None


class Spool:
    """A place for bytes that can be had only once: in memory while they are few, then in a temporary file.

    One spool serves any number of inputs, one after another, so that memory and descriptors stay bounded for a folder
    of any size. The file is readable by its owner only and has no name where the system allows that.

    Args:
        memory_bytes: How much stays in memory.
    """

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self._memory = bytearray()
        self._file: BinaryIO | None = None
        self.size = 0
        """How many bytes there are."""

    def append(self, chunk: bytes) -> None:
        """Add bytes at the end.

        Args:
            chunk: The bytes.

        Raises:
            InputError: The temporary file cannot be written.
        """
        if self._file is None and self.size + len(chunk) <= self._memory_bytes:
            self._memory += chunk
        else:
            try:
                self._append_to_file(chunk)
            except OSError as error:
                reason = error.strerror or str(error)
                raise InputError(
                    f"cannot unpack into the temporary folder {tempfile.gettempdir()}: {reason}; "
                    f"make room there, or set TMPDIR to a folder with more"
                ) from error
        self.size += len(chunk)

    def _append_to_file(self, chunk: bytes) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it lives as long as the spool
            _write_all(self._file, bytes(self._memory))
            self._memory.clear()
        # On Windows reading moves the position.
        self._file.seek(self.size)
        _write_all(self._file, chunk)

    def read_at(self, offset: int, length: int) -> bytes:
        """Give up to `length` bytes from `offset`, fewer only at the end."""
        if self._file is None:
            return bytes(self._memory[offset : offset + length])
        return _read_at(self._file, offset, length)

    def growth(self) -> int:
        """Give 0: what was put here stays as it is."""
        return 0

    def close(self) -> None:
        """Free the memory and remove the file."""
        self._memory.clear()
        self.size = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class SourceBytes:
    """The text of one input as bytes, unpacked, to be read in order and from any offset.

    Closing lets go of the file. `pread` works after that for files read where they lie (it opens the file each time),
    and for unpacked ones as long as the spool they were put into is open.

    Args:
        name: The input's name as the user knows it.
        store: Where the bytes lie.
        start: Where in the store they begin.
        size: How many there are.
        on_close: What closing closes.
    """

    def __init__(self, name: str, store: _Store, *, start: int, size: int, on_close: Callable[[], None]) -> None:
        self.name = name
        self.size = size
        self._store = store
        self._start = start
        self._on_close = on_close

    def read_at(self, offset: int, length: int) -> bytes:
        """Give up to `length` bytes from `offset`, fewer at the end.

        Args:
            offset: Where to begin.
            length: How many.
        """
        return self._store.read_at(self._start + offset, max(min(length, self.size - offset), 0))

    def pread(self, offset: int, length: int) -> bytes:
        """Give exactly the bytes that were read at `offset` before.

        Args:
            offset: Where they begin.
            length: How many.

        Raises:
            InputError: They are no longer there.
        """
        try:
            data = self._store.read_at(self._start + offset, length)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(
                f"{self.name}: cannot be read a second time: {reason}; leave the files be until the reading ends"
            ) from error
        if len(data) < length:
            raise InputError(f"{self.name}: the file was cut short while it was read; run again on a copy of it")
        return data

    def growth(self) -> int:
        """Give how many bytes were added since the input was opened; negative where it was cut short."""
        return self._store.growth()

    def reader(self) -> io.BufferedReader:
        """Give a new file object over the bytes, from the beginning."""
        return io.BufferedReader(_Window(self), _READER_BUFFER)

    def close(self) -> None:
        """Let go of what was opened."""
        self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class _Window(io.RawIOBase):
    """The bytes of an input as a raw file with a position of its own."""

    def __init__(self, source: SourceBytes) -> None:
        super().__init__()
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_SET:
            raise io.UnsupportedOperation("only offsets from the beginning")
        self._position = offset
        return offset

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: WriteableBuffer) -> int:
        target = memoryview(buffer)
        data = self._source.read_at(self._position, len(target))
        target[: len(data)] = data
        self._position += len(data)
        return len(data)


def _identity(file: BinaryIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino


def _read_at(file: BinaryIO, offset: int, length: int) -> bytes:
    if sys.platform != "win32":
        return os.pread(file.fileno(), length, offset)
    file.seek(offset)
    return file.read(length)


def _write_all(file: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
