"""Chat messages in the shapes that providers and dialects write them in.

One reader takes them all, by what a message holds: OpenAI's (``content`` as text or as typed parts, ``tool_calls`` with
a ``function``), OpenTelemetry's (``parts``), Anthropic's and Bedrock's blocks, Google's ``parts`` without types, and
LangChain's ``{"type": "human", "data": …}``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from pixie_otel.evaluable import JsonValue, ToolCall, canonical_json
from pixie_otel.traces.dialects.values import decoded, json_object, text
from pixie_otel.traces.messages import (
    AssistantMessage,
    ContentPart,
    ImageContent,
    Message,
    OtherContent,
    ReasoningContent,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
)
from pixie_otel.traces.spans import ToolDefinition

__all__ = ["answer", "message", "messages", "plain_messages", "tool_definition", "tool_definitions"]

_Object: TypeAlias = dict[str, JsonValue]

_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "assistantmessage": "assistant",
    "function": "tool",
    "tool-response": "tool",
    "tool-call": "assistant",
}
_TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text", "summary_text"})
_REASONING_TYPES: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})
_CALL_TYPES: Final = frozenset({"tool_call", "tool-call", "tool_use", "function_call", "toolUse"})
_RESULT_TYPES: Final = frozenset(
    {"tool_call_response", "tool-result", "tool_result", "function_call_output", "function_response", "toolResult"}
)
_IMAGE_TYPES: Final = frozenset({"image", "image_url", "input_image"})


def messages(value: JsonValue, *, role: str = "user") -> tuple[Message, ...]:
    """Read a list of messages.

    Args:
        value: A list, one message, or plain text; JSON text of these too.
        role: The role of a message that does not say its own.

    Returns:
        The messages in order. A message with several tool results becomes one message a result.
    """
    value = decoded(value)
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, str):
        return (message({"content": value}, role=role),) if value else ()
    if not isinstance(value, list):
        return ()
    found: list[Message] = []
    for item in value:
        if isinstance(item, str):
            found.append(message({"content": item}, role=role))
        elif isinstance(item, dict):
            found.extend(_split(item, role))
        elif isinstance(item, list):
            found.extend(messages(item, role=role))
    return tuple(found)


def message(value: _Object, *, role: str = "user") -> Message:
    """Read one message.

    Args:
        value: The message as an object, in any of the shapes that this module knows.
        role: Its role, where it does not say its own.

    Returns:
        The message, as the class of its role.
    """
    if isinstance(inner := value.get("data"), dict) and "role" not in value:
        value = {"role": value.get("type"), **inner}
    said = text(value.get("role")) or text(value.get("type")) or role
    role = _ROLES.get(said.lower(), said.lower())
    parts: list[ContentPart] = []
    calls: list[ToolCall] = []
    results: list[_Object] = []
    if reasoning := text(value.get("reasoning_content")):
        parts.append(ReasoningContent(reasoning))
    for part in _parts(value):
        _sort_part(part, parts, calls, results)
    calls.extend(_listed_calls(value))
    name = text(value.get("name"))
    if role in ("system", "developer"):
        return SystemMessage(role=role, content=tuple(parts), name=name)
    if role == "tool" or (results and not parts and not calls):
        return _tool_result(value, parts, results, name)
    if role == "assistant" or calls:
        finish = text(value.get("finish_reason"))
        return AssistantMessage(content=tuple(parts), name=name, tool_calls=tuple(calls), finish_reason=finish)
    if role == "user":
        return UserMessage(content=tuple(parts), name=name)
    return Message(role=role, content=tuple(parts), name=name)


def plain_messages(found: Iterable[Message]) -> JsonValue:
    """Give messages as plain JSON: the one form in which evaluators meet conversations.

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
        Text where there are no tool calls, else ``{"content", "tool_calls"}``. Several choices are a list of these.
    """
    answers = [_answer(item) for item in found]
    if len(answers) <= 1:
        return answers[0] if answers else None
    return answers


def tool_definitions(values: Iterable[JsonValue]) -> tuple[ToolDefinition, ...]:
    """Read the tools that a model was offered.

    Args:
        values: Each a definition, or JSON text of one.

    Returns:
        Those that have a name.
    """
    found = (tool_definition(value) for value in values)
    return tuple(definition for definition in found if definition is not None)


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
        if (inner := json_object(found.get(key))) is not None:
            found = inner
    name = text(found.get("name"))
    if name is None:
        return None
    parameters: _Object | None = None
    for key in ("parameters", "input_schema", "inputSchema", "parameters_json_schema", "json"):
        if (schema := json_object(found.get(key))) is not None:
            parameters = json_object(schema.get("json")) or schema
            break
    return ToolDefinition(name=name, description=text(found.get("description")), parameters=parameters)


def _split(value: _Object, role: str) -> list[Message]:
    """Give a message that answers several tool calls as several messages."""
    kind = value.get("type")
    if kind == "reasoning" and "role" not in value:
        return [AssistantMessage(content=(ReasoningContent(_reasoning(value)),))]
    if kind in _CALL_TYPES and "role" not in value:
        return [AssistantMessage(tool_calls=(_call(value),))]
    if kind in _RESULT_TYPES and "role" not in value:
        return [_tool_result({}, [], [value], None)]
    parts = _parts(value)
    results = [part for part in parts if _kind(part) in _RESULT_TYPES]
    if len(results) + len(parts) < 2 or not results:
        return [message(value, role=role)]
    found: list[Message] = [_tool_result({}, [], [part], None) for part in results]
    rest = [part for part in parts if _kind(part) not in _RESULT_TYPES]
    if rest:
        remaining: list[JsonValue] = list(rest)
        found.append(message({**value, "parts": remaining, "content": None}, role=role))
    return found


def _parts(value: _Object) -> list[_Object]:
    found: list[_Object] = []
    for key in ("content", "parts"):
        content = value.get(key)
        if isinstance(content, str):
            if content:
                found.append({"type": "text", "text": content})
        elif isinstance(content, dict):
            found.append(content)
        elif isinstance(content, list):
            found.extend(
                part if isinstance(part, dict) else {"type": "text", "text": part}
                for part in content
                if isinstance(part, dict | str)
            )
    if refusal := text(value.get("refusal")):
        found.append({"type": "refusal", "refusal": refusal})
    return found


def _kind(part: _Object) -> str:
    if (kind := text(part.get("type"))) is not None:
        return kind
    for key in ("text", "toolUse", "toolResult", "function_call", "function_response", "image"):
        if key in part:
            return key
    return ""


def _sort_part(part: _Object, parts: list[ContentPart], calls: list[ToolCall], results: list[_Object]) -> None:
    kind = _kind(part)
    if kind in _TEXT_TYPES:
        found = part.get("text", part.get("content"))
        if isinstance(found, str):
            parts.append(TextContent(found))
    elif kind in _CALL_TYPES:
        calls.append(_call(part))
    elif kind in _RESULT_TYPES:
        results.append(part)
    elif kind in _REASONING_TYPES:
        parts.append(ReasoningContent(_reasoning(part)))
    elif (image := _image(kind, part)) is not None:
        parts.append(image)
    else:
        parts.append(OtherContent(kind or "unknown", dict(part)))


def _reasoning(part: _Object) -> str:
    for key in ("content", "text", "thinking", "summary", "reasoning"):
        value = part.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return "".join(text(item.get("text")) or "" for item in value if isinstance(item, dict))
    return ""


def _image(kind: str, part: _Object) -> ImageContent | None:
    mime = text(part.get("mime_type")) or text(part.get("media_type")) or text(part.get("mediaType"))
    if kind in ("blob", "uri", "file"):
        if part.get("modality") != "image" and not (mime or "").startswith("image/"):
            return None
        if data := text(part.get("content")) or text(part.get("data")):
            return ImageContent(f"data:{mime or 'image/*'};base64,{data}", mime)
        return ImageContent(text(part.get("uri")) or text(part.get("file_id")) or "", mime)
    if kind not in _IMAGE_TYPES:
        return None
    source = part.get("source", part.get("image_url", part.get("image", part.get("url"))))
    while isinstance(source, dict) and isinstance(source.get("image"), dict):
        source = source["image"]
    if isinstance(source, str):
        return ImageContent(source, mime, text(part.get("detail")))
    if isinstance(source, dict):
        mime = text(source.get("media_type")) or mime
        if data := text(source.get("data")):
            return ImageContent(f"data:{mime or 'image/*'};base64,{data}", mime)
        return ImageContent(text(source.get("url")) or "", mime, text(source.get("detail")))
    return ImageContent("", mime)


def _listed_calls(value: _Object) -> list[ToolCall]:
    calls = decoded(value.get("tool_calls"))
    found = [_call(call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    if isinstance(old := value.get("function_call"), dict):
        found.append(_call(old))
    return found


def _call(value: _Object) -> ToolCall:
    """Read a tool call; its fields may lie one level down, under the name of its type."""
    inner = value
    for key in ("function", "toolUse", "function_call", "tool_call"):
        if isinstance(below := value.get(key), dict):
            inner = below
    arguments: JsonValue = None
    for key in ("arguments", "args", "input"):
        if key in inner:
            arguments = decoded(inner[key])
            break
    identity = None
    for key in ("call_id", "toolCallId", "toolUseId", "id"):
        identity = identity or text(value.get(key)) or text(inner.get(key))
    name = text(inner.get("name")) or text(inner.get("toolName")) or ""
    return ToolCall(name=name, arguments=arguments, id=identity)


def _tool_result(
    value: _Object, parts: list[ContentPart], results: list[_Object], name: str | None
) -> ToolResultMessage:
    identity = None
    for key in ("tool_call_id", "id", "call_id"):
        identity = identity or text(value.get(key))
    for result in results:
        inner = result
        for key in ("toolResult", "function_response"):
            if isinstance(below := result.get(key), dict):
                inner = below
        for key in ("tool_use_id", "toolUseId", "toolCallId", "call_id", "id"):
            identity = identity or text(inner.get(key))
        name = name or text(inner.get("name")) or text(inner.get("toolName"))
        parts.extend(_result_content(inner))
    return ToolResultMessage(content=tuple(parts), name=name, tool_call_id=identity)


def _result_content(result: _Object) -> list[ContentPart]:
    for key in ("response", "result", "output", "content"):
        if key not in result:
            continue
        value = result[key]
        if isinstance(value, str):
            return [TextContent(value)]
        if (
            isinstance(value, list)
            and value
            and all(isinstance(item, dict) and _kind(item) in _TEXT_TYPES for item in value)
        ):
            return [TextContent(str(item.get("text", ""))) for item in value if isinstance(item, dict)]
        if value is not None:
            return [TextContent(canonical_json(value))]
    return []


def _plain(item: Message) -> _Object:
    content: JsonValue = item.text
    if any(not isinstance(part, TextContent) for part in item.content):
        content = [_plain_part(part) for part in item.content]
    plain: _Object = {"role": item.role, "content": content}
    if item.name:
        plain["name"] = item.name
    if isinstance(item, AssistantMessage) and item.tool_calls:
        plain["tool_calls"] = _plain_calls(item)
    if isinstance(item, ToolResultMessage) and item.tool_call_id:
        plain["tool_call_id"] = item.tool_call_id
    return plain


def _plain_part(part: ContentPart) -> _Object:
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
    refusals = "".join(
        str(part.value["refusal"])
        for part in item.content
        if isinstance(part, OtherContent) and isinstance(part.value, dict) and "refusal" in part.value
    )
    content = item.text or refusals
    return {"content": content, "tool_calls": calls} if calls else content
