"""The life of trace files after they are closed: compressed, and deleted when together they take too much room."""

from __future__ import annotations

import gzip
import os
import re
import secrets
import shutil
import socket
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from pixie_otel.diagnostics import note, warn
from pixie_otel.exporters.leases import close_own, lease, open_own

__all__ = [
    "DiskSpace",
    "compress_file",
    "is_at",
    "own_file_name",
    "own_files",
    "rotated_file_name",
    "rotated_files",
]

_STAMP: Final = r"\d{8}T\d{6}Z-[0-9a-f]{8}"
_LOOK_SECONDS: Final = 5.0
_MUCH_SECONDS: Final = 0.01
_STALE_SECONDS: Final = 60.0
_COPY_BYTES: Final = 2**20
# Fast rather than small: it shares the machine with the application.
_COMPRESS_LEVEL: Final = 3


def own_file_name() -> str:
    """Make a name that no other file has: host, process, time in UTC, and chance."""
    host = re.sub(r"[^A-Za-z0-9_.-]", "_", socket.gethostname())[:64] or "host"
    return f"traces-{host}-{os.getpid()}-{_stamp()}.jsonl"


def own_files() -> re.Pattern[str]:
    """Match the names that `own_file_name` makes, on any host."""
    return re.compile(rf"traces-[A-Za-z0-9_.-]+-\d+-{_STAMP}\.jsonl(?:\.gz)?")


def rotated_file_name(path: Path) -> str:
    """Make the name for a file that is full, so that its own becomes free."""
    return f"{path.stem}-{_stamp()}{path.suffix}"


def rotated_files(path: Path) -> re.Pattern[str]:
    """Match the names that `rotated_file_name` makes of a path."""
    return re.compile(rf"{re.escape(path.stem)}-{_STAMP}{re.escape(path.suffix)}(?:\.gz)?")


def compress_file(path: Path) -> None:
    """Replace a closed file by its compressed form.

    Whatever interrupts it, nothing is lost and no reader finds a half: the compressed file appears whole. A crash
    between that and the removal leaves both, until the next look at the room takes the plain one away.

    Raises:
        OSError: It cannot be done; the file is as it was.
    """
    plain = open_own(path, os.O_RDONLY)
    try:
        if lease(plain, wait=True) and is_at(plain, path):
            _compress(plain, path)
            os.unlink(path)  # noqa: PTH108 - beside the other calls of `os`
    finally:
        close_own(plain)


def _compress(plain: int, path: Path) -> None:
    # Hidden, and of no suffix that a reader looks for.
    temporary = path.with_name(f".{path.name}.gz.{secrets.token_hex(4)}.tmp")
    packed = open_own(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        lease(packed)
        with (
            open(plain, "rb", closefd=False) as source,
            open(packed, "wb", closefd=False) as target,
            gzip.GzipFile("", "wb", _COMPRESS_LEVEL, target) as stream,
        ):
            shutil.copyfileobj(source, stream, _COPY_BYTES)
        os.fsync(packed)
        # The oldest goes first, and that is still told by when it was written.
        changed = os.fstat(plain).st_mtime_ns
        os.utime(temporary, ns=(changed, changed))
        os.replace(temporary, f"{path}.gz")  # noqa: PTH105 - beside the other calls of `os`
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108 - likewise
        raise
    finally:
        close_own(packed)


class _Found(NamedTuple):
    changed: int
    name: str
    size: int


class DiskSpace:
    """Keeps the trace files of one folder, of all processes together, below a number of bytes.

    It is looked at every few seconds and whenever room runs out. Several processes that write at the same time may
    exceed the number by what they write between two looks.

    Args:
        folder: The folder.
        closed: Matches the names of files that may be deleted once nobody has them open.
        max_bytes: How much the files may take together; ``None`` for no bound.
        active: The name of a file that counts and is never deleted.
    """

    def __init__(self, folder: Path, closed: re.Pattern[str], max_bytes: int | None, active: str = "") -> None:
        self._folder = folder
        self._closed = closed
        self._max_bytes = max_bytes
        self._active = active
        self._room = 0
        self._next_look = self._next_search = float("-inf")
        self._temporary = re.compile(rf"\.(?:{closed.pattern})\.[0-9a-f]{{8}}\.tmp")
        self.deleted_files = 0
        self.deleted_bytes = 0

    def take(self, size: int) -> bool:
        """Ask for room, for which the oldest closed files are deleted where it is needed."""
        if self._max_bytes is None:
            return True
        if size > self._max_bytes:
            # No file need go for what would not fit into an empty folder.
            return False
        now = time.monotonic()
        if now >= (self._next_search if size > self._room else self._next_look):
            started = time.thread_time()
            # Rather more room than is needed now, so that not every write has to look for it.
            self._room = self._look(self._max_bytes, max(size, self._max_bytes // 50))
            # In a folder of very many files a look is work, and must not be most of what is done.
            spent = time.thread_time() - started
            self._next_look = now + max(_LOOK_SECONDS, 100 * spent)
            self._next_search = now + 10 * spent if size > self._room and spent > _MUCH_SECONDS else now
        if size > self._room:
            return False
        self._room -= size
        return True

    def _look(self, most: int, needed: int) -> int:
        try:
            found = sorted(self._list())
        except FileNotFoundError:
            return most
        except OSError as error:
            warn(
                f"disk-space:{self._folder}",
                f"{self._folder}: cannot be listed ({error.strerror}), so max_total_bytes is not kept to",
            )
            return most
        room = most - sum(file.size for file in found)
        before = self.deleted_files
        for file in found:
            if room >= needed:
                break
            # An empty file is one that somebody is just opening.
            if file.size and file.name != self._active and self._delete(file.name):
                room += file.size
                self.deleted_files += 1
                self.deleted_bytes += file.size
        if self.deleted_files > before:
            note(
                f"disk-space-deleted:{self._folder}",
                f"{self._folder}: the oldest trace files are deleted to stay below max_total_bytes; "
                f"{self.deleted_files} files, {self.deleted_bytes} bytes so far",
            )
        return room

    def _list(self) -> list[_Found]:
        found: dict[str, _Found] = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    if entry.name == self._active or self._closed.fullmatch(entry.name):
                        status = entry.stat(follow_symlinks=False)
                        found[entry.name] = _Found(status.st_mtime_ns, entry.name, status.st_size)
                    elif self._temporary.fullmatch(entry.name):
                        self._delete_stale(entry)
        # Both forms of a file: whoever compressed it was killed before the plain one was removed.
        for name in [name for name in found if f"{name}.gz" in found]:
            if self._delete(name):
                del found[name]
        return list(found.values())

    def _delete_stale(self, entry: os.DirEntry[str]) -> None:
        if time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE_SECONDS:
            self._delete(entry.name)

    def _delete(self, name: str) -> bool:
        """Delete a file that nobody has open."""
        path = self._folder / name
        try:
            descriptor = open_own(path, os.O_RDONLY)
        except OSError:
            return False
        try:
            if not lease(descriptor) or not is_at(descriptor, path):
                return False
            os.unlink(path)  # noqa: PTH108 - beside the other calls of `os`
            return True
        except OSError:
            return False
        finally:
            close_own(descriptor)


def is_at(descriptor: int, path: Path) -> bool:
    """Say whether an open file is still the one that has its name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except OSError:
        return False


def _stamp() -> str:
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
