"""One trace for a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from otlp_lines import agent, chat, line, span, write

from pixie_otel.reports.layout import cell_width
from pixie_otel.reports.style import Style
from pixie_otel.reports.trace_lines import trace_lines
from pixie_otel.traces.reader import read_traces
from pixie_otel.traces.trace import Trace


def read(tmp_path: Path, *spans: dict[str, Any]) -> Trace:
    """Read one trace."""
    (trace,) = read_traces(write(tmp_path / "traces.jsonl", line(*spans)))
    return trace


def test_facts_are_those_that_are_known(tmp_path: Path) -> None:
    """The facts name session and service where recorded, and no tokens where there are none."""
    trace = read(tmp_path, agent(1, attributes={"session.id": "s1"}))

    assert list(trace_lines(trace, 120, Style()))[1] == (
        "2025-11-30 10:53:20 UTC · 10 ms · 1 span · 0 LLM calls · support-bot · session s1"
    )


def test_names_cannot_break_out(tmp_path: Path) -> None:
    """Names, inputs and services cannot steer the terminal, nor look like lines of ours."""
    evil = "a\x1b]8;;http://x\x07\u202e[bold]"
    trace = read(tmp_path, agent(1, evil, evil, name=evil, attributes={"session.id": evil}), chat(2, evil, parent=1))

    for width in (80, None):
        for shown in trace_lines(trace, width, Style()):
            assert "\x1b" not in shown
            assert "\u202e" not in shown
            assert width is None or cell_width(shown) <= width


def test_problems_are_shown_below(tmp_path: Path) -> None:
    """What is wrong with a trace stands below its tree; the first three, or all when verbose."""
    spans = [span(number, parent=number + 100, trace=1) for number in range(1, 7)]
    trace = read(tmp_path, *spans)
    found = [shown for shown in trace_lines(trace, 80, Style(), verbose=True) if shown.startswith("! ")]

    assert len(found) == len(trace.problems)
    assert any("orphan-span" in shown for shown in found)


def test_many_problems_are_cut(tmp_path: Path) -> None:
    """Three problems are shown and the rest is counted."""
    from pixie_otel.traces.report import Problem

    trace = read(tmp_path, agent(1))
    for number in range(5):
        trace.add_problem(Problem("odd", f"number {number}", "traces.jsonl"))

    shown = list(trace_lines(trace, 80, Style()))

    assert shown[-4:] == ["! odd: number 0", "! odd: number 1", "! odd: number 2", "! … and 2 more problems"]


def test_a_chain_of_any_depth_is_shown(tmp_path: Path) -> None:
    """Ten thousand spans below each other are ten thousand lines that fit."""
    trace = read(tmp_path, *(span(n, parent=n - 1 or None, start_ms=0) for n in range(1, 10_001)))

    shown = list(trace_lines(trace, 80, Style()))

    assert len(shown) == 10_002
    assert max(map(cell_width, shown)) <= 80


def test_what_does_not_count_is_shown_when_verbose(tmp_path: Path) -> None:
    """The rule stands first, then the span, what counts in its place, and why."""
    trace = read(tmp_path, agent(1), chat(2, parent=1, name="ChatOpenAI"), chat(3, parent=2, name="ChatCompletion"))
    shown = [line.strip() for line in trace_lines(trace, 120, Style(), verbose=True)]

    assert not any(line.startswith("= ") for line in trace_lines(trace, 120, Style()))
    assert " ".join(shown[shown.index(next(line for line in shown if line.startswith("= "))) :]) == (
        "= wrapper: ChatCompletion 0000000000000003 counts as ChatOpenAI 0000000000000002: one is around the other, "
        "and both recorded the same call"
    )


def test_a_sum_counts_as_nothing(tmp_path: Path) -> None:
    """There is no span in its place."""
    trace = read(tmp_path, chat(1, name="generation"), chat(2, parent=1), chat(3, "Other?", parent=1))

    (shown,) = [line for line in trace_lines(trace, None, Style(), verbose=True) if line.startswith("= ")]
    assert shown == "= sum: generation 0000000000000001 does not count: it is around several calls, and is none itself"


def test_a_call_of_another_trace_names_it(tmp_path: Path) -> None:
    """On both sides."""
    wrapper = line(chat(1, trace=1, ms=20, name="ChatOpenAI"), scope="langchain")
    inner = line(chat(2, trace=2, ms=10, name="ChatCompletion"), scope="openai")
    first, second = read_traces(write(tmp_path / "traces.jsonl", wrapper, inner))
    lines = [line for trace in (first, second) for line in trace_lines(trace, None, Style(), verbose=True)]
    shown = [line for line in lines if line.startswith(("= ", "! "))]
    why = "two instrumentations recorded the same call beside each other"

    assert shown == [
        f"= two-instrumentations: ChatCompletion {2:016x} of trace {2:032x} counts as ChatOpenAI {1:016x}: {why}",
        f"= two-instrumentations: ChatCompletion {2:016x} counts as {1:016x} of trace {1:032x}: {why}",
        f"! doubled-call: its one model call is a call of trace {1:032x}, and counts there: {why}",
    ]
    assert "1 span · 0 LLM calls · its one counts in another trace" in list(trace_lines(second, None, Style()))[1]


def test_what_does_not_count_stands_in_the_order_of_the_tree(tmp_path: Path) -> None:
    """Not in that of the ids."""
    spans = [
        made
        for first, second, start in ((4, 9, 10), (2, 8, 40))
        for made in (
            chat(first, parent=1, start_ms=start, ms=20, name=f"outer {first}"),
            chat(second, parent=first, start_ms=start + 1, ms=10, name=f"inner {second}"),
        )
    ]
    shown = trace_lines(read(tmp_path, agent(1, start_ms=0, ms=99), *spans), None, Style(), verbose=True)

    assert [line.split()[2:4] for line in shown if line.startswith("= ")] == [["inner", "9"], ["inner", "8"]]
