"""Findings as problems, of a whole trace and of one observation."""

from __future__ import annotations

from checked_traces import ROOT_ID, agent, llm, says, tool, user

from pixie_otel.traces.findings import TraceFindings, find_problems
from pixie_otel.traces.findings.found import Finding, problems_of
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import ObservationKind, RetrieverSpan
from pixie_otel.traces.trace import Trace

FIRST, SECOND = llm("00000000000000b0", says("1")), llm("00000000000000b1", says("2"))


def kinds(problems: list[Problem]) -> set[str]:
    """Give the kinds of problems."""
    return {problem.kind for problem in problems}


def test_alike_ones_are_said_once() -> None:
    """With their number; the first of those that differ; and apart where other things are to be done."""
    same = [Finding("k", span, "call", "without x") for span in (SECOND, FIRST)]
    other = Finding("k", SECOND, "call", "without y")

    assert [problem.message for problem in problems_of(same, "a")] == [
        "2 calls without x (first: 'chat' 00000000000000b0)"
    ]
    assert [problem.message for problem in problems_of([*same, other], "a")] == [
        "call 'chat' 00000000000000b0 without x; and 2 more like it"
    ]
    assert len(problems_of([*same, Finding("k", FIRST, "call", "without x", "type this")], "a")) == 2


def test_long_names_are_cut() -> None:
    """A name can be of any length."""
    (problem,) = problems_of([Finding("k", agent(name="n" * 500), "agent", "is long")], "a")

    assert problem.message == f"agent '{'n' * 80}…' {ROOT_ID} is long"


def test_problems_of_a_trace_are_those_of_its_tree_too() -> None:
    """The reader's, and what its observations do not hold."""
    trace = Trace.from_spans([agent(parent="00000000000000ff", input="?", output="!")])

    assert kinds(find_problems(trace)) == {"orphan-span", "missing-root", "no-model-calls"}


def test_an_observation_has_its_own_and_those_below_it() -> None:
    """A model call also has those of the documents that it may have been given."""
    spans = [
        agent(input="?", output="!", end_time_unix_nano=1_800_000_000_000_000_000),
        llm("00000000000000b0", says("1"), input_messages=(user("?"),), input_tokens=1),
        llm("00000000000000b1", says("2"), input_tokens=1),
        tool("00000000000000b2", "send", parent="00000000000000b1"),
        RetrieverSpan(
            trace_id=FIRST.trace_id,
            span_id="00000000000000b3",
            parent_span_id=ROOT_ID,
            name="search",
            kind=ObservationKind.RETRIEVER,
            start_time_unix_nano=FIRST.start_time_unix_nano,
            end_time_unix_nano=FIRST.end_time_unix_nano,
        ),
    ]
    found = TraceFindings(Trace.from_spans(spans))

    assert kinds(found.about(spans[1])) == {"missing-documents"}
    assert kinds(found.about(spans[2])) == {"missing-documents", "missing-input", "missing-tool-result"}
    assert kinds(found.about(spans[3])) == {"missing-tool-result"}
    assert kinds(found.about(spans[0])) == kinds(found.problems())


def test_of_a_good_trace_nothing_is_said() -> None:
    """Neither of it nor of its parts."""
    call = llm("00000000000000b0", says("1"), parent=None, input_messages=(user("?"),), input_tokens=1)
    found = TraceFindings(Trace.from_spans([call]))

    assert found.problems() == found.about(call) == []


def test_parents_may_go_round() -> None:
    """What is above an observation is looked at once."""
    one = llm("00000000000000b0", says("1"), parent="00000000000000b1")
    two = llm("00000000000000b1", says("2"), parent="00000000000000b0")
    found = TraceFindings(Trace.from_spans([one, two]))

    assert kinds(found.about(agent())) == set()
    assert found.about(one)
