"""Keys of the Vercel AI SDK."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CACHED_INPUT_TOKENS",
    "CACHE_READ_TOKENS",
    "CACHE_WRITE_TOKENS",
    "COMPLETION_TOKENS",
    "CONTEXT",
    "DOCUMENTS",
    "EMBEDDING",
    "EMBEDDINGS",
    "EMBED_TOKENS",
    "FINISH_REASON",
    "FUNCTION_ID",
    "INPUT_TOKENS",
    "INPUT_TOKEN_DETAILS",
    "MAX_OUTPUT_TOKENS",
    "MAX_TOKENS",
    "METADATA",
    "MODEL_ID",
    "MODEL_PROVIDER",
    "MS_TO_FIRST_CHUNK",
    "OLD_FINISH_REASON",
    "OLD_MS_TO_FIRST_CHUNK",
    "OLD_OBJECT",
    "OLD_TEXT",
    "OLD_TOOL_CALLS",
    "OPERATION_GENERATE_OBJECT",
    "OPERATION_GENERATE_TEXT",
    "OPERATION_ID",
    "OPERATION_STREAM_OBJECT",
    "OPERATION_STREAM_TEXT",
    "OPERATION_TOOL",
    "OUTPUT_REASONING_TOKENS",
    "OUTPUT_TOKENS",
    "PREFIX",
    "PROMPT",
    "PROMPT_MESSAGES",
    "PROMPT_TOKENS",
    "PROMPT_TOOLS",
    "PROVIDER_METADATA",
    "RANKING",
    "REASONING_TOKENS",
    "RELAYED",
    "RESPONSE_FILES",
    "RESPONSE_ID",
    "RESPONSE_MODEL",
    "RESPONSE_OBJECT",
    "RESPONSE_REASONING",
    "RESPONSE_TEXT",
    "RESPONSE_TOOL_CALLS",
    "TEMPERATURE",
    "TOOL_ARGS",
    "TOOL_ID",
    "TOOL_NAME",
    "TOOL_RESULT",
    "TOP_P",
    "VALUE",
    "VALUES",
]

PREFIX: Final = "ai."
RELAYED: Final = "vercel.ai."
"""How Sentry names what it does not rename."""
OPERATION_ID: Final = "ai.operationId"
OPERATION_TOOL: Final = "ai.toolCall"
OPERATION_GENERATE_TEXT: Final = "ai.generateText"
OPERATION_STREAM_TEXT: Final = "ai.streamText"
OPERATION_GENERATE_OBJECT: Final = "ai.generateObject"
OPERATION_STREAM_OBJECT: Final = "ai.streamObject"
FUNCTION_ID: Final = "ai.telemetry.functionId"
METADATA: Final = "ai.telemetry.metadata."
CONTEXT: Final = "ai.settings.context."
MODEL_ID: Final = "ai.model.id"
MODEL_PROVIDER: Final = "ai.model.provider"
PROMPT: Final = "ai.prompt"
PROMPT_MESSAGES: Final = "ai.prompt.messages"
PROMPT_TOOLS: Final = "ai.prompt.tools"
TEMPERATURE: Final = "ai.settings.temperature"
MAX_TOKENS: Final = "ai.settings.maxTokens"
MAX_OUTPUT_TOKENS: Final = "ai.settings.maxOutputTokens"
TOP_P: Final = "ai.settings.topP"
RESPONSE_ID: Final = "ai.response.id"
RESPONSE_MODEL: Final = "ai.response.model"
RESPONSE_TEXT: Final = "ai.response.text"
RESPONSE_OBJECT: Final = "ai.response.object"
RESPONSE_TOOL_CALLS: Final = "ai.response.toolCalls"
RESPONSE_REASONING: Final = "ai.response.reasoning"
RESPONSE_FILES: Final = "ai.response.files"
FINISH_REASON: Final = "ai.response.finishReason"
PROVIDER_METADATA: Final = "ai.response.providerMetadata"
MS_TO_FIRST_CHUNK: Final = "ai.response.msToFirstChunk"
OLD_MS_TO_FIRST_CHUNK: Final = "ai.stream.msToFirstChunk"
OLD_TEXT: Final = "ai.result.text"
OLD_OBJECT: Final = "ai.result.object"
OLD_TOOL_CALLS: Final = "ai.result.toolCalls"
OLD_FINISH_REASON: Final = "ai.finishReason"
INPUT_TOKENS: Final = "ai.usage.inputTokens"
OUTPUT_TOKENS: Final = "ai.usage.outputTokens"
PROMPT_TOKENS: Final = "ai.usage.promptTokens"
COMPLETION_TOKENS: Final = "ai.usage.completionTokens"
EMBED_TOKENS: Final = "ai.usage.tokens"
CACHED_INPUT_TOKENS: Final = "ai.usage.cachedInputTokens"
REASONING_TOKENS: Final = "ai.usage.reasoningTokens"
INPUT_TOKEN_DETAILS: Final = "ai.usage.inputTokenDetails."  # noqa: S105 - tokens of text
CACHE_READ_TOKENS: Final = "ai.usage.inputTokenDetails.cacheReadTokens"
CACHE_WRITE_TOKENS: Final = "ai.usage.inputTokenDetails.cacheWriteTokens"
OUTPUT_REASONING_TOKENS: Final = "ai.usage.outputTokenDetails.reasoningTokens"
TOOL_NAME: Final = "ai.toolCall.name"
TOOL_ID: Final = "ai.toolCall.id"
TOOL_ARGS: Final = "ai.toolCall.args"
TOOL_RESULT: Final = "ai.toolCall.result"
VALUE: Final = "ai.value"
VALUES: Final = "ai.values"
EMBEDDING: Final = "ai.embedding"
EMBEDDINGS: Final = "ai.embeddings"
DOCUMENTS: Final = "ai.documents"
RANKING: Final = "ai.ranking"
