"""Tool calls and tool definitions in the shapes that providers and dialects write them in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from pixie_otel.evaluable import JsonValue, ToolCall
from pixie_otel.traces.dialects.literals import literal
from pixie_otel.traces.dialects.values import decoded, first_text, json_object, text
from pixie_otel.traces.spans import ToolDefinition

__all__ = [
    "listed_calls",
    "tool_call",
    "tool_definition",
    "tool_definitions",
    "tool_list",
    "tool_message",
    "tool_result",
]

_INNER_KEYS: Final = ("function", "custom", "toolUse", "function_call", "functionCall", "tool_call", "toolRequest")
_ARGUMENT_KEYS: Final = ("arguments", "args", "input", "tool_kwargs")
_NAME_KEYS: Final = ("name", "toolName", "tool_name")
_ID_KEYS: Final = ("call_id", "toolCallId", "toolUseId", "id", "ref", "tool_call_id")
_QUOTED: Final = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_SHOWN_MESSAGE: Final = re.compile(rf"content=({_QUOTED}) .*?\btool_call_id='([^']*)'", re.DOTALL)
"""LangChain's message as ``str()`` shows it."""
_LONGEST_KEPT: Final = 8 * 1024
_LONGEST_LIST_KEPT: Final = 64 * 1024
_SCHEMA_KEYS: Final = (
    "parameters",
    "input_schema",
    "inputSchema",
    "parameters_json_schema",
    "parametersJsonSchema",
    "json",
)


def tool_call(value: dict[str, JsonValue]) -> ToolCall:
    """Read one tool call; its fields may lie one level down, under the name of its type.

    Args:
        value: The call as it was written.

    Returns:
        The call, with its arguments decoded where they are JSON.
    """
    inner = value
    for key in _INNER_KEYS:
        if key in value and isinstance(below := value[key], dict):
            inner = below
            break
    arguments: JsonValue = None
    for key in _ARGUMENT_KEYS:
        if key in inner and inner[key] is not None:
            arguments = decoded(inner[key])
            break
    identity = None
    for key in _ID_KEYS:
        if (key in value or key in inner) and (identity := text(value.get(key)) or text(inner.get(key))):
            break
    return ToolCall(name=first_text(inner, _NAME_KEYS) or "", arguments=arguments, id=identity)


def listed_calls(value: dict[str, JsonValue]) -> list[ToolCall]:
    """Read the calls that a message lists beside its content: ``tool_calls``, or the older ``function_call``.

    Args:
        value: The message.
    """
    if "tool_calls" not in value and "function_call" not in value:
        beside = value.get("additional_kwargs")
        return listed_calls(beside) if isinstance(beside, dict) and "additional_kwargs" not in beside else []
    listed = decoded(value.get("tool_calls"))
    found = [tool_call(call) for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    # Producers of flat keys write those of a call also where there is none.
    found = [call for call in found if call.name or call.id or call.arguments is not None]
    if not found and isinstance(old := value.get("function_call"), dict):
        found.append(tool_call(old))
    return found


def tool_result(value: JsonValue) -> JsonValue:
    """Give what a tool gave back, without LangChain's message or the content blocks of Bedrock and MCP around it.

    Args:
        value: What was recorded, or JSON text of it.

    Returns:
        The text of text blocks, decoded where it is JSON; the value of a JSON block; else the value as it is.
    """
    found = decoded(value)
    if (message := tool_message(found)) is not None:
        found = decoded(message["content"])
    if not isinstance(found, list) or not found:
        return found
    texts = [_block_text(block) for block in found]
    if all(said is not None for said in texts):
        return decoded("".join(said for said in texts if said is not None))
    only = found[0]
    if len(found) == 1 and isinstance(only, dict) and only.keys() == {"json"}:
        return only["json"]
    return found


def tool_message(value: JsonValue) -> dict[str, JsonValue] | None:
    """Give LangChain's message of a tool's result, without its wrapping; ``None`` for anything else.

    Args:
        value: What a tool gave back, decoded.
    """
    if isinstance(value, str) and (shown := _SHOWN_MESSAGE.match(value)) is not None:
        content = literal(f"[{shown[1]}]")
        return {"content": content[0], "tool_call_id": shown[2]} if isinstance(content, list) else None
    if not isinstance(value, dict):
        return None
    inner = next((below for key in ("kwargs", "data") if isinstance(below := value.get(key), dict)), value)
    return inner if "content" in inner and "tool_call_id" in inner else None


def _block_text(block: JsonValue) -> str | None:
    if not isinstance(block, dict) or not block.keys() <= {"text", "type"} or block.get("type", "text") != "text":
        return None
    said = block.get("text")
    return said if isinstance(said, str) else None


def tool_definitions(values: Iterable[JsonValue]) -> tuple[ToolDefinition, ...]:
    """Read the tools that a model was offered.

    Args:
        values: Each a definition, or JSON text of one.

    Returns:
        Those that have a name.
    """
    found = [
        _known_definition(value) if isinstance(value, str) and len(value) <= _LONGEST_KEPT else tool_definition(value)
        for value in _declared(values)
    ]
    return tuple(definition for definition in found if definition is not None)


def _declared(values: Iterable[JsonValue]) -> Iterator[JsonValue]:
    """Give single definitions: Google's tools hold several functions each."""
    for value in values:
        inner = None
        if isinstance(value, dict):
            inner = value.get("function_declarations", value.get("functionDeclarations"))
        if isinstance(inner, list):
            yield from inner
        else:
            yield value


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
