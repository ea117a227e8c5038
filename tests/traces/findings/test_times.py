"""Whether spans lie within the time of those that they belong to."""

from __future__ import annotations

import pytest
from checked_traces import agent, llm, says

from pixie_otel.traces.findings.found import Scene
from pixie_otel.traces.findings.times import late_spans
from pixie_otel.traces.trace import Trace

START = agent().start_time_unix_nano
END = START + 5_000_000


@pytest.mark.parametrize(
    ("start", "end", "begins", "is_late"),
    [
        (START, END, END + 1_000_001, True),
        (START, END, END + 1_000_000, False),
        (START, END, START, False),
        (START, 0, END, False),
        (START, START - 1, END, False),
        (0, END, END + 9_000_000, False),
    ],
)
def test_a_span_starts_before_its_parent_ends(start: int, end: int, begins: int, *, is_late: bool) -> None:
    """But for a millisecond, and where the parent's times say something."""
    child = llm("00000000000000b0", says("!"), start_time_unix_nano=begins, end_time_unix_nano=begins + 1)
    trace = Trace.from_spans([agent(start_time_unix_nano=start, end_time_unix_nano=end), child])

    assert [found.span for found in late_spans(Scene(trace))] == ([child] if is_late else [])
