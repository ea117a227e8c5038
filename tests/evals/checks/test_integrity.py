"""The check of the trace itself."""

from __future__ import annotations

from checked_traces import agent, judge, llm, tool

from pixie_otel.evals.evaluators.checks import TraceIntegrity


def test_a_whole_trace_is_clean() -> None:
    """Nothing is wrong with a trace whose spans are all there."""
    assert judge(TraceIntegrity(), agent(), llm("c1")).reasoning == "the trace is whole"


def test_a_trace_with_gaps_is_found() -> None:
    """Every problem is named with its kind and its span."""
    evaluation = judge(TraceIntegrity(), agent(), tool("c2", "search", parent="ffff"))
    assert evaluation.score == 0.0
    assert evaluation.reasoning.startswith("2 problems with the trace: ")
    findings = evaluation.details["findings"]
    assert isinstance(findings, list)
    kinds = {finding["kind"]: finding["span_id"] for finding in findings if isinstance(finding, dict)}
    assert kinds["orphan-span"] == "c2"
    assert "several-roots" in kinds
