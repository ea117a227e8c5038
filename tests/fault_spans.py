"""Spans that go into files and come back, for facts about what survives."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from pixie_otel.exporters.work_queue import QueueStats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Handing(SpanProcessor):
    """Hands every span that ends to a function."""

    def __init__(self, hand: Callable[[ReadableSpan], object]) -> None:
        self._hand = hand

    def on_end(self, span: ReadableSpan) -> None:
        """Hand it on."""
        self._hand(span)


def provider_to(hand: Callable[[ReadableSpan], object]) -> TracerProvider:
    """Give a provider of its own whose spans go to a function."""
    provider = TracerProvider(sampler=ALWAYS_ON, shutdown_on_exit=False)
    provider.add_span_processor(Handing(hand))
    return provider


def trace_files(path: Path) -> list[Path]:
    """List the trace files that a reader would find: the file itself and what was rotated, or all of a folder."""
    folder = path if path.is_dir() else path.parent
    return sorted(file for file in folder.glob("[!.]*") if file.name.endswith((".jsonl", ".jsonl.gz")))


def lines_in(file: Path) -> list[bytes]:
    """Give the lines of a file; what stands behind the last newline is a line too."""
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [line for line in data.split(b"\n") if line]


def names_in_line(line: bytes) -> Iterator[str]:
    """Give the names of the spans in a line, which must be whole."""
    for resource in json.loads(line)["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                yield span["name"]


def names_in(path: Path) -> Counter[str]:
    """Count the names of all spans in a file or a folder; every line must be whole."""
    return Counter(name for file in trace_files(path) for line in lines_in(file) for name in names_in_line(line))


def balanced(stats: QueueStats) -> QueueStats:
    """Check that nothing is unaccounted for."""
    assert stats.ended == stats.written + stats.queued + sum(stats.dropped.values()), stats
    return stats
