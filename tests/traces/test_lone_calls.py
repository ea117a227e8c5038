"""Calls of an SDK whose model spans are not there."""

from __future__ import annotations

from observed import observed

from pixie_otel.traces.messages import SystemMessage, TextContent, UserMessage
from pixie_otel.traces.spans import ObserveSpan
from pixie_otel.traces.trace import Trace

AROUND = {
    "operation.name": "ai.generateText weather",
    "ai.operationId": "ai.generateText",
    "ai.telemetry.functionId": "weather",
    "ai.model.provider": "openai.chat",
    "ai.model.id": "gpt-4o-mini",
    "ai.prompt": '{"system":"Be brief.","prompt":"What is the capital of France?"}',
    "ai.response.finishReason": "stop",
    "ai.response.text": "Paris.",
    "ai.usage.inputTokens": 14,
    "ai.usage.outputTokens": 8,
}
STEP = {
    "ai.operationId": "ai.generateText.doGenerate",
    "ai.model.id": "gpt-4o-mini",
    "ai.prompt.messages": '[{"role":"user","content":"What is the capital of France?"}]',
    "ai.response.text": "Paris.",
    "ai.usage.inputTokens": 14,
    "ai.usage.outputTokens": 8,
}


def around(span_id: str = "00000000000000a0", **changes: object) -> ObserveSpan:
    """Make the SDK's span around a call."""
    return observed({**AROUND, **changes}, span_id=span_id)


def step(span_id: str = "00000000000000b0", parent: str = "00000000000000a0") -> ObserveSpan:
    """Make the span of a model call in it."""
    return observed(STEP, span_id=span_id, parent_span_id=parent)


def ids(*spans: ObserveSpan) -> list[str]:
    """Give the last two digits of the ids of the calls."""
    return [call.span_id[-2:] for call in Trace.from_spans(spans).llm_calls]


def test_the_span_around_stands_for_the_call() -> None:
    """Where it is all that there is; what is in the tree stays what it is."""
    trace = Trace.from_spans([around()])
    (call,) = trace.llm_calls

    assert (call.model, call.input_tokens, call.output_tokens, call.finish_reasons) == ("gpt-4o-mini", 14, 8, ("stop",))
    assert call.input_messages == (
        SystemMessage(content=(TextContent("Be brief."),)),
        UserMessage(content=(TextContent("What is the capital of France?"),)),
    )
    assert call.output == "Paris."
    assert call.attributes == AROUND
    assert "none is in the input" in call.notes[-1]
    assert trace.spans[0].kind == "chain"
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (14, 8)


def test_where_its_calls_are_there_it_is_none() -> None:
    """However deep they lie."""
    assert ids(around(), step()) == ["b0"]
    between = observed({}, span_id="00000000000000c0", parent_span_id="00000000000000a0")
    assert ids(around(), between, step(parent="00000000000000c0")) == ["b0"]
    assert ids(around(), around("00000000000000a1"), step()) == ["a1", "b0"]


def test_what_failed_may_have_made_no_call() -> None:
    """A prompt that is not valid is not sent."""
    assert ids(observed(AROUND, status_message="AI_InvalidPromptError")) == []


def test_other_operations_are_no_model_calls() -> None:
    """Nor is anything else that may stand there."""
    for operation in ("ai.embed", "ai.toolCall", "ai.generateText.step", ["ai.generateText"], {"a": 1}, 7):
        assert ids(around(**{"ai.operationId": operation})) == [], operation


def test_one_within_another_counts_once() -> None:
    """The innermost is nearest to the call."""
    inner = observed(AROUND, span_id="00000000000000a1", parent_span_id="00000000000000a0")

    assert ids(around(), inner) == ["a1"]


def test_another_dialect_decides_what_the_span_is() -> None:
    """A processor that adds its own keys has said that it is no model call."""
    assert ids(around(**{"openinference.span.kind": "CHAIN"})) == []
