"""What was wrong with the input."""

from __future__ import annotations

from pixie_otel.reports.problem_lines import problem_lines, problems_of_files, problems_of_run
from pixie_otel.reports.style import Style
from pixie_otel.runs.manifest import Problems
from pixie_otel.runs.records import ProblemRecord
from pixie_otel.runs.verdict import UNFINISHED
from pixie_otel.runs.writer import RunWriter
from pixie_otel.traces.report import Problem, ReadReport


def lines(problems: Problems, *, verbose: bool = False) -> list[str]:
    """Write problems without colours."""
    return list(problem_lines(problems, 60, Style(), verbose=verbose))


def reading(*problems: Problem, most: int = 2) -> ReadReport:
    """Make the account of a reading."""
    report = ReadReport(max_problems_per_kind=most)
    for problem in problems:
        report.add(problem)
    return report


def test_nothing_is_said_of_nothing() -> None:
    """Where nothing was wrong, there is no line."""
    assert lines(Problems()) == []


def test_each_kind_has_a_count_and_an_example() -> None:
    """A kind of what is wrong with files is told with how many there were, and one of them; verbose, all kept."""
    torn = [Problem("bad-line", f"torn \x1b {number}", "a.jsonl", number) for number in (3, 5, 8)]
    orphan = Problem("orphan-span", "its parent is missing", "a.jsonl", trace_id="4bf92f3577b34da6")
    problems = problems_of_files(reading(*torn, orphan))

    assert lines(problems) == [
        "",
        "Problems with the input",
        "  3 bad-line, such as",
        r"    a.jsonl:3: torn \x1b 3",
    ]
    assert lines(problems, verbose=True)[2:6] == [
        "  3 bad-line, such as",
        r"    a.jsonl:3: torn \x1b 3",
        r"    a.jsonl:5: torn \x1b 5",
        "    … and 1 more, counted and not kept",
    ]


def test_the_counts_of_a_run_are_those_of_its_reading() -> None:
    """A run keeps some problems of each kind, and its reading's account knows how many there were."""
    report = reading(*(Problem("bad-line", "torn", "a.jsonl", number) for number in range(9)))
    expected = Problem("unmatched-expectation", "fits no case", "expected.csv", 2)
    with RunWriter(None) as writer:
        run = writer.finish(UNFINISHED, reading=report.to_json(), problems=[*report.problems, expected])

    problems = problems_of_run(run)

    assert problems.counts == {"bad-line": 9, "unmatched-expectation": 1}
    assert len(problems.kept) == 3


def test_a_problem_of_a_trace_names_it() -> None:
    """Where no line is known, the trace's id tells what it is about."""
    record = ProblemRecord("orphan-span", "its parent is missing", "a.jsonl", trace_id="4bf92f3577b34da6")

    assert lines(Problems({"orphan-span": 1}, [record]))[-1] == "    a.jsonl (trace 4bf92f35): its parent is missing"
