"""Checks of what became of tool calls: answered, succeeded, and not the same again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pixie_otel.errors import SkipEvaluation
from pixie_otel.evals.evaluation import Evaluation
from pixie_otel.evals.evaluators.checks.calls import arguments_key, asked_calls, json_arguments
from pixie_otel.evals.evaluators.checks.check import TraceCheck, clean, count_setting, found
from pixie_otel.evals.evaluators.checks.wording import counted, listed, shortened
from pixie_otel.evaluable import Evaluable, ToolCall
from pixie_otel.traces.messages import ToolResultMessage

if TYPE_CHECKING:
    from pixie_otel.traces.spans import LLMSpan
    from pixie_otel.traces.trace import Trace

__all__ = ["NoRepeatedToolCalls", "ToolCallsAnswered", "ToolsSucceeded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallsAnswered(TraceCheck):
    """Every tool call that a model asked for was answered, by a tool's span or in the messages of a later LLM call.

    Does not apply to a trace of one LLM call without tool spans, since instrumented SDKs alone make every call a trace
    of its own; nor to a call whose arguments are the run's output, which is how structured output is made.
    """

    name: ClassVar[str] = "ToolCallsAnswered"

    def __call__(self, _: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        asked = asked_calls(trace)
        if not asked:
            raise SkipEvaluation("no model asked for a tool")
        if len(trace.llm_calls) == 1 and not trace.tool_spans:
            raise SkipEvaluation("the trace is one LLM call and no tool ran in it: its tools are answered elsewhere")
        unanswered = _unanswered(trace, asked)
        last = trace.llm_calls[-1]
        unanswered = [(by, call) for by, call in unanswered if by is not last or not _is_output(trace, call)]
        if not unanswered:
            return clean(f"{counted(len(asked), 'tool call')}, none left unanswered")
        told = [f"{shortened(call.name, 60)} (asked in span {by.span_id})" for by, call in unanswered]
        ending = "; the trace ends with them" if all(by is last for by, _ in unanswered) else ""
        return found(
            f"{len(told)} of {counted(len(asked), 'tool call')} never answered: {listed(told)}{ending}",
            [{"tool": call.name, "tool_call_id": call.id, "span_id": by.span_id} for by, call in unanswered],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsSucceeded(TraceCheck):
    """No tool failed.

    It warns, since an agent is there to deal with tools that fail.
    """

    name: ClassVar[str] = "ToolsSucceeded"

    def __call__(self, _: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        spans = trace.tool_spans
        if not spans:
            raise SkipEvaluation("no tool ran in the trace")
        failed = [(span, span.error) for span in spans if span.error is not None]
        if not failed:
            return clean(f"{counted(len(spans), 'tool')} ran without an error")
        told = [
            f"{shortened(span.tool_name or span.name, 60)} (span {span.span_id}: {shortened(str(error))})"
            for span, error in failed
        ]
        return found(
            f"{len(failed)} of {counted(len(spans), 'tool')} failed: {listed(told)}",
            [{"tool": span.tool_name, "span_id": span.span_id, "error": str(error)} for span, error in failed],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRepeatedToolCalls(TraceCheck):
    """No tool is called with the same arguments more than ``limit`` times, as an agent does that is caught in a loop.

    Attributes:
        limit: How often the same call may be made.
    """

    name: ClassVar[str] = "NoRepeatedToolCalls"

    limit: int = 3

    def __post_init__(self) -> None:
        """Take the settings as they are typed, too."""
        TraceCheck.__post_init__(self)
        object.__setattr__(self, "limit", count_setting(self, "limit", least=1))

    def __call__(self, _: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        asked = asked_calls(trace)
        if not asked and not trace.tool_spans:
            raise SkipEvaluation("no tool was called in the trace")
        total = max(len(asked), len(trace.tool_spans))
        looped: list[tuple[str, list[str], str]] = []
        if total > self.limit:
            by_models = _by_call((call.name, arguments_key(json_arguments(call)), by.span_id) for by, call in asked)
            by_tools = _by_call(
                (span.tool_name or span.name, arguments_key(span.arguments), span.span_id) for span in trace.tool_spans
            )
            for call in by_models.keys() | by_tools.keys():
                # A call that was asked for and then run has been recorded twice, and was one.
                span_ids = max(by_models.get(call, []), by_tools.get(call, []), key=len)
                if len(span_ids) > self.limit:
                    looped.append((call[0], span_ids, call[1]))
        if not looped:
            return clean(f"{counted(total, 'tool call')}, none of them made more than {counted(self.limit, 'time')}")
        looped.sort(key=lambda loop: (-len(loop[1]), loop[0], loop[2]))
        told = [
            f"{shortened(tool, 60)}({shortened(arguments, 60)}) {len(ids)} times (span {listed(ids, 1)})"
            for tool, ids, arguments in looped
        ]
        return found(
            f"the same call again and again: {listed(told)}",
            [
                {"tool": tool, "arguments": arguments, "times": len(ids), "span_ids": [*ids[:20]]}
                for tool, ids, arguments in looped
            ],
        )


def _by_call(calls: Iterable[tuple[str, str | None, str]]) -> dict[tuple[str, str], list[str]]:
    """Group the spans of calls by tool and arguments, leaving out calls whose arguments are not known."""
    span_ids: dict[tuple[str, str], list[str]] = {}
    for tool, arguments, span_id in calls:
        if arguments is not None:
            span_ids.setdefault((tool, arguments), []).append(span_id)
    return span_ids


def _unanswered(trace: Trace, asked: list[tuple[LLMSpan, ToolCall]]) -> list[tuple[LLMSpan, ToolCall]]:
    """Find the calls that neither a tool's span nor a tool's message answers: by id, else by name and number."""
    told, untold = _told_results(trace)
    asked_ids = {call.id for _, call in asked if call.id is not None}
    run: set[str] = set()
    spare: Counter[str] = Counter()
    for span in trace.tool_spans:
        if span.tool_call_id is not None and span.tool_call_id in asked_ids:
            run.add(span.tool_call_id)
        else:
            spare[_tool_key(span.tool_name or span.name)] += 1
    waiting: list[tuple[LLMSpan, ToolCall]] = []
    for by, call in asked:
        key = _tool_key(call.name)
        # A call that was run and told of has two answers, neither of which is left for another call.
        if call.id is not None and call.id in told:
            if call.id not in run:
                spare[key] = max(0, spare[key] - 1)
        elif call.id is not None and call.id in run:
            untold = max(0, untold - 1)
        else:
            waiting.append((by, call))
    unanswered: list[tuple[LLMSpan, ToolCall]] = []
    for by, call in waiting:
        key = _tool_key(call.name)
        if not spare[key] and not untold:
            unanswered.append((by, call))
        spare[key] = max(0, spare[key] - 1)
        untold = max(0, untold - 1)
    return unanswered


def _told_results(trace: Trace) -> tuple[set[str], int]:
    """Give the ids of the calls whose results models were told, and how many results they were told without an id."""
    ids: set[str] = set()
    most = 0
    for llm_call in trace.llm_calls:
        without = 0
        for message in llm_call.input_messages:
            if not isinstance(message, ToolResultMessage):
                continue
            if message.tool_call_id is None:
                without += 1
            else:
                ids.add(message.tool_call_id)
        # Every call repeats the history before it, so the longest history has all of them.
        most = max(most, without)
    return ids, most


def _tool_key(name: str) -> str:
    """Give the part of a tool's or its span's name that both have, as ``execute_tool search`` and ``search`` do."""
    return name.rpartition(" ")[2]


def _is_output(trace: Trace, call: ToolCall) -> bool:
    return call.arguments is not None and any(root.span.output == call.arguments for root in trace.roots)
