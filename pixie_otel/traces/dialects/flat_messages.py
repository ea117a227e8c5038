"""OpenInference's messages: one key a field, with indexes in it, or the whole list as JSON in one attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import message, text_message
from pixie_otel.traces.dialects.values import Kept, Tree, decoded, indexed, leaf, text, tree
from pixie_otel.traces.messages import Message, TextContent, ToolResultMessage

__all__ = ["FlatLists", "first_index", "flat_items", "flat_lists", "flat_messages", "flat_texts", "items", "shown"]

FlatLists: TypeAlias = dict[str, dict[int, Tree]]
"""OpenInference's lists by name, their items by index, and of each item the rest of each key with its value."""

_LISTS: Final = tuple(
    f"{key}."
    for key in (
        keys.LLM_INPUT_MESSAGES,
        keys.LLM_OUTPUT_MESSAGES,
        keys.LLM_TOOLS,
        keys.LLM_PROMPTS,
        keys.LLM_CHOICES,
    )
)
_MAX_INDEX_DIGITS: Final = 9
_FUNCTION: Final = "function"
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


def flat_lists(attributes: Mapping[str, JsonValue]) -> FlatLists:
    """Sort the keys of OpenInference's lists of an LLM call, in one pass over the attributes.

    Args:
        attributes: A span's attributes.

    Returns:
        By the list's name, then by index: the rest of each key, and its value.
    """
    lists: FlatLists = {}
    for key, value in attributes.items():
        if (place := _places[key]) is not None:
            name, index, field = place
            lists.setdefault(name, {}).setdefault(index, {})[field] = value
    return lists


def _place(key: str) -> tuple[str, int, str] | None:
    """Say which list a key belongs to, which item of it, and what the rest of the key is."""
    if not key.startswith(_LISTS):
        return None
    _, name, rest = key.split(".", 2)
    index, _, field = rest.partition(".")
    is_index = index.isascii() and index.isdigit() and len(index) <= _MAX_INDEX_DIGITS
    return (name, int(index), field) if is_index else None


_places: Final = Kept(_place)


def first_index(items_by_index: Mapping[int, Tree] | None) -> int:
    """Give the lowest index of a list; 0 where there is none."""
    return min(items_by_index, default=0) if items_by_index else 0


def flat_items(attributes: Mapping[str, JsonValue], lists: FlatLists, name: str) -> list[Tree]:
    """Give the items of a list in order, each with its keys as they were sorted.

    Args:
        attributes: A span's attributes: the whole list may stand there in one, as JSON.
        lists: The sorted keys.
        name: The list's name: ``input_messages``, ``output_messages``, ``tools``, ``prompts`` or ``choices``.
    """
    by_index = lists.get(name)
    if by_index is not None:
        return [by_index[index] for index in sorted(by_index)]
    whole = attributes.get(keys.LLM_PREFIX + name)
    return [] if whole is None else _listed(whole)


def flat_messages(found_items: Iterable[Tree], role: str) -> tuple[Message, ...] | None:
    """Read a list of messages.

    Args:
        found_items: The items of ``llm.input_messages`` or ``llm.output_messages``.
        role: The role of messages that do not say their own.

    Returns:
        The messages; ``None`` where there are none, or where nothing of them is left because it was hidden.
    """
    found: list[Message] = []
    hidden = left = False
    for fields in found_items:
        if (plain := _quickly(fields)) is not None:
            left = True
            found.append(plain)
            continue
        if fields.get("message.role") == _FUNCTION and (results := _results(fields)):
            left = True
            found.extend(results)
            continue
        said = _as_chat(_within(tree(fields, ("",)), "message"))
        hidden = bool(said.pop("hidden")) or hidden
        left = left or bool(said["parts"] or said["tool_calls"])
        found.append(message(said, role=role))
    return tuple(found) if found and (left or not hidden) else None


def flat_texts(whole: JsonValue, found_items: Iterable[Tree], name: str, role: str) -> tuple[Message, ...] | None:
    """Read the texts of a completion call, prompts or choices, as messages.

    Args:
        whole: What stands at ``llm.prompts`` or ``llm.choices`` itself: some write a list of texts there.
        found_items: The items of the list.
        name: What each is called: ``prompt`` or ``completion``.
        role: Who said them.
    """
    listed = decoded(whole)
    if isinstance(listed, list) and any(isinstance(item, str) for item in listed):
        said = [text(shown(item)) for item in listed]
    else:
        said = [text(shown(_within(tree(item, ("",)), name).get("text"))) for item in found_items]
    return tuple(message({"content": item}, role=role) for item in said if item) or None


def _quickly(fields: Tree) -> Message | None:
    """Read a message of a role and a text, or a tool's answer, as most are; ``None`` for one with more in it."""
    role, content = fields.get("message.role"), fields.get("message.content")
    if not isinstance(role, str) or not isinstance(content, str) or not content or content == keys.OI_REDACTED:
        return None
    if len(fields) == 2:
        return text_message(role, content)
    identity = fields.get("message.tool_call_id")
    if len(fields) == 3 and role == "tool" and isinstance(identity, str) and identity:
        return ToolResultMessage(content=(TextContent(content),), tool_call_id=identity)
    return None


def _results(fields: Tree) -> list[Message]:
    """Read what the tools of an answer gave back, which AutoGen's instrumentor writes beside one message for all."""
    found = [
        (len(index), index, said)
        for key, value in fields.items()
        if (index := key.removeprefix(f"{_FUNCTION}.")).isdecimal() and isinstance(said := decoded(value), dict)
    ]
    found.sort(key=lambda item: item[:2])
    return [
        message({"content": said.get("content"), "tool_call_id": said.get("call_id")}, role="tool")
        for _, _, said in found
    ]


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
        function = tree(call, (f"{_FUNCTION}.",)).get(_FUNCTION)
    return {
        "id": call.get("id"),
        "function": {"name": leaf(function, "name"), "arguments": shown(leaf(function, "arguments"))},
    }
