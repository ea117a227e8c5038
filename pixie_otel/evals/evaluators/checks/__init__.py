"""Trace checks: evaluators that say something useful about any production trace, without an expectation or a model.

Each is a frozen value whose instances are called with an evaluable and its trace. Where a check does not apply to a
trace it is skipped. Those of `DEFAULT_CHECKS` run when no evaluator is named; the budgets want a number.
"""

from __future__ import annotations

from typing import Final

from pixie_otel.evals.evaluators.checks.arguments import ToolArgumentsValid
from pixie_otel.evals.evaluators.checks.budgets import MaxLatency, MaxLLMCalls, MaxTokens, MaxToolCalls
from pixie_otel.evals.evaluators.checks.check import TraceCheck
from pixie_otel.evals.evaluators.checks.credentials import NoSecrets
from pixie_otel.evals.evaluators.checks.errors import SpanErrors
from pixie_otel.evals.evaluators.checks.integrity import TraceIntegrity
from pixie_otel.evals.evaluators.checks.outputs import OutputNotTruncated, OutputPresent
from pixie_otel.evals.evaluators.checks.tools import NoRepeatedToolCalls, ToolCallsAnswered, ToolsSucceeded

__all__ = [
    "DEFAULT_CHECKS",
    "MaxLLMCalls",
    "MaxLatency",
    "MaxTokens",
    "MaxToolCalls",
    "NoRepeatedToolCalls",
    "NoSecrets",
    "OutputNotTruncated",
    "OutputPresent",
    "SpanErrors",
    "ToolArgumentsValid",
    "ToolCallsAnswered",
    "ToolsSucceeded",
    "TraceCheck",
    "TraceIntegrity",
]

DEFAULT_CHECKS: Final[tuple[type[TraceCheck], ...]] = (
    SpanErrors,
    OutputPresent,
    OutputNotTruncated,
    ToolArgumentsValid,
    ToolCallsAnswered,
    ToolsSucceeded,
    NoRepeatedToolCalls,
    NoSecrets,
    TraceIntegrity,
)
"""The checks that run by default, in the order in which they are shown."""
