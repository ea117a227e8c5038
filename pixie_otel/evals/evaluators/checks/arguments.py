"""The check of the arguments that models call tools with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from pixie_otel.errors import SkipEvaluation
from pixie_otel.evals.evaluation import Evaluation, Severity
from pixie_otel.evals.evaluators.checks.calls import asked_calls, json_arguments
from pixie_otel.evals.evaluators.checks.check import Finding, TraceCheck, clean, found
from pixie_otel.evals.evaluators.checks.schemas import UnusableSchemaError, schema_problems
from pixie_otel.evals.evaluators.checks.wording import counted, listed, shortened
from pixie_otel.evaluable import Evaluable, JsonValue, ToolCall

if TYPE_CHECKING:
    from pixie_otel.traces.spans import LLMSpan
    from pixie_otel.traces.trace import Trace

__all__ = ["ToolArgumentsValid"]


@dataclass(slots=True)
class _Tally:
    """What became of the calls that were looked at."""

    findings: list[Finding] = field(default_factory=list[Finding])
    calls: int = 0
    against_schema: int = 0
    unusable: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    def add(self, llm_call: LLMSpan, call: ToolCall, problem: str) -> None:
        """Note a finding."""
        self.findings.append(
            {"tool": call.name, "tool_call_id": call.id, "span_id": llm_call.span_id, "problem": problem}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolArgumentsValid(TraceCheck):
    """Models call the tools they were offered, with arguments that fit the declared JSON Schema.

    A schema that is none, or that points elsewhere, is named in the details and not held against the call. A tool
    counts as not offered only where the list of tools was recorded whole.
    """

    name: ClassVar[str] = "ToolArgumentsValid"

    severity: Severity = Severity.FAIL

    def __call__(self, _: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        asked = asked_calls(trace)
        if not asked:
            raise SkipEvaluation("no model asked for a tool")
        tally = _Tally()
        for llm_call, call in asked:
            _check_call(llm_call, call, tally)
        details: Finding = {"unusable_schemas": tally.unusable} if tally.unusable else {}
        if tally.findings:
            told = [_told(finding) for finding in tally.findings]
            return found(
                f"{len(told)} of {counted(len(asked), 'tool call')} cannot work: {listed(told)}",
                tally.findings,
                **details,
            )
        if not tally.against_schema:
            return clean(
                f"{counted(len(asked), 'tool call')}; no schema to hold their arguments against was recorded", **details
            )
        return clean(
            f"{tally.against_schema} of {counted(len(asked), 'tool call')} held against the declared schema", **details
        )


def _check_call(llm_call: LLMSpan, call: ToolCall, tally: _Tally) -> None:
    offered = {tool.name: tool for tool in llm_call.tool_definitions}
    tool = offered.get(call.name)
    # A producer that dropped attributes may have dropped some of the tools, and servers' own tools are in no list.
    if offered and tool is None and call.type == "FUNCTION" and "" not in offered and not llm_call.dropped_attributes:
        names = listed(sorted(offered), 5)
        tally.add(llm_call, call, f"no such tool was offered, but {names}")
        return
    arguments = json_arguments(call)
    if arguments is None or (tool is not None and tool.parameters is None):
        # Not recorded; or a tool without a schema, which may take free text.
        return
    if isinstance(arguments, str):
        tally.add(llm_call, call, f"the arguments are no JSON: {shortened(arguments, 80)!r}")
        return
    if tool is None or tool.parameters is None:
        return
    try:
        problems = schema_problems(tool.parameters, arguments)
    except UnusableSchemaError as error:
        tally.unusable[tool.name] = str(error)
        return
    tally.against_schema += 1
    if problems:
        tally.add(llm_call, call, listed(problems))


def _told(finding: Finding) -> str:
    tool, problem = shortened(str(finding["tool"]), 60), shortened(str(finding["problem"]))
    return f"{tool}: {problem} (span {finding['span_id']})"
