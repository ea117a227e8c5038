"""Frameworks that differ from others in the names of their keys."""

from __future__ import annotations

import json

import pytest
from observed import event, observed, observed_call

from pixie_otel.evaluable import Document, JsonValue, ToolCall
from pixie_otel.traces.messages import AssistantMessage, TextContent, ToolResultMessage, UserMessage
from pixie_otel.traces.spans import AgentSpan, EmbeddingSpan, LLMSpan, ObservationKind, RetrieverSpan, ToolSpan

QUESTION = "What's the weather in Paris?"
CHAT_CONTEXT = {
    "items": [
        {"id": "item_1", "type": "message", "role": "user", "content": [QUESTION]},
        {
            "id": "item_2",
            "type": "function_call",
            "call_id": "c",
            "name": "get_weather",
            "arguments": '{"city":"Paris"}',
        },
        {"id": "item_3", "type": "function_call_output", "call_id": "c", "output": "sunny", "is_error": False},
        {"id": "item_4", "type": "agent_handoff", "new_agent_id": "b"},
    ]
}


@pytest.mark.parametrize("mark", ["lk.", "lk.pii."])
def test_a_call_of_livekit(mark: str) -> None:
    """The model's node holds the conversation, the answer and the calls; later versions mark what holds content."""
    span = observed_call(
        {
            f"{mark}chat_ctx": json.dumps(CHAT_CONTEXT),
            "lk.function_tools": ["get_weather"],
            f"{mark}response.text": "It is sunny.",
            f"{mark}response.function_calls": json.dumps([{"call_id": "d", "name": "f", "arguments": "{}"}]),
        }
    )

    assert span.input_messages == (
        UserMessage(content=(TextContent(QUESTION),)),
        AssistantMessage(tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "c"),)),
        ToolResultMessage(content=(TextContent("sunny"),), tool_call_id="c"),
    )
    assert span.output_messages == (
        AssistantMessage(content=(TextContent("It is sunny."),), tool_calls=(ToolCall("f", {}, "d"),)),
    )
    assert span.dialects == ("livekit",)


def test_turns_and_tools_of_livekit() -> None:
    """A turn is an agent's run, a tool's span has name and arguments; looking for the end of a turn is no call."""
    turn = observed({"lk.user_input": QUESTION, "lk.instructions": "Bot.", "lk.response.text": "It is sunny."})
    tool = observed(
        {
            "lk.function_tool.id": "c",
            "lk.function_tool.name": "get_weather",
            "lk.pii.function_tool.arguments": '{"city":"Paris"}',
            "lk.pii.function_tool.output": "sunny",
        }
    )
    detection = observed({"lk.chat_ctx": json.dumps(CHAT_CONTEXT), "lk.eou.probability": 0.9})

    assert isinstance(turn, AgentSpan)
    assert (turn.input, turn.output) == (QUESTION, "It is sunny.")
    assert isinstance(tool, ToolSpan)
    assert (tool.tool_name, tool.tool_call_id, tool.arguments, tool.result) == (
        "get_weather",
        "c",
        {"city": "Paris"},
        "sunny",
    )
    assert not isinstance(detection, LLMSpan)


def test_laminar() -> None:
    """Decorated functions have input and output, session, user and metadata."""
    app = observed(
        {
            "lmnr.span.type": "DEFAULT",
            "lmnr.span.input": json.dumps({"question": QUESTION}),
            "lmnr.span.output": '"It is sunny."',
            "lmnr.association.properties.session_id": "session-ada-42",
            "lmnr.association.properties.user_id": "ada",
            "lmnr.association.properties.metadata.plan": "pro",
        }
    )
    tool = observed({"lmnr.span.type": "TOOL", "lmnr.span.input": '{"city":"Paris"}', "lmnr.span.output": '{"t":18}'})

    assert (app.kind, app.input, app.output) == (ObservationKind.CHAIN, {"question": QUESTION}, "It is sunny.")
    assert (app.session_id, app.user_id, app.metadata) == ("session-ada-42", "ada", {"plan": "pro"})
    assert isinstance(tool, ToolSpan)
    assert (tool.tool_name, tool.arguments, tool.result) == ("a span", {"city": "Paris"}, {"t": 18})


def test_a_call_of_laminar() -> None:
    """What its instrumentation records are OpenTelemetry's keys, with the provider's choices for the answer."""
    choice = {
        "finish_reason": "tool_calls",
        "index": 0,
        "message": {
            "content": None,
            "role": "assistant",
            "function_call": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}],
        },
    }
    span = observed_call(
        {
            "lmnr.span.type": "LLM",
            "gen_ai.request.model": "gpt-4o-mini",
            "gen_ai.input.messages": json.dumps([{"role": "user", "content": "Hi"}]),
            "gen_ai.output.messages": json.dumps([choice]),
        }
    )
    manual = observed_call(
        {
            "lmnr.span.type": "LLM",
            "lmnr.span.input": '{"messages":[{"role":"user","content":"Hi"}]}',
            "lmnr.span.output": '"Hello"',
        }
    )

    assert span.output_messages == (
        AssistantMessage(tool_calls=(ToolCall("f", {"a": 1}, "c"),), finish_reason="tool_calls"),
    )
    assert span.finish_reasons == ("tool_calls",)
    assert ([item.text for item in manual.input_messages], manual.output) == (["Hi"], "Hello")


def test_trulens() -> None:
    """A record's root, a retrieval, a generation, and arguments under keys of their own."""
    contexts: list[JsonValue] = ["Refunds take 14 days.", "Shipping is free."]
    root = observed(
        {
            "ai.observability.span_type": "record_root",
            "ai.observability.record_root.input": "refund policy?",
            "ai.observability.record_root.output": "14 days.",
            "ai.observability.conversation_id": "s-1",
        }
    )
    search = observed(
        {
            "ai.observability.span_type": "retrieval",
            "ai.observability.call.kwargs.query": "refund policy?",
            "ai.observability.call.return": contexts,
            "ai.observability.retrieval.query_text": "refund policy?",
            "ai.observability.retrieval.retrieved_contexts": contexts,
        }
    )
    call = observed_call(
        {
            "ai.observability.span_type": "generation",
            "ai.observability.call.kwargs.messages": [json.dumps({"role": "user", "content": "Hi"})],
            "ai.observability.call.kwargs.model": "m",
            "ai.observability.call.return": "14 days.",
            "ai.observability.cost.model": "m-1",
            "ai.observability.cost.num_prompt_tokens": 5,
            "ai.observability.cost.num_completion_tokens": 2,
            "ai.observability.cost.cost": 0.25,
        }
    )

    assert (root.kind, root.input, root.output, root.session_id) == (
        ObservationKind.CHAIN,
        "refund policy?",
        "14 days.",
        "s-1",
    )
    assert isinstance(search, RetrieverSpan)
    assert (search.query, search.documents) == (
        "refund policy?",
        (Document("Refunds take 14 days."), Document("Shipping is free.")),
    )
    assert (call.output, call.request_model, call.cost) == ("14 days.", "m-1", 0.25)
    assert (call.input_tokens, call.output_tokens) == (5, 2)
    assert root.dialects == ("trulens",)


def test_a_failure_in_trulens() -> None:
    """The error stands in an attribute, and its class in the exception."""
    span = observed(
        {
            "ai.observability.span_type": "tool",
            "ai.observability.call.error": "unknown city",
            "ai.observability.call.kwargs.city": "Atlantis",
        },
        event("exception", {"exception.type": "ValueError", "exception.message": "unknown city"}),
    )

    assert isinstance(span, ToolSpan)
    assert span.arguments == {"city": "Atlantis"}
    assert span.error is not None
    assert (span.error.type, span.error.message) == ("ValueError", "unknown city")


def test_koog() -> None:
    """Nodes and subgraphs are steps with input and output."""
    node = observed({"koog.node.id": "ask", "koog.node.input": '"Hi"', "koog.node.output": '"Hello"'})
    subgraph = observed({"koog.subgraph.id": "s", "koog.subgraph.input": '"Hi"', "gen_ai.conversation.id": "run-1"})

    assert (node.kind, node.input, node.output) == (ObservationKind.CHAIN, "Hi", "Hello")
    assert (subgraph.kind, subgraph.input, subgraph.session_id) == (ObservationKind.CHAIN, "Hi", "run-1")


@pytest.mark.parametrize(
    "answer", ["It is sunny.", '["It is sunny."]', '[{"role": "assistant", "content": "It is sunny."}]']
)
def test_a_call_of_sentry(answer: str) -> None:
    """Messages, tools and answers have names that OpenTelemetry does not know; the operation is OpenTelemetry's."""
    span = observed_call(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-4o-mini",
            "gen_ai.request.messages": json.dumps([{"role": "user", "content": QUESTION}]),
            "gen_ai.request.available_tools": json.dumps([{"name": "get_weather", "type": "function"}]),
            "gen_ai.response.text": answer,
            "gen_ai.response.tool_calls": json.dumps([{"name": "f", "type": "function_call", "arguments": "{}"}]),
            "gen_ai.usage.input_tokens": 60,
            "gen_ai.usage.input_tokens.cached": 10,
            "gen_ai.usage.output_tokens": 17,
            "gen_ai.usage.output_tokens.reasoning": 2,
        }
    )

    assert [item.text for item in span.input_messages] == [QUESTION]
    assert span.output_messages == (
        AssistantMessage(content=(TextContent("It is sunny."),), tool_calls=(ToolCall("f", {}),)),
    )
    assert [tool.name for tool in span.tool_definitions] == ["get_weather"]
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens, span.reasoning_tokens) == (60, 17, 10, 2)
    assert span.dialects == ("sentry", "gen_ai")


def test_agents_tools_and_embeddings_of_sentry() -> None:
    """Messages on an agent's span do not make it a call."""
    agent = observed(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.request.messages": json.dumps([{"role": "user", "content": QUESTION}]),
            "gen_ai.response.text": "It is sunny.",
        }
    )
    tool = observed(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.input": '{"city":"Paris"}',
            "gen_ai.tool.output": '{"temp_c":18}',
        }
    )
    embedding = observed({"gen_ai.operation.name": "embeddings", "gen_ai.embeddings.input": '["a","b"]'})

    assert isinstance(agent, AgentSpan)
    assert (agent.input, agent.output) == ([{"role": "user", "content": QUESTION}], "It is sunny.")
    assert isinstance(tool, ToolSpan)
    assert (tool.tool_name, tool.arguments, tool.result) == ("get_weather", {"city": "Paris"}, {"temp_c": 18})
    assert isinstance(embedding, EmbeddingSpan)
    assert embedding.texts == ("a", "b")


def test_gemini_cli() -> None:
    """Its model calls are OpenTelemetry's; tools and agents have operations of its own, with the request for input."""
    tool = observed(
        {
            "gen_ai.operation.name": "tool_call",
            "gen_ai.tool.name": "read_file",
            "gen_ai.tool.call_id": "c",
            "gen_ai.input.messages": '{"callId":"c","name":"read_file","args":{"path":"a"}}',
            "gen_ai.output.messages": '{"llmContent":"text"}',
        }
    )
    agent = observed({"gen_ai.operation.name": "agent_call", "gen_ai.input.messages": '{"query":"Hi"}'})
    call = observed({"gen_ai.operation.name": "llm_call", "gen_ai.request.model": "gemini-2.5-pro"})

    assert isinstance(tool, ToolSpan)
    assert (tool.tool_name, tool.tool_call_id, tool.arguments, tool.result) == (
        "read_file",
        "c",
        {"path": "a"},
        {"llmContent": "text"},
    )
    assert isinstance(agent, AgentSpan)
    assert agent.input == {"query": "Hi"}
    assert isinstance(call, LLMSpan)
    assert call.dialects == ("gen_ai",)
