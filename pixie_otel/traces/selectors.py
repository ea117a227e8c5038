"""Selectors: which observation of a trace is judged, and the evaluable made of it."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

from pixie_otel import attributes as keys
from pixie_otel.errors import ConfigError, ObservationError
from pixie_otel.evaluable import Document, Evaluable, JsonValue, NamedData, ToolCall
from pixie_otel.traces.dialects.plain import answer, plain_messages
from pixie_otel.traces.messages import AssistantMessage
from pixie_otel.traces.spans import LLMSpan, ObservationKind, ObserveSpan, ToolSpan
from pixie_otel.traces.trace import Trace
from pixie_otel.traces.tree import ObservationNode

__all__ = ["Picked", "Selector", "as_evaluable", "last_llm_call", "llm_calls", "parse_selector", "root"]

TraceLike: TypeAlias = Trace | Sequence[ObservationNode]
"""A trace, or its root nodes."""

_INPUT: Final = "input"
_MESSAGES: Final = "messages"
_OUTPUT: Final = "output"
_SELECTOR: Final = re.compile(r"(?P<field>name|kind|tool):(?P<pattern>.+)", re.DOTALL)
_NAMES_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Picked:
    """What a selector picked.

    Attributes:
        span: The observation.
        evaluable: What is made of it.
    """

    span: ObserveSpan
    evaluable: Evaluable


@dataclass(frozen=True, slots=True)
class Selector:
    """Picks observations of a trace; call it to get their evaluables.

    Attributes:
        text: The selector as typed.
        pick: Gives what it picks; raises `ObservationError` where that is nothing.
        single: Whether it always picks one, so that the trace alone names the case.
    """

    text: str
    pick: Callable[[Trace], list[Picked]]
    single: bool = False

    def __call__(self, trace: TraceLike) -> Evaluable | list[Evaluable]:
        """Give the evaluable, or the list of them for a selector that may pick several.

        Raises:
            ObservationError: It matches nothing; the message says what the trace holds.
        """
        evaluables = [picked.evaluable for picked in self.pick(_as_trace(trace))]
        return evaluables[0] if self.single else evaluables


def root(trace: TraceLike) -> Evaluable:
    """Make an evaluable of a trace's root observation.

    It is the first root's span; where that recorded neither input nor output, as an HTTP server's span above the agent,
    the topmost observation below it that did. Its input comes first, as ``input``, then the values of
    ``wrap(purpose="input")`` by name. The outputs are the wrapped output and state values, or the observation's own
    ``output`` where no output was wrapped.

    Args:
        trace: A trace, or its root nodes.

    Raises:
        ObservationError: The trace is empty. It is a ``ValueError``.
    """
    return _pick_root(_as_trace(trace))[0].evaluable


def last_llm_call(trace: TraceLike) -> Evaluable:
    """Make an evaluable of the model call that ended last.

    Args:
        trace: A trace, or its root nodes.

    Returns:
        Its input is ``messages``; its ``output`` the answer's text, or ``{"content", "tool_calls"}`` where the model
        called tools.

    Raises:
        ObservationError: The trace has no model call. It is a ``ValueError``.
    """
    return _pick_last_call(_as_trace(trace))[0].evaluable


def llm_calls(trace: TraceLike) -> list[Evaluable]:
    """Make an evaluable of every real model call, by end; see `last_llm_call`.

    Args:
        trace: A trace, or its root nodes.

    Raises:
        ObservationError: The trace has no model call. It is a ``ValueError``.
    """
    return [picked.evaluable for picked in _pick_calls(_as_trace(trace))]


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


def parse_selector(text: str) -> Selector:
    """Read a selector as typed.

    Args:
        text: ``root``, ``last_llm_call``, ``llm_calls``, ``name:GLOB``, ``kind:KIND`` or ``tool:GLOB``.

    Raises:
        ConfigError: It is none of these.
    """
    named = _NAMED.get(text)
    if named is not None:
        return named
    found = _SELECTOR.fullmatch(text)
    if found is None:
        raise ConfigError(
            f"unknown selector {text!r}: use {', '.join(_NAMED)}, name:GLOB (span names), kind:KIND "
            f"({', '.join(ObservationKind)}) or tool:GLOB (tool names)"
        )
    pattern = found["pattern"]
    if found["field"] == "kind" and pattern.lower() not in tuple(ObservationKind):
        raise ConfigError(f"unknown kind {pattern!r} in selector {text!r}: kinds are {', '.join(ObservationKind)}")
    matches = _MATCHES[found["field"]]
    return Selector(text, lambda trace: _pick_matching(trace, text, lambda span: matches(span, pattern)))


def _pick_root(trace: Trace) -> list[Picked]:
    if not trace.roots:
        raise ObservationError("an empty trace has no root")
    span = _judged_root(trace)
    inputs = [NamedData(_INPUT, span.input)]
    outputs: list[NamedData] = []
    output_wrapped = False
    for wrapped in trace.spans:
        purpose = wrapped.attributes.get(keys.PIXIE_WRAP_PURPOSE)
        if purpose is None:
            continue
        name = str(wrapped.attributes.get(keys.PIXIE_WRAP_NAME) or wrapped.name)
        value = NamedData(name, wrapped.input if wrapped.output is None else wrapped.output)
        if purpose == "input":
            inputs.append(value)
        elif purpose in ("output", "state"):
            outputs.append(value)
            output_wrapped = output_wrapped or purpose == "output"
    if not output_wrapped and span.output is not None:
        outputs.insert(0, NamedData(_OUTPUT, span.output))
    return [Picked(span, _completed(trace, span, inputs, outputs))]


def _judged_root(trace: Trace) -> ObserveSpan:
    for top in trace.roots:
        pending = deque([top])
        while pending:
            node = pending.popleft()
            span = node.span
            if keys.PIXIE_WRAP_PURPOSE not in span.attributes and (span.input is not None or span.output is not None):
                return span
            pending.extend(node.children)
    return trace.roots[0].span


def _pick_last_call(trace: Trace) -> list[Picked]:
    return _pick_calls(trace)[-1:]


def _pick_calls(trace: Trace) -> list[Picked]:
    if not trace.llm_calls:
        raise ObservationError(f"the trace has no LLM call; {_holdings(trace)}")
    documents = _documents(trace)
    return [
        Picked(call, replace(as_evaluable(call), retrieval_context=None if documents is None else list(documents)))
        for call in trace.llm_calls
    ]


def _pick_matching(trace: Trace, text: str, matches: Callable[[ObserveSpan], bool]) -> list[Picked]:
    found = [span for span in trace.spans if matches(span)]
    if not found:
        raise ObservationError(f"{text} matches no span of the trace; {_holdings(trace)}")
    return [Picked(span, as_evaluable(span)) for span in found]


def _matches_tool(span: ObserveSpan, pattern: str) -> bool:
    return isinstance(span, ToolSpan) and fnmatchcase(span.tool_name or "", pattern)


_MATCHES: Final[dict[str, Callable[[ObserveSpan, str], bool]]] = {
    "name": lambda span, pattern: fnmatchcase(span.name, pattern),
    "kind": lambda span, pattern: span.kind == pattern.lower(),
    "tool": _matches_tool,
}
_NAMED: Final = {
    "root": Selector("root", _pick_root, single=True),
    "last_llm_call": Selector("last_llm_call", _pick_last_call, single=True),
    "llm_calls": Selector("llm_calls", _pick_calls),
}


def _completed(trace: Trace, span: ObserveSpan, inputs: list[NamedData], outputs: list[NamedData]) -> Evaluable:
    return Evaluable(
        eval_input=inputs,
        eval_output=outputs,
        eval_metadata=span.metadata or None,
        retrieval_context=_documents(trace),
        tools_called=_tools_called(trace),
        token_cost=trace.usage.cost,
        completion_time=_seconds(span),
    )


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


def _documents(trace: Trace) -> list[Document] | None:
    """Give what the run retrieved; nested retrievers report the same documents, which count once."""
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


def _tools_called(trace: Trace) -> list[ToolCall] | None:
    """Give the calls that were made: the tools' own spans, else what the models asked for."""
    if trace.tool_spans:
        return [
            ToolCall(
                name=span.tool_name or span.name, arguments=span.arguments, id=span.tool_call_id, result=span.result
            )
            for span in trace.tool_spans
        ]
    answers = [message for call in trace.llm_calls for message in call.output_messages]
    if not answers:
        return None
    return [call for message in answers if isinstance(message, AssistantMessage) for call in message.tool_calls]


def _seconds(span: ObserveSpan) -> float | None:
    return None if span.duration_ms is None else span.duration_ms / 1000


def _as_trace(trace: TraceLike) -> Trace:
    if isinstance(trace, Trace):
        return trace
    return Trace(trace[0].span.trace_id if trace else "", trace)


def _holdings(trace: Trace) -> str:
    """Say what a trace holds, for the message that it does not hold something else."""
    kinds = Counter(span.kind.value for span in trace.spans)
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return f"it holds {len(trace.spans)} spans ({counted}): {_listed(span.name for span in trace.spans)}"


def _listed(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(names))
    shown = ", ".join(repr(name) for name in distinct[:_NAMES_SHOWN])
    return shown if len(distinct) <= _NAMES_SHOWN else f"{shown}, …"
