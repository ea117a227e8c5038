"""Cases from traces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from checked_traces import TRACE_ID, agent, llm, says
from told_calls import alone, answered

from pixie_otel.evals.cases import trace_cases
from pixie_otel.evals.evaluation import FailureKind
from pixie_otel.evals.expectations import Expectations
from pixie_otel.evaluable import UNSET
from pixie_otel.traces.conversation import Conversation
from pixie_otel.traces.report import Problem
from pixie_otel.traces.selectors import last_llm_call, parse_selector, root
from pixie_otel.traces.trace import Trace

if TYPE_CHECKING:
    from pathlib import Path


def run() -> Trace:
    """Make a trace of an agent with two calls."""
    spans = [
        agent(input="q", output="a", session_id="s"),
        llm("00000000000000b0", says("1")),
        llm("00000000000000b1", says("2")),
    ]
    return Trace.from_spans(spans)


def test_a_case_of_a_root() -> None:
    """It is named by its trace alone, and says where it comes from."""
    trace = run()
    trace.add_problem(Problem("odd", "it is odd", "memory"))
    (case,) = trace_cases(trace, parse_selector("root"))

    assert (case.id, case.name, case.trace_id, case.span_id) == (TRACE_ID, "answer", TRACE_ID, agent().span_id)
    assert (case.evaluable, case.trace, case.session_id) == (root(trace), trace, "s")
    assert case.start_time_unix_nano == agent().start_time_unix_nano
    assert case.problems[0].kind == "odd"
    assert case.failure is None


def test_the_session_is_the_traces_where_the_span_has_none() -> None:
    """A call belongs to the session of its run."""
    (case,) = trace_cases(run(), parse_selector("last_llm_call"))

    assert (case.id, case.session_id, case.evaluable) == (TRACE_ID, "s", last_llm_call(run()))


def test_several_cases_of_one_trace() -> None:
    """Each is named by trace and span; where span ids are not unique, by a number too."""
    double = llm("00000000000000b1", says("2"), end_time_unix_nano=1_700_000_009_000_000_000)
    trace = Trace.from_spans([*run().spans, double])

    assert [case.id for case in trace_cases(trace, parse_selector("llm_calls"))] == [
        f"{TRACE_ID}:00000000000000b0",
        f"{TRACE_ID}:00000000000000b1",
        f"{TRACE_ID}:00000000000000b1#2",
    ]


def test_nothing_selected_is_a_failure_of_observation() -> None:
    """The case is there, without an evaluable, and says what the trace holds."""
    (case,) = trace_cases(run(), parse_selector("kind:tool"))

    assert (case.id, case.name, case.evaluable) == (TRACE_ID, "answer", None)
    assert case.failure is not None
    assert case.failure.kind is FailureKind.OBSERVATION
    assert "it holds 3 spans (1 agent, 2 llm)" in case.failure.message


def test_nothing_selected_is_explained() -> None:
    """Where that is asked for, the failure says which part of the selector left nothing."""
    (case,) = trace_cases(run(), parse_selector("agent:* > kind:tool"), explain=True)

    assert case.failure is not None
    assert case.failure.message == (
        "agent:* > kind:tool matches nothing: agent:*: 1 of 3; > kind:tool: none of 2; the kinds are 2 llm"
    )


def test_cases_of_a_conversation(tmp_path: Path) -> None:
    """The whole is named by its first trace, and expected by the id of any; a part by the trace that it is of."""
    rows = tmp_path / "expectations.jsonl"
    rows.write_text(json.dumps({"trace_id": f"{2:032x}", "expectation": "d"}) + "\n", encoding="utf-8")
    whole = Conversation([alone(1, ["a"], "b"), alone(2, ["a", answered("b"), "c"], "d")])
    (case,) = trace_cases(whole, parse_selector("root"), Expectations(rows))
    parts = trace_cases(whole, parse_selector("llm_calls"))

    assert case.evaluable is not None
    assert (case.id, case.evaluable.expectation) == (f"{1:032x}", "d")
    assert [(part.id, part.trace_id) for part in parts] == [
        (f"{number:032x}:{number:016x}", f"{number:032x}") for number in (1, 2)
    ]


def test_problems_of_a_conversation() -> None:
    """The whole rests on all of them, a part on those of its own trace and of the conversation as such."""
    parts = [alone(1, ["a"], "b"), alone(2, ["c"], "d")]
    for number, part in enumerate(parts, 1):
        part.add_problem(Problem("orphan-span", f"in {number}", "memory", trace_id=part.trace_id))
    whole = Conversation(parts, problems=[Problem("bad-line", "of all", "memory")])

    def told(text: str) -> list[set[str]]:
        wanted = {"in 1", "in 2", "of all"}
        return [wanted & {item.message for item in case.problems} for case in trace_cases(whole, parse_selector(text))]

    assert told("root") == told("tool:*") == [{"in 1", "in 2", "of all"}]
    assert told("llm_calls")[1:] == told("last_llm_call") == [{"in 2", "of all"}]


def test_expectations_of_a_conversation(tmp_path: Path) -> None:
    """A part has the row of its own trace first, then that of another trace, and of its input last."""
    rows = tmp_path / "expectations.jsonl"
    given = [{"trace_id": f"{number:032x}", "expectation": f"of {number}"} for number in (1, 2)]
    given.append({"input": [{"role": "user", "content": "e"}], "expectation": "of the input"})
    rows.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    expectations = Expectations(rows)
    whole = Conversation([alone(1, ["a"], "b"), alone(2, ["c"], "d"), alone(3, ["e"], "f")])

    for text, expected in {
        "root": ["of 1"],
        "nth(2) kind:llm": ["of 2"],
        "last_llm_call": ["of 1"],
        "llm_calls": ["of 1", "of 2", "of 1"],
    }.items():
        cases = trace_cases(whole, parse_selector(text), expectations)
        assert [case.evaluable and case.evaluable.expectation for case in cases] == expected
    (apart,) = trace_cases(alone(3, ["e"], "f"), parse_selector("last_llm_call"), expectations)
    assert apart.evaluable is not None
    assert apart.evaluable.expectation == "of the input"


def test_expectations(tmp_path: Path) -> None:
    """What the user expects of a trace or an input is put on its case, and on no other."""
    rows = tmp_path / "expectations.jsonl"
    rows.write_text(json.dumps({"input": "q", "expectation": "a"}) + "\n", encoding="utf-8")
    expectations = Expectations(rows)

    (judged,) = trace_cases(run(), parse_selector("root"), expectations)
    (other,) = trace_cases(run(), parse_selector("last_llm_call"), expectations)

    assert judged.evaluable is not None
    assert other.evaluable is not None
    assert (judged.evaluable.expectation, other.evaluable.expectation) == ("a", UNSET)


def test_an_empty_trace() -> None:
    """Even a trace without spans makes a case that says so."""
    (case,) = trace_cases(Trace("t", []), parse_selector("root"))

    assert (case.id, case.trace_id, case.span_id) == ("t", "t", None)
    assert case.failure is not None
    assert "empty trace" in case.failure.message


def test_what_a_case_rests_on_is_examined() -> None:
    """The run rests on all of its trace, a call on itself, and both on what was retrieved."""
    trace = run()

    def kinds(selector: str) -> list[set[str]]:
        return [{problem.kind for problem in case.problems} for case in trace_cases(trace, parse_selector(selector))]

    assert kinds("root") == [{"missing-input", "no-tokens"}]
    assert kinds("llm_calls") == kinds("root") * 2
    (case,) = trace_cases(trace, parse_selector("last_llm_call"))
    assert {problem.span_id for problem in case.problems if problem.kind == "no-tokens"} == {"00000000000000b1"}
    assert trace.problems == Trace.from_spans(trace.spans).problems
