"""The attribute keys of Pydantic AI."""

from __future__ import annotations

from typing import Final

__all__ = [
    "AGENT_NAME",
    "ALL_MESSAGES",
    "ALL_MESSAGES_EVENTS",
    "EVENTS",
    "FINAL_RESULT",
    "INPUTS",
    "MODEL_NAME",
    "MODEL_REQUEST_PARAMETERS",
    "TOOL_ARGUMENTS",
    "TOOL_RESPONSE",
    "USAGE_DETAILS",
]

AGENT_NAME: Final = "agent_name"
MODEL_NAME: Final = "model_name"
ALL_MESSAGES: Final = "pydantic_ai.all_messages"
ALL_MESSAGES_EVENTS: Final = "all_messages_events"
EVENTS: Final = "events"
FINAL_RESULT: Final = "final_result"
INPUTS: Final = "inputs"
MODEL_REQUEST_PARAMETERS: Final = "model_request_parameters"
TOOL_ARGUMENTS: Final = "tool_arguments"
TOOL_RESPONSE: Final = "tool_response"
USAGE_DETAILS: Final = "gen_ai.usage.details."
