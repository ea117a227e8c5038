"""What reading costs: against decoding the same lines with the fastest JSON library, and in memory."""

from __future__ import annotations

import pytest
from benchmarks.conftest import SpanFile
from benchmarks.figures import Figures
from benchmarks.measure import ORJSON, READING, cost

from pixie_otel.traces.index import ROW_BYTES, SpanIndex

pytestmark = pytest.mark.benchmark

ROUNDS = 3


def test_reading_costs_little_more_than_decoding(hundred_thousand: SpanFile, figures: Figures) -> None:
    """Reading, grouping and building all trees takes at most 1.2 times the time of `orjson.loads` on every line."""
    path, spans = str(hundred_thousand.path), str(hundred_thousand.spans)
    rounds = [(cost("-c", ORJSON, path), cost("-c", READING, path, spans)) for _ in range(ROUNDS)]
    orjson = min(decoding.own_seconds for decoding, _ in rounds)
    reading = min(reading.own_seconds for _, reading in rounds)
    figures.add("orjson.loads of every line, 100,000 spans", f"{orjson:.2f} s")
    figures.add("reading, grouping, trees, 100,000 spans", f"{reading:.2f} s, {reading / orjson:.2f} x", "1.2 x")

    assert reading <= 1.2 * orjson


def test_the_index_takes_36_bytes_a_span() -> None:
    """A span takes exactly 36 bytes of the index."""
    index = SpanIndex()
    for number in range(1000):
        index.add(number.to_bytes(16), 1_796_050_000_000_000_000 + number, number * 4000, 3600, 7)

    assert index.rows == 1000
    assert index.size == 36 * index.rows == ROW_BYTES * index.rows
