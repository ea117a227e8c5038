"""The Vercel AI SDK: values as versions 3 to 7 write them."""

from __future__ import annotations

import json

import pytest
from observed import event, observed, observed_call

from pixie_otel.evaluable import Document, JsonValue, ToolCall
from pixie_otel.traces.messages import (
    AssistantMessage,
    SystemMessage,
    TextContent,
    UserMessage,
)
from pixie_otel.traces.spans import AgentSpan, EmbeddingSpan, LLMSpan, ObservationKind, RetrieverSpan, ToolSpan

QUESTION = "What's the weather in Paris?"
ASKED = {"role": "user", "content": [{"type": "text", "text": QUESTION}]}
TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the weather.",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
}
CALL: dict[str, JsonValue] = {
    "operation.name": "ai.generateText.doGenerate weather",
    "ai.operationId": "ai.generateText.doGenerate",
    "ai.telemetry.functionId": "weather",
    "ai.model.provider": "openai.chat",
    "ai.model.id": "gpt-4o-mini",
    "ai.settings.maxOutputTokens": 100,
    "ai.settings.temperature": 0.2,
    "ai.settings.topP": 0.9,
    "ai.telemetry.metadata.sessionId": "session-ada-42",
    "ai.telemetry.metadata.userId": "ada",
    "ai.prompt.messages": json.dumps([{"role": "system", "content": "Be brief."}, ASKED]),
    "ai.prompt.tools": [json.dumps(TOOL)],
    "gen_ai.system": "openai.chat",
    "gen_ai.request.model": "gpt-4o-mini",
}
TOOL_CALL = ToolCall("get_weather", {"city": "Paris"}, "call_abc123")


def test_a_call_that_asks_for_a_tool() -> None:
    """The inner span is the call: messages, parameters, tools, tokens, session."""
    span = observed_call(
        {
            **CALL,
            "ai.response.finishReason": "tool-calls",
            "ai.response.text": "",
            "ai.response.toolCalls": json.dumps(
                [{"toolCallId": "call_abc123", "toolName": "get_weather", "input": '{"city": "Paris"}'}]
            ),
            "ai.response.id": "chatcmpl-1",
            "ai.response.model": "gpt-4o-mini-2024",
            "ai.response.msToFirstChunk": 24.5,
            "ai.usage.inputTokens": 60,
            "ai.usage.outputTokens": 17,
            "ai.usage.cachedInputTokens": 10,
            "ai.usage.reasoningTokens": 2,
        }
    )

    assert span.input_messages == (
        SystemMessage(content=(TextContent("Be brief."),)),
        UserMessage(content=(TextContent(QUESTION),)),
    )
    assert span.output_messages == (AssistantMessage(tool_calls=(TOOL_CALL,)),)
    assert (span.provider, span.request_model, span.response_model) == (
        "openai.chat",
        "gpt-4o-mini",
        "gpt-4o-mini-2024",
    )
    assert (span.request_temperature, span.request_max_tokens, span.request_top_p) == (0.2, 100, 0.9)
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens, span.reasoning_tokens) == (60, 17, 10, 2)
    assert (span.finish_reasons, span.raw_finish_reasons) == (("tool_calls",), ("tool-calls",))
    assert (span.session_id, span.user_id) == ("session-ada-42", "ada")
    assert span.metadata == {"sessionId": "session-ada-42", "userId": "ada"}
    assert (span.response_id, span.time_to_first_token_ms, span.operation) == ("chatcmpl-1", 24.5, "chat")
    assert [tool.name for tool in span.tool_definitions] == ["get_weather"]
    assert span.dialects[0] == "vercel"


def test_the_call_of_the_sdk_is_no_call_of_a_model() -> None:
    """The outer span holds sums and the last answer: it is a step around the calls, with a text for a prompt."""
    span = observed(
        {
            "ai.operationId": "ai.generateText",
            "ai.model.id": "gpt-4o-mini",
            "ai.prompt": json.dumps({"prompt": QUESTION}),
            "ai.response.text": "It is sunny.",
            "ai.response.toolCalls": json.dumps([{"toolCallId": "c", "toolName": "get_weather", "input": {}}]),
            "ai.usage.inputTokens": 155,
            "ai.usage.outputTokens": 29,
            "ai.settings.context.sessionId": "s-7",
        }
    )

    assert not isinstance(span, LLMSpan)
    assert span.kind is ObservationKind.CHAIN
    assert (span.input, span.output, span.session_id) == (QUESTION, "It is sunny.", "s-7")


@pytest.mark.parametrize(
    ("prompt", "given"),
    [
        (
            {"system": "Be brief.", "prompt": "Hi"},
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        ),
        ({"messages": [{"role": "user", "content": "Hi"}]}, [{"role": "user", "content": "Hi"}]),
        (
            {"system": {"role": "system", "content": "Be brief."}, "messages": [{"role": "user", "content": "Hi"}]},
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        ),
        ({"odd": 1}, {"odd": 1}),
        ("just text", "just text"),
    ],
)
def test_what_the_sdk_was_called_with(prompt: object, given: object) -> None:
    """A conversation reads as it does on the calls."""
    attributes = {
        "ai.operationId": "ai.streamText",
        "ai.prompt": prompt if isinstance(prompt, str) else json.dumps(prompt),
    }

    assert observed(attributes).input == given


def test_an_object() -> None:
    """A structured answer is text on the call, and the object on the span around it."""
    made = '{"city": "Paris", "country": "France"}'
    call = observed_call({**CALL, "ai.operationId": "ai.generateObject.doGenerate", "ai.response.object": made})
    around = observed({"ai.operationId": "ai.generateObject", "ai.response.object": made})

    assert (call.output, call.output_type) == (made, "json")
    assert around.output == {"city": "Paris", "country": "France"}


def test_an_answer_of_tool_calls_alone() -> None:
    """Where nothing runs the tools, the calls are what the SDK gives back."""
    calls = json.dumps([{"toolCallId": "call_abc123", "toolName": "get_weather", "input": {"city": "Paris"}}])
    span = observed({"ai.operationId": "ai.generateText", "ai.response.toolCalls": calls})

    assert span.output == {
        "content": "",
        "tool_calls": [{"id": "call_abc123", "name": "get_weather", "arguments": {"city": "Paris"}}],
    }


def test_a_tool() -> None:
    """A run of a tool: name, id, arguments, result."""
    span = observed(
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "get_weather",
            "ai.toolCall.id": "call_abc123",
            "ai.toolCall.args": '{"city":"Paris"}',
            "ai.toolCall.result": '{"temp_c":18}',
        }
    )

    assert isinstance(span, ToolSpan)
    assert (span.tool_name, span.tool_call_id) == ("get_weather", "call_abc123")
    assert (span.arguments, span.result) == ({"city": "Paris"}, {"temp_c": 18})


def test_embeddings() -> None:
    """The inner span is the embedding, with its texts and tokens; the outer one is around it."""
    inner = observed(
        {
            "ai.operationId": "ai.embedMany.doEmbed",
            "ai.model.id": "text-embedding-3-small",
            "ai.values": ['"refund policy"', '"late delivery"'],
            "ai.embeddings": ["[0.1,0.2]", "[0.3,0.4]"],
            "ai.usage.tokens": 14,
        }
    )
    outer = observed({"ai.operationId": "ai.embed", "ai.value": '"refund policy"', "ai.embedding": "[0.1,0.2]"})

    assert isinstance(inner, EmbeddingSpan)
    assert (inner.texts, inner.input_tokens, inner.model) == (
        ("refund policy", "late delivery"),
        14,
        "text-embedding-3-small",
    )
    assert inner.output == [[0.1, 0.2], [0.3, 0.4]]
    assert (outer.kind, outer.input, outer.output) == (ObservationKind.CHAIN, "refund policy", [0.1, 0.2])


def test_a_ranking() -> None:
    """A reranking names its documents by their place in what it was given."""
    span = observed(
        {
            "ai.operationId": "ai.rerank.doRerank",
            "ai.documents": ['"Shipping."', '{"id": "d2", "text": "Refunds."}', '{"odd": 1}', "3"],
            "ai.ranking": [
                '{"index": 1, "relevanceScore": 0.9}',
                '{"index": 0, "relevanceScore": 0.1}',
                '{"index": 2}',
                '{"index": 3}',
                '{"index": 9}',
                '{"index": "x"}',
            ],
        }
    )

    assert isinstance(span, RetrieverSpan)
    assert span.documents == (
        Document("Refunds.", id="d2", score=0.9),
        Document("Shipping.", score=0.1),
        Document('{"odd":1}'),
        Document("3"),
    )


@pytest.mark.parametrize(
    ("provider", "tokens"),
    [
        ({"usage": {"cache_read_input_tokens": 1000, "cache_creation_input_tokens": 200}}, (1205, 1000, 200)),
        ({"cacheReadInputTokens": 1000, "cacheCreationInputTokens": 200}, (1205, 1000, 200)),
        ({"usage": {"cost": 0.5}}, (5, None, None)),
    ],
)
def test_cached_tokens_of_anthropic(provider: dict[str, object], tokens: tuple[int, int | None, int | None]) -> None:
    """Until version 6 Anthropic's input tokens are without the cached ones, which only the provider's part says."""
    attributes: dict[str, JsonValue] = {
        **CALL,
        "ai.usage.promptTokens": 5,
        "ai.usage.completionTokens": 7,
        "ai.response.providerMetadata": json.dumps({"anthropic": provider, "other": 3}),
    }
    span = observed_call(attributes)
    later = observed_call({**attributes, "ai.usage.inputTokenDetails.noCacheTokens": 5})

    assert (span.input_tokens, span.cache_read_tokens, span.cache_creation_tokens) == tokens
    assert later.input_tokens == 5


def test_the_cost_that_a_gateway_says() -> None:
    """Vercel's gateway and OpenRouter say what a call cost."""
    span = observed_call({**CALL, "ai.response.providerMetadata": '{"gateway": {"cost": "0.0045"}}'})

    assert span.cost == 0.0045


def test_what_version_3_wrote() -> None:
    """Results have other names in the earliest versions."""
    span = observed_call(
        {
            "ai.prompt.messages": json.dumps([ASKED]),
            "ai.result.text": "Sunny.",
            "ai.finishReason": "stop",
            "ai.settings.maxTokens": 7,
            "ai.usage.promptTokens": 5,
            "ai.usage.completionTokens": 2,
            "ai.stream.msToFirstChunk": 11.5,
        }
    )

    assert (span.output, span.finish_reasons, span.request_max_tokens) == ("Sunny.", ("stop",), 7)
    assert (span.input_tokens, span.output_tokens, span.time_to_first_token_ms) == (5, 2, 11.5)


def test_what_sentry_makes_of_it() -> None:
    """Sentry puts a word before the names that it does not rename."""
    span = observed_call(
        {
            "vercel.ai.operationId": "ai.streamText.doStream",
            "vercel.ai.settings.temperature": 0.5,
            "gen_ai.request.messages": json.dumps([ASKED]),
            "gen_ai.response.text": "Sunny.",
        }
    )

    assert (span.request_temperature, span.output) == (0.5, "Sunny.")
    assert [item.text for item in span.input_messages] == [QUESTION]


def test_openinference_on_top() -> None:
    """Its processor says what a span is; the original messages are read, since its own lose who said what."""
    span = observed(
        {
            "ai.operationId": "ai.generateText",
            "ai.prompt": json.dumps({"prompt": QUESTION}),
            "ai.response.text": "Sunny.",
            "input.value": json.dumps({"prompt": QUESTION}),
            "openinference.span.kind": "AGENT",
        }
    )
    call = observed_call(
        {
            **CALL,
            "ai.prompt.messages": json.dumps([ASKED]),
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": QUESTION,
            "llm.input_messages.0.message.tool_calls.0.tool_call.id": None,
        }
    )

    assert isinstance(span, AgentSpan)
    assert (span.input, span.agent_name) == (QUESTION, None)
    assert [type(item) for item in call.input_messages] == [UserMessage]


def test_version_7() -> None:
    """It writes OpenTelemetry's keys, and its own beside them on request; the first chunk has a key of its own."""
    call = observed_call(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-4o-mini",
            "gen_ai.client.operation.time_to_first_chunk": 0.25,
            "ai.usage.outputTokenDetails.reasoningTokens": 2,
            "ai.settings.context.user_id": "ada",
        }
    )
    embedding = observed(
        {"gen_ai.operation.name": "embeddings", "ai.value": '"refund policy"', "ai.usage.tokens": 7}, event("x")
    )

    assert (call.reasoning_tokens, call.user_id, call.time_to_first_token_ms) == (2, "ada", 250)
    assert isinstance(embedding, EmbeddingSpan)
    assert (embedding.texts, embedding.input_tokens) == (("refund policy",), 7)


def test_an_agent_of_version_7_lists_the_calls_of_all_its_steps() -> None:
    """What it answered in the end is the text; calls that were made before it are done."""
    called = {"type": "tool_call", "id": "c", "name": "f", "arguments": "{}"}
    message = {"role": "assistant", "parts": [{"type": "text", "content": "Sunny."}, called]}
    done = observed(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.output.messages": json.dumps([{**message, "finish_reason": "stop"}]),
        }
    )
    waiting = observed(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.output.messages": json.dumps([{**message, "finish_reason": "tool_call"}]),
        }
    )

    assert done.output == "Sunny."
    assert waiting.output == {"content": "Sunny.", "tool_calls": [{"id": "c", "name": "f", "arguments": {}}]}


def test_other_operations_and_other_owners() -> None:
    """Operations without a model's call are steps; keys of others are none of these."""
    assert observed({"ai.operationId": "ai.transcribe"}).kind is ObservationKind.CHAIN
    assert observed({"ai.operationId": "other"}).kind is ObservationKind.OTHER
    assert observed({"ai.observability.record_id": "x"}).dialects == ()
