"""A file that whole lines are added to while somebody may already read it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from pixie_otel.errors import ConfigError

__all__ = ["RecordingFile", "in_words"]


class RecordingFile:
    """The end of a file, to which whole lines are added.

    Args:
        path: The file; it and its folder are made where they are not there.

    Raises:
        ConfigError: It cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Traces hold what users said.
            self._number = os.open(path, flags, 0o600)
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {in_words(error)}") from error
        self._is_torn = not self._ends_a_line()

    def _ends_a_line(self) -> bool:
        """Tell whether a line can begin at the end; after a crash another one may still stand open there."""
        # What is no ordinary file, such as a pipe, has no end to look at.
        with contextlib.suppress(OSError):
            size = os.lseek(self._number, 0, os.SEEK_END)
            if size:
                os.lseek(self._number, size - 1, os.SEEK_SET)
                return os.read(self._number, 1) == b"\n"
        return True

    def append(self, lines: bytes) -> None:
        """Add lines, all of them or none.

        Args:
            lines: The lines, each with its end.

        Raises:
            OSError: They cannot be written.
        """
        data = b"\n" + lines if self._is_torn else lines
        before = os.fstat(self._number).st_size
        written = 0
        try:
            # One call as a rule: a disk that is nearly full takes a part, and the next call says why.
            while written < len(data):
                written += os.write(self._number, data[written:] if written else data)
        except OSError:
            if written:
                self._take_back(before, written)
            raise
        self._is_torn = False

    def _take_back(self, before: int, written: int) -> None:
        self._is_torn = True
        # Somebody else's lines may have come after the part of ours.
        with contextlib.suppress(OSError):
            if os.fstat(self._number).st_size == before + written:
                os.ftruncate(self._number, before)
                self._is_torn = not self._ends_a_line()

    def is_where_it_was(self) -> bool:
        """Tell whether the path still leads to this file."""
        try:
            return os.path.samestat(os.fstat(self._number), self._path.stat())
        except OSError:
            return False

    def close(self) -> None:
        """Close it."""
        os.close(self._number)


def in_words(error: Exception) -> str:
    """Say what the system says of an error.

    Args:
        error: The error.
    """
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
