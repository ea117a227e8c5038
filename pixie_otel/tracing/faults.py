"""Telling of a fault of our own where telling may fail too: in the application's path, at the end of its stack."""

from __future__ import annotations

from pixie_otel.diagnostics import internal_error

__all__ = ["report"]


def report(where: str, fault: BaseException) -> None:
    """Tell of a fault of our own, and let nothing of that reach the application.

    Args:
        where: What was being done, as its user would say it.
        fault: What was raised.
    """
    try:  # noqa: SIM105 - a context manager is one more call, and the stack may be at its end
        internal_error(where, fault)
    except Exception:  # noqa: BLE001, S110 - the stack or the memory is at its end, and nobody can be told
        pass
