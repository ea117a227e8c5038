"""Genkit: values as version 1.42 for JavaScript writes them."""

from __future__ import annotations

import json

import pytest
from observed import event, observed, observed_call

from pixie_otel.evaluable import Document, ToolCall
from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    ReasoningContent,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
)
from pixie_otel.traces.spans import EmbeddingSpan, ObservationKind, RetrieverSpan, ToolSpan

MODEL = {"genkit:type": "action", "genkit:metadata:subtype": "model", "genkit:name": "openai/gpt-4o-mini"}
ASKED = {"role": "user", "content": [{"text": "What's the weather in Paris?"}]}
REQUESTED = {"toolRequest": {"name": "get_weather", "ref": "call_abc123", "input": {"city": "Paris"}}}
TOLD = {"toolResponse": {"name": "get_weather", "ref": "call_abc123", "output": {"temp_c": 18}}}
TOOLS = [{"name": "get_weather", "description": "Get the weather.", "inputSchema": {"type": "object"}}]
RAW = {
    "id": "chatcmpl-4",
    "model": "gpt-4o-mini",
    "choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": None}}],
    "usage": {"prompt_tokens": 60, "completion_tokens": 17, "total_tokens": 77},
}


def model_call(request: object, response: object = None, **attributes: str) -> dict[str, str]:
    """Give the attributes of a model's action."""
    found = {**MODEL, "genkit:input": json.dumps(request), "genkit:state": "success", **attributes}
    return found if response is None else {**found, "genkit:output": json.dumps(response)}


def test_a_call() -> None:
    """Request and response are recorded whole: messages, settings, tools, the end, the tokens."""
    system = {"role": "system", "content": [{"text": "Be brief."}]}
    config = {"temperature": 0.2, "maxOutputTokens": 100, "topP": 0.9}
    request = {"messages": [system, ASKED], "config": config, "tools": TOOLS, "output": {"format": "text"}}
    response = {
        "finishReason": "stop",
        "message": {"role": "model", "content": [REQUESTED]},
        "usage": {"inputTokens": 60, "outputTokens": 17, "totalTokens": 77},
        "raw": RAW,
    }
    span = observed_call(model_call(request, response))

    assert span.input_messages == (
        SystemMessage(content=(TextContent("Be brief."),)),
        UserMessage(content=(TextContent("What's the weather in Paris?"),)),
    )
    assert span.output_messages == (
        AssistantMessage(tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "call_abc123"),)),
    )
    assert (span.provider, span.request_model, span.response_id) == ("openai", "gpt-4o-mini", "chatcmpl-4")
    assert (span.request_temperature, span.request_max_tokens, span.request_top_p) == (0.2, 100, 0.9)
    assert (span.input_tokens, span.output_tokens, span.finish_reasons) == (60, 17, ("tool_calls",))
    assert [tool.name for tool in span.tool_definitions] == ["get_weather"]
    assert (span.output_type, span.dialects) == ("text", ("genkit",))


def test_a_conversation_with_tools() -> None:
    """Parts have no type; what they are, their key says."""
    history = [
        ASKED,
        {"role": "model", "content": [{"reasoning": "Hmm."}, REQUESTED]},
        {"role": "tool", "content": [TOLD]},
        {"role": "user", "content": [{"media": {"url": "data:image/png;base64,aGk=", "contentType": "image/png"}}]},
    ]
    span = observed_call(model_call({"messages": history}))

    assert span.input_messages[1:] == (
        AssistantMessage(
            content=(ReasoningContent("Hmm."),),
            tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "call_abc123"),),
        ),
        ToolResultMessage(content=(TextContent('{"temp_c":18}'),), name="get_weather", tool_call_id="call_abc123"),
        UserMessage(content=(ImageContent("data:image/png;base64,aGk=", "image/png"),)),
    )


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ({"role": "model", "content": [{"data": {"city": "Paris"}}]}, '{"city":"Paris"}'),
        ({"role": "model", "content": [{"text": "Paris."}]}, "Paris."),
    ],
)
def test_answers(message: object, answer: str) -> None:
    """An answer that was asked for as JSON is recorded decoded."""
    span = observed_call(model_call({"messages": [ASKED]}, {"message": message, "finishReason": "blocked"}))

    assert (span.output, span.finish_reasons) == (answer, ("content_filter",))


def test_candidates_of_older_versions() -> None:
    """An answer among candidates, as before version 1."""
    candidate = {"index": 0, "finishReason": "stop", "message": {"role": "model", "content": [{"text": "Paris."}]}}
    span = observed_call(model_call({"messages": [ASKED]}, {"candidates": [candidate]}))

    assert (span.output, span.finish_reasons) == ("Paris.", ("stop",))


def test_tokens_of_google() -> None:
    """Thoughts are counted apart, cached tokens among the input."""
    usage = {"inputTokens": 60, "outputTokens": 17, "thoughtsTokens": 4, "cachedContentTokens": 20, "totalTokens": 81}
    span = observed_call(model_call({"messages": [ASKED]}, {"usage": usage}))

    assert (span.input_tokens, span.output_tokens, span.reasoning_tokens, span.cache_read_tokens) == (60, 21, 4, 20)


def test_a_failed_call() -> None:
    """Its state says so, the exception why."""
    told = event("exception", {"exception.type": "400", "exception.message": "The model is broken"})
    span = observed_call({**model_call({"messages": [ASKED]}), "genkit:state": "error"}, told)

    assert span.error is not None
    assert (span.error.message, span.error.type) == ("The model is broken", "400")


def test_flows_and_helpers() -> None:
    """A flow has plain values; the helper around a call is no call, and its input is a conversation."""
    flow = observed(
        {
            "genkit:type": "action",
            "genkit:metadata:subtype": "flow",
            "genkit:name": "answer",
            "genkit:input": '"What is the capital of France?"',
            "genkit:output": '"Paris."',
            "genkit:metadata:sessionId": "s-1",
            "genkit:metadata:userId": "ada",
        }
    )
    helper = observed(
        {
            "genkit:type": "util",
            "genkit:name": "generate",
            "genkit:input": json.dumps({"model": "m", "messages": [ASKED]}),
            "genkit:output": json.dumps({"message": {"role": "model", "content": [{"text": "Sunny."}]}}),
        }
    )

    assert (flow.kind, flow.input, flow.output) == (ObservationKind.CHAIN, "What is the capital of France?", "Paris.")
    assert (flow.session_id, flow.user_id, flow.metadata) == ("s-1", "ada", {"sessionId": "s-1", "userId": "ada"})
    assert helper.kind is ObservationKind.CHAIN
    assert (helper.input, helper.output) == (
        [{"role": "user", "content": "What's the weather in Paris?"}],
        "Sunny.",
    )


def test_a_tool() -> None:
    """A run of a tool."""
    span = observed(
        {
            "genkit:type": "action",
            "genkit:metadata:subtype": "tool",
            "genkit:name": "get_weather",
            "genkit:input": '{"city":"Paris"}',
            "genkit:output": '{"temp_c":18}',
        }
    )

    assert isinstance(span, ToolSpan)
    assert (span.tool_name, span.arguments, span.result) == ("get_weather", {"city": "Paris"}, {"temp_c": 18})


def test_a_retriever() -> None:
    """A question and documents, each with parts of text."""
    found = [{"content": [{"text": "Refunds take 14 days."}], "metadata": {"id": "doc-1"}}]
    span = observed(
        {
            "genkit:metadata:subtype": "retriever",
            "genkit:input": '{"query":{"content":[{"text":"refunds?"}]}}',
            "genkit:output": json.dumps({"documents": found}),
        }
    )

    assert isinstance(span, RetrieverSpan)
    assert (span.query, span.input) == ("refunds?", "refunds?")
    assert span.documents == (Document("Refunds take 14 days.", metadata={"id": "doc-1"}),)


@pytest.mark.parametrize("given", ['{"input":[{"content":[{"text":"refunds"}]}]}', '{"input":"refunds"}'])
def test_an_embedder(given: str) -> None:
    """The texts are documents as well."""
    span = observed(
        {
            "genkit:metadata:subtype": "embedder",
            "genkit:name": "openai/text-embedding-3-small",
            "genkit:input": given,
        }
    )

    assert isinstance(span, EmbeddingSpan)
    assert (span.texts, span.model, span.provider) == (("refunds",), "text-embedding-3-small", "openai")


def test_a_span_with_nothing_of_it() -> None:
    """A state alone says nothing."""
    assert observed({"genkit:state": "success"}).dialects == ()
