"""What tracing costs the application's own thread, against OpenTelemetry's bare spans and against other decorators.

Every way runs in a process of its own, in turns; within it the calls are timed in rounds by the thread's processor
time, and the cheapest round counts, as whatever disturbs a measurement only ever makes it dearer. Each call takes 1 KB
and gives back 1 KB; five calls make a trace, one root and four below it.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest
from benchmarks.measure import Figure

pytestmark = pytest.mark.benchmark

TURNS: Final = 5

COMMON: Final = """
import gc, sys, time
TEXT = "How long do refunds take, and what do I need to send? " * 19
REPLY = "Refunds take five business days from the day we get it. " * 18
def traces(decorate, rounds=20, count=200):
    @decorate
    def child(question: str) -> str:
        return REPLY
    @decorate
    def root(question: str) -> str:
        for _ in range(4):
            child(question)
        return REPLY
    root(TEXT)
    best = None
    for _ in range(rounds):
        began = time.thread_time()
        for _ in range(count):
            root(TEXT)
        spent = (time.thread_time() - began) / (5 * count)
        best = spent if best is None else min(best, spent)
        settle()
    print(best * 1e6)
def settle():
    pass
"""

BARE: Final = """
from functools import wraps
import json
from opentelemetry.sdk.trace import TracerProvider
tracer = TracerProvider(shutdown_on_exit=False).get_tracer("bare")
def decorate(function):
    name = function.__name__
    @wraps(function)
    def call(question):
        with tracer.start_as_current_span(name, attributes={"openinference.span.kind": "CHAIN"}) as span:
            span.set_attributes({
                "input.value": json.dumps({"question": question}), "input.mime_type": "application/json",
            })
            reply = function(question)
            span.set_attributes({"output.value": reply, "output.mime_type": "text/plain"})
            return reply
    return call
traces(decorate)
"""
"""An OpenTelemetry span with the same attributes, in a provider without any processor."""

PIXIE: Final = """
import pixie_otel
pixie_otel.init(file=sys.argv[1], instrument=False)
def settle():
    pixie_otel.flush()
traces(pixie_otel.observe)
stats = pixie_otel.stats()
(to_file,) = stats.destinations
assert to_file.written == to_file.ended == 5 * (20 * 200 + 1), stats
"""

OPENINFERENCE: Final = """
from openinference.instrumentation import OITracer, TraceConfig
from opentelemetry.sdk.trace import TracerProvider
tracer = OITracer(TracerProvider(shutdown_on_exit=False).get_tracer("openinference"), config=TraceConfig())
traces(tracer.chain)
"""
"""OpenInference's own decorator, in a provider without any processor."""

LANGFUSE: Final = """
import logging; logging.disable(logging.CRITICAL)
from langfuse import Langfuse, observe
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
memory = InMemorySpanExporter()
client = Langfuse(public_key="pk-lf-x", secret_key="sk-lf-x", base_url="http://127.0.0.1:9", span_exporter=memory)
def settle():
    client.flush(); memory.clear()
traces(observe)
import os; sys.stdout.flush(); os._exit(0)
"""

WRAP_BEFORE_INIT: Final = """
import timeit
import pixie_otel
wrap = pixie_otel.wrap
value = {"documents": ["a", "b"]}
print(min(timeit.repeat(lambda: wrap(value, purpose="input", name="docs"), number=100_000, repeat=10)) * 10)
"""


def microseconds(program: str, *arguments: str) -> float:
    """Run a program and give the microseconds that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", COMMON + program, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout.splitlines()[-1])


def in_turns(programs: dict[str, str], folder: Path) -> dict[str, float]:
    """Run programs in turns and give the cheapest run of each."""
    found: dict[str, float] = {}
    for turn in range(TURNS):
        for name, program in programs.items():
            spent = microseconds(program, f"{folder / str(turn)}/")
            found[name] = min(spent, found.get(name, spent))
    return found


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Measure everything that is compared, in turns."""
    programs = {"bare span": BARE, "observe to file": PIXIE, "OpenInference's decorator": OPENINFERENCE}
    if find_spec("langfuse") is not None:
        programs["langfuse's observe"] = LANGFUSE
    return in_turns(programs, tmp_path_factory.mktemp("traces"))


@pytest.mark.parametrize(
    ("other", "limit"), [("bare span", 1.6), ("OpenInference's decorator", 0.5), ("langfuse's observe", 0.3)]
)
def test_observe_costs_the_application_little(
    costs: dict[str, float], figures: list[Figure], other: str, limit: float
) -> None:
    """An observed call that is written to a file takes at most so many times what the other way takes."""
    if other not in costs:
        pytest.skip("langfuse is not installed: pip install langfuse")
    ratio = costs["observe to file"] / costs[other]
    figures += (
        Figure("observe to file, a span in the application's thread", costs["observe to file"], "µs"),
        Figure(f"{other}, a span in the application's thread", costs[other], "µs"),
        Figure(f"observe to file against {other}", ratio, "x", limit),
    )

    assert ratio <= limit


def test_wrap_before_init_costs_next_to_nothing(figures: list[Figure]) -> None:
    """`wrap` of a value takes at most a microsecond as long as `init` was not called."""
    spent = min(microseconds(WRAP_BEFORE_INIT) for _ in range(3))
    figures.append(Figure("wrap of a value before init", spent, "µs", 1.0))

    assert spent <= 1.0
