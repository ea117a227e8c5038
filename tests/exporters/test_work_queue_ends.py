"""Facts about flushes and ends of the queue: times, hanging handlers, callers that do the work themselves."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from fault_queues import Sink, no_size, queue_to, refuse_threads, wait_until
from fault_spans import balanced

from pixie_otel.diagnostics import internal_errors
from pixie_otel.exporters.work_queue import Outcome, QueueStats, WorkQueue


def test_a_flush_keeps_to_its_time() -> None:
    """A flush of a queue whose worker hangs gives up, and says so, while the item stays in the queue."""
    sink = Sink(open_=False)
    with queue_to(sink, delay=0) as queue:
        queue.put(1)
        assert not queue.flush(0.01)
        assert not queue.flush(0)
        assert not queue.flush(-1)
        assert not queue.flush(float("nan"))
        assert queue.stats().queued == 1
        sink.open.set()
        assert queue.flush(float("inf"))
        queue.put(2)
        assert queue.flush(None)


def test_the_worker_does_not_wait_for_itself() -> None:
    """A flush or a shutdown from inside the handler gives up at once."""
    answers: list[bool] = []

    def handle(batch: Sequence[int]) -> Outcome:
        answers.extend((queue.flush(None), queue.shutdown(None)))
        return Outcome(len(batch), {})

    queue = WorkQueue("itself", handle, no_size)
    queue.put(1)
    assert queue.flush(30)
    assert answers == [False, False]
    assert queue.stats().written == 1


def test_a_shutdown_that_has_no_time_counts_what_is_left() -> None:
    """What a hanging handler left undone is dropped as shutdown_timeout; what it then does after all is written."""
    sink = Sink(open_=False)
    queue = WorkQueue("hanging", sink, no_size, delay=0, max_batch=1, close=sink.close)
    for item in range(3):
        queue.put(item)
    assert sink.entered.wait(30)
    assert not queue.shutdown(0.01)
    assert balanced(queue.stats()) == QueueStats("hanging", 3, 0, 0, {"shutdown_timeout": 3})
    assert not queue.shutdown(None)
    sink.open.set()
    wait_until(lambda: sink.closed == 1)
    assert balanced(queue.stats()) == QueueStats("hanging", 3, 1, 0, {"shutdown_timeout": 2})


def test_a_shutdown_is_final() -> None:
    """After it everything is dropped as after_shutdown, and a second one says the same as the first."""
    sink = Sink()
    queue = WorkQueue("closed", sink, no_size, close=sink.close)
    queue.put(1)
    assert queue.shutdown(30)
    assert queue.shutdown(30)
    assert queue.flush(30)
    queue.put(2)
    assert sink.closed == 1
    assert balanced(queue.stats()) == QueueStats("closed", 2, 1, 0, {"after_shutdown": 1})


def test_an_unused_queue_starts_no_thread() -> None:
    """A queue that never had an item is flushed and closed by its caller."""
    sink = Sink()
    before = threading.active_count()
    queue = WorkQueue("unused", sink, no_size, close=sink.close)
    assert queue.flush(0)
    assert queue.shutdown(30)
    assert threading.active_count() == before
    assert sink.closed == 1


def test_a_flush_in_its_caller_keeps_to_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without threads too, what does not fit into the time stays in the queue, and the next flush takes it up."""
    monkeypatch.setattr(threading.Thread, "start", refuse_threads)
    moment = 1000.0
    monkeypatch.setattr("pixie_otel.exporters.work_queue.time.monotonic", lambda: moment)
    sink = Sink()

    def handle(batch: Sequence[int]) -> Outcome:
        nonlocal moment
        moment += 10
        return sink(batch)

    queue = WorkQueue("slow", handle, no_size, max_batch=1)
    for item in range(4):
        queue.put(item)
    assert not queue.flush(15)
    assert sink.items == [0, 1]
    assert not queue.shutdown(5)
    assert balanced(queue.stats()) == QueueStats("slow", 4, 3, 0, {"shutdown_timeout": 1})


def test_a_close_that_fails_is_the_end_all_the_same() -> None:
    """An exception while closing goes to the diagnostics, and the shutdown ends."""
    sink = Sink()

    def close() -> None:
        raise OSError("gone")

    queue = WorkQueue("unclosable", sink, no_size, close=close)
    queue.put(1)
    assert queue.shutdown(30)
    assert internal_errors()["closing unclosable"] == 1


def test_without_threads_a_flush_works_in_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started, items wait for a flush or a shutdown, which handles them itself."""
    sink = Sink()
    threads: set[int] = set()

    def handle(batch: Sequence[int]) -> Outcome:
        threads.add(threading.get_ident())
        return sink(batch)

    monkeypatch.setattr(threading.Thread, "start", refuse_threads)
    queue = WorkQueue("threadless", handle, no_size, close=sink.close)
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

    def handle(_: Sequence[int]) -> Outcome:
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", refuse_threads)
    queue = WorkQueue("interrupted", handle, no_size)
    queue.put(1)
    with pytest.raises(KeyboardInterrupt):
        queue.flush(30)
    assert balanced(queue.stats()) == QueueStats("interrupted", 1, 0, 0, {"internal_error": 1})
    assert queue.shutdown(30)


def test_a_shutdown_without_time_or_threads_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody else would, the caller closes, though what waits is given up."""
    monkeypatch.setattr(threading.Thread, "start", refuse_threads)
    sink = Sink()
    queue = WorkQueue("hurried", sink, no_size, close=sink.close)
    queue.put(1)
    assert not queue.shutdown(0)
    assert sink.closed == 1
    assert balanced(queue.stats()) == QueueStats("hurried", 1, 0, 0, {"shutdown_timeout": 1})
    unused = WorkQueue("unused", sink, no_size, close=sink.close)
    assert unused.shutdown(0)
    assert sink.closed == 2
