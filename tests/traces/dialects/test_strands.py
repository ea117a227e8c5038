"""Strands Agents."""

from __future__ import annotations

import json

import pytest
from observed import event, observed, observed_call

from pixie_otel.evaluable import Document, JsonValue, ToolCall
from pixie_otel.traces.messages import (
    AssistantMessage,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
)
from pixie_otel.traces.spans import AgentSpan, LLMSpan, ObservationKind, RetrieverSpan, ToolSpan

STARTED: dict[str, JsonValue] = {"gen_ai.event.start_time": "2026-11-30T22:37:40+00:00"}
NOW: dict[str, JsonValue] = {**STARTED, "gen_ai.system": "strands-agents"}
USED = '[{"toolUse": {"toolUseId": "t0", "name": "get_weather", "input": {"city": "Paris"}}}]'
RESULT = '[{"toolResult": {"toolUseId": "t0", "status": "success", "content": [{"text": "18°C"}]}}]'


def test_blocks_in_events() -> None:
    """The content of a message event is JSON text of Bedrock's blocks."""
    span = observed_call(
        {**NOW, "gen_ai.operation.name": "chat", "gen_ai.request.model": "m"},
        event("gen_ai.system.message", {"content": '[{"text": "Be brief."}]'}),
        event("gen_ai.user.message", {"content": '[{"text": "Weather?"}]'}),
        event("gen_ai.assistant.message", {"content": USED}),
        event("gen_ai.tool.message", {"content": RESULT}),
        event("gen_ai.choice", {"finish_reason": "end_turn", "message": '[{"text": "It is 18°C."}]'}),
    )

    assert span.input_messages == (
        SystemMessage(content=(TextContent("Be brief."),)),
        UserMessage(content=(TextContent("Weather?"),)),
        AssistantMessage(tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "t0"),)),
        ToolResultMessage(content=(TextContent("18°C"),), tool_call_id="t0"),
    )
    assert (span.output, span.finish_reasons) == ("It is 18°C.", ("stop",))


@pytest.mark.parametrize(
    ("blocks", "result"),
    [
        ([{"text": "Five days.\nAsk."}], "Five days.\nAsk."),
        ([{"text": '{"temp_c": 18}'}], {"temp_c": 18}),
        ([{"json": {"temp_c": 18}}], {"temp_c": 18}),
        ([{"text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"text": "a", "score": 1}], [{"text": "a", "score": 1}]),
        ([{"image": {"format": "png"}}], [{"image": {"format": "png"}}]),
        ([], []),
    ],
)
def test_a_tool(blocks: JsonValue, result: JsonValue) -> None:
    """A tool's result is what its blocks hold, whether in an event, an attribute or the details event."""
    run: dict[str, JsonValue] = {**NOW, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather"}
    text = json.dumps(blocks)
    told = observed(
        run,
        event("gen_ai.tool.message", {"role": "tool", "content": '{"city": "Paris"}', "id": "t0"}),
        event("gen_ai.choice", {"message": text, "id": "t0"}),
    )
    latest = observed({**run, "gen_ai.tool.call.arguments": '{"city": "Paris"}', "gen_ai.tool.call.result": text})

    assert [span.input for span in (told, latest)] == [{"city": "Paris"}] * 2
    assert [span.output for span in (told, latest)] == [result] * 2


def test_a_tool_in_details_only() -> None:
    """A failed tool has no result attribute, and before 1.60 none had: the details event holds call and result."""
    call = [{"role": "tool", "parts": [{"type": "tool_call", "name": "f", "id": "t0", "arguments": {"a": 1}}]}]
    back = [
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "t0", "response": [{"text": "Error: no"}]}]}
    ]
    span = observed(
        {**NOW, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.status": "error"},
        event("gen_ai.client.inference.operation.details", {"gen_ai.input.messages": json.dumps(call)}),
        event("gen_ai.client.inference.operation.details", {"gen_ai.output.messages": json.dumps(back)}),
    )

    assert isinstance(span, ToolSpan)
    assert (span.arguments, span.result) == ({"a": 1}, "Error: no")
    assert span.error is not None


def test_a_tool_that_failed() -> None:
    """Older versions say only in an attribute that a tool failed; where the status says it, that counts."""
    failed = event("gen_ai.choice", {"message": '[{"text": "Error: unknown city"}]'})
    run: dict[str, JsonValue] = {**NOW, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
    known = observed({**run, "gen_ai.tool.status": "error"}, failed, status_message="unknown city")

    assert str(observed({**run, "tool.status": "error"}, failed).error) == "Error: unknown city"
    assert str(known.error) == "unknown city"
    assert observed({**run, "tool.status": "success"}, failed).error is None


def test_the_oldest_spans() -> None:
    """Version 0.1 named no operation; prompts and answers stand whole in attributes, sums of usage on the agent."""
    spoken = f'[{{"role": "user", "content": [{{"text": "Weather?"}}]}}, {{"role": "assistant", "content": {USED}}}]'
    shared: dict[str, JsonValue] = {
        **NOW,
        "agent.name": "Strands Agent",
        "gen_ai.agent.name": "Strands Agent",
        "gen_ai.request.model": "m",
        "gen_ai.usage.prompt_tokens": 60,
        "gen_ai.usage.completion_tokens": 17,
    }
    call = observed({**shared, "gen_ai.prompt": spoken, "gen_ai.completion": USED}, name="Model invoke")
    agent = observed({**shared, "gen_ai.prompt": "Weather?", "gen_ai.completion": '"<replaced>"'}, name="Strands Agent")
    cycle = observed({**STARTED, "event_loop.cycle_id": "1", "gen_ai.prompt": spoken, "gen_ai.completion": USED})
    tool = observed(
        {
            **STARTED,
            "tool.name": "get_weather",
            "tool.id": "t0",
            "tool.parameters": '{"city": "Paris"}',
            "tool.result": '[{"text": "18"}]',
            "gen_ai.completion": '[{"text": "18"}]',
            "tool.status": "success",
        }
    )

    assert observed({**STARTED, "gen_ai.prompt": spoken}).kind is ObservationKind.OTHER
    assert isinstance(call, LLMSpan)
    assert [item.role for item in call.input_messages] == ["user", "assistant"]
    assert call.output == {
        "content": "",
        "tool_calls": [{"id": "t0", "name": "get_weather", "arguments": {"city": "Paris"}}],
    }
    assert (call.input_tokens, call.output_tokens) == (60, 17)
    assert isinstance(agent, AgentSpan)
    assert (agent.agent_name, agent.input, agent.output) == ("Strands Agent", "Weather?", None)
    assert cycle.kind is ObservationKind.CHAIN
    assert isinstance(tool, ToolSpan)
    assert (tool.tool_name, tool.tool_call_id, tool.arguments, tool.result) == (
        "get_weather",
        "t0",
        {"city": "Paris"},
        "18",
    )


def test_structured_output() -> None:
    """The span of a call for structured output has none of the others below it; its answer is JSON and a text."""
    span = observed_call(
        {"gen_ai.system": "strands-agents", "gen_ai.operation.name": "execute_structured_output"},
        event("gen_ai.user.message", {"role": "user", "content": '[{"text": "Where?"}]'}),
        event("gen_ai.choice", {"message": '{"city": "Paris", "temp_c": 18}'}),
    )

    assert (span.input, span.output) == ([{"role": "user", "content": "Where?"}], '{"city": "Paris", "temp_c": 18}')


def test_several_agents() -> None:
    """A graph or a swarm of agents is an agent."""
    span = observed(
        {**NOW, "gen_ai.operation.name": "invoke_swarm"},
        event("gen_ai.user.message", {"content": "Write a poem"}),
        event("gen_ai.choice", {"message": "Roses"}),
    )

    assert isinstance(span, AgentSpan)
    assert (span.input, span.output) == ([{"role": "user", "content": "Write a poem"}], "Roses")


def test_a_search_of_memory() -> None:
    """What was searched for and found in an agent's memory stands in events."""
    found = [{"content": "Ada likes tea", "store_name": "facts", "metadata": {"page": 1}}, {"content": "x"}, 3]
    span = observed(
        {**NOW, "gen_ai.operation.name": "memory.search", "memory.result.count": 2},
        event("memory.query", {"content": "tea?"}),
        event("memory.results", {"content": json.dumps(found)}),
    )

    assert isinstance(span, RetrieverSpan)
    assert (span.query, span.input) == ("tea?", "tea?")
    assert span.documents == (
        Document("Ada likes tea", metadata={"store_name": "facts", "page": 1}),
        Document("x"),
    )


def test_redacted_content_is_none() -> None:
    """What was replaced by a mark was not recorded."""
    call = observed_call(
        {**NOW, "gen_ai.operation.name": "chat", "gen_ai.request.model": "m"},
        event("gen_ai.user.message", {"content": "[REDACTED]"}),
        event("gen_ai.choice", {"finish_reason": "end_turn", "message": "[REDACTED]"}),
    )
    latest = observed_call(
        {**NOW, "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": "[REDACTED]"}
    )
    tool = observed(
        {**NOW, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": "[REDACTED]"},
        event("gen_ai.choice", {"message": "[REDACTED]"}),
    )

    assert (call.input_messages, call.output_messages, call.finish_reasons) == ((), (), ("stop",))
    assert latest.input_messages == ()
    assert (tool.input, tool.output) == (None, None)


@pytest.mark.parametrize("value", [None, 1, "", "[1]", [[]], {"a": 1}])
def test_any_value_under_any_key(value: JsonValue) -> None:
    """What is no prompt, answer or argument costs only itself."""
    names = ("gen_ai.prompt", "gen_ai.completion", "tool.parameters", "tool.result", "tool.status", "gen_ai.agent.name")
    for attributes in (
        {**NOW, **dict.fromkeys(names, value)},
        {**NOW, "tool.name": "f", **dict.fromkeys(names, value)},
    ):
        assert observed(attributes, event("memory.results", {"content": value})).error is None
    search: dict[str, JsonValue] = {**NOW, "gen_ai.operation.name": "memory.search"}
    assert observed(search, event("memory.results", {"content": value})).kind is ObservationKind.RETRIEVER
