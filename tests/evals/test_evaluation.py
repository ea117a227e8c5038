"""What an evaluation accepts as a score and as a reason."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError, EvaluatorError
from pixie_otel.evals.evaluation import (
    Evaluation,
    EvaluationResult,
    Outcome,
    ScoreThreshold,
    Severity,
    reaches,
    shown,
)


@pytest.mark.parametrize(
    ("given_score", "score"),
    [
        (0, 0.0),
        (1, 1.0),
        (True, 1.0),
        (False, 0.0),
        (Decimal("0.25"), 0.25),
        (Fraction(1, 4), 0.25),
        (np.float32(0.5), 0.5),
        (np.float64(0.5), 0.5),
        (np.int64(1), 1.0),
        (np.bool_(1), 1.0),
        (np.array(0.5), 0.5),
        (1 + 1e-12, 1.0),
        (-1e-12, 0.0),
    ],
)
def test_any_real_number_from_0_to_1_is_a_score(given_score: object, score: float) -> None:
    """Every kind of number is kept as a float, without what rounding added."""
    evaluation = Evaluation(given_score, "fine")

    assert evaluation.score == score
    assert type(evaluation.score) is float


@pytest.mark.parametrize("score", [1.1, -0.1, 2, math.inf, -math.inf, Fraction(10**400), Decimal("sNaN")])
def test_a_score_outside_0_to_1_is_refused_and_shown(score: object) -> None:
    """A score beyond rounding is an error that shows it."""
    with pytest.raises(EvaluatorError, match="between 0 and 1, and this is"):
        Evaluation(score, "fine")


@pytest.mark.parametrize("score", [math.nan, Decimal("NaN"), np.float32("nan")])
def test_not_a_number_is_no_score(score: object) -> None:
    """NaN never becomes a score."""
    with pytest.raises(EvaluatorError, match=r"a number from 0 to 1.*nan.*nothing was measured|NaN"):
        Evaluation(score, "fine")


@pytest.mark.parametrize("score", [None, "0.5", 1j, [0.5], np.array([0.5])])
def test_what_is_no_number_is_no_score(score: object) -> None:
    """A value of another type is an error that names the type."""
    with pytest.raises(EvaluatorError, match=rf"not .*\({type(score).__name__}\)"):
        Evaluation(score, "fine")


@pytest.mark.parametrize("reasoning", ["", "  \n", None, 5])
def test_an_evaluation_says_why(reasoning: object) -> None:
    """An evaluation without a reason in words is refused."""
    with pytest.raises(EvaluatorError, match="says why"):
        Evaluation(0.5, reasoning)


def test_details_are_not_shared() -> None:
    """Two evaluations without details do not share the dict that they get."""
    assert Evaluation(1, "a").details is not Evaluation(1, "a").details


@given(st.floats() | st.integers() | st.fractions() | st.decimals() | st.booleans())
def test_a_score_is_in_range_or_an_error(number: object) -> None:
    """Whatever number is given, the score lies in [0, 1] or there is no evaluation."""
    try:
        score = Evaluation(number, "fine").score
    except EvaluatorError:
        return
    assert 0 <= score <= 1


def test_a_value_is_shown_cut_short_with_its_type() -> None:
    """A message is not flooded by a long value, and a repr that raises does not break it."""

    class Rude:
        def __repr__(self) -> str:
            raise RuntimeError

    assert shown("x" * 1000).endswith("… (str)")
    assert len(shown("x" * 1000)) < 250
    assert shown(Rude()) == "a value without a repr (Rude)"


def test_a_result_has_the_score_of_its_evaluation() -> None:
    """A result's score is its evaluation's, and None where nothing was judged."""
    assert EvaluationResult("x", Outcome.PASSED, Evaluation(0.7, "fine")).score == 0.7
    assert EvaluationResult("x", Outcome.SKIPPED).score is None


@pytest.mark.parametrize(
    ("severity", "score", "threshold", "expected"),
    [
        (Severity.WARN, 0.9, None, True),
        (Severity.WARN, 1.0, None, False),
        (Severity.WARN, 0.9, 0.8, False),
        (Severity.WARN, 0.7, 0.8, True),
        (Severity.FAIL, 0.0, None, False),
        (Severity.WARN, None, None, False),
    ],
)
def test_a_warning_is_a_low_score_of_a_check_that_fails_no_case(
    severity: Severity, score: float | None, threshold: float | None, expected: object
) -> None:
    """Only checks of severity `warn` warn: below their threshold, else below 1."""
    evaluation = None if score is None else Evaluation(score, "fine")

    result = EvaluationResult("x", Outcome.MEASURED, evaluation, threshold, severity)

    assert result.warns is expected


def test_a_threshold_is_reached_but_for_rounding() -> None:
    """A score that misses its threshold by a rounding error only has reached it."""
    assert reaches(0.1 + 0.2 + 0.4 - 1e-15, 0.7)
    assert not reaches(0.69, 0.7)


@pytest.mark.parametrize("values", [{"threshold": 1.5}, {"pct": -0.1}, {"threshold": math.nan}])
def test_a_score_threshold_outside_0_to_1_is_refused(values: dict[str, float]) -> None:
    """A threshold or a share that nothing can reach is a mistake in the set-up."""
    with pytest.raises(ConfigError, match="give a number from 0 to 1"):
        ScoreThreshold(**values)


def test_a_score_threshold_has_the_usual_values() -> None:
    """By default half a point is enough, and all judged cases have to pass."""
    assert ScoreThreshold() == ScoreThreshold(0.5, 1.0)
