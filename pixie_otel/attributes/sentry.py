"""Keys of Sentry's agent monitoring, beside those of OpenTelemetry's GenAI conventions."""

from __future__ import annotations

from typing import Final

__all__ = [
    "AVAILABLE_TOOLS",
    "CACHED_TOKENS",
    "CACHE_WRITE_TOKENS",
    "EMBEDDINGS_INPUT",
    "OP",
    "PIPELINE_NAME",
    "REASONING_TOKENS",
    "REQUEST_MESSAGES",
    "RESPONSE_OBJECT",
    "RESPONSE_TEXT",
    "RESPONSE_TOOL_CALLS",
    "TOOL_INPUT",
    "TOOL_OUTPUT",
]

OP: Final = "sentry.op"
PIPELINE_NAME: Final = "gen_ai.pipeline.name"
REQUEST_MESSAGES: Final = "gen_ai.request.messages"
AVAILABLE_TOOLS: Final = "gen_ai.request.available_tools"
RESPONSE_TEXT: Final = "gen_ai.response.text"
RESPONSE_OBJECT: Final = "gen_ai.response.object"
RESPONSE_TOOL_CALLS: Final = "gen_ai.response.tool_calls"
TOOL_INPUT: Final = "gen_ai.tool.input"
TOOL_OUTPUT: Final = "gen_ai.tool.output"
EMBEDDINGS_INPUT: Final = "gen_ai.embeddings.input"
CACHED_TOKENS: Final = "gen_ai.usage.input_tokens.cached"
CACHE_WRITE_TOKENS: Final = "gen_ai.usage.input_tokens.cache_write"
REASONING_TOKENS: Final = "gen_ai.usage.output_tokens.reasoning"
