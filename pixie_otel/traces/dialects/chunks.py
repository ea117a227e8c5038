"""The pieces of a streamed answer, put together again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.values import text, whole

__all__ = ["joined_chunks"]

_MAX_CALLS: Final = 256
_KEPT: Final = ("id", "model", "usage")


def joined_chunks(chunks: Iterable[JsonValue]) -> dict[str, JsonValue] | None:
    """Make one response of the chunks of OpenAI's chat completions; choices beyond the first are left out.

    Args:
        chunks: The chunks in order; what is no chunk is passed over.

    Returns:
        The response; ``None`` where there was no chunk.
    """
    response: dict[str, JsonValue] = {}
    said: list[str] = []
    calls: dict[int, dict[str, str]] = {}
    reason: str | None = None
    found = False
    for chunk in chunks:
        if not isinstance(chunk, dict) or not isinstance(choices := chunk.get("choices"), list):
            continue
        response.update((key, chunk[key]) for key in _KEPT if chunk.get(key) is not None)
        for choice in choices[:1]:
            if isinstance(choice, dict) and isinstance(delta := choice.get("delta"), dict):
                found = True
                said.append(text(delta.get("content")) or "")
                reason = text(choice.get("finish_reason")) or reason
                _add_calls(delta.get("tool_calls"), calls)
    if not found:
        return None
    message: dict[str, JsonValue] = {"role": "assistant", "content": "".join(said)}
    if calls:
        message["tool_calls"] = [_call(calls[index]) for index in sorted(calls)]
    return {**response, "choices": [{"message": message, "finish_reason": reason}]}


def _add_calls(pieces: JsonValue, calls: dict[int, dict[str, str]]) -> None:
    """Add pieces of tool calls: each says which call it belongs to, and arguments come bit by bit."""
    for piece in pieces if isinstance(pieces, list) else []:
        if not isinstance(piece, dict) or not isinstance(function := piece.get("function"), dict):
            continue
        index = whole(piece.get("index")) or 0
        if index not in calls and len(calls) >= _MAX_CALLS:
            continue
        call = calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        call["id"] = call["id"] or text(piece.get("id")) or ""
        call["name"] = call["name"] or text(function.get("name")) or ""
        call["arguments"] += text(function.get("arguments")) or ""


def _call(call: dict[str, str]) -> JsonValue:
    return {"id": call["id"], "function": {"name": call["name"], "arguments": call["arguments"]}}
