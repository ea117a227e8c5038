"""OpenTelemetry's message events of 1.28 to 1.36: one span event, or one log record, a message.

Pydantic AI and Logfire write the same events as a list into one attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue, ToolCall
from pixie_otel.traces.dialects.chat import message, messages
from pixie_otel.traces.dialects.parts import kind
from pixie_otel.traces.dialects.toolcalls import tool_result
from pixie_otel.traces.dialects.values import decoded, json_object, text, whole
from pixie_otel.traces.messages import AssistantMessage, ContentPart, Message, TextContent
from pixie_otel.traces.spans import SpanEvent

__all__ = ["event_messages", "event_values", "has_content", "left_out", "listed_events", "one_of_pieces", "recorded"]

_ROLES: Final = {
    keys.GENAI_EVENT_SYSTEM: "system",
    keys.GENAI_EVENT_USER: "user",
    keys.GENAI_EVENT_ASSISTANT: "assistant",
    keys.GENAI_EVENT_TOOL: "tool",
}
_MESSAGE_KEYS: Final = frozenset({"role", "content", "parts", "tool_calls", "refusal"})
_LEFT_OUT: Final = ("<elided>", "[REDACTED]", "<replaced>")
"""What Google's agent kit and Strands write where content is not to be recorded, or could not be."""
_NAMES: Final = {role: name for name, role in _ROLES.items()}


def listed_events(value: JsonValue) -> tuple[SpanEvent, ...]:
    """Read message events that stand in one attribute.

    Args:
        value: A list of objects, each with its ``event.name`` or at least with a ``role``; or JSON text of it.
    """
    found = decoded(value)
    if not isinstance(found, list):
        return ()
    return tuple(
        _listed_event(item) for item in found if isinstance(item, dict) and (keys.EVENT_NAME in item or "role" in item)
    )


def _listed_event(item: dict[str, JsonValue]) -> SpanEvent:
    name = text(item.get(keys.EVENT_NAME)) or ""
    if name in _ROLES or name == keys.GENAI_EVENT_CHOICE:
        return SpanEvent(name=name, attributes=item)
    role = text(item.get("role")) or "user"
    if isinstance(data := item.get("data"), dict):
        # Logfire keeps what no event is known for as it was.
        said = text(data.get("type")) or ""
        if role == "unknown":
            role = "assistant" if said == "reasoning" or said.endswith("_call") else "user"
        item = {"role": role, "parts": [data]}
    elif role == "unknown":
        item = {**item, "role": "user"}
    return SpanEvent(name=_NAMES.get(role, keys.GENAI_EVENT_USER), attributes=item)


def event_messages(
    events: Sequence[SpanEvent],
) -> tuple[tuple[Message, ...], tuple[Message, ...], tuple[str, ...]]:
    """Read the messages of a call.

    Args:
        events: The events and log records of its span, in order.

    Returns:
        What the model was given, what it answered by choice, and why each choice ended.
    """
    if not events:
        return (), (), ()
    said: list[Message] = []
    choices: list[tuple[int, Message, str | None]] = []
    for event in _told_once(events):
        body = _body(event)
        if event.name == keys.GENAI_EVENT_CHOICE:
            choice = _choice(body)
            if "tool_calls" in body and "tool_calls" not in choice:
                choice = {**choice, "tool_calls": body["tool_calls"]}
            reason = text(body.get("finish_reason"))
            answered = message({**choice, "finish_reason": reason}, role="assistant")
            choices.append((whole(body.get("index")) or 0, answered, reason))
        else:
            said.extend(messages(body, role=_ROLES[event.name]))
    choices.sort(key=lambda choice: choice[0])
    # With content capture off the events come without bodies; that nothing was recorded must not look like silence.
    given = tuple(said) if any(has_content(item) for item in said) else ()
    given_back = tuple(item for _, item, _ in choices if has_content(item))
    if len({index for index, _, _ in choices}) == 1:
        given_back = one_of_pieces(given_back)
    return given, given_back, tuple(reason for _, _, reason in choices if reason)


def _choice(body: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Give the message of an answer; an answer that is JSON itself is a text."""
    said = body.get("message", body.get("content"))
    found = decoded(said)
    if isinstance(found, dict):
        return found if isinstance(said, dict) or found.keys() & _MESSAGE_KEYS else {"content": said}
    return {"content": found if _are_blocks(found) else said, "parts": body.get("parts")}


def _are_blocks(value: JsonValue) -> bool:
    """Say whether a list is a message's content in parts."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(part, dict) and kind(part) for part in value)


def one_of_pieces(answers: tuple[Message, ...]) -> tuple[Message, ...]:
    """Make one message of an answer that was recorded piece by piece, as it was streamed.

    Args:
        answers: What a model answered. Of pieces only the last says why it ended; of choices each does.
    """
    *pieces, last = answers or (Message(role=""),)
    if not pieces or not isinstance(last, AssistantMessage) or last.finish_reason is None:
        return answers
    calls: list[ToolCall] = []
    parts: list[ContentPart] = []
    for item in answers:
        if not isinstance(item, AssistantMessage) or (item.finish_reason is not None and item is not last):
            return answers
        calls.extend(item.tool_calls)
        for part in item.content:
            before = parts[-1] if parts else None
            if isinstance(part, TextContent) and isinstance(before, TextContent):
                parts[-1] = TextContent(before.text + part.text)
            else:
                parts.append(part)
    return (AssistantMessage(content=tuple(parts), tool_calls=tuple(calls), finish_reason=last.finish_reason),)


def event_values(events: Sequence[SpanEvent]) -> tuple[JsonValue, JsonValue]:
    """Give what a tool was called with and what it gave back, where its span's events say so.

    Args:
        events: The events and log records of the tool's span.
    """
    given: JsonValue = None
    given_back: JsonValue = None
    for event in events:
        if event.name == keys.GENAI_EVENT_TOOL and given is None:
            given = recorded(_body(event).get("content"))
        elif event.name == keys.GENAI_EVENT_CHOICE and given_back is None:
            given_back = tool_result(recorded(_body(event).get("message")))
    return given, given_back


def recorded(value: JsonValue) -> JsonValue:
    """Decode a value; ``None`` for what only says that content was left out.

    Args:
        value: What was recorded.
    """
    return None if value in _LEFT_OUT else decoded(value)


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
    if event.body is None and isinstance(said := found.get("content"), str) and _are_blocks(parts := decoded(said)):
        # An attribute of a span event cannot hold parts but as text.
        found = {**found, "content": parts}
    if isinstance(content := found.get("content"), dict) and isinstance(content.get("parts"), list):
        # Google's agent kit puts the whole message where its content belongs.
        found = {**found, **content, "content": None}
    return {**found, "role": found.get("role") or _ROLES.get(event.name)}


def left_out(item: Message) -> bool:
    """Say whether all of a message is a mark that its content was left out.

    Args:
        item: The message.
    """
    return len(item.content) == 1 and isinstance(only := item.content[0], TextContent) and only.text in _LEFT_OUT


def has_content(item: Message) -> bool:
    """Say whether anything of a message was recorded but its role."""
    if left_out(item):
        return False
    return bool(item.content) or (isinstance(item, AssistantMessage) and bool(item.tool_calls))
