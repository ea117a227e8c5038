"""Cases times evaluators."""

import asyncio
import contextvars
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError, ObservationError, SkipEvaluation
from pixie_otel.evals import calls, engine
from pixie_otel.evals.binding import bind
from pixie_otel.evals.calls import Call
from pixie_otel.evals.case import Case, CaseResult
from pixie_otel.evals.engine import EngineSettings, judge, judge_sync
from pixie_otel.evals.evaluation import Evaluation, Failure, FailureKind, Outcome, Severity
from pixie_otel.evals.evaluators.checks import OutputPresent, SpanErrors, TraceIntegrity
from pixie_otel.evals.evaluators.heuristics import ExactMatch, LevenshteinMatch
from pixie_otel.evals.loops import LoopThread
from pixie_otel.evals.thresholds import Thresholds
from pixie_otel.evaluable import UNSET, Evaluable, NamedData
from pixie_otel.traces.spans import ObserveSpan
from pixie_otel.traces.trace import Trace

QUICK = EngineSettings(timeout_s=0.5)
"""A limit for tests of what hangs; what does not is far from it."""

TRACE = Trace.from_spans([ObserveSpan(trace_id="0" * 32, span_id="1" * 16, name="root")])


def case(name: str = "a", output: object = "x", expectation: object = UNSET, trace: Trace | None = None) -> Case:
    """Make a case."""
    evaluable = Evaluable([NamedData("input", name)], [NamedData("output", output)], expectation)
    return Case(name, name, evaluable, trace)


def cases(count: int) -> list[Case]:
    """Make cases that are called by their numbers."""
    return [case(str(number)) for number in range(count)]


def name_of(evaluable: Evaluable) -> str:
    """Tell which case an evaluable belongs to."""
    return str(evaluable.eval_input[0].value)


def judge_in_a_loop(
    given_cases: Iterable[Case], evaluators: object, settings: EngineSettings | None = None
) -> list[CaseResult]:
    """Collect what `judge` gives."""

    async def collect() -> list[CaseResult]:
        return [result async for result in judge(given_cases, evaluators, settings)]

    return asyncio.run(collect())


def judge_here(
    given_cases: Iterable[Case], evaluators: object, settings: EngineSettings | None = None
) -> list[CaseResult]:
    """Collect what `judge_sync` gives."""
    return list(judge_sync(given_cases, evaluators, settings))


both = pytest.mark.parametrize("run", [judge_here, judge_in_a_loop])
Run = Callable[..., list[CaseResult]]


def only(results: list[CaseResult]) -> object:
    """Give the one result of the one case."""
    ((result,),) = [found.results for found in results]
    return result


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Let evaluators hang until the test has ended."""
    event = threading.Event()
    yield event
    event.set()


@both
def test_every_evaluator_judges_every_case(run: Run) -> None:
    """A case's results stand in the order of the evaluators: ours, sync and async."""

    def plain(evaluable: Evaluable) -> bool:
        return name_of(evaluable) == "0"

    async def later(evaluable: Evaluable) -> float:
        await asyncio.sleep(0)
        return 0.75

    results = run(cases(40), [plain, ExactMatch(), later, bind(plain, name="again")])

    assert sorted(int(result.case.id) for result in results) == list(range(40))
    for result in results:
        assert [item.evaluator for item in result.results] == ["plain", "ExactMatch", "later", "again"]
        assert [item.outcome for item in result.results] == [
            Outcome.PASSED if result.case.id == "0" else Outcome.FAILED,
            Outcome.SKIPPED,
            Outcome.PASSED,
            Outcome.PASSED if result.case.id == "0" else Outcome.FAILED,
        ]


@both
def test_evaluators_of_one_name_are_told_apart(run: Run) -> None:
    """The same evaluator given twice gives two results of different names."""
    (result,) = run([case(expectation="x")], [ExactMatch(), ExactMatch()])

    assert [item.evaluator for item in result.results] == ["ExactMatch", "ExactMatch-2"]


@both
def test_no_cases_and_no_evaluators_are_no_trouble(run: Run) -> None:
    """Without cases there are no results; without evaluators a case was judged by nobody."""
    assert run([], [ExactMatch(), lambda evaluable: 1.0]) == []
    assert [result.outcome for result in run([case()], [])] == [Outcome.SKIPPED]


@pytest.mark.parametrize("run", [judge, judge_sync])
def test_what_is_wrong_with_the_settings_is_said_at_once(run: Callable[..., object]) -> None:
    """An evaluator that is none, and a threshold for nobody, are refused before any case is taken."""

    def taken() -> Iterator[Case]:
        pytest.fail("a case was taken")
        yield

    with pytest.raises(ConfigError, match="is no evaluator"):
        run(taken(), ["ExactMatch"])
    with pytest.raises(ConfigError, match="which does not run"):
        run(taken(), [ExactMatch()], EngineSettings(Thresholds(by_name={"ExactMach": 1.0})))


@pytest.mark.parametrize("settings", [{"timeout_s": 0}, {"timeout_s": float("nan")}, {"concurrency": 0}])
def test_settings_that_cannot_be_met_are_refused(settings: dict[str, Any]) -> None:
    """No time at all, and nothing at a time, are mistakes."""
    with pytest.raises(ConfigError, match="give"):
        EngineSettings(**settings)


# --- thresholds and outcomes


class Half:
    """An evaluator that always says one half."""

    def __init__(self, threshold: object = UNSET, severity: str = "fail") -> None:
        self.name = "half"
        self.threshold = threshold
        self.severity = severity

    def __call__(self, evaluable: Evaluable) -> float:
        """Judge one case."""
        return 0.5


@both
@pytest.mark.parametrize(
    ("evaluator", "thresholds", "expected"),
    [
        (Half(), Thresholds(), (Outcome.PASSED, 0.5, Severity.FAIL)),
        (Half(), Thresholds(0.6), (Outcome.FAILED, 0.6, Severity.FAIL)),
        (Half(0.4), Thresholds(0.6), (Outcome.PASSED, 0.4, Severity.FAIL)),
        (Half(None), Thresholds(0.6), (Outcome.MEASURED, None, Severity.FAIL)),
        (Half(0.4), Thresholds(by_name={"half": 0.9}), (Outcome.FAILED, 0.9, Severity.FAIL)),
        (Half(severity="warn"), Thresholds(0.6), (Outcome.MEASURED, None, Severity.WARN)),
        (Half(0.9, "warn"), Thresholds(), (Outcome.MEASURED, 0.9, Severity.WARN)),
        (Half(severity="warn"), Thresholds(by_name={"half": 0.9}), (Outcome.FAILED, 0.9, Severity.FAIL)),
    ],
)
def test_the_threshold_decides(
    run: Run, evaluator: Half, thresholds: Thresholds, expected: tuple[Outcome, float | None, Severity]
) -> None:
    """The same score passes, fails or is only measured, as the thresholds have it; a warning fails no case."""
    result = only(run([case()], [evaluator], EngineSettings(thresholds)))

    assert (result.outcome, result.threshold, result.severity) == expected
    assert result.score == 0.5
    assert result.duration_ms >= 0


# --- what the case holds


@both
def test_needs_are_checked_before_anything_is_called(run: Run) -> None:
    """Absent from the specification is skipped, absent from the trace is an error, each with its reason."""

    class Never:
        def __init__(self, need: str) -> None:
            self.needs = [need]

        def __call__(self, evaluable: Evaluable) -> float:
            """Fail the test."""
            pytest.fail("it was called")

    (result,) = run([case(output=None)], [Never("expectation"), Never("output"), Never("trace")])

    expectation, output, trace = result.results
    assert (expectation.outcome, expectation.failure) == (Outcome.SKIPPED, None)
    assert expectation.reason == "no expectation was given for this case"
    assert output.failure == Failure(FailureKind.OBSERVATION, "no output was recorded; the case holds an input (input)")
    assert (trace.outcome, trace.reason) == (Outcome.SKIPPED, "the case comes from no trace")
    assert result.outcome is Outcome.ERROR


@both
def test_a_case_that_could_not_be_made_is_an_error_for_all_but_trace_checks(run: Run) -> None:
    """Evaluators report the case's own failure; a look at the trace alone needs no evaluable."""
    failure = Failure(FailureKind.OBSERVATION, "nothing is called 'answer'", "ObservationError")
    broken = Case("a", "a", None, TRACE, failure=failure)

    def sees(evaluable: Evaluable, trace: Trace) -> bool:
        return evaluable == Evaluable() and trace == TRACE

    sees.needs = ["trace"]

    (result,) = run([broken], [TraceIntegrity(), ExactMatch(), lambda evaluable: 1.0, sees, SpanErrors()])

    assert [item.outcome for item in result.results] == [
        Outcome.MEASURED,
        Outcome.ERROR,
        Outcome.ERROR,
        Outcome.PASSED,
        Outcome.PASSED,
    ]
    assert [item.failure for item in result.results[1:3]] == [failure, failure]
    assert result.outcome is Outcome.ERROR


def test_a_case_without_anything_is_an_error_that_says_so() -> None:
    """A case with neither an evaluable nor a failure is not passed over."""
    result = only(judge_here([Case("a", "a", None)], [ExactMatch()]))

    assert result.failure == Failure(FailureKind.OBSERVATION, "there is nothing to judge in this case")


# --- what evaluators do wrong


class MuteError(Exception):
    """An exception of a user's, whose message cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError


def fails_with(error: BaseException) -> Callable[[Evaluable], float]:
    """Make an evaluator that raises."""

    def failing(evaluable: Evaluable) -> float:
        raise error

    return failing


def fails_later_with(error: BaseException) -> Callable[[Evaluable], Any]:
    """Make an async evaluator that raises."""

    async def failing(evaluable: Evaluable) -> float:
        await asyncio.sleep(0)
        raise error

    return failing


@both
@pytest.mark.parametrize("make", [fails_with, fails_later_with])
@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (KeyError("score"), FailureKind.EVALUATOR, "'score' ("),
        (ValueError(), FailureKind.EVALUATOR, "ValueError without a message ("),
        (MuteError(), FailureKind.EVALUATOR, "MuteError without a message ("),
        (SystemExit(3), FailureKind.EVALUATOR, "called sys.exit(3) ("),
        (GeneratorExit("x"), FailureKind.EVALUATOR, "x ("),
        (asyncio.CancelledError("x"), FailureKind.EVALUATOR, "x ("),
        (TimeoutError("judge"), FailureKind.EVALUATOR, "judge ("),
        (ObservationError("no documents"), FailureKind.OBSERVATION, "no documents"),
        (ConfigError("no regex"), FailureKind.CONTRACT, "no regex"),
        (ValueError("x" * 10_000), FailureKind.EVALUATOR, "x" * 2_000 + "… ("),
    ],
)
def test_an_exception_is_a_failure_and_no_score(
    run: Run, make: Callable[[BaseException], Any], error: BaseException, kind: FailureKind, message: str
) -> None:
    """Whatever an evaluator raises, the run goes on, and the failure says whose it is, what, and where."""
    results = run(cases(3), [make(error), lambda evaluable: 1.0])

    assert len(results) == 3
    for result in results:
        failed, fine = result.results
        assert failed.outcome is Outcome.ERROR
        assert failed.failure.kind is kind
        assert failed.failure.type == type(error).__name__
        assert failed.failure.message.startswith(message)
        assert kind is not FailureKind.EVALUATOR or "test_engine.py:" in failed.failure.message
        assert fine.outcome is Outcome.PASSED


@both
def test_the_place_of_a_failure_is_in_the_evaluators_own_file(run: Run) -> None:
    """The line is the evaluator's, not that of the library it called."""
    import json

    def failing(evaluable: Evaluable) -> float:
        return float(json.loads("{"))

    result = only(run([case()], [failing]))

    line = failing.__code__.co_firstlineno + 1
    assert result.failure.message.endswith(f"test_engine.py:{line})")


@both
@pytest.mark.parametrize("make", [fails_with, fails_later_with])
def test_an_evaluator_can_skip_a_case(run: Run, make: Callable[[BaseException], Any]) -> None:
    """`SkipEvaluation` is no failure; its message is the reason."""
    result = only(run([case()], [make(SkipEvaluation("no question"))]))

    assert (result.outcome, result.reason, result.failure) == (Outcome.SKIPPED, "no question", None)


@both
@pytest.mark.parametrize("returned", [None, "0.5", 1.5, float("nan"), object()])
def test_what_is_no_evaluation_is_a_failure_of_the_evaluator(run: Run, returned: object) -> None:
    """Nonsense is reported as such, with the value."""
    result = only(run([case()], [lambda evaluable: returned]))

    assert result.outcome is Outcome.ERROR
    assert result.failure.kind is FailureKind.EVALUATOR
    assert result.failure.type == "EvaluatorError"
    assert "'<lambda>' returned" in result.failure.message


@both
def test_a_fault_in_a_check_of_ours_costs_no_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trusted evaluator that raises is an error on its case, with the others judged."""

    def broken(self: object, evaluable: Evaluable, /, trace: Trace) -> Evaluation:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(OutputPresent, "__call__", broken)

    results = run([case(trace=TRACE)] * 2, [OutputPresent(), SpanErrors()])

    for result in results:
        assert result.results[0].failure.type == "ZeroDivisionError"
        assert result.results[1].outcome is Outcome.PASSED


# --- copies


@both
def test_evaluators_that_change_their_input_change_nothing_for_others(run: Run) -> None:
    """Each evaluator sees the case as it was; ours too."""

    def changes(evaluable: Evaluable) -> bool:
        assert evaluable.eval_output is not None
        value: object = evaluable.eval_output[0].value
        untouched = value == {"a": [1]}
        value["a"].append(2)
        evaluable.eval_input.clear()
        return untouched

    async def changes_later(evaluable: Evaluable) -> bool:
        return changes(evaluable)

    original = case(output={"a": [1]}, expectation={"a": [1]})

    (result,) = run([original], [changes, changes_later, bind(changes, name="again"), ExactMatch()])

    assert [item.score for item in result.results] == [1, 1, 1, 1]
    assert original == case(output={"a": [1]}, expectation={"a": [1]})


def test_trusted_evaluators_are_called_on_the_spot() -> None:
    """With nothing but evaluators of ours, no thread is started and no event loop is loaded."""
    program = (
        "import sys, threading\n"
        "from pixie_otel.evals.case import Case\n"
        "from pixie_otel.evals.engine import judge_sync\n"
        "from pixie_otel.evals.evaluators.checks import SpanErrors\n"
        "from pixie_otel.evaluable import Evaluable\n"
        "from pixie_otel.traces.spans import ObserveSpan\n"
        "from pixie_otel.traces.trace import Trace\n"
        "trace = Trace.from_spans([ObserveSpan(trace_id='a', span_id='b', name='root')])\n"
        "started = []\n"
        "threading.Thread.start = started.append\n"
        "results = list(judge_sync([Case('a', 'a', Evaluable(), trace)] * 9, [SpanErrors()]))\n"
        "print(len(results), started, 'asyncio' in sys.modules)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "9 [] False"


def test_a_trusted_evaluator_sees_the_case_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known to change nothing needs no copy."""
    seen: list[Evaluable] = []
    original = case(expectation="x")

    def looks(self: object, evaluable: Evaluable) -> Evaluation:
        seen.append(evaluable)
        return Evaluation(1, "fine")

    monkeypatch.setattr(ExactMatch, "__call__", looks)

    judge_here([original], [ExactMatch()])

    assert seen[0] is original.evaluable


# --- scheduling


def test_results_come_as_they_are_done() -> None:
    """A slow case does not hold up a quick one behind it."""
    second_is_done = threading.Event()

    def waits(evaluable: Evaluable) -> float:
        if name_of(evaluable) == "0":
            assert second_is_done.wait(30)
        return 1.0

    order: list[str] = []
    for result in judge_sync(cases(2), [waits]):
        order.append(result.case.id)
        second_is_done.set()

    assert order == ["1", "0"]


@both
def test_no_more_calls_run_at_a_time_than_allowed(run: Run) -> None:
    """Both kinds of evaluators together keep to `concurrency`, and cases are taken no faster."""
    lock = threading.Lock()
    running, most, taken, given_back = 0, 0, 0, 0

    def enter() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)

    def leave() -> None:
        nonlocal running
        with lock:
            running -= 1

    def plain(evaluable: Evaluable) -> float:
        enter()
        leave()
        return 1.0

    async def later(evaluable: Evaluable) -> float:
        enter()
        for _ in range(3):
            await asyncio.sleep(0)
        leave()
        return 1.0

    def source() -> Iterator[Case]:
        nonlocal taken
        for number in range(100):
            taken += 1
            assert taken - given_back <= 4
            yield case(str(number))

    async def count() -> int:
        nonlocal given_back
        async for _ in judge(source(), [plain, later], settings):
            given_back += 1
        return given_back

    settings = EngineSettings(concurrency=3)
    if run is judge_here:
        for _ in judge_sync(source(), [plain, later], settings):
            given_back += 1
    else:
        asyncio.run(count())

    assert given_back == 100
    assert 1 <= most <= 3


def test_one_at_a_time_is_one_thread_in_order() -> None:
    """With a concurrency of 1, evaluators run one after the other in the order of the cases."""
    seen: list[tuple[str, int]] = []

    def notes(evaluable: Evaluable) -> float:
        seen.append((name_of(evaluable), threading.get_ident()))
        return 1.0

    judge_here(cases(20), [notes], EngineSettings(concurrency=1))

    assert [name for name, _ in seen] == [str(number) for number in range(20)]
    assert len({thread for _, thread in seen}) == 1
    assert seen[0][1] != threading.get_ident()


def test_async_evaluators_share_one_loop() -> None:
    """A client that belongs to a loop can be used in every call."""
    loops: set[int] = set()

    async def notes(evaluable: Evaluable) -> float:
        loops.add(id(asyncio.get_running_loop()))
        return 1.0

    judge_here(cases(50), [notes, bind(notes, name="again")])

    assert len(loops) == 1


def test_async_evaluators_run_on_the_callers_loop() -> None:
    """What was made on the caller's loop can be used in an evaluator."""

    async def main() -> None:
        mine = asyncio.get_running_loop()

        async def notes(evaluable: Evaluable) -> bool:
            return asyncio.get_running_loop() is mine

        async for result in judge(cases(5), [notes]):
            assert result.outcome is Outcome.PASSED

    asyncio.run(main())


def test_judging_works_inside_a_running_loop() -> None:
    """A notebook may call `judge_sync`, async evaluators included."""

    async def later(evaluable: Evaluable) -> float:
        await asyncio.sleep(0)
        return 1.0

    async def cell() -> list[CaseResult]:
        return list(judge_sync(cases(3), [later]))

    assert [result.outcome for result in asyncio.run(cell())] == [Outcome.PASSED] * 3


@both
def test_an_awaitable_from_a_plain_function_is_awaited(run: Run) -> None:
    """A decorator that hides that a function is async does no harm."""

    async def later(evaluable: Evaluable) -> float:
        await asyncio.sleep(0)
        return 0.75

    def hides_that_it_is_async(evaluable: Evaluable) -> Awaitable[float]:
        return later(evaluable)

    assert only(run([case()], [hides_that_it_is_async])).score == 0.75


@both
def test_evaluators_see_the_callers_context(run: Run) -> None:
    """Context variables set before the judging reach sync and async evaluators."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")

    def plain(evaluable: Evaluable) -> bool:
        return variable.get() == "set"

    async def later(evaluable: Evaluable) -> bool:
        return variable.get() == "set"

    def inside() -> list[CaseResult]:
        variable.set("set")
        return run(cases(3), [plain, later])

    assert {result.outcome for result in contextvars.copy_context().run(inside)} == {Outcome.PASSED}


@both
def test_evaluators_get_copies_of_the_trace(run: Run) -> None:
    """What an evaluator does to its trace, neither the next one nor the case sees."""

    def spoils(evaluable: Evaluable, trace: Trace) -> bool:
        trace[0].span.attributes["spoilt"] = True
        trace.roots.clear()
        return True

    def looks(evaluable: Evaluable, trace: Trace) -> bool:
        return trace is not TRACE and trace == TRACE

    ((first, second),) = [
        found.results for found in run([case(trace=TRACE)], [spoils, looks], EngineSettings(concurrency=1))
    ]
    assert (first.score, second.score) == (1, 1)
    assert TRACE[0].span.attributes == {}


def test_cases_are_let_go() -> None:
    """A case that was given is kept by nobody: memory does not grow with the run."""
    traces: list[weakref.ref[Trace]] = []

    def source() -> Iterator[Case]:
        for number in range(20):
            trace = Trace(str(number), [])
            traces.append(weakref.ref(trace))
            yield case(str(number), trace=trace)

    settings = EngineSettings(concurrency=2)
    for _ in judge_sync(source(), [lambda evaluable: 1.0, ExactMatch()], settings):
        gc.collect()
        assert sum(trace() is not None for trace in traces) <= 5


@given(st.permutations(range(6)), st.integers(1, 4))
def test_results_do_not_depend_on_the_order_of_cases(order: list[int], concurrency: int) -> None:
    """Shuffled cases and another concurrency give the same results but for their times."""

    def plain(evaluable: Evaluable) -> float:
        return int(name_of(evaluable)) / 10

    async def later(evaluable: Evaluable) -> float:
        await asyncio.sleep(0)
        if name_of(evaluable) == "3":
            raise ValueError("three")
        return int(name_of(evaluable)) / 10

    def run(given_cases: list[Case], settings: EngineSettings) -> dict[str, list[tuple[Any, ...]]]:
        return {
            result.case.id: [(item.evaluator, item.outcome, item.evaluation, item.failure) for item in result.results]
            for result in judge_sync(given_cases, [plain, later, LevenshteinMatch()], settings)
        }

    straight = cases(6)

    assert run([straight[number] for number in order], EngineSettings(concurrency=concurrency)) == run(
        straight, EngineSettings()
    )


# --- what hangs


@both
def test_a_sync_evaluator_that_hangs_is_left_behind(run: Run, release: threading.Event) -> None:
    """Its case is an error that names the limit; the other cases and the other evaluators are judged."""

    def hangs(evaluable: Evaluable) -> float:
        if name_of(evaluable) in "13":
            release.wait()
        return 1.0

    results = {result.case.id: result.results for result in run(cases(5), [hangs, lambda evaluable: 1.0], QUICK)}

    assert len(results) == 5
    for name, (first, second) in results.items():
        assert second.outcome is Outcome.PASSED
        if name in "13":
            assert first.failure == Failure(FailureKind.EVALUATOR, "took longer than 0.5 s", "TimeoutError")
            assert first.duration_ms >= 500
        else:
            assert first.outcome is Outcome.PASSED


@both
def test_an_async_evaluator_that_hangs_is_cancelled(run: Run) -> None:
    """Its case is an error that names the limit; the others are judged."""

    async def hangs(evaluable: Evaluable) -> float:
        if name_of(evaluable) == "1":
            await asyncio.Event().wait()
        return 1.0

    results = {result.case.id: result.results[0] for result in run(cases(3), [hangs], QUICK)}

    assert results["1"].failure == Failure(FailureKind.EVALUATOR, "took longer than 0.5 s", "TimeoutError")
    assert results["0"].outcome is results["2"].outcome is Outcome.PASSED


@both
def test_an_async_evaluator_that_refuses_to_be_cancelled_is_left_behind(run: Run) -> None:
    """Who catches the cancellation and goes on is not waited for."""
    refused = threading.Event()

    async def stubborn(evaluable: Evaluable) -> float:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            refused.set()
            for _ in range(20):
                await asyncio.sleep(0)
        return 1.0

    result = only(run([case()], [stubborn], QUICK))

    assert result.failure.type == "TimeoutError"
    assert refused.wait(30)


def test_a_blocked_event_loop_is_replaced(release: threading.Event) -> None:
    """An async evaluator that blocks costs its own case; those that it held up are judged on another loop."""
    blocked = threading.Event()

    async def mixed(evaluable: Evaluable) -> float:
        if name_of(evaluable) == "2":
            blocked.set()
            release.wait()
        # The event is one of threads, as this goes on in another loop.
        while not blocked.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0)
        return 1.0

    results = {result.case.id: result.results[0] for result in judge_sync(cases(5), [mixed], QUICK)}

    assert results.pop("2").failure == Failure(
        FailureKind.EVALUATOR, "took longer than 0.5 s and blocked the event loop", "TimeoutError"
    )
    assert {result.outcome for result in results.values()} == {Outcome.PASSED}


def test_a_loop_that_is_blocked_for_a_while_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancellation that waits behind a call within its own time does not cost that call."""
    time = 0.0
    slow_began, asked_who_blocks = threading.Event(), threading.Event()
    cancel, running = LoopThread.cancel, LoopThread.running

    async def mixed(evaluable: Evaluable) -> float:
        nonlocal time
        if name_of(evaluable) == "slow":
            slow_began.set()
            await asyncio.Event().wait()
        time = 10.5
        assert asked_who_blocks.wait(30)
        return 1.0

    def source() -> Iterator[Case]:
        nonlocal time
        yield case("slow")
        assert slow_began.wait(30)
        time = 5.0
        yield case("blocks for a while")

    def cancelled(self: LoopThread, call: Call) -> None:
        nonlocal time
        cancel(self, call)
        time = 12.0

    def asked(self: LoopThread) -> Call | None:
        found = running(self)
        asked_who_blocks.set()
        return found

    monkeypatch.setattr(engine, "perf_counter", lambda: time)
    monkeypatch.setattr(calls, "perf_counter", lambda: time)
    monkeypatch.setattr(LoopThread, "cancel", cancelled)
    monkeypatch.setattr(LoopThread, "running", asked)

    results = judge_here(source(), [mixed], EngineSettings(timeout_s=10.0))

    assert {result.case.id: result.outcome for result in results} == {
        "slow": Outcome.ERROR,
        "blocks for a while": Outcome.PASSED,
    }


def test_without_a_limit_nothing_is_left_behind() -> None:
    """`timeout_s=None` waits for as long as it takes."""
    assert only(judge_here([case()], [lambda evaluable: 1.0], EngineSettings(timeout_s=None))).score == 1


def test_hung_calls_are_bounded(release: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """When too many calls never came back, no more are made, and the results say so."""
    monkeypatch.setattr(engine, "_MOST_HUNG", 3)
    called: list[str] = []

    def hangs(evaluable: Evaluable) -> float:
        called.append(name_of(evaluable))
        release.wait()
        return 1.0

    results = judge_here(cases(8), [hangs], EngineSettings(timeout_s=0.1, concurrency=1))

    messages = [result.results[0].failure.message for result in results]
    assert len(called) == 3
    assert messages == ["took longer than 0.1 s"] * 3 + ["not called: 3 calls before it never came back"] * 5


def test_a_thread_that_comes_back_late_is_dismissed() -> None:
    """A call that ends after its time changes nothing any more."""
    back = threading.Event()

    def slow(evaluable: Evaluable) -> float:
        if name_of(evaluable) == "0":
            back.wait(30)
        return 1.0

    outcomes: dict[str, Outcome] = {}
    for result in judge_sync(cases(3), [slow], EngineSettings(timeout_s=0.2, concurrency=1)):
        outcomes[result.case.id] = result.outcome
        back.set()

    assert outcomes == {"0": Outcome.ERROR, "1": Outcome.PASSED, "2": Outcome.PASSED}


@pytest.mark.parametrize(
    "evaluator",
    [
        "def judge(evaluable):\n    threading.Event().wait()",
        "async def judge(evaluable):\n    threading.Event().wait()",
        "async def judge(evaluable):\n    await asyncio.to_thread(threading.Event().wait)",
        "async def judge(evaluable):\n  while True:\n    try: await asyncio.sleep(9)\n    except BaseException: pass",
    ],
    ids=["sync", "blocking", "to_thread", "stubborn"],
)
def test_what_hangs_does_not_keep_the_program_from_ending(evaluator: str) -> None:
    """The process ends by itself, with calls that never came back."""
    program = (
        "import asyncio, threading\n"
        "from pixie_otel.evals.case import Case\n"
        "from pixie_otel.evals.engine import EngineSettings, judge_sync\n"
        "from pixie_otel.evaluable import Evaluable\n"
        f"{evaluator}\n"
        "results = judge_sync([Case('a', 'a', Evaluable())], [judge], EngineSettings(timeout_s=0.2))\n"
        "print([item.failure.type for result in results for item in result.results])\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)

    assert done.stdout.strip() == "['TimeoutError']"
    assert done.stderr == ""


def test_blocking_work_can_be_moved_to_a_thread() -> None:
    """`asyncio.to_thread` works in evaluators, results and exceptions alike."""

    async def moved(evaluable: Evaluable) -> float:
        if name_of(evaluable) == "1":
            await asyncio.to_thread(int, "x")
        return await asyncio.to_thread(lambda: 0.75)

    results = {result.case.id: result.results[0] for result in judge_sync(cases(2), [moved])}

    assert results["0"].score == 0.75
    assert results["1"].failure is not None
    assert results["1"].failure.type == "ValueError"


# --- interruptions


def interrupted(error: BaseException) -> Iterator[Case]:
    """Give two cases, then raise."""
    yield from cases(2)
    raise error


def note(done: list[str], results: Iterable[CaseResult]) -> None:
    """Note the cases as their results come, up to an exception."""
    for result in results:
        done.append(result.case.id)  # noqa: PERF401 - what came before an exception counts


async def note_in_a_loop(done: list[str], results: AsyncIterator[CaseResult]) -> None:
    """Note the cases as their results come, up to an exception."""
    async for result in results:
        done.append(result.case.id)  # noqa: PERF401 - what came before an exception counts


@pytest.mark.parametrize("evaluators", [[ExactMatch()], [ExactMatch(), lambda evaluable: 1.0]])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(143), ConfigError("strict"), OSError("gone")])
def test_an_interruption_comes_after_what_is_done(evaluators: list[Any], error: BaseException) -> None:
    """What was judged is given first; then the very exception goes on."""
    done: list[str] = []

    with pytest.raises(type(error)) as caught:
        note(done, judge_sync(interrupted(error), evaluators, EngineSettings(concurrency=1)))

    assert caught.value is error
    assert done == ["0", "1"]


def test_an_interruption_comes_after_what_is_done_in_a_loop_too() -> None:
    """The same holds for `judge`."""
    done: list[str] = []
    results = judge(interrupted(OSError("gone")), [lambda evaluable: 1.0], EngineSettings(concurrency=1))

    with pytest.raises(OSError, match="gone"):
        asyncio.run(note_in_a_loop(done, results))

    assert done == ["0", "1"]


@pytest.mark.parametrize("make", [fails_with, fails_later_with])
def test_an_evaluators_keyboard_interrupt_ends_the_run(make: Callable[[BaseException], Any]) -> None:
    """Ctrl-C that reaches an evaluator is Ctrl-C: the case is not done, those before it are given."""
    fails = make(KeyboardInterrupt())

    async def later(evaluable: Evaluable) -> object:
        returned = fails(evaluable) if name_of(evaluable) == "1" else 1.0
        return await returned if asyncio.iscoroutine(returned) else returned

    def plain(evaluable: Evaluable) -> object:
        return fails(evaluable) if name_of(evaluable) == "1" else 1.0

    evaluator = plain if make is fails_with else later
    done: list[str] = []

    with pytest.raises(KeyboardInterrupt):
        note(done, judge_sync(cases(3), [evaluator], EngineSettings(concurrency=1)))

    assert done == ["0"]


@both
def test_what_came_in_during_the_interruption_is_given_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that had ended, but was not collected when the interruption came, is not lost."""
    posted = threading.Event()
    post = engine._Session._post

    def post_and_tell(self: object, call: Call) -> None:
        post(self, call)
        posted.set()

    def source() -> Iterator[Case]:
        yield case("0")
        assert posted.wait(30)
        raise OSError("gone")

    monkeypatch.setattr(engine._Session, "_post", post_and_tell)
    done: list[str] = []

    def notes() -> None:
        if run is judge_here:
            note(done, judge_sync(source(), [lambda evaluable: 1.0]))
        else:
            asyncio.run(note_in_a_loop(done, judge(source(), [lambda evaluable: 1.0])))

    with pytest.raises(OSError, match="gone"):
        notes()

    assert done == ["0"]


def test_leaving_early_leaves_nothing_running() -> None:
    """Who stops taking results closes the judging; its threads end."""
    before = set(threading.enumerate())

    async def later(evaluable: Evaluable) -> float:
        await asyncio.sleep(0)
        return 1.0

    results = judge_sync(cases(100), [lambda evaluable: 1.0, later])
    next(results)
    started = set(threading.enumerate()) - before
    results.close()

    for thread in started:
        thread.join(30)
        assert not thread.is_alive()


def test_leaving_early_in_a_loop_cancels_what_runs() -> None:
    """Closing `judge` cancels the calls under way on the caller's loop."""
    cancelled = threading.Event()

    async def waits(evaluable: Evaluable) -> float:
        if name_of(evaluable) == "0":
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
        return 1.0

    async def main() -> None:
        results = judge(cases(5), [waits])
        await anext(results)
        await results.aclose()
        await asyncio.sleep(0)

    asyncio.run(main())

    assert cancelled.is_set()


def test_a_late_call_finds_the_callers_loop_closed(release: threading.Event) -> None:
    """A thread that comes back after the loop was closed does no harm."""
    ends = threading.Event()
    done = threading.Event()

    def late(evaluable: Evaluable) -> float:
        ends.wait(30)
        done.set()
        return 1.0

    judge_in_a_loop([case()], [late], EngineSettings(timeout_s=0.1))
    ends.set()

    assert done.wait(30)


@dataclass(frozen=True)
class Frozen:
    """An evaluator that is a value."""

    score: float = 1.0

    def __call__(self, evaluable: Evaluable) -> Evaluation:
        """Judge one case."""
        return Evaluation(self.score, "as it is")


def test_an_evaluation_is_kept_as_the_evaluator_made_it() -> None:
    """Reasoning and details come through."""
    assert only(judge_here([case()], [Frozen(0.25)])).evaluation == Evaluation(0.25, "as it is")
