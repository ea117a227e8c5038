"""Chat messages in the shapes that providers and dialects write them in.

One reader takes them all, by what a message holds: OpenAI's (``content`` as text or as typed parts, ``tool_calls`` with
a ``function``), OpenTelemetry's (``parts``), Anthropic's and Bedrock's blocks, Google's ``parts`` without types, the
items of OpenAI's responses, and LangChain's messages, as plain dictionaries and as it serialises its own objects.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from pixie_otel.evaluable import JsonValue, ToolCall, canonical_json
from pixie_otel.traces.dialects.parts import CALL_TYPES, RESULT_TYPES, content_part, kind, raw_parts, reasoning
from pixie_otel.traces.dialects.toolcalls import listed_calls, tool_call
from pixie_otel.traces.dialects.values import decoded, first_text, text
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

__all__ = ["message", "messages", "text_message"]

_Object: TypeAlias = dict[str, JsonValue]

_ROLES: Final = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool-call": "assistant",
    "tool": "tool",
    "function": "tool",
    "tool-response": "tool",
}
_CONTENT_KEYS: Final = ("content", "parts", "refusal", "audio")
_PLAIN_KEYS: Final = frozenset({"role", "parts", "name", "finish_reason"})
_OUTPUT_TYPES: Final = frozenset({"text", "json", "error-text", "error-json", "content"})
"""How the Vercel AI SDK says what a tool gave back, around the value itself."""
_RESULT_KEYS: Final = ("response", "result", "output", "content")
_ANSWERED_KEYS: Final = ("tool_call_id", "toolCallId", "tool_use_id", "id", "call_id")
_RESULT_ID_KEYS: Final = ("tool_use_id", "toolUseId", "toolCallId", "tool_call_id", "call_id", "id", "ref")


def messages(value: JsonValue, *, role: str = "user") -> tuple[Message, ...]:
    """Read a list of messages.

    Args:
        value: A list, one message, or plain text; JSON text of these too. A list within the list is one batch of them.
        role: The role of a message that does not say its own.

    Returns:
        The messages in order. A message with several tool results becomes one message a result.
    """
    value = decoded(value)
    if isinstance(value, dict | str):
        value = [value] if value else []
    if not isinstance(value, list):
        return ()
    found: list[Message] = []
    for item in value:
        for said in item if isinstance(item, list) else [item]:
            if isinstance(said, str):
                found.append(message({"content": said}, role=role))
            elif isinstance(said, dict):
                found.extend(_split(said, role))
    return tuple(found)


def text_message(role: str, content: str, finish_reason: str | None = None) -> Message | None:
    """Make a message that is text and nothing else, as most are; ``None`` for a role that takes more care.

    Args:
        role: ``user``, ``assistant`` or ``system``.
        content: The text.
        finish_reason: Why an answer ended.
    """
    parts = (TextContent(content),)
    if role == "user":
        return UserMessage(content=parts)
    if role == "assistant":
        return AssistantMessage(content=parts, finish_reason=finish_reason)
    return SystemMessage(content=parts) if role == "system" else None


def _quickly(value: _Object) -> Message | None:
    """Read a message in the two commonest shapes; ``None`` for one with anything else in it."""
    role, content = value.get("role"), value.get("content")
    if not isinstance(role, str):
        return None
    if len(value) == 2 and isinstance(content, str) and content:
        return text_message(role, content)
    parts = value.get("parts")
    if not isinstance(parts, list) or len(parts) != 1 or not value.keys() <= _PLAIN_KEYS or value.get("name"):
        return None
    (part,) = parts
    if not isinstance(part, dict) or len(part) != 2 or part.get("type") != "text":
        return None
    finish, said = value.get("finish_reason"), part.get("content")
    return text_message(role, said, text(finish)) if isinstance(said, str) else None


def message(value: _Object, *, role: str = "user") -> Message:
    """Read one message.

    Args:
        value: The message as an object, in any of the shapes that this module knows.
        role: Its role, where it does not say its own.

    Returns:
        The message, as the class of its role.
    """
    value = _unpacked(value)
    role, value = _with_role(value, role)
    return _message(value, role, raw_parts(value))


def _message(value: _Object, role: str, raws: list[_Object]) -> Message:
    """Read a message of which the role is known, and what its parts are."""
    parts: list[ContentPart] = []
    calls: list[ToolCall] = []
    results: list[_Object] = []
    for key in ("reasoning_content", "reasoning"):
        if not parts and (thought := text(value.get(key))):
            parts.append(ReasoningContent(thought))
    for raw in raws:
        said = kind(raw)
        if said in CALL_TYPES:
            calls.extend(_told(tool_call(raw)))
        elif said in RESULT_TYPES:
            results.append(raw)
        elif (part := content_part(raw, said)) is not None:
            parts.append(part)
    if listed := listed_calls(value):
        calls.extend(_unheard(listed, calls))
    parts = _spoken(parts, calls)
    name = text(value.get("name"))
    if role in ("system", "developer"):
        return SystemMessage(role=role, content=tuple(parts), name=name)
    if (role == "tool" and (results or not calls)) or (results and not parts and not calls):
        return _tool_result(value, parts, results, name)
    parts.extend(OtherContent(kind(result), dict(result)) for result in results)
    if role == "assistant" or calls:
        finish = text(value.get("finish_reason"))
        return AssistantMessage(content=tuple(parts), name=name, tool_calls=tuple(calls), finish_reason=finish)
    if role == "user":
        return UserMessage(content=tuple(parts), name=name)
    return Message(role=role, content=tuple(parts), name=name)


def _spoken(parts: list[ContentPart], calls: list[ToolCall]) -> list[ContentPart]:
    """Give the parts without those that only repeat a call."""
    return [part for part in parts if not _is_a_call(part, calls)] if calls and parts else parts


def _is_a_call(part: ContentPart, calls: list[ToolCall]) -> bool:
    """Say whether a text is only a provider's item of a call that is there as well, written as JSON."""
    if not isinstance(part, TextContent) or not part.text.startswith("{"):
        return False
    item = decoded(part.text, depth=1)
    return isinstance(item, dict) and kind(item) in CALL_TYPES and tool_call(item) in calls


def _unpacked(value: _Object) -> _Object:
    """Give a message without what is around it: LangChain's wrapping, or the choice whose message it is."""
    if "role" in value:
        return value
    if isinstance(inner := value.get("message"), dict):
        return {"finish_reason": value.get("finish_reason"), **inner}
    if isinstance(inner := value.get("data"), dict):
        return {"role": value.get("type"), **inner}
    if isinstance(inner := value.get("kwargs"), dict) and isinstance(path := value.get("id"), list) and path:
        return {"role": path[-1], **inner}
    return value


def _with_role(value: _Object, role: str) -> tuple[str, _Object]:
    """Give a message's role, and the message as one that has content: an item of a conversation may be a bare part."""
    said = text(value.get("role"))
    if said is not None:
        return _role(said), value
    item = text(value.get("type"))
    if item is None or item == "message":
        return role, value
    if (known := _ROLES.get(_role(item))) is not None:
        return known, value
    # What providers run themselves is called for by the model: web_search_call, code_interpreter_call, …
    return "assistant" if item.endswith("_call") else role, {"parts": [value]}


def _role(said: str) -> str:
    if (known := _ROLES.get(said)) is not None:
        return known
    short = said.rpartition(".")[2].lower().removesuffix("chunk").removesuffix("message") or said.lower()
    return _ROLES.get(short, short)


def _told(call: ToolCall) -> list[ToolCall]:
    """Give a call of a message's content; none where only that there was one is said, and the message lists it."""
    return [call] if call.name or call.id or call.arguments is not None else []


def _unheard(listed: list[ToolCall], heard: list[ToolCall]) -> list[ToolCall]:
    """Give the calls of a message's list that its content does not hold as well."""
    if not heard:
        return listed
    ids = {call.id for call in heard if call.id}
    # Where both have ids, these alone tell.
    alike, alike_without_id = set(heard), {call for call in heard if not call.id}
    return [call for call in listed if not ((call.id in ids or call in alike_without_id) if call.id else call in alike)]


def _split(value: _Object, role: str) -> list[Message]:
    """Give a message that answers several tool calls as several messages, in order."""
    if (plain := _quickly(value)) is not None:
        return [plain]
    item = text(value.get("type"))
    if "role" not in value:
        if item == "reasoning":
            return [AssistantMessage(content=(ReasoningContent(reasoning(value)),))]
        if item in CALL_TYPES:
            return [AssistantMessage(tool_calls=(tool_call(value),))]
        if item in RESULT_TYPES:
            return [_tool_result({}, [], [value], None)]
    parts = raw_parts(value)
    if len(parts) < 2 or not any(kind(part) in RESULT_TYPES for part in parts):
        said = text(value.get("role"))
        return [message(value, role=role) if said is None else _message(value, _role(said), parts)]
    found: list[Message] = []
    rest: _Object = {key: said for key, said in value.items() if key not in _CONTENT_KEYS}
    run: list[JsonValue] = []
    for part in parts:
        if kind(part) not in RESULT_TYPES:
            run.append(part)
            continue
        if run:
            found.append(message({**rest, "parts": run}, role=role))
            rest = {"role": value.get("role")}
            run = []
        found.append(_tool_result({}, [], [part], None))
    if run or "tool_calls" in rest:
        found.append(message({**rest, "parts": run}, role=role))
    return found


def _tool_result(
    value: _Object, parts: list[ContentPart], results: list[_Object], name: str | None
) -> ToolResultMessage:
    identity = first_text(value, _ANSWERED_KEYS)
    if not results and _is_own_json(content := value.get("content")):
        parts = _result_content({"content": content})
    for result in results:
        inner = result
        for key in ("toolResult", "function_response", "functionResponse", "tool_call_result", "toolResponse"):
            if isinstance(below := result.get(key), dict):
                inner = below
        # Haystack's results name the call that they answer whole.
        called = below if isinstance(below := inner.get("origin"), dict) else inner
        identity = identity or first_text(called, _RESULT_ID_KEYS)
        name = name or first_text(called, ("name", "toolName", "tool_name"))
        parts.extend(_result_content(inner))
    return ToolResultMessage(content=tuple(parts), name=name, tool_call_id=identity)


def _is_own_json(content: JsonValue) -> bool:
    """Say whether a tool message's content is what the tool returned, rather than text or typed parts."""
    if isinstance(content, list):
        return any(not isinstance(item, dict) or not kind(item) for item in content)
    return not kind(content) if isinstance(content, dict) else not isinstance(content, str | None)


def _result_content(result: _Object) -> list[ContentPart]:
    value = next((result[key] for key in _RESULT_KEYS if result.get(key) is not None), None)
    if isinstance(value, list) and len(value) == 1 and isinstance(only := value[0], dict) and only.keys() == {"json"}:
        # Bedrock's block of JSON.
        value = only["json"]
    if isinstance(value, dict) and "value" in value and value.get("type") in _OUTPUT_TYPES:
        value = value["value"]
    if value is None:
        return []
    if isinstance(value, str):
        return [TextContent(value)]
    if isinstance(value, list) and value:
        parts = [content_part(item) if isinstance(item, dict) else None for item in value]
        # A list of texts and images is what the model got; any other list is the tool's own JSON.
        if all(isinstance(part, TextContent | ImageContent) for part in parts):
            return [part for part in parts if part is not None]
    return [TextContent(canonical_json(value))]
