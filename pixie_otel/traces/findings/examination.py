"""All that is wrong with some inputs, kind by kind, in memory that does not grow with their size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from pixie_otel.errors import ConfigError
from pixie_otel.traces.findings import find_problems
from pixie_otel.traces.findings.found import problems_of
from pixie_otel.traces.findings.kinds import KINDS, ProblemKind, Weight, kind_of
from pixie_otel.traces.findings.lengths import Lengths
from pixie_otel.traces.findings.sessions import Sessions
from pixie_otel.traces.report import Problem, ReadReport
from pixie_otel.traces.trace import Trace

__all__ = ["Diagnosis", "Examination", "kinds_to_fail_on"]

_MOST_EXAMPLES: Final = 20
_CUT: Final = "cut-value"
_ORDER: Final = {weight: number for number, weight in enumerate(Weight)}
_NAMES_OF_SEVERAL: Final = {
    "any": frozenset({Weight.WARNING, Weight.ERROR}),
    Weight.NOTE.value: frozenset(Weight),
    Weight.WARNING.value: frozenset({Weight.WARNING, Weight.ERROR}),
    Weight.ERROR.value: frozenset({Weight.ERROR}),
}


@dataclass(slots=True)
class Diagnosis:
    """One kind of problem, over all inputs.

    Attributes:
        kind: The kind.
        count: How often it was met.
        traces: In how many traces; 0 for what is wrong with files.
        fixes: What to change, and how often that helps.
        examples: The first problems of the kind.
    """

    kind: ProblemKind
    count: int = 0
    traces: int = 0
    fixes: Counter[str] = field(default_factory=Counter[str])
    examples: list[Problem] = field(default_factory=list[Problem])

    def add(self, problem: Problem) -> None:
        """Count a problem of the kind, and keep it while there is room.

        Args:
            problem: The problem.
        """
        self.count += 1
        if fix := problem.fix or self.kind.fix:
            self.fixes[fix] += 1
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append(problem)


class Examination:
    """Takes traces one at a time, and says what is wrong with all of them.

    Attributes:
        traces: How many there were.
        spans: How many spans they have.
        llm_calls: How many model calls.
    """

    def __init__(self) -> None:
        self.traces = 0
        self.spans = 0
        self.llm_calls = 0
        self._found: dict[str, Diagnosis] = {}
        self._sessions = Sessions()
        self._lengths = Lengths()

    def add(self, trace: Trace) -> None:
        """Examine a trace.

        Args:
            trace: The trace.
        """
        self.traces += 1
        self.spans += len(trace.spans)
        self.llm_calls += len(trace.llm_calls)
        problems = find_problems(trace)
        for problem in problems:
            self._of(problem.kind).add(problem)
        for kind in {problem.kind for problem in problems}:
            self._of(kind).traces += 1
        self._sessions.add(trace)
        for span in trace.spans:
            self._lengths.add(span)

    def finish(self, report: ReadReport) -> list[Diagnosis]:
        """Add what shows only at the end, and give everything: what matters most first.

        Args:
            report: The account of the reading.
        """
        self._add_of_files(report)
        for problem in self._sessions.problems():
            self._of(problem.kind).add(problem)
        if _CUT not in self._found:
            for problem in problems_of(self._lengths.findings(), next(iter(report.sources), "")):
                self._of(problem.kind).add(problem)
        return sorted(self._found.values(), key=lambda row: (_ORDER[row.kind.weight], -row.count, row.kind.name))

    def _of(self, kind: str) -> Diagnosis:
        found = self._found.get(kind)
        if found is None:
            found = self._found[kind] = Diagnosis(kind_of(kind))
        return found

    def _add_of_files(self, report: ReadReport) -> None:
        """Add what is wrong with files; what is wrong with traces is told by those that were examined."""
        of_files = [problem for problem in report.problems if problem.trace_id is None]
        kept = Counter(problem.kind for problem in report.problems)
        for problem in of_files:
            self._of(problem.kind).add(problem)
        for kind in {problem.kind for problem in of_files}:
            # Of many, only the first were kept, and all were counted.
            self._of(kind).count += report.counts[kind] - kept[kind]


def kinds_to_fail_on(named: Iterable[str]) -> frozenset[str]:
    """Give the kinds that some words stand for: kinds, weights with all that weigh more, and ``any`` but notes.

    Args:
        named: The words.

    Raises:
        ConfigError: One of them is none of these.
    """
    found: set[str] = set()
    for name in named:
        weights = _NAMES_OF_SEVERAL.get(name)
        if weights is not None:
            found.update(kind.name for kind in KINDS.values() if kind.weight in weights)
        elif name in KINDS:
            found.add(name)
        else:
            raise ConfigError(_unknown(name))
    return frozenset(found)


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    known = [*_NAMES_OF_SEVERAL, *KINDS]
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"{name!r} is no kind of problem; {hint}There are: {', '.join(known)}".replace("; There", "; there")
