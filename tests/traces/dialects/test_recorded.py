"""What decorators and callbacks record of calls."""

from __future__ import annotations

import pytest
from case_results import json_values
from hypothesis import given

from pixie_otel.evaluable import Document, JsonValue, ToolCall
from pixie_otel.traces.dialects.reading import Reading
from pixie_otel.traces.dialects.recorded import (
    are_messages,
    read_embedding,
    read_function,
    read_given,
    read_given_back,
    says_something,
    tool_arguments,
    tool_output,
)
from pixie_otel.traces.messages import AssistantMessage, SystemMessage, TextContent, UserMessage
from pixie_otel.traces.spans import ObservationKind

HI = {"role": "user", "content": "Hi"}
HELLO = AssistantMessage(content=(TextContent("Hello"),))


@pytest.mark.parametrize(
    ("value", "are"),
    [
        (HI, True),
        ([HI, {"type": "ai", "content": "Hello"}], True),
        ([[HI]], True),
        ([{"type": "function_call", "name": "f"}, {"type": "web_search_call"}], True),
        ({"content": "x", "tool_calls": []}, True),
        ({"content": "x", "score": 1}, False),
        ({"type": "constructor", "id": ["Document"]}, False),
        ({"additional_kwargs": {}}, False),
        ([HI, 5], False),
        ([], False),
        ("Hi", False),
    ],
)
def test_messages(value: JsonValue, *, are: bool) -> None:
    """A message says who speaks, or what it is, or has nothing but what messages have."""
    assert are_messages(value) is are


@pytest.mark.parametrize(
    "value",
    [
        "Hi",
        HI,
        [HI],
        [[HI]],
        {"messages": [[HI]]},
        {"prompts": ["Hi"]},
        {"contents": "Hi", "config": {"temperature": 0}},
        {"conversation": [HI], "n": 1},
        {"args": ["m", [HI]], "kwargs": {"n": 1}},
        {"args": ["m"], "kwargs": {"history": [HI]}},
    ],
)
def test_given(value: JsonValue) -> None:
    """The messages are found in requests, lists and arguments."""
    assert read_given(value).input_messages == (UserMessage(content=(TextContent("Hi"),)),)


def test_given_without_messages() -> None:
    """Arguments that hold none give none."""
    for value in ({"question": "Hi"}, [1], None, 5, {}, ""):
        assert read_given(value).input_messages is None


def test_google_and_bedrock() -> None:
    """Their requests have instructions and parameters one level down."""
    google = read_given(
        {
            "model": "gemini",
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "config": {"system_instruction": {"parts": [{"text": "Be brief."}]}, "temperature": 0.5, "topP": 1},
        }
    )
    bedrock = read_given(
        {
            "modelId": "claude",
            "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
            "system": [{"text": "Be brief."}],
            "inferenceConfig": {"maxTokens": 5},
            "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]},
        }
    )
    said = (SystemMessage(content=(TextContent("Be brief."),)), UserMessage(content=(TextContent("Hi"),)))

    assert (google.input_messages, google.request_temperature, google.request_top_p) == (said, 0.5, 1.0)
    assert (bedrock.input_messages, bedrock.request_model, bedrock.request_max_tokens) == (said, "claude", 5)
    assert [tool.name for tool in bedrock.tool_definitions or ()] == ["f"]


@pytest.mark.parametrize(
    "value",
    [
        "Hello",
        ["Hel", "lo"],
        {"role": "assistant", "content": "Hello"},
        [{"role": "assistant", "content": "Hello"}],
        {"generations": [[{"text": "Hello", "generation_info": {"finish_reason": "stop"}}]]},
        {"generations": [{"message": {"type": "ai", "content": "Hello"}}, "no generation"]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello"}]}, "finish_reason": "STOP"}]},
        {"output": {"message": {"role": "assistant", "content": [{"text": "Hello"}]}}, "stopReason": "end_turn"},
        {"message": {"role": "assistant", "content": "Hello"}, "done_reason": "stop"},
        [{"choices": [{"delta": {"content": "Hel"}}]}, {"choices": [{"delta": {"content": "lo"}}]}],
    ],
)
def test_given_back(value: JsonValue) -> None:
    """An answer is a text, pieces of one, a message, a response, LangChain's result or a stream's chunks."""
    assert read_given_back(value).output_messages == (HELLO,)


def test_langchains_results() -> None:
    """What ended the answer, the model and the tokens stand beside the message, and in the result's own part."""
    message = {
        "type": "ai",
        "content": "Hello",
        "response_metadata": {
            "model": "claude",
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1},
            "id": "msg_1",
        },
    }
    reading = read_given_back({"generations": [[{"message": message}]]})
    assert (reading.response_model, reading.raw_finish_reasons, reading.response_id) == (
        "claude",
        ("end_turn",),
        "msg_1",
    )
    assert reading.input_tokens == 1

    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    old = read_given_back(
        {"generations": [[{"text": "Hello"}]], "llm_output": {"model_name": "m", "token_usage": usage}}
    )
    assert (old.response_model, old.input_tokens, old.output_tokens) == ("m", 3, 2)
    assert read_given_back({"generations": [[{"text": ""}]]}).output_messages is None


def test_items_of_a_response() -> None:
    """Items of one response are one answer; messages are several."""
    items = [
        {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]},
        {"type": "function_call", "id": "f", "call_id": "c", "name": "g", "arguments": "{}"},
    ]

    assert read_given_back(items).output_messages == (
        AssistantMessage(content=HELLO.content, tool_calls=(ToolCall("g", {}, "c"),)),
    )
    assert read_given_back([HI, HI]).output_messages is not None
    assert len(read_given_back([HI, HI]).output_messages or ()) == 2


@pytest.mark.parametrize("value", [None, "", [], {}, 5, [5], {"answer": 1}, [{"answer": 1}], {"choices": 5}])
def test_no_answer(value: JsonValue) -> None:
    """Anything else is no answer that could be told from the function's own result."""
    assert read_given_back(value).output_messages is None


def test_embeddings() -> None:
    """The texts are the input, or stand under one of several names."""
    for given_texts in (["a"], "a", {"input": ["a"]}, {"texts": ["a"]}, {"args": [["a"]], "kwargs": {}}):
        assert read_embedding(given_texts, None).texts == ("a",)
    assert read_embedding([1, 2], {"usage": {"prompt_tokens": 3}, "model": "m"}).input_tokens == 3
    assert read_embedding(None, None).texts is None


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        ({"a": 1}, {"a": 1}),
        ("{'a': 1}", {"a": 1}),
        ({"input": '{"a": 1}'}, {"a": 1}),
        ({"input": "{'a': 1}"}, {"a": 1}),
        ({"input": "Paris"}, {"input": "Paris"}),
        ({"input": "Paris", "n": 1}, {"input": "Paris", "n": 1}),
        ({"args": [], "kwargs": {"a": 1}}, {"a": 1}),
        ({"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}, {"a": 1}),
        ("Paris", "Paris"),
        (None, None),
    ],
)
def test_tool_arguments(value: JsonValue, arguments: JsonValue) -> None:
    """Arguments are found in a Python call, in LangChain's record of one, and in what Python shows of them."""
    assert tool_arguments(value) == arguments


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ({"a": 1}, ({"a": 1}, None)),
        ('{"a": 1}', ({"a": 1}, None)),
        ({"type": "tool", "content": '{"a": 1}', "tool_call_id": "c"}, ({"a": 1}, "c")),
        ({"lc": 1, "kwargs": {"content": "sunny", "tool_call_id": "c"}}, ("sunny", "c")),
        ("content='it\\'s {}' name='f' tool_call_id='c'", ("it's {}", "c")),
        ("content=\"a\" id='x' tool_call_id='c'", ("a", "c")),
        ("content='a' and more", ("content='a' and more", None)),
        ([{"type": "text", "text": '{"a": 1}'}], ({"a": 1}, None)),
        ("sunny", ("sunny", None)),
        (None, (None, None)),
    ],
)
def test_tool_outputs(value: JsonValue, result: tuple[JsonValue, str | None]) -> None:
    """A result is what the function returned, also where LangChain's message is around it."""
    assert tool_output(value) == result


def test_what_says_something() -> None:
    """A message without parts and calls says nothing."""
    assert not says_something(AssistantMessage())
    assert says_something(AssistantMessage(tool_calls=(ToolCall("f"),)))
    assert says_something(HELLO)


@given(json_values)
def test_any_value(value: JsonValue) -> None:
    """Nothing is raised whatever was recorded."""
    read_given(value)
    read_given_back(value)
    read_embedding(value, value)
    tool_arguments(value)
    assert len(tool_output(value)) == 2


def test_functions() -> None:
    """What a function was given and gave back is read as its kind has it."""
    tool = Reading(kind=ObservationKind.TOOL, input={"args": [], "kwargs": {"city": "Paris"}}, output='{"t": 18}')
    retriever = Reading(kind=ObservationKind.RERANKER, input={"query": "q"}, output=[{"content": "a"}])
    embedder = Reading(kind=ObservationKind.EMBEDDING, input=["a", "b"])
    chain = Reading(kind=ObservationKind.CHAIN, input="i", output="o")

    for reading in (tool, retriever, embedder, chain):
        read_function(reading)

    assert (tool.arguments, tool.result, tool.input, tool.output) == ({"city": "Paris"}, {"t": 18}) * 2
    assert (retriever.query, retriever.documents) == ("q", (Document("a"),))
    assert embedder.texts == ("a", "b")
    assert chain == Reading(kind=ObservationKind.CHAIN, input="i", output="o")
