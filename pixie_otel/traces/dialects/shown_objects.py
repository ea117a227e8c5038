"""Objects of Python that were written down as ``repr`` shows them: ``ChatMessage(role=<Role.USER: 'user'>, …)``.

OpenInference's instrumentors of Haystack, LlamaIndex and smolagents write what they cannot encode so, messages above
all. Such text is taken apart token by token and never evaluated.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.values import decoded

__all__ = ["holds_objects", "opened"]

_LONGEST: Final = 256 * 1024
_MAX_DEPTH: Final = 6
_NAMES: Final = ("ChatMessage(", "ChatCompletion(")
"""How the objects begin that say something: messages, and the responses of OpenAI's client."""
_TOKEN: Final = re.compile(
    r"""\s*+(?:
        (?P<string>'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+")
      | (?P<word>None|True|False)\b
      | (?P<number>-?\d++(?:\.\d++)?(?:e[+-]?\d++)?)(?!\w)
      | (?P<field>[A-Za-z_]\w*+)=
      | (?P<object>[A-Z]\w*+)\(
      | (?P<member><\w++(?:\.\w++)*+:|>)
      | (?P<mark>[][(){},:])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(000[0-9a-f]{5}|0010[0-9a-f]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t"}
_WORDS: Final = {"None": "null", "True": "true", "False": "false"}
_CLASS: Final = ""
"""Where an object's class is kept: no field is called so."""
_TYPES: Final = {
    "TextContent": "text",
    "TextBlock": "text",
    "ThinkingBlock": "thinking",
    "ReasoningContent": "reasoning",
    "ToolCall": "tool_call",
    "ToolCallBlock": "tool_call",
    "ToolCallResult": "tool_call_result",
    "ImageBlock": "image",
    "ImageContent": "image",
}
"""What the parts of messages are, by their classes."""


def holds_objects(recorded: JsonValue) -> bool:
    """Say, quickly, whether there may be such objects in a value as it was recorded.

    Args:
        recorded: The value, not decoded.
    """
    return isinstance(recorded, str) and any(map(recorded.__contains__, _NAMES))


def opened(value: JsonValue) -> JsonValue:
    """Give a value with the objects that it holds as text taken apart.

    Args:
        value: The value, decoded.

    Returns:
        The value with an object of fields in the place of each such text; the parts of a message have a ``type``. Text
        that is anything else, or holds what is no plain value, stays as it is.
    """
    return _opened(value, 0)


def _opened(value: JsonValue, depth: int) -> JsonValue:
    if isinstance(value, str):
        return _object(value) if value.startswith(_NAMES) and len(value) <= _LONGEST else value
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [_opened(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {name: _opened(item, depth + 1) for name, item in value.items()}
    return value


def _object(text: str) -> JsonValue:
    written = _as_json(text)
    found = None if written is None else decoded(written, depth=1)
    return _typed(found) if isinstance(found, dict) else text


def _typed(value: JsonValue) -> JsonValue:
    """Give fields without the marks of private ones, and parts of messages with their type."""
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if not isinstance(value, dict):
        return value
    said = value.get(_CLASS)
    if said is None:
        return {name: _typed(item) for name, item in value.items()}
    fields = {name.lstrip("_"): _typed(item) for name, item in value.items() if name != _CLASS}
    return {"type": _TYPES[said], **fields} if isinstance(said, str) and said in _TYPES else fields


def _as_json(text: str) -> str | None:
    """Write objects as JSON; ``None`` for what is none. Whether all is well nested shows when it is read."""
    written: list[str] = []
    ends: list[str] = []
    at = 0
    for match in _TOKEN.finditer(text):
        if match.start() != at:
            return None
        at, name = match.end(), match.lastgroup or ""
        token = match[name]
        if name == "object":
            ends.append("}")
            written.append(f'{{"{_CLASS}":"{token}"')
            # The class stands before the fields.
            if text[at : at + 1] != ")":
                written.append(",")
        elif name == "field":
            written.append(f'"{token}":')
        elif name == "string":
            if (said := _string(token)) is None:
                return None
            written.append(said)
        elif name != "member":
            written.append(_mark(token, ends))
    return " ".join(written) if not text[at:].strip() else None


def _mark(mark: str, ends: list[str]) -> str:
    if mark == "(":
        ends.append("]")
        return "["
    if mark == ")":
        return ends.pop() if ends else mark
    return _WORDS.get(mark, mark)


def _string(token: str) -> str | None:
    said = token[1:-1]
    try:
        return msgspec.json.encode(_ESCAPE.sub(_unescaped, said) if "\\" in said else said).decode()
    except UnicodeEncodeError:
        return None


def _unescaped(match: re.Match[str]) -> str:
    two, four, eight, other = match.groups()
    return _ESCAPED.get(other, other) if other is not None else chr(int(two or four or eight, 16))
