"""What a selector picks of a trace: the observations that it finds, each with what is judged of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from pixie_otel import attributes as keys
from pixie_otel.errors import ObservationError
from pixie_otel.evaluable import UNSET, Document, Evaluable, JsonValue, NamedData, ToolCall
from pixie_otel.traces.conversation import Conversation, Turn
from pixie_otel.traces.dialects.plain import answer, plain_messages
from pixie_otel.traces.judged_run import judged_run
from pixie_otel.traces.messages import AssistantMessage
from pixie_otel.traces.selector_explain import listed
from pixie_otel.traces.selector_steps import Chain, Named, Step, Term
from pixie_otel.traces.selector_view import View
from pixie_otel.traces.spans import LLMSpan, ObserveSpan, ToolSpan
from pixie_otel.traces.tool_results import asked_tools
from pixie_otel.traces.trace import Trace

__all__ = ["Picked", "as_evaluable", "pick", "pick_calls", "pick_root"]

_INPUT: Final = "input"
_MESSAGES: Final = "messages"
_OUTPUT: Final = "output"
_ROOT: Final = Chain((Step((Term(Named("root")),)),))
_CALLS: Final = Chain((Step((Term(Named("llm_calls")),)),))
_LAST_CALL: Final = Chain((Step((Term(Named("last_llm_call")),)),))


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
        return _of_call(span, None)
    return _evaluable(span, NamedData(_INPUT, span.input), span.output)


def pick(chain: Chain, text: str, trace: Trace) -> list[Picked]:
    """Give what a selector finds in a trace, as it is judged.

    Args:
        chain: The selector.
        text: The selector as typed, for messages.
        trace: The trace.

    Raises:
        ObservationError: It finds nothing; the message says what the trace holds.
    """
    # The common ones need no view of the whole trace.
    if chain == _ROOT:
        return [pick_root(trace)]
    if chain == _CALLS:
        return pick_calls(trace)
    if chain == _LAST_CALL:
        return pick_calls(trace, last=True)
    view = View(trace)
    found = chain.find(view)
    if not found:
        raise ObservationError(f"{text} matches no span of the trace; {_holdings(trace)}")
    last = chain.steps[-1]
    if last.names("root"):
        return [pick_root(trace)]
    if last.names("llm_calls", "last_llm_call"):
        return _picked_calls(trace, [view.calls[number] for number in found])
    return [Picked(view.spans[number], as_evaluable(view.spans[number])) for number in found]


def pick_root(trace: Trace) -> Picked:
    """Give what stands for a whole run; of a conversation, every turn's input and output by the same names.

    Args:
        trace: The trace.

    Raises:
        ObservationError: The trace is empty.
    """
    if not trace.roots:
        raise ObservationError("an empty trace has no root")
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
        retrieval_context=_documents([trace]),
        tools_called=_tools_called(trace),
        token_cost=trace.usage.cost,
        completion_time=seconds,
    )
    return Picked(span, evaluable)


def pick_calls(trace: Trace, *, last: bool = False) -> list[Picked]:
    """Give every real model call, by end.

    Args:
        trace: The trace.
        last: Whether only the last is wanted.

    Raises:
        ObservationError: The trace has none.
    """
    if not trace.llm_calls:
        elsewhere = trace.counted_in
        where = "" if elsewhere is None else f" of its own: its one is a call of trace {elsewhere}, and counts there"
        raise ObservationError(f"the trace has no LLM call{where}; {_holdings(trace)}")
    return _picked_calls(trace, trace.llm_calls[-1:] if last else trace.llm_calls)


def _picked_calls(trace: Trace, calls: Iterable[LLMSpan]) -> list[Picked]:
    """Give model calls, each with what was retrieved in its trace, or in its turn of a conversation."""
    retrieved = _documents([trace])
    by_trace: dict[str, list[Document] | None] = {}
    if retrieved and isinstance(trace, Conversation):
        for turn in trace.turns:
            by_trace.update(dict.fromkeys((part.trace_id for part in turn.traces), _documents(turn.traces)))
    return [Picked(call, _of_call(call, by_trace.get(call.trace_id, retrieved))) for call in calls]


def _documents(traces: Iterable[Trace]) -> list[Document] | None:
    """Give what was retrieved, in order; nested retrievers report the same documents, which count once."""
    retrieved = [span for trace in traces for span in trace.retriever_spans]
    found: list[Document] = []
    # Comparing each with all takes minutes in a trace of many thousands.
    alike: dict[tuple[str, str | None], list[Document]] = {}
    for document in (document for span in retrieved for document in span.documents):
        known = alike.setdefault((document.content, document.id), [])
        if document not in known:
            known.append(document)
            found.append(document)
    return found if retrieved else None


def _tools_called(trace: Trace) -> list[ToolCall] | None:
    """Give the tool calls that were made: the tools' own spans, else what the models asked for.

    Results of tools without spans are those that later model calls were given. ``None`` where nothing is known.
    """
    parts = trace.parts if isinstance(trace, Conversation) else (trace,)
    # The run of a tool may be a trace of its own.
    ran = {call.id or _asked(call) for part in parts if not part.llm_calls for call in _run(part.tool_spans)}
    asked: dict[int, list[ToolCall]] | None = None
    known: list[ToolCall] | None = None
    for part in parts:
        if part.tool_spans:
            known = [*(known or ()), *_run(part.tool_spans)]
        elif any(call.output_messages for call in part.llm_calls):
            asked = asked or dict(zip(map(id, trace.llm_calls), asked_tools(trace.llm_calls), strict=True))
            own = (tool for call in part.llm_calls for tool in asked[id(call)])
            known = [*(known or ()), *(tool for tool in own if not ran or ran.isdisjoint((tool.id, _asked(tool))))]
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


def _of_call(call: LLMSpan, documents: list[Document] | None) -> Evaluable:
    given: JsonValue = plain_messages(call.input_messages) if call.input_messages else call.input
    given_back = answer(call.output_messages) if call.output_messages else call.output
    tools = [tool for said in call.output_messages if isinstance(said, AssistantMessage) for tool in said.tool_calls]
    return _evaluable(
        call,
        NamedData(_MESSAGES, given),
        given_back,
        retrieval_context=None if documents is None else list(documents),
        tools_called=tools,
        token_cost=call.cost,
    )


def _evaluable(span: ObserveSpan, given: NamedData, output: JsonValue, **others: Any) -> Evaluable:  # noqa: ANN401 - as `Evaluable` takes them
    return Evaluable(
        eval_input=[given],
        eval_output=[] if output is None else [NamedData(_OUTPUT, output)],
        eval_metadata=span.metadata or None,
        completion_time=None if span.duration_ms is None else span.duration_ms / 1000,
        **others,
    )


def _holdings(trace: Trace) -> str:
    """Say what a trace holds, for the message that it does not hold something else."""
    kinds = Counter(span.kind.value for span in trace.spans)
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return f"it holds {len(trace.spans)} spans ({counted}): {listed(span.name for span in trace.spans)}"
