"""What is wrong with a trace as a whole, said once a kind however many spans it concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from operator import attrgetter, ge, gt
from typing import Final, NamedTuple, Protocol

from pixie_otel.traces.report import Problem
from pixie_otel.traces.tree import Linkable, Links

__all__ = ["Checkable", "trace_problems"]

_START: Final[Callable[[Checkable], int]] = attrgetter("start_time_unix_nano")
_END: Final[Callable[[Checkable], int]] = attrgetter("end_time_unix_nano")
_DROPPED: Final[Callable[[Checkable], int]] = attrgetter("dropped_attributes")
_SKEW_NANO: Final = 1_000_000
"""A child that starts less than a millisecond before its parent is within what clocks of one machine differ by."""


class _Odd(NamedTuple):
    """The positions of spans that have something of their own."""

    timeless: list[int]
    endless: list[int]
    skewed: list[int]
    dropped: list[int]

    def described(self, spans: Sequence[Checkable]) -> Iterator[tuple[str, list[int], str]]:
        """Give kind, positions and words of everything that was found."""
        if self.timeless:
            yield "missing-time", self.timeless, f"{_spans(self.timeless)} without a start time"
        if self.endless:
            yield "unfinished-span", self.endless, f"{_spans(self.endless)} without an end time"
        if self.skewed:
            said = "with an end before its start, or a start before its parent's"
            yield "clock-skew", self.skewed, f"{_spans(self.skewed)} {said}"
        if self.dropped:
            total = sum(spans[at].dropped_attributes for at in self.dropped)
            said = (
                f"{total} attributes of {_spans(self.dropped)} were dropped where they were made, so content may be "
                "missing; raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT there"
            )
            yield "dropped-attributes", self.dropped, said


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
    odd = _odd(spans, links)
    found: list[Problem] = []
    if odd is None and len(links.roots) == 1 and not (links.orphans or links.self_parents or links.cut):
        return found

    def add(kind: str, positions: Sequence[int], message: str) -> None:
        first = spans[positions[0]]
        text = f"{message} (first: {first.name!r} {first.span_id})"
        found.append(Problem(kind, text, source, trace_id=trace_id, span_id=first.span_id))

    orphans: list[int] = []
    remote: list[int] = []
    for at in links.orphans:
        (remote if getattr(spans[at], "has_remote_parent", False) else orphans).append(at)
    if orphans:
        add("orphan-span", orphans, f"{_spans(orphans)} of {len(spans)} with a parent that is not in the input")
    if remote:
        message = f"{_spans(remote)} of {len(spans)} with a parent in another process that is not in the input"
        add("remote-parent", remote, message)
    if links.self_parents:
        add("self-parent", links.self_parents, f"{_spans(links.self_parents)} named as their own parent")
    if links.cut:
        add("parent-cycle", links.cut, f"{len(links.cut)} cycles of parents, cut at the span that starts first")
    if len(links.roots) > 1:
        add("several-roots", links.roots, f"the trace has {len(links.roots)} roots")
    if orphans and len(orphans) == len(links.roots):
        add("missing-root", orphans, "the trace has no true root: its top span is not in the input")
    for kind, positions, said in odd.described(spans) if odd else ():
        add(kind, positions, said)
    return found


def _spans(positions: Sequence[int]) -> str:
    return "1 span" if len(positions) == 1 else f"{len(positions)} spans"


def _odd(spans: Sequence[Checkable], links: Links) -> _Odd | None:
    """Find the spans whose times are missing or at odds with others, and those that lost attributes, if any."""
    starts = list(map(_START, spans))
    if (
        0 not in starts
        and all(map(ge, map(_END, spans), starts))
        and not any(map(_DROPPED, spans))
        and not any(map(gt, links.parents, count()))
    ):
        return None
    odd = _Odd([], [], [], [])
    for at, (span, parent) in enumerate(zip(spans, links.parents, strict=True)):
        start, end = span.start_time_unix_nano, span.end_time_unix_nano
        if not start:
            odd.timeless.append(at)
        # In order of start, only a parent that stands behind its child starts later.
        elif 0 < end < start or (parent > at and start + _SKEW_NANO < spans[parent].start_time_unix_nano):
            odd.skewed.append(at)
        if start and not end:
            odd.endless.append(at)
        if span.dropped_attributes:
            odd.dropped.append(at)
    return odd
