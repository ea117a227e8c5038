"""What a program costs that runs in a process of its own: processor time and peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["ORJSON", "READING", "Cost", "Figure", "SpanFile", "cost"]

ORJSON: Final = """
import sys, time, orjson
began = time.process_time()
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        orjson.loads(line)
print(time.process_time() - began)
"""
"""Decode every line of a file, and keep nothing."""

READING: Final = """
import sys, time
from pixie_otel.traces.reader import TraceReader
began = time.process_time()
spans = 0
for trace in TraceReader(sys.argv[1]):
    pending = list(trace.roots)
    while pending:
        spans += 1
        pending += pending.pop().children
assert spans == int(sys.argv[2]), spans
print(time.process_time() - began)
"""
"""Read a file, group its spans and build all trees, without looking into any span."""

_LAUNCHER: Final = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
unit = 1 if sys.platform == "darwin" else 1024
cost = [used.ru_utime + used.ru_stime, used.ru_maxrss * unit, done.returncode, done.stdout.decode()]
print(json.dumps(cost))
"""
"""Run a program and tell what it took. A process starts with the peak memory of the one that started it, so this one
is as small as can be."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a program took.

    Attributes:
        seconds: Processor time, interpreter and imports included.
        peak_bytes: The most memory that it held at a time.
        printed: What it printed.
    """

    seconds: float
    peak_bytes: int
    printed: str

    @property
    def own_seconds(self) -> float:
        """The processor time that the program itself measured and printed."""
        return float(self.printed)


def cost(*arguments: str, ends_with: frozenset[int] = frozenset({0})) -> Cost:
    """Run a Python program to its end and say what it took.

    Args:
        arguments: What follows the interpreter on its command line.
        ends_with: The exit codes that a good run may have.
    """
    command = [sys.executable, "-c", _LAUNCHER, sys.executable, *arguments]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    seconds, peak_bytes, code, printed = json.loads(told)
    assert code in ends_with, f"the program ended with {code}; it printed {printed!r}"
    return Cost(seconds, peak_bytes, printed)


@dataclass(frozen=True, slots=True)
class SpanFile:
    """A generated file.

    Attributes:
        path: Where it is.
        spans: How many spans are in it.
    """

    path: Path
    spans: int


@dataclass(frozen=True, slots=True)
class Figure:
    """Something that was measured.

    Attributes:
        name: What it is.
        value: How much it is.
        unit: Of what.
        limit: How much it may be.
    """

    name: str
    value: float
    unit: str
    limit: float | None = None

    @property
    def limit_text(self) -> str:
        """The limit as it is shown; empty where there is none."""
        return "" if self.limit is None else f"at most {self.limit:g}"
