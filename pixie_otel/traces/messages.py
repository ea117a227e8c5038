"""Chat messages as models see them, whatever dialect recorded them."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from pixie_otel.evaluable import JsonValue, ToolCall

__all__ = [
    "AssistantMessage",
    "ContentPart",
    "ImageContent",
    "Message",
    "OtherContent",
    "ReasoningContent",
    "SystemMessage",
    "TextContent",
    "ToolResultMessage",
    "UserMessage",
]


class TextContent(Struct, frozen=True):
    """Text within a message.

    Attributes:
        text: The text.
    """

    text: str


class ImageContent(Struct, frozen=True):
    """An image within a message; it is named, never fetched.

    Attributes:
        url: Where it is, or a ``data:`` URI; empty where the bytes were not recorded.
        mime_type: Its media type, where recorded.
        detail: The resolution asked for (``low``, ``high``, ``auto``), where recorded.
    """

    url: str
    mime_type: str | None = None
    detail: str | None = None


class ReasoningContent(Struct, frozen=True):
    """What a model wrote while thinking, before its answer.

    Attributes:
        text: The reasoning; empty where it was recorded only in encrypted form.
    """

    text: str


class OtherContent(Struct, frozen=True):
    """A part that is neither text, image nor reasoning: audio, a file, a refusal, a server-side tool call.

    Attributes:
        type: The part's type as recorded.
        value: The part as recorded.
    """

    type: str
    value: JsonValue


ContentPart: TypeAlias = TextContent | ImageContent | ReasoningContent | OtherContent
"""One part of a message's content."""


class Message(Struct, frozen=True, kw_only=True):
    """One message of a conversation with a model.

    Attributes:
        role: Who speaks, as recorded or normalised: ``system``, ``developer``, ``user``, ``assistant``, ``tool``.
        content: The parts, in order.
        name: The speaker's name, where recorded.
    """

    role: str
    content: tuple[ContentPart, ...] = ()
    name: str | None = None

    @property
    def text(self) -> str:
        """The text parts, joined; empty for a message that only calls tools."""
        return "".join(part.text for part in self.content if isinstance(part, TextContent))

    @property
    def reasoning(self) -> str:
        """The reasoning parts, joined."""
        return "".join(part.text for part in self.content if isinstance(part, ReasoningContent))


class SystemMessage(Message, frozen=True, kw_only=True):
    """Instructions for the model."""

    role: str = "system"


class UserMessage(Message, frozen=True, kw_only=True):
    """What the user, or the app on the user's behalf, said."""

    role: str = "user"


class AssistantMessage(Message, frozen=True, kw_only=True):
    """What the model answered.

    Attributes:
        tool_calls: The tools it asked for, with decoded arguments.
        finish_reason: Why it stopped, where the message itself says so.
    """

    role: str = "assistant"
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None


class ToolResultMessage(Message, frozen=True, kw_only=True):
    """What a tool gave back.

    Attributes:
        tool_call_id: The id of the call that this answers, where recorded.
    """

    role: str = "tool"
    tool_call_id: str | None = None
