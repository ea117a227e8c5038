"""What was wrong with the input: every kind with its count and an example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from pixie_otel.reports.layout import wrapped
from pixie_otel.reports.printable import printable
from pixie_otel.reports.style import Style
from pixie_otel.runs.manifest import Problems
from pixie_otel.runs.records import ProblemRecord
from pixie_otel.runs.run import Run
from pixie_otel.traces.report import ReadReport

__all__ = ["problem_lines", "problems_of_files", "problems_of_run"]


def problems_of_run(run: Run) -> Problems:
    """Give what was wrong with the input of a run, with exact counts.

    Args:
        run: The run.
    """
    noted = run.manifest.problems
    # Of what reading met, no more was noted than there was room for; its own account has all.
    counts = cast("Mapping[str, int]", (run.manifest.reading or {}).get("problem_counts", {}))
    return Problems({**noted.counts, **counts}, noted.kept)


def problems_of_files(report: ReadReport) -> Problems:
    """Give what was wrong with files that were read, without what is wrong with a trace and is shown beside it.

    Args:
        report: The account of the reading.
    """
    kept = [ProblemRecord.of(problem) for problem in report.problems if problem.trace_id is None]
    kinds = sorted({record.kind for record in kept})
    return Problems({kind: report.counts[kind] for kind in kinds}, kept)


def problem_lines(problems: Problems, width: int, style: Style, *, verbose: bool = False) -> Iterator[str]:
    """Say what was wrong with the input; nothing where nothing was.

    Args:
        problems: What was wrong.
        width: How many cells a line has.
        style: Whether to colour.
        verbose: Show all problems that were kept, and not one of each kind.
    """
    if not problems.counts:
        return
    examples: dict[str, list[ProblemRecord]] = {}
    for problem in problems.kept:
        examples.setdefault(problem.kind, []).append(problem)
    yield ""
    yield style.paint("Problems with the input", "title")
    for kind, count in problems.counts.items():
        known = examples.get(kind, [])
        shown = known if verbose else known[:1]
        yield f"  {style.paint(f'{count} {printable(kind)}', 'doubtful')}" + (", such as" if count > len(shown) else "")
        for problem in shown:
            said = f"{_place(problem)}: {printable(problem.message, keep=chr(10))}"
            yield from wrapped(said, width, indent="    ", most=None if verbose else 3)
        if verbose and count > len(shown):
            yield f"    … and {count - len(shown)} more, counted and not kept"


def _place(record: ProblemRecord) -> str:
    trace = f" (trace {record.trace_id[:8]})" if record.trace_id and record.line is None else ""
    return printable(f"{record.problem().location}{trace}")
