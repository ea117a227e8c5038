"""What was wrong with the input, as lines of a terminal report: every kind with its count and an example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pixie_otel.reports.layout import wrapped
from pixie_otel.reports.printable import printable
from pixie_otel.reports.style import Style
from pixie_otel.traces.report import Problem

__all__ = ["problem_lines"]


def problem_lines(
    counts: Mapping[str, int], problems: Sequence[Problem], width: int, style: Style, *, verbose: bool = False
) -> Iterator[str]:
    """Say what was wrong with the input; nothing where nothing was.

    Args:
        counts: How many problems there were, by kind.
        problems: Those that were kept.
        width: How many cells a line has.
        style: Whether to colour.
        verbose: Show all problems that were kept, and not one of each kind.
    """
    if not counts:
        return
    examples: dict[str, list[Problem]] = {}
    for problem in problems:
        examples.setdefault(problem.kind, []).append(problem)
    yield ""
    yield style.paint("Problems with the input", "title")
    for kind, count in counts.items():
        known = examples.get(kind, [])
        shown = known if verbose else known[:1]
        yield f"  {style.paint(f'{count} {printable(kind)}', 'doubtful')}" + (", such as" if count > len(shown) else "")
        for problem in shown:
            said = f"{_place(problem)}: {printable(problem.message, keep=chr(10))}"
            yield from wrapped(said, width, indent="    ", most=None if verbose else 3)
        if verbose and count > len(shown):
            yield f"    … and {count - len(shown)} more, counted and not kept"


def _place(problem: Problem) -> str:
    trace = f" (trace {problem.trace_id[:8]})" if problem.trace_id and problem.line is None else ""
    return printable(f"{problem.location}{trace}")
