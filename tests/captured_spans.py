"""Spans that are made to be captured, and the names of those that were."""

from __future__ import annotations

from opentelemetry.trace import Tracer

from pixie_otel.exporters.memory import MemoryTraceHandler

__all__ = ["make", "names"]


def make(tracer: Tracer, *names: str) -> None:
    """Make spans, one after another."""
    for name in names:
        with tracer.start_as_current_span(name):
            pass


def names(handler: MemoryTraceHandler) -> list[str]:
    """Give the names of the captured spans, sorted."""
    return sorted(span.name for span in handler.spans)
