"""Keys of coding agents: Claude Code, Codex CLI and Gemini CLI. Claude Code's have no prefix."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ABORTED",
    "CACHE_CREATION_TOKENS",
    "CACHE_READ_TOKENS",
    "CALL_ID",
    "CLAUDE_CODE",
    "CODEX_CONVERSATION",
    "CODEX_PROMPT_EVENT",
    "CODEX_REASONING_TOKENS",
    "CODEX_THREAD",
    "CODEX_TOOL_EVENT",
    "CODEX_TOTAL_TOKENS",
    "CODEX_TURN",
    "FILE_PATH",
    "FULL_COMMAND",
    "GEMINI_CALL_ID",
    "INPUT_TOKENS",
    "MODEL",
    "MODEL_OUTPUT",
    "NEW_CONTEXT",
    "OUTPUT_TOKENS",
    "SPAN_TYPE",
    "STOP_REASON",
    "SUBAGENT",
    "SUCCESS",
    "SYSTEM_PROMPT",
    "TOOL_INPUT",
    "TOOL_NAME",
    "TOOL_OUTPUT_EVENT",
    "TOOL_USE_ID",
    "TTFT",
    "USER_PROMPT",
]

CLAUDE_CODE: Final = "claude_code."
"""How the names of Claude Code's spans and log records begin."""
SPAN_TYPE: Final = "span.type"
USER_PROMPT: Final = "user_prompt"
MODEL: Final = "model"
INPUT_TOKENS: Final = "input_tokens"
OUTPUT_TOKENS: Final = "output_tokens"
CACHE_READ_TOKENS: Final = "cache_read_tokens"
CACHE_CREATION_TOKENS: Final = "cache_creation_tokens"
STOP_REASON: Final = "stop_reason"
TTFT: Final = "ttft_ms"
SUCCESS: Final = "success"
SYSTEM_PROMPT: Final = "system_prompt_preview"
NEW_CONTEXT: Final = "new_context"
MODEL_OUTPUT: Final = "response.model_output"
TOOL_NAME: Final = "tool_name"
TOOL_USE_ID: Final = "tool_use_id"
TOOL_INPUT: Final = "tool_input"
TOOL_OUTPUT_EVENT: Final = "tool.output"
FULL_COMMAND: Final = "full_command"
FILE_PATH: Final = "file_path"
SUBAGENT: Final = "subagent_type"
CODEX_TURN: Final = "codex.turn."
CODEX_TOTAL_TOKENS: Final = "codex.usage.total_tokens"
CODEX_REASONING_TOKENS: Final = "codex.usage.reasoning_output_tokens"
CODEX_CONVERSATION: Final = "conversation.id"
CODEX_THREAD: Final = "thread.id"
CODEX_PROMPT_EVENT: Final = "codex.user_prompt"
CODEX_TOOL_EVENT: Final = "codex.tool_result"
CALL_ID: Final = "call_id"
ABORTED: Final = "aborted"
GEMINI_CALL_ID: Final = "gen_ai.tool.call_id"
