"""A run as text for a terminal: the verdict first, then what it rests on.

Everything here gives text and prints nothing. What comes from traces is made printable, and is never taken for markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from pixie_otel.evals.case import CaseResult
from pixie_otel.evals.evaluators.checks.wording import counted
from pixie_otel.reports.case_board import CaseBoard
from pixie_otel.reports.case_lines import GROUP_LOOKS, case_lines, score_text
from pixie_otel.reports.layout import table, wrapped
from pixie_otel.reports.printable import printable
from pixie_otel.reports.problem_lines import problem_lines, problems_of_run
from pixie_otel.reports.style import Look, Style
from pixie_otel.runs.manifest import RunStatus
from pixie_otel.runs.run import Run
from pixie_otel.runs.summary import EvaluatorSummary, Summary

__all__ = ["ReportView", "run_report", "verdict_line"]

_HEADER: Final = ("Evaluator", "Scored", "Mean", "Passed", "Failed", "Warned", "Errors", "Skipped")
_LOOKS: Final[Mapping[str, Look]] = {"Failed": "bad", "Warned": "doubtful", "Errors": "bad"}
_VERDICT_LOOKS: Final[Mapping[int, Look]] = {0: "good", 1: "bad"}
_LEFT_OUT: Final = {
    "filtered": "left out by the filter",
    "not_sampled": "not in the sample",
    "over_limit": "over the limit",
    "left_out": "not in the sample or over the limit",
    "without_content": "with neither LLM calls nor recorded input or output (--all judges them)",
    "counted_elsewhere": "that only record again a call of another trace (--all judges them)",
}
_MOST_GROUPS: Final = 5
_TRACE_ID_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class ReportView:
    """How a report is to look.

    Attributes:
        width: How many cells a line has.
        style: Whether to colour.
        verbose: Show every case and every evaluator's outcome.
    """

    width: int = 80
    style: Style = field(default_factory=Style)
    verbose: bool = False


def verdict_line(run: Run, style: Style) -> str:
    """Say in one line what a run comes to.

    Args:
        run: The run.
        style: Whether to colour.
    """
    warned = run.summary.warned
    warning = f"; {warned} with warnings" if warned else ""
    return _painted_verdict(f"{printable(run.verdict.text)}{warning}", run.exit_code, style)


def run_report(run: Run, board: CaseBoard, view: ReportView) -> Iterator[str]:
    """Write the report of a run, a line at a time.

    Args:
        run: The run.
        board: Its cases; for a verbose report, all of them are read from the run instead.
        view: How it is to look.
    """
    first, *others = wrapped(verdict_line(run, Style()), view.width)
    yield _painted_verdict(first, run.exit_code, view.style)
    yield from others
    yield ""
    yield from wrapped(_intake(run), view.width, hanging="")
    yield ""
    yield from _evaluator_table(run.summary, view)
    yield from _failure_groups(run.summary, view)
    yield ""
    yield from _every_case(run, view) if view.verbose else _first_cases(board, view)
    yield from _flags(run.summary, view)
    yield from problem_lines(problems_of_run(run), view.width, view.style, verbose=view.verbose)
    yield ""
    yield f"Results: {printable(_shown_path(run.path))}"
    trace_id = board.first_trace_to_look_at()
    # What is no id of OpenTelemetry's form might need quotes, or worse.
    if trace_id is not None and trace_id.isascii() and trace_id.isalnum():
        yield f"A closer look: pixie-otel show PATH --trace {trace_id[:_TRACE_ID_SHOWN]}"


def _shown_path(path: Path) -> str:
    """Give a path as people would type it here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (OSError, ValueError):
        # It is elsewhere, or the current directory is gone.
        return str(path)


def _painted_verdict(line: str, exit_code: int, style: Style) -> str:
    word, colon, rest = line.partition(":")
    return style.paint(word, "title", _VERDICT_LOOKS.get(exit_code, "doubtful")) + colon + rest


def _intake(run: Run) -> str:
    counts = cast("Mapping[str, int]", run.manifest.counts)
    per = run.manifest.settings.get("per", "trace")
    noun = str(per) if run.manifest.reading is not None else "case"
    # What was piped in has no size.
    files = sum(item.size is not None for item in run.manifest.inputs)
    where = f" in {counted(files, 'file')}" if files else ""
    read, judged = counts.get("read", 0), counts.get("judged", 0)
    left_out = [f"{counts[key]} {why}" for key, why in _LEFT_OUT.items() if counts.get(key)]
    if run.manifest.status is not RunStatus.FINISHED:
        return f"{counted(read, noun)}{where} until then: {counted(run.summary.cases, 'case')} judged."
    taken = "all judged" if read == judged and read else f"{judged} judged"
    if noun != "case" and run.summary.cases != judged:
        taken += f" as {counted(run.summary.cases, 'case')}"
    return f"{counted(read, noun)}{where}: {', '.join([taken, *left_out])}."


def _evaluator_table(summary: Summary, view: ReportView) -> Iterator[str]:
    rows = [_row(item) for item in summary.evaluators]
    for number, cells in enumerate(table(_HEADER, rows, view.width)):
        if number == 0:
            yield view.style.paint("  ".join(cells), "title")
        else:
            yield "  ".join(_painted(name, cell, view.style) for name, cell in zip(_HEADER, cells, strict=True))
    explained = f"Scored of {counted(summary.cases, 'case')}; mean of those scored; a warning fails no case."
    for line in wrapped(explained, view.width, hanging=""):
        yield view.style.paint(line, "quiet")


def _row(item: EvaluatorSummary) -> list[str]:
    numbers = (item.passed, item.failed, item.warnings, item.error, item.skipped)
    mean = "-" if item.mean is None else score_text(item.mean)
    return [printable(item.evaluator), f"{item.scored}/{item.cases}", mean, *(str(number or "-") for number in numbers)]


def _painted(name: str, cell: str, style: Style) -> str:
    look = _LOOKS.get(name)
    return style.paint(cell, look) if look is not None and cell.strip() != "-" else cell


def _failure_groups(summary: Summary, view: ReportView) -> Iterator[str]:
    """Say why cases could not be judged, each reason once."""
    groups = summary.failures if view.verbose else summary.failures[:_MOST_GROUPS]
    if not groups:
        return
    total = sum(summary.failure_kinds.values())
    yield ""
    yield view.style.paint("Not judged, by reason", "title")
    for group in groups:
        who = f"{printable(group.evaluator)}, " if group.evaluator else ""
        said = f"{group.count}x {who}{group.kind.value}: {printable(group.message)}"
        yield from wrapped(said, view.width, indent="  ", most=None if view.verbose else 6)
    others = total - sum(group.count for group in groups)
    if others:
        yield f"  … and {others} more"


def _flags(summary: Summary, view: ReportView) -> Iterator[str]:
    """Say how many cases rest on traces that have something wrong with them, and with what."""
    if not summary.flagged:
        return
    kinds = list(summary.flags.items())
    shown = kinds if view.verbose else kinds[:_MOST_GROUPS]
    said = ", ".join(f"{printable(kind)} x{count}" for kind, count in shown)
    others = f" and {len(kinds) - len(shown)} more kinds" if len(kinds) > len(shown) else ""
    rest = "1 case rests on a trace" if summary.flagged == 1 else f"{summary.flagged} cases rest on traces"
    yield ""
    text = f"{rest} with something missing or wrong: {said}{others}. 'pixie-otel doctor PATH' tells what to change."
    yield from wrapped(text, view.width, hanging="")


def _first_cases(board: CaseBoard, view: ReportView) -> Iterator[str]:
    yield view.style.paint("Cases", "title")
    for group, count, kept in board.groups():
        for result in kept:
            yield from case_lines(result, view.width, view.style)
        if count > len(kept):
            more = f"… and {count - len(kept)} more {group.value}"
            yield f"  {view.style.paint(more, GROUP_LOOKS[group])}; all are in results.jsonl"


def _every_case(run: Iterable[CaseResult], view: ReportView) -> Iterator[str]:
    yield view.style.paint("Cases", "title")
    for result in run:
        yield from case_lines(result, view.width, view.style, verbose=True)
