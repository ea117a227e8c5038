"""SIGTERM as an exception, so that a command ends in order when it is told to, as by a build server."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Generator
from types import FrameType

__all__ = ["raised_on_sigterm"]


@contextlib.contextmanager
def raised_on_sigterm(terminated: type[KeyboardInterrupt]) -> Generator[None]:
    """Raise an exception when the process is told to end.

    Args:
        terminated: The exception.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        raise terminated

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:
        # Only the main thread takes signals; whoever calls this from another one ends it in another way.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
