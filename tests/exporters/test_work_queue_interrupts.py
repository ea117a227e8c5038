"""Facts about whatever comes in between: signals, finalizers, Ctrl-C at every place, the end of the interpreter."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections import Counter

import pytest
from fault_programs import run_program
from fault_queues import Sink, queue_to
from fault_spans import balanced

_posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


def test_many_threads_put_and_flush_at_once() -> None:
    """Eight threads that put and flush lose nothing, and every flush comes back."""
    sink = Sink()
    flushed: list[bool] = []
    with queue_to(sink, delay=0.001, max_batch=16) as queue:

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

    sink = Sink()
    threshold = gc.get_threshold()
    with queue_to(sink) as queue:
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
        balanced(queue.stats())


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


_EVERYWHERE = """
import dis, sys, threading
from fault_queues import refuse_threads
from fault_spans import balanced
from pixie_otel.exporters import work_queue
from pixie_otel.exporters.work_queue import Outcome, WorkQueue

what, first, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if sys.argv[4] == "caller":
    threading.Thread.start = refuse_threads

class Interruption:
    # Comes after the n-th call inside the queue's code, where the interpreter looks for signals.
    def __init__(self, nth, action):
        self.left, self.action = nth, action

    def trace(self, frame, event, argument):
        if frame.f_code.co_filename != work_queue.__file__:
            return None
        frame.f_trace_opcodes = True
        return self.trace_inside

    def trace_inside(self, frame, event, argument):
        if event == "opcode" and self.left:
            code, place = frame.f_code.co_code, frame.f_lasti - 2
            while place > 0 and dis.opname[code[place]] == "CACHE":
                place -= 2
            if place >= 0 and dis.opname[code[place]] in {"CALL", "RESUME", "JUMP_BACKWARD", "CALL_FUNCTION_EX"}:
                self.left -= 1
                if not self.left:
                    self.action()
        return self.trace_inside

def trial(nth):
    closed, flushed = [], []
    queue = WorkQueue("everywhere", lambda batch: Outcome(len(batch), {}), lambda item: 1, delay=0.001,
                      close=lambda: closed.append(1))

    def action():
        if what == "interrupt":
            raise KeyboardInterrupt
        sys.settrace(None)
        queue.put(-1)
        balanced(queue.stats())
        flushed.append(queue.flush(30) if what == "flush" else queue.shutdown(30))
        sys.settrace(interruption.trace)

    interruption = Interruption(nth, action)
    sys.settrace(interruption.trace)
    try:
        for item in range(2):
            queue.put(item)
        queue.flush(30)
        queue.put(2)
        queue.flush(30)
        queue.shutdown(30)
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    is_over = queue._closed
    queue.put(3)
    assert queue.flush(30) or is_over, nth
    assert not queue._requests and (is_over or sys.argv[4] == "thread" or not queue._worker), nth
    queue.shutdown(30)
    stats = balanced(queue.stats())
    assert not stats.queued and queue._finished, (nth, stats)
    # Only an interrupt of the call itself can keep it from being made.
    assert len(closed) == 1 or what == "interrupt", (nth, closed)
    if sys.argv[4] == "thread":
        assert set(stats.dropped) <= {"after_shutdown"}, (nth, stats)
        assert all(flushed), nth
    return not interruption.left

while trial(first):
    first += step
print(first)
"""


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="reads bytecode")
@pytest.mark.parametrize("worker", ["thread", "caller"])
@pytest.mark.parametrize("what", ["interrupt", "flush", "shutdown"])
def test_something_comes_in_between_everywhere(what: str, worker: str) -> None:
    """After every call in the queue's code, Ctrl-C or a handler's flush or shutdown leaves it whole and in balance."""
    assert int(run_program(_EVERYWHERE, what, 1, 1, worker)) > 50
