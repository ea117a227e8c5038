"""Cases: one evaluable under judgement, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pixie_otel.evals.evaluation import EvaluationResult, Failure, Outcome
from pixie_otel.evaluable import Evaluable

if TYPE_CHECKING:
    from pixie_otel.traces.report import Problem
    from pixie_otel.traces.trace import Trace

__all__ = ["Case", "CaseResult"]

_WORST_FIRST: Final = (Outcome.ERROR, Outcome.FAILED, Outcome.PASSED, Outcome.MEASURED, Outcome.SKIPPED)


@dataclass(frozen=True, slots=True)
class Case:
    """One evaluable under judgement.

    Attributes:
        id: Unique within a run and the same in every run over the same data.
        name: What people see: the root observation's name, or the row's description.
        evaluable: What is judged; ``None`` where it could not be made, and ``failure`` says why.
        trace: The trace it came from; ``None`` for finished cases read from a file.
        trace_id: The trace's id.
        span_id: The judged observation's span id.
        session_id: The session of the trace, where recorded.
        start_time_unix_nano: When the judged observation started; 0 where not known.
        failure: Why there is no evaluable.
        problems: What is wrong with the trace that the case rests on.
    """

    id: str
    name: str
    evaluable: Evaluable | None
    trace: Trace | None = None
    trace_id: str | None = None
    span_id: str | None = None
    session_id: str | None = None
    start_time_unix_nano: int = 0
    failure: Failure | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A judged case.

    Attributes:
        case: What was judged. A result read back from a run has no ``trace``.
        results: One result an evaluator, in the order the evaluators were given.
    """

    case: Case
    results: tuple[EvaluationResult, ...]

    @property
    def outcome(self) -> Outcome:
        """The worst of its evaluators: error, failed, passed, measured, skipped."""
        if self.case.failure is not None:
            return Outcome.ERROR
        found = {result.outcome for result in self.results}
        return next((outcome for outcome in _WORST_FIRST if outcome in found), Outcome.SKIPPED)
