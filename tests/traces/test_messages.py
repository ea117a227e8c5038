"""Chat messages."""

from __future__ import annotations

import pytest

from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    OtherContent,
    ReasoningContent,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
)


def test_text_and_reasoning() -> None:
    """A message's text is its text parts, and its reasoning the reasoning parts."""
    said = UserMessage(
        content=(TextContent("a"), ReasoningContent("hm"), ImageContent("u"), OtherContent("x", 1), TextContent("b"))
    )

    assert (said.text, said.reasoning) == ("ab", "hm")
    assert AssistantMessage().text == ""


def test_roles() -> None:
    """Each class has its role."""
    classes = (SystemMessage, UserMessage, AssistantMessage, ToolResultMessage)

    assert [made().role for made in classes] == ["system", "user", "assistant", "tool"]


def test_messages_are_values() -> None:
    """Equal messages are equal, of the same class only, and cannot be changed."""
    assert UserMessage(content=(TextContent("a"),)) == UserMessage(content=(TextContent("a"),))
    assert UserMessage() != SystemMessage(role="user")
    with pytest.raises(AttributeError):
        UserMessage().role = "system"  # type: ignore[misc]
