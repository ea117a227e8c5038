"""OpenInference's messages: one key a field, with indexes in it, or the whole list as JSON in one attribute."""

from __future__ import annotations

from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import message, text_message
from pixie_otel.traces.dialects.values import Tree, decoded, indexed, leaf, text, tree
from pixie_otel.traces.messages import Message

__all__ = ["first_index", "flat_messages", "flat_texts", "items", "shown"]

_TEXT_KEYS: Final = ("role", "name", "tool_call_id")


def shown(value: JsonValue) -> JsonValue:
    """Give a value; ``None`` for one that the producer was told to hide."""
    return None if value == keys.OI_REDACTED else value


def items(branch: JsonValue, name: str) -> list[Tree]:
    """Give the mappings of a list, whichever way it was written.

    Args:
        branch: A branch of a tree with indexes, or a list, or JSON text of one.
        name: The name that each mapping stands under, or that begins its keys.
    """
    return [_within(item, name) for item in _listed(branch)]


def first_index(branch: JsonValue) -> int:
    """Give the lowest index of a branch; 0 where it has none."""
    return next((index for index, _ in indexed(branch)), 0)


def flat_messages(branch: JsonValue, role: str) -> tuple[Message, ...] | None:
    """Read a list of messages.

    Args:
        branch: What stands at ``llm.input_messages`` or ``llm.output_messages``.
        role: The role of messages that do not say their own.

    Returns:
        The messages; ``None`` where there are none, or where nothing of them is left because it was hidden.
    """
    if branch is None:
        return None
    found: list[Message] = []
    hidden = left = False
    for item in items(branch, "message"):
        if (plain := _quickly(item)) is not None:
            left = True
            found.append(plain)
            continue
        said = _as_chat(item)
        hidden = bool(said.pop("hidden")) or hidden
        left = left or bool(said["parts"] or said["tool_calls"])
        found.append(message(said, role=role))
    return tuple(found) if found and (left or not hidden) else None


def flat_texts(branch: JsonValue, name: str, role: str) -> tuple[Message, ...] | None:
    """Read the texts of a completion call, prompts or choices, as messages.

    Args:
        branch: What stands at ``llm.prompts`` or ``llm.choices``.
        name: What each is called: ``prompt`` or ``completion``.
        role: Who said them.
    """
    listed = decoded(branch)
    if isinstance(listed, list) and any(isinstance(item, str) for item in listed):
        said = [text(shown(item)) for item in listed]
    else:
        said = [text(shown(item.get("text"))) for item in items(branch, name)]
    return tuple(message({"content": item}, role=role) for item in said if item) or None


def _quickly(item: Tree) -> Message | None:
    """Read a message of a role and a text, as most are; ``None`` for one with anything else in it."""
    if len(item) != 2:
        return None
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str) or not isinstance(content, str) or not content or content == keys.OI_REDACTED:
        return None
    return text_message(role, content)


def _listed(branch: JsonValue) -> list[Tree]:
    if found := [item for _, item in indexed(branch)]:
        return found
    listed = decoded(branch.get("") if isinstance(branch, dict) else branch)
    if isinstance(listed, dict):
        return [item for _, item in indexed(listed)]
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _within(item: Tree, name: str) -> Tree:
    inner = item.get(name)
    if not isinstance(inner, dict):
        inner = tree(item, (f"{name}.",)).get(name)
    return inner if isinstance(inner, dict) else item


def _as_chat(item: Tree) -> dict[str, JsonValue]:
    """Give an OpenInference message in the shape of a chat message, and whether something of it was hidden."""
    said: dict[str, JsonValue] = {key: item[key] for key in _TEXT_KEYS if isinstance(item.get(key), str)}
    parts = _contents(item.get("contents"))
    content = _content(item.get("content"))
    if not any(part.get("type") == "text" for part in parts):
        # Text may stand in both places, and is the same then.
        parts = [*content, *parts]
    calls = [_as_call(call) for call in items(item.get("tool_calls"), "tool_call")]
    if not calls and isinstance(name := item.get("function_call_name"), str):
        calls.append({"function": {"name": name, "arguments": shown(item.get("function_call_arguments_json"))}})
    left = [part for part in parts if not _is_hidden(part)]
    return {**said, "parts": [*left], "tool_calls": [*calls], "hidden": len(left) < len(parts)}


def _content(value: JsonValue) -> list[Tree]:
    if isinstance(value, dict):
        listed = [value[key] for key in sorted(value, key=lambda key: (len(key), key)) if key.isdecimal()]
        value = listed or value.get("")
    return [
        part if isinstance(part, dict) else {"type": "text", "text": part}
        for part in (value if isinstance(value, list) else [value])
        if isinstance(part, dict) or (isinstance(part, str) and part)
    ]


def _contents(branch: JsonValue) -> list[Tree]:
    found: list[Tree] = []
    for item in _listed(branch):
        if isinstance(call := item.get("tool_call"), dict):
            found.append({"type": "tool_call", **_as_call(call)})
            continue
        part = _within(item, "message_content")
        if (url := leaf(part, "image", "image", "url")) is not None:
            found.append({"type": "image", "url": url})
        else:
            found.append({**part, "type": text(part.get("type")) or ("text" if "text" in part else "unknown")})
    return found


def _is_hidden(part: Tree) -> bool:
    return any(part.get(key) == keys.OI_REDACTED for key in ("text", "url"))


def _as_call(call: Tree) -> dict[str, JsonValue]:
    function = call.get("function")
    if not isinstance(function, dict):
        function = tree(call, ("function.",)).get("function")
    return {
        "id": call.get("id"),
        "function": {"name": leaf(function, "name"), "arguments": shown(leaf(function, "arguments"))},
    }
