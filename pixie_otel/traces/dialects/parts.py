"""The parts of a chat message's content, in the shapes that providers and dialects write them in."""

from __future__ import annotations

import base64
from typing import Final

from pixie_otel.evaluable import JsonValue, canonical_json
from pixie_otel.traces.dialects.values import text
from pixie_otel.traces.messages import ContentPart, ImageContent, OtherContent, ReasoningContent, TextContent

__all__ = ["CALL_TYPES", "RESULT_TYPES", "content_part", "kind", "raw_parts", "reasoning"]

CALL_TYPES: Final = frozenset(
    {
        "tool_call",
        "tool-call",
        "tool_use",
        "function_call",
        "custom_tool_call",
        "toolUse",
        "functionCall",
        "toolRequest",
        "tool_kwargs",
    }
)
"""The types of parts, and of a conversation's items, in which a model calls a tool."""
RESULT_TYPES: Final = frozenset(
    {
        "tool_call_response",
        "tool_call_result",
        "tool-result",
        "tool_result",
        "function_call_output",
        "custom_tool_call_output",
        "function_response",
        "functionResponse",
        "toolResult",
        "toolResponse",
    }
)
"""The types of parts, and of a conversation's items, in which a tool answers."""

_TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text", "summary_text"})
_REASONING_TYPES: Final = frozenset(
    {
        "reasoning",
        "thinking",
        "redacted_thinking",
        "redacted-reasoning",
        "reasoning_text",
        "reasoningContent",
        "reasoningText",
    }
)
_IMAGE_TYPES: Final = frozenset({"image", "image_url", "input_image", "image-data", "image-url"})
_BLOB_TYPES: Final = frozenset(
    {
        "blob",
        "uri",
        "file",
        "inline_data",
        "inlineData",
        "file_data",
        "fileData",
        "media",
        "file-data",
        "file-url",
        "binary",
    }
)
_TELLING_KEYS: Final = (
    "toolUse",
    "toolResult",
    "toolRequest",
    "toolResponse",
    "function_call",
    "functionCall",
    "function_response",
    "functionResponse",
    "tool_call",
    "tool_call_result",
    "tool_kwargs",
    "image",
    "media",
    "inline_data",
    "inlineData",
    "file_data",
    "fileData",
    "file",
    "executable_code",
    "executableCode",
    "code_execution_result",
    "codeExecutionResult",
    "reasoningContent",
    "reasoning",
    "text",
)
"""What a part without a type is, by the key that it has: Google's, Bedrock's and many frameworks' parts say it so."""
_RANKS: Final = {key: rank for rank, key in enumerate(_TELLING_KEYS)}
_SAID_KINDS: Final = frozenset(
    {"text", "thinking", "binary", "image-url", "audio-url", "video-url", "document-url", "file", "uri", "blob"}
)
"""What Pydantic AI calls the ``kind`` of a part in its events."""
_LONGEST_SCHEME: Final = 12
_BYTE: Final = 256
_MIME_KEYS: Final = ("mime_type", "mimeType", "media_type", "mediaType", "contentType")
_REASONING_KEYS: Final = (
    "content",
    "text",
    "thinking",
    "summary",
    "reasoning",
    "reasoningContent",
    "reasoningText",
    "reasoning_text",
)


def raw_parts(value: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Give the parts of a message as they were written, text as a part of its own.

    Args:
        value: The message. Where it has ``parts`` and ``content``, and both hold text, that is the same text.
    """
    # LlamaIndex calls them blocks.
    found = _listed(value.get("parts", value.get("blocks")))
    content = _listed(value.get("content"))
    if content and not any(kind(part) in _TEXT_TYPES for part in found):
        found = [*content, *found]
    if refusal := text(value.get("refusal")):
        found.append({"type": "refusal", "refusal": refusal})
    if isinstance(audio := value.get("audio"), dict):
        found.append({"type": "audio", "audio": audio})
    return found


def kind(part: dict[str, JsonValue]) -> str:
    """Say what a part is.

    Args:
        part: The part as it was written.

    Returns:
        Its type, or what its keys say where it has none; "" for what is not known.
    """
    if (said := text(part.get("type"))) is not None:
        # What providers run themselves, Pydantic AI calls built in.
        return f"server_{said}" if part.get("builtin") is True else said
    if part.get("thought") is True:
        return "reasoning"
    if (own := text(part.get("kind"))) is not None and own in _SAID_KINDS:
        return own
    telling = [key for key in part if key in _RANKS and part[key] is not None]
    if telling:
        return telling[0] if len(telling) == 1 else min(telling, key=_RANKS.__getitem__)
    return "text" if isinstance(part.get("content"), str) else ""


def content_part(part: dict[str, JsonValue], said: str | None = None) -> ContentPart | None:
    """Read one part that is neither a tool call nor a tool's result.

    Args:
        part: The part as it was written.
        said: What it is, where that is known.

    Returns:
        The part; ``None`` for text of which none was recorded.
    """
    if said is None:
        said = kind(part)
    if said in _TEXT_TYPES:
        found = part.get("text", part.get("content"))
        if isinstance(found, dict):
            # OpenAI's assistants give a text with its annotations.
            found = found.get("value")
        return TextContent(found) if isinstance(found, str) else None
    if said in _REASONING_TYPES:
        return ReasoningContent(reasoning(part))
    if not said and isinstance(data := part.get("data"), dict | list):
        # Genkit decodes what a model answered as JSON.
        return TextContent(canonical_json(data))
    return _image(said, part) or OtherContent(said or "unknown", dict(part))


def reasoning(part: dict[str, JsonValue]) -> str:
    """Give what a model thought; empty where that was recorded only in encrypted form.

    Args:
        part: A reasoning part, or a reasoning item of a conversation.
    """
    inner: JsonValue = part
    for _ in range(3):
        if not isinstance(inner, dict):
            break
        inner = next((found for key in _REASONING_KEYS if (found := inner.get(key))), None)
    if isinstance(inner, list):
        return "".join(text(item.get("text")) or "" for item in inner if isinstance(item, dict))
    return inner if isinstance(inner, str) else ""


def _listed(content: JsonValue) -> list[dict[str, JsonValue]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if isinstance(content, dict):
        return [content]
    if not isinstance(content, list):
        return []
    return [
        part if isinstance(part, dict) else {"type": "text", "text": part}
        for part in content
        if isinstance(part, dict | str)
    ]


def _image(said: str, part: dict[str, JsonValue]) -> ImageContent | None:
    if said in _BLOB_TYPES:
        inner = part.get(said)
        found = inner if isinstance(inner, dict) else part
        mime = _text_at(found, *_MIME_KEYS)
        if part.get("modality") != "image" and (mime or "").partition("/")[0] != "image":
            return None
        return _pictured(found, mime)
    if said not in _IMAGE_TYPES:
        return None
    source = next((part[key] for key in ("source", "image_url", "image") if part.get(key) is not None), part)
    mime, detail = _text_at(part, *_MIME_KEYS), text(part.get("detail"))
    # OpenInference nests the image in itself, Bedrock its source.
    while isinstance(source, dict) and isinstance(below := source.get("image", source.get("source")), dict):
        source = below
    if isinstance(source, str):
        # Next to a media type stands what has that type, rather than where it is.
        bare = mime is not None and ":" not in source[:_LONGEST_SCHEME] and "image" in part
        if bare and " " in source:
            return ImageContent("", mime, detail)
        return ImageContent(_data_uri(source, mime) if bare else source, mime, detail)
    return _pictured(source, mime, detail) if isinstance(source, dict) else ImageContent("", mime, detail)


def _pictured(source: dict[str, JsonValue], mime: str | None, detail: str | None = None) -> ImageContent:
    mime = _text_at(source, *_MIME_KEYS) or mime
    detail = text(source.get("detail")) or detail
    data = _text_at(source, "data", "base64", "bytes", "content", "base64_image", "base64_data", "binary_content")
    if data is None:
        data = _encoded(source)
    if data is not None and " " in data:
        # Words in place of the bytes, that these were left out.
        data = ""
    if not data:
        url = _text_at(source, "url", "uri", "file_uri", "fileUri", "file_id")
        return ImageContent(url or "", mime, detail)
    if data.startswith(("data:", "http:", "https:")):
        return ImageContent(data, mime, detail)
    return ImageContent(_data_uri(data, mime), mime, detail)


def _data_uri(data: str, mime: str | None) -> str:
    return f"data:{mime if mime and '/' in mime else 'image/*'};base64,{data}"


def _encoded(source: dict[str, JsonValue]) -> str | None:
    """Encode bytes that JavaScript wrote as numbers: a list for a buffer, an object with indexes for a typed array."""
    numbers = list(source.values()) if "0" in source else source.get("data")
    if not isinstance(numbers, list) or not numbers:
        return None
    found = [number for number in numbers if type(number) is int and 0 <= number < _BYTE]
    return base64.b64encode(bytes(found)).decode("ascii") if len(found) == len(numbers) else None


def _text_at(value: dict[str, JsonValue], *names: str) -> str | None:
    return next((found for name in names if (found := text(value.get(name)))), None)
