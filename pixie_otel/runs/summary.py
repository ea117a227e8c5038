"""What a run found, in numbers that carry their denominators.

`SummaryBuilder` takes judged cases one at a time, in any order, and holds nothing that grows with their number.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from msgspec import Struct

from pixie_otel.evals.case import CaseResult
from pixie_otel.evals.evaluation import EvaluationResult, FailureKind, Outcome
from pixie_otel.traces.findings.kinds import Weight, kind_of

__all__ = ["EvaluatorSummary", "FailureGroup", "Summary", "SummaryBuilder"]

_UNIT: Final = 1 << 1074
"""Every float is a whole multiple of 1/_UNIT: sums of scores are exact, so that their order does not show."""


class EvaluatorSummary(Struct, frozen=True, kw_only=True):
    """One evaluator over all cases.

    Attributes:
        evaluator: Its name.
        cases: On how many cases it was called for: the sum of the five outcomes.
        passed: How many reached its threshold.
        failed: How many did not.
        measured: How many it scored without a threshold to judge by.
        error: How many it could not judge.
        skipped: How many it does not apply to.
        warnings: How often a check that only warns had something to say.
        scored: How many have a score: the denominator of `mean`.
        mean: The mean score over `scored`; ``None`` where there is none.
    """

    evaluator: str
    cases: int = 0
    passed: int = 0
    failed: int = 0
    measured: int = 0
    error: int = 0
    skipped: int = 0
    warnings: int = 0
    scored: int = 0
    mean: float | None = None

    @property
    def judged(self) -> int:
        """How many were held against a threshold."""
        return self.passed + self.failed


class FailureGroup(Struct, frozen=True, kw_only=True):
    """Failures to judge that say the same.

    Attributes:
        kind: Whose failure it was.
        evaluator: Which evaluator could not judge; ``None`` where the case itself could not be made.
        message: What happened.
        count: How often.
        example: The id of the first such case.
    """

    kind: FailureKind
    evaluator: str | None
    message: str
    count: int
    example: str


class Summary(Struct, frozen=True, kw_only=True):
    """What a run found.

    Attributes:
        cases: How many cases there were.
        outcomes: How many ended in which outcome; the outcome of a case is its worst.
        judged: How many cases at least one evaluator held against a threshold.
        judged_passed: How many of those reached every threshold that they were held against.
        errored: How many cases could not be judged, or not by every evaluator.
        warned: How many cases have a warning.
        evaluators: One summary an evaluator, in the order the evaluators were given.
        failure_kinds: How many failures to judge there were, by kind.
        failures: The same in groups that say the same, the largest first.
        other_failures: How many failures are in no group, because there were too many different ones.
        flagged: How many cases rest on traces in which something is missing or wrong.
        flags: How many cases rest on a problem, by its kind; the most frequent first.
    """

    cases: int = 0
    outcomes: dict[Outcome, int] = {}
    judged: int = 0
    judged_passed: int = 0
    errored: int = 0
    warned: int = 0
    evaluators: tuple[EvaluatorSummary, ...] = ()
    failure_kinds: dict[FailureKind, int] = {}
    failures: tuple[FailureGroup, ...] = ()
    other_failures: int = 0
    flagged: int = 0
    flags: dict[str, int] = {}


@dataclass(slots=True)
class _Outcomes:
    # Counted by identity: a Counter would hash an enum's member in Python, for every result of a run.
    passed: int = 0
    failed: int = 0
    measured: int = 0
    error: int = 0
    skipped: int = 0

    def add(self, outcome: Outcome) -> None:
        if outcome is Outcome.PASSED:
            self.passed += 1
        elif outcome is Outcome.MEASURED:
            self.measured += 1
        elif outcome is Outcome.SKIPPED:
            self.skipped += 1
        elif outcome is Outcome.FAILED:
            self.failed += 1
        else:
            self.error += 1

    def by_name(self) -> dict[str, int]:
        return {outcome.value: getattr(self, outcome.value) for outcome in Outcome}


@dataclass(slots=True)
class _EvaluatorCounts:
    outcomes: _Outcomes = field(default_factory=_Outcomes)
    warnings: int = 0
    scored: int = 0
    perfect: int = 0
    rest: int = 0

    def add(self, result: EvaluationResult) -> None:
        self.outcomes.add(result.outcome)
        if result.evaluation is None:
            return
        self.scored += 1
        score = result.evaluation.score
        if score == 1:
            self.perfect += 1
        elif score:
            numerator, denominator = score.as_integer_ratio()
            self.rest += numerator * (_UNIT // denominator)

    def summary(self, evaluator: str) -> EvaluatorSummary:
        outcomes = self.outcomes.by_name()
        return EvaluatorSummary(
            evaluator=evaluator,
            cases=sum(outcomes.values()),
            warnings=self.warnings,
            scored=self.scored,
            mean=(self.perfect * _UNIT + self.rest) / (_UNIT * self.scored) if self.scored else None,
            **outcomes,
        )


_GroupKey: TypeAlias = tuple[str, str, str]


@dataclass(slots=True)
class _Group:
    count: int
    first: tuple[int, str]


class _Groups:
    """Counts failures by what they say, and keeps the same groups whatever the order: the first by their text."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._keys: list[_GroupKey] = []
        self._groups: dict[_GroupKey, _Group] = {}
        self.total = 0

    def add(self, key: _GroupKey, case: tuple[int, str]) -> None:
        self.total += 1
        group = self._groups.get(key)
        if group is not None:
            group.count += 1
            group.first = min(group.first, case)
            return
        if len(self._keys) == self._limit:
            if key > self._keys[-1]:
                return
            del self._groups[self._keys.pop()]
        insort(self._keys, key)
        self._groups[key] = _Group(1, case)

    def largest_first(self) -> tuple[FailureGroup, ...]:
        return tuple(
            FailureGroup(
                kind=FailureKind(kind),
                evaluator=evaluator or None,
                message=message,
                count=self._groups[kind, evaluator, message].count,
                example=self._groups[kind, evaluator, message].first[1],
            )
            for kind, evaluator, message in sorted(self._keys, key=lambda key: -self._groups[key].count)
        )


class SummaryBuilder:
    """Adds up judged cases.

    Args:
        evaluators: The evaluators' names in the order to show them; others follow in the order they are met.
        max_groups: How many different failures are kept apart; all are counted.
    """

    def __init__(self, evaluators: tuple[str, ...] = (), *, max_groups: int = 100) -> None:
        self._cases = 0
        self._judged = 0
        self._judged_passed = 0
        self._errored = 0
        self._warned = 0
        self._outcomes = _Outcomes()
        self._kinds: Counter[FailureKind] = Counter()
        self._evaluators = {name: _EvaluatorCounts() for name in evaluators}
        self._groups = _Groups(max_groups)
        self._flagged = 0
        self._flags: Counter[str] = Counter()

    def add(self, result: CaseResult) -> None:
        """Count one judged case.

        Args:
            result: The judged case.
        """
        judged = failed = warned = False
        errored = result.case.failure is not None
        for item in result.results:
            counts = self._evaluators.get(item.evaluator)
            if counts is None:
                counts = self._evaluators[item.evaluator] = _EvaluatorCounts()
            counts.add(item)
            if item.warns:
                counts.warnings += 1
                warned = True
            outcome = item.outcome
            failed = failed or outcome is Outcome.FAILED
            judged = judged or failed or outcome is Outcome.PASSED
            errored = errored or outcome is Outcome.ERROR
        self._cases += 1
        self._outcomes.add(result.outcome)
        self._judged += judged
        self._judged_passed += judged and not failed
        self._errored += errored
        self._warned += warned
        if result.case.problems:
            self._add_flags(result)
        if errored:
            self._add_failures(result)

    def _add_flags(self, result: CaseResult) -> None:
        kinds = {problem.kind for problem in result.case.problems}
        kinds = {kind for kind in kinds if kind_of(kind).weight is not Weight.NOTE}
        self._flagged += bool(kinds)
        self._flags.update(kinds)

    def _add_failures(self, result: CaseResult) -> None:
        own = result.case.failure
        failures = [
            (item.evaluator, item.failure)
            for item in result.results
            # A case that could not be made fails in every evaluator alike, and that is one failure.
            if item.failure is not None and item.failure != own
        ]
        for evaluator, failure in [("", own), *failures] if own else failures:
            self._kinds[failure.kind] += 1
            key = (failure.kind.value, evaluator, failure.message)
            self._groups.add(key, (result.case.start_time_unix_nano, result.case.id))

    def build(self) -> Summary:
        """Give the summary of what was added so far."""
        groups = self._groups.largest_first()
        return Summary(
            cases=self._cases,
            outcomes={Outcome(name): count for name, count in self._outcomes.by_name().items()},
            judged=self._judged,
            judged_passed=self._judged_passed,
            errored=self._errored,
            warned=self._warned,
            evaluators=tuple(counts.summary(name) for name, counts in self._evaluators.items()),
            failure_kinds={kind: self._kinds[kind] for kind in FailureKind},
            failures=groups,
            other_failures=self._groups.total - sum(group.count for group in groups),
            flagged=self._flagged,
            flags=dict(sorted(self._flags.items(), key=lambda flag: (-flag[1], flag[0]))),
        )
