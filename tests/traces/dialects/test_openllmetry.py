"""OpenLLMetry, old and new."""

from __future__ import annotations

import json

import pytest
from observed import event, observed, observed_call

from pixie_otel.evaluable import Document, ToolCall
from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    OtherContent,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
)
from pixie_otel.traces.spans import AgentSpan, EmbeddingSpan, ObservationKind, RetrieverSpan, ToolSpan

CHAT = {"llm.request.type": "chat", "gen_ai.request.model": "m"}


def test_an_old_call() -> None:
    """Prompts and completions under indexed keys, tokens and reasons, tools offered."""
    span = observed_call(
        {
            **CHAT,
            "gen_ai.system": "openai",
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": "Weather?",
            "gen_ai.prompt.2.role": "assistant",
            "gen_ai.prompt.2.tool_calls.0.id": "c",
            "gen_ai.prompt.2.tool_calls.0.name": "f",
            "gen_ai.prompt.2.tool_calls.0.arguments": '{"a": 1}',
            "gen_ai.prompt.3.role": "tool",
            "gen_ai.prompt.3.content": '{"sky": "sunny"}',
            "gen_ai.prompt.3.tool_call_id": "c",
            "gen_ai.prompt.name": "greeting",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "Sunny.",
            "gen_ai.completion.0.finish_reason": "stop",
            "gen_ai.usage.prompt_tokens": 57,
            "gen_ai.usage.completion_tokens": 17,
            "llm.usage.reasoning_tokens": 4,
            "llm.request.functions.0.name": "f",
            "llm.request.functions.0.parameters": '{"type": "object"}',
            "llm.headers": "None",
            "traceloop.association.properties.session_id": "s",
            "traceloop.association.properties.user_id": "u",
        }
    )

    assert span.input_messages == (
        SystemMessage(content=(TextContent("Be brief."),)),
        UserMessage(content=(TextContent("Weather?"),)),
        AssistantMessage(tool_calls=(ToolCall("f", {"a": 1}, "c"),)),
        ToolResultMessage(content=(TextContent('{"sky": "sunny"}'),), tool_call_id="c"),
    )
    assert (span.output, span.finish_reasons) == ("Sunny.", ("stop",))
    assert (span.input_tokens, span.output_tokens, span.reasoning_tokens) == (57, 17, 4)
    assert (span.session_id, span.user_id) == ("s", "u")
    assert span.tool_definitions[0].parameters == {"type": "object"}
    assert span.dialects == ("openllmetry", "gen_ai")


def test_gaps_and_numeric_order() -> None:
    """10 comes after 9, and a gap is no end."""
    prompts = {f"gen_ai.prompt.{i}.content": str(i) for i in (10, 9, 2, 200)}

    assert [item.text for item in observed_call({**CHAT, **prompts}).input_messages] == ["2", "9", "10", "200"]


def test_after_eviction() -> None:
    """A completion is left where the type of the request is gone, and tells that it was a call."""
    assert observed({"gen_ai.completion.0.content": "x"}).kind is ObservationKind.LLM
    assert observed({"gen_ai.prompt.0.content": "x"}).kind is ObservationKind.OTHER
    assert observed({"gen_ai.prompt.name": "x", "gen_ai.prompt.version": "1"}).dialects == ("gen_ai",)


def test_content_as_a_list_of_parts() -> None:
    """Content may be JSON of typed parts; other JSON is text to the model."""
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "u"}}]
    span = observed_call(
        {
            **CHAT,
            "gen_ai.prompt.0.content": json.dumps(parts),
            "gen_ai.prompt.1.content": "[1, 2]",
            "gen_ai.prompt.2.role": "user",
        }
    )

    assert span.input_messages == (
        UserMessage(content=(TextContent("look"), ImageContent("u"))),
        UserMessage(content=(TextContent("[1, 2]"),)),
        UserMessage(),
    )


@pytest.mark.parametrize(
    "calls",
    [
        {"tool_calls.0.name": "f", "tool_calls.0.arguments": "{}"},
        {"tool_calls": '[{"name": "f", "arguments": "{}"}]'},
        {"function_call.name": "f", "function_call.arguments": "{}"},
    ],
)
def test_tool_calls(calls: dict[str, object]) -> None:
    """Calls with indexes, as JSON, and in OpenAI's first form."""
    span = observed_call({**CHAT, **{f"gen_ai.completion.0.{key}": value for key, value in calls.items()}})

    assert span.output_messages == (AssistantMessage(tool_calls=(ToolCall("f", {}),)),)


def test_refusals() -> None:
    """A refusal is kept as such."""
    span = observed_call({**CHAT, "gen_ai.completion.0.refusal": "No."})

    assert span.output_messages[0].content == (OtherContent("refusal", {"type": "refusal", "refusal": "No."}),)
    assert span.output == "No."


def test_new_calls_are_genai() -> None:
    """Later versions write OpenTelemetry's attributes, on which nothing is doubled."""
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}], "finish_reason": "tool_call"}]
    span = observed_call(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.output.messages": json.dumps(said),
            "gen_ai.completion.0.content": "Hello",
            "traceloop.workflow.name": "w",
        }
    )

    assert [item.text for item in span.output_messages] == ["Hello"]
    assert span.finish_reasons == ("tool_calls",)


def test_tools() -> None:
    """A decorated function's arguments and result, whose JSON may be in JSON."""
    tool = {"traceloop.span.kind": "tool", "traceloop.entity.name": "f"}
    span = observed(
        {
            **tool,
            "traceloop.entity.input": '{"args": [], "kwargs": {"city": "Paris"}}',
            "traceloop.entity.output": '"\\"sunny\\""',
        }
    )

    assert isinstance(span, ToolSpan)
    assert (span.tool_name, span.arguments, span.result) == ("f", {"city": "Paris"}, "sunny")
    assert observed({**tool, "gen_ai.tool.name": "g"}).tool_name == "g"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        ({"args": ["Hi"], "kwargs": {}}, "Hi"),
        ({"inputs": {"q": "Hi"}, "tags": [], "metadata": {}, "kwargs": {}}, {"q": "Hi"}),
        ({"input_str": '{"q": "Hi"}', "inputs": None, "tags": []}, {"q": "Hi"}),
        ({"inputs": {"q": 1}}, {"inputs": {"q": 1}}),
        ("Hi", "Hi"),
    ],
)
def test_what_a_workflow_was_given(recorded: object, given: object) -> None:
    """The wrapping of Python calls and of LangChain's callbacks is taken off; what is the app's own is not."""
    workflow = {"traceloop.span.kind": "workflow", "traceloop.entity.input": json.dumps(recorded)}

    assert observed(workflow).input == given


def test_what_a_workflow_gave() -> None:
    """LangChain's outputs are unwrapped likewise."""
    for recorded, output in (
        ({"outputs": {"a": 1}, "kwargs": {}}, {"a": 1}),
        ({"outputs": 1}, {"outputs": 1}),
        ("text", "text"),
    ):
        span = observed({"traceloop.span.kind": "task", "traceloop.entity.output": json.dumps(recorded)})
        assert (span.kind, span.output) == (ObservationKind.CHAIN, output)


def test_agents_and_unknown_kinds() -> None:
    """Agents have their entity's name; a kind that nobody knows is none."""
    span = observed({"traceloop.span.kind": "agent", "traceloop.entity.name": "a"})

    assert isinstance(span, AgentSpan)
    assert span.agent_name == "a"
    assert observed({"traceloop.span.kind": "unknown"}).kind is ObservationKind.OTHER


def test_embeddings() -> None:
    """Prompts of an embedding are its texts."""
    span = observed({"llm.request.type": "embedding", "gen_ai.prompt.0.content": "a", "gen_ai.prompt.1.content": "b"})

    assert isinstance(span, EmbeddingSpan)
    assert span.texts == ("a", "b")


@pytest.mark.parametrize("name", ["db.query.result", "db.search.result"])
def test_vector_databases(name: str) -> None:
    """What a vector database found is in events, with a score or a distance."""
    found = {"id": 7, "document": "a", "metadata": '{"s": "x"}', "score": 0.5}
    far = {"document": "b", "distance": 1.5}
    span = observed(
        {"db.system": "chroma"},
        *(event(name, {f"{name}.{key}": value for key, value in item.items()}) for item in (found, far)),
        event("db.query.embeddings"),
    )

    assert isinstance(span, RetrieverSpan)
    assert span.documents == (Document("a", "7", 0.5, {"s": "x"}), Document("b", metadata={"distance": 1.5}))


def test_other_databases_are_not_read() -> None:
    """A query of a database that found no documents is no retrieval."""
    assert observed({"db.system": "postgresql"}).dialects == ()


def test_parts_with_indexes() -> None:
    """Strands' oldest spans are found with their parts flattened, and answers without a role."""
    span = observed_call(
        {
            "gen_ai.system": "strands-agents",
            "gen_ai.request.model": "m",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content.0.text": "Hi ",
            "gen_ai.prompt.0.content.1.text": "there",
            "gen_ai.completion.0.text": "Hello",
        }
    )

    assert (span.input, span.output) == ([{"role": "user", "content": "Hi there"}], "Hello")


@pytest.mark.parametrize(
    ("content", "reason", "said"),
    [('""', "tool_calls", ""), ('""', "", ""), ("null", "tool_calls", ""), ("null", "stop", "null"), ("", "stop", "")],
)
def test_no_content(content: str, reason: str, said: str) -> None:
    """Instrumentations of LangChain and Mistral write as JSON that an answer has no content."""
    completion = {"gen_ai.completion.0.content": content, "gen_ai.completion.0.finish_reason": reason}
    span = observed_call({**CHAT, **completion})

    assert [item.text for item in span.output_messages] == [said]


def test_bedrocks_parts() -> None:
    """Its parts have no types, and a tool's JSON stays text."""
    span = observed_call(
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": '[{"text": "Hi"}]',
            "gen_ai.prompt.1.role": "tool",
            "gen_ai.prompt.1.content": '[{"title": "a", "content": "b"}]',
            "gen_ai.completion.0.content": '[{"text": "Hello"}]',
        }
    )

    assert [item.text for item in span.input_messages] == ["Hi", '[{"title": "a", "content": "b"}]']
    assert span.output == "Hello"


def test_milvus_results() -> None:
    """The text is a field of the entity, and a distance is no score."""
    found = {"db.search.result.id": 5, "db.search.result.distance": 0.3, "db.search.result.entity": '{"text": "D"}'}

    span = observed({"db.system": "milvus"}, event("db.search.result", found))

    assert isinstance(span, RetrieverSpan)
    assert span.documents == (Document("D", "5", None, {"text": "D", "distance": 0.3}),)


def test_what_all_calls_have() -> None:
    """A stream without tokens is a call by its own keys; its answer's id and settings stand where they always do."""
    span = observed_call(
        {
            "llm.request.type": "completion",
            "gen_ai.request.model": "claude-sonnet-4-6",
            "gen_ai.request.temperature": 0.2,
            "gen_ai.response.id": "msg_1",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Hi",
        }
    )

    assert (span.response_id, span.request_temperature) == ("msg_1", 0.2)
