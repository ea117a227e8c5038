"""Traces of single model calls, as bare instrumentations of SDKs make them, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checked_traces import user

from pixie_otel.traces.dialects.plain import answer, plain_messages
from pixie_otel.traces.messages import AssistantMessage, TextContent
from pixie_otel.traces.spans import LLMSpan, ObservationKind
from pixie_otel.traces.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pixie_otel.traces.messages import Message

__all__ = ["alone", "answered", "call"]


def answered(text: str) -> AssistantMessage:
    """Answer as a model."""
    return AssistantMessage(content=(TextContent(text),))


def call(number: int, told: Sequence[Message | str], said: Message | str | None, **fields: object) -> LLMSpan:
    """Make a model call of one second, which starts at a second of its number."""
    messages = tuple(user(item) if isinstance(item, str) else item for item in told)
    answers = () if said is None else (answered(said) if isinstance(said, str) else said,)
    values: dict[str, object] = {
        "trace_id": f"{number:032x}",
        "span_id": f"{number:016x}",
        "name": "chat",
        "kind": ObservationKind.LLM,
        "operation": "chat",
        "start_time_unix_nano": number * 10**9,
        "end_time_unix_nano": number * 10**9 + 10**8,
        "input_messages": messages,
        "output_messages": answers,
        "input": plain_messages(messages) if messages else None,
        "output": answer(answers),
        "resource": {"service.name": "bot"},
        **fields,
    }
    return LLMSpan(**values)  # type: ignore[arg-type]


def alone(number: int, told: Sequence[Message | str], said: Message | str | None, **fields: object) -> Trace:
    """Make a trace of one model call."""
    return Trace.from_spans([call(number, told, said, **fields)])
