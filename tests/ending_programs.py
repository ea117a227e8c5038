"""Programs that record spans and end in some way, each in a process of its own."""

from __future__ import annotations

__all__ = ["BEGIN", "program_of"]


BEGIN = """
import os, signal, sys, threading, time
from opentelemetry import trace
from pixie_otel.tracing.setup import flush, init, shutdown, stats
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

def end_spans(*names):
    for name in names:
        trace.get_tracer("t").start_span(str(name)).end()

class Hanging(SpanExporter):
    def export(self, spans):
        print("hanging", flush=True)
        threading.Event().wait()

class Slow(SpanExporter):
    def export(self, spans):
        print("slow", flush=True)
        sys.stdin.readline()
        print(*(span.name for span in spans), flush=True)
        return SpanExportResult.SUCCESS
"""


def program_of(text: str) -> str:
    """Give a program that begins as all of them do."""
    return BEGIN + text
