"""Locks on open files, by which processes know what others use; gone with the process, however it ends."""

from __future__ import annotations

import sys
from contextlib import suppress

if sys.platform != "win32":
    import fcntl

__all__ = ["lease", "release"]


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
