"""Amazon's OpenTelemetry distribution (Bedrock AgentCore): content taken off the spans, into one log record a span.

Source: aws-opentelemetry-distro 0.21 (``llo_handler.py``). What other instrumentations wrote into attributes and events
of a span stands in the record's body, ``{"input": {"messages": […]}, "output": {"messages": […]}}``: an attribute's
value or an event's attributes as ``content``, and a role. Of several events with one name only the last is there, and
what an assistant said before counts as output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.message_events import event_messages, event_values, has_content
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.toolcalls import tool_result
from pixie_otel.traces.dialects.values import call_arguments, decoded, leaf, text
from pixie_otel.traces.messages import Message
from pixie_otel.traces.spans import SpanEvent

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "adot"
ROOTS: Final = frozenset(
    {"amazon", "crewai", "langchain", "openinference", "openlit", "opentelemetry", "strands", "traceloop"}
)
"""The first segments of the records' names, which are those of the scopes that the spans came from."""

_ORDER: Final = ("system", "user")
_EVENTS: Final = {
    "system": keys.GENAI_EVENT_SYSTEM,
    "user": keys.GENAI_EVENT_USER,
    "assistant": keys.GENAI_EVENT_ASSISTANT,
    "tool": keys.GENAI_EVENT_TOOL,
}


def read(span: SpanFacts) -> Reading | None:
    """Read the content that was taken off a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where no log record of the span holds content.
    """
    if not span.events or not any(isinstance(event.body, dict) for event in span.events):
        return None
    given, given_back = list(_held(span, "input")), list(_held(span, "output"))
    if not given and not given_back:
        return None
    # The records keep no order over roles: this is how a model's call with tools goes.
    given.sort(key=lambda item: _ORDER.index(item["role"]) if item.get("role") in _ORDER else len(_ORDER))
    events = [event for item in (*given, *given_back) if (event := _event(item)) is not None]
    events.sort(key=lambda event: event.name == keys.GENAI_EVENT_TOOL)
    if events:
        said, answered, reasons = event_messages(events)
        arguments, result = event_values(events)
    else:
        said, answered, reasons = _messages(given, "user"), _messages(given_back, "assistant"), ()
        arguments, result = (decoded(items[-1].get("content")) if items else None for items in (given, given_back))
    if _is_tool(span):
        arguments, result = call_arguments(arguments), tool_result(result)
        return Reading(arguments=arguments, result=result, input=arguments, output=result)
    return Reading(input_messages=said or None, output_messages=answered or None, raw_finish_reasons=reasons or None)


def _held(span: SpanFacts, side: str) -> Iterator[dict[str, JsonValue]]:
    for event in span.events:
        listed = leaf(event.body, side, "messages")
        if isinstance(listed, list):
            yield from (item for item in listed if isinstance(item, dict))


def _event(item: dict[str, JsonValue]) -> SpanEvent | None:
    """Give back the event whose attributes are an item's content; ``None`` where it was an attribute of the span."""
    content = item.get("content")
    name = _EVENTS.get(text(item.get("role")) or "")
    if not isinstance(content, dict) or name is None:
        return None
    return SpanEvent(name=keys.GENAI_EVENT_CHOICE if "message" in content else name, attributes=content)


def _messages(items: list[dict[str, JsonValue]], role: str) -> tuple[Message, ...]:
    found: list[Message] = []
    for item in items:
        said = text(item.get("role")) or role
        content = decoded(item.get("content"))
        if isinstance(item.get("content"), dict):
            continue
        if isinstance(content, list) and any(isinstance(part, dict) and "role" in part for part in content):
            found.extend(messages(content, role=said))
        else:
            whole = content if isinstance(content, list) else item.get("content")
            found.extend(messages({"role": said, "content": whole}))
    return tuple(message for message in found if has_content(message))


def _is_tool(span: SpanFacts) -> bool:
    kinds = (keys.GENAI_OPERATION, keys.OI_SPAN_KIND, keys.TRACELOOP_SPAN_KIND)
    return any(str(span.attributes.get(key)).lower() in ("tool", "execute_tool") for key in kinds)
