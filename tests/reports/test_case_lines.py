"""One judged case as lines."""

from __future__ import annotations

import dataclasses

import pytest
from case_results import case_result, case_results, result
from hypothesis import given, settings
from hypothesis import strategies as st

from pixie_otel.evals.case import CaseResult
from pixie_otel.evals.evaluation import Evaluation, EvaluationResult, Failure, FailureKind, Outcome
from pixie_otel.reports.case_lines import case_lines, score_text
from pixie_otel.reports.layout import cell_width
from pixie_otel.reports.style import Style


def lines(case: CaseResult, *, width: int = 80, verbose: bool = False) -> list[str]:
    """Write a case without colours."""
    return list(case_lines(case, width, Style(), verbose=verbose))


def with_results(*results: EvaluationResult, trace_id: str | None = None) -> CaseResult:
    """Make a case with some results."""
    case = case_result("a").case
    return CaseResult(dataclasses.replace(case, trace_id=trace_id, id=trace_id or case.id), results)


@pytest.mark.parametrize(
    ("score", "text"), [(0, "0.00"), (1e-9, "0.01"), (0.5, "0.50"), (2 / 3, "0.67"), (0.999, "0.99"), (1, "1.00")]
)
def test_only_whole_scores_look_whole(score: float, text: str) -> None:
    """A score that is nearly 1 or nearly 0 does not read as if it were."""
    assert score_text(score) == text


def test_a_case_that_is_well_is_one_line() -> None:
    """What is well is counted, and of few evaluators the scores are shown."""
    few = with_results(result("passed", evaluator="Exact", score=0.9), result("skipped", evaluator="Other"))
    assert lines(few) == ["  passed    case a                a  Exact 0.90, 1 skipped"]

    clean = [result("measured", evaluator=f"C{n}", score=1.0, warn=True) for n in range(3)]
    idle = result("skipped", evaluator="Idle", warn=True)
    many = with_results(*clean, idle, result("passed"), result("passed", evaluator="Near", score=0.75))
    assert lines(many) == ["  passed    case a                a  Near 0.75, 1 passed, 3 clean, 1 skipped"]


def test_a_case_that_is_not_gives_its_reasons() -> None:
    """What failed, warns or could not judge has a line with the reason; what is well stays on the first line."""
    case = with_results(
        result("failed", evaluator="Exact"),
        result("error", evaluator="Broken", message="out of order"),
        result("measured", evaluator="Check", score=0.0, warn=True),
        result("passed", evaluator="Other"),
        trace_id="4bf92f3577b34da6a3ce929d0e0e4736",
    )

    assert lines(case) == [
        "  ERROR     case a                4bf92f35  1 passed",
        "            Exact failed 0.00 of 0.5 needed: because",
        "            Broken could not judge (evaluator, RuntimeError): out of order",
        "            Check warns: because",
    ]


def test_verbose_tells_every_outcome() -> None:
    """Verbose, every evaluator has its line, with how long it took."""
    case = with_results(
        dataclasses.replace(result("measured", evaluator="Tone", score=0.5), duration_ms=1500.0),
        result("measured", evaluator="Check", score=1.0, warn=True),
        result("skipped", evaluator="Other"),
    )

    assert lines(case, verbose=True) == [
        "  measured  case a                a",
        "            Tone measured 0.50: because [1.5 s]",
        "            Check clean: because",
        "            Other skipped: does not apply",
    ]


def test_a_case_that_could_not_be_made_says_why_once() -> None:
    """What all evaluators failed of alike is said once."""
    failure = Failure(FailureKind.OBSERVATION, "tool:search matches no span", "ObservationError")
    case = case_result("a", failure=failure)
    errors = tuple(EvaluationResult(f"E{n}", Outcome.ERROR, failure=failure) for n in range(3))

    assert lines(CaseResult(case.case, errors)) == [
        "  ERROR     case a                a",
        "            no case: tool:search matches no span",
    ]


def test_long_reasons_are_cut_unless_verbose() -> None:
    """Three lines of a reason are shown, and all of it when verbose."""
    case = with_results(
        EvaluationResult("Exact", Outcome.FAILED, Evaluation(0.25, "word " * 200), threshold=0.5),
    )

    assert len(lines(case)) == 4
    assert lines(case)[-1].endswith("…")
    assert " ".join(lines(case, verbose=True)).count("word") == 200


@settings(max_examples=50)
@given(case_results, st.integers(60, 120), st.booleans())
def test_any_case_fits(case: CaseResult, width: int, verbose: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Whatever a case holds, its lines are printable and fit."""
    for line in lines(case, width=width, verbose=verbose):
        assert "\n" not in line
        assert "\x1b" not in line
        assert cell_width(line) <= width
