"""Tracing switched on for a test: spans of a private provider, kept in memory, and everything as it was afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Sampler
from opentelemetry.trace import format_span_id

from pixie_otel.tracing import runtime

if TYPE_CHECKING:
    from pixie_otel.tracing.hub import SpanHub

__all__ = ["Recorded", "recording"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was recorded while tracing was on.

    Attributes:
        provider: The provider that made the spans.
        exporter: The exporter that keeps them.
    """

    provider: TracerProvider
    exporter: InMemorySpanExporter

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that have ended, in the order in which they ended."""
        return list(self.exporter.get_finished_spans())

    @property
    def names(self) -> list[str]:
        """The names of the spans that have ended."""
        return [span.name for span in self.spans]

    def span(self, name: str | None = None) -> ReadableSpan:
        """Give the one span that has ended, or the one of a name."""
        found = [span for span in self.spans if name is None or span.name == name]
        assert len(found) == 1, f"{len(found)} spans called {name!r} among {self.names}"
        return found[0]

    def attributes(self, name: str | None = None) -> dict[str, Any]:
        """Give the attributes of that span."""
        return dict(self.span(name).attributes or {})

    def input(self, name: str | None = None) -> Any:
        """Give that span's input, decoded as its mime type says."""
        return self._value("input", name)

    def output(self, name: str | None = None) -> Any:
        """Give that span's output, decoded as its mime type says."""
        return self._value("output", name)

    def parent(self, name: str | None = None) -> str | None:
        """Give the name of that span's parent; its id where it has not ended, ``None`` where there is none."""
        parent = self.span(name).parent
        if parent is None:
            return None
        for span in self.spans:
            if span.context is not None and span.context.span_id == parent.span_id:
                return span.name
        return format_span_id(parent.span_id)

    def clear(self) -> None:
        """Forget what was recorded so far."""
        self.exporter.clear()

    def _value(self, side: str, name: str | None) -> Any:
        attributes = self.attributes(name)
        value = attributes.get(f"{side}.value")
        return json.loads(value) if attributes.get(f"{side}.mime_type") == "application/json" else value


@contextmanager
def recording(
    *,
    capture_content: bool = True,
    sampler: Sampler | None = None,
    processors: Sequence[SpanProcessor] = (),
    hub: object = None,
) -> Iterator[Recorded]:
    """Switch tracing on with a private provider, and put back what was in force before.

    Args:
        capture_content: Whether inputs and outputs are recorded.
        sampler: Which spans are recorded; all where it is not given.
        processors: What else is told of spans, before the exporter is.
        hub: What the runtime gives as its hub, for code that asks for it.
    """
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
    for processor in (*processors, SimpleSpanProcessor(exporter)):
        provider.add_span_processor(processor)
    before = runtime.current()
    runtime.install(runtime.Runtime(provider.get_tracer("pixie_otel"), cast("SpanHub", hub), capture_content))
    try:
        yield Recorded(provider, exporter)
    finally:
        runtime.install(before)
        provider.shutdown()
