"""What pixie-otel says of itself inside somebody else's application: few words, and never an exception.

Everything goes to the logger ``pixie_otel``. A message of one kind is logged at most once a minute, so that a fault
that every span meets does not fill the application's logs; how often it was met is said with the next one.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import Final

__all__ = ["LOGGER", "internal_error", "internal_errors", "note", "warn"]

LOGGER: Final = logging.getLogger("pixie_otel")
_QUIET_SECONDS: Final = 60.0

_last: dict[str, float] = {}
_held_back: dict[str, int] = {}
_errors: dict[str, int] = {}
_busy = threading.local()


def warn(kind: str, message: str) -> None:
    """Log a warning, unless one of its kind was logged within the last minute.

    Args:
        kind: A short, stable name of what is warned of.
        message: What happened, and what to do about it.
    """
    _log(logging.WARNING, kind, message)


def note(kind: str, message: str) -> None:
    """Log what is no fault but good to know, on the level of information; held back as `warn` holds back."""
    _log(logging.INFO, kind, message)


def internal_error(where: str, error: BaseException) -> None:
    """Count a fault of our own, and log it; whoever calls goes on as if nothing had happened.

    Args:
        where: What was being done, as its user would say it.
        error: What was raised.
    """
    # Whatever fails here, the application must not notice, and a counter is no reason to fail.
    with contextlib.suppress(Exception):
        _errors[where] = _errors.get(where, 0) + 1
        _log(
            logging.WARNING,
            f"internal-error:{where}",
            f"{where} failed inside pixie-otel ({type(error).__name__}); the application is not affected, but what was "
            "to be recorded is missing. Please report it, with the traceback that logging on level DEBUG shows.",
        )
        if LOGGER.isEnabledFor(logging.DEBUG):
            LOGGER.debug("%s failed", where, exc_info=error)


def internal_errors() -> dict[str, int]:
    """Say how many faults of our own there were, by what was being done."""
    return dict(_errors)


def _log(level: int, kind: str, message: str) -> None:
    # An application's log handler may itself be traced, and would come back here for ever.
    if getattr(_busy, "now", False):
        return
    _busy.now = True
    try:
        moment = time.monotonic()
        last = _last.get(kind)
        if last is not None and moment - last < _QUIET_SECONDS:
            _held_back[kind] = _held_back.get(kind, 0) + 1
            return
        _last[kind] = moment
        missed = _held_back.pop(kind, 0)
        LOGGER.log(level, "%s%s", message, f" (and {missed} times more since it was last said)" if missed else "")
    except Exception:  # noqa: BLE001, S110 - a log handler of the application's failed, and there is nowhere to say so
        pass
    finally:
        _busy.now = False
