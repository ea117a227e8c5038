"""Facts about the queue while it runs: batches, bounds, accounts, losses."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from fault_queues import Sink, no_size, queue_to, wait_until
from fault_spans import balanced
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import context as otel_context

from pixie_otel.diagnostics import internal_errors
from pixie_otel.exporters import losses
from pixie_otel.exporters.work_queue import Outcome, QueueStats, WorkQueue


def test_everything_that_is_put_in_is_handled_in_order() -> None:
    """After a flush all items were handled, once and in order, and the account says so."""
    sink = Sink()
    with queue_to(sink, close=sink.close) as queue:
        for item in range(2000):
            queue.put(item)
        assert queue.flush(30)
        assert sink.items == list(range(2000))
        assert max(map(len, sink.batches)) <= 512
        assert balanced(queue.stats()) == QueueStats("a test", 2000, 2000, 0, {})
    assert sink.closed == 1


def test_a_batch_fills_up_for_the_delay() -> None:
    """Items that come within the delay are handed on together, in a thread of the queue's."""
    names: list[str] = []
    sizes: list[int] = []

    def handle(batch: Sequence[int]) -> Outcome:
        names.append(threading.current_thread().name)
        sizes.append(len(batch))
        return Outcome(len(batch), {})

    with queue_to(handle, delay=30.0) as queue:
        for item in range(10):
            queue.put(item)
        assert queue.flush(20)
    assert sizes == [10]
    assert names == ["pixie-otel a test"]


def test_a_full_batch_does_not_wait() -> None:
    """As many items as go into a batch end the delay at once."""
    sink = Sink()
    with queue_to(sink, delay=60.0, max_batch=4) as queue:
        for item in range(4):
            queue.put(item)
        assert sink.entered.wait(30)


def test_what_does_not_fit_is_dropped_and_counted() -> None:
    """More items than may wait are dropped, the newest, as queue_full."""
    sink = Sink(open_=False)
    with queue_to(sink, max_items=10, delay=0) as queue:
        queue.put(0)
        assert sink.entered.wait(30)
        for item in range(1, 20):
            queue.put(item)
        assert balanced(queue.stats()) == QueueStats("a test", 20, 0, 10, {"queue_full": 10})
        sink.open.set()
        assert queue.flush(30)
        assert sink.items == list(range(10))


def test_bytes_count_as_well_as_items() -> None:
    """Items that together are too large are dropped; one that alone is too large is taken by an empty queue."""
    sink = Sink(open_=False)
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
    assert balanced(queue.stats()).dropped == {"queue_full": 2}


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(1), KeyboardInterrupt(), GeneratorExit()])
def test_a_failing_handler_costs_its_batch_only(error: BaseException) -> None:
    """Whatever the handler raises, its batch is counted as dropped and the worker goes on."""

    def handle(batch: Sequence[int]) -> Outcome:
        if 0 in batch:
            raise error
        return Outcome(len(batch), {})

    with queue_to(handle, delay=0, max_batch=1) as queue:
        queue.put(0)
        assert queue.flush(30)
        queue.put(1)
        assert queue.flush(30)
        assert balanced(queue.stats()) == QueueStats("a test", 2, 1, 0, {"internal_error": 1})


@pytest.mark.parametrize(
    ("outcome", "written", "dropped"),
    [
        (Outcome(1, {"io_error": 2}), 1, {"io_error": 2}),
        (Outcome(1, {}), 1, {"internal_error": 2}),
        (Outcome(9, {}), 3, {}),
        (Outcome(1, {"io_error": 9}), 1, {"internal_error": 2}),
        (Outcome(-1, {}), 0, {"internal_error": 3}),
        (None, 0, {"internal_error": 3}),
    ],
)
def test_an_account_that_does_not_add_up_is_put_right(outcome: Any, written: int, dropped: dict[str, int]) -> None:
    """What a handler does not account for is dropped, so that the sum always holds."""
    with queue_to(lambda _: outcome, delay=30) as queue:
        for item in range(3):
            queue.put(item)
        assert queue.flush(30)
        assert balanced(queue.stats()) == QueueStats("a test", 3, written, 0, dropped)


def test_an_item_that_cannot_be_measured_is_taken() -> None:
    """A size function that raises costs nothing but a note of ours."""
    sink = Sink()

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
    queue = WorkQueue("unputtable", Sink(), no_size)
    monkeypatch.setattr(queue, "_lock", None)
    queue.put(1)
    assert internal_errors()["putting a span into the queue of unputtable"] == 1


def test_loss_is_said_once_when_it_starts_and_once_when_it_ends(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are lost, two messages tell it: the reasons first, the numbers in the end."""
    monkeypatch.setattr(losses, "_QUIET_SECONDS", 0.0)
    losing = True

    def handle(batch: Sequence[int]) -> Outcome:
        return Outcome(0, {"io_error": len(batch)}) if losing else Outcome(len(batch), {})

    with caplog.at_level(logging.WARNING, "pixie_otel"), queue_to(handle, name="a full disk", max_batch=1) as queue:
        for item in range(5):
            queue.put(item)
        assert queue.flush(30)
        losing = False
        queue.put(6)
        # Said by the worker after it answered the flush.
        wait_until(lambda: len(caplog.records) == 2)
    starts, ends = (record.getMessage() for record in caplog.records)
    assert "a full disk: spans are being lost (io_error: the file cannot be written)" in starts
    assert "a full disk: lost 5 spans (io_error: 5); no more are being lost now" in ends


def test_loss_that_lasts_until_the_end_is_told_then(caplog: pytest.LogCaptureFixture) -> None:
    """A shutdown says how many were lost where the loss goes on."""
    with (
        caplog.at_level(logging.WARNING, "pixie_otel"),
        queue_to(lambda batch: Outcome(0, {"disk_cap": len(batch)}), name="a small disk") as queue,
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
        with queue_to(handle) as queue:
            queue.put(1)
            assert queue.flush(30)
    finally:
        otel_context.detach(token)
    assert seen == [(None, True)]


@given(st.lists(st.sampled_from(["put", "flush", "fail", "stats"]), max_size=40))
def test_the_account_holds_whatever_is_called(calls: list[str]) -> None:
    """In any order of calls, what was put in is written, waits or was dropped."""
    failing = False

    def handle(batch: Sequence[int]) -> Outcome:
        return Outcome(0, {"io_error": len(batch)}) if failing else Outcome(len(batch), {})

    with queue_to(handle, delay=0, max_items=3) as queue:
        put = 0
        for call in calls:
            if call == "put":
                queue.put(put)
                put += 1
            elif call == "flush":
                assert queue.flush(30)
            elif call == "fail":
                failing = not failing
            assert balanced(queue.stats()).ended == put
    assert balanced(queue.stats()).queued == 0
