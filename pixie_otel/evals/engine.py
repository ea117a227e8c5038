"""The engine: cases times evaluators, one result a case, as each is done.

Our own evaluators are called on the spot. Users' evaluators get copies of the case, and of the trace where they take
it, and a time limit; they are called in threads, or on an event loop where they are ``async``. What hangs is left alone
and replaced, so that it blocks neither the other cases nor the exit. Which result comes first depends on how long each
takes; what it says does not.

What users' evaluators print goes to `sys.stdout` as ever; that is one for the whole process, so a command that writes
data there points it elsewhere for as long as it judges.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, cast

from pixie_otel.errors import ConfigError
from pixie_otel.evals.binding import BoundEvaluator, bind_all
from pixie_otel.evals.calls import Call, WorkerThread
from pixie_otel.evals.case import CaseResult
from pixie_otel.evals.evaluation import EvaluationResult, Failure, FailureKind
from pixie_otel.evals.jury import Jury
from pixie_otel.evals.thresholds import Thresholds

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from pixie_otel.evals.case import Case
    from pixie_otel.evals.evaluation import AnyEvaluator
    from pixie_otel.evals.loops import CallerLoop, LoopThread

__all__ = ["EngineSettings", "judge", "judge_sync"]

_LONGEST_WAIT: Final = 0.5
"""Seconds; a wait without end could not be interrupted on Windows."""

_GRACE: Final = 1.0
"""Seconds that an event loop gets to take up a cancellation before it counts as blocked."""

_MOST_HUNG: Final = 64
"""How many threads and loops may hang before no more of users' evaluators are called: each costs memory for good."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How to judge.

    Attributes:
        thresholds: What the user set.
        timeout_s: How long one call of a user's evaluator may take, in seconds; ``None`` for as long as it likes.
        concurrency: How many calls of users' evaluators run at the same time. A sync evaluator is called from several
            threads at once; one that cannot bear that wants 1, which is one call after the other.
    """

    thresholds: Thresholds = field(default_factory=Thresholds)
    timeout_s: float | None = 60.0
    concurrency: int = 16

    def __post_init__(self) -> None:
        """Refuse what cannot be done.

        Raises:
            ConfigError: A setting is out of its range.
        """
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise ConfigError(f"an evaluator's time limit is {self.timeout_s!r}; give seconds above 0")
        if self.concurrency < 1:
            raise ConfigError(f"concurrency is {self.concurrency!r}; give 1 or more")


def judge_sync(
    cases: Iterable[Case],
    evaluators: Sequence[BoundEvaluator | AnyEvaluator | Callable[..., Any]],
    settings: EngineSettings | None = None,
) -> Iterator[CaseResult]:
    """Judge cases, and give each as it is done, in no particular order.

    Cases are taken as they are needed; those under way are at most ``concurrency`` and one more. Where taking them
    raises, or somebody interrupts, the cases that are done come first and the exception after them.

    Args:
        cases: What is to be judged.
        evaluators: What judges; see `bind_all`.
        settings: How to judge.

    Raises:
        ConfigError: At once: an evaluator, or a threshold for one, is not what it should be.
    """
    settings = settings or EngineSettings()
    jury = Jury(bind_all(evaluators), settings.thresholds)
    return _judge_here(jury, cases) if jury.all_trusted else _judge(jury, cases, settings)


def judge(
    cases: Iterable[Case],
    evaluators: Sequence[BoundEvaluator | AnyEvaluator | Callable[..., Any]],
    settings: EngineSettings | None = None,
) -> AsyncIterator[CaseResult]:
    """Judge cases as `judge_sync` does, with ``async`` evaluators on the event loop that runs already.

    Args:
        cases: What is to be judged.
        evaluators: What judges; see `bind_all`.
        settings: How to judge.

    Raises:
        ConfigError: At once: an evaluator, or a threshold for one, is not what it should be.
    """
    settings = settings or EngineSettings()
    jury = Jury(bind_all(evaluators), settings.thresholds)
    return _judge_async(jury, cases, settings)


def _judge_here(jury: Jury, cases: Iterable[Case]) -> Iterator[CaseResult]:
    for case in cases:
        results, _ = jury.hear(case)
        yield CaseResult(case, tuple(cast("list[EvaluationResult]", results)))


def _judge(jury: Jury, cases: Iterable[Case], settings: EngineSettings) -> Iterator[CaseResult]:
    session = _Session(jury, settings)
    try:
        for step in session.steps(cases):
            if step is None:
                session.wait()
            else:
                yield step
    except (Exception, KeyboardInterrupt, SystemExit):
        yield from session.rest()
        raise
    finally:
        session.close()


async def _judge_async(jury: Jury, cases: Iterable[Case], settings: EngineSettings) -> AsyncIterator[CaseResult]:
    import asyncio

    loop = asyncio.get_running_loop()
    woken = asyncio.Event()

    def wake() -> None:
        # A call that hung may come back after the loop was closed.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(woken.set)

    session = _Session(jury, settings, wake, loop)
    try:
        for step in session.steps(cases):
            if step is None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), session.pause())
                woken.clear()
            else:
                yield step
                # Others on the loop get their turn, though nothing here may have to wait.
                await asyncio.sleep(0)
    except (Exception, KeyboardInterrupt, SystemExit):
        for result in session.rest():
            yield result
        raise
    finally:
        session.close()


@dataclass(slots=True)
class _Open:
    """A case under way."""

    case: Case
    results: list[EvaluationResult | None]
    left: int


class _Session:
    """The calls of one judging. All of it runs in one thread, but for `_post`."""

    def __init__(
        self,
        jury: Jury,
        settings: EngineSettings,
        wake: Callable[[], None] | None = None,
        loop: AbstractEventLoop | None = None,
    ) -> None:
        self._jury = jury
        self._timeout = settings.timeout_s
        self._most = settings.concurrency
        self._wake = wake
        self._caller_loop = loop
        self._loop: CallerLoop | None = None
        self._open: dict[int, _Open] = {}
        self._done: deque[CaseResult] = deque()
        self._waiting: deque[Call] = deque()
        self._running: dict[Call, WorkerThread | None] = {}
        """With the thread that a call runs in; None for those on the loop."""
        self._overdue: dict[Call, float] = {}
        """The calls on the loop that were cancelled, and when."""
        self._hung: dict[Call, WorkerThread] = {}
        self._loops_lost = 0
        self._idle: list[WorkerThread] = []
        self._ended: SimpleQueue[Call] = SimpleQueue()
        self._interrupted = False

    def steps(self, cases: Iterable[Case]) -> Iterator[CaseResult | None]:
        """Give results; and None where nothing is left to do until a call ends or its time is over."""
        for number, case in enumerate(cases):
            results, pending = self._jury.hear(case)
            if pending:
                self._open[number] = _Open(case, results, len(pending))
                evaluable = self._jury.evaluable(case)
                for position in pending:
                    evaluator = self._jury.seats[position].evaluator
                    self._waiting.append(Call(evaluator, evaluable, case.trace, number, position))
            else:
                self._done.append(CaseResult(case, tuple(cast("list[EvaluationResult]", results))))
            yield from self._advance()
            while len(self._waiting) + len(self._running) >= self._most:
                yield None
                yield from self._advance()
        while self._open:
            yield None
            yield from self._advance()

    def wait(self) -> None:
        """Wait until a call ends, or its time is over."""
        with contextlib.suppress(Empty):
            self._end(self._ended.get(timeout=self.pause()))

    def pause(self) -> float:
        """Tell for how long to wait at most, in seconds."""
        if self._timeout is None:
            return _LONGEST_WAIT
        began = [call.started for call in self._running if call.started is not None and call not in self._overdue]
        left = min(began, default=perf_counter()) + self._timeout - perf_counter()
        return min(max(left, 0.001), _LONGEST_WAIT)

    def rest(self) -> Iterator[CaseResult]:
        """Give the cases that are done and were not given yet."""
        self._collect()
        yield from self._done
        self._done.clear()

    def close(self) -> None:
        """Let the threads end, and the loop."""
        threads = (*self._idle, *self._running.values(), *self._hung.values())
        for thread in threads:
            if thread is not None:
                thread.stop()
        if self._loop is not None:
            self._loop.close()

    def _advance(self) -> Iterator[CaseResult]:
        self._collect()
        self._expire()
        if self._interrupted:
            raise KeyboardInterrupt
        self._start()
        while self._done:
            yield self._done.popleft()

    def _start(self) -> None:
        while self._waiting and len(self._running) < self._most:
            call = self._waiting.popleft()
            if len(self._hung) + self._loops_lost >= _MOST_HUNG:
                reason = f"not called: {_MOST_HUNG} calls before it never came back"
                self._settle(call, self._failed(call, reason, None))
            elif call.evaluator.is_async:
                self._start_on_loop(call)
            else:
                thread = self._idle.pop() if self._idle else WorkerThread(self._post)
                self._running[call] = thread
                thread.start(call)

    def _start_on_loop(self, call: Call) -> None:
        if self._loop is None:
            from pixie_otel.evals.loops import CallerLoop, LoopThread

            post, caller = self._post, self._caller_loop
            self._loop = LoopThread(post) if caller is None else CallerLoop(caller, post)
        self._running[call] = None
        self._loop.start(call)

    def _post(self, call: Call) -> None:
        self._ended.put(call)
        if self._wake is not None:
            self._wake()

    def _collect(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                self._end(self._ended.get_nowait())

    def _end(self, call: Call) -> None:
        if call in self._hung:
            # It came back after all. Its case was settled, and its thread is not needed any more.
            self._hung.pop(call).stop()
        elif call in self._running:
            thread = self._running.pop(call)
            if thread is not None:
                self._idle.append(thread)
            if self._overdue.pop(call, None) is not None:
                self._settle(call, self._timed_out(call))
            elif isinstance(call.raised, KeyboardInterrupt):
                # Its case stays open: it is not done, and must not look as if it were.
                self._interrupted = True
            elif call.awaitable is not None:
                self._start_on_loop(call)
            else:
                self._settle(call, self._result(call))

    def _expire(self) -> None:
        if self._timeout is None:
            return
        now = perf_counter()
        for call, thread in list(self._running.items()):
            if call.started is None or now - call.started < self._timeout:
                continue
            if thread is not None:
                del self._running[call]
                self._hung[call] = thread
                self._settle(call, self._timed_out(call))
            elif call not in self._overdue:
                self._overdue[call] = now
                cast("CallerLoop", self._loop).cancel(call)
            elif self._caller_loop is None and now - self._overdue[call] > min(_GRACE, self._timeout):
                self._replace_loop(cast("LoopThread", self._loop))
                return

    def _replace_loop(self, loop: LoopThread) -> None:
        """Leave a loop that takes up no cancellation to the call that blocks it, and start its other calls again."""
        blocking = loop.running()
        if blocking in self._running and blocking not in self._overdue:
            # Its own time is not over yet. The others may go on when it gives way.
            return
        guilty = {blocking} if blocking in self._running else set(self._overdue)
        for call in [call for call, thread in self._running.items() if thread is None]:
            del self._running[call]
            self._overdue.pop(call, None)
            if call in guilty:
                self._settle(call, self._timed_out(call, " and blocked the event loop"))
            else:
                self._waiting.appendleft(call.again())
        loop.close(0)
        self._loop = None
        self._loops_lost += 1

    def _settle(self, call: Call, result: EvaluationResult) -> None:
        opened = self._open[call.case]
        opened.results[call.position] = result
        opened.left -= 1
        if not opened.left:
            del self._open[call.case]
            self._done.append(CaseResult(opened.case, tuple(cast("list[EvaluationResult]", opened.results))))

    def _result(self, call: Call) -> EvaluationResult:
        seat, seconds = self._jury.seats[call.position], call.ended - (call.started or call.ended)
        return seat.judged(call.returned, seconds) if call.raised is None else seat.raised(call.raised, seconds)

    def _timed_out(self, call: Call, also: str = "") -> EvaluationResult:
        return self._failed(call, f"took longer than {self._timeout:g} s{also}", "TimeoutError")

    def _failed(self, call: Call, reason: str, kind: str | None) -> EvaluationResult:
        seconds = 0.0 if call.started is None else perf_counter() - call.started
        failure = Failure(FailureKind.EVALUATOR, reason, kind)
        return self._jury.seats[call.position].failed(failure, seconds)
