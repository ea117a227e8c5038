"""The accounting of a reading: every line, document and span is either used or counted with a reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from pixie_otel.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Problem", "ReadReport", "SourceReport", "Tally"]

JsonObject: TypeAlias = "dict[str, int | str | JsonObject | list[JsonObject]]"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that was wrong with an input.

    Attributes:
        kind: A short, stable name of the sort of problem, such as ``bad-line``.
        message: What is wrong, the value, and what to do about it.
        source: The input's name as the user knows it.
        line: The line, counted from 1, where there is one.
        trace_id: The trace it concerns, where known.
        span_id: The span it concerns, where known.
        fix: What to change, where that is more particular than the kind's own advice.
    """

    kind: str
    message: str
    source: str
    line: int | None = None
    trace_id: str | None = None
    span_id: str | None = None
    fix: str | None = None

    @property
    def location(self) -> str:
        """Where it is: ``file:line``, or the file alone."""
        return self.source if self.line is None else f"{self.source}:{self.line}"

    def to_json(self) -> JsonObject:
        """Give the problem as a JSON object without the parts that are not known."""
        optional = {"line": self.line, "trace_id": self.trace_id, "span_id": self.span_id, "fix": self.fix}
        known = {name: value for name, value in optional.items() if value is not None}
        return {"kind": self.kind, "message": self.message, "source": self.source, **known}


@dataclass(slots=True)
class Tally:
    """How many lines or documents an input had, and what became of them: ``total == read + blank + skipped``.

    Attributes:
        total: All of them.
        read: Those handed on.
        blank: Those with nothing in them.
        skipped_by_kind: Those passed over, by the kind of problem.
    """

    total: int = 0
    read: int = 0
    blank: int = 0
    skipped_by_kind: Counter[str] = field(default_factory=Counter[str])

    @property
    def skipped(self) -> int:
        """How many were passed over, whatever the reason."""
        return self.skipped_by_kind.total()

    def pass_over(self, kind: str) -> None:
        """Count one that could not be handed on."""
        self.total += 1
        self.skipped_by_kind[kind] += 1

    def reject(self, kind: str) -> None:
        """Count one that was handed on as skipped after all, because it turned out to be unusable."""
        self.read -= 1
        self.skipped_by_kind[kind] += 1

    def to_json(self) -> JsonObject:
        """Give the counts as a JSON object."""
        return {"total": self.total, "read": self.read, "blank": self.blank, "skipped": {**self.skipped_by_kind}}


@dataclass(slots=True)
class SourceReport:
    """The accounting of one input.

    Attributes:
        name: The input's name as the user knows it.
        bytes: The size of its text, unpacked.
        sha256: The digest of what was given, for inputs that cannot be read again.
        lines: Its lines, where it has one document to the line.
        documents: Its documents, where they span lines.
        forms: How much in it was written in another form than OTLP's and converted, by what it was.
    """

    name: str
    bytes: int = 0
    sha256: str | None = None
    lines: Tally = field(default_factory=Tally)
    documents: Tally = field(default_factory=Tally)
    forms: Counter[str] = field(default_factory=Counter[str])

    def note_form(self, name: str, count: int = 1) -> None:
        """Count lines or documents that were converted.

        Args:
            name: What they were.
            count: How many.
        """
        self.forms[name] += count

    def to_json(self) -> JsonObject:
        """Give the accounting as a JSON object."""
        digest = {} if self.sha256 is None else {"sha256": self.sha256}
        tallies = {"lines": self.lines, "documents": self.documents}
        counts = {name: tally.to_json() for name, tally in tallies.items() if tally.total}
        forms: JsonObject = {"forms": {**self.forms}} if self.forms else {}
        return {"name": self.name, "bytes": self.bytes, **digest, **counts, **forms}


@dataclass(slots=True)
class ReadReport:
    """The accounting of a whole reading: exact counts of everything, and the first problems of each kind in full.

    When the reading has ended, ``spans_read == spans_used + duplicate_spans + bad_spans``.

    Attributes:
        strict: Whether the first problem ends the reading with an `InputError`.
        max_problems_per_kind: How many problems of one kind are kept; all are counted.
        spans_read: Spans found in the inputs.
        spans_used: Spans that became part of a trace.
        duplicate_spans: Spans left out because the same span was there already.
        bad_spans: Spans that could not be read at all.
        log_records: Log records found.
        log_records_used: Log records that belonged to a span.
        metrics: Metrics passed over.
    """

    strict: bool = False
    max_problems_per_kind: int = 100
    spans_read: int = 0
    spans_used: int = 0
    duplicate_spans: int = 0
    bad_spans: int = 0
    log_records: int = 0
    log_records_used: int = 0
    metrics: int = 0
    _counts: Counter[str] = field(default_factory=Counter[str], init=False)
    _problems: list[Problem] = field(default_factory=list[Problem], init=False)
    _sources: dict[str, SourceReport] = field(default_factory=dict[str, SourceReport], init=False)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many problems there were, by kind."""
        return MappingProxyType(self._counts)

    @property
    def problems(self) -> Sequence[Problem]:
        """The problems that were kept, in the order in which they were met."""
        return tuple(self._problems)

    @property
    def sources(self) -> Mapping[str, SourceReport]:
        """The accounting of each input, by its name, in the order of reading."""
        return MappingProxyType(self._sources)

    def source(self, name: str) -> SourceReport:
        """Give the accounting of one input, opened on first use.

        Args:
            name: The input's name as the user knows it.
        """
        return self._sources.setdefault(name, SourceReport(name))

    def keeps(self, kind: str) -> bool:
        """Say whether there is room for another problem of a kind.

        Args:
            kind: The kind.
        """
        return self._counts[kind] < self.max_problems_per_kind

    def add(self, problem: Problem) -> None:
        """Count a problem, and keep it while there is room for its kind.

        Args:
            problem: What was wrong.

        Raises:
            InputError: The reading is strict.
        """
        self._counts[problem.kind] += 1
        if self._counts[problem.kind] <= self.max_problems_per_kind:
            self._problems.append(problem)
        if self.strict:
            raise InputError(f"{problem.location}: {problem.message}")

    def skip_line(self, problem: Problem) -> None:
        """Report a line that was handed on and turned out to be unusable.

        Args:
            problem: What was wrong with it.
        """
        self.source(problem.source).lines.reject(problem.kind)
        self.add(problem)

    def skip_document(self, problem: Problem) -> None:
        """Report a document that was handed on and turned out to be unusable.

        Args:
            problem: What was wrong with it.
        """
        self.source(problem.source).documents.reject(problem.kind)
        self.add(problem)

    def to_json(self) -> JsonObject:
        """Give the accounting as a JSON object of integers and strings."""
        return {
            "spans_read": self.spans_read,
            "spans_used": self.spans_used,
            "duplicate_spans": self.duplicate_spans,
            "bad_spans": self.bad_spans,
            "log_records": self.log_records,
            "log_records_used": self.log_records_used,
            "metrics": self.metrics,
            "problem_counts": dict(self._counts),
            "problems": [problem.to_json() for problem in self._problems],
            "sources": [source.to_json() for source in self._sources.values()],
        }
