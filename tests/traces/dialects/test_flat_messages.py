"""OpenInference's messages, in keys with indexes and in whole lists."""

from __future__ import annotations

import json

import pytest
from observed import observed_call

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    OtherContent,
    ReasoningContent,
    TextContent,
    ToolResultMessage,
    UserMessage,
)

LLM = {"openinference.span.kind": "LLM"}
IN = "llm.input_messages"
OUT = "llm.output_messages"


def flat(which: str, *said: dict[str, object]) -> dict[str, object]:
    """Write messages as OpenInference does."""
    return {f"{which}.{i}.message.{key}": value for i, item in enumerate(said) for key, value in item.items()}


def test_text_in_both_places_is_one_text() -> None:
    """Text may stand as content and in the contents, and is the same then; images keep their place."""
    said = {
        "role": "user",
        "content": "look: and?",
        "contents.0.message_content.type": "text",
        "contents.0.message_content.text": "look: ",
        "contents.1.message_content.type": "image",
        "contents.1.message_content.image.image.url": "u",
        "contents.10.message_content.text": "?",
        "contents.9.message_content.text": "and",
    }

    assert observed_call({**LLM, **flat(IN, said)}).input_messages == (
        UserMessage(content=(TextContent("look: "), ImageContent("u"), TextContent("and"), TextContent("?"))),
    )


def test_text_beside_parts_without_text() -> None:
    """Text that only the content has comes first."""
    said = {"role": "user", "content": "look", "contents.0.message_content.image.image.url": "u"}

    assert observed_call({**LLM, **flat(IN, said)}).input_messages == (
        UserMessage(content=(TextContent("look"), ImageContent("u"))),
    )


def test_audio_and_reasoning() -> None:
    """Reasoning is read as such, and audio is kept."""
    said = {
        "role": "assistant",
        "contents.0.message_content.type": "reasoning",
        "contents.0.message_content.text": "hm",
        "contents.1.message_content.type": "audio",
        "contents.1.message_content.audio.audio.url": "u",
    }

    assert observed_call({**LLM, **flat(OUT, said)}).output_messages[0].content == (
        ReasoningContent("hm"),
        OtherContent("audio", {"type": "audio", "audio": {"audio": {"url": "u"}}}),
    )


def test_tool_calls_and_results() -> None:
    """Calls in numeric order, with decoded arguments and their ids; results with the call they answer."""
    calls = {
        f"tool_calls.{i}.tool_call.{key}": value
        for i in (10, 9)
        for key, value in (("id", f"c{i}"), ("function.name", "f"), ("function.arguments", f'{{"n": {i}}}'))
    }
    span = observed_call(
        {**LLM, **flat(IN, {"role": "assistant", **calls}, {"role": "tool", "content": "1", "tool_call_id": "c9"})}
    )

    assert isinstance(asked := span.input_messages[0], AssistantMessage)
    assert [(call.id, call.arguments) for call in asked.tool_calls] == [("c9", {"n": 9}), ("c10", {"n": 10})]
    assert span.input_messages[1] == ToolResultMessage(content=(TextContent("1"),), tool_call_id="c9")


def test_calls_within_the_contents() -> None:
    """A call that stands among the parts, and in the list as well, is one call."""
    call = {"tool_call.id": "c", "tool_call.function.name": "f", "tool_call.function.arguments": "{}"}
    inside = {f"contents.0.{key}": value for key, value in call.items()}
    listed = {f"tool_calls.0.{key}": value for key, value in call.items()}

    for said in (inside, listed, {**inside, **listed}, {**listed, "contents.0.message_content.type": "tool_use"}):
        span = observed_call({**LLM, **flat(OUT, {"role": "assistant", **said})})
        assert span.output_messages == (AssistantMessage(tool_calls=(ToolCall("f", {}, "c"),)),)


def test_old_function_calls() -> None:
    """The first form of tool calls."""
    said = {"role": "assistant", "function_call_name": "f", "function_call_arguments_json": '{"a": 1}'}

    assert observed_call({**LLM, **flat(OUT, said)}).output_messages == (
        AssistantMessage(tool_calls=(ToolCall("f", {"a": 1}),)),
    )


@pytest.mark.parametrize(
    "listed",
    [
        [{"message": {"role": "user", "content": "Hi"}}],
        [{"message.role": "user", "message.content": "Hi"}],
        [{"role": "user", "content": "Hi"}],
        [{"message": {"contents": [{"message_content": {"type": "text", "text": "Hi"}}]}}],
        [{"message.contents": [{"message_content.type": "text", "message_content.text": "Hi"}]}],
        {"0": {"message": {"content": "Hi"}}},
        [{"message": {"content": ["Hi"]}}],
        [{"message": {"content": [{"type": "text", "text": "Hi"}]}}],
    ],
)
def test_whole_lists_in_one_attribute(listed: object) -> None:
    """Exports that nest, as Phoenix's, hold the list itself, structured or as JSON."""
    for value in (listed, json.dumps(listed)):
        assert observed_call({**LLM, IN: value}).input_messages == (UserMessage(content=(TextContent("Hi"),)),)


def test_nested_tool_calls() -> None:
    """Calls in nested lists, with nested or dotted keys."""
    for call in (
        {"tool_call": {"id": "c", "function": {"name": "f", "arguments": "{}"}}},
        {"tool_call.id": "c", "tool_call.function.name": "f", "tool_call.function.arguments": "{}"},
        {"id": "c", "function.name": "f", "function.arguments": "{}"},
    ):
        listed = [{"message": {"role": "assistant", "tool_calls": [call]}}]
        assert observed_call({**LLM, OUT: listed}).output_messages == (
            AssistantMessage(tool_calls=(ToolCall("f", {}, "c"),)),
        )


def test_both_forms_are_one() -> None:
    """Where keys with indexes and the whole list are there, the messages are not doubled."""
    listed = json.dumps([{"message": {"role": "user", "content": "Hi"}}])
    span = observed_call({**LLM, IN: listed, **flat(IN, {"role": "user", "content": "Hi"})})

    assert span.input_messages == (UserMessage(content=(TextContent("Hi"),)),)
    assert observed_call({**LLM, IN: listed, f"{IN}.zork": 1}).input_messages == span.input_messages


def test_evicted_history() -> None:
    """What is left of a long conversation is read, and a note says from where on."""
    span = observed_call(
        {**LLM, f"{IN}.64.message.content": "c", f"{IN}.65.message.role": "user", f"{IN}.65.message.content": "d"}
    )

    assert [item.text for item in span.input_messages] == ["c", "d"]
    assert span.notes == ("the messages before number 64 are missing",)


def test_text_under_an_index() -> None:
    """The key of a content may have an index of its own."""
    span = observed_call({**LLM, f"{OUT}.0.message.content.0": "a", f"{OUT}.0.message.content.1": "b"})

    assert span.output == "ab"


def test_completions() -> None:
    """Prompts and choices of completions are messages, in keys with indexes or as lists."""
    for prompts in ({"llm.prompts.0.prompt.text": "Once"}, {"llm.prompts": ["Once"]}, {"llm.prompts": '["Once"]'}):
        span = observed_call({**LLM, **prompts, "llm.choices.0.completion.text": "upon", "llm.choices.1.x": 1})
        assert span.input_messages == (UserMessage(content=(TextContent("Once"),)),)
        assert span.output_messages == (AssistantMessage(content=(TextContent("upon"),)),)


def test_results_of_several_tools_in_one_message() -> None:
    """AutoGen's instrumentor writes what the tools of an answer gave back beside one message for all of them."""
    results = {
        f"{IN}.1.function.{index}": json.dumps({"name": "get_weather", "content": city, "call_id": f"call_{index}"})
        for index, city in enumerate(["Paris", "London", *["Rome"] * 9])
    }
    span = observed_call({**LLM, f"{IN}.0.message.role": "user", f"{IN}.1.message.role": "function", **results})

    assert [(item.text, item.tool_call_id) for item in span.input_messages if isinstance(item, ToolResultMessage)] == [
        ("Paris", "call_0"),
        ("London", "call_1"),
        *(("Rome", f"call_{index}") for index in range(2, 11)),
    ]


@pytest.mark.parametrize("value", [None, 3, "{", "[]", '{"content": null}'])
def test_a_result_that_is_none(value: str | int | None) -> None:
    """Whatever stands there, a message of its role is left."""
    span = observed_call({**LLM, f"{IN}.0.message.role": "function", f"{IN}.0.function.0": value})

    assert [(item.role, item.text) for item in span.input_messages] == [("tool", "")]
