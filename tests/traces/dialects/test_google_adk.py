"""Google's Agent Development Kit."""

from __future__ import annotations

import json

import pytest
from observed import observed, observed_call

from pixie_otel.evaluable import JsonValue, ToolCall
from pixie_otel.traces.messages import AssistantMessage, SystemMessage, TextContent, ToolResultMessage, UserMessage
from pixie_otel.traces.spans import AgentSpan, LLMSpan, ObservationKind, Scope, ToolDefinition, ToolSpan

REQUEST = {
    "model": "gemini-2.5-flash",
    "config": {
        "http_options": {},
        "system_instruction": "You are a helpful assistant.",
        "temperature": 0.2,
        "max_output_tokens": 50,
        "tools": [
            {
                "function_declarations": [
                    {
                        "description": "Get the weather for a city.",
                        "name": "get_weather",
                        "parameters_json_schema": {"properties": {"city": {"type": "string"}}, "type": "object"},
                    }
                ]
            }
        ],
    },
    "contents": [
        {"parts": [{"text": "What's the weather in Paris?"}], "role": "user"},
        {
            "parts": [{"function_call": {"id": "call_1", "args": {"city": "Paris"}, "name": "get_weather"}}],
            "role": "model",
        },
        {
            "parts": [
                {"function_response": {"id": "call_1", "name": "get_weather", "response": {"temp_c": 18}}},
            ],
            "role": "user",
        },
    ],
}
RESPONSE = {
    "model_version": "gemini-2.5-flash-001",
    "content": {"parts": [{"text": "It is 18°C."}], "role": "model"},
    "partial": False,
    "finish_reason": "STOP",
    "usage_metadata": {
        "candidates_token_count": 8,
        "prompt_token_count": 14,
        "thoughts_token_count": 4,
        "cached_content_token_count": 6,
        "total_token_count": 26,
    },
}
CALL = {
    "gen_ai.system": "gcp.vertex.agent",
    "gen_ai.request.model": "gemini-2.5-flash",
    "gcp.vertex.agent.invocation_id": "e-1",
    "gcp.vertex.agent.session_id": "session-1",
    "gcp.vertex.agent.event_id": "1",
    "gcp.vertex.agent.llm_request": json.dumps(REQUEST),
    "gcp.vertex.agent.llm_response": json.dumps(RESPONSE),
}
TOOL: dict[str, JsonValue] = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "get_weather",
    "gen_ai.tool.description": "Get the weather for a city.",
    "gen_ai.tool.call.id": "call_1",
    "gcp.vertex.agent.llm_request": "{}",
    "gcp.vertex.agent.llm_response": "{}",
}


def test_a_call() -> None:
    """Request and response are read whole: instructions, history, tools, parameters, answer, tokens."""
    span = observed_call(CALL, name="call_llm")

    assert span.input_messages == (
        SystemMessage(content=(TextContent("You are a helpful assistant."),)),
        UserMessage(content=(TextContent("What's the weather in Paris?"),)),
        AssistantMessage(tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "call_1"),)),
        ToolResultMessage(content=(TextContent('{"temp_c":18}'),), name="get_weather", tool_call_id="call_1"),
    )
    assert span.output == "It is 18°C."
    assert (span.request_model, span.response_model) == ("gemini-2.5-flash", "gemini-2.5-flash-001")
    assert (span.input_tokens, span.output_tokens, span.reasoning_tokens, span.cache_read_tokens) == (14, 12, 4, 6)
    assert (span.request_temperature, span.request_max_tokens) == (0.2, 50)
    assert span.tool_definitions == (
        ToolDefinition(
            "get_weather",
            "Get the weather for a city.",
            {"properties": {"city": {"type": "string"}}, "type": "object"},
        ),
    )
    assert (span.finish_reasons, span.session_id) == (("stop",), "session-1")
    assert span.dialects == ("google_adk", "gen_ai")


def test_an_error_in_the_response() -> None:
    """Models that answer with an error code do not fail the span; what they say is its error."""
    failed = {"error_code": "MALFORMED_FUNCTION_CALL", "error_message": "no such function"}
    span = observed_call({**CALL, "gcp.vertex.agent.llm_response": json.dumps(failed)})
    cut = {"error_code": "MAX_TOKENS", "content": RESPONSE["content"]}

    assert str(span.error) == "MALFORMED_FUNCTION_CALL: no such function"
    assert observed_call({**CALL, "gcp.vertex.agent.llm_response": json.dumps(cut)}).error is None


def test_a_tool() -> None:
    """A tool's arguments and response are its own keys; both are written as empty where content is not captured."""
    ran = {
        **TOOL,
        "gcp.vertex.agent.tool_call_args": '{"city": "Paris"}',
        "gcp.vertex.agent.tool_response": '{"temp_c": 18, "sky": "cloudy"}',
    }
    bare = {**TOOL, "gcp.vertex.agent.tool_call_args": "{}", "gcp.vertex.agent.tool_response": "{}"}
    span, hidden = observed(ran), observed(bare)

    assert isinstance(span, ToolSpan)
    assert isinstance(hidden, ToolSpan)
    assert (span.tool_name, span.tool_call_id) == ("get_weather", "call_1")
    assert (span.arguments, span.result) == ({"city": "Paris"}, {"temp_c": 18, "sky": "cloudy"})
    assert (hidden.tool_name, hidden.arguments, hidden.result) == ("get_weather", None, None)


@pytest.mark.parametrize(
    ("response", "result"),
    [
        ({"result": "Five days.\nAsk support."}, "Five days.\nAsk support."),
        ({"result": "[1, 2]"}, [1, 2]),
        ({"result": {"a": 1}}, {"result": {"a": 1}}),
        ({"result": "x", "more": 1}, {"result": "x", "more": 1}),
        ({"result": "<not specified>"}, None),
        ("<not serializable>", None),
    ],
)
@pytest.mark.parametrize("key", ["gcp.vertex.agent.tool_response", "gen_ai.tool.call.result"])
def test_what_a_tool_returned(response: JsonValue, result: JsonValue, key: str) -> None:
    """The kit makes an object of a result that is none; with schema version 2 under the GenAI key."""
    said = response if isinstance(response, str) else json.dumps(response)
    span = observed({**TOOL, "gcp.vertex.agent.event_id": "1", key: said})

    if key.startswith("gcp") or result is not None:
        assert span.output == result


def test_the_merged_tools_are_no_tool() -> None:
    """Parallel calls have one span more, for the kit's web interface, in every schema."""
    merged: dict[str, JsonValue] = {
        **TOOL,
        "gen_ai.tool.name": "(merged tools)",
        "gcp.vertex.agent.tool_call_args": "N/A",
        "gcp.vertex.agent.tool_response": "<not serializable>",
    }
    aligned: dict[str, JsonValue] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "(merged tools)",
        "gcp.vertex.agent.event_id": "1",
    }

    assert [observed(keys).kind for keys in (merged, aligned)] == [ObservationKind.CHAIN] * 2
    assert observed(merged).output is None


def test_tools_up_to_1_0() -> None:
    """A call and its response were two spans, of which one is the run of the tool."""
    system: dict[str, JsonValue] = {"gen_ai.system": "gcp.vertex.agent"}
    called = observed(
        {**system, "gcp.vertex.agent.tool_call_args": '{"city": "Paris"}'}, name="tool_call [get_weather]"
    )
    answered = observed(
        {**system, "gcp.vertex.agent.event_id": "1", "gcp.vertex.agent.tool_response": '{"id": "1"}'},
        name="tool_response [get_weather]",
    )

    assert isinstance(called, ToolSpan)
    assert (called.tool_name, called.arguments) == ("get_weather", {"city": "Paris"})
    assert (answered.kind, answered.output) == (ObservationKind.CHAIN, {"id": "1"})


def test_spans_without_keys() -> None:
    """Spans that only group, and those of failed calls, have no key at all: their names tell, in the kit's scope."""
    scope = Scope(name="gcp.vertex.agent")
    agent = observed({}, name="agent_run [assistant]", scope=scope)
    tool = observed({}, name="execute_tool get_weather", scope=scope)

    assert isinstance(agent, AgentSpan)
    assert agent.agent_name == "assistant"
    assert isinstance(tool, ToolSpan)
    assert tool.tool_name == "get_weather"
    assert isinstance(observed({}, name="call_llm", scope=scope), LLMSpan)
    assert observed({}, name="invocation", scope=scope).kind is ObservationKind.CHAIN
    assert observed({}, name="anything", scope=scope).kind is ObservationKind.OTHER
    assert observed({}, name="call_llm").kind is ObservationKind.OTHER
    assert observed({"gcp.project": "p"}, name="call_llm").kind is ObservationKind.OTHER


def test_data_sent_to_a_live_model() -> None:
    """What was sent is contents, as in a request."""
    sent = json.dumps([{"role": "user", "parts": [{"text": "Hi"}]}])
    span = observed({"gcp.vertex.agent.data": sent, "gcp.vertex.agent.event_id": "1"})

    assert (span.kind, span.input) == (ObservationKind.CHAIN, [{"role": "user", "content": "Hi"}])
    assert observed({"gcp.vertex.agent.event_id": "1"}).input is None


@pytest.mark.parametrize(
    "value", [None, 1, "", "{", "[]", [], {"contents": 5, "config": []}, {"content": {"parts": 3}}]
)
def test_any_value_under_any_key(value: JsonValue) -> None:
    """What is no request, response or argument costs only itself."""
    keys = ("llm_request", "llm_response", "tool_call_args", "tool_response", "data", "session_id")
    for key in keys:
        span = observed({**CALL, f"gcp.vertex.agent.{key}": value})
        assert span.kind in (ObservationKind.LLM, ObservationKind.TOOL, ObservationKind.CHAIN)
