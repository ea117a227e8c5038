"""What is judged of an observation: the evaluable made of it, alone or with what the rest of its trace knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import UNSET, Document, Evaluable, JsonValue, NamedData, ToolCall
from pixie_otel.traces.conversation import Conversation, Turn
from pixie_otel.traces.dialects.plain import answer, plain_messages
from pixie_otel.traces.judged_run import judged_run
from pixie_otel.traces.messages import AssistantMessage
from pixie_otel.traces.spans import LLMSpan, ObserveSpan, ToolSpan
from pixie_otel.traces.tool_results import asked_tools
from pixie_otel.traces.trace import Trace

__all__ = ["Picked", "as_evaluable", "documents", "picked_call", "picked_root", "tools_called"]

_INPUT: Final = "input"
_MESSAGES: Final = "messages"
_OUTPUT: Final = "output"


@dataclass(frozen=True, slots=True)
class Picked:
    """What a selector picked.

    Attributes:
        span: The observation.
        evaluable: What is made of it.
    """

    span: ObserveSpan
    evaluable: Evaluable


def as_evaluable(span: ObserveSpan) -> Evaluable:
    """Make an evaluable of one observation alone.

    Args:
        span: The observation.

    Returns:
        For a model call, input ``messages`` and the answer as ``output``; for any other, its ``input`` and ``output``.
        What the rest of the trace knows (documents, tools) is not in it.
    """
    if isinstance(span, LLMSpan):
        given: JsonValue = plain_messages(span.input_messages) if span.input_messages else span.input
        given_back = answer(span.output_messages) if span.output_messages else span.output
        tools = [
            call for item in span.output_messages if isinstance(item, AssistantMessage) for call in item.tool_calls
        ]
        return _evaluable(span, [NamedData(_MESSAGES, given)], given_back, tools=tools, cost=span.cost)
    return _evaluable(span, [NamedData(_INPUT, span.input)], span.output)


def picked_root(trace: Trace) -> Picked:
    """Pick what stands for a whole run; of a conversation, every turn's input and output by the same names.

    Args:
        trace: A trace with one root or more.
    """
    if isinstance(trace, Conversation):
        turns = trace.turns
        times = [seconds for turn in turns if (seconds := turn.seconds) is not None]
        seconds = sum(times) if times else None
    else:
        run = judged_run(trace.roots)
        turns = [Turn((trace,), run.span, run.input, run.output)]
        seconds = None if run.duration_ms is None else run.duration_ms / 1000
    inputs: list[NamedData] = []
    outputs: list[NamedData] = []
    for turn in turns:
        _add_values(turn, inputs, outputs)
    span = turns[0].span
    evaluable = Evaluable(
        eval_input=inputs,
        eval_output=outputs,
        eval_metadata=span.metadata or None,
        retrieval_context=documents(trace),
        tools_called=tools_called(trace),
        token_cost=trace.usage.cost,
        completion_time=seconds,
    )
    return Picked(span, evaluable)


def picked_call(call: LLMSpan, retrieved: Sequence[Document] | None) -> Picked:
    """Pick a model call.

    Args:
        call: The call.
        retrieved: What its trace retrieved.
    """
    return Picked(call, replace(as_evaluable(call), retrieval_context=None if retrieved is None else list(retrieved)))


def documents(trace: Trace) -> list[Document] | None:
    """Give what a run retrieved; nested retrievers report the same documents, which count once.

    Args:
        trace: The trace.

    Returns:
        The documents in order; ``None`` where no retrieval was recorded.
    """
    if not trace.retriever_spans:
        return None
    found: list[Document] = []
    # Comparing each with all takes minutes in a trace of many thousands.
    alike: dict[tuple[str, str | None], list[Document]] = {}
    for span in trace.retriever_spans:
        for document in span.documents:
            known = alike.setdefault((document.content, document.id), [])
            if document not in known:
                known.append(document)
                found.append(document)
    return found


def tools_called(trace: Trace) -> list[ToolCall] | None:
    """Give the tool calls that were made: the tools' own spans, else what the models asked for.

    Args:
        trace: The trace, or the conversation.

    Returns:
        The calls in order; ``None`` where nothing is known of them. Results of tools without spans are those that later
        model calls were given.
    """
    asked = dict(zip(map(id, trace.llm_calls), asked_tools(trace.llm_calls), strict=True))
    parts = trace.parts if isinstance(trace, Conversation) else (trace,)
    ran = {call.id or _asked(call) for part in parts if not part.llm_calls for call in _run(part.tool_spans)}
    known: list[ToolCall] | None = None
    for part in parts:
        if part.tool_spans:
            known = [*(known or ()), *_run(part.tool_spans)]
        elif any(call.output_messages for call in part.llm_calls):
            # The run of a tool may be a trace of its own.
            own = (tool for call in part.llm_calls for tool in asked[id(call)])
            known = [*(known or ()), *(tool for tool in own if ran.isdisjoint((tool.id, _asked(tool))))]
    return known


def _asked(call: ToolCall) -> ToolCall:
    return replace(call, result=UNSET)


def _run(spans: Iterable[ToolSpan]) -> list[ToolCall]:
    return [
        ToolCall(name=span.tool_name or span.name, arguments=span.arguments, id=span.tool_call_id, result=span.result)
        for span in spans
    ]


def _add_values(turn: Turn, inputs: list[NamedData], outputs: list[NamedData]) -> None:
    """Add what went into a turn and what came out: wrapped values by name, after the turn's own or in its place."""
    inputs.append(NamedData(_INPUT, turn.input))
    found: list[NamedData] = []
    is_output_wrapped = False
    for wrapped in (span for trace in turn.traces for span in trace.spans):
        purpose = wrapped.attributes.get(keys.PIXIE_WRAP_PURPOSE)
        if purpose is None:
            continue
        name = str(wrapped.attributes.get(keys.PIXIE_WRAP_NAME) or wrapped.name)
        value = NamedData(name, wrapped.input if wrapped.output is None else wrapped.output)
        if purpose == "input":
            inputs.append(value)
        elif purpose in ("output", "state"):
            found.append(value)
            is_output_wrapped = is_output_wrapped or purpose == "output"
    if not is_output_wrapped and turn.output is not None:
        found.insert(0, NamedData(_OUTPUT, turn.output))
    outputs.extend(found)


def _evaluable(
    span: ObserveSpan,
    inputs: list[NamedData],
    output: JsonValue,
    *,
    tools: list[ToolCall] | None = None,
    cost: float | None = None,
) -> Evaluable:
    return Evaluable(
        eval_input=inputs,
        eval_output=[] if output is None else [NamedData(_OUTPUT, output)],
        eval_metadata=span.metadata or None,
        tools_called=tools,
        token_cost=cost,
        completion_time=_seconds(span),
    )


def _seconds(span: ObserveSpan) -> float | None:
    return None if span.duration_ms is None else span.duration_ms / 1000
