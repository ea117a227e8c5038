"""One evaluator on one evaluable, and what its answer means."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, cast

from pixie_otel.errors import EvaluatorError
from pixie_otel.evals.binding import BoundEvaluator, bind
from pixie_otel.evals.copies import copy_evaluable, with_expectation
from pixie_otel.evals.evaluation import Evaluation, shown
from pixie_otel.evals.needs import check_needs
from pixie_otel.evaluable import UNSET

if TYPE_CHECKING:
    from collections.abc import Callable

    from pixie_otel.evals.evaluation import AnyEvaluator
    from pixie_otel.evaluable import Evaluable, JsonValue, Unset
    from pixie_otel.traces.trace import Trace

__all__ = ["evaluate", "evaluate_sync", "to_evaluation"]


async def evaluate(
    evaluator: AnyEvaluator | Callable[..., Any] | BoundEvaluator,
    evaluable: Evaluable,
    *,
    expectation: JsonValue | Unset = UNSET,
    trace: Trace | None = None,
) -> Evaluation:
    """Judge one evaluable with one evaluator.

    What the evaluator raises reaches the caller; it never becomes a score. There is no time limit: the caller has
    `asyncio.timeout` for that. The evaluator gets a copy of the evaluable.

    Args:
        evaluator: What judges.
        evaluable: What is judged.
        expectation: What a good output is, in place of the evaluable's own expectation.
        trace: The trace that the evaluable came from, for evaluators that take it.

    Raises:
        ConfigError: That is no evaluator.
        SkipEvaluation: The evaluator does not apply: it needs what the specification does not give, or says so itself.
        ObservationError: The evaluator needs what was not recorded.
        EvaluatorError: What the evaluator returned is no evaluation.
    """
    bound = bind(evaluator)
    returned = _call(bound, evaluable, expectation, trace)
    if inspect.isawaitable(returned):
        returned = await cast("Awaitable[object]", returned)
    return to_evaluation(bound.name, returned)


def evaluate_sync(
    evaluator: AnyEvaluator | Callable[..., Any] | BoundEvaluator,
    evaluable: Evaluable,
    *,
    expectation: JsonValue | Unset = UNSET,
    trace: Trace | None = None,
) -> Evaluation:
    """Judge one evaluable with one evaluator, and wait for it; see `evaluate`.

    It works in a notebook too: an ``async`` evaluator called from inside a running event loop runs in a thread.

    Args:
        evaluator: What judges.
        evaluable: What is judged.
        expectation: What a good output is, in place of the evaluable's own expectation.
        trace: The trace that the evaluable came from, for evaluators that take it.

    Raises:
        ConfigError: That is no evaluator.
        SkipEvaluation: The evaluator does not apply: it needs what the specification does not give, or says so itself.
        ObservationError: The evaluator needs what was not recorded.
        EvaluatorError: What the evaluator returned is no evaluation.
    """
    bound = bind(evaluator)
    returned = _call(bound, evaluable, expectation, trace)
    if inspect.isawaitable(returned):
        returned = _wait_for(cast("Awaitable[object]", returned))
    return to_evaluation(bound.name, returned)


def to_evaluation(name: str, returned: object) -> Evaluation:
    """Make an evaluation of what an evaluator returned.

    Args:
        name: The evaluator's name.
        returned: An `Evaluation`, a number from 0 to 1, or a ``bool``.

    Raises:
        EvaluatorError: It is something else.
    """
    if isinstance(returned, Evaluation):
        return returned
    if returned is None:
        raise EvaluatorError(f"evaluator {name!r} returned nothing (None): does it `return` what it found?")
    if inspect.iscoroutine(returned) or inspect.isgenerator(returned):
        # Closed, so that Python does not warn of a coroutine that was never awaited.
        returned.close()
    if inspect.isgenerator(returned) or inspect.isasyncgen(returned):
        raise EvaluatorError(f"evaluator {name!r} yields ({type(returned).__name__}): an evaluator returns once")
    try:
        return Evaluation(cast("float", returned), f"{name} returned {_plain(returned)}")
    except EvaluatorError as error:
        raise EvaluatorError(
            f"evaluator {name!r} returned {shown(returned)}: return an Evaluation, a number from 0 to 1, or a bool "
            f"({error})"
        ) from None


def _call(bound: BoundEvaluator, evaluable: Evaluable, expectation: JsonValue | Unset, trace: Trace | None) -> object:
    if expectation is not UNSET:
        evaluable = with_expectation(evaluable, expectation)
    check_needs(bound.needs, evaluable, trace)
    return bound(evaluable if bound.trusted else copy_evaluable(evaluable), trace)


def _plain(value: object) -> str:
    # As it is read, not as numpy and others say it: `np.float64(0.5)`.
    return str(value) if isinstance(value, bool | int | float) else shown(value)


def _wait_for(awaitable: Awaitable[object]) -> object:
    import asyncio

    async def waited() -> object:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(waited())

    import contextvars
    from threading import Thread

    returned: list[object] = []
    raised: list[BaseException] = []
    context = contextvars.copy_context()

    def run() -> None:
        try:
            returned.append(context.run(asyncio.run, waited()))
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised again where it was asked for
            raised.append(error)

    thread = Thread(target=run, name="pixie-evaluate", daemon=True)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return returned[0]
