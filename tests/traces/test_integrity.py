"""What is wrong with a trace as a whole."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.traces.integrity import trace_problems
from pixie_otel.traces.tree import link, order


@dataclass(frozen=True)
class Span:
    """What integrity is checked on."""

    span_id: str
    parent_span_id: str | None = None
    start_time_unix_nano: int = 10**9
    end_time_unix_nano: int = 2 * 10**9
    name: str = "work"
    dropped_attributes: int = 0
    has_remote_parent: bool = False


def problems(*spans: Span) -> dict[str, str]:
    """Check some spans, and give what is said by kind; each kind is said once."""
    found = sorted(spans, key=order)
    said = trace_problems(found, link(found), trace_id="t", source="a.jsonl")
    assert len({problem.kind for problem in said}) == len(said)
    assert all((problem.trace_id, problem.source, problem.line) == ("t", "a.jsonl", None) for problem in said)
    return {problem.kind: problem.message for problem in said}


def test_a_whole_trace_has_no_problems() -> None:
    """Nothing is said of what is right."""
    assert problems(Span("a"), Span("b", "a"), Span("c", "b", 10**9 + 5, 3 * 10**9)) == {}


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        (
            [Span("a"), Span("b", "gone", 10**9 + 1)],
            {
                "orphan-span": "1 span of 2 with a parent that is not in the input (first: 'work' b)",
                "several-roots": "the trace has 2 roots (first: 'work' a)",
            },
        ),
        (
            [Span("a", "gone"), Span("b", "a")],
            {
                "orphan-span": "1 span of 2 with a parent that is not in the input (first: 'work' a)",
                "missing-root": "the trace has no true root: its top span is not in the input (first: 'work' a)",
            },
        ),
        ([Span("a", "a")], {"self-parent": "1 span named as their own parent (first: 'work' a)"}),
        (
            [Span("a", "b"), Span("b", "a", 10**9 + 1)],
            {"parent-cycle": "1 cycles of parents, cut at the span that starts first (first: 'work' a)"},
        ),
        (
            [Span("a", "gone", has_remote_parent=True), Span("b", "a")],
            {
                "remote-parent": "1 span of 2 with a parent in another process that is not in the input "
                "(first: 'work' a)",
            },
        ),
        (
            [Span("a", None, 10**9, 0), Span("b", "a", 10**9, 0)],
            {"unfinished-span": "2 spans without an end time (first: 'work' a)"},
        ),
        ([Span("a", None, 0)], {"missing-time": "1 span without a start time (first: 'work' a)"}),
        (
            [Span("a", None, 10**9, 5), Span("b", "a", 10**9 - 2_000_000)],
            {
                "clock-skew": "2 spans with an end before its start, or a start before its parent's (first: 'work' b)",
            },
        ),
        (
            [Span("a", dropped_attributes=2), Span("b", "a", dropped_attributes=3)],
            {
                "dropped-attributes": "5 attributes of 2 spans were dropped where they were made, so content may be "
                "missing; raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT there (first: 'work' a)",
            },
        ),
    ],
)
def test_each_kind_is_said_once_with_the_first_span(spans: list[Span], expected: dict[str, str]) -> None:
    """However many spans it concerns."""
    assert problems(*spans) == expected


def test_clocks_may_differ_by_a_little() -> None:
    """Less than a millisecond is within what clocks of one machine differ by; a missing end is no skew."""
    assert problems(Span("a"), Span("b", "a", 10**9 - 1_000_000)) == {}
    assert "clock-skew" not in problems(Span("a", None, 10**9, 0))


@given(
    st.lists(
        st.builds(
            Span,
            st.sampled_from("abcdef"),
            st.none() | st.sampled_from("abcdefg"),
            st.integers(0, 3).map(lambda number: number * 10**9),
            st.integers(0, 3).map(lambda number: number * 10**9),
            dropped_attributes=st.integers(0, 2),
        ),
        min_size=1,
    )
)
def test_any_spans_can_be_checked(spans: list[Span]) -> None:
    """Whatever they are, and a trace with a true root and nothing else wrong has none missing."""
    said = problems(*spans)

    if "missing-root" in said:
        assert "orphan-span" in said
