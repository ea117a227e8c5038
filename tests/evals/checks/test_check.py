"""What all trace checks share."""

from __future__ import annotations

import dataclasses

import pytest
from checked_traces import agent, judge

from pixie_otel.errors import ConfigError
from pixie_otel.evals.evaluation import Need, Severity
from pixie_otel.evals.evaluators.checks import (
    DEFAULT_CHECKS,
    MaxLatency,
    MaxLLMCalls,
    MaxTokens,
    MaxToolCalls,
    NoRepeatedToolCalls,
    SpanErrors,
    TraceCheck,
    TraceIntegrity,
)
from pixie_otel.evals.evaluators.checks.check import found
from pixie_otel.evaluable import JsonValue

BUDGETS: list[TraceCheck] = [MaxLatency(seconds=1), MaxTokens(tokens=1), MaxLLMCalls(calls=1), MaxToolCalls(calls=1)]


@pytest.mark.parametrize("check", [*(cls() for cls in DEFAULT_CHECKS), *BUDGETS], ids=lambda check: check.name)
def test_a_check_says_what_the_engine_wants_to_know(check: TraceCheck) -> None:
    """Every check is a frozen value named like its class, needs a trace, and has one sentence about itself."""
    assert check.name == type(check).__name__
    assert check.needs == (Need.TRACE,)
    assert dataclasses.is_dataclass(check)
    assert not hasattr(check, "__dict__")
    assert check == dataclasses.replace(check)
    summary = (type(check).__doc__ or "").splitlines()[0]
    assert summary.endswith(".")
    assert len(summary) <= 120


def test_the_defaults_fail_only_what_is_wrong_beyond_doubt() -> None:
    """A failed run, arguments that cannot work and credentials fail a case; the rest are warnings."""
    fails = {cls.__name__ for cls in DEFAULT_CHECKS if cls().severity is Severity.FAIL}
    assert fails == {"SpanErrors", "ToolArgumentsValid", "NoSecrets"}


@pytest.mark.parametrize("severity", [Severity.WARN, "warn"])
def test_a_check_that_warns_has_no_threshold(severity: str) -> None:
    """The severity can be given as it is typed, and a warning has no score to reach."""
    check = SpanErrors(severity=severity)
    assert check.severity is Severity.WARN
    assert check.threshold is None


def test_a_check_that_fails_wants_the_full_score() -> None:
    """What a failing check finds fails the case, so it must find nothing."""
    check = TraceIntegrity(severity=Severity.FAIL)
    assert check.threshold == 1.0


def test_an_unknown_severity_is_refused() -> None:
    """The message names the check, the value and what can be given."""
    severity: str = "loud"
    with pytest.raises(ConfigError, match=r"TraceIntegrity: severity='loud' is none; give 'fail' or 'warn'"):
        TraceIntegrity(severity=severity)


@pytest.mark.parametrize("limit", ["many", "nan", 0, -1, True, None])
def test_a_number_that_is_none_is_refused(limit: JsonValue) -> None:
    """A setting that is no number, or one that makes no sense, is named with its value."""
    with pytest.raises(ConfigError, match=r"NoRepeatedToolCalls: limit=.* is no number of at least 1; give one"):
        NoRepeatedToolCalls(limit=limit)


@pytest.mark.parametrize("limit", ["many", "inf", "nan", "2.5", 0.1])
def test_a_whole_number_is_whole(limit: JsonValue) -> None:
    """A count that is no finite number, or that would have to be rounded, is refused as well."""
    with pytest.raises(ConfigError, match="MaxTokens: tokens="):
        MaxTokens(tokens=limit)


def test_numbers_can_be_given_as_typed() -> None:
    """What comes from a command line is text."""
    typed: str = "2"
    assert NoRepeatedToolCalls(limit=typed).limit == 2
    assert MaxLatency(seconds=typed).seconds == 2.0
    assert judge(MaxLLMCalls(calls=typed), agent()).score == 1.0


def test_findings_are_counted_and_the_first_of_them_kept() -> None:
    """Details stay small however much is found."""
    evaluation = found("much", [{"number": number} for number in range(50)])
    assert evaluation.details["count"] == 50
    assert evaluation.details["findings"] == [{"number": number} for number in range(20)]
    long = found("much", [{"name": "x" * 10_000}])
    assert long.details["findings"] == [{"name": "x" * 500 + "…"}]
