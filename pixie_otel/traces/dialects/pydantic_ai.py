"""Pydantic AI: its own attributes beside OpenTelemetry's GenAI conventions.

Source: Pydantic AI 0.2 to 2.68, which writes one of six formats. In the first the messages of a call are a list of
events in one attribute, or log records; later `pixie_otel.traces.dialects.genai` reads them. An agent's messages, and
in the first two formats what a tool was given and gave back, have keys of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.attributes import logfire as logfire_keys
from pixie_otel.attributes import pydantic_ai as pydantic_ai_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.identities import SESSION_NAMES, first_identity
from pixie_otel.traces.dialects.message_events import event_messages, listed_events
from pixie_otel.traces.dialects.provider import one_answer
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.toolcalls import tool_definitions
from pixie_otel.traces.dialects.values import decoded, first_whole, json_mapping, json_object, text, texts
from pixie_otel.traces.messages import AssistantMessage, ImageContent, Message, UserMessage
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "pydantic_ai"
ROOTS: Final = frozenset(
    {
        "pydantic_ai",
        pydantic_ai_keys.AGENT_NAME,
        pydantic_ai_keys.ALL_MESSAGES_EVENTS,
        pydantic_ai_keys.FINAL_RESULT,
        pydantic_ai_keys.INPUTS,
        pydantic_ai_keys.MODEL_REQUEST_PARAMETERS,
        pydantic_ai_keys.TOOL_ARGUMENTS,
        pydantic_ai_keys.TOOL_RESPONSE,
    }
)
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_TOOL_LISTS: Final = ("function_tools", "output_tools")
_CACHE_READ: Final = tuple(
    pydantic_ai_keys.USAGE_DETAILS + name for name in ("cache_read_input_tokens", "cache_read_tokens", "cached_tokens")
)
_CACHE_CREATION: Final = tuple(
    pydantic_ai_keys.USAGE_DETAILS + name for name in ("cache_creation_input_tokens", "cache_write_tokens")
)
_REASONING: Final = tuple(pydantic_ai_keys.USAGE_DETAILS + name for name in ("reasoning_tokens", "thoughts_tokens"))


def read(span: SpanFacts) -> Reading | None:
    """Read what Pydantic AI says of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its keys is there, or none that only it has.
    """
    attributes = span.attributes
    reading = Reading(kind=_kind(attributes))
    match reading.kind:
        case ObservationKind.LLM:
            _read_call(attributes, reading)
        case ObservationKind.AGENT:
            _read_agent(attributes, reading)
        case ObservationKind.TOOL:
            _read_tool(attributes, reading)
        case ObservationKind.EMBEDDING:
            reading.texts = texts(decoded(attributes.get(pydantic_ai_keys.INPUTS))) or None
        case _:
            return None
    return reading


def _kind(attributes: Mapping[str, JsonValue]) -> ObservationKind | None:
    if pydantic_ai_keys.MODEL_REQUEST_PARAMETERS in attributes:
        return ObservationKind.LLM
    if pydantic_ai_keys.TOOL_ARGUMENTS in attributes or pydantic_ai_keys.TOOL_RESPONSE in attributes:
        return ObservationKind.TOOL if keys.GENAI_TOOL_NAME in attributes else None
    if pydantic_ai_keys.ALL_MESSAGES in attributes:
        return ObservationKind.AGENT
    if pydantic_ai_keys.AGENT_NAME in attributes:
        own = (pydantic_ai_keys.ALL_MESSAGES_EVENTS, pydantic_ai_keys.FINAL_RESULT)
        bare = pydantic_ai_keys.MODEL_NAME in attributes and logfire_keys.MSG in attributes
        return ObservationKind.AGENT if bare or any(key in attributes for key in own) else None
    if pydantic_ai_keys.INPUTS in attributes and attributes.get(keys.GENAI_OPERATION) == "embeddings":
        return ObservationKind.EMBEDDING
    return None


def _read_call(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    given, given_back, _ = event_messages(listed_events(attributes.get(pydantic_ai_keys.EVENTS)))
    reading.input_messages = given or None
    # Text and tool calls of one answer may be several events, all of them choice 0.
    reading.output_messages = one_answer(given_back) or None
    reading.reasoning_tokens = first_whole(attributes, _REASONING)
    reading.cache_read_tokens = first_whole(attributes, _CACHE_READ)
    reading.cache_creation_tokens = first_whole(attributes, _CACHE_CREATION)
    if keys.GENAI_TOOL_DEFINITIONS not in attributes:
        parameters = json_mapping(attributes.get(pydantic_ai_keys.MODEL_REQUEST_PARAMETERS))
        listed = (parameters.get(name) for name in _TOOL_LISTS)
        tools = [tool for found in listed if isinstance(found, list) for tool in found]
        reading.tool_definitions = tool_definitions(tools) or None


def _read_agent(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.agent_name = text(attributes.get(pydantic_ai_keys.AGENT_NAME))
    reading.output = decoded(attributes.get(pydantic_ai_keys.FINAL_RESULT))
    reading.metadata = json_object(attributes.get(keys.METADATA))
    reading.session_id = first_identity(reading.metadata, SESSION_NAMES)
    said = messages(attributes.get(pydantic_ai_keys.ALL_MESSAGES))
    if not said:
        said, answers, _ = event_messages(listed_events(attributes.get(pydantic_ai_keys.ALL_MESSAGES_EVENTS)))
        said = (*said, *answers)
    elif (instructions := decoded(attributes.get(keys.GENAI_SYSTEM_INSTRUCTIONS))) and isinstance(instructions, list):
        said = (*messages({"role": "system", "parts": instructions}), *said)
    if any(_says(item) for item in said):
        asked = _asked(said)
        reading.input_messages = said[:asked] or None
        reading.output_messages = said[asked:] or None


def _says(item: Message) -> bool:
    """Say whether a message was recorded with what it says: without content capture, its parts and calls are bare."""
    if isinstance(item, AssistantMessage) and any(call.arguments is not None for call in item.tool_calls):
        return True
    return bool(item.text or item.reasoning) or any(
        isinstance(part, ImageContent) and part.url for part in item.content
    )


def _asked(said: Sequence[Message]) -> int:
    """Say how many of an agent's messages it was given; the rest is what it did about them.

    Tool results have the user's role in most of the formats, and are read as what they are.
    """
    users = [position for position, item in enumerate(said) if isinstance(item, UserMessage) and item.content]
    return users[-1] + 1 if users else 0


def _read_tool(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.arguments = reading.input = decoded(attributes.get(pydantic_ai_keys.TOOL_ARGUMENTS))
    reading.result = reading.output = decoded(attributes.get(pydantic_ai_keys.TOOL_RESPONSE))
