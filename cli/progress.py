"""How far a run is, on one line that is gone when it ends."""

from __future__ import annotations

from collections import Counter
from time import monotonic
from types import TracebackType
from typing import Final, Self

from pixie_otel.cli.console import Console
from pixie_otel.evals.case import CaseResult
from pixie_otel.evals.evaluation import Outcome

__all__ = ["Progress"]

_PAUSE_S: Final = 0.1
"""How long a line stands at least, so that showing it costs nothing."""


class Progress:
    """Counts judged cases where somebody can see it.

    Args:
        console: Where it shows.
        shown: Whether it shows where somebody can see it.
    """

    def __init__(self, console: Console, *, shown: bool) -> None:
        self._console = console
        self._shown = shown and console.shows_progress
        self._counts: Counter[Outcome] = Counter()
        self._next = 0.0

    def __enter__(self) -> Self:
        if self._shown:
            self._console.show_progress("Reading …")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            self._console.show_progress("")

    def add(self, result: CaseResult) -> None:
        """Count a case.

        Args:
            result: The judged case.
        """
        if not self._shown:
            return
        self._counts[result.outcome] += 1
        if monotonic() >= self._next:
            self._next = monotonic() + _PAUSE_S
            bad = [
                f"{self._counts[kind]} {kind.value}" for kind in (Outcome.FAILED, Outcome.ERROR) if self._counts[kind]
            ]
            self._console.show_progress(f"Judged {', '.join([str(self._counts.total()), *bad])} …")
