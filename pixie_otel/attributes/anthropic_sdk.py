"""Keys that Anthropic's own SDK writes beside OpenTelemetry's, from version 2.14."""

from __future__ import annotations

from typing import Final

__all__ = ["CONTENT_TRUNCATED", "STOP_REASON", "TOOL_RESULT_CONTENT"]

CONTENT_TRUNCATED: Final = "anthropic.content.truncated"
STOP_REASON: Final = "anthropic.message.stop_reason"
TOOL_RESULT_CONTENT: Final = "anthropic.tool_result.content"
