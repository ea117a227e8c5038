"""The values of judging: an evaluation, its outcome on a case, and the four kinds of failure."""

from __future__ import annotations

import math
from collections.abc import Awaitable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pixie_otel.errors import ConfigError, EvaluatorError
from pixie_otel.evaluable import Evaluable, JsonValue

if TYPE_CHECKING:
    from pixie_otel.traces.trace import Trace

__all__ = [
    "AnyEvaluator",
    "Evaluation",
    "EvaluationResult",
    "Evaluator",
    "Failure",
    "FailureKind",
    "Need",
    "Outcome",
    "ScoreThreshold",
    "Severity",
    "TraceEvaluator",
    "Verdict",
    "reaches",
    "shown",
]

_ROUNDING = 1e-9
_SHOWN = 200


class Outcome(StrEnum):
    """What came of one evaluator on one case, or of a case as the worst of its evaluators."""

    ERROR = "error"
    FAILED = "failed"
    PASSED = "passed"
    MEASURED = "measured"
    SKIPPED = "skipped"


class FailureKind(StrEnum):
    """Whose failure it was that nothing could be judged."""

    CONTRACT = "contract"
    """The dataset, the configuration or a file that people wrote is wrong."""

    TARGET = "target"
    """The app under test failed."""

    OBSERVATION = "observation"
    """The trace does not hold what the evaluator needs."""

    EVALUATOR = "evaluator"
    """The evaluator itself failed."""


class Severity(StrEnum):
    """What a failing check does to its case: ``fail`` fails it, ``warn`` is shown and counted only."""

    FAIL = "fail"
    WARN = "warn"


class Need(StrEnum):
    """What an evaluator needs of a case; checked before it is called.

    What the specification does not give makes the evaluator ``skipped``; what the trace should hold and does not is
    an ``error`` of kind ``observation``.
    """

    INPUT = "input"
    OUTPUT = "output"
    EXPECTATION = "expectation"
    CONTEXT = "context"
    RETRIEVAL_CONTEXT = "retrieval_context"
    EXPECTED_TOOLS = "expected_tools"
    TOOLS_CALLED = "tools_called"
    TRACE = "trace"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluator says of one case.

    Attributes:
        score: From 0 (bad) to 1 (good). Any kind of real number is taken and kept as a ``float``, ``bool`` as 0 or 1.
        reasoning: Why; never empty.
        details: Anything else worth keeping, as JSON.

    Raises:
        EvaluatorError: The score is no number, or lies outside [0, 1] by more than rounding; or there is no reasoning.
    """

    score: float
    reasoning: str
    details: dict[str, JsonValue] = field(default_factory=dict[str, "JsonValue"])

    def __post_init__(self) -> None:
        """Check the score, take rounding errors out of it, and insist on a reason."""
        given: Any = self.score
        score = given if type(given) is float else _as_float(given)
        if not 0.0 <= score <= 1.0:
            score = _within_rounding(score, given)
        if score is not given:
            object.__setattr__(self, "score", score)
        reasoning: Any = self.reasoning
        if not isinstance(reasoning, str) or not reasoning.strip():
            raise EvaluatorError(f"an evaluation says why, in words: its reasoning is {shown(reasoning)}")


Verdict: TypeAlias = Evaluation | float | bool
"""What an evaluator may say: an `Evaluation`, or a number from 0 to 1 or a ``bool``, from which one is made."""


class Evaluator(Protocol):
    """Anything that judges an `Evaluable`: a function, a method, or an object that can be called. It may be ``async``.

    It may carry attributes that say more about it: ``name``, ``needs`` (of `Need` or their texts), ``threshold``
    (``None``: its score is only measured) and ``severity`` (of `Severity` or their texts).
    """

    def __call__(self, evaluable: Evaluable, /) -> Verdict | Awaitable[Verdict]:
        """Judge one case."""
        ...


class TraceEvaluator(Protocol):
    """An evaluator whose signature takes ``trace``: it gets the `Trace` that the case came from, or ``None``."""

    def __call__(self, evaluable: Evaluable, /, *, trace: Trace | None) -> Verdict | Awaitable[Verdict]:
        """Judge one case with the trace it came from."""
        ...


AnyEvaluator: TypeAlias = Evaluator | TraceEvaluator
"""An evaluator of either kind."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an evaluator could not judge a case.

    Attributes:
        kind: Whose failure it was.
        message: What happened, for people.
        type: The exception's class, where one was raised.
    """

    kind: FailureKind
    message: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """One evaluator on one case.

    Attributes:
        evaluator: The evaluator's name, unique within a run.
        outcome: What came of it.
        evaluation: What it said; ``None`` where it could not judge.
        threshold: The score that had to be reached; ``None`` where there was none.
        severity: ``warn`` for a check whose failing does not fail the case.
        failure: Why there is no evaluation, for ``error``.
        reason: Why it was ``skipped``.
        duration_ms: How long it took, in milliseconds.
    """

    evaluator: str
    outcome: Outcome
    evaluation: Evaluation | None = None
    threshold: float | None = None
    severity: Severity = Severity.FAIL
    failure: Failure | None = None
    reason: str | None = None
    duration_ms: float = 0.0

    @property
    def score(self) -> float | None:
        """The score, where there is one."""
        return None if self.evaluation is None else self.evaluation.score

    @property
    def warns(self) -> bool:
        """Whether a check that fails no case has something to say: its score is below its threshold, else below 1."""
        if self.severity is not Severity.WARN or self.evaluation is None:
            return False
        return not reaches(self.evaluation.score, 1.0 if self.threshold is None else self.threshold)


@dataclass(frozen=True, slots=True)
class ScoreThreshold:
    """When a run passes.

    A case passes when all its judged evaluators reach their threshold; the run passes when at least ``pct`` of the
    cases that were judged pass.

    Attributes:
        threshold: The score to reach, from 0 to 1, where the evaluator has no threshold of its own.
        pct: The share of judged cases that must pass, from 0 to 1.
    """

    threshold: float = 0.5
    pct: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what no score and no share can be.

        Raises:
            ConfigError: A value lies outside 0 to 1.
        """
        for name, value in (("threshold", self.threshold), ("pct", self.pct)):
            if not 0 <= value <= 1:
                raise ConfigError(f"ScoreThreshold: {name} is {value!r}; give a number from 0 to 1")


def reaches(score: float, threshold: float) -> bool:
    """Tell whether a score is as high as a threshold, but for rounding.

    Args:
        score: The score.
        threshold: What it has to reach.
    """
    return score >= threshold - _ROUNDING


def shown(value: object) -> str:
    """Show a value in a message: its ``repr``, cut short, and its type.

    Args:
        value: Whatever an evaluator came up with.
    """
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a repr is the user's code, and may raise anything
        text = "a value without a repr"
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return f"{text} ({type(value).__name__})"


def _as_float(given: object) -> float:
    value = given
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        # What numpy, torch and their like use for a single number says by `item()` which Python number it is.
        value = item()
    if not isinstance(value, Real | Decimal):
        raise EvaluatorError(f"a score is a number from 0 to 1, not {shown(given)}")
    try:
        return float(value)
    except (OverflowError, ValueError):
        # A fraction or an integer too large for a float, or a signalling NaN.
        raise EvaluatorError(f"a score lies between 0 and 1, and this is {shown(given)}") from None


def _within_rounding(score: float, given: object) -> float:
    if math.isnan(score):
        raise EvaluatorError(f"a score is a number from 0 to 1, and this is {shown(given)}: nothing was measured")
    if not -_ROUNDING <= score <= 1 + _ROUNDING:
        raise EvaluatorError(f"a score lies between 0 and 1, and this is {shown(given)}: scale it in the evaluator")
    return min(1.0, max(0.0, score))
