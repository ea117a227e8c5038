"""What all trace checks share: a severity, a threshold, and how findings become an evaluation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from pixie_otel.errors import ConfigError
from pixie_otel.evals.evaluation import Evaluation, Need, Severity
from pixie_otel.evaluable import Evaluable, JsonValue

if TYPE_CHECKING:
    from pixie_otel.traces.trace import Trace

__all__ = ["Finding", "TraceCheck", "clean", "count_setting", "found", "number_setting"]

_MOST_FINDINGS: Final = 20
_LONGEST_TEXT: Final = 500
"""What a producer puts into a name can be of any length."""

Finding = dict[str, JsonValue]
"""One thing that a check found, as it stands in an evaluation's details."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceCheck(ABC):
    """A look at a whole trace that needs no expectation: 1 where there is nothing to find, 0 where there is.

    Attributes:
        severity: ``fail`` fails the case where something is found, ``warn`` only says so.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = (Need.TRACE,)

    severity: Severity = Severity.WARN

    def __post_init__(self) -> None:
        """Take the severity as it is typed, too."""
        try:
            object.__setattr__(self, "severity", Severity(self.severity))
        except ValueError:
            known = " or ".join(repr(severity.value) for severity in Severity)
            raise ConfigError(f"{self.name}: severity={self.severity!r} is none; give {known}") from None

    @abstractmethod
    def __call__(self, evaluable: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""

    @property
    def threshold(self) -> float | None:
        """The score to reach: 1 for a check that fails cases, none for one that warns."""
        return 1.0 if self.severity is Severity.FAIL else None


def clean(reasoning: str, **details: JsonValue) -> Evaluation:
    """Evaluate a trace in which a check found nothing.

    Args:
        reasoning: What was looked at.
        **details: Anything else worth keeping.
    """
    return Evaluation(1.0, reasoning, details)


def found(reasoning: str, findings: Sequence[Finding], **details: JsonValue) -> Evaluation:
    """Evaluate a trace in which a check found something.

    Args:
        reasoning: What was found, in one line.
        findings: All that was found; the first of them are kept, and all are counted.
        **details: Anything else worth keeping.
    """
    kept = [{key: _cut(value) for key, value in finding.items()} for finding in findings[:_MOST_FINDINGS]]
    return Evaluation(0.0, reasoning, {"count": len(findings), "findings": [*kept], **details})


def _cut(value: JsonValue) -> JsonValue:
    return f"{value[:_LONGEST_TEXT]}…" if isinstance(value, str) and len(value) > _LONGEST_TEXT else value


def number_setting(check: TraceCheck, setting: str, *, least: float = 0) -> float:
    """Read a number that was set for a check, from Python or as it is typed.

    Args:
        check: The check.
        setting: The setting's name.
        least: The smallest number that makes sense.

    Raises:
        ConfigError: It is no number, or a smaller one.
    """
    value = getattr(check, setting)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    # Written this way round, the comparison refuses NaN too.
    if isinstance(value, bool) or not least <= number < float("inf"):
        raise ConfigError(f"{check.name}: {setting}={value!r} is no number of at least {least:g}; give one")
    return number


def count_setting(check: TraceCheck, setting: str, *, least: int = 0) -> int:
    """Read a whole number that was set for a check, from Python or as it is typed.

    Args:
        check: The check.
        setting: The setting's name.
        least: The smallest number that makes sense.

    Raises:
        ConfigError: It is no whole number, or a smaller one.
    """
    number = number_setting(check, setting, least=least)
    if not number.is_integer():
        raise ConfigError(f"{check.name}: {setting}={getattr(check, setting)!r} is no whole number; give one")
    return int(number)
