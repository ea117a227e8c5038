"""The attribute keys and the scope of Google's Agent Development Kit."""

from __future__ import annotations

from typing import Final

__all__ = [
    "DATA",
    "LLM_REQUEST",
    "LLM_RESPONSE",
    "PREFIX",
    "SCOPE",
    "SESSION_ID",
    "TOOL_CALL_ARGS",
    "TOOL_RESPONSE",
]

SCOPE: Final = "gcp.vertex.agent"
PREFIX: Final = "gcp.vertex.agent."
SESSION_ID: Final = "gcp.vertex.agent.session_id"
LLM_REQUEST: Final = "gcp.vertex.agent.llm_request"
LLM_RESPONSE: Final = "gcp.vertex.agent.llm_response"
TOOL_CALL_ARGS: Final = "gcp.vertex.agent.tool_call_args"
TOOL_RESPONSE: Final = "gcp.vertex.agent.tool_response"
DATA: Final = "gcp.vertex.agent.data"
