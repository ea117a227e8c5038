"""The attribute keys of Langfuse's SDKs."""

from __future__ import annotations

from typing import Final

__all__ = [
    "COMPLETION_START",
    "COST_DETAILS",
    "INPUT",
    "LEVEL",
    "METADATA",
    "MODEL_NAME",
    "MODEL_PARAMETERS",
    "OBSERVATION_PREFIX",
    "OUTPUT",
    "PREFIX",
    "STATUS_MESSAGE",
    "TRACE_INPUT",
    "TRACE_METADATA",
    "TRACE_OUTPUT",
    "TRACE_SESSION_ID",
    "TRACE_USER_ID",
    "TYPE",
    "USAGE_DETAILS",
]

PREFIX: Final = "langfuse."
OBSERVATION_PREFIX: Final = "langfuse.observation."
TYPE: Final = "langfuse.observation.type"
INPUT: Final = "langfuse.observation.input"
OUTPUT: Final = "langfuse.observation.output"
METADATA: Final = "langfuse.observation.metadata"
LEVEL: Final = "langfuse.observation.level"
STATUS_MESSAGE: Final = "langfuse.observation.status_message"
MODEL_NAME: Final = "langfuse.observation.model.name"
MODEL_PARAMETERS: Final = "langfuse.observation.model.parameters"
USAGE_DETAILS: Final = "langfuse.observation.usage_details"
COST_DETAILS: Final = "langfuse.observation.cost_details"
COMPLETION_START: Final = "langfuse.observation.completion_start_time"
TRACE_INPUT: Final = "langfuse.trace.input"
TRACE_OUTPUT: Final = "langfuse.trace.output"
TRACE_METADATA: Final = "langfuse.trace.metadata"
TRACE_USER_ID: Final = "langfuse.user.id"
TRACE_SESSION_ID: Final = "langfuse.session.id"
