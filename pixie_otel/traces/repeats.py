"""What did not count by itself, since another span recorded the same thing, and by which rule."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct

from pixie_otel.traces.spans import ObserveSpan

__all__ = ["REASONS", "Repeat", "Rule"]


class Rule(StrEnum):
    """Why a span does not count by itself."""

    WRAPPER = "wrapper"
    ATTEMPTS = "attempts"
    SUM = "sum"
    HELPER = "helper"
    STREAM_ANSWER = "stream-answer"
    TWO_INSTRUMENTATIONS = "two-instrumentations"
    SAME_RUN = "same-run"


REASONS: Final = {
    Rule.WRAPPER: "one is around the other, and both recorded the same call",
    Rule.ATTEMPTS: "it is around several attempts, and recorded the one that worked out",
    Rule.SUM: "it is around several calls, and is none itself",
    Rule.HELPER: "it only names a model, and nothing that a call leaves was recorded",
    Rule.STREAM_ANSWER: "it is the answer of a stream, recorded when the stream had ended",
    Rule.TWO_INSTRUMENTATIONS: "two instrumentations recorded the same call beside each other",
    Rule.SAME_RUN: "one is around the other, and both recorded the same run",
}
"""The rules as people read them."""


class Repeat(Struct, frozen=True):
    """A span that does not count by itself.

    Attributes:
        rule: Why.
        trace_id: The trace that it stands in.
        span_id: Its id.
        name: Its name.
        counted: The id of the span that counts in its place; ``None`` where it is none of them, or several.
        counted_trace_id: The trace that that one stands in.
    """

    rule: Rule
    trace_id: str
    span_id: str
    name: str
    counted: str | None = None
    counted_trace_id: str | None = None

    @classmethod
    def of(cls, span: ObserveSpan, rule: Rule, counted: ObserveSpan | None = None) -> Repeat:
        """Say of a span that it does not count by itself.

        Args:
            span: The span.
            rule: Why.
            counted: What counts in its place.
        """
        known = {} if counted is None else {"counted": counted.span_id, "counted_trace_id": counted.trace_id}
        return cls(rule, span.trace_id, span.span_id, span.name, **known)
