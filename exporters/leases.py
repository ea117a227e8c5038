"""Open files that are this process's alone, and locks on them by which other processes know what is in use.

A lock is gone with the process that has it, however that ends. A forked child has its parent's files open too, though,
and their locks with them: it closes them at once, and whoever unlocks a file does so for all.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from pixie_otel.exporters.forks import in_child

if sys.platform != "win32":
    import fcntl

__all__ = ["close_own", "lease", "open_own", "release"]

# No link is followed, and no other program inherits the file.
_FLAGS: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class _OpenFiles(set[int]):
    def close_in_child(self) -> None:
        """Close what is the parent's, whose locks are not touched by that."""
        while self:
            with suppress(OSError):
                os.close(self.pop())


_open_files: Final = _OpenFiles()
in_child(_open_files.close_in_child)


def open_own(path: Path, flags: int) -> int:
    """Open a file for this process alone, readable by its user alone where it is made.

    Raises:
        OSError: It cannot be opened.
    """
    descriptor = os.open(path, flags | _FLAGS, 0o600)
    _open_files.add(descriptor)
    return descriptor


def close_own(descriptor: int) -> None:
    """Unlock and close what `open_own` opened."""
    # Forgotten first: a process that is forked in between must not close a number that means another file.
    _open_files.discard(descriptor)
    release(descriptor)
    with suppress(OSError):
        os.close(descriptor)


def lease(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file for this process alone, until it is closed.

    Args:
        descriptor: The open file.
        wait: Whether to wait for whoever has it.

    Returns:
        Whether it is locked; ``False`` also where the system or the file system has no such locks.
    """
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def release(descriptor: int) -> None:
    """Unlock an open file that stays open."""
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
