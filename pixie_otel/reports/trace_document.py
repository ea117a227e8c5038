"""One trace as a JSON document, for programs."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from pixie_otel.runs.records import encode_record
from pixie_otel.traces.dialects.plain import plain_messages
from pixie_otel.traces.repeats import REASONS
from pixie_otel.traces.spans import ObserveSpan
from pixie_otel.traces.trace import Trace

__all__ = ["trace_document"]

_OF_CALLS: Final = ("span_id", "model", "input_tokens", "output_tokens", "cost", "finish_reasons", "output", "notes")
"""What is said of a model call; the rest stands on its span, but for what only another span knows."""
_MESSAGES: Final = ("input_messages", "output_messages")


class _TraceDocument(Struct, frozen=True, kw_only=True):
    schema: int = 1
    trace_id: str
    session_id: str | None
    services: list[str]
    start_time_unix_nano: int
    duration_ms: float | None
    usage: dict[str, int | float | None]
    llm_calls: list[dict[str, Any]]
    spans: list[dict[str, Any]]
    repeats: list[dict[str, Any]]
    problems: list[dict[str, Any]]


def trace_document(trace: Trace) -> str:
    """Write a trace as JSON on one line; its tree is in the spans' ``parent_span_id``, so that any depth can be read.

    Args:
        trace: The trace.
    """
    usage = trace.usage
    document = _TraceDocument(
        trace_id=trace.trace_id,
        session_id=trace.session_id,
        services=trace.service_names,
        start_time_unix_nano=trace.start_time_unix_nano,
        duration_ms=trace.duration_ms,
        usage={"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cost": usage.cost},
        llm_calls=[_known({name: getattr(call, name) for name in _OF_CALLS}) for call in trace.llm_calls],
        spans=[_span(span) for span in trace.spans],
        repeats=[_known(asdict(repeat)) | {"reason": REASONS[repeat.rule]} for repeat in trace.repeats],
        problems=[problem.to_json() for problem in trace.problems],
    )
    return encode_record(document).decode()


def _span(span: ObserveSpan) -> dict[str, Any]:
    """Give what was recorded of a span; what was not is left out."""
    found = _known(asdict(span))
    for name in _MESSAGES:
        if name in found:
            found[name] = plain_messages(found[name])
    return found


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "", (), {})}
