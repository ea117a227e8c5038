"""What is wrong with a trace as a whole, said once a kind however many spans it concerns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from pixie_otel.traces.report import Problem
from pixie_otel.traces.tree import Linkable, Links

__all__ = ["Checkable", "trace_problems"]

_SKEW_NANO: Final = 1_000_000
"""A child that starts less than a millisecond before its parent is within what clocks of one machine differ by."""


class Checkable(Linkable, Protocol):
    """What integrity is checked on."""

    @property
    def name(self) -> str:
        """The span's name."""
        ...

    @property
    def dropped_attributes(self) -> int:
        """How many attributes its producer dropped."""
        ...


def trace_problems(spans: Sequence[Checkable], links: Links, *, trace_id: str, source: str) -> list[Problem]:
    """Say what is wrong with how the spans of a trace hang together.

    Args:
        spans: The spans, in order of start.
        links: How they hang together.
        trace_id: The trace.
        source: The input that the trace, or its first span, came from.

    Returns:
        One problem a kind, with how many spans it concerns and the first of them.
    """
    timeless, skewed, dropped = _odd(spans, links)
    found: list[Problem] = []

    def add(kind: str, positions: Sequence[int], message: str) -> None:
        first = spans[positions[0]]
        text = f"{message} (first: {first.name!r} {first.span_id})"
        found.append(Problem(kind, text, source, trace_id=trace_id, span_id=first.span_id))

    if orphans := links.orphans:
        add("orphan-span", orphans, f"{_spans(orphans)} of {len(spans)} with a parent that is not in the input")
    if links.self_parents:
        add("self-parent", links.self_parents, f"{_spans(links.self_parents)} named as their own parent")
    if links.cut:
        add("parent-cycle", links.cut, f"{len(links.cut)} cycles of parents, cut at the span that starts first")
    if len(links.roots) > 1:
        add("several-roots", links.roots, f"the trace has {len(links.roots)} roots")
    if orphans and len(orphans) == len(links.roots):
        add("missing-root", orphans, "the trace has no true root: its top span is not in the input")
    if timeless:
        add("missing-time", timeless, f"{_spans(timeless)} without a start time")
    if skewed:
        add("clock-skew", skewed, f"{_spans(skewed)} with an end before its start, or a start before its parent's")
    if dropped:
        total = sum(spans[at].dropped_attributes for at in dropped)
        add(
            "dropped-attributes",
            dropped,
            f"{total} attributes of {_spans(dropped)} were dropped where they were made, so content may be missing; "
            "raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT there",
        )
    return found


def _spans(positions: Sequence[int]) -> str:
    return "1 span" if len(positions) == 1 else f"{len(positions)} spans"


def _odd(spans: Sequence[Checkable], links: Links) -> tuple[list[int], list[int], list[int]]:
    """Find the spans without a start, those at odds with the clock, and those that lost attributes."""
    timeless: list[int] = []
    skewed: list[int] = []
    dropped: list[int] = []
    for at, (span, parent) in enumerate(zip(spans, links.parents, strict=True)):
        start = span.start_time_unix_nano
        if not start:
            timeless.append(at)
        # In order of start, only a parent that stands behind its child starts later.
        elif 0 < span.end_time_unix_nano < start or (
            parent > at and start + _SKEW_NANO < spans[parent].start_time_unix_nano
        ):
            skewed.append(at)
        if span.dropped_attributes:
            dropped.append(at)
    return timeless, skewed, dropped
