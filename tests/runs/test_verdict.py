"""Facts about verdicts and their exit codes."""

import pytest
from case_results import case_result
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.evals.case import CaseResult
from pixie_otel.runs.summary import Summary, SummaryBuilder
from pixie_otel.runs.verdict import Stop, Verdict, decide


def _summary(*outcomes: str) -> Summary:
    builder = SummaryBuilder()
    for index, outcome in enumerate(outcomes):
        builder.add(_case(str(index), *outcome.split()))
    return builder.build()


def _case(case_id: str, *outcomes: str) -> CaseResult:
    return case_result(case_id, *outcomes)


def test_all_passed_is_0() -> None:
    """A run whose judged cases all pass is well, whatever was skipped or measured."""
    assert decide(_summary("passed", "passed skipped", "skipped", "measured")) == Verdict(
        0, "PASSED: 2 of 2 judged cases passed"
    )


def test_skips_never_fail_a_run() -> None:
    """One judged case among skipped ones is enough."""
    verdict = decide(_summary("passed", *["skipped"] * 50))
    assert verdict.passed
    assert verdict.text == "PASSED: 1 of 1 judged case passed"


def test_criteria_not_met_is_1() -> None:
    """Too few judged cases that pass fail the run, with the share that was needed."""
    verdict = decide(_summary(*["passed"] * 3, *["failed"] * 17))
    assert verdict == Verdict(1, "FAILED: 3 of 20 judged cases passed, 100 % needed")
    assert not verdict.passed


def test_1_goes_before_4() -> None:
    """A run that fails and has errors fails, and the errors are told."""
    verdict = decide(_summary("failed", "error", "passed"))
    assert verdict.exit_code == 1
    assert verdict.text.endswith("; 1 of 3 cases had errors")


def test_errors_are_4() -> None:
    """Met criteria with an error beside them are incomplete."""
    verdict = decide(_summary("passed", "passed", "error"))
    assert verdict == Verdict(4, "INCOMPLETE: 2 of 2 judged cases passed, but 1 of 3 cases could not be judged in full")


def test_an_error_beside_a_failure_of_the_same_case_is_1() -> None:
    """A case that one evaluator failed and another could not judge was judged, and failed."""
    assert decide(_summary("failed error", "passed")).exit_code == 1


@pytest.mark.parametrize(("allowed", "code"), [(0.0, 4), (0.09, 4), (0.1, 0), (1.0, 0)])
def test_errors_can_be_allowed_for(allowed: float, code: int) -> None:
    """A share of cases with errors can be allowed, the exact share included."""
    verdict = decide(_summary(*["passed"] * 9, "error"), allow_errors=allowed)
    assert verdict.exit_code == code
    assert ("1 of 10 cases had errors, which was allowed" in verdict.text) is (code == 0)


@pytest.mark.parametrize(
    ("outcomes", "why"),
    [
        (["skipped", "skipped"], "2 cases against a threshold (2 skipped)"),
        (["measured"], "1 case against a threshold (1 measured without a threshold)"),
        (["error", "skipped"], "2 cases against a threshold (1 with errors, 1 skipped)"),
    ],
)
def test_nothing_judged_is_4(outcomes: list[str], why: str) -> None:
    """A run in which nothing was judged is never a good one, also where errors are allowed, and says what there was."""
    verdict = decide(_summary(*outcomes), allow_errors=1.0, pct=0.0)
    assert verdict.exit_code == 4
    assert why in verdict.text


def test_no_case_is_3() -> None:
    """Without a case there was nothing to judge."""
    assert decide(_summary()).exit_code == 3


@pytest.mark.parametrize(("pct", "code"), [(0.7, 0), (0.71, 1), (0.0, 0), (1.0, 1)])
def test_the_share_goes_over_judged_cases(pct: float, code: int) -> None:
    """The needed share is one of the judged cases; reaching it exactly is enough."""
    verdict = decide(_summary(*["passed"] * 7, *["failed"] * 3, *["skipped"] * 90), pct=pct)
    assert verdict.exit_code == code
    assert "7 of 10 judged cases passed" in verdict.text


@given(st.integers(1, 2000), st.data())
def test_an_exact_share_is_always_reached(total: int, data: st.DataObject) -> None:
    """No rounding turns a share that is reached exactly into one that is missed."""
    passed = data.draw(st.integers(0, total))
    summary = Summary(cases=total, judged=total, judged_passed=passed)
    assert decide(summary, pct=passed / total).exit_code == 0


@pytest.mark.parametrize(("stop", "code"), [(Stop.INTERRUPTED, 130), (Stop.TERMINATED, 143)])
def test_an_interruption_goes_before_everything(stop: Stop, code: int) -> None:
    """An interrupted run has the exit code of its signal, whatever was found until then."""
    for outcomes in ([], ["passed"], ["failed", "error"]):
        verdict = decide(_summary(*outcomes), stop=stop)
        assert verdict.exit_code == code
        assert f"after {len(outcomes)} case" in verdict.text


def test_a_spent_budget_is_5_after_1_and_before_4() -> None:
    """A run that ran out of budget is 5, unless it failed already."""
    assert decide(_summary("passed", "error"), stop=Stop.BUDGET).exit_code == 5
    assert decide(_summary(), stop=Stop.BUDGET).exit_code == 5
    assert decide(_summary("failed"), stop=Stop.BUDGET).exit_code == 1
