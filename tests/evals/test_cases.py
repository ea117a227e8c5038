"""Cases from traces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from checked_traces import TRACE_ID, agent, llm, says

from pixie_otel.evals.cases import trace_cases
from pixie_otel.evals.evaluation import FailureKind
from pixie_otel.evals.expectations import Expectations
from pixie_otel.evaluable import UNSET
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
    assert [problem.kind for problem in case.problems] == ["odd"]
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
