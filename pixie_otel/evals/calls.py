"""Calls of users' evaluators: one evaluator on one case, run where it can harm neither the others nor the exit.

A `Call` runs in a `WorkerThread` or, where it is ``async``, on an event loop. It keeps what came of it and then posts
itself, from wherever it ran; the engine collects it in its own thread.
"""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from pixie_otel.evals.copies import copy_evaluable

if TYPE_CHECKING:
    from pixie_otel.evals.binding import BoundEvaluator
    from pixie_otel.evaluable import Evaluable
    from pixie_otel.traces.trace import Trace

__all__ = ["Call", "Post", "WorkerThread"]

Post: TypeAlias = "Callable[[Call], None]"
"""Takes a call that has ended; called from any thread."""


@dataclass(slots=True, eq=False)
class Call:
    """One evaluator on one case, on its way.

    Attributes:
        evaluator: What judges.
        evaluable: What is judged; each start gets a copy of its own.
        trace: The trace that the case came from; likewise.
        case: The number of the case among those under way.
        position: The evaluator's place among the evaluators.
        awaitable: What the evaluator returned, where that is still to be awaited.
        started: When it began to run, by `perf_counter`; ``None`` before.
        ended: When it came to its end.
        returned: What the evaluator returned.
        raised: What it raised instead.
    """

    evaluator: BoundEvaluator
    evaluable: Evaluable
    trace: Trace | None
    case: int
    position: int
    awaitable: Awaitable[object] | None = None
    started: float | None = None
    ended: float = 0.0
    returned: object = None
    raised: BaseException | None = None

    def again(self) -> Call:
        """Give the same call as it was before it started."""
        return Call(self.evaluator, self.evaluable, self.trace, self.case, self.position)

    def run(self) -> None:
        """Call the evaluator here; an awaitable that comes back is kept for `run_async`."""
        self.started = perf_counter()
        try:
            trace = self.trace.copy() if self.trace is not None and self.evaluator.takes_trace else None
            returned = self.evaluator(copy_evaluable(self.evaluable), trace)
            if inspect.isawaitable(returned):
                self.awaitable = cast("Awaitable[object]", returned)
            else:
                self.returned = returned
        except BaseException as error:  # noqa: BLE001 - the engine decides what each exception means, SystemExit too
            self.raised = error
        self.ended = perf_counter()

    async def run_async(self) -> None:
        """Call the evaluator on the running event loop, and await what comes back."""
        if self.awaitable is None:
            self.run()
        if self.awaitable is not None and self.raised is None:
            try:
                self.returned = await self.awaitable
            except BaseException as error:  # noqa: BLE001 - as above; and an event loop would die of a SystemExit
                self.raised = error
        self.awaitable = None
        self.ended = perf_counter()


class WorkerThread:
    """A thread that runs one call after the other.

    A thread cannot be killed. So it is a daemon, which no exit waits for, and one that hangs is left alone and
    replaced. Calls run in a copy of the context that the judging was started in, as `asyncio.to_thread` has it.
    """

    def __init__(self, post: Post) -> None:
        """Start the thread.

        Args:
            post: Takes the calls that have ended.
        """
        self._post: Final = post
        self._calls: Final[SimpleQueue[Call | None]] = SimpleQueue()
        self._context: Final = contextvars.copy_context()
        Thread(target=self._context.run, args=(self._work,), name="pixie-evaluator", daemon=True).start()

    def start(self, call: Call) -> None:
        """Run a call when those before it have ended.

        Args:
            call: The call.
        """
        call.started = perf_counter()
        self._calls.put(call)

    def stop(self) -> None:
        """Let the thread end after what it was given."""
        self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call.run()
            self._post(call)
            # Otherwise the last call, with its case and its trace, is kept until the next one comes.
            del call
