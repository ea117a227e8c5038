"""What ends a run early, with the run as far as it came."""

from __future__ import annotations

from pixie_otel.runs.run import Run

__all__ = ["Interrupted", "Terminated"]


class Terminated(KeyboardInterrupt):
    """The process was told to end (SIGTERM); raise it from a signal handler while a run is going on."""


class Interrupted(KeyboardInterrupt):
    """A run was interrupted; what was judged until then is kept.

    Attributes:
        run: The run, with the results that were done and an exit code of 130, or 143 for SIGTERM.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(run.verdict.text)
        self.run = run
