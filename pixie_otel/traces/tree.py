"""Span trees, for any parent graph that a file can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from itertools import count, pairwise
from operator import attrgetter, gt
from typing import Final, Protocol, TypeVar

import msgspec
from msgspec import Struct

from pixie_otel.traces.spans import ObserveSpan

__all__ = ["Linkable", "Links", "Observable", "ObservationNode", "build_tree", "link", "nodes", "order", "ordered"]


class Linkable(Protocol):
    """What a tree is built from."""

    @property
    def span_id(self) -> str:
        """The span's id."""
        ...

    @property
    def parent_span_id(self) -> str | None:
        """The parent's id."""
        ...

    @property
    def start_time_unix_nano(self) -> int:
        """The start."""
        ...

    @property
    def end_time_unix_nano(self) -> int:
        """The end."""
        ...


class Observable(Protocol):
    """What can be decoded into an observation."""

    @property
    def end_time_unix_nano(self) -> int:
        """The end, without decoding it."""
        ...

    def observe(self) -> ObserveSpan:
        """Decode it."""
        ...

    def wire_bytes(self) -> list[bytes]:
        """Give its content without decoding it."""
        ...


_SpanT = TypeVar("_SpanT", bound=ObserveSpan)

_SHARED: Final = ("resource", "scope", "tool_definitions")
"""What the observations of one reading hold in common, since it is the same over and over."""


class _Copy(Struct, eq=False):
    """What is decoded anew into an observation that has nothing in common with any other."""

    source: Observable

    @property
    def end_time_unix_nano(self) -> int:
        return self.source.end_time_unix_nano

    def observe(self) -> ObserveSpan:
        span = self.source.observe()
        own = {name: deepcopy(value) for name in _SHARED if (value := getattr(span, name, None))}
        return msgspec.structs.replace(span, **own)

    def wire_bytes(self) -> list[bytes]:
        return self.source.wire_bytes()


class _Completed(Struct, eq=False):
    """What is decoded, and then completed from elsewhere."""

    source: Observable
    complete: Callable[[ObserveSpan], ObserveSpan]

    @property
    def end_time_unix_nano(self) -> int:
        # What completes it may end later.
        return self.observe().end_time_unix_nano

    def observe(self) -> ObserveSpan:
        return self.complete(self.source.observe())

    def wire_bytes(self) -> list[bytes]:
        return self.source.wire_bytes()


class ObservationNode(Struct, eq=False):
    """A node of a span tree.

    Nodes compare equal when their spans are equal and so are their children, in order.

    Args:
        source: The observation; or what can be decoded into it, which happens when somebody first asks for it.
        children: The nodes below, in order of start.
    """

    _source: ObserveSpan | Observable
    children: list[ObservationNode] = []
    _span: ObserveSpan | None = None

    @property
    def span(self) -> ObserveSpan:
        """The observation."""
        if self._span is None:
            self._span = self._source if isinstance(self._source, ObserveSpan) else self._source.observe()
        return self._span

    @property
    def end_time_unix_nano(self) -> int:
        """The observation's end, without decoding it."""
        return (self._span or self._source).end_time_unix_nano

    @property
    def source(self) -> ObserveSpan | Observable:
        """What the observation is decoded from, as it was read; the observation itself where it came from no file."""
        source = self._source
        while isinstance(source, _Copy | _Completed):
            source = source.source
        return source

    def wire_bytes(self) -> list[bytes]:
        """Give the span's content as it stood in the file, undecoded; empty for a span that came from no file."""
        return [] if isinstance(self._source, ObserveSpan) else self._source.wire_bytes()

    def complete(self, complete: Callable[[ObserveSpan], ObserveSpan]) -> None:
        """Complete the observation from what is recorded elsewhere.

        Args:
            complete: Gives the completed observation for the one that is here.
        """
        source = self._source
        self._source = complete(source) if isinstance(source, ObserveSpan) else _Completed(source, complete)
        self._span = None

    def walk(self) -> Iterator[ObservationNode]:
        """Give this node and all below it, depth first, children in order."""
        pending: list[ObservationNode] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def find(self, name: str) -> list[ObservationNode]:
        """Give the nodes of this tree whose span has the name, depth first."""
        return [node for node in self.walk() if node.span.name == name]

    def find_by_type(self, span_type: type[_SpanT]) -> list[ObservationNode]:
        """Give the nodes of this tree whose span is of the class, depth first."""
        return [node for node in self.walk() if isinstance(node.span, span_type)]

    def copy(self) -> ObservationNode:
        """Give the tree anew, so that nobody who changes a value in it changes this one."""
        top = copy(self)
        pending: list[tuple[ObservationNode, ObservationNode]] = [(self, top)]
        while pending:
            node, twin = pending.pop()
            twin.children = [copy(child) for child in node.children]
            pending.extend(zip(node.children, twin.children, strict=True))
        return top

    def __copy__(self) -> ObservationNode:
        """Give a node with a span of its own and the same children."""
        # What came from a file is decoded again, which is cheaper than a deep copy and happens only where it is needed.
        source = self._source
        if isinstance(source, ObserveSpan):
            return ObservationNode(deepcopy(source), self.children)
        return ObservationNode(source if isinstance(source, _Copy) else _Copy(source), self.children)

    def to_text(self) -> str:
        """Give the tree as indented text with everything in it, for people and for judges."""
        from pixie_otel.traces.text import tree_text

        return tree_text([self])

    def __eq__(self, other: object) -> bool:
        """Compare whole trees, without recursion."""
        if not isinstance(other, ObservationNode):
            return NotImplemented
        pending: list[tuple[ObservationNode, ObservationNode]] = [(self, other)]
        while pending:
            left, right = pending.pop()
            if len(left.children) != len(right.children) or left.span != right.span:
                return False
            pending.extend(zip(left.children, right.children, strict=True))
        return True

    __hash__ = None  # type: ignore[assignment]  # nodes are compared by value and can change

    def __repr__(self) -> str:
        """Show the span's name and kind, and how many children there are."""
        span = self.span
        return f"<ObservationNode {span.name!r} {span.kind.value}, {len(self.children)} children>"


@dataclass(slots=True)
class Links:
    """How the spans of a trace hang together, by their positions in the sequence given.

    Attributes:
        roots: The tops of the trees, in order of start.
        parents: The position above each span; -1 for roots.
        orphans: Roots whose parent is not there.
        self_parents: Roots that name themselves as their parent.
        cut: Roots at which a cycle of parents was cut.
    """

    roots: list[int]
    parents: list[int]
    orphans: list[int]
    self_parents: list[int]
    cut: list[int]


def link(spans: Sequence[Linkable]) -> Links:
    """Say which span is below which.

    A span whose parent is not there, or is itself, is a root. A cycle is cut at the span of it that starts first. Of
    several spans with one id, the one that ended last has the children. The result does not depend on anything but the
    spans' own content when they are given in a fixed order, as by `order`.

    Args:
        spans: The spans of one trace, in order of start.

    Returns:
        The links.
    """
    holders: dict[str, int] = {}
    for position, span in enumerate(spans):
        holder = holders.setdefault(span.span_id, position)
        if holder != position and span.end_time_unix_nano > spans[holder].end_time_unix_nano:
            holders[span.span_id] = position
    roots: list[int] = []
    parents: list[int] = []
    links = Links(roots, parents, orphans=[], self_parents=[], cut=[])
    for position, span in enumerate(spans):
        parent_id = span.parent_span_id
        parent = -1 if parent_id is None else holders.get(parent_id, -1)
        if parent_id == span.span_id:
            links.self_parents.append(position)
            parent = -1
        elif parent < 0 and parent_id is not None:
            links.orphans.append(position)
        parents.append(parent)
        if parent < 0:
            roots.append(position)
    if any(map(gt, parents, count())):
        # Only where a parent stands behind its child can going up come round again.
        _cut_cycles(links)
    return links


def _cut_cycles(links: Links) -> None:
    parents = links.parents
    checked = [False] * len(parents)
    for position in range(len(parents)):
        # Go up until there is nothing above, or one comes round again.
        seen: set[int] = set()
        at = position
        while at >= 0 and not checked[at] and at not in seen:
            seen.add(at)
            at = parents[at]
        if at in seen:
            cycle = [at]
            while (above := parents[cycle[-1]]) != at:
                cycle.append(above)
            top = min(cycle)
            parents[top] = -1
            links.cut.append(top)
            links.roots.append(top)
        for reached in seen:
            checked[reached] = True
    links.roots.sort()


def build_tree(spans: Iterable[ObserveSpan]) -> list[ObservationNode]:
    """Build the trees of a set of observations.

    Args:
        spans: Observations in any order; those of several traces give several trees.

    Returns:
        The roots by start time, then by id; see `link` for what becomes of orphans, self-parents and cycles.
    """
    by_trace: dict[str, list[ObserveSpan]] = {}
    for span in ordered(spans):
        by_trace.setdefault(span.trace_id, []).append(span)
    roots: list[ObservationNode] = []
    for found in by_trace.values():
        roots.extend(nodes([ObservationNode(span) for span in found], link(found)))
    return sorted(roots, key=lambda node: order(node.span))


order: Final[Callable[[Linkable], tuple[int, str, int]]] = attrgetter(
    "start_time_unix_nano", "span_id", "end_time_unix_nano"
)
"""Give the key by which spans stand in order: start, id, end."""


def ordered(spans: Iterable[ObserveSpan]) -> list[ObserveSpan]:
    """Put observations in order, whatever order they come in.

    Args:
        spans: The observations; different ones with the same id and times stand in an order of their content.
    """
    found = sorted(spans, key=order)
    if all(order(left) != order(right) for left, right in pairwise(found)):
        return found
    return sorted(
        found, key=lambda span: (order(span), msgspec.json.encode(span, order="deterministic", enc_hook=repr))
    )


def nodes(flat: list[ObservationNode], links: Links) -> list[ObservationNode]:
    """Hang nodes together.

    Args:
        flat: One node a span, without children yet.
        links: How they hang together.

    Returns:
        The roots.
    """
    for node, parent in zip(flat, links.parents, strict=True):
        if parent >= 0:
            flat[parent].children.append(node)
    return [flat[position] for position in links.roots]
