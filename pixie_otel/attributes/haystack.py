"""The attribute keys of Haystack's own tracing, and the names of its spans that may have no attributes."""

from __future__ import annotations

from typing import Final

__all__ = [
    "AGENT_INPUT",
    "AGENT_MAX_STEPS",
    "AGENT_OUTPUT",
    "COMPONENT_INPUT",
    "COMPONENT_OUTPUT",
    "COMPONENT_TYPE",
    "HOOK_PREFIX",
    "LLM_STEP_INPUT",
    "LLM_STEP_OUTPUT",
    "PIPELINE_INPUT",
    "PIPELINE_METADATA",
    "PIPELINE_OUTPUT",
    "PREFIX",
    "SPAN_LLM_STEP",
    "SPAN_PIPELINE",
    "SPAN_TOOL_STEP",
    "TOOL_CALL_ID",
    "TOOL_DESCRIPTION",
    "TOOL_ERROR",
    "TOOL_NAME",
    "TOOL_STEP_INPUT",
    "TOOL_STEP_OUTPUT",
]

PREFIX: Final = "haystack."
PIPELINE_INPUT: Final = "haystack.pipeline.input_data"
PIPELINE_OUTPUT: Final = "haystack.pipeline.output_data"
PIPELINE_METADATA: Final = "haystack.pipeline.metadata"
COMPONENT_TYPE: Final = "haystack.component.type"
COMPONENT_INPUT: Final = "haystack.component.input"
COMPONENT_OUTPUT: Final = "haystack.component.output"
AGENT_INPUT: Final = "haystack.agent.input"
AGENT_MAX_STEPS: Final = "haystack.agent.max_steps"
AGENT_OUTPUT: Final = "haystack.agent.output"
HOOK_PREFIX: Final = "haystack.agent.hook"
LLM_STEP_INPUT: Final = "haystack.agent.step.llm.input"
LLM_STEP_OUTPUT: Final = "haystack.agent.step.llm.output"
TOOL_STEP_INPUT: Final = "haystack.agent.step.tool.input"
TOOL_STEP_OUTPUT: Final = "haystack.agent.step.tool.output"
SPAN_PIPELINE: Final = "haystack.pipeline.run"
SPAN_LLM_STEP: Final = "haystack.agent.step.llm"
SPAN_TOOL_STEP: Final = "haystack.agent.step.tool"
TOOL_NAME: Final = "haystack.tool.name"
TOOL_DESCRIPTION: Final = "haystack.tool.description"
TOOL_CALL_ID: Final = "haystack.tool.call.id"
TOOL_ERROR: Final = "haystack.tool.error"
