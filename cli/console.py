"""Where the command's words go: results to stdout, talk to stderr, each in what its reader can take."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import Final, TextIO

from pixie_otel.errors import PixieError
from pixie_otel.reports.printable import printable
from pixie_otel.reports.style import Style

__all__ = ["Console"]

_NARROWEST: Final = 60
_PLAIN: Final = str.maketrans({"…": "...", "·": "-", "→": "->", "│": "|", "├": "|", "└": "`", "─": "-"})
"""What our own signs become where an encoding does not have them; everything else becomes an escape."""


class Console:
    """The two streams of a command.

    Args:
        out: Where results go; stdout as it is now, when not given.
        err: Where talk goes; stderr, when not given.
        environment: The environment; the process's own, when not given.

    Attributes:
        width: How many cells a line has.
        style: How results are coloured.
    """

    def __init__(
        self, out: TextIO | None = None, err: TextIO | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        # Both may be closed; then nobody reads what is said.
        self._out = out or sys.stdout or io.StringIO()
        self._err = err or sys.stderr or io.StringIO()
        self._environment = os.environ if environment is None else environment
        self._is_read = True
        self.width = max(shutil.get_terminal_size((80, 24)).columns, _NARROWEST)
        self.style = Style(_wants_color(self._out, self._environment))

    def write(self, lines: Iterable[str]) -> bool:
        """Write results, a line at a time.

        Args:
            lines: Lines that are printable already.

        Returns:
            Whether anybody still reads them: a pager or `head` may be closed before the end.

        Raises:
            PixieError: They cannot be written for another reason, such as a full disk.
        """
        try:
            for line in lines:
                if not self._is_read:
                    break
                self._out.write(_encodable(line, self._out) + "\n")
            self._out.flush()
        except BrokenPipeError:
            self._is_read = False
            _discard(self._out)
        except OSError as error:
            _discard(self._out)
            raise PixieError(f"stdout cannot be written to: {error.strerror}") from error
        return self._is_read

    def say(self, text: str) -> None:
        """Say something that is no result.

        Args:
            text: Any text; what a terminal would obey is escaped.
        """
        try:
            self._err.write(_encodable(printable(text, keep="\n"), self._err) + "\n")
            self._err.flush()
        except OSError:
            # Nobody listens, and there is nobody left to be told of that.
            _discard(self._err)

    @property
    def shows_progress(self) -> bool:
        """Whether somebody sees the talk as it goes: a person at a terminal, and no build server."""
        is_ci = self._environment.get("CI", "").lower() not in {"", "0", "false"}
        return self._err.isatty() and not is_ci and self._environment.get("TERM") != "dumb"

    def show_progress(self, text: str) -> None:
        """Show a text in place of the one before; an empty one takes it away.

        Args:
            text: A short text.
        """
        self._err.write(f"\r\x1b[2K{_encodable(printable(text), self._err)}")
        self._err.flush()


def _wants_color(stream: TextIO, environment: Mapping[str, str]) -> bool:
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"


def _encodable(text: str, stream: TextIO) -> str:
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text


def _discard(stream: TextIO) -> None:
    """Send what is still buffered nowhere, as Python would complain about it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)
