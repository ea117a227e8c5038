"""Keys of LiveKit Agents; later versions mark those that hold content with a segment of their own."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CHAT_CONTEXT",
    "FUNCTION_CALLS",
    "FUNCTION_TOOLS",
    "INSTRUCTIONS",
    "MARKED",
    "PREFIX",
    "RESPONSE_TEXT",
    "TOOL_ARGUMENTS",
    "TOOL_ID",
    "TOOL_NAME",
    "TOOL_OUTPUT",
    "USER_INPUT",
]

PREFIX: Final = "lk."
MARKED: Final = "lk.pii."
"""How content is marked."""
USER_INPUT: Final = "lk.user_input"
INSTRUCTIONS: Final = "lk.instructions"
CHAT_CONTEXT: Final = "lk.chat_ctx"
RESPONSE_TEXT: Final = "lk.response.text"
FUNCTION_CALLS: Final = "lk.response.function_calls"
FUNCTION_TOOLS: Final = "lk.function_tools"
TOOL_NAME: Final = "lk.function_tool.name"
TOOL_ID: Final = "lk.function_tool.id"
TOOL_ARGUMENTS: Final = "lk.function_tool.arguments"
TOOL_OUTPUT: Final = "lk.function_tool.output"
