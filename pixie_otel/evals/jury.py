"""The jury: a run's evaluators with their thresholds, and what becomes of what each of them does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from pixie_otel.errors import ConfigError, ObservationError, PixieError, SkipEvaluation
from pixie_otel.evals.evaluate import to_evaluation
from pixie_otel.evals.evaluation import (
    Evaluation,
    EvaluationResult,
    Failure,
    FailureKind,
    Need,
    Outcome,
    Severity,
    reaches,
)
from pixie_otel.evals.needs import is_absent, unmet
from pixie_otel.evaluable import Evaluable
from pixie_otel.secrets import masked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from pixie_otel.evals.binding import BoundEvaluator
    from pixie_otel.evals.case import Case
    from pixie_otel.evals.thresholds import Thresholds
    from pixie_otel.traces.trace import Trace

__all__ = ["Jury", "Seat", "failure_of"]

_NO_EVALUABLE: Final = Failure(FailureKind.OBSERVATION, "there is nothing to judge in this case")
_NOTHING: Final = Evaluable()
_TRACE_ONLY: Final = frozenset({Need.TRACE})
_BITS: Final = {need: 1 << position for position, need in enumerate(Need)}
_LONGEST: Final = 2_000
_HERE: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Seat:
    """An evaluator in a run.

    Attributes:
        evaluator: The evaluator.
        threshold: The score it has to reach.
        severity: Whether missing that fails the case.
        mask: Its needs, a bit each.
        needs_evaluable: It needs more than a trace, and cannot judge a case without an evaluable.
    """

    evaluator: BoundEvaluator
    threshold: float | None
    severity: Severity
    mask: int
    needs_evaluable: bool

    def judged(self, returned: object, seconds: float) -> EvaluationResult:
        """Give the result for what the evaluator returned.

        Args:
            returned: What it returned.
            seconds: How long it took.
        """
        try:
            evaluation = returned if type(returned) is Evaluation else to_evaluation(self.evaluator.name, returned)
        except PixieError as error:
            return self.raised(error, seconds)
        if self.threshold is None or self.severity is Severity.WARN:
            outcome = Outcome.MEASURED
        else:
            outcome = Outcome.PASSED if reaches(evaluation.score, self.threshold) else Outcome.FAILED
        return EvaluationResult(
            self.evaluator.name, outcome, evaluation, self.threshold, self.severity, None, None, seconds * 1000
        )

    def raised(self, error: BaseException, seconds: float = 0.0) -> EvaluationResult:
        """Give the result for what the evaluator raised.

        Args:
            error: What it raised.
            seconds: How long it took.
        """
        if isinstance(error, SkipEvaluation):
            return self.skipped(_text(error), seconds)
        return self.failed(failure_of(error), seconds)

    def failed(self, failure: Failure, seconds: float = 0.0) -> EvaluationResult:
        """Give the result for a case that could not be judged.

        Args:
            failure: Why.
            seconds: How long it took.
        """
        return EvaluationResult(
            self.evaluator.name, Outcome.ERROR, severity=self.severity, failure=failure, duration_ms=seconds * 1000
        )

    def skipped(self, reason: str, seconds: float = 0.0) -> EvaluationResult:
        """Give the result for a case to which the evaluator does not apply.

        Args:
            reason: Why it does not.
            seconds: How long it took to find out.
        """
        return EvaluationResult(
            self.evaluator.name, Outcome.SKIPPED, severity=self.severity, reason=reason, duration_ms=seconds * 1000
        )


class Jury:
    """The evaluators of a run, in order.

    Attributes:
        seats: One an evaluator.
        all_trusted: None of them needs a thread or an event loop.
    """

    def __init__(self, evaluators: Sequence[BoundEvaluator], thresholds: Thresholds) -> None:
        """Seat the evaluators.

        Args:
            evaluators: Bound evaluators, each with a name of its own.
            thresholds: What the user set.

        Raises:
            ConfigError: A threshold is set for an evaluator that is not there.
        """
        thresholds.check([evaluator.name for evaluator in evaluators])
        self.seats: Final = tuple(_seat(evaluator, thresholds) for evaluator in evaluators)
        self.all_trusted: Final = all(evaluator.trusted for evaluator in evaluators)
        wanted: set[Need] = set()
        wanted.update(*(evaluator.needs for evaluator in evaluators))
        self._wanted: Final = tuple((_BITS[need], need) for need in wanted)

    def hear(self, case: Case) -> tuple[list[EvaluationResult | None], list[int]]:
        """Judge a case as far as that can be done here and now.

        Args:
            case: The case.

        Returns:
            One result an evaluator, and the positions of those that are still to be called: ``None`` among the results.
        """
        evaluable, trace, failure = case.evaluable, case.trace, case.failure
        if evaluable is None:
            evaluable, failure = _NOTHING, failure or _NO_EVALUABLE
        absent = 0
        for bit, need in self._wanted:
            if is_absent(need, evaluable, trace):
                absent |= bit
        results: list[EvaluationResult | None] = []
        pending: list[int] = []
        began = perf_counter()
        for position, seat in enumerate(self.seats):
            evaluator = seat.evaluator
            if failure is not None and seat.needs_evaluable:
                results.append(seat.failed(failure))
            elif seat.mask & absent:
                results.append(_unmet(seat, evaluable, trace))
            elif not evaluator.trusted:
                pending.append(position)
                results.append(None)
            else:
                call = evaluator.call
                try:
                    returned = call(evaluable, trace=trace) if evaluator.takes_trace else call(evaluable)
                except Exception as error:  # noqa: BLE001 - a fault in one check must not cost the others, nor the run
                    results.append(seat.raised(error, perf_counter() - began))
                    began = perf_counter()
                else:
                    ended = perf_counter()
                    results.append(seat.judged(returned, ended - began))
                    began = ended
        return results, pending

    def evaluable(self, case: Case) -> Evaluable:
        """Give what evaluators see of a case; for those that need a trace only, an empty one where there is none.

        Args:
            case: The case.
        """
        return _NOTHING if case.evaluable is None else case.evaluable


def failure_of(error: BaseException) -> Failure:
    """Tell whose failure an evaluator's exception is.

    `ObservationError` says that the trace lacks something and `ConfigError` that the specification is wrong; anything
    else is the evaluator's own.

    Args:
        error: What an evaluator raised.
    """
    name = type(error).__name__
    if isinstance(error, ObservationError):
        return Failure(FailureKind.OBSERVATION, _text(error), name)
    if isinstance(error, ConfigError):
        return Failure(FailureKind.CONTRACT, _text(error), name)
    if isinstance(error, PixieError):
        return Failure(FailureKind.EVALUATOR, _text(error), name)
    text = f"called sys.exit({error.code!r})" if isinstance(error, SystemExit) else _text(error)
    return Failure(FailureKind.EVALUATOR, f"{text}{_place(error.__traceback__)}", name)


def _seat(evaluator: BoundEvaluator, thresholds: Thresholds) -> Seat:
    bar = thresholds.bar(evaluator)
    mask = 0
    for need in evaluator.needs:
        mask |= _BITS[need]
    return Seat(evaluator, bar.threshold, bar.severity, mask, needs_evaluable=evaluator.needs != _TRACE_ONLY)


def _unmet(seat: Seat, evaluable: Evaluable, trace: Trace | None) -> EvaluationResult:
    error = unmet(seat.evaluator.needs, evaluable, trace)
    if isinstance(error, SkipEvaluation):
        return seat.skipped(str(error))
    return seat.failed(Failure(FailureKind.OBSERVATION, str(error)))


def _text(error: BaseException) -> str:
    try:
        text = str(error).strip()
    except Exception:  # noqa: BLE001 - the message is the user's code, and may raise anything
        text = ""
    # Clients put the key that was refused into their messages.
    text = masked(text) or f"{type(error).__name__} without a message"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _place(traceback: TracebackType | None) -> str:
    """Say where it happened: the last line of the evaluator's own file, not of the library that it called."""
    steps: list[tuple[str, int]] = []
    while traceback is not None:
        steps.append((traceback.tb_frame.f_code.co_filename, traceback.tb_lineno))
        traceback = traceback.tb_next
    own = next((file for file, _ in steps if Path(file).parent != _HERE), None)
    line = next((line for file, line in reversed(steps) if file == own), None)
    return "" if own is None else f" ({own}:{line})"
