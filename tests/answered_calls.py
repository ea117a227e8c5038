"""Answers in OpenAI's form, given in this process to whatever its client asks."""

from __future__ import annotations

import json
from typing import Any

import httpx

__all__ = ["CALL", "TOOL", "answered"]


TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}


def answered(request: httpx.Request) -> httpx.Response:
    """Answer as OpenAI does: a call of the first tool, else a greeting, whole or as a stream."""
    asked = json.loads(request.content)
    common = {"id": "chatcmpl-1", "created": 1_764_500_000, "model": "gpt-4o-mini-2024-07-18"}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    if asked.get("stream"):
        deltas: list[dict[str, Any]] = [
            {"role": "assistant", "content": ""},
            {"content": "Grüße"},
            {"content": "!"},
            {},
        ]
        chunks = [
            common
            | {"object": "chat.completion.chunk"}
            | {"choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}]}
            for delta in deltas
        ]
        text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        return httpx.Response(200, text=text, headers={"content-type": "text/event-stream"})
    message = {"role": "assistant", "content": None if "tools" in asked else "Grüße!"}
    if "tools" in asked:
        message["tool_calls"] = [CALL]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tools" in asked else "stop"}
    return httpx.Response(200, json=common | {"object": "chat.completion", "choices": [choice], "usage": usage})
