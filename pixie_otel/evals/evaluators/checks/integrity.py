"""The check of the trace itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pixie_otel.evals.evaluation import Evaluation
from pixie_otel.evals.evaluators.checks.check import TraceCheck, clean, found
from pixie_otel.evals.evaluators.checks.wording import counted, listed
from pixie_otel.evaluable import Evaluable

if TYPE_CHECKING:
    from pixie_otel.traces.trace import Trace

__all__ = ["TraceIntegrity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceIntegrity(TraceCheck):
    """The trace is whole: no span missing, doubled or out of order, no value unreadable, no attribute dropped."""

    name: ClassVar[str] = "TraceIntegrity"

    def __call__(self, _: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        problems = trace.problems
        if not problems:
            return clean("the trace is whole")
        told = listed([problem.message for problem in problems])
        return found(
            f"{counted(len(problems), 'problem')} with the trace: {told}",
            [
                {
                    "kind": problem.kind,
                    "message": problem.message,
                    "location": problem.location,
                    "span_id": problem.span_id,
                }
                for problem in problems
            ],
        )
