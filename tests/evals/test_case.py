"""The outcome of a case."""

from itertools import permutations

import pytest

from pixie_otel.evals.case import Case, CaseResult
from pixie_otel.evals.evaluation import EvaluationResult, Failure, FailureKind, Outcome

CASE = Case(id="1", name="one", evaluable=None)


@pytest.mark.parametrize("outcomes", [*permutations([Outcome.PASSED, Outcome.FAILED, Outcome.ERROR])])
def test_the_worst_outcome_counts_whatever_the_order(outcomes: tuple[Outcome, ...]) -> None:
    """An error outweighs a failure, and a failure a pass."""
    results = tuple(EvaluationResult(str(number), outcome) for number, outcome in enumerate(outcomes))

    assert CaseResult(CASE, results).outcome is Outcome.ERROR


@pytest.mark.parametrize(
    ("outcomes", "worst"),
    [
        ([], Outcome.SKIPPED),
        ([Outcome.SKIPPED], Outcome.SKIPPED),
        ([Outcome.SKIPPED, Outcome.MEASURED], Outcome.MEASURED),
        ([Outcome.MEASURED, Outcome.PASSED], Outcome.PASSED),
        ([Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED], Outcome.FAILED),
    ],
)
def test_the_order_of_outcomes(outcomes: list[Outcome], worst: Outcome) -> None:
    """From the worst: error, failed, passed, measured, skipped; a case nobody judged was skipped."""
    results = tuple(EvaluationResult(str(number), outcome) for number, outcome in enumerate(outcomes))

    assert CaseResult(CASE, results).outcome is worst


def test_a_case_that_could_not_be_made_is_an_error() -> None:
    """A case with a failure is an error, though a trace check may have passed on it."""
    case = Case(id="1", name="one", evaluable=None, failure=Failure(FailureKind.OBSERVATION, "no root"))

    assert CaseResult(case, (EvaluationResult("x", Outcome.PASSED),)).outcome is Outcome.ERROR
