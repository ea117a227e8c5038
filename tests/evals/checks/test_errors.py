"""The check for spans that failed."""

from __future__ import annotations

import pytest
from checked_traces import ROOT_ID, TRACE_ID, agent, judge, llm, tool

from pixie_otel.errors import ConfigError
from pixie_otel.evals.evaluators.checks import SpanErrors
from pixie_otel.traces.spans import ObserveSpan, SpanError

BOOM = SpanError("it broke", "RuntimeError")


def server(**fields: object) -> ObserveSpan:
    """Make an HTTP server's span, which records neither input nor output."""
    return ObserveSpan(trace_id=TRACE_ID, span_id=ROOT_ID, name="POST /chat", **fields)


def test_a_trace_without_errors_is_clean() -> None:
    """Nothing failed, so nothing is found."""
    assert judge(SpanErrors(), agent(input="?"), llm("01")).reasoning == "no span failed"


def test_an_error_that_reached_the_root_is_found() -> None:
    """The run is named with its error, and so is what failed within it."""
    evaluation = judge(SpanErrors(), agent(error=BOOM, input="?"), tool("02", "search", error=SpanError("down")))
    assert evaluation.score == 0.0
    assert evaluation.reasoning == (
        f"the run failed: answer (span {ROOT_ID}: RuntimeError: it broke); "
        "1 span within it failed: search (span 02: down)"
    )
    assert evaluation.details["count"] == 1
    assert evaluation.details["inner_count"] == 1


def test_an_error_that_was_dealt_with_is_told_only() -> None:
    """A run that ended well in spite of an error within it is no failure."""
    evaluation = judge(SpanErrors(), agent(input="?"), tool("02", "search", error=BOOM))
    assert evaluation.score == 1.0
    assert evaluation.reasoning == (
        "the run ended well, though 1 span within it failed: search (span 02: RuntimeError: it broke)"
    )
    assert evaluation.details["inner"] == [
        {"name": "search", "kind": "tool", "span_id": "02", "error": "RuntimeError: it broke"}
    ]


def test_any_error_counts_when_asked_for() -> None:
    """With `scope=any` errors that were dealt with count too."""
    evaluation = judge(SpanErrors(scope="any"), agent(input="?"), tool("02", "search", error=BOOM))
    assert evaluation.score == 0.0
    assert evaluation.reasoning == "1 span failed: search (span 02: RuntimeError: it broke)"


def test_below_a_root_that_recorded_nothing_the_last_observation_is_the_run() -> None:
    """An HTTP server may answer in spite of a failed agent, or after a second attempt that worked."""
    middleware = ObserveSpan(trace_id=TRACE_ID, span_id="b0", parent_span_id=ROOT_ID, name="middleware")
    failed = agent("b1", "b0", input="?", error=BOOM)
    worked = agent("b2", "b0", input="?", output="!")
    assert judge(SpanErrors(), server(), middleware, failed).score == 0.0
    assert judge(SpanErrors(), server(), middleware, failed, worked).score == 1.0
    assert judge(SpanErrors(), server(), llm("01", error=BOOM)).score == 1.0


def test_a_root_that_failed_itself_is_enough() -> None:
    """The error of the server is not told twice."""
    evaluation = judge(SpanErrors(), server(error=BOOM), agent("b1", ROOT_ID, input="?", error=BOOM))
    assert evaluation.details["count"] == 1


def test_orphans_stand_for_the_run_only_where_the_root_is_missing() -> None:
    """A span whose parent is not there counts as a root where there is no better one."""
    orphan = tool("02", "search", parent="ffff", error=BOOM)
    assert judge(SpanErrors(), orphan).score == 0.0
    assert judge(SpanErrors(), agent(input="?"), orphan).score == 1.0


def test_an_unknown_scope_is_refused() -> None:
    """The message says what can be given."""
    scope: str = "some"
    with pytest.raises(ConfigError, match=r"SpanErrors: scope='some' is none; give 'root' or 'any'"):
        SpanErrors(scope=scope)
