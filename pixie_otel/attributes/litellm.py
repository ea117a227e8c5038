"""Keys that LiteLLM writes beside those of the conventions that it follows."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CALL_ID",
    "CALL_TYPE",
    "COST_TOTAL",
    "PROVIDER_MODEL",
    "REQUESTER_METADATA",
    "TOOLS",
    "USAGE_OBJECT",
    "USER",
]

CALL_ID: Final = "litellm.call_id"
CALL_TYPE: Final = "litellm.call_type"
COST_TOTAL: Final = "litellm.cost.total"
PROVIDER_MODEL: Final = "litellm.provider.model"
REQUESTER_METADATA: Final = "metadata.requester_metadata"
TOOLS: Final = "gen_ai.tool"
USAGE_OBJECT: Final = "metadata.usage_object"
USER: Final = "llm.user"
