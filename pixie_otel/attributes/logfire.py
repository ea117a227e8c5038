"""The attribute keys of Logfire."""

from __future__ import annotations

from typing import Final

__all__ = [
    "AGENT_TRACE_ID",
    "CODE_FUNCTION",
    "DURATION",
    "ERROR",
    "GROUP_ID",
    "INPUT",
    "JSON_SCHEMA",
    "LEVEL_NUM",
    "MODEL_CONFIG",
    "MSG",
    "MSG_TEMPLATE",
    "NAME",
    "OUTPUT",
    "PENDING_PARENT_ID",
    "RAW_INPUT",
    "REQUEST_DATA",
    "RESPONSE",
    "RESPONSE_DATA",
    "RETURN",
    "SPAN_TYPE",
    "URL",
    "USAGE",
    "USAGE_RAW",
]

MSG: Final = "logfire.msg"
MSG_TEMPLATE: Final = "logfire.msg_template"
SPAN_TYPE: Final = "logfire.span_type"
PENDING_PARENT_ID: Final = "logfire.pending_parent_id"
JSON_SCHEMA: Final = "logfire.json_schema"
LEVEL_NUM: Final = "logfire.level_num"
DURATION: Final = "duration"
CODE_FUNCTION: Final = "code.function"
REQUEST_DATA: Final = "request_data"
RESPONSE_DATA: Final = "response_data"
USAGE_RAW: Final = "gen_ai.usage.raw"
RETURN: Final = "return"
RAW_INPUT: Final = "raw_input"
RESPONSE: Final = "response"
INPUT: Final = "input"
OUTPUT: Final = "output"
NAME: Final = "name"
ERROR: Final = "error"
GROUP_ID: Final = "group_id"
AGENT_TRACE_ID: Final = "agent_trace_id"
MODEL_CONFIG: Final = "model_config"
URL: Final = "url"
USAGE: Final = "usage"
