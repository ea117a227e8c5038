"""One judged case as lines of a terminal report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from pixie_otel.evals.case import Case, CaseResult
from pixie_otel.evals.evaluation import EvaluationResult, Failure, Outcome, Severity
from pixie_otel.reports.case_board import CaseGroup, group_of
from pixie_otel.reports.layout import cell_width, cut, padded, wrapped
from pixie_otel.reports.printable import printable
from pixie_otel.reports.style import Look, Style
from pixie_otel.traces.text import duration_text

__all__ = ["GROUP_LOOKS", "case_lines", "needs_a_look", "score_text"]

GROUP_LOOKS: Final[dict[CaseGroup, Look]] = {
    CaseGroup.FAILED: "bad",
    CaseGroup.ERROR: "bad",
    CaseGroup.WARNED: "doubtful",
    CaseGroup.PASSED: "good",
    CaseGroup.MEASURED: "quiet",
    CaseGroup.SKIPPED: "quiet",
}
_GAP: Final = "  "
_INDENT: Final = " " * 12
_GROUP_WIDTH: Final = max(len(group) for group in CaseGroup)
_NAME_WIDTH: Final = 20
_NARROWEST_NAME: Final = 12
_ID_WIDTH: Final = 16
_TRACE_ID_LENGTH: Final = 32
_ID_SHOWN: Final = 8
"""As many digits as ``--trace`` needs."""
_NEWLINE: Final = "\n"
_MOST_SCORES: Final = 3
_MOST_LINES: Final = 3
_COUNTED: Final = ("passed", "measured", "clean", "skipped")


def case_lines(result: CaseResult, width: int, style: Style, *, verbose: bool = False) -> Iterator[str]:
    """Write a judged case: a line that says what came of it, and the reasons for what needs a look.

    Args:
        result: The judged case.
        width: How many cells a line has.
        style: Whether to colour.
        verbose: Say every evaluator's outcome, with its whole reason and how long it took.
    """
    yield from _heading(result, width, style, verbose=verbose)
    own = result.case.failure
    if own is not None:
        yield from _reason(f"no case: {printable(own.message, keep=_NEWLINE)}", width, verbose=verbose)
    for item in result.results:
        # A case that could not be made fails in every evaluator alike, and that is said once.
        if item.failure is not None and item.failure == own and not verbose:
            continue
        if verbose or needs_a_look(item):
            yield from _reason(_finding(item, verbose=verbose), width, verbose=verbose)
    for problem in result.case.problems if verbose else ():
        yield from _reason(printable(f"! {problem.kind}: {problem.message}"), width, verbose=verbose)


def needs_a_look(item: EvaluationResult) -> bool:
    """Say whether an evaluator has something to say against a case, or could not judge it."""
    return item.outcome in {Outcome.FAILED, Outcome.ERROR} or item.warns


def score_text(score: float) -> str:
    """Write a score with two decimals, so that only a whole 1 reads 1.00, and only a whole 0 reads 0.00."""
    if 0 < score < 1:
        score = min(max(score, 0.01), 0.99)
    return f"{score:.2f}"


def _heading(result: CaseResult, width: int, style: Style, *, verbose: bool) -> Iterator[str]:
    group = group_of(result)
    word = group.value.upper() if group in {CaseGroup.FAILED, CaseGroup.ERROR} else group.value
    case_id, rest = _shown_id(result.case), "" if verbose else _rest(result)
    room = width - _GROUP_WIDTH - cell_width(case_id) - len(_GAP) * 3
    beside = room - cell_width(rest) - len(_GAP)
    is_one_line = bool(rest) and beside >= _NARROWEST_NAME
    room = beside if is_one_line else room
    name = padded(cut(printable(result.case.name), room), min(_NAME_WIDTH, room))
    cells = (style.paint(padded(word, _GROUP_WIDTH), GROUP_LOOKS[group]), name, style.paint(case_id, "quiet"))
    yield _GAP + _GAP.join([*cells, rest] if is_one_line else cells)
    if not is_one_line:
        yield from wrapped(rest, width, indent=_INDENT, hanging="")


def _shown_id(case: Case) -> str:
    if case.trace_id is None:
        return cut(printable(case.id), _ID_WIDTH)
    # Ids of another form than OpenTelemetry's may all begin alike.
    is_long = len(case.trace_id) == _TRACE_ID_LENGTH
    shown = cut(printable(case.trace_id[:_ID_SHOWN] if is_long else case.trace_id), _ID_WIDTH)
    if case.span_id is None or case.id == case.trace_id:
        return shown
    return f"{shown}:{printable(case.span_id)[:_ID_SHOWN]}"


def _rest(result: CaseResult) -> str:
    """Say what came of the evaluators that have no line of their own: scores where they tell something, else counts."""
    others = [item for item in result.results if not needs_a_look(item)]
    scored = [item for item in others if item.score is not None and item.severity is Severity.FAIL]
    telling = scored if len(result.results) <= _MOST_SCORES else [item for item in scored if item.score != 1]
    shown = telling[:_MOST_SCORES]
    is_clean = [item.severity is Severity.WARN and item.score is not None for item in others]
    counts = Counter("clean" if clean else item.outcome.value for item, clean in zip(others, is_clean, strict=True))
    counts.subtract(item.outcome.value for item in shown)
    parts = [f"{cut(printable(item.evaluator), 20)} {score_text(item.score or 0)}" for item in shown]
    return ", ".join([*parts, *(f"{counts[what]} {what}" for what in _COUNTED if counts[what])])


def _finding(item: EvaluationResult, *, verbose: bool) -> str:
    name = printable(item.evaluator)
    took = f" [{duration_text(item.duration_ms)}]" if verbose and item.duration_ms >= 1 else ""
    if item.failure is not None:
        return f"{name} {_failure_text(item.failure)}{took}"
    if item.evaluation is None:
        return f"{name} skipped: {printable(item.reason or 'it does not apply')}{took}"
    score, threshold = item.evaluation.score, item.threshold
    what = item.outcome.value
    if item.severity is Severity.WARN:
        what = "warns" if item.warns else "clean"
    # That a look at the trace found something, which is 0 of 1, or nothing, needs no number.
    number = "" if score in {0, 1} and threshold in {None, 1} else f" {score_text(score)}"
    needed = (
        f" of {threshold:.4g} needed" if item.outcome is Outcome.FAILED and threshold is not None and number else ""
    )
    return f"{name} {what}{number}{needed}: {printable(item.evaluation.reasoning, keep=_NEWLINE)}{took}"


def _failure_text(failure: Failure) -> str:
    kind = f"{failure.kind.value}, {failure.type}" if failure.type else failure.kind.value
    return f"could not judge ({printable(kind)}): {printable(failure.message, keep=_NEWLINE)}"


def _reason(text: str, width: int, *, verbose: bool) -> Iterator[str]:
    return wrapped(text, width, indent=_INDENT, most=None if verbose else _MOST_LINES)
