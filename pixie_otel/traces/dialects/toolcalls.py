"""Tool calls and tool definitions in the shapes that providers and dialects write them in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from pixie_otel.evaluable import JsonValue, ToolCall
from pixie_otel.traces.dialects.values import decoded, json_object, text
from pixie_otel.traces.spans import ToolDefinition

__all__ = ["listed_calls", "tool_call", "tool_definition", "tool_definitions", "tool_list"]

_INNER_KEYS: Final = ("function", "custom", "toolUse", "function_call", "functionCall", "tool_call")
_ARGUMENT_KEYS: Final = ("arguments", "args", "input")
_ID_KEYS: Final = ("call_id", "toolCallId", "toolUseId", "id")
_LONGEST_KEPT: Final = 8 * 1024
_LONGEST_LIST_KEPT: Final = 64 * 1024
_SCHEMA_KEYS: Final = ("parameters", "input_schema", "inputSchema", "parameters_json_schema", "json")


def tool_call(value: dict[str, JsonValue]) -> ToolCall:
    """Read one tool call; its fields may lie one level down, under the name of its type.

    Args:
        value: The call as it was written.

    Returns:
        The call, with its arguments decoded where they are JSON.
    """
    inner = next((below for key in _INNER_KEYS if isinstance(below := value.get(key), dict)), value)
    arguments = next((decoded(inner[key]) for key in _ARGUMENT_KEYS if inner.get(key) is not None), None)
    identity = None
    for key in _ID_KEYS:
        if identity is None and (key in value or key in inner):
            identity = text(value.get(key)) or text(inner.get(key))
    name = text(inner.get("name")) or text(inner.get("toolName")) or ""
    return ToolCall(name=name, arguments=arguments, id=identity)


def listed_calls(value: dict[str, JsonValue]) -> list[ToolCall]:
    """Read the calls that a message lists beside its content: ``tool_calls``, or the older ``function_call``.

    Args:
        value: The message.
    """
    if "tool_calls" not in value and "function_call" not in value:
        return []
    listed = decoded(value.get("tool_calls"))
    found = [tool_call(call) for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    if not found and isinstance(old := value.get("function_call"), dict):
        found.append(tool_call(old))
    return found


def tool_definitions(values: Iterable[JsonValue]) -> tuple[ToolDefinition, ...]:
    """Read the tools that a model was offered.

    Args:
        values: Each a definition, or JSON text of one.

    Returns:
        Those that have a name.
    """
    found = [
        _known_definition(value) if isinstance(value, str) and len(value) <= _LONGEST_KEPT else tool_definition(value)
        for value in values
    ]
    return tuple(definition for definition in found if definition is not None)


def tool_list(value: JsonValue) -> tuple[ToolDefinition, ...]:
    """Read a list of tools that a model was offered.

    Args:
        value: The list, or JSON text of it.
    """
    if isinstance(value, str) and len(value) <= _LONGEST_LIST_KEPT:
        return _known_list(value)
    return _definitions(value)


# An app offers its models the same tools on every call, so the same text comes again and again. Large ones are not
# kept: what is kept is bounded in bytes, too.
@lru_cache(maxsize=512)
def _known_definition(text_of_it: str) -> ToolDefinition | None:
    return tool_definition(text_of_it)


@lru_cache(maxsize=128)
def _known_list(text_of_it: str) -> tuple[ToolDefinition, ...]:
    return _definitions(text_of_it)


def _definitions(value: JsonValue) -> tuple[ToolDefinition, ...]:
    found = decoded(value)
    return tool_definitions(found) if isinstance(found, list) else ()


def tool_definition(value: JsonValue) -> ToolDefinition | None:
    """Read one tool's definition: OpenAI's nested or flat form, Anthropic's, Bedrock's or Vercel's.

    Args:
        value: The definition, or JSON text of it.

    Returns:
        The definition; ``None`` where it has no name.
    """
    found = json_object(value)
    if found is None:
        return None
    for key in ("function", "toolSpec"):
        if key in found and (inner := json_object(found[key])) is not None:
            found = inner
    name = text(found.get("name"))
    if name is None:
        return None
    parameters: dict[str, JsonValue] | None = None
    for key in _SCHEMA_KEYS:
        if key in found and (schema := json_object(found[key])) is not None:
            parameters = json_object(schema.get("json")) or schema
            break
    return ToolDefinition(name=name, description=text(found.get("description")), parameters=parameters)
