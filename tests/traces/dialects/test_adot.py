"""Amazon's OpenTelemetry distribution, which takes content off the spans."""

from __future__ import annotations

import pytest
from observed import log, observed, observed_call

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.spans import AgentSpan, ToolSpan

STRANDS = "strands.telemetry.tracer"
LANGCHAIN = "opentelemetry.instrumentation.langchain"
CALL: dict[str, JsonValue] = {"gen_ai.operation.name": "chat", "gen_ai.system": "strands-agents"}


def body(given: list[JsonValue], given_back: list[JsonValue]) -> JsonValue:
    """Make the body of a record."""
    return {"input": {"messages": given}, "output": {"messages": given_back}}


def test_events_of_a_call() -> None:
    """An event's attributes are a message's content; what an assistant said before is no answer."""
    used = '[{"toolUse": {"toolUseId": "t", "name": "get_weather", "input": {}}}]'
    result = '[{"toolResult": {"toolUseId": "t", "content": [{"text": "18"}]}}]'
    given: list[JsonValue] = [
        {"role": "user", "content": {"content": '[{"text": "Weather?"}]'}},
        {"role": "tool", "content": {"content": result}},
        {"role": "system", "content": {"content": '[{"text": "Be brief."}]'}},
    ]
    given_back: list[JsonValue] = [
        {"role": "assistant", "content": {"content": used}},
        {"role": "assistant", "content": {"message": '[{"text": "18°C"}]', "finish_reason": "end_turn"}},
    ]
    span = observed_call(CALL, log(STRANDS, body(given, given_back)))

    assert [item.role for item in span.input_messages] == ["system", "user", "assistant", "tool"]
    assert (span.output, span.finish_reasons) == ("18°C", ("stop",))
    assert span.dialects[-1] == "adot"


def test_a_tool() -> None:
    """A tool's arguments and result come from its events, or from whatever attributes held them."""
    told = observed(
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"},
        log(
            STRANDS,
            body(
                [{"role": "tool", "content": {"content": '{"a": 1}', "role": "tool", "id": "t"}}],
                [{"role": "assistant", "content": {"message": '[{"text": "ok"}]', "id": "t"}}],
            ),
        ),
    )
    kept = observed(
        {"traceloop.span.kind": "tool", "traceloop.entity.name": "f"},
        log(
            LANGCHAIN,
            body(
                [{"role": "user", "content": '{"args": [], "kwargs": {"a": 1}}'}],
                [{"role": "assistant", "content": '"ok"'}],
            ),
        ),
    )

    for span in (told, kept):
        assert isinstance(span, ToolSpan)
        assert (span.arguments, span.result, span.input, span.output) == ({"a": 1}, "ok", {"a": 1}, "ok")


def test_attributes_of_a_call() -> None:
    """Texts, lists of messages and lists of parts are content too."""
    call = observed_call(
        {"openinference.span.kind": "LLM", "llm.model_name": "m"},
        log(
            "openinference.instrumentation.langchain",
            body([{"role": "user", "content": "Hi"}], [{"role": "assistant", "content": "Hello"}]),
        ),
    )
    agent = observed(
        {"gen_ai.operation.name": "invoke_agent"},
        log(
            LANGCHAIN,
            body(
                [
                    {"role": "user", "content": '[{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]'},
                    {"role": "system", "content": '[{"type": "text", "content": "Be brief."}]'},
                ],
                [{"role": "assistant", "content": '[{"role": "assistant", "content": "Hello"}]'}],
            ),
        ),
    )

    assert (call.input, call.output) == ([{"role": "user", "content": "Hi"}], "Hello")
    assert isinstance(agent, AgentSpan)
    assert agent.input == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    assert agent.output == "Hello"


def test_what_the_span_says_counts_first() -> None:
    """Content that is still on the span is not replaced."""
    parts = '[{"role": "user", "parts": [{"type": "text", "content": "On the span"}]}]'
    record = log(STRANDS, body([{"role": "user", "content": "In the record"}], []))

    assert observed_call({**CALL, "gen_ai.input.messages": parts}, record).input_messages[0].text == "On the span"


@pytest.mark.parametrize(
    "item", [None, 1, {}, {"role": 1}, {"role": "user", "content": None}, {"content": {"message": 1}}]
)
@pytest.mark.parametrize("operation", ["chat", "execute_tool", "invoke_agent"])
def test_any_item(item: JsonValue, operation: str) -> None:
    """What is no message costs only itself."""
    span = observed(
        {"gen_ai.operation.name": operation}, log(STRANDS, body([item], [item])), log(STRANDS, {"input": 1})
    )

    assert (span.input, span.output) == (None, None) or (operation, item) == (
        "execute_tool",
        {"content": {"message": 1}},
    )
