"""Small traces made of real observations, and the judging of them by a check."""

from __future__ import annotations

from typing import Any

from pixie_otel.evals.evaluation import Evaluation
from pixie_otel.evals.evaluators.checks import TraceCheck
from pixie_otel.evaluable import Evaluable, JsonValue, NamedData, ToolCall
from pixie_otel.traces.messages import AssistantMessage, Message, TextContent, ToolResultMessage, UserMessage
from pixie_otel.traces.spans import AgentSpan, LLMSpan, ObservationKind, ObserveSpan, ToolSpan
from pixie_otel.traces.trace import Trace

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
ROOT_ID = "00000000000000a0"


def agent(span_id: str = ROOT_ID, parent: str | None = None, **fields: object) -> AgentSpan:
    """Make the run of an agent, which is the root unless it has a parent."""
    return AgentSpan(**_common(span_id, parent, "answer", ObservationKind.AGENT, fields))


def llm(span_id: str, *answers: Message, parent: str | None = ROOT_ID, **fields: object) -> LLMSpan:
    """Make an LLM call below the agent; ids that sort later happen later."""
    common = _common(span_id, parent, "chat", ObservationKind.LLM, fields)
    return LLMSpan(**{"operation": "chat", "output_messages": answers, **common})


def tool(span_id: str, name: str, *, parent: str | None = ROOT_ID, **fields: object) -> ToolSpan:
    """Make the run of a tool below the agent."""
    return ToolSpan(**{"tool_name": name, **_common(span_id, parent, name, ObservationKind.TOOL, fields)})


def user(text: str) -> UserMessage:
    """Say something to a model."""
    return UserMessage(content=(TextContent(text),))


def says(text: str, *calls: ToolCall, finish_reason: str | None = None) -> AssistantMessage:
    """Answer as a model."""
    content = (TextContent(text),) if text else ()
    return AssistantMessage(content=content, tool_calls=calls, finish_reason=finish_reason)


def result(text: str, call_id: str | None = None) -> ToolResultMessage:
    """Tell a model what a tool gave back."""
    return ToolResultMessage(content=(TextContent(text),), tool_call_id=call_id)


def judge(check: TraceCheck, *spans: ObserveSpan, output: JsonValue = "done") -> Evaluation:
    """Judge the trace of some spans by a check, with an output of the run that the check may look at."""
    evaluable = Evaluable([NamedData("input", "?")], None if output is None else [NamedData("output", output)])
    return check(evaluable, trace=Trace.from_spans(spans))


def _common(
    span_id: str, parent: str | None, name: str, kind: ObservationKind, fields: dict[str, object]
) -> dict[str, Any]:
    start = 1_700_000_000_000_000_000 + int(span_id, 16) * 1_000_000
    return {
        "trace_id": TRACE_ID,
        "span_id": span_id,
        "parent_span_id": parent,
        "name": name,
        "kind": kind,
        "start_time_unix_nano": start,
        "end_time_unix_nano": start + 500_000,
        **fields,
    }
