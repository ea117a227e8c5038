"""LiteLLM's own two loggers."""

from __future__ import annotations

import pytest
from observed import observed, observed_call

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.messages import AssistantMessage, SystemMessage, TextContent, UserMessage
from pixie_otel.traces.spans import EmbeddingSpan, LLMSpan, ObservationKind, ToolDefinition
from pixie_otel.traces.trace import Trace

ASKED = "What's the weather in Paris?"
OLD = {
    "litellm.call_id": "4d6adfd3",
    "llm.request.type": "completion",
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.usage.input_tokens": 60,
    "gen_ai.usage.output_tokens": 17,
}
RAW = {
    "llm.openai.messages": "[{'role': 'user', 'content': \"What's the weather in Paris?\"}]",
    "llm.openai.temperature": 0.2,
    "llm.openai.extra_body": "{}",
    "llm.openai.id": "chatcmpl-000042",
    "llm.openai.choices": (
        "[{'finish_reason': 'tool_calls', 'index': 0, 'logprobs': None, 'message': {'content': None, 'refusal': None, "
        "'role': 'assistant', 'tool_calls': [{'id': 'call_abc123', 'function': {'arguments': "
        "'{\"city\": \"Paris\", \"unit\": \"celsius\"}', 'name': 'get_weather'}, 'type': 'function'}]}}]"
    ),
    "llm.openai.model": "gpt-4o-mini",
    "llm.openai.object": "chat.completion",
    "llm.openai.usage": (
        "{'completion_tokens': 17, 'prompt_tokens': 60, 'total_tokens': 77, "
        "'completion_tokens_details': {'reasoning_tokens': 4}, 'prompt_tokens_details': {'cached_tokens': 20}}"
    ),
}


def test_the_older_logger() -> None:
    """Details of the usage, the cost, who asked and the provider stand under keys of LiteLLM's own."""
    span = observed_call(
        {
            **OLD,
            "gen_ai.system": "",
            "gen_ai.cost.total_cost": 1.77e-05,
            "litellm.provider.model": "openai/gpt-4o-mini",
            "llm.user": "ada",
            "metadata.requester_metadata": "{'session_id': 'session-ada-42'}",
            "metadata.usage_object": RAW["llm.openai.usage"],
        }
    )

    assert (span.cost, span.provider, span.user_id, span.session_id) == (1.77e-05, "openai", "ada", "session-ada-42")
    assert (span.cache_read_tokens, span.reasoning_tokens) == (20, 4)
    assert (span.input_tokens, span.output_tokens) == (60, 17)


def test_the_newer_logger() -> None:
    """Tools are numbered, and messages are OpenAI's."""
    span = observed_call(
        {
            "litellm.call_id": "13343cd5",
            "litellm.call_type": "acompletion",
            "litellm.cost.total": 1.77e-05,
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o-mini",
            "gen_ai.conversation.id": "session-ada-42",
            "gen_ai.tool.0.name": "get_weather",
            "gen_ai.tool.0.description": "Get the weather for a city.",
            "gen_ai.tool.0.parameters": '{"type": "object"}',
            "gen_ai.output.messages": (
                '[{"content": null, "role": "assistant", "tool_calls": [{"function": {"arguments": '
                '"{\\"city\\": \\"Paris\\"}", "name": "get_weather"}, "id": "call_abc123", "type": "function"}]}]'
            ),
        }
    )

    assert span.output_messages == (
        AssistantMessage(tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "call_abc123"),)),
    )
    assert span.tool_definitions == (ToolDefinition("get_weather", "Get the weather for a city.", {"type": "object"}),)
    assert (span.cost, span.session_id) == (1.77e-05, "session-ada-42")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("acompletion", ObservationKind.LLM),
        ("aresponses", ObservationKind.LLM),
        ("aembedding", ObservationKind.EMBEDDING),
        ("embedding", ObservationKind.EMBEDDING),
        ("arerank", ObservationKind.RERANKER),
    ],
)
def test_kinds_of_calls(said: str, kind: ObservationKind) -> None:
    """What was called counts, whatever other vocabularies on the span make of it."""
    span = observed(
        {
            "litellm.call_id": "x",
            "litellm.call_type": said,
            "langfuse.observation.type": "generation",
            "openinference.span.kind": "LLM",
        }
    )

    assert span.kind is kind


def test_embeddings() -> None:
    """The texts are the messages of the call; it is no model call that counts."""
    span = observed(
        {
            **OLD,
            "llm.request.type": "aembedding",
            "gen_ai.operation.name": "aembedding",
            "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "a b"}]}]',
        }
    )

    assert isinstance(span, EmbeddingSpan)
    assert (span.texts, span.input_tokens) == (("a b",), 60)


def test_the_providers_own_request_and_response() -> None:
    """The span within has both as Python shows them, with the ids that the outer span lacks."""
    span = observed_call(RAW)

    assert span.input_messages == (UserMessage(content=(TextContent(ASKED),)),)
    (call,) = [call for item in span.output_messages if isinstance(item, AssistantMessage) for call in item.tool_calls]
    assert (call.name, call.arguments, call.id) == ("get_weather", {"city": "Paris", "unit": "celsius"}, "call_abc123")
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens, span.reasoning_tokens) == (60, 17, 20, 4)
    assert (span.provider, span.model, span.request_temperature) == ("openai", "gpt-4o-mini", 0.2)
    assert (span.finish_reasons, span.response_id) == (("tool_calls",), "chatcmpl-000042")


def test_anthropics_own_request_and_response() -> None:
    """Anthropic's answers are blocks, its instructions stand apart."""
    span = observed_call(
        {
            "llm.anthropic.messages": "[{'role': 'user', 'content': [{'type': 'text', 'text': 'Hi'}]}]",
            "llm.anthropic.system": "[{'type': 'text', 'text': 'Be brief.'}]",
            "llm.anthropic.role": "assistant",
            "llm.anthropic.content": "[{'type': 'tool_use', 'id': 'toolu_1', 'name': 'f', 'input': {'a': 1}}]",
            "llm.anthropic.stop_reason": "tool_use",
            "llm.anthropic.usage": "{'input_tokens': 40, 'cache_read_input_tokens': 20, 'output_tokens': 17}",
        }
    )

    assert span.input_messages == (
        SystemMessage(content=(TextContent("Be brief."),)),
        UserMessage(content=(TextContent("Hi"),)),
    )
    assert span.output == {"content": "", "tool_calls": [{"id": "toolu_1", "name": "f", "arguments": {"a": 1}}]}
    assert (span.provider, span.input_tokens, span.finish_reasons) == ("anthropic", 60, ("tool_calls",))


def test_embeddings_of_a_provider_nobody_names() -> None:
    """Where LiteLLM does not know the provider yet, it writes ``None`` into the key."""
    span = observed(
        {
            "llm.None.input": "['a b', 'c d']",
            "llm.None.data": "[{'embedding': [0.1], 'index': 0}]",
            "llm.None.model": "text-embedding-3-small",
            "llm.None.usage": "{'prompt_tokens': 12, 'total_tokens': 12}",
        }
    )

    assert isinstance(span, EmbeddingSpan)
    assert (span.texts, span.model, span.input_tokens, span.provider) == (
        ("a b", "c d"),
        "text-embedding-3-small",
        12,
        None,
    )


@pytest.mark.parametrize(
    "attributes",
    [
        {"llm.openai.messages": "[<Foo>]"},
        {"llm.openai.model": "m", "llm.openai.stream": True},
        {"llm.openai.messages": "[{'role': 'user', 'content': 'Hi'}]", "llm.azure.messages": "[]"},
        {"llm.openai.messages": {}, "llm.openai.choices": 1, "llm.openai.usage": []},
        {"llm.token_count.prompt": 5},
        {"llm.openai.choices.0.text": "x"},
    ],
)
def test_no_request(attributes: dict[str, object]) -> None:
    """Keys of that form alone, or those of several providers, make no call."""
    span = observed(attributes)

    assert "litellm" not in span.dialects


def test_other_vocabularies_keep_their_keys() -> None:
    """A span that says by itself what it is is not taken for a provider's request."""
    span = observed({**RAW, "openinference.span.kind": "CHAIN"})

    assert not isinstance(span, LLMSpan)
    assert "litellm" not in span.dialects


def test_a_call_of_no_known_kind() -> None:
    """What LiteLLM calls otherwise is what the other vocabularies say."""
    span = observed({"litellm.call_id": "x", "litellm.call_type": "amoderation", "gen_ai.operation.name": "moderation"})

    assert span.kind is ObservationKind.OTHER


def test_the_two_spans_are_one_call() -> None:
    """The outer span counts, with the id of the tool call that only the inner one has."""
    said = {
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.function_call.name": "get_weather",
        "gen_ai.completion.0.function_call.arguments": '{"city": "Paris", "unit": "celsius"}',
        "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "Weather?"}]}]',
    }
    outer = observed_call({**OLD, **said}, span_id="00000000000000b0", name="litellm_request")
    inner = observed_call(RAW, span_id="00000000000000c1", parent_span_id="00000000000000b0")
    (call,) = Trace.from_spans([outer, inner]).llm_calls

    assert (call.name, call.input) == ("litellm_request", [{"role": "user", "content": "Weather?"}])
    assert call.output == {
        "content": "",
        "tool_calls": [{"id": "call_abc123", "name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}],
    }
