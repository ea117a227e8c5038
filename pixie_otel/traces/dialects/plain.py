"""Messages as plain JSON: the one form in which evaluators meet conversations."""

from __future__ import annotations

from collections.abc import Iterable

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.messages import (
    AssistantMessage,
    ContentPart,
    ImageContent,
    Message,
    OtherContent,
    ReasoningContent,
    TextContent,
    ToolResultMessage,
)

__all__ = ["answer", "plain_content", "plain_messages"]


def plain_messages(found: Iterable[Message]) -> JsonValue:
    """Give messages as plain JSON.

    Args:
        found: The messages.

    Returns:
        A list of objects with ``role``, ``content`` (text, or parts where it is more than text) and, where they have
        them, ``name``, ``tool_calls`` and ``tool_call_id``.
    """
    return [_plain(item) for item in found]


def answer(found: Iterable[Message]) -> JsonValue:
    """Give what a model answered: the text, or text and tool calls, or ``None`` for nothing.

    Args:
        found: The output messages of one call.

    Returns:
        Text where there are no tool calls, else ``{"content", "tool_calls"}``. Several choices are a list of these;
        messages that say nothing, as those with only reasoning, are no choices beside others.
    """
    answers: list[JsonValue] = [_answer(item) for item in found]
    said: list[JsonValue] = [item for item in answers if item] or answers[:1]
    if len(said) <= 1:
        return said[0] if said else None
    return said


def plain_content(item: Message) -> JsonValue:
    """Give what a message says as plain JSON: text, or parts where it is more than text.

    Args:
        item: The message.
    """
    parts = item.content
    if len(parts) == 1 and isinstance(only := parts[0], TextContent):
        return only.text
    if all(isinstance(part, TextContent) for part in parts):
        return item.text
    return [_plain_part(part) for part in parts]


def _plain(item: Message) -> dict[str, JsonValue]:
    plain: dict[str, JsonValue] = {"role": item.role, "content": plain_content(item)}
    if item.name:
        plain["name"] = item.name
    if isinstance(item, AssistantMessage) and item.tool_calls:
        plain["tool_calls"] = _plain_calls(item)
    if isinstance(item, ToolResultMessage) and item.tool_call_id:
        plain["tool_call_id"] = item.tool_call_id
    return plain


def _plain_part(part: ContentPart) -> dict[str, JsonValue]:
    match part:
        case TextContent(text=content):
            return {"type": "text", "text": content}
        case ReasoningContent(text=content):
            return {"type": "reasoning", "text": content}
        case ImageContent(url=url):
            return {"type": "image", "url": url}
        case OtherContent(type=kind, value=value):
            return {"type": kind, "value": value}


def _plain_calls(item: AssistantMessage) -> list[JsonValue]:
    return [
        {
            key: value
            for key, value in (("id", call.id), ("name", call.name), ("arguments", call.arguments))
            if value is not None
        }
        for call in item.tool_calls
    ]


def _answer(item: Message) -> JsonValue:
    calls = _plain_calls(item) if isinstance(item, AssistantMessage) else []
    content = item.text or "".join(
        str(part.value["refusal"])
        for part in item.content
        if isinstance(part, OtherContent) and isinstance(part.value, dict) and "refusal" in part.value
    )
    return {"content": content, "tool_calls": calls} if calls else content
