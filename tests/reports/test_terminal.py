"""The report of a run for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from case_results import case_result, case_results, result
from hypothesis import given, settings
from hypothesis import strategies as st

from pixie_otel.evals.case import Case, CaseResult
from pixie_otel.evals.evaluation import Failure, FailureKind
from pixie_otel.reports.case_board import CaseBoard
from pixie_otel.reports.layout import cell_width
from pixie_otel.reports.style import Style
from pixie_otel.reports.terminal import ReportView, run_report, verdict_line
from pixie_otel.runs.manifest import InputFile, RunStatus
from pixie_otel.runs.run import Run
from pixie_otel.runs.verdict import Verdict, decide
from pixie_otel.runs.writer import RunWriter
from pixie_otel.traces.report import Problem


def a_run(
    *cases: CaseResult,
    verdict: Verdict | None = None,
    counts: dict[str, int] | None = None,
    problems: Sequence[Problem] = (),
    status: RunStatus = RunStatus.FINISHED,
) -> Run:
    """Make a run of some judged cases, as if they came from traces."""
    with RunWriter(None, inputs=[InputFile(path="traces.jsonl", size=1), InputFile(path="<stdin>")]) as writer:
        for case in cases:
            writer.write(case)
        return writer.finish(
            verdict or decide(writer.summary),
            status=status,
            counts=counts or {"read": len(cases), "judged": len(cases)},
            reading={"problem_counts": {}},
            problems=problems,
        )


def report(run: Run, view: ReportView | None = None, limit: int = 20) -> list[str]:
    """Write a report."""
    board = CaseBoard(limit)
    for case in run:
        board.add(case)
    return list(run_report(run, board, view or ReportView()))


def test_a_report() -> None:
    """It gives the verdict first, then traces, evaluators, cases, problems, and where everything is."""
    cases = [
        case_result("a", "passed", "measured", "skipped"),
        case_result("b", "failed", "measured", "error", start=1),
        case_result("c", "passed", "measured", "skipped", start=2),
    ]
    problem = Problem("bad-line", "it is no JSON", "traces.jsonl", 7)

    lines = report(a_run(*cases, counts={"read": 5, "judged": 3, "filtered": 2}, problems=[problem]))

    assert re.fullmatch(r"Results: .*\d{8}-\d{6}-\w{6}", lines[-1])
    assert lines[:-1] == [
        "FAILED: 2 of 3 judged cases passed, 100 % needed; 1 of 3 cases had errors",
        "",
        "5 traces in 1 file: 3 judged, 2 left out by the filter.",
        "",
        "Evaluator  Scored  Mean  Passed  Failed  Warned  Errors  Skipped",
        "E0            3/3  0.67       2       1       -       -        -",
        "E1            3/3  0.50       -       -       -       -        -",
        "E2            0/3     -       -       -       -       1        2",
        "Scored of 3 cases; mean of those scored; a warning fails no case.",
        "",
        "Not judged, by reason",
        "  1x E2, evaluator: it broke",
        "",
        "Cases",
        "  ERROR     case b                b  E1 0.50",
        "            E0 failed 0.00 of 0.5 needed: because",
        "            E2 could not judge (evaluator, RuntimeError): it broke",
        "  passed    case a                a  E0 1.00, E1 0.50, 1 skipped",
        "  passed    case c                c  E0 1.00, E1 0.50, 1 skipped",
        "",
        "Problems with the input",
        "  1 bad-line",
        "    traces.jsonl:7: it is no JSON",
        "",
    ]


def test_says_how_many_cases_rest_on_something_wrong() -> None:
    """With the kinds, those that most cases rest on first."""
    kinds = [("content-off",), ("content-off", "no-tokens"), ("doubled-call",)]
    cases = [
        CaseResult(Case(str(n), "case", None, problems=tuple(Problem(kind, "it is", "a") for kind in found)), ())
        for n, found in enumerate(kinds)
    ]
    lines = report(a_run(*cases), ReportView(width=200))

    assert (
        "2 cases rest on traces with something missing or wrong: content-off x2, no-tokens x1. "
        "'pixie-otel doctor PATH' tells what to change."
    ) in lines
    assert "            ! content-off: it is" in report(a_run(*cases), ReportView(verbose=True))


def test_many_cases_are_cut() -> None:
    """Of each group, as many as the board keeps are shown, and the rest is counted."""
    lines = report(a_run(*(case_result(f"{n}", "failed") for n in range(5))), limit=2)

    assert len([line for line in lines if line.startswith("  FAILED")]) == 2
    assert "  … and 3 more failed; all are in results.jsonl" in lines


def test_a_verbose_report_has_all() -> None:
    """Verbose, every case and every reason is shown, whatever the board keeps."""
    lines = report(a_run(*(case_result(f"{n}", "failed") for n in range(5))), ReportView(verbose=True), limit=2)

    assert len([line for line in lines if line.startswith("  FAILED")]) == 5


def test_reasons_that_are_many_are_cut() -> None:
    """Five reasons why cases could not be judged are shown, the rest is counted."""
    cases = [CaseResult(case_result(f"{n}").case, (result("error", message=f"reason {n}"),)) for n in range(8)]

    assert "  … and 3 more" in report(a_run(*cases))
    assert "  … and 3 more" not in report(a_run(*cases), ReportView(verbose=True))


def test_a_trace_may_be_several_cases() -> None:
    """Where traces give several cases each, both numbers are told."""
    lines = report(a_run(case_result("a", "passed"), case_result("b", "passed"), counts={"read": 1, "judged": 1}))

    assert "1 trace in 1 file: all judged as 2 cases." in lines


def test_a_run_that_was_interrupted_counts_what_was_done() -> None:
    """Of a run that did not come to its end, nothing says that all was judged."""
    lines = report(a_run(case_result("a", "passed"), counts={"read": 2, "judged": 2}, status=RunStatus.INTERRUPTED))

    assert "2 traces in 1 file until then: 1 case judged." in lines


def test_a_case_that_could_not_be_made_has_no_evaluator() -> None:
    """The reason of a case without an evaluable names no evaluator."""
    failure = Failure(FailureKind.OBSERVATION, "no LLM call")

    assert "  1x observation: no LLM call" in report(a_run(case_result("a", failure=failure)))


@pytest.mark.parametrize(
    ("code", "text", "painted"),
    [
        (0, "PASSED: all", "\x1b[1;32mPASSED\x1b[0m: all"),
        (1, "FAILED: some", "\x1b[1;31mFAILED\x1b[0m: some"),
        (4, "INCOMPLETE: some", "\x1b[1;33mINCOMPLETE\x1b[0m: some"),
    ],
)
def test_the_verdict_has_the_colour_of_its_code(code: int, text: str, painted: str) -> None:
    """Green is good, red is bad, yellow is neither."""
    run = a_run(case_result("a", "passed"), verdict=Verdict(code, text))

    assert verdict_line(run, Style(color=True)) == painted
    assert report(run, ReportView(style=Style(color=True)))[0] == painted
    assert verdict_line(run, Style()) == text


def test_colours_change_nothing_else() -> None:
    """Without its escape sequences, a coloured report is the plain one."""
    run = a_run(case_result("a", "failed"), case_result("b", "error"), problems=[Problem("kind", "text", "file")])

    colored = report(run, ReportView(style=Style(color=True)))

    assert [re.sub(r"\x1b\[[\d;]*m", "", line) for line in colored] == report(run)
    assert colored != report(run)


@settings(max_examples=40)
@given(st.lists(case_results, max_size=3, unique_by=lambda case: case.case.id), st.integers(80, 120), st.booleans())
def test_any_run_fits(cases: list[CaseResult], width: int, verbose: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Whatever a run holds, every line of its report but the path is printable and fits."""
    run = a_run(*cases)

    for line in report(run, ReportView(width, verbose=verbose)):
        assert "\n" not in line
        assert "\x1b" not in line
        assert cell_width(line) <= width or line == f"Results: {run.path}"


def test_a_path_is_made_printable(tmp_path: Path) -> None:
    """A folder's name cannot steer the terminal either."""
    with RunWriter(tmp_path / "a\x1b[31mb") as writer:
        run = writer.finish(decide(writer.summary))

    assert report(run)[-1].startswith(f"Results: {tmp_path}/a\\x1b[31mb/")
