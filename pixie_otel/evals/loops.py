"""Event loops for users' ``async`` evaluators.

All of a run share one loop, because clients that are made once and used in every call belong to one loop.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec

    from pixie_otel.evals.calls import Call, Post

    _Params = ParamSpec("_Params")

__all__ = ["CallerLoop", "LoopThread"]

_ReturnT = TypeVar("_ReturnT")


class CallerLoop:
    """The event loop that the judging itself runs on; its owner closes it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, post: Post) -> None:
        """Take a loop.

        Args:
            loop: The loop.
            post: Takes the calls that have ended.
        """
        self.loop: Final = loop
        self._post: Final = post
        self._tasks: Final[dict[Call, asyncio.Task[None]]] = {}

    def start(self, call: Call) -> None:
        """Run a call on the loop.

        Args:
            call: The call.
        """
        self.loop.call_soon_threadsafe(self._start, call)

    def cancel(self, call: Call) -> None:
        """Cancel a call, and post it without waiting for it to agree.

        Args:
            call: The call.
        """
        self.loop.call_soon_threadsafe(self._cancel, call)

    def running(self) -> Call | None:
        """Say which call has the loop right now, asked from another thread."""
        task = asyncio.current_task(self.loop)
        return next((call for call, of_call in list(self._tasks.items()) if of_call is task), None)

    def close(self) -> None:
        """Cancel what is still running."""
        for task in list(self._tasks.values()):
            task.cancel()

    def _start(self, call: Call) -> None:
        task = self.loop.create_task(call.run_async())
        self._tasks[call] = task
        task.add_done_callback(lambda _: self._ended(call))

    def _cancel(self, call: Call) -> None:
        task = self._tasks.get(call)
        if task is not None:
            task.cancel()
            self._ended(call)

    def _ended(self, call: Call) -> None:
        if self._tasks.pop(call, None) is not None:
            self._post(call)


class LoopThread(CallerLoop):
    """An event loop in a thread of its own, for a judging that does not run on one.

    An ``async`` evaluator that blocks instead of awaiting blocks the loop; it is then left alone and replaced.
    """

    def __init__(self, post: Post) -> None:
        """Start the loop.

        Args:
            post: Takes the calls that have ended.
        """
        super().__init__(asyncio.new_event_loop(), post)
        self.loop.set_default_executor(_DaemonExecutor())
        self._closing: Final = asyncio.Event()
        self._thread: Final = Thread(target=self._work, name="pixie-evaluator-loop", daemon=True)
        self._thread.start()

    def close(self, timeout: float = 2.0) -> None:
        """Cancel what is still running, and close the loop.

        Args:
            timeout: How long to wait for it, in seconds; a loop that is blocked is left behind.
        """
        self.loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(timeout)

    def _work(self) -> None:
        # The runner cancels what is left, lets it clean up, and closes the loop.
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._until_closing())

    async def _until_closing(self) -> None:
        await self._closing.wait()


class _DaemonExecutor(ThreadPoolExecutor):
    """What `asyncio.to_thread` uses: daemon threads, as Python waits for a pool's threads when it exits."""

    def submit(
        self, fn: Callable[_Params, _ReturnT], /, *args: _Params.args, **kwargs: _Params.kwargs
    ) -> Future[_ReturnT]:
        future: Future[_ReturnT] = Future()
        # From here on it cannot be cancelled, only be forgotten, as with any thread.
        future.set_running_or_notify_cancel()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001 - it is raised where the future is awaited
                future.set_exception(error)

        Thread(target=run, name="pixie-evaluator-thread", daemon=True).start()
        return future
