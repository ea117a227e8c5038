"""What it costs an application's own thread to have a value recorded.

The fastest of many rounds counts, as whatever disturbs a measurement only ever makes it slower.
"""

from __future__ import annotations

import json
from decimal import Decimal
from timeit import Timer
from typing import Any

import pytest
from benchmarks.measure import Figure

from pixie_otel.tracing.values import encode_value

pytestmark = pytest.mark.benchmark

QUESTION = {"question": "x" * 1024}
REQUEST = {
    "id": "abc123",
    "model": "a-model",
    "temperature": 0.7,
    "stream": False,
    "messages": [
        {"role": "system", "content": "a" * 200},
        {"role": "user", "content": "b" * 300},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "rain"}'}}
            ],
        },
        {"role": "tool", "content": "c" * 300, "tool_call_id": "c1"},
    ],
    "usage": {"in": 100, "out": 200},
    "tags": ["a", "b"],
}


ROUNDS = 2000


def in_turns(*values: Any) -> list[tuple[float, float]]:
    """Time the recording of each value, and `json.dumps` of the first one beside it, in microseconds."""
    found = [(float("inf"), float("inf"))] * len(values)
    for _ in range(25):
        for place, value in enumerate(values):
            times = (lambda value=value: encode_value(value)), (lambda: json.dumps(values[0]))
            measured = [Timer(call).timeit(ROUNDS) / ROUNDS * 1e6 for call in times]
            found[place] = (min(found[place][0], measured[0]), min(found[place][1], measured[1]))
    return found


@pytest.mark.parametrize(
    ("name", "value", "limit"),
    [
        pytest.param("a text of 1 KB", "x" * 1024, 0.5, id="text"),
        pytest.param("a question of 1 KB in a dict", QUESTION, 1, id="question"),
        pytest.param("a request of 32 values, 1 KB", REQUEST, 1.5, id="request"),
    ],
)
def test_plain_values_cost_no_more_than_writing_json(
    figures: list[Figure], name: str, value: Any, limit: float
) -> None:
    """What most calls take and give is recorded, checks and copy included, about as quickly as Python writes JSON."""
    ((ours, theirs),) = in_turns(value)
    figures += (
        Figure(f"recording {name}", ours, "µs"),
        Figure(f"recording {name} against json.dumps", ours / theirs, "x", limit),
    )

    assert ours <= limit * theirs


def test_unusual_values_cost_little_more(figures: list[Figure]) -> None:
    """A request that holds one value that is not JSON takes the careful way, at most 10 times as long as its JSON."""
    _, (ours, theirs) = in_turns(REQUEST, {**REQUEST, "price": Decimal(1)})
    figures += (
        Figure("recording a request with a decimal", ours, "µs"),
        Figure("recording a request with a decimal against json.dumps", ours / theirs, "x", 10),
    )

    assert ours <= 10 * theirs


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("a million items", list(range(1_000_000)), id="items"),
        pytest.param("a million keys", dict.fromkeys(map(str, range(1_000_000))), id="keys"),
        pytest.param("a text of 100 MB", "x" * 100_000_000, id="text"),
        pytest.param("a thousand texts of 1 MB", ["é" * 1_000_000] * 1000, id="texts"),
    ],
)
def test_huge_values_cost_no_more_than_the_limits_allow(figures: list[Figure], name: str, value: Any) -> None:
    """However large a value is, recording what the limits leave of it takes milliseconds."""
    measured = min(Timer(lambda: encode_value(value)).repeat(5, 1)) * 1e3
    figures.append(Figure(f"recording {name}", measured, "ms", 100))

    assert measured <= 100
