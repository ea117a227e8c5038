"""Programs that set tracing up and say as JSON what became of it, each in a process of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from programs import run_program, written_spans

__all__ = ["BEGIN", "run", "written_names"]


BEGIN = """
import json, logging, os, sys, threading
from opentelemetry import context, trace
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pixie_otel.errors import ConfigError
from pixie_otel.tracing import runtime
from pixie_otel.tracing.setup import flush, init, init_for_capture, shutdown, stats

said = []

class _Listener(logging.Handler):
    def emit(self, record):
        said.append((record.levelname, record.getMessage()))

logging.getLogger("pixie_otel").addHandler(_Listener())
logging.getLogger("pixie_otel").setLevel("INFO")

def end_spans(*names):
    for name in names:
        trace.get_tracer("t").start_span(str(name)).end()

def roomy(**settings):
    return TracerProvider(span_limits=SpanLimits(max_span_attributes=10_000), **settings)

def names(exporter):
    return [span.name for span in exporter.get_finished_spans()]

class Hanging(SpanExporter):
    entered = threading.Event()
    def export(self, spans):
        self.entered.set()
        threading.Event().wait()

"""


def run(folder: Path, program: str, *arguments: str, **variables: str) -> Any:
    """Run a program, and give the value that it printed as JSON."""
    out, _ = run_program(BEGIN + program, folder, variables, *arguments)
    return json.loads(out)


def written_names(folder: Path) -> list[str]:
    """Give the names of the spans in `traces/`, sorted."""
    return sorted(span.name for span in written_spans(folder / "traces"))
