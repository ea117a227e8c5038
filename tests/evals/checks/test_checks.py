"""The trace checks together, on any trace."""

from __future__ import annotations

from checked_traces import agent, judge, llm, says, tool
from hypothesis import given, settings
from hypothesis import strategies as st

from pixie_otel.errors import SkipEvaluation
from pixie_otel.evals.evaluation import Evaluation
from pixie_otel.evals.evaluators.checks import DEFAULT_CHECKS, TraceCheck
from pixie_otel.evaluable import JsonValue, ToolCall, canonical_json
from pixie_otel.traces.messages import ToolResultMessage, UserMessage
from pixie_otel.traces.spans import ObserveSpan, SpanError, ToolDefinition

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(["search", "fetch", "", "execute_tool fetch", "a\nb\x1c\u2028c" * 100]) | st.text(max_size=5)
ids = st.none() | st.sampled_from(["1", "2", "3"])
errors = st.none() | st.builds(SpanError, st.text(max_size=5))
calls = st.builds(ToolCall, names, json_values, ids)
definitions = st.builds(
    ToolDefinition,
    names,
    parameters=st.none()
    | st.dictionaries(st.sampled_from(["type", "properties", "required", "items", "$ref", "pattern"]), json_values),
)
answers = st.builds(
    says, st.text(max_size=4), finish_reason=st.none() | st.sampled_from(["stop", "length", "\x00"])
) | st.lists(calls, max_size=3).map(lambda found: says("", *found))
inputs = st.lists(st.builds(ToolResultMessage, tool_call_id=ids) | st.builds(UserMessage), max_size=3).map(tuple)
span_ids = st.integers(1, 99).map(lambda number: f"{number:02x}")
llm_spans = st.builds(
    llm,
    span_ids,
    answers,
    input_messages=inputs,
    output=json_values,
    error=errors,
    tool_definitions=st.lists(definitions, max_size=2).map(tuple),
    attributes=st.dictionaries(st.text(max_size=4), json_values),
)
tool_spans = st.builds(tool, span_ids, names, arguments=json_values, tool_call_id=ids, error=errors)
roots = st.builds(agent, input=json_values, output=json_values, error=errors)
traces = st.tuples(roots, st.lists(llm_spans | tool_spans, max_size=5, unique_by=lambda span: span.span_id)).map(
    lambda parts: [parts[0], *parts[1]]
)


def verdict(check: TraceCheck, spans: list[ObserveSpan], output: JsonValue = None) -> Evaluation | str:
    """Judge a trace, or give the reason why the check does not apply to it."""
    try:
        return judge(check, *spans, output=output)
    except SkipEvaluation as reason:
        return str(reason)


@settings(deadline=None)  # the first one loads jsonschema
@given(st.sampled_from(DEFAULT_CHECKS), traces, json_values)
def test_any_trace_is_judged_or_skipped(check: type[TraceCheck], spans: list[ObserveSpan], output: JsonValue) -> None:
    """Whatever a trace holds, a check finds something, finds nothing or does not apply, and says which as JSON."""
    evaluation = verdict(check(), spans, output)
    if isinstance(evaluation, str):
        assert evaluation
        return
    assert evaluation.score in {0.0, 1.0}
    assert len(evaluation.reasoning.splitlines()) == 1
    assert len(evaluation.reasoning) < 1500
    assert canonical_json(evaluation.details)
    assert ("findings" in evaluation.details) is (evaluation.score == 0.0)


@settings(deadline=None)  # the first one loads jsonschema
@given(st.sampled_from(DEFAULT_CHECKS), traces, st.randoms(use_true_random=False))
def test_the_order_of_spans_does_not_matter(check: type[TraceCheck], spans: list[ObserveSpan], random: object) -> None:
    """The same spans in another order are the same trace, and are judged the same."""
    shuffled = sorted(spans, key=lambda _: random.random())  # type: ignore[attr-defined]  # it is a random generator

    assert verdict(check(), spans) == verdict(check(), shuffled)
