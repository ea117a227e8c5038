"""OpenTelemetry's message events of 1.28 to 1.36: one span event, or one log record, a message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import message, messages
from pixie_otel.traces.dialects.values import decoded, json_object, text, whole
from pixie_otel.traces.messages import AssistantMessage, Message
from pixie_otel.traces.spans import SpanEvent

__all__ = ["event_messages", "event_values"]

_ROLES: Final = {
    keys.GENAI_EVENT_SYSTEM: "system",
    keys.GENAI_EVENT_USER: "user",
    keys.GENAI_EVENT_ASSISTANT: "assistant",
    keys.GENAI_EVENT_TOOL: "tool",
}


def event_messages(
    events: Sequence[SpanEvent],
) -> tuple[tuple[Message, ...], tuple[Message, ...], tuple[str, ...]]:
    """Read the messages of a call.

    Args:
        events: The events and log records of its span, in order.

    Returns:
        What the model was given, what it answered by choice, and why each choice ended.
    """
    said: list[Message] = []
    choices: list[tuple[int, Message, str | None]] = []
    for event in _told_once(events):
        body = _body(event)
        if event.name == keys.GENAI_EVENT_CHOICE:
            inner = decoded(body.get("message", body.get("content")))
            choice = inner if isinstance(inner, dict) else {"content": inner}
            if "tool_calls" in body and "tool_calls" not in choice:
                choice = {**choice, "tool_calls": body["tool_calls"]}
            reason = text(body.get("finish_reason"))
            answered = message({**choice, "finish_reason": reason}, role="assistant")
            choices.append((whole(body.get("index")) or 0, answered, reason))
        else:
            said.extend(messages(body, role=_ROLES[event.name]))
    choices.sort(key=lambda choice: choice[0])
    # With content capture off the events come without bodies; that nothing was recorded must not look like silence.
    given = tuple(said) if any(_has_content(item) for item in said) else ()
    given_back = tuple(item for _, item, _ in choices if _has_content(item))
    return given, given_back, tuple(reason for _, _, reason in choices if reason)


def event_values(events: Sequence[SpanEvent]) -> tuple[JsonValue, JsonValue]:
    """Give what a tool was called with and what it gave back, where its span's events say so.

    Args:
        events: The events and log records of the tool's span.
    """
    given: JsonValue = None
    given_back: JsonValue = None
    for event in events:
        if event.name == keys.GENAI_EVENT_TOOL and given is None:
            given = decoded(_body(event).get("content"))
        elif event.name == keys.GENAI_EVENT_CHOICE and given_back is None:
            given_back = decoded(_body(event).get("message"))
    return given, given_back


def _told_once(events: Sequence[SpanEvent]) -> Sequence[SpanEvent]:
    """Leave out one of the two where each message is there as a log record and as a span event."""
    told = [event for event in events if event.name in _ROLES or event.name == keys.GENAI_EVENT_CHOICE]
    logs = [event for event in told if event.body is not None]
    on_span = [event for event in told if event.body is None]
    if len(logs) != len(on_span) or sorted(log.name for log in logs) != sorted(event.name for event in on_span):
        return told
    return logs if any(_body(log).keys() - {"role"} for log in logs) else on_span


def _body(event: SpanEvent) -> dict[str, JsonValue]:
    body: JsonValue = json_object(event.body)
    if body is None and isinstance(event.body, str) and event.body:
        body = {"content": event.body}
    if body is None:
        body = json_object(event.attributes.get(keys.GENAI_EVENT_CONTENT))
    found = body if isinstance(body, dict) else event.attributes
    return {**found, "role": found.get("role") or _ROLES.get(event.name)}


def _has_content(item: Message) -> bool:
    return bool(item.content) or (isinstance(item, AssistantMessage) and bool(item.tool_calls))
