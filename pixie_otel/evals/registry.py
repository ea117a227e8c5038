"""The built-in evaluators, as data: what each is called, where it lives, what it needs and what it costs.

Nothing is imported to list them, so `pixie-otel evaluators` and a misspelt name are answered at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pixie_otel.evals.evaluation import Need

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BUILTINS", "DEFAULTS", "BuiltinInfo"]


@dataclass(frozen=True, slots=True)
class BuiltinInfo:
    """A built-in evaluator.

    Attributes:
        name: What users call it.
        module: The module that defines it.
        attribute: Its class in that module.
        needs: What a case must hold.
        summary: What it judges: the first line of its docstring.
        parameters: What can be set, as in ``NAME:parameter=value``.
        cost: What a call costs, as a user would say it.
        in_default: It belongs to the trace checks that run when nothing else is asked for, and for ``...``.
    """

    name: str
    module: str
    attribute: str
    needs: frozenset[Need]
    summary: str
    parameters: tuple[str, ...]
    cost: str = "nothing"
    in_default: bool = False


_CHECKS: Final = "pixie_otel.evals.evaluators.checks"
_HEURISTICS: Final = "pixie_otel.evals.evaluators.heuristics"
_OUTPUT: Final = frozenset({Need.OUTPUT})
_COMPARED: Final = frozenset({Need.OUTPUT, Need.EXPECTATION})
_TRACE: Final = frozenset({Need.TRACE})


def _check(name: str, module: str, summary: str, *parameters: str, in_default: bool = True) -> BuiltinInfo:
    parameters = (*parameters, "severity")
    return BuiltinInfo(name, f"{_CHECKS}.{module}", name, _TRACE, summary, parameters, in_default=in_default)


def _heuristic(name: str, summary: str, *parameters: str, needs: frozenset[Need] = _COMPARED) -> BuiltinInfo:
    return BuiltinInfo(name, _HEURISTICS, name, needs, summary, (*parameters, "threshold", "severity"))


_ROWS: Final = (
    _check("SpanErrors", "errors", "The run did not end in an error; scope=any: no span at all did.", "scope"),
    _check("OutputPresent", "outputs", "The run has an output, and it is not empty."),
    _check("OutputNotTruncated", "outputs", "The answer was not cut off by a token limit."),
    _check(
        "ToolArgumentsValid",
        "arguments",
        "Models call the tools they were offered, with arguments that fit the declared JSON Schema.",
    ),
    _check(
        "ToolCallsAnswered",
        "tools",
        "Every tool call that a model asked for was answered, by a tool's span or in the messages of a later LLM call.",
    ),
    _check("ToolsSucceeded", "tools", "No tool failed."),
    _check(
        "NoRepeatedToolCalls",
        "tools",
        "No tool is called with the same arguments more than limit times, as an agent does that is caught in a loop.",
        "limit",
    ),
    _check("NoSecrets", "credentials", "No API key, token, private key or password stands in the recorded text."),
    _check(
        "TraceIntegrity",
        "integrity",
        "The trace is whole: no span missing, doubled or out of order, no value unreadable, no attribute dropped.",
    ),
    _check(
        "MaxLatency",
        "budgets",
        "The run takes no longer than seconds, from the trace's earliest start to its latest end.",
        "seconds",
        in_default=False,
    ),
    _check(
        "MaxTokens",
        "budgets",
        "The run's LLM calls use no more than tokens together, in and out.",
        "tokens",
        in_default=False,
    ),
    _check("MaxLLMCalls", "budgets", "The run makes no more than calls LLM calls.", "calls", in_default=False),
    _check(
        "MaxToolCalls",
        "budgets",
        "The run makes no more than calls tool calls, asked for by a model or seen to run.",
        "calls",
        in_default=False,
    ),
    _heuristic("ExactMatch", "Whether the output equals the expectation, as text or as JSON."),
    _heuristic(
        "LevenshteinMatch",
        "How similar the output's text is to the expectation: one minus the share of characters to edit.",
    ),
    _heuristic(
        "NumericDiff",
        "How close the output's number is to the expected one: one minus their difference over their sum.",
    ),
    _heuristic(
        "JSONDiff",
        "How similar the output's JSON is to the expected one, value by value: texts by distance, numbers by size.",
        "preserve_strings",
    ),
    _heuristic(
        "ListContains",
        "How well the output's list matches the expected one, whatever the order; items by edit distance.",
        "allow_extra_entities",
    ),
    _heuristic(
        "ValidJSON",
        "Whether the output is a JSON object or array; with a schema, whether it is JSON that the schema allows.",
        "schema",
        needs=_OUTPUT,
    ),
)

BUILTINS: Final[Mapping[str, BuiltinInfo]] = MappingProxyType({info.name: info for info in _ROWS})
"""All built-in evaluators by name, the trace checks first, in the order in which they are shown."""

DEFAULTS: Final = tuple(info.name for info in _ROWS if info.in_default)
"""The names of the trace checks that run when nothing else is asked for."""
