"""What becomes of what is put into a queue, in numbers that always add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Handled", "Outcome", "QueueStats"]


class Outcome(NamedTuple):
    """What became of one batch."""

    written: int
    dropped: Mapping[str, int]
    """How many were dropped, by reason."""


@dataclass(frozen=True, slots=True)
class QueueStats:
    """What became of everything that was put into a queue: ``ended == written + queued + sum(dropped.values())``."""

    name: str
    ended: int
    """How many were put in, those that were refused included."""
    written: int
    queued: int
    """How many wait or are being worked on."""
    dropped: Mapping[str, int]
    """How many were dropped, by reason."""


class Handled(NamedTuple):
    """What the worker has done; replaced as a whole, so that nobody sees half of a change."""

    items: int
    bytes: int
    written: int
    dropped: Counter[str]

    def after(self, items: int, size: int, written: int, dropped: Counter[str]) -> Handled:
        """Add a batch; what its account does not explain, or has too much of, is put right."""
        written = max(0, min(written, items))
        missing = items - written - dropped.total()
        if missing < 0:
            dropped, missing = Counter[str](), items - written
        unexplained = Counter(internal_error=missing)
        return Handled(
            self.items + items, self.bytes + size, self.written + written, self.dropped + dropped + unexplained
        )
