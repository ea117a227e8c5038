"""A queue with a worker behind it: whoever puts something in goes on at once, whatever the work takes.

What is in the queue when the process is killed by SIGKILL is lost. As long as the worker keeps up that is what was put
in within the last `delay` (0.1 s) and the batch that is being worked on; where it does not, at most `max_items` and
`max_bytes`. A flush or a shutdown leaves nothing behind, so that an exit and a SIGTERM that flush lose nothing.

`put`, `flush`, `shutdown` and `stats` may be called in a signal handler or a finalizer that interrupts any of them, and
any of them may be left by an interrupt such as Ctrl-C:

- An item is counted and put into the queue without a call between the two that an interrupt could come after.
- The worker never takes the lock that `put` takes, so that a handler may wait for the worker while what it interrupted
  holds the lock.
- How many are waiting is not counted but derived, so that ended = written + queued + dropped at any moment. What an
  interrupt takes out of the hands of a caller that works off the queue itself stays queued, and is dropped at shutdown.
"""

from __future__ import annotations

import _thread
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context as ThreadContext
from queue import Empty, SimpleQueue
from typing import Final, Generic, TypeAlias, TypeVar

from pixie_otel.diagnostics import internal_error
from pixie_otel.exporters.forks import before_exit_of_child, ends_with_its_threads, in_child
from pixie_otel.exporters.losses import LossWatch
from pixie_otel.exporters.outcomes import Handled, Outcome, QueueStats
from pixie_otel.exporters.suppression import untraced

__all__ = ["Outcome", "QueueStats", "WorkQueue"]

T = TypeVar("T")

_BATCH_BYTES: Final = 4 * 2**20
_UNKNOWN_SIZE: Final = 4096
_RETRY_SECONDS: Final = 1.0
_EXIT_SECONDS: Final = 10.0
_IDLE_SECONDS: Final = 1.0
# gevent puts its own in their places, maybe later than this. Its threads are not preempted: one that waits in C, as the
# worker does in its queue, stops the application.
_new_lock: Final = threading.Lock
_new_rlock: Final = threading.RLock
_get_ident: Final = threading.get_ident
_start_thread: Final = _thread.start_new_thread
# An endless wait must still be a number that the system takes.
_LONGEST_SECONDS: Final = threading.TIMEOUT_MAX / 2


class _Request:
    """Asks the worker to say when it has come this far."""

    def __init__(self, *, stop: bool) -> None:
        self.stop = stop
        self._latch = _new_lock()
        self._latch.acquire()  # released by `answer`

    def answer(self) -> None:
        """Let whoever asked go on."""
        # After a fork inside a flush, the child may have been told already.
        with suppress(RuntimeError):
            self._latch.release()

    def wait(self, deadline: float | None) -> bool:
        """Wait for the answer."""
        return self._latch.acquire(timeout=-1 if deadline is None else max(deadline - time.monotonic(), 0.0))


_Entry: TypeAlias = tuple[T, int] | _Request


class WorkQueue(Generic[T]):
    """Hands on what is put in, in batches, in a thread of its own that starts with the first item.

    A forked child has an empty queue of its own and counts from zero; what waited in the parent stays the parent's. A
    process of multiprocessing flushes before it ends. Any other that ends by `os._exit` has to flush itself: a shorter
    delay there would lose less, never nothing, and every worker that lives for long would pay for it.

    Args:
        name: What it feeds, as its user would say it.
        handle: Takes a batch and says what became of it. It is never called twice at a time.
        size: How many bytes an item takes, roughly.
        max_items: How many may wait; what comes on top is dropped as ``queue_full``.
        max_bytes: How many bytes may wait.
        max_batch: How many are handed on together, at most.
        delay: How long the worker waits for a batch to fill up, in seconds.
        close: Called once, after the last item.
    """

    def __init__(
        self,
        name: str,
        handle: Callable[[Sequence[T]], Outcome],
        size: Callable[[T], int],
        *,
        max_items: int = 65_536,
        max_bytes: int = 64 * 2**20,
        max_batch: int = 512,
        delay: float = 0.1,
        close: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self._handle = handle
        self._size = size
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._max_batch = max_batch
        self._delay = delay
        self._close = close
        self._closed = False
        self._idle_seconds: float | None = None
        self._reset()
        in_child(self._renew)

    def _renew(self) -> None:
        """In a forked child: start from nothing, and wait for none of the parent's work."""
        requests = self._requests
        self._reset()
        self._idle_seconds = _IDLE_SECONDS if ends_with_its_threads() else None
        for request in requests:
            request.answer()

    def _reset(self) -> None:
        """Start from nothing, with locks that nobody holds."""
        self._items: SimpleQueue[_Entry[T]] = SimpleQueue()
        self._hurry: SimpleQueue[None] = SimpleQueue()
        self._lock = _new_rlock()
        # The thread that works off the queue, ours or, where none can be started, a caller's. No lock, as an interrupt
        # could come between its `acquire` and the `try` that releases it.
        self._worker: dict[None, int] = {}
        self._next_start = 0.0
        self._is_coming = False
        self._hooked = False
        self._requests: set[_Request] = set()
        self._taken = 0
        self._taken_bytes = 0
        self._refused: defaultdict[str, int] = defaultdict(int)
        self._handled = Handled(0, 0, 0, Counter())
        self._finished = self._closed
        self._gave_up = False
        self._losses = LossWatch(self.name)

    def put(self, item: T) -> None:
        """Take an item, or count it as dropped; never raises, never waits for the worker."""
        try:
            size = self._measure(item)
            entry = item, size
            most, most_bytes, batch = self._max_items, self._max_bytes, self._max_batch
            with self._lock:
                handled = self._handled
                waiting = self._taken - handled.items
                used = self._taken_bytes - handled.bytes
                if self._closed:
                    self._refused["after_shutdown"] += 1
                    return
                # What is larger than the whole queue is taken by an empty one.
                if waiting >= most or (waiting and used + size > most_bytes):
                    self._refused["queue_full"] += 1
                    return
                hurry = waiting + 1 >= batch or used + size >= _BATCH_BYTES
                self._taken += 1
                self._taken_bytes += size
                self._items.put(entry)
            if hurry and self._hurry.empty():
                self._hurry.put(None)
            if not self._worker:
                self._start()
        except Exception as error:  # noqa: BLE001 - whoever ends a span must not hear of it
            internal_error(f"putting a span into the queue of {self.name}", error)

    def flush(self, timeout: float | None = 30.0) -> bool:
        """Wait until everything that was put in before is worked off.

        Args:
            timeout: How long to wait, in seconds; ``None`` for as long as it takes.

        Returns:
            Whether it is; ``False`` at once where the worker itself asks.
        """
        return not self._is_worker() and (self._waiting() == 0 or self._request(stop=False, timeout=timeout))

    def shutdown(self, timeout: float | None = 30.0) -> bool:
        """Work off what is there, then close. What cannot be worked off in time is dropped as ``shutdown_timeout``.

        Args:
            timeout: How long to wait, in seconds; ``None`` for as long as it takes.

        Returns:
            Whether everything was worked off and closed in time; the same when called again.
        """
        with self._lock:
            self._closed = True
        if not self._finished and not self._gave_up and not self._request(stop=True, timeout=timeout):
            self._gave_up = not self._finished
            # Where there is no worker, nobody else would close.
            self._work_here(None)
        # By the caller, which would not wait for the worker to say it.
        self._losses.look(self.stats().dropped, last=True)
        return self._finished and not self._gave_up

    def stats(self) -> QueueStats:
        """Count what became of everything so far."""
        # The worker's part first: what it has done was taken before. Without the lock, since the worker comes here too.
        handled = self._handled
        taken = self._taken
        dropped = Counter(self._refused)
        dropped.update(handled.dropped)
        queued = taken - handled.items
        ended = handled.written + queued + dropped.total()
        if queued and (self._gave_up or self._finished):
            # What the worker still has in hand may be written after all; then it is counted as written.
            dropped["shutdown_timeout"] += queued
            queued = 0
        return QueueStats(self.name, ended, handled.written, queued, dict(dropped))

    def _waiting(self) -> int:
        handled = self._handled.items
        return self._taken - handled

    def _measure(self, item: T) -> int:
        try:
            return self._size(item)
        except Exception as error:  # noqa: BLE001 - the item may still be written
            internal_error(f"measuring a span for {self.name}", error)
            return _UNKNOWN_SIZE

    def _is_worker(self) -> bool:
        return self._worker.get(None) == _get_ident()

    def _request(self, *, stop: bool, timeout: float | None) -> bool:
        # Nothing runs beside the main thread once the interpreter takes itself apart: waiting would be for ever.
        if self._is_worker() or sys.is_finalizing():
            return False
        # This way round, what is no number is no time.
        deadline = None if timeout is None else time.monotonic() + min(max(0.0, timeout), _LONGEST_SECONDS)
        request = _Request(stop=stop)
        try:
            self._requests.add(request)
            self._items.put(request)
            self._hurry.put(None)
            if not self._worker and not (self._waiting() and self._start()):
                self._work_here(deadline)
            if self._finished:
                return stop or self._waiting() == 0
            return request.wait(deadline)
        finally:
            self._requests.discard(request)

    def _start(self) -> bool:
        """Start the worker, unless one was started and is not there yet; ``False`` where none can be."""
        now = time.monotonic()
        if now < self._next_start or self._finished:
            return self._is_coming
        self._next_start = now + _RETRY_SECONDS
        try:
            if not self._hooked:
                self._hooked = True
                before_exit_of_child(self._flush_at_exit)
            # In a context of its own, or the first request's would be kept for as long as the thread lives.
            if _thread.start_new_thread is _start_thread:
                thread = threading.Thread(target=self._run, name=f"pixie-otel {self.name}", daemon=True)
                ThreadContext().run(thread.start)
            else:
                ThreadContext().run(_start_thread, self._run, ())
        except Exception:  # noqa: BLE001 - no thread now, or none any more: what waits is worked off by a flush
            return False
        # A flush waits for it. Whoever worked instead could not be interrupted by a handler that flushes too.
        self._is_coming = not self._worker
        return True

    def _flush_at_exit(self) -> None:
        self.flush(_EXIT_SECONDS)

    def _run(self) -> None:
        """Be the worker in a thread of its own, for as long as there may be something to do."""

        def work(items: SimpleQueue[_Entry[T]]) -> None:
            self._is_coming = False
            # A fork inside `handle` leaves this thread in the child, where the queue is another one.
            while items is self._items and not self._finished and not self._gave_up:
                try:
                    first = items.get(timeout=self._idle_seconds)
                    if not isinstance(first, _Request):
                        self._linger()
                    self._turn(first)
                    # Not kept while waiting for the next.
                    del first
                except Empty:
                    return
                except BaseException as error:  # noqa: BLE001 - a worker that dies takes everything after with it
                    internal_error(f"working off the queue of {self.name}", error)

        self._as_worker(work)

    def _work_here(self, deadline: float | None) -> None:
        """Be the worker in the calling thread, until the queue is empty or the time is over."""

        def work(items: SimpleQueue[_Entry[T]]) -> None:
            with suppress(Empty):
                while items is self._items and not self._finished and not self._gave_up:
                    if deadline is not None and self._waiting() and time.monotonic() > deadline:
                        return
                    self._turn(items.get_nowait())

        self._as_worker(work)

    def _as_worker(self, work: Callable[[SimpleQueue[_Entry[T]]], None]) -> None:
        """Do what one thread may do at a time, unless one does it already."""
        items, worker, me = self._items, self._worker, {None: _get_ident()}
        if worker == me:
            return
        try:
            if worker.setdefault(None, me[None]) == me[None]:
                with untraced():
                    work(items)
                if self._gave_up:
                    self._finish()
        finally:
            if worker == me:
                worker.clear()
                self._leave(items)

    def _leave(self, items: SimpleQueue[_Entry[T]]) -> None:
        """Care for what came too late for the last turn."""
        # A thread that was started meanwhile found a worker, and is gone.
        self._next_start = 0.0
        self._is_coming = False
        if self._finished:
            with suppress(Empty):
                while True:
                    entry = items.get_nowait()
                    if isinstance(entry, _Request):
                        entry.answer()
        elif items is self._items and not items.empty():
            self._start()

    def _linger(self) -> None:
        """Let a batch fill up, unless somebody waits for it or it is full."""
        with suppress(Empty):
            while True:
                self._hurry.get_nowait()
        # Looked at after the reminders were thrown away: what they reminded of is seen here, or comes with a new one.
        used = self._taken_bytes - self._handled.bytes
        if self._requests or self._closed or self._items.qsize() + 1 >= self._max_batch or used >= _BATCH_BYTES:
            return
        with suppress(Empty):
            self._hurry.get(timeout=self._delay)

    def _turn(self, entry: _Entry[T]) -> None:
        """Work off one batch, or all up to a request."""
        batch: list[T] = []
        size = 0
        with suppress(Empty):
            while not isinstance(entry, _Request) and not self._gave_up:
                batch.append(entry[0])
                size += entry[1]
                if len(batch) >= self._max_batch or size >= _BATCH_BYTES:
                    break
                entry = self._items.get_nowait()
        try:
            if batch:
                self._work(batch, size)
        finally:
            if isinstance(entry, _Request):
                if entry.stop:
                    self._finish()
                self._requests.discard(entry)
                entry.answer()
        # Not while a flush or a shutdown waits: it may be a signal handler's, and what it interrupted may hold the lock
        # of the application's logging.
        if not self._closed and not self._requests:
            self._losses.look(self.stats().dropped)

    def _work(self, batch: list[T], size: int) -> None:
        items = self._items
        written, dropped = 0, Counter[str]()
        try:
            outcome = self._handle(batch)
            written, dropped = outcome.written, Counter(outcome.dropped)
        except Exception as error:  # noqa: BLE001 - the next batch may fare better
            internal_error(f"writing a batch to {self.name}", error)
        finally:
            # Counted whatever happens, but not in a child that was forked by the handler: there it is the parent's.
            if items is self._items:
                self._handled = self._handled.after(len(batch), size, written, dropped)

    def _finish(self) -> None:
        try:
            if self._close is not None and not self._finished:
                self._close()
        except Exception as error:  # noqa: BLE001 - what was written stays written
            internal_error(f"closing {self.name}", error)
        finally:
            self._finished = True
