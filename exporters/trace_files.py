"""A file that only ever holds whole lines: opened, appended to, rotated, and opened again after whatever happened.

Lines are appended by one `os.write`. What could only be written in part is taken back, so that no line is half there,
and no line that was reported as lost is found in the file. Where it cannot be taken back, the next line starts on a
line of its own. Every failure is that write's alone: the next one opens the file, and makes its folder, as if it were
the first.

Either a folder is given, in which every process has files of its own, or a file, which processes may share. Who writes
to a shared file locks it for that time, and notices where others, or `logrotate`, have put another file in its place.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from pixie_otel.diagnostics import note
from pixie_otel.exporters.forks import in_child
from pixie_otel.exporters.leases import close_own, lease, open_own, release
from pixie_otel.exporters.rotation import (
    DiskSpace,
    compress_file,
    is_at,
    own_file_name,
    own_files,
    rotated_file_name,
    rotated_files,
)
from pixie_otel.exporters.work_queue import Outcome, WorkQueue

__all__ = ["Appended", "FileLimits", "SharedFile", "TraceFile", "TraceFolder", "open_target"]

# Never waits for the other end of a pipe, and never becomes the process's terminal.
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
# Another file is no way out of these.
_NO_ROOM: Final = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EROFS})
_TRIES: Final = 10


class FileLimits(NamedTuple):
    """When a file is closed and another one opened, and how much all of them may take."""

    max_file_bytes: int | None = None
    max_file_seconds: float | None = None
    max_total_bytes: int | None = None

    @property
    def rotate_bytes(self) -> int | None:
        """How large a file becomes: small enough that room can be made by deleting another one."""
        quarter = None if self.max_total_bytes is None else max(self.max_total_bytes // 4, 1)
        return min((size for size in (self.max_file_bytes, quarter) if size is not None), default=None)


class Appended(NamedTuple):
    """What became of the bytes that were to be appended."""

    kept: int
    """How many are in the file: all of them, or none, or what could not be taken back."""
    error: OSError | None = None
    """Why it is not all of them; ``None`` with nothing kept where there is no room below the bound."""


class TraceFile(ABC):
    """Appends whole lines to a file, from one thread at a time; see `TraceFolder` and `SharedFile`.

    Args:
        space: What the files may take together.
        limits: When a file is full.
        compress: Whether closed files are compressed, in a thread of their own.
        fsync: Whether every append waits until the disk has it.
    """

    def __init__(self, space: DiskSpace, limits: FileLimits, *, compress: bool, fsync: bool) -> None:
        self._space = space
        self._limits = limits
        self._fsync = fsync
        self._descriptor: int | None = None
        self._path = Path()
        self._opened = 0.0
        self._compression: WorkQueue[Path] | None = None
        if compress:
            self._compression = WorkQueue("the compression of trace files", _compress_all, _no_bytes, delay=0)
        in_child(self._forget)

    @property
    def deleted_files(self) -> int:
        """How many closed files were deleted to stay below the bound of all."""
        return self._space.deleted_files

    def append(self, data: bytes) -> Appended:
        """Append lines: all or, if it can be helped, nothing.

        Args:
            data: Whole lines.
        """
        if not self._space.take(len(data)):
            return Appended(0)
        appended = self._append(data)
        if appended.kept or appended.error is None or appended.error.errno in _NO_ROOM:
            return appended
        # A stale handle, a bad block, a file as large as files may be: another one may take it.
        self._give_up_file(appended.error)
        return self._append(data)

    def close(self, timeout: float | None = 5.0) -> bool:
        """Close the file, and wait for the compression of closed ones; what is left then stays as it is."""
        self._close()
        return self._compression is None or self._compression.shutdown(timeout)

    @abstractmethod
    def _ready(self, size: int) -> int:
        """Give the open file, where so many bytes may be appended, locked if others may write to it too."""

    def _give_up_file(self, reason: OSError) -> None:  # noqa: ARG002 - for who can do more about it
        """Make sure that the next append opens a file."""
        self._close()

    def _done(self) -> None:  # noqa: B027 - there is nothing to do where nobody else writes
        """Let others write."""

    @property
    def _is_exclusive(self) -> bool:
        """Whether nobody else writes now."""
        return True

    def _append(self, data: bytes) -> Appended:
        try:
            return self._write(self._ready(len(data)), data)
        except OSError as error:
            return Appended(0, error)
        finally:
            self._done()

    def _write(self, descriptor: int, data: bytes) -> Appended:
        start = os.fstat(descriptor).st_size
        # What a crash, of whoever it was, left unfinished must not take this line with it.
        torn = bool(start) and _last_byte(descriptor, start) != b"\n"
        view = memoryview(b"\n" + data if torn else data)
        sent = 0
        try:
            while sent < len(view):
                sent += _write_some(descriptor, view[sent:])
            if self._fsync:
                os.fsync(descriptor)
        except OSError as error:
            return Appended(max(self._take_back(descriptor, start, sent) - torn, 0), error)
        except BaseException:
            self._take_back(descriptor, start, sent)
            raise
        return Appended(len(data))

    def _take_back(self, descriptor: int, start: int, sent: int) -> int:
        """Undo a write that failed; gives how many bytes of it remain."""
        if not self._is_exclusive:
            return sent
        try:
            os.ftruncate(descriptor, start)
        except OSError:
            return sent
        return 0

    def _is_full(self, descriptor: int, size: int) -> bool:
        limits = self._limits
        used = os.fstat(descriptor).st_size
        if not used:
            return False
        if limits.max_file_seconds is not None and time.monotonic() - self._opened >= limits.max_file_seconds:
            return True
        most = limits.rotate_bytes
        return most is not None and used + size > most

    def _open(self, path: Path, flags: int = 0) -> int:
        descriptor = _open_file(path, flags)
        self._descriptor, self._path, self._opened = descriptor, path, time.monotonic()
        return descriptor

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            close_own(descriptor)

    def _forget(self) -> None:
        """In a forked child: the open file was the parent's, and is closed."""
        self._descriptor = None

    def _compress(self, path: Path) -> None:
        if self._compression is not None:
            self._compression.put(path)


class TraceFolder(TraceFile):
    """Files of this process alone in a folder, each with a name of its own."""

    def __init__(self, folder: Path, limits: FileLimits, *, compress: bool = True, fsync: bool = False) -> None:
        space = DiskSpace(folder, own_files(), limits.max_total_bytes)
        super().__init__(space, limits, compress=compress, fsync=fsync)
        self._folder = folder

    def _ready(self, size: int) -> int:
        descriptor = self._descriptor
        if descriptor is None:
            return self._open_next()
        if not is_at(descriptor, self._path):
            self._close()
            return self._open_next()
        if not self._is_full(descriptor, size):
            return descriptor
        full = self._path
        try:
            following = self._open_next()
        except OSError:
            # Rather too large a file than nothing written.
            return descriptor
        close_own(descriptor)
        self._compress(full)
        return following

    def _open_next(self) -> int:
        descriptor = self._open(self._folder / own_file_name(), os.O_EXCL)
        # As long as it is held, no process deletes the file to make room.
        lease(descriptor)
        return descriptor


class SharedFile(TraceFile):
    """One file for all processes that name it."""

    def __init__(self, path: Path, limits: FileLimits, *, compress: bool = True, fsync: bool = False) -> None:
        space = DiskSpace(path.parent, rotated_files(path), limits.max_total_bytes, active=path.name)
        super().__init__(space, limits, compress=compress, fsync=fsync)
        self._target = path
        self._locked = False
        self._too_large = False

    @property
    def _is_exclusive(self) -> bool:
        return self._locked

    def _ready(self, size: int) -> int:
        may_rotate = True
        for _ in range(_TRIES):
            descriptor = self._open(self._target) if self._descriptor is None else self._descriptor
            self._locked = lease(descriptor, wait=True)
            # Looked at under the lock: whoever rotates holds it too.
            if not is_at(descriptor, self._target):
                self._close()
            elif may_rotate and (self._too_large or self._is_full(descriptor, size)):
                may_rotate = self._rotate()
            else:
                return descriptor
        raise OSError(errno.ESTALE, "the file is replaced all the time", os.fspath(self._target))

    def _done(self) -> None:
        if self._locked and self._descriptor is not None:
            release(self._descriptor)

    def _give_up_file(self, reason: OSError) -> None:
        self._too_large = reason.errno == errno.EFBIG
        super()._give_up_file(reason)

    def _rotate(self) -> bool:
        """Move the full file away; ``False`` where it cannot be moved, and is written to all the same."""
        rotated = self._target.with_name(rotated_file_name(self._target))
        try:
            os.rename(self._target, rotated)  # noqa: PTH104 - beside the other calls of `os`
        except OSError:
            return False
        self._too_large = False
        locked = self._locked
        self._close()
        # Without locks others may still write to it.
        if locked:
            self._compress(rotated)
        return True


def open_target(
    path: str | os.PathLike[str], limits: FileLimits, *, compress: bool = True, fsync: bool = False
) -> TraceFile:
    """Take a path for a folder or for a file, as its user will have meant it.

    Args:
        path: A folder if one is there, or it ends with a separator, or it has no suffix.
        limits: When a file is full.
        compress: Whether closed files are compressed.
        fsync: Whether every append waits until the disk has it.
    """
    text = os.fspath(path)
    # Absolute, as an application may change the current directory.
    target = Path(os.path.abspath(text))  # noqa: PTH100 - links stay as they are
    if text.endswith(tuple(filter(None, (os.sep, os.altsep)))) or os.path.isdir(target) or not target.suffix:  # noqa: PTH112 - raises nothing
        return TraceFolder(target, limits, compress=compress, fsync=fsync)
    return SharedFile(target, limits, compress=compress, fsync=fsync)


def _open_file(path: Path, flags: int) -> int:
    """Open a file to append to, and make its folder where it is missing.

    Raises:
        OSError: It cannot be opened, or something else than a file has its name.
    """
    try:
        descriptor = open_own(path, _FLAGS | flags)
    except FileNotFoundError:
        _make_folder(path.parent)
        descriptor = open_own(path, _FLAGS | flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        close_own(descriptor)
        raise OSError(errno.EINVAL, "this is no regular file", os.fspath(path))
    return descriptor


def _make_folder(folder: Path) -> None:
    # `makedirs` would leave the folders on the way open to everybody.
    missing = itertools.takewhile(lambda one: not os.path.isdir(one), (folder, *folder.parents))  # noqa: PTH112 - raises nothing
    for one in reversed(list(missing)):
        with suppress(FileExistsError):
            os.mkdir(one, 0o700)  # noqa: PTH102 - beside the other calls of `os`


def _write_some(descriptor: int, data: memoryview) -> int:
    count = os.write(descriptor, data)
    if not count:
        raise OSError(errno.EIO, "nothing was taken")
    return count


def _last_byte(descriptor: int, size: int) -> bytes:
    if sys.platform == "win32":
        os.lseek(descriptor, -1, os.SEEK_END)
        return os.read(descriptor, 1)
    return os.pread(descriptor, 1, size - 1)


def _compress_all(paths: Sequence[Path]) -> Outcome:
    for path in paths:
        try:
            compress_file(path)
        except FileNotFoundError:
            # Deleted in the meantime, to make room.
            continue
        except OSError as error:
            note(f"compression:{path.parent}", f"{path}: stays as it is, as it cannot be compressed: {error.strerror}")
    return Outcome(len(paths), {})


def _no_bytes(_: Path) -> int:
    return 0
