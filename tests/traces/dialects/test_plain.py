"""Messages as plain JSON."""

from __future__ import annotations

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.dialects.plain import answer, plain_messages
from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    OtherContent,
    ReasoningContent,
    TextContent,
    ToolResultMessage,
    UserMessage,
)


def says(text: str, *calls: ToolCall) -> AssistantMessage:
    """Answer as a model."""
    return AssistantMessage(content=(TextContent(text),), tool_calls=calls)


def test_messages() -> None:
    """Text is text; what is more than text is a list of parts; empty fields are left out."""
    assert plain_messages(
        [
            UserMessage(content=(TextContent("see "), TextContent("this")), name="ada"),
            UserMessage(content=(TextContent("see"), ImageContent("u"), ReasoningContent("hm"), OtherContent("x", 1))),
            says("", ToolCall("f", {"a": 1}, "1"), ToolCall("g")),
            ToolResultMessage(content=(TextContent("ok"),), tool_call_id="1"),
        ]
    ) == [
        {"role": "user", "content": "see this", "name": "ada"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "see"},
                {"type": "image", "url": "u"},
                {"type": "reasoning", "text": "hm"},
                {"type": "x", "value": 1},
            ],
        },
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "name": "f", "arguments": {"a": 1}}, {"name": "g"}],
        },
        {"role": "tool", "content": "ok", "tool_call_id": "1"},
    ]


def test_answers() -> None:
    """A text, a text with calls, several choices, or nothing."""
    thought = AssistantMessage(content=(ReasoningContent("hm"),))

    assert answer([]) is None
    assert answer([says("hi")]) == "hi"
    assert answer([says("")]) == answer([AssistantMessage()]) == answer([says(""), says("")]) == ""
    assert answer([says("", ToolCall("f", {}))]) == {"content": "", "tool_calls": [{"name": "f", "arguments": {}}]}
    assert answer([says("a"), says("b")]) == ["a", "b"]
    assert answer([thought, says("a")]) == "a"


def test_a_refusal_is_an_answer() -> None:
    """Where a model refused, what it said about that is its answer."""
    refused = AssistantMessage(content=(OtherContent("refusal", {"refusal": "I can't."}), OtherContent("x", 5)))

    assert answer([refused]) == "I can't."
