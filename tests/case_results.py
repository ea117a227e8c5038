"""Judged cases for tests: made by hand, and generated."""

from __future__ import annotations

from hypothesis import strategies as st

from pixie_otel.evals.case import Case, CaseResult
from pixie_otel.evals.evaluation import Evaluation, EvaluationResult, Failure, FailureKind, Outcome, Severity
from pixie_otel.evaluable import UNSET, Document, Evaluable, JsonValue, NamedData, ToolCall
from pixie_otel.traces.report import Problem


def result(
    outcome: str, *, evaluator: str = "Exact", score: float | None = None, message: str = "", warn: bool = False
) -> EvaluationResult:
    """Make one evaluator's result that is as complete as its outcome asks for."""
    scores = {"passed": 1.0, "failed": 0.0, "measured": 0.5}
    score = scores.get(outcome) if score is None else score
    return EvaluationResult(
        evaluator=evaluator,
        outcome=Outcome(outcome),
        evaluation=None if score is None else Evaluation(score, "because"),
        threshold=0.5 if outcome in {"passed", "failed"} else None,
        severity=Severity.WARN if warn else Severity.FAIL,
        failure=Failure(FailureKind.EVALUATOR, message or "it broke", "RuntimeError") if outcome == "error" else None,
        reason="does not apply" if outcome == "skipped" else None,
    )


def case_result(case_id: str, *outcomes: str, start: int = 0, failure: Failure | None = None) -> CaseResult:
    """Make a judged case with one evaluator an outcome."""
    evaluable = Evaluable([NamedData("input", case_id)], [NamedData("output", "out")])
    case = Case(case_id, f"case {case_id}", None if failure else evaluable, start_time_unix_nano=start, failure=failure)
    return CaseResult(case, tuple(result(outcome, evaluator=f"E{i}") for i, outcome in enumerate(outcomes)))


# Not surrogates, which UTF-8 cannot hold, and no numbers that are not finite, which JSON cannot.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
finite = st.floats(allow_nan=False, allow_infinity=False)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
_objects = st.dictionaries(texts, json_values, max_size=3)
_named = st.lists(st.builds(NamedData, texts, json_values), max_size=3)
_documents = st.builds(Document, texts, st.none() | texts, st.none() | finite, st.none() | _objects)
_tool_calls = st.builds(
    ToolCall,
    name=texts,
    arguments=json_values,
    id=st.none() | texts,
    result=st.just(UNSET) | json_values,
    type=st.sampled_from(["FUNCTION", "MCP"]),
    description=st.none() | texts,
    reasoning=st.none() | texts,
)
evaluables = st.builds(
    Evaluable,
    eval_input=_named,
    eval_output=st.none() | _named,
    expectation=st.just(UNSET) | json_values,
    eval_metadata=st.none() | _objects,
    description=st.none() | texts,
    context=st.none() | st.lists(texts, max_size=3),
    expected_tools=st.none() | st.lists(_tool_calls, max_size=2),
    retrieval_context=st.none() | st.lists(_documents, max_size=2),
    tools_called=st.none() | st.lists(_tool_calls, max_size=2),
    token_cost=st.none() | finite,
    completion_time=st.none() | finite,
)
_failures = st.builds(Failure, st.sampled_from(FailureKind), texts, st.none() | texts)
_evaluations = st.builds(Evaluation, st.floats(0, 1), texts.filter(lambda text: bool(text.strip())), details=_objects)
_results = st.builds(
    EvaluationResult,
    evaluator=texts,
    outcome=st.sampled_from(Outcome),
    evaluation=st.none() | _evaluations,
    threshold=st.none() | st.floats(0, 1),
    severity=st.sampled_from(Severity),
    failure=st.none() | _failures,
    reason=st.none() | texts,
    duration_ms=finite,
)
_problems = st.builds(Problem, texts, texts, texts, st.none() | st.integers(), st.none() | texts, st.none() | texts)
_cases = st.builds(
    Case,
    id=texts,
    name=texts,
    evaluable=st.none() | evaluables,
    trace_id=st.none() | texts,
    span_id=st.none() | texts,
    session_id=st.none() | texts,
    start_time_unix_nano=st.integers(0, 2**64 - 1),
    failure=st.none() | _failures,
    problems=st.lists(_problems, max_size=2).map(tuple),
)
case_results = st.builds(CaseResult, _cases, st.lists(_results, max_size=3).map(tuple))
