"""One evaluator on one evaluable."""

import asyncio
import contextvars
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError, EvaluatorError, ObservationError, SkipEvaluation
from pixie_otel.evals.binding import bind
from pixie_otel.evals.evaluate import evaluate, evaluate_sync, to_evaluation
from pixie_otel.evals.evaluation import Evaluation
from pixie_otel.evals.evaluators.heuristics import ExactMatch
from pixie_otel.evaluable import UNSET, Evaluable, NamedData
from pixie_otel.traces.trace import Trace

EVALUABLE = Evaluable(eval_output=[NamedData("output", "x")], expectation="y")
TRACE = Trace("ab", [])
EVALUATION = Evaluation(0.25, "quarter", {"a": 1})


def in_a_loop(*args: object, **options: object) -> Evaluation:
    """Call `evaluate` as a program without a loop does."""
    return asyncio.run(evaluate(*args, **options))


def inside_a_loop(*args: object, **options: object) -> Evaluation:
    """Call `evaluate_sync` as a notebook does: while a loop runs."""

    async def cell() -> Evaluation:
        return evaluate_sync(*args, **options)

    return asyncio.run(cell())


both = pytest.mark.parametrize("judge", [in_a_loop, evaluate_sync, inside_a_loop])


async def waiting(evaluable: Evaluable) -> Evaluation:
    """Judge after a turn of the loop."""
    await asyncio.sleep(0)
    return EVALUATION


def hides_that_it_is_async(evaluable: Evaluable) -> Awaitable[Evaluation]:
    """Give back an awaitable, though nobody can see that before the call."""
    return waiting(evaluable)


@both
@pytest.mark.parametrize("evaluator", [lambda evaluable: EVALUATION, waiting, hides_that_it_is_async])
def test_an_evaluation_comes_back_as_it_is(judge: Callable[..., Evaluation], evaluator: object) -> None:
    """Sync, async, and a plain function that gives back an awaitable: all of them judge."""
    assert judge(evaluator, EVALUABLE) is EVALUATION


@both
@pytest.mark.parametrize("error", [KeyError("x"), EvaluatorError("x"), SkipEvaluation("x")])
def test_what_an_evaluator_raises_reaches_the_caller(judge: Callable[..., Evaluation], error: Exception) -> None:
    """An exception is handed on, the very object, and never becomes a score."""

    def failing(evaluable: Evaluable) -> float:
        raise error

    async def failing_later(evaluable: Evaluable) -> float:
        await asyncio.sleep(0)
        raise error

    for evaluator in (failing, failing_later):
        with pytest.raises(type(error)) as caught:
            judge(evaluator, EVALUABLE)
        assert caught.value is error


@both
@pytest.mark.parametrize(
    ("returned", "score", "reasoning"),
    [
        (True, 1.0, "judge returned True"),
        (False, 0.0, "judge returned False"),
        (1, 1.0, "judge returned 1"),
        (0.25, 0.25, "judge returned 0.25"),
        (np.float64(0.25), 0.25, "judge returned 0.25"),
        (np.float32(0.25), 0.25, r"judge returned np.float32(0.25) (float32)"),
        (Decimal("0.25"), 0.25, "judge returned Decimal('0.25') (Decimal)"),
        (Fraction(1, 4), 0.25, "judge returned Fraction(1, 4) (Fraction)"),
    ],
)
def test_numbers_and_bools_become_evaluations(
    judge: Callable[..., Evaluation], returned: object, score: float, reasoning: str
) -> None:
    """A number from 0 to 1 or a bool is enough; the reasoning says that it was all there was."""
    assert judge(bind(lambda evaluable: returned, name="judge"), EVALUABLE) == Evaluation(score, reasoning)


def yields(evaluable: Evaluable) -> Iterator[float]:
    """Yield, as an evaluator must not."""
    yield 0.5


async def yields_later(evaluable: Evaluable) -> AsyncIterator[float]:
    """Yield asynchronously, as an evaluator must not."""
    yield 0.5


async def forgets_to_await(evaluable: Evaluable) -> object:
    """Return a coroutine instead of its result."""
    return waiting(evaluable)


@both
@pytest.mark.parametrize(
    ("evaluator", "message"),
    [
        (lambda evaluable: None, "'judge' returned nothing (None)"),
        (
            lambda evaluable: "0.5",
            "'judge' returned '0.5' (str): return an Evaluation, a number from 0 to 1, or a bool",
        ),
        (lambda evaluable: math.nan, "'judge' returned nan (float)"),
        (lambda evaluable: 1.5, "'judge' returned 1.5 (float)"),
        (lambda evaluable: -math.inf, "'judge' returned -inf (float)"),
        (lambda evaluable: (1.0, "why"), "'judge' returned (1.0, 'why') (tuple)"),
        (lambda evaluable: {"score": 1}, "'judge' returned {'score': 1} (dict)"),
        (yields, "'judge' yields (generator)"),
        (yields_later, "'judge' yields (async_generator)"),
        (forgets_to_await, "'judge' returned <coroutine object waiting"),
    ],
)
def test_what_is_no_evaluation_is_an_error_that_shows_it(
    judge: Callable[..., Evaluation], evaluator: object, message: str
) -> None:
    """The message holds the evaluator's name and the value; no coroutine is left behind to warn of."""
    with pytest.raises(EvaluatorError) as caught:
        judge(bind(evaluator, name="judge"), EVALUABLE)

    assert message in str(caught.value)


@both
def test_an_expectation_that_is_given_replaces_the_evaluables(judge: Callable[..., Evaluation]) -> None:
    """The evaluator sees the expectation of the call, null included, and the evaluable keeps its own."""
    seen: list[Any] = []

    def looks(evaluable: Evaluable) -> bool:
        seen.append(evaluable.expectation)
        return True

    judge(looks, EVALUABLE, expectation="z")
    judge(looks, EVALUABLE, expectation=None)
    judge(looks, EVALUABLE)

    assert seen == ["z", None, "y"]
    assert EVALUABLE.expectation == "y"


@both
def test_the_trace_is_handed_on_where_it_is_taken(judge: Callable[..., Evaluation]) -> None:
    """An evaluator with a parameter `trace` gets the trace, or None."""
    assert judge(lambda evaluable, trace: trace is TRACE, EVALUABLE, trace=TRACE).score == 1
    assert judge(lambda evaluable, trace: trace is None, EVALUABLE).score == 1


@both
def test_needs_are_checked_before_the_evaluator_is_called(judge: Callable[..., Evaluation]) -> None:
    """What the specification lacks skips, what was not recorded is an error, and both are said by name."""
    with pytest.raises(SkipEvaluation, match="no expectation was given"):
        judge(ExactMatch(), Evaluable(eval_output=[NamedData("output", "x")]))
    with pytest.raises(ObservationError, match="no output was recorded; the case holds an expectation"):
        judge(ExactMatch(), Evaluable(expectation="x"))
    assert judge(ExactMatch(), Evaluable(eval_output=[NamedData("output", "x")]), expectation="x").score == 1


@both
def test_an_evaluator_gets_a_copy(judge: Callable[..., Evaluation]) -> None:
    """What an evaluator does to the evaluable stays its own affair."""

    def changes(evaluable: Evaluable) -> bool:
        assert evaluable.eval_output is not None
        evaluable.eval_output.clear()
        return True

    judge(changes, EVALUABLE)

    assert EVALUABLE.eval_output == [NamedData("output", "x")]


@both
def test_what_is_no_evaluator_is_refused(judge: Callable[..., Evaluation]) -> None:
    """Arguments the wrong way round are a mistake of the caller's."""
    with pytest.raises(ConfigError, match="is no evaluator"):
        judge(EVALUABLE, lambda evaluable: 1.0)


def test_a_thread_of_ours_sees_the_callers_context() -> None:
    """Context variables reach an async evaluator that runs in a thread."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")

    async def looks(evaluable: Evaluable) -> bool:
        return variable.get() == "set"

    async def cell() -> Evaluation:
        variable.set("set")
        return evaluate_sync(looks, EVALUABLE)

    assert asyncio.run(cell()).score == 1


@given(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.fractions()
    | st.text()
    | st.binary()
    | st.lists(st.floats())
    | st.just(UNSET)
)
def test_any_value_is_an_evaluation_or_an_error_of_ours(returned: object) -> None:
    """Nothing that an evaluator returns ends in another exception, or in a score out of range."""
    try:
        evaluation = to_evaluation("judge", returned)
    except EvaluatorError:
        return
    assert 0 <= evaluation.score <= 1
    assert evaluation.reasoning
