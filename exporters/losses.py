"""Saying that something is lost: once when it starts, once when it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from pixie_otel.diagnostics import warn

__all__ = ["LossWatch"]

_CAUSES: Final = {
    "after_shutdown": "ended after shutdown",
    "disk_cap": "max_total_bytes is used up, and no closed file is left to delete",
    "encode_error": "cannot be encoded",
    "export_failed": "the exporter failed",
    "internal_error": "failed inside pixie-otel",
    "io_error": "the file cannot be written",
    "queue_full": "spans end faster than they can be written",
    "redaction_failed": "secrets could not be removed",
    "shutdown_timeout": "there was no time left at shutdown",
    "too_large": "longer than a line may be",
}


class LossWatch:
    """Compares what was lost until now with what was lost before, and says what changed.

    Args:
        name: What loses, as its user would say it.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._last: Counter[str] = Counter()
        self._start: Counter[str] | None = None

    def look(self, dropped: Mapping[str, int], *, last: bool = False) -> None:
        """Say whether loss started or ended since the last look.

        Args:
            dropped: How many were lost so far, by reason.
            last: Whether nothing can be lost any more, so that a loss that goes on ends here.
        """
        now = Counter(dropped)
        grew = now.total() > self._last.total()
        if grew and self._start is None:
            self._start = self._last
            warn(
                f"loss-starts:{self._name}",
                f"{self._name}: spans are being lost ({_reasons(now - self._start)}). How many, by reason, is said "
                "when it ends, and by pixie_otel.stats() at any time.",
            )
        if self._start is not None and (last or not grew):
            lost = now - self._start
            self._start = None
            warn(
                f"loss-ends:{self._name}",
                f"{self._name}: lost {lost.total()} span{'s'[: lost.total() != 1]} ({_reasons(lost, counted=True)}); "
                + ("it is shut down." if last else "no more are being lost now."),
            )
        self._last = now


def _reasons(lost: Counter[str], *, counted: bool = False) -> str:
    return "; ".join(
        f"{reason}: {count}" if counted else f"{reason}: {_CAUSES.get(reason, 'see the exporter')}"
        for reason, count in sorted(lost.items())
    )
