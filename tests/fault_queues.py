"""Queues and what stands behind them, for facts about the queue."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from pixie_otel.exporters.work_queue import Outcome, WorkQueue


def no_size(_: object) -> int:
    """Measure nothing."""
    return 1


class Sink:
    """Takes batches, when it is let."""

    def __init__(self, *, open_: bool = True) -> None:
        self.batches: list[list[int]] = []
        self.entered = threading.Event()
        self.open = threading.Event()
        self.closed = 0
        if open_:
            self.open.set()

    def __call__(self, batch: Sequence[int]) -> Outcome:
        """Take a batch."""
        self.entered.set()
        assert self.open.wait(30)
        self.batches.append(list(batch))
        return Outcome(len(batch), {})

    def close(self) -> None:
        """Count how often it is closed."""
        self.closed += 1

    @property
    def items(self) -> list[int]:
        """Give all that was taken."""
        return [item for batch in self.batches for item in batch]


@contextmanager
def queue_to(handle: Callable[[Sequence[int]], Outcome], **options: object) -> Generator[WorkQueue[int]]:
    """Give a queue that is shut down afterwards."""
    queue = WorkQueue(str(options.pop("name", "a test")), handle, no_size, **options)  # type: ignore[arg-type]
    try:
        yield queue
    finally:
        queue.shutdown(10)


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def refuse_threads(_: threading.Thread) -> None:
    """Stand in for `Thread.start` where no thread can be had."""
    raise RuntimeError("can't start new thread")
