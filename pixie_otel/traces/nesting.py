"""Spans of one kind that lie in each other: a framework's around the provider's own."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pixie_otel.traces.spans import ObservationKind, ObserveSpan
from pixie_otel.traces.tree import ObservationNode

__all__ = ["Nesting", "nesting_of"]

_SpanT = TypeVar("_SpanT", bound=ObserveSpan)


@dataclass(slots=True)
class Nesting(Generic[_SpanT]):
    """The spans of one class below some nodes; each stands behind those around it.

    Attributes:
        spans: The spans.
        inner: The positions of those that lie directly in each, with nothing between that begins something new.
        outermost: The positions of those that lie in no other so.
        around: The position of the nearest one around each, whatever lies between; -1 where there is none.
    """

    spans: list[_SpanT] = field(default_factory=list[_SpanT])
    inner: list[list[int]] = field(default_factory=list[list[int]])
    outermost: list[int] = field(default_factory=list[int])
    around: list[int] = field(default_factory=list[int])

    def add(self, span: _SpanT, enclosing: int = -1, around: int = -1) -> int:
        """Take one more, behind those around it.

        Args:
            span: The span.
            enclosing: The position of the one that it lies directly in, with nothing between that begins something new.
            around: The position of the nearest one around it.

        Returns:
            Its position.
        """
        position = len(self.spans)
        (self.outermost if enclosing < 0 else self.inner[enclosing]).append(position)
        self.spans.append(span)
        self.inner.append([])
        self.around.append(around)
        return position

    def above(self, position: int) -> Iterator[int]:
        """Give the positions of all those around one, the nearest first.

        Args:
            position: Where it stands.
        """
        while (position := self.around[position]) >= 0:
            yield position

    def leave_out(self, positions: Container[int]) -> None:
        """Let some spans be found nowhere, and what is in them stay where it is.

        Args:
            positions: Where they stand.
        """
        for position, inside in enumerate(self.inner):
            self.inner[position] = [at for at in inside if at not in positions]
        self.outermost = [at for at in self.outermost if at not in positions]


def nesting_of(
    roots: Iterable[ObservationNode], kind: type[_SpanT], boundaries: Container[ObservationKind]
) -> Nesting[_SpanT]:
    """Find the spans of a class.

    Args:
        roots: The tops of the trees to search.
        kind: The class.
        boundaries: What begins something new: below it, nothing is a part of what is around it.
    """
    found: Nesting[_SpanT] = Nesting()
    pending: list[tuple[ObservationNode, int, int]] = [(root, -1, -1) for root in roots]
    while pending:
        node, enclosing, around = pending.pop()
        span = node.span
        if isinstance(span, kind):
            enclosing = around = found.add(span, enclosing, around)
        elif span.kind in boundaries:
            enclosing = -1
        pending.extend((child, enclosing, around) for child in node.children)
    return found
