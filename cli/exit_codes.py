"""The exit codes of the command, and which error ends it with which.

A run's own verdict gives 0, 1, 3, 4, 5, 130 or 143, see `pixie_otel.runs.verdict`.
"""

from __future__ import annotations

from typing import Final

from pixie_otel.errors import ConfigError, InputError, PixieError

__all__ = ["BUG", "INTERRUPTED", "TERMINATED", "exit_code_of"]

BUG: Final = 70
"""Something went wrong that is no fault of the user's, nor of what was judged: none of the other codes fits."""

INTERRUPTED: Final = 130
TERMINATED: Final = 143

_USAGE: Final = 2
_NOTHING_TO_READ: Final = 3
_INCOMPLETE: Final = 4


def exit_code_of(error: Exception) -> int:
    """Say which exit code an error ends the command with.

    Args:
        error: The error.
    """
    if isinstance(error, ConfigError):
        return _USAGE
    if isinstance(error, InputError):
        return _NOTHING_TO_READ
    return _INCOMPLETE if isinstance(error, PixieError) else BUG
