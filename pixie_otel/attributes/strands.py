"""The attribute keys, event names and operations of Strands Agents."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CYCLE_ID",
    "EVENT_START_TIME",
    "MEMORY_QUERY",
    "MEMORY_RESULTS",
    "MEMORY_SEARCH",
    "OLD_TOOL_STATUS",
    "TOOL_PARAMETERS",
    "TOOL_RESULT",
    "TOOL_STATUS",
]

EVENT_START_TIME: Final = "gen_ai.event.start_time"
CYCLE_ID: Final = "event_loop.cycle_id"
TOOL_STATUS: Final = "gen_ai.tool.status"
OLD_TOOL_STATUS: Final = "tool.status"
TOOL_PARAMETERS: Final = "tool.parameters"
TOOL_RESULT: Final = "tool.result"
MEMORY_SEARCH: Final = "memory.search"
MEMORY_QUERY: Final = "memory.query"
MEMORY_RESULTS: Final = "memory.results"
