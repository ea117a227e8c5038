"""Saying that something is lost: once when it starts, once when it ends."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Final

from pixie_otel.diagnostics import warn

__all__ = ["LossWatch"]

# As long as a message of one kind is held back: no start and no end is missing from the log.
_QUIET_SECONDS: Final = 60.0
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

    A loss ends when nothing was lost for a minute: a queue that is too full now and then says so once.

    Args:
        name: What loses, as its user would say it.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._last: Counter[str] = Counter()
        self._start: Counter[str] | None = None
        self._latest = 0.0

    def look(self, dropped: Mapping[str, int], *, last: bool = False) -> None:
        """Say whether loss started or ended since the last look.

        Args:
            dropped: How many were lost so far, by reason.
            last: Whether nothing can be lost any more, so that a loss that goes on ends here.
        """
        now = Counter(dropped)
        grew = now.total() > self._last.total()
        moment = time.monotonic()
        if grew:
            self._latest = moment
        if grew and self._start is None:
            self._start = self._last
            warn(
                f"loss-starts:{self._name}",
                f"{self._name}: spans are being lost ({_reasons(now - self._start)}). How many, by reason, is said "
                "when it ends, and by pixie_otel.stats() at any time.",
            )
        if self._start is not None and (last or (not grew and moment - self._latest >= _QUIET_SECONDS)):
            lost = now - self._start
            self._start = None
            warn(
                f"loss-{'lasts' if last else 'ends'}:{self._name}",
                f"{self._name}: lost {lost.total()} span{'s'[: lost.total() != 1]} ({_reasons(lost, counted=True)}); "
                + ("it is shut down." if last else "no more are being lost now."),
            )
        self._last = now


def _reasons(lost: Counter[str], *, counted: bool = False) -> str:
    return "; ".join(
        f"{reason}: {count}" if counted else f"{reason}: {_CAUSES.get(reason, 'see the exporter')}"
        for reason, count in sorted(lost.items())
    )
