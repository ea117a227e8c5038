"""Tests of the generator of large files: what it writes is what real exporters write."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from benchmarks.generate import generate

from pixie_otel.traces.reader import TraceReader


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """A file is given by its settings and its seed alone."""
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        generate(tmp_path / name, spans=100, seed=seed)

    one, same, other = ((tmp_path / name).read_bytes() for name in ("one", "same", "other"))
    assert one == same
    assert one != other


def test_spans_are_many_kinds_in_whole_traces(tmp_path: Path) -> None:
    """There is a trace for every five spans, two spans in five are model calls, and nothing is wrong with the file."""
    path = tmp_path / "traces.jsonl"
    generate(path, spans=1000)

    reader = TraceReader(path)
    traces = list(reader)

    kinds = Counter(span.kind.value for trace in traces for span in trace.spans)
    assert len(traces) == 200
    assert kinds["llm"] == 400
    assert kinds.keys() == {"chain", "llm", "retriever", "tool"}
    assert kinds.total() == 1000
    assert {dialect for trace in traces for call in trace.llm_calls for dialect in call.dialects} == {
        "openinference",
        "gen_ai",
    }
    assert not reader.report.counts


def test_spans_have_the_length_asked_for(tmp_path: Path) -> None:
    """The file is as long as its spans should be on average, within a tenth."""
    path = tmp_path / "traces.jsonl"
    for span_bytes in (1800, 3600, 6000):
        generate(path, spans=5000, span_bytes=span_bytes)

        assert abs(path.stat().st_size / 5000 / span_bytes - 1) < 0.1


def test_spans_of_a_trace_lie_apart(tmp_path: Path) -> None:
    """Lines hold 25 spans of many traces, and few traces lie in one line."""
    path = tmp_path / "traces.jsonl"
    generate(path, spans=5000)

    places: dict[str, set[int]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        scopes = json.loads(line)["resourceSpans"][0]["scopeSpans"]
        found = [span["traceId"] for scope in scopes for span in scope["spans"]]
        assert len(found) == 25
        for trace_id in found:
            places.setdefault(trace_id, set()).add(number)
    assert sum(len(numbers) > 1 for numbers in places.values()) > 900
