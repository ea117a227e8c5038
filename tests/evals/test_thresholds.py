"""Which threshold an evaluator is held against."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError
from pixie_otel.evals.binding import BoundEvaluator
from pixie_otel.evals.evaluation import Severity
from pixie_otel.evals.thresholds import Bar, Thresholds, parse_thresholds
from pixie_otel.evaluable import UNSET, Unset


def bound(threshold: float | Unset | None = UNSET, severity: Severity = Severity.FAIL) -> BoundEvaluator:
    """Make an evaluator called `x`."""
    return BoundEvaluator("x", bool, threshold=threshold, severity=severity)


@pytest.mark.parametrize(
    ("thresholds", "own", "expected"),
    [
        (Thresholds(), UNSET, 0.5),
        (Thresholds(0.7), UNSET, 0.7),
        (Thresholds(0.7), 0.9, 0.9),
        (Thresholds(0.7), None, None),
        (Thresholds(0.7, {"x": 0.2}), 0.9, 0.2),
        (Thresholds(0.7, {"x": 0.0}), None, 0.0),
        (Thresholds(0.7, {"x": None}), 0.9, None),
        (Thresholds(0.0), UNSET, 0.0),
    ],
)
def test_the_nearest_threshold_counts(
    thresholds: Thresholds, own: float | Unset | None, expected: float | None
) -> None:
    """The one set by name, else the evaluator's own, else the general one, else one half."""
    assert thresholds.bar(bound(own)) == Bar(expected, Severity.FAIL)


def test_a_warning_is_not_judged_by_the_general_threshold() -> None:
    """A check that only warns has no threshold but its own."""
    assert Thresholds(0.7).bar(bound(severity=Severity.WARN)) == Bar(None, Severity.WARN)
    assert Thresholds(0.7).bar(bound(0.9, Severity.WARN)) == Bar(0.9, Severity.WARN)


def test_a_threshold_by_name_makes_a_warning_count() -> None:
    """Whoever sets a threshold for a check that only warns wants it to be judged."""
    assert Thresholds(by_name={"x": 1.0}).bar(bound(severity=Severity.WARN)) == Bar(1.0, Severity.FAIL)


def test_a_threshold_for_nobody_is_an_error_with_a_suggestion() -> None:
    """A name that does not run is refused, with the nearest one and all that run."""
    with pytest.raises(ConfigError, match=r"'ExactMach', which does not run; did you mean ExactMatch\? What runs: Ex"):
        Thresholds(by_name={"ExactMach": 1.0}).check(["ExactMatch", "ValidJSON"])
    with pytest.raises(ConfigError, match="does not run; What runs: none"):
        Thresholds(by_name={"x": 1.0}).check([])
    Thresholds(by_name={"x": 1.0}).check(["x"])


@pytest.mark.parametrize("threshold", [1.1, -0.1, math.nan])
def test_thresholds_outside_0_to_1_are_refused(threshold: float) -> None:
    """Neither the general threshold nor one by name may be out of reach."""
    with pytest.raises(ConfigError, match="the general one"):
        Thresholds(threshold)
    with pytest.raises(ConfigError, match=r"\(x\) is outside 0 to 1"):
        Thresholds(by_name={"x": threshold})


def test_thresholds_are_read_as_they_are_typed() -> None:
    """A number is for all, NAME=number for one, `none` to measure only; the later of two counts."""
    assert parse_thresholds([]) == Thresholds()
    assert parse_thresholds(["0.6", "0.7", "a=0.8", " b = None ", "a=1", "x=y=0.5"]) == Thresholds(
        0.7, {"a": 1.0, "b": None, "x=y": 0.5}
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("high", "'high' is no number"),
        ("x=high", "'x=high' is no number"),
        ("1.5", r"'1\.5' is outside 0 to 1"),
        ("x=nan", "'x=nan' is outside 0 to 1"),
        ("=0.5", "'=0.5' names no evaluator"),
        ("", "'' is no number"),
    ],
)
def test_what_is_no_threshold_is_refused(text: str, message: str) -> None:
    """The message repeats what was typed."""
    with pytest.raises(ConfigError, match=message):
        parse_thresholds([text])


@given(st.text())
def test_any_text_is_a_threshold_or_an_error_of_ours(text: str) -> None:
    """No text that is typed ends in another exception."""
    try:
        thresholds = parse_thresholds([text])
    except ConfigError:
        return
    assert (thresholds.general is None) != (not thresholds.by_name)
