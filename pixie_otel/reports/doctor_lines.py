"""What is wrong with traces, as text for people: a paragraph a kind, with examples and what to change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pixie_otel.evals.evaluators.checks.wording import counted
from pixie_otel.reports.layout import wrapped
from pixie_otel.reports.printable import printable
from pixie_otel.reports.style import Look, Style
from pixie_otel.traces.findings.examination import Diagnosis, Examination
from pixie_otel.traces.findings.kinds import KINDS, ProblemKind, Weight
from pixie_otel.traces.report import Problem

__all__ = ["doctor_lines", "kind_lines"]

_LOOKS: Final[dict[Weight, Look]] = {Weight.ERROR: "bad", Weight.WARNING: "doubtful", Weight.NOTE: "quiet"}
_INDENT: Final = "  "
_TYPED: Final = "      "
_ID_SHOWN: Final = 8
_ID_LENGTH: Final = 32
_MOST_FIXES: Final = 5


def doctor_lines(
    examined: Examination, found: Sequence[Diagnosis], width: int, style: Style, *, verbose: bool = False
) -> Iterator[str]:
    """Say what is wrong with traces.

    Args:
        examined: The traces that were examined.
        found: What was found.
        width: How many cells a line has.
        style: Whether to colour.
        verbose: Give all examples that were kept, and not one of each kind.
    """
    yield from wrapped(_heading(examined, found), width, hanging="")
    for row in found:
        yield ""
        yield from _row_lines(row, width, style, verbose=verbose)


def _heading(examined: Examination, found: Sequence[Diagnosis]) -> str:
    size = f"{counted(examined.spans, 'span')}, {counted(examined.llm_calls, 'model call')}"
    looked = f"Examined {counted(examined.traces, 'trace')} ({size})"
    if not found:
        return f"{looked}: nothing is wrong with them for an evaluation."
    numbers = [
        counted(number, weight.value)
        for weight in Weight
        if (number := sum(row.kind.weight is weight for row in found))
    ]
    return f"{looked}: {', '.join(numbers)}."


def _row_lines(row: Diagnosis, width: int, style: Style, *, verbose: bool) -> Iterator[str]:
    place = f"in {counted(row.traces, 'trace')}" if row.traces else counted(row.count, "time")
    yield f"{style.paint(row.kind.weight.value.upper(), _LOOKS[row.kind.weight])} {row.kind.name}: {place}"
    yield from wrapped(row.kind.title, width, indent=_INDENT, hanging="")
    shown = row.examples if verbose else row.examples[:1]
    for problem in shown:
        said = f"- {_place(problem)}: {problem.message}"
        yield from wrapped(printable(said), width, indent=_INDENT, most=None if verbose else 4)
    if row.count > len(shown):
        yield f"{_INDENT}- … and {row.count - len(shown)} more"
    for fix, _ in row.fixes.most_common(None if verbose else _MOST_FIXES):
        yield from _fix_lines(fix, width)


def _place(problem: Problem) -> str:
    trace_id = problem.trace_id
    if trace_id is None or problem.line is not None:
        return problem.location
    # Ids of another form may all begin alike.
    return f"{problem.source}, trace {trace_id[:_ID_SHOWN] if len(trace_id) == _ID_LENGTH else trace_id}"


def _fix_lines(fix: str, width: int) -> Iterator[str]:
    advice, *typed = fix.split("\n")
    yield from wrapped(f"To do: {advice}", width, indent=_INDENT, hanging="")
    # What is to be typed is not broken, whatever the width.
    yield from (f"{_TYPED}{line}" for line in typed)


def kind_lines(width: int, style: Style, kinds: Iterable[ProblemKind] = KINDS.values()) -> Iterator[str]:
    """List kinds of problems, with what they mean and what to do about them.

    Args:
        width: How many cells a line has.
        style: Whether to colour.
        kinds: The kinds; all, when not given.
    """
    for number, kind in enumerate(kinds):
        if number:
            yield ""
        yield f"{kind.name} ({style.paint(kind.weight.value, _LOOKS[kind.weight])})"
        yield from wrapped(kind.title, width, indent=_INDENT, hanging="")
        yield from _fix_lines(kind.fix, width)
