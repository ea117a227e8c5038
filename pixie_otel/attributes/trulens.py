"""Keys of TruLens."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CALL_ERROR",
    "CALL_KWARGS",
    "CALL_RETURN",
    "COMPLETION_TOKENS",
    "CONTEXTS",
    "CONVERSATION",
    "COST",
    "MCP_ARGUMENTS",
    "MCP_CONTENT",
    "MCP_TOOL",
    "MODEL",
    "PREFIX",
    "PROMPT_TOKENS",
    "QUERY",
    "REASONING_TOKENS",
    "RERANKED",
    "RERANK_QUERY",
    "ROOT_ERROR",
    "ROOT_INPUT",
    "ROOT_OUTPUT",
    "SPAN_TYPE",
    "TIME_TO_FIRST_TOKEN",
]

PREFIX: Final = "ai.observability."
SPAN_TYPE: Final = "ai.observability.span_type"
CONVERSATION: Final = "ai.observability.conversation_id"
ROOT_INPUT: Final = "ai.observability.record_root.input"
ROOT_OUTPUT: Final = "ai.observability.record_root.output"
ROOT_ERROR: Final = "ai.observability.record_root.error"
CALL_KWARGS: Final = "ai.observability.call.kwargs."
CALL_RETURN: Final = "ai.observability.call.return"
CALL_ERROR: Final = "ai.observability.call.error"
QUERY: Final = "ai.observability.retrieval.query_text"
CONTEXTS: Final = "ai.observability.retrieval.retrieved_contexts"
RERANK_QUERY: Final = "ai.observability.reranking.query_text"
RERANKED: Final = "ai.observability.reranking.output_context_texts"
MODEL: Final = "ai.observability.cost.model"
PROMPT_TOKENS: Final = "ai.observability.cost.num_prompt_tokens"
COMPLETION_TOKENS: Final = "ai.observability.cost.num_completion_tokens"
REASONING_TOKENS: Final = "ai.observability.cost.num_reasoning_tokens"
COST: Final = "ai.observability.cost.cost"
TIME_TO_FIRST_TOKEN: Final = "ai.observability.generation.time_to_first_token_ms"  # noqa: S105 - a token of text
MCP_TOOL: Final = "ai.observability.mcp.tool_name"
MCP_ARGUMENTS: Final = "ai.observability.mcp.input_arguments"
MCP_CONTENT: Final = "ai.observability.mcp.output_content"
