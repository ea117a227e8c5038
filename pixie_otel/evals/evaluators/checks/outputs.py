"""Checks of the answer: that there is one, and that it is whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from pixie_otel.errors import SkipEvaluation
from pixie_otel.evals.evaluation import Evaluation
from pixie_otel.evals.evaluators.checks.check import Finding, TraceCheck, clean, found
from pixie_otel.evals.evaluators.checks.wording import counted, listed
from pixie_otel.evaluable import Evaluable, JsonValue
from pixie_otel.traces.messages import AssistantMessage, ReasoningContent, TextContent
from pixie_otel.traces.observe import finish_reason
from pixie_otel.traces.spans import AgentSpan, LLMSpan, ObservationKind, ObserveSpan

if TYPE_CHECKING:
    from pixie_otel.traces.trace import Trace

__all__ = ["OutputNotTruncated", "OutputPresent"]

_CUT: Final = frozenset({"length", "model_length", "model_context_window_exceeded"})
"""Finish reasons of an answer that stopped at a limit."""

_ANSWERLESS: Final = frozenset(
    {ObservationKind.EMBEDDING, ObservationKind.RETRIEVER, ObservationKind.RERANKER, ObservationKind.OTHER}
)
"""Kinds of observations that answer nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPresent(TraceCheck):
    """The run has an output, and it is not empty.

    Where the judged observation recorded none, the last LLM call's answer counts; tool calls, images and other parts
    are an answer as much as text is. It warns, since many instrumentations record no content unless told to, and says
    which of the two it is.
    """

    name: ClassVar[str] = "OutputPresent"

    def __call__(self, evaluable: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        values = [item.value for item in evaluable.eval_output or () if item.value is not None]
        if any(not _is_blank(value) for value in values):
            return clean("the output is there")
        last = trace.llm_calls[-1] if trace.llm_calls else None
        if last is None and all(span.kind in _ANSWERLESS for span in trace.spans):
            raise SkipEvaluation("the trace holds no LLM call and no agent, only steps that give no answer")
        if last is not None and not values and _has_answer(last):
            return clean(f"the run itself recorded no output, but its last LLM call answered (span {last.span_id})")
        problem, reasoning = _missing(trace, last, recorded=bool(values))
        where: Finding = {} if last is None else {"span_id": last.span_id}
        return found(reasoning, [{"problem": problem, **where}])


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputNotTruncated(TraceCheck):
    """The answer was not cut off by a token limit.

    The trace's last LLM call made the answer; calls before it that were cut are told in the details only.
    """

    name: ClassVar[str] = "OutputNotTruncated"

    def __call__(self, _: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        if not trace.llm_calls:
            raise SkipEvaluation("the trace holds no LLM call")
        last = trace.llm_calls[-1]
        cut = [call for call in trace.llm_calls if _is_cut(call)]
        if cut and cut[-1] is last:
            limit = "" if last.request_max_tokens is None else f" of {last.request_max_tokens}"
            return found(
                f"the answer was cut off at the token limit{limit} (span {last.span_id})", _cut_calls(cut[::-1])
            )
        if not _finish_reasons(last):
            raise SkipEvaluation(f"the last LLM call recorded no finish reason (span {last.span_id})")
        if cut:
            return clean(
                f"the answer is whole; {counted(len(cut), 'call')} before it hit the token limit "
                f"(span {listed([call.span_id for call in cut])})",
                count=len(cut),
                inner=[*_cut_calls(cut[:20])],
            )
        return clean("the answer was not cut off")


def _is_blank(value: JsonValue) -> bool:
    """Say whether a value is nothing: null, blank text, an empty list or object. Zero and false are answers."""
    if isinstance(value, str):
        return not value or value.isspace()
    return value is None or value in ([], {})


def _has_answer(call: LLMSpan) -> bool:
    for message in call.output_messages:
        if isinstance(message, AssistantMessage) and message.tool_calls:
            return True
        for part in message.content:
            if isinstance(part, TextContent):
                if not _is_blank(part.text):
                    return True
            elif not isinstance(part, ReasoningContent):
                return True
    return not call.output_messages and not _is_blank(call.output)


def _missing(trace: Trace, last: LLMSpan | None, *, recorded: bool) -> tuple[str, str]:
    """Say in one word and in one line why there is no output."""
    by = "" if last is None else f" (span {last.span_id})"
    if last is not None and last.error is not None:
        return "failed", f"the last LLM call failed and so gave no answer{by}"
    if not any(_holds_content(span) for span in trace.spans):
        return "not recorded", "no content was recorded in this trace, as where an instrumentation does not capture it"
    if recorded:
        return "empty", "the output was recorded and is empty"
    if last is not None and (last.output_messages or last.output is not None):
        return "empty", f"the last LLM call's answer is empty{by}"
    return "missing", f"content was recorded, but no output of the run, nor of an LLM call at its end{by}"


def _holds_content(span: ObserveSpan) -> bool:
    """Say whether a span has any text. Messages may be recorded with their roles and nothing else."""
    messages = (*span.input_messages, *span.output_messages) if isinstance(span, LLMSpan | AgentSpan) else ()
    if messages:
        return any(not _is_blank(message.text) for message in messages)
    return not _is_blank(span.input) or not _is_blank(span.output)


def _finish_reasons(call: LLMSpan) -> tuple[str, ...]:
    if call.finish_reasons:
        return call.finish_reasons
    messages = call.output_messages
    recorded = [message.finish_reason for message in messages if isinstance(message, AssistantMessage)]
    return tuple(finish_reason(reason) for reason in recorded if reason)


def _is_cut(call: LLMSpan) -> bool:
    return not _CUT.isdisjoint(_finish_reasons(call))


def _cut_calls(calls: list[LLMSpan]) -> list[Finding]:
    return [
        {
            "span_id": call.span_id,
            "model": call.model,
            "finish_reasons": [*_finish_reasons(call)],
            "output_tokens": call.output_tokens,
            "max_tokens": call.request_max_tokens,
        }
        for call in calls
    ]
