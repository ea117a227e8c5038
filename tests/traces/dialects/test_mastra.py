"""Mastra: values as its exporter and its bridge write them."""

from __future__ import annotations

import json

import pytest
from observed import START, observed, observed_call

from pixie_otel.evaluable import Document, ToolCall
from pixie_otel.traces.messages import AssistantMessage, ReasoningContent, TextContent
from pixie_otel.traces.spans import AgentSpan, EmbeddingSpan, ObservationKind, RetrieverSpan, ToolSpan

QUESTION = "What's the weather in Paris?"
METADATA = {
    "mastra.metadata.runId": "732cdb6c",
    "mastra.metadata.sessionId": "session-ada-42",
    "mastra.metadata.userId": "ada",
}
STEP = {
    **METADATA,
    "gen_ai.operation.name": "model_step",
    "mastra.span.type": "model_step",
    "mastra.model_step.input": json.dumps(
        [{"role": "system", "content": "You are a weather bot."}, {"role": "user", "content": QUESTION}]
    ),
    "mastra.metadata.modelMetadata": '{"modelId":"gpt-4o-mini","modelVersion":"v2","modelProvider":"openai.chat"}',
}
GENERATION = {
    "gen_ai.operation.name": "chat",
    "mastra.span.type": "model_generation",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.usage.input_tokens": 155,
    "gen_ai.usage.output_tokens": 29,
    "gen_ai.response.finish_reasons": '["stop"]',
}
BODY = {
    "id": "chatcmpl-3",
    "model": "gpt-4o-mini",
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": None}}],
    "usage": {"prompt_tokens": 60, "completion_tokens": 17, "total_tokens": 77},
}


def test_a_step_is_a_call() -> None:
    """What the model was given and answered stands on the step, tokens and end in the provider's response."""
    output = {
        "text": "",
        "toolCalls": [{"toolCallId": "call_abc123", "toolName": "get_weather", "args": {"city": "Paris"}}],
    }
    span = observed_call(
        {**STEP, "mastra.model_step.output": json.dumps(output), "mastra.metadata.body": json.dumps(BODY)}
    )

    assert [item.text for item in span.input_messages] == ["You are a weather bot.", QUESTION]
    assert span.output_messages == (
        AssistantMessage(tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "call_abc123"),)),
    )
    assert (span.provider, span.request_model, span.operation) == ("openai.chat", "gpt-4o-mini", "chat")
    assert (span.input_tokens, span.output_tokens, span.finish_reasons) == (60, 17, ("tool_calls",))
    assert (span.session_id, span.user_id, span.response_id) == ("session-ada-42", "ada", "chatcmpl-3")
    assert span.metadata == {"runId": "732cdb6c", "sessionId": "session-ada-42", "userId": "ada"}
    assert span.dialects == ("mastra", "gen_ai")


def test_a_step_that_streams() -> None:
    """Without a response in one piece the step has messages, and neither tokens nor an end."""
    output = '{"text": "Sunny.", "reasoning": "Hmm.", "toolCalls": []}'
    span = observed_call({**STEP, "mastra.model_step.output": output})

    assert span.output_messages == (AssistantMessage(content=(ReasoningContent("Hmm."), TextContent("Sunny."))),)
    assert (span.input_tokens, span.finish_reasons) == (None, ())


@pytest.mark.parametrize("given", [{"body": '{"messages": [{"role": "user", "content": "Hi"}]}'}, {"messages": "Hi"}])
def test_a_step_with_the_request(given: object) -> None:
    """Some versions record the provider's request in place of the messages."""
    span = observed_call({**STEP, "mastra.model_step.input": json.dumps(given), "mastra.model_step.output": "Hello"})

    assert [item.text for item in span.input_messages] == ["Hi"]
    assert span.output == "Hello"


def test_a_step_without_an_answer() -> None:
    """Nothing answered is nothing recorded, not the empty record of it."""
    span = observed_call({**STEP, "mastra.model_step.output": '{"text": "", "toolCalls": []}'})

    assert (span.output, span.output_messages) == (None, ())


def test_a_generation() -> None:
    """The span around the steps is read by OpenTelemetry's keys, and says when the first token came."""
    started = "2023-11-14T22:13:20.250Z"
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "Sunny."}]}]
    span = observed_call(
        {**GENERATION, "gen_ai.output.messages": json.dumps(answer), "mastra.completion_start_time": started}
    )

    assert (span.input_tokens, span.output_tokens, span.output, span.error) == (155, 29, "Sunny.", None)
    assert span.start_time_unix_nano == START
    assert span.time_to_first_token_ms == pytest.approx(250)


@pytest.mark.parametrize("moment", ["now", "2023-11-14T22:13:20", "2001-01-01T00:00:00Z"])
def test_a_moment_that_says_nothing(moment: str) -> None:
    """A time without a zone, before the start, or none at all, is left alone."""
    assert observed_call({**GENERATION, "mastra.completion_start_time": moment}).time_to_first_token_ms is None


def test_a_generation_that_ends_in_tool_calls() -> None:
    """The exporter leaves the calls out and writes an empty text; it must not stand in the way of the step's answer."""
    empty = [{"role": "assistant", "parts": [{"type": "text", "content": ""}]}]
    span = observed_call({**GENERATION, "gen_ai.output.messages": json.dumps(empty)})

    assert span.output_messages == ()


def test_a_generation_that_failed() -> None:
    """Its status is fine, and only its finish reason tells."""
    span = observed_call({**GENERATION, "gen_ai.response.finish_reasons": '["error"]'})

    assert span.error is not None
    assert span.finish_reasons == ("error",)


def test_an_agent() -> None:
    """What an agent was asked, and the text of what it answered."""
    span = observed(
        {
            **METADATA,
            "gen_ai.operation.name": "invoke_agent",
            "mastra.span.type": "agent_run",
            "mastra.agent_run.input": QUESTION,
            "mastra.agent_run.output": '{"text":"It is sunny.","files":[]}',
            "gen_ai.agent.id": "weather",
            "gen_ai.agent.name": "weather",
            "gen_ai.conversation.id": "thread-1",
        }
    )

    assert isinstance(span, AgentSpan)
    assert (span.input, span.output, span.agent_name) == (QUESTION, "It is sunny.", "weather")
    assert span.session_id == "session-ada-42"


@pytest.mark.parametrize(
    ("given", "question"),
    [
        ('[{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]', [{"role": "user", "content": "Hi"}]),
        ('{"messages": [{"role": "user", "content": "Hi"}]}', [{"role": "user", "content": "Hi"}]),
        ('{"odd": 1}', {"odd": 1}),
    ],
)
def test_what_an_agent_is_asked(given: str, question: object) -> None:
    """A conversation is read as messages."""
    assert observed({"mastra.span.type": "agent_run", "mastra.agent_run.input": given}).input == question


@pytest.mark.parametrize(
    ("output", "answer"), [('{"text": "", "object": {"a": 1}}', {"a": 1}), ('{"odd": 1}', {"odd": 1}), ("text", "text")]
)
def test_what_an_agent_answers(output: str, answer: object) -> None:
    """An object where there is no text; what is neither stays as it is."""
    assert observed({"mastra.span.type": "agent_run", "mastra.agent_run.output": output}).output == answer


def test_workflows_and_pieces() -> None:
    """Workflows and their steps are chains; the pieces of a model's answer are no calls."""
    run = observed(
        {
            "gen_ai.operation.name": "invoke_workflow",
            "mastra.span.type": "workflow_run",
            "mastra.workflow_run.input": '{"q":"Hi"}',
            "mastra.workflow_run.output": '{"a":"Hello"}',
        }
    )

    assert (run.kind, run.input, run.output) == (ObservationKind.CHAIN, {"q": "Hi"}, {"a": "Hello"})
    for piece in ("model_inference", "model_chunk"):
        span = observed({"gen_ai.operation.name": piece, "mastra.span.type": piece, f"mastra.{piece}.output": "{}"})
        assert span.kind is ObservationKind.OTHER


def test_tools_searches_and_embeddings() -> None:
    """Tools have OpenTelemetry's keys, searches and embeddings Mastra's."""
    tool = observed(
        {
            "gen_ai.operation.name": "execute_tool",
            "mastra.span.type": "tool_call",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.arguments": '{"city":"Paris"}',
            "gen_ai.tool.call.result": '{"temp_c":18}',
        }
    )
    search = observed(
        {
            "mastra.span.type": "rag_vector_operation",
            "mastra.rag_vector_operation.input": '{"query": "refunds"}',
            "mastra.rag_vector_operation.output": '[{"id": "d1", "score": 0.9, "text": "14 days."}]',
        }
    )
    embedding = observed({"mastra.span.type": "rag_embedding", "mastra.rag_embedding.input": "refunds"})

    assert isinstance(tool, ToolSpan)
    assert (tool.tool_name, tool.arguments, tool.result) == ("get_weather", {"city": "Paris"}, {"temp_c": 18})
    assert isinstance(search, RetrieverSpan)
    assert (search.query, search.documents) == ("refunds", (Document("14 days.", id="d1", score=0.9),))
    assert isinstance(embedding, EmbeddingSpan)
    assert embedding.texts == ("refunds",)


def test_spans_that_do_not_say_what_they_are() -> None:
    """Without a type nothing is read."""
    assert "mastra" not in observed({"mastra.tags": "[]"}).dialects
