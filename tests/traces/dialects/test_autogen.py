"""AutoGen."""

from __future__ import annotations

import json

import pytest
from observed import log
from observed import observed as observed_anywhere

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.spans import AgentSpan, ObserveSpan, Scope, SpanEvent

AGENT: dict[str, JsonValue] = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.system": "autogen",
    "gen_ai.agent.name": "assistant",
}
SCOPE = Scope(name="autogen-core")
ASKED = [{"content": "Be brief.", "role": "system"}, {"role": "user", "name": "user", "content": "Hi"}]


def observed(attributes: dict[str, JsonValue], *events: SpanEvent) -> ObserveSpan:
    """Read a span of AutoGen's."""
    return observed_anywhere(attributes, *events, scope=SCOPE)


def test_the_event_log() -> None:
    """An agent was asked what its first call of a model was, and answered what its last one did."""
    answers = [
        {"choices": [{"finish_reason": "tool_calls", "message": {"content": None, "tool_calls": []}}]},
        {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Hello"}}]},
    ]
    calls = [{"tools": [], "type": "LLMCall", "messages": ASKED, "response": answer} for answer in answers]
    tool = {"type": "ToolCall", "tool_name": "f", "arguments": {}, "result": "LLM"}
    span = observed(AGENT, *(log("", json.dumps(body)) for body in (calls[0], tool, calls[1])))

    assert isinstance(span, AgentSpan)
    assert (span.agent_name, span.output) == ("assistant", "Hello")
    assert [item.text for item in span.input_messages] == ["Be brief.", "Hi"]


def test_a_stream() -> None:
    """A stream's beginning has the messages, its end the answer."""
    start = {"type": "LLMStreamStart", "messages": ASKED, "agent_id": None}
    end = {"type": "LLMStreamEnd", "response": {"finish_reason": "stop", "content": "Hello", "usage": {}}}
    span = observed(AGENT, log("", json.dumps(start)), log("", json.dumps(end)))

    assert isinstance(span, AgentSpan)
    assert (len(span.input_messages), span.output) == (2, "Hello")


@pytest.mark.parametrize("body", [None, 1, "", "{", '{"type": "LLMCall"}', '{"type": "LLMCall", "response": [1]}'])
def test_any_record(body: JsonValue) -> None:
    """What is no event of a call costs only itself."""
    assert observed(AGENT, log("", body)).output is None
