"""Thresholds: the score that an evaluator has to reach on a case."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from pixie_otel.errors import ConfigError
from pixie_otel.evals.evaluation import Severity
from pixie_otel.evaluable import Unset

if TYPE_CHECKING:
    from pixie_otel.evals.binding import BoundEvaluator

__all__ = ["DEFAULT_THRESHOLD", "Bar", "Thresholds", "parse_thresholds"]

DEFAULT_THRESHOLD: Final = 0.5
"""What a score has to reach where nobody said anything else."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What an evaluator's scores are held against.

    Attributes:
        threshold: The score to reach; ``None`` where there is none.
        severity: Whether missing it fails the case. With ``warn`` the outcome is ``measured`` in any case.
    """

    threshold: float | None
    severity: Severity


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The thresholds that a user set for a run.

    The one for an evaluator comes first, then the evaluator's own, then the general one, then 0.5. An evaluator that
    says ``threshold=None`` is only measured. One of severity ``warn`` keeps to its own threshold and fails no case,
    unless the user sets a threshold for it by name: that is to say that it shall.

    Attributes:
        general: For all evaluators without one of their own; ``None`` where not given.
        by_name: By the evaluator's name; ``None`` for "measure only".
    """

    general: float | None = None
    by_name: Mapping[str, float | None] = field(default_factory=dict[str, "float | None"])

    def __post_init__(self) -> None:
        """Refuse what no score can reach.

        Raises:
            ConfigError: A threshold lies outside 0 to 1.
        """
        for name, threshold in (("the general one", self.general), *self.by_name.items()):
            # Written this way round, the comparison refuses NaN too.
            if threshold is not None and not 0 <= threshold <= 1:
                raise ConfigError(f"threshold {threshold!r} ({name}) is outside 0 to 1")

    def check(self, names: Collection[str]) -> None:
        """See to it that every threshold belongs to an evaluator of the run.

        Args:
            names: The evaluators' names.

        Raises:
            ConfigError: There is no evaluator of such a name.
        """
        for name in self.by_name:
            if name not in names:
                close = get_close_matches(name, names, n=1)
                hint = f"did you mean {close[0]}? " if close else ""
                known = ", ".join(names) or "none"
                raise ConfigError(f"a threshold is set for {name!r}, which does not run; {hint}What runs: {known}")

    def bar(self, evaluator: BoundEvaluator) -> Bar:
        """Say what an evaluator's scores are held against.

        Args:
            evaluator: The evaluator.
        """
        if evaluator.name in self.by_name:
            return Bar(self.by_name[evaluator.name], Severity.FAIL)
        own = evaluator.threshold
        if not isinstance(own, Unset):
            return Bar(own, evaluator.severity)
        if evaluator.severity is Severity.WARN:
            return Bar(None, Severity.WARN)
        return Bar(DEFAULT_THRESHOLD if self.general is None else self.general, Severity.FAIL)


def parse_thresholds(texts: Iterable[str]) -> Thresholds:
    """Read thresholds as they are typed: ``0.7`` for all, ``NAME=0.8`` for one, ``NAME=none`` to measure it only.

    Args:
        texts: One threshold each; of two for the same evaluator the later counts.

    Raises:
        ConfigError: A text is no threshold.
    """
    general: float | None = None
    by_name: dict[str, float | None] = {}
    for text in texts:
        # The last `=`, as an evaluator's name may hold one.
        name, named, value = text.rpartition("=")
        if not named:
            general = _parse(value, text)
        elif name.strip():
            by_name[name.strip()] = None if value.strip().lower() == "none" else _parse(value, text)
        else:
            raise ConfigError(f"the threshold {text!r} names no evaluator; write 0.7 or NAME=0.7")
    return Thresholds(general, by_name)


def _parse(value: str, text: str) -> float:
    try:
        threshold = float(value)
    except ValueError:
        raise ConfigError(f"the threshold {text!r} is no number; give one from 0 to 1, such as 0.7") from None
    if not 0 <= threshold <= 1:
        raise ConfigError(f"the threshold {text!r} is outside 0 to 1")
    return threshold
