"""The spans that have not ended, and whose they are."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final, TypeAlias
from weakref import ReferenceType, ref

from opentelemetry.context import create_key
from opentelemetry.sdk.trace import Span
from opentelemetry.trace import SpanContext

from pixie_otel.exporters.memory import MemoryTraceHandler

__all__ = ["CAPTURES", "CAPTURES_HERE", "CaptureRef", "OpenSpans"]

CaptureRef: TypeAlias = ReferenceType[MemoryTraceHandler]
"""A capture as contexts and spans hold it: a thread may hold its context for ever, and must not hold spans with it."""

CAPTURES: Final = create_key("pixie_otel.captures")
"""The key of OpenTelemetry's context that holds the captures in force, a tuple of `CaptureRef`."""

CAPTURES_HERE: Final[ContextVar[tuple[CaptureRef, ...]]] = ContextVar("pixie_otel_captures", default=())
"""The same beside that context, which servers replace by an empty one for each request, as FastAPI does."""

_Key: TypeAlias = tuple[int, int]


class _Open(ref[Span]):
    """One span that has not ended, held weakly, as some never end."""

    __slots__ = ("captures", "key")

    captures: tuple[CaptureRef, ...]
    key: _Key


class OpenSpans:
    """The spans that have not ended, as far as somebody has to know of them.

    Attributes:
        by_key: The spans; it is asked for every span that ends whether there are any, and no method is as quick.
    """

    def __init__(self) -> None:
        self.by_key: dict[_Key, _Open] = {}

    def add(self, span: Span, captures: tuple[CaptureRef, ...]) -> None:
        """Remember a span.

        Args:
            span: It has just started.
            captures: Those that it belongs to.
        """
        opened = _Open(span, self._forget)
        opened.captures = captures
        opened.key = _key(span.get_span_context())
        self.by_key[opened.key] = opened

    def pop(self, context: SpanContext) -> tuple[CaptureRef, ...] | None:
        """Forget a span that has ended, and give its captures; ``None`` for one that is not known."""
        opened = self.by_key.pop(_key(context), None)
        return None if opened is None else opened.captures

    def captures(self, context: SpanContext | None) -> tuple[CaptureRef, ...]:
        """Give the captures that a span belongs to; none for one that is not known."""
        opened = None if context is None else self.by_key.get(_key(context))
        return () if opened is None else opened.captures

    def count(self, capture: CaptureRef) -> int:
        """Say how many spans of a capture have not ended."""
        return sum(capture in opened.captures for opened in self.by_key.copy().values())

    def _forget(self, opened: _Open) -> None:
        if self.by_key.get(opened.key) is opened:
            self.by_key.pop(opened.key, None)


def _key(context: SpanContext) -> _Key:
    return context.trace_id, context.span_id
