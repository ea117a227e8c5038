"""Facts about the queue: real threads, and real signals in a process of their own."""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest
from fault_programs import run_program
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import context as otel_context

from pixie_otel.diagnostics import internal_errors
from pixie_otel.exporters.work_queue import Outcome, QueueStats, WorkQueue

_posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


def _no_size(_: object) -> int:
    return 1


def _balanced(stats: QueueStats) -> QueueStats:
    assert stats.ended == stats.written + stats.queued + sum(stats.dropped.values())
    return stats


class _Sink:
    """Takes batches, when it is let."""

    def __init__(self, *, open_: bool = True) -> None:
        self.batches: list[list[int]] = []
        self.entered = threading.Event()
        self.open = threading.Event()
        self.closed = 0
        if open_:
            self.open.set()

    def __call__(self, batch: Sequence[int]) -> Outcome:
        self.entered.set()
        assert self.open.wait(30)
        self.batches.append(list(batch))
        return Outcome(len(batch), {})

    def close(self) -> None:
        self.closed += 1

    @property
    def items(self) -> list[int]:
        return [item for batch in self.batches for item in batch]


@contextmanager
def _queue(handle: Callable[[Sequence[int]], Outcome], **options: object) -> Iterator[WorkQueue[int]]:
    queue = WorkQueue(str(options.pop("name", "a test")), handle, _no_size, **options)  # type: ignore[arg-type]
    try:
        yield queue
    finally:
        queue.shutdown(10)


def test_everything_that_is_put_in_is_handled_in_order() -> None:
    """After a flush all items were handled, once and in order, and the account says so."""
    sink = _Sink()
    with _queue(sink, close=sink.close) as queue:
        for item in range(2000):
            queue.put(item)
        assert queue.flush(30)
        assert sink.items == list(range(2000))
        assert max(map(len, sink.batches)) <= 512
        assert _balanced(queue.stats()) == QueueStats("a test", 2000, 2000, 0, {})
    assert sink.closed == 1


def test_a_batch_fills_up_for_the_delay() -> None:
    """Items that come within the delay are handed on together, in a thread of the queue's."""
    names: list[str] = []
    sizes: list[int] = []

    def handle(batch: Sequence[int]) -> Outcome:
        names.append(threading.current_thread().name)
        sizes.append(len(batch))
        return Outcome(len(batch), {})

    with _queue(handle, delay=30.0) as queue:
        for item in range(10):
            queue.put(item)
        assert queue.flush(20)
    assert sizes == [10]
    assert names == ["pixie-otel a test"]


def test_a_full_batch_does_not_wait() -> None:
    """As many items as go into a batch end the delay at once."""
    sink = _Sink()
    with _queue(sink, delay=60.0, max_batch=4) as queue:
        for item in range(4):
            queue.put(item)
        assert sink.entered.wait(30)


def test_what_does_not_fit_is_dropped_and_counted() -> None:
    """More items than may wait are dropped, the newest, as queue_full."""
    sink = _Sink(open_=False)
    with _queue(sink, max_items=10, delay=0) as queue:
        queue.put(0)
        assert sink.entered.wait(30)
        for item in range(1, 20):
            queue.put(item)
        assert _balanced(queue.stats()) == QueueStats("a test", 20, 0, 10, {"queue_full": 10})
        sink.open.set()
        assert queue.flush(30)
        assert sink.items == list(range(10))


def test_bytes_count_as_well_as_items() -> None:
    """Items that together are too large are dropped; one that alone is too large is taken by an empty queue."""
    sink = _Sink(open_=False)
    queue = WorkQueue("sizes", sink, lambda item: item, max_bytes=100, delay=0)
    queue.put(1000)
    assert sink.entered.wait(30)
    queue.put(1)
    assert queue.stats().dropped == {"queue_full": 1}
    sink.open.set()
    assert queue.flush(30)
    sink.open.clear()
    sink.entered.clear()
    queue.put(60)
    assert sink.entered.wait(30)
    queue.put(60)
    queue.put(40)
    sink.open.set()
    assert queue.shutdown(30)
    assert sink.items == [1000, 60, 40]
    assert _balanced(queue.stats()).dropped == {"queue_full": 2}


def test_a_flush_keeps_to_its_time() -> None:
    """A flush of a queue whose worker hangs gives up, and says so, while the item stays in the queue."""
    sink = _Sink(open_=False)
    with _queue(sink, delay=0) as queue:
        queue.put(1)
        assert not queue.flush(0.01)
        assert not queue.flush(0)
        assert not queue.flush(-1)
        assert queue.stats().queued == 1
        sink.open.set()
        assert queue.flush(None)


def test_the_worker_does_not_wait_for_itself() -> None:
    """A flush or a shutdown from inside the handler gives up at once."""
    answers: list[bool] = []

    def handle(batch: Sequence[int]) -> Outcome:
        answers.extend((queue.flush(None), queue.shutdown(None)))
        return Outcome(len(batch), {})

    queue = WorkQueue("itself", handle, _no_size)
    queue.put(1)
    assert queue.flush(30)
    assert answers == [False, False]
    assert queue.stats().written == 1


def test_a_shutdown_that_has_no_time_counts_what_is_left() -> None:
    """What a hanging handler left undone is dropped as shutdown_timeout; what it then does after all is written."""
    sink = _Sink(open_=False)
    queue = WorkQueue("hanging", sink, _no_size, delay=0, max_batch=1, close=sink.close)
    for item in range(3):
        queue.put(item)
    assert sink.entered.wait(30)
    assert not queue.shutdown(0.01)
    assert _balanced(queue.stats()) == QueueStats("hanging", 3, 0, 0, {"shutdown_timeout": 3})
    assert not queue.shutdown(None)
    sink.open.set()
    _until(lambda: sink.closed == 1)
    assert _balanced(queue.stats()) == QueueStats("hanging", 3, 1, 0, {"shutdown_timeout": 2})


def test_a_shutdown_is_final() -> None:
    """After it everything is dropped as after_shutdown, and a second one says the same as the first."""
    sink = _Sink()
    queue = WorkQueue("closed", sink, _no_size, close=sink.close)
    queue.put(1)
    assert queue.shutdown(30)
    assert queue.shutdown(30)
    assert queue.flush(30)
    queue.put(2)
    assert sink.closed == 1
    assert _balanced(queue.stats()) == QueueStats("closed", 2, 1, 0, {"after_shutdown": 1})


def test_an_unused_queue_starts_no_thread() -> None:
    """A queue that never had an item is flushed and closed by its caller."""
    sink = _Sink()
    before = threading.active_count()
    queue = WorkQueue("unused", sink, _no_size, close=sink.close)
    assert queue.flush(0)
    assert queue.shutdown(30)
    assert threading.active_count() == before
    assert sink.closed == 1


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(1), KeyboardInterrupt(), GeneratorExit()])
def test_a_failing_handler_costs_its_batch_only(error: BaseException) -> None:
    """Whatever the handler raises, its batch is counted as dropped and the worker goes on."""

    def handle(batch: Sequence[int]) -> Outcome:
        if 0 in batch:
            raise error
        return Outcome(len(batch), {})

    with _queue(handle, delay=0, max_batch=1) as queue:
        queue.put(0)
        assert queue.flush(30)
        queue.put(1)
        assert queue.flush(30)
        assert _balanced(queue.stats()) == QueueStats("a test", 2, 1, 0, {"internal_error": 1})


@pytest.mark.parametrize(
    ("outcome", "written", "dropped"),
    [
        (Outcome(1, {"io_error": 2}), 1, {"io_error": 2}),
        (Outcome(1, {}), 1, {"internal_error": 2}),
        (Outcome(9, {}), 3, {}),
    ],
)
def test_an_account_that_does_not_add_up_is_put_right(outcome: Outcome, written: int, dropped: dict[str, int]) -> None:
    """What a handler does not account for is dropped, so that the sum always holds."""
    with _queue(lambda _: outcome, delay=30) as queue:
        for item in range(3):
            queue.put(item)
        assert queue.flush(30)
        assert _balanced(queue.stats()) == QueueStats("a test", 3, written, 0, dropped)


def test_an_item_that_cannot_be_measured_is_taken() -> None:
    """A size function that raises costs nothing but a note of ours."""
    sink = _Sink()

    def size(_: int) -> int:
        raise ZeroDivisionError

    before = internal_errors().get("measuring a span for unmeasured", 0)
    queue = WorkQueue("unmeasured", sink, size)
    queue.put(7)
    assert queue.shutdown(30)
    assert sink.items == [7]
    assert internal_errors()["measuring a span for unmeasured"] == before + 1


def test_a_fault_inside_put_does_not_reach_the_application(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the queue itself breaks, a note of ours is all there is to see."""
    queue = WorkQueue("unputtable", _Sink(), _no_size)
    monkeypatch.setattr(queue, "_lock", None)
    queue.put(1)
    assert internal_errors()["putting a span into the queue of unputtable"] == 1


def test_a_flush_in_its_caller_keeps_to_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without threads too, what does not fit into the time stays in the queue, and the next flush takes it up."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    moment = 1000.0
    monkeypatch.setattr("pixie_otel.exporters.work_queue.time.monotonic", lambda: moment)
    sink = _Sink()

    def handle(batch: Sequence[int]) -> Outcome:
        nonlocal moment
        moment += 10
        return sink(batch)

    queue = WorkQueue("slow", handle, _no_size, max_batch=1)
    for item in range(4):
        queue.put(item)
    assert not queue.flush(15)
    assert sink.items == [0, 1]
    assert not queue.shutdown(5)
    assert _balanced(queue.stats()) == QueueStats("slow", 4, 3, 0, {"shutdown_timeout": 1})


def test_a_close_that_fails_is_the_end_all_the_same() -> None:
    """An exception while closing goes to the diagnostics, and the shutdown ends."""
    sink = _Sink()

    def close() -> None:
        raise OSError("gone")

    queue = WorkQueue("unclosable", sink, _no_size, close=close)
    queue.put(1)
    assert queue.shutdown(30)
    assert internal_errors()["closing unclosable"] == 1


def test_without_threads_a_flush_works_in_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started, items wait for a flush or a shutdown, which handles them itself."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    sink = _Sink()
    threads: set[int] = set()

    def handle(batch: Sequence[int]) -> Outcome:
        threads.add(threading.get_ident())
        return sink(batch)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    queue = WorkQueue("threadless", handle, _no_size, close=sink.close)
    queue.put(1)
    queue.put(2)
    assert queue.stats().queued == 2
    assert queue.flush(30)
    assert sink.items == [1, 2]
    queue.put(3)
    assert queue.shutdown(30)
    assert sink.items == [1, 2, 3]
    assert sink.closed == 1
    assert threads == {threading.get_ident()}


def test_an_interrupt_of_a_flush_in_its_caller_counts_what_it_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the caller handles items itself passes through, and the account holds."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    def handle(_: Sequence[int]) -> Outcome:
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", refuse)
    queue = WorkQueue("interrupted", handle, _no_size)
    queue.put(1)
    with pytest.raises(KeyboardInterrupt):
        queue.flush(30)
    assert _balanced(queue.stats()) == QueueStats("interrupted", 1, 0, 0, {"internal_error": 1})
    assert queue.shutdown(30)


def test_loss_is_said_once_when_it_starts_and_once_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    """However many are lost, two messages tell it: the reasons first, the numbers in the end."""
    losing = True

    def handle(batch: Sequence[int]) -> Outcome:
        return Outcome(0, {"io_error": len(batch)}) if losing else Outcome(len(batch), {})

    with caplog.at_level(logging.WARNING, "pixie_otel"), _queue(handle, name="a full disk", max_batch=1) as queue:
        for item in range(5):
            queue.put(item)
        assert queue.flush(30)
        losing = False
        queue.put(6)
        assert queue.flush(30)
    starts, ends = (record.getMessage() for record in caplog.records)
    assert "a full disk: spans are being lost (io_error: the file cannot be written)" in starts
    assert "a full disk: lost 5 spans (io_error: 5); no more are being lost now" in ends


def test_loss_that_lasts_until_the_end_is_told_then(caplog: pytest.LogCaptureFixture) -> None:
    """A shutdown says how many were lost where the loss goes on."""
    with (
        caplog.at_level(logging.WARNING, "pixie_otel"),
        _queue(lambda batch: Outcome(0, {"disk_cap": len(batch)}), name="a small disk") as queue,
    ):
        queue.put(1)
    assert "a small disk: lost 1 span (disk_cap: 1); it is shut down." in caplog.text


def test_the_handler_runs_untraced_and_outside_the_callers_context() -> None:
    """Instrumented libraries trace nothing there, and no span of the caller's is current."""
    seen: list[object] = []

    def handle(batch: Sequence[int]) -> Outcome:
        seen.append((otel_context.get_value("mine"), otel_context.get_value("suppress_instrumentation")))
        return Outcome(len(batch), {})

    token = otel_context.attach(otel_context.set_value("mine", "here"))
    try:
        with _queue(handle) as queue:
            queue.put(1)
            assert queue.flush(30)
    finally:
        otel_context.detach(token)
    assert seen == [(None, True)]


def test_many_threads_put_and_flush_at_once() -> None:
    """Eight threads that put and flush lose nothing, and every flush comes back."""
    sink = _Sink()
    flushed: list[bool] = []
    with _queue(sink, delay=0.001, max_batch=16) as queue:

        def work(start: int) -> None:
            for item in range(start, start + 500):
                queue.put(item)
                if item % 50 == 0:
                    flushed.append(queue.flush(30))

        threads = [threading.Thread(target=work, args=(number * 500,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert queue.flush(30)
        assert sorted(sink.items) == list(range(4000))
        assert all(flushed)
        assert len(flushed) == 80


def test_a_finalizer_may_put_while_something_is_put() -> None:
    """An item put by the garbage collector, wherever it comes in between, is neither lost nor hangs."""

    class Cycle:
        def __init__(self) -> None:
            self.itself = self
            weakref.finalize(self, queue.put, -1)

    sink = _Sink()
    threshold = gc.get_threshold()
    with _queue(sink) as queue:
        gc.set_threshold(7)
        try:
            for item in range(300):
                Cycle()
                queue.put(item)
        finally:
            gc.set_threshold(*threshold)
        gc.collect()
        assert queue.flush(30)
        assert Counter(item >= 0 for item in sink.items) == {True: 300, False: 300}
        _balanced(queue.stats())


@given(st.lists(st.sampled_from(["put", "flush", "fail", "stats"]), max_size=40))
def test_the_account_holds_whatever_is_called(calls: list[str]) -> None:
    """In any order of calls, what was put in is written, waits or was dropped."""
    failing = False

    def handle(batch: Sequence[int]) -> Outcome:
        return Outcome(0, {"io_error": len(batch)}) if failing else Outcome(len(batch), {})

    with _queue(handle, delay=0, max_items=3) as queue:
        put = 0
        for call in calls:
            if call == "put":
                queue.put(put)
                put += 1
            elif call == "flush":
                assert queue.flush(30)
            elif call == "fail":
                failing = not failing
            assert _balanced(queue.stats()).ended == put
    assert _balanced(queue.stats()).queued == 0


_SIGNALS = """
import random, signal, sys
from pixie_otel.exporters.work_queue import Outcome, WorkQueue

handled = set()

def handle(batch):
    handled.update(batch)
    return Outcome(len(batch), {})

queue = WorkQueue("signals", handle, lambda item: 1, delay=0.05)
fired, flushed = [], []

def fire(number, frame):
    item = -1 - len(fired)
    fired.append(item)
    queue.put(item)
    flushed.append(queue.flush(20))
    queue.stats()

signal.signal(signal.SIGALRM, fire)
armed = -1
put = 0
while len(fired) < int(sys.argv[1]):
    if armed < len(fired):
        armed = len(fired)
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.00001, 0.002))
    queue.put(put)
    put += 1
    if put % 50 == 0:
        flushed.append(queue.flush(20))
signal.setitimer(signal.ITIMER_REAL, 0)
assert queue.shutdown(20)
stats = queue.stats()
assert all(flushed), flushed.count(False)
assert stats.ended == put + len(fired) == stats.written + sum(stats.dropped.values()), (stats, put, len(fired))
assert len(handled) == stats.written
print("fine")
"""


@_posix
def test_a_signal_handler_may_put_and_flush() -> None:
    """A handler that interrupts put and flush at any place puts and flushes itself, and nothing hangs or is lost."""
    assert run_program(_SIGNALS, 200) == "fine\n"


@_posix
@pytest.mark.long
def test_a_signal_handler_may_put_and_flush_for_long() -> None:
    """The same, five thousand times."""
    assert run_program(_SIGNALS, 5000) == "fine\n"


_INTERRUPTS = """
import signal, sys
from pixie_otel.exporters.work_queue import Outcome, WorkQueue

queue = WorkQueue("interrupts", lambda batch: Outcome(len(batch), {}), lambda item: 1, max_items=10**9)
interrupts = 0
calls = 0
signal.signal(signal.SIGALRM, signal.default_int_handler)
while interrupts < int(sys.argv[1]):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005)
        while True:
            queue.put(1)
    except KeyboardInterrupt:
        interrupts += 1
signal.setitimer(signal.ITIMER_REAL, 0)
assert queue.flush(20)
stats = queue.stats()
assert stats.queued == 0 and stats.ended == stats.written, stats
assert queue.shutdown(20)
print("fine")
"""


@_posix
def test_an_interrupt_while_something_is_put_leaves_the_account_right() -> None:
    """Wherever in put Ctrl-C comes, what was counted was put in, so that the next flush comes to its end."""
    assert run_program(_INTERRUPTS, 300) == "fine\n"


_EXIT = """
import threading
from pixie_otel.exporters.work_queue import Outcome, WorkQueue

class Late:
    def __del__(self):
        print(queue.flush(None), queue.shutdown(None), flush=True)

queue = WorkQueue("exit", lambda batch: Outcome(len(batch), {}), lambda item: 1, delay=60)
queue.put(1)
late = Late()
late.itself = late
"""


def test_a_flush_after_the_interpreter_is_gone_does_not_wait() -> None:
    """When no thread runs any more, a flush without a limit gives up at once instead of hanging the exit."""
    assert run_program(_EXIT) in {"False False\n", ""}


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)
