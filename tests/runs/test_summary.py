"""Facts about the summary of a run."""

from random import Random

import pytest
from case_results import case_result, case_results, result
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.evals.case import Case, CaseResult
from pixie_otel.evals.evaluation import Failure, FailureKind, Outcome
from pixie_otel.runs.summary import EvaluatorSummary, FailureGroup, Summary, SummaryBuilder
from pixie_otel.traces.report import Problem


def _summary(*results: CaseResult, evaluators: tuple[str, ...] = (), max_groups: int = 100) -> Summary:
    builder = SummaryBuilder(evaluators, max_groups=max_groups)
    for item in results:
        builder.add(item)
    return builder.build()


def _failing(case_id: str, message: str) -> CaseResult:
    return CaseResult(Case(case_id, case_id, None), (result("error", message=message),))


def test_an_empty_run_has_an_empty_summary() -> None:
    """Without cases everything is counted as none, and no mean is made up."""
    summary = _summary(evaluators=("E",))
    assert summary.cases == summary.judged == summary.errored == 0
    assert summary.outcomes == dict.fromkeys(Outcome, 0)
    assert summary.evaluators == (EvaluatorSummary(evaluator="E"),)
    assert summary.evaluators[0].mean is None


def test_every_outcome_is_counted_with_its_denominators() -> None:
    """An evaluator's outcomes add up to its cases, and its mean goes over those that have a score."""
    outcomes = ("passed", "passed", "failed", "measured", "error", "skipped")
    (found,) = _summary(*(case_result(str(i), outcome) for i, outcome in enumerate(outcomes))).evaluators
    assert (found.passed, found.failed, found.measured, found.error, found.skipped) == (2, 1, 1, 1, 1)
    assert found.cases == 6
    assert found.judged == 3
    assert found.scored == 4
    assert found.mean == pytest.approx((1 + 1 + 0 + 0.5) / 4)


def test_a_case_counts_by_its_worst_and_is_judged_all_the_same() -> None:
    """An error beside a verdict makes the case an error, and the verdict still counts as judged."""
    summary = _summary(case_result("a", "passed", "error"), case_result("b", "failed", "error"))
    assert summary.outcomes[Outcome.ERROR] == summary.errored == 2
    assert summary.judged == 2
    assert summary.judged_passed == 1


def test_what_was_measured_or_skipped_is_not_judged() -> None:
    """Only a score that was held against a threshold makes a case judged."""
    summary = _summary(case_result("a", "measured", "skipped"), case_result("b", "skipped"), case_result("c"))
    assert summary.judged == 0
    assert summary.errored == 0
    assert summary.outcomes == dict.fromkeys(Outcome, 0) | {Outcome.MEASURED: 1, Outcome.SKIPPED: 2}


def test_warnings_are_counted_apart() -> None:
    """A check that only warns counts a warning where it scored below 1, per evaluator and per case."""
    warned = CaseResult(Case("a", "a", None), (result("measured", score=0, warn=True), result("passed", evaluator="F")))
    clean = CaseResult(Case("b", "b", None), (result("measured", score=1, warn=True),))
    summary = _summary(warned, clean)
    assert summary.warned == 1
    assert [found.warnings for found in summary.evaluators] == [1, 0]


def test_evaluators_stand_in_the_order_given() -> None:
    """The evaluators are shown as they were named, whatever was judged first; others come after them."""
    summary = _summary(case_result("a", "passed", "passed", "passed"), evaluators=("E2", "E0"))
    assert [found.evaluator for found in summary.evaluators] == ["E2", "E0", "E1"]


def test_failures_that_say_the_same_are_one_group() -> None:
    """Failures are counted by kind and grouped by what they say, the largest group first, with the first case."""
    first = CaseResult(Case("b", "b", None, start_time_unix_nano=1), (result("error", message="often"),))
    summary = _summary(_failing("z", "once"), first, CaseResult(_late("a"), (result("error", message="often"),)))
    assert summary.failure_kinds == dict.fromkeys(FailureKind, 0) | {FailureKind.EVALUATOR: 3}
    assert summary.failures == (
        FailureGroup(kind=FailureKind.EVALUATOR, evaluator="Exact", message="often", count=2, example="b"),
        FailureGroup(kind=FailureKind.EVALUATOR, evaluator="Exact", message="once", count=1, example="z"),
    )


def _late(case_id: str) -> Case:
    return Case(case_id, case_id, None, start_time_unix_nano=2)


def test_a_case_that_could_not_be_made_is_one_failure() -> None:
    """The failure of a case counts once, however many evaluators it fails in."""
    failure = Failure(FailureKind.OBSERVATION, "the trace has no spans")
    made = case_result("a", "error", failure=failure)
    repeated = tuple(type(item)(f"E{i}", Outcome.ERROR, failure=failure) for i, item in enumerate(made.results * 3))
    summary = _summary(CaseResult(made.case, repeated), CaseResult(made.case, ()))
    assert summary.failure_kinds[FailureKind.OBSERVATION] == 2
    assert summary.failures[0].evaluator is None
    assert summary.errored == 2


def test_too_many_different_failures_are_still_counted() -> None:
    """The number of groups is bounded, and failures in no group are counted as such."""
    summary = _summary(*(_failing(str(i), f"message {i}") for i in range(10)), max_groups=3)
    assert len(summary.failures) == 3
    assert summary.other_failures == 7
    assert summary.failure_kinds[FailureKind.EVALUATOR] == 10


@given(st.lists(case_results, max_size=8), st.randoms())
def test_the_order_of_the_cases_does_not_show(results: list[CaseResult], random: Random) -> None:
    """Cases added in another order give the same summary, to the last digit of every mean and with groups cut off."""
    names = tuple(sorted({item.evaluator for case in results for item in case.results}))
    shuffled = results.copy()
    random.shuffle(shuffled)
    assert _summary(*results, evaluators=names, max_groups=2) == _summary(*shuffled, evaluators=names, max_groups=2)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.randoms())
def test_means_are_exact(scores: list[float], random: Random) -> None:
    """A mean lies between the lowest and the highest score, and does not depend on the order of the scores."""
    cases = [CaseResult(Case(str(i), "", None), (result("measured", score=x),)) for i, x in enumerate(scores)]
    mean = _summary(*cases).evaluators[0].mean
    random.shuffle(cases)
    assert mean is not None
    assert min(scores) <= mean <= max(scores)
    assert _summary(*cases).evaluators[0].mean == mean


def test_cases_that_rest_on_something_wrong_are_counted() -> None:
    """Each once, and each kind once a case; what is dealt with does not count."""
    kinds = [("content-off", "content-off"), ("content-off", "no-tokens"), ("doubled-call",), ()]
    cases = [
        CaseResult(Case(str(n), "case", None, problems=tuple(Problem(kind, "", "a.jsonl") for kind in found)), ())
        for n, found in enumerate(kinds)
    ]
    summary = _summary(*cases)

    assert summary.flagged == 2
    assert summary.flags == {"content-off": 2, "no-tokens": 1}
