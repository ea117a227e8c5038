"""A trace as selectors look at it: its observations by number, and which lies below which."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING

from pixie_otel.traces.judged_run import judged_nodes
from pixie_otel.traces.spans import LLMSpan, ObserveSpan
from pixie_otel.traces.tree import order

if TYPE_CHECKING:
    from pixie_otel.traces.selector_steps import Chain
    from pixie_otel.traces.trace import Trace
    from pixie_otel.traces.tree import ObservationNode

__all__ = ["View"]


class View:
    """A trace's observations, numbered in order of start, then id.

    Args:
        trace: The trace.

    Attributes:
        trace: The trace.
        spans: The observations.
        all: Their numbers.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.spans: list[ObserveSpan] = trace.spans
        self.all = list(range(len(self.spans)))
        self._found: dict[Chain, AbstractSet[int]] = {}

    @cached_property
    def root(self) -> int:
        """The number of the observation that stands for the run, the top where several do; -1 in an empty trace."""
        nodes = judged_nodes(self.trace.roots)
        number = self._numbers[id(nodes[0])] if nodes else -1
        while len(nodes) > 1 and self._parents[number] >= 0:
            number = self._parents[number]
        return number

    @cached_property
    def calls(self) -> dict[int, LLMSpan]:
        """The real model calls by the number of the span that recorded each, by their end."""
        numbers: dict[tuple[str, str], int] = {}
        for number, span in enumerate(self.spans):
            numbers.setdefault((span.trace_id, span.span_id), number)
        found = ((numbers.get((call.trace_id, call.span_id)), call) for call in self.trace.llm_calls)
        return {number: call for number, call in found if number is not None}

    @cached_property
    def last_call(self) -> int:
        """The number of the model call that ended last; -1 where there is none."""
        return next(reversed(self.calls), -1)

    def found(self, chain: Chain) -> AbstractSet[int]:
        """Give what a selector finds in the whole trace.

        Args:
            chain: The selector.
        """
        if chain not in self._found:
            self._found[chain] = frozenset(chain.find(self))
        return self._found[chain]

    def below(self, others: AbstractSet[int]) -> AbstractSet[int]:
        """Give everything that lies below any of some observations.

        Args:
            others: Their numbers.
        """
        return self.owners(others, direct=False).keys()

    def above(self, others: AbstractSet[int]) -> AbstractSet[int]:
        """Give everything that lies above any of some observations.

        Args:
            others: Their numbers.
        """
        found: set[int] = set()
        for other in others:
            parent = self._parents[other]
            while parent >= 0 and parent not in found:
                found.add(parent)
                parent = self._parents[parent]
        return found

    def owners(self, tops: Collection[int], *, direct: bool) -> Mapping[int, int]:
        """Give what lies below some observations, each with the nearest of them.

        Args:
            tops: Their numbers.
            direct: Whether only what lies directly below counts.
        """
        chosen = set(tops)
        if direct:
            parents = self._parents
            return {number: parents[number] for number in self.all if parents[number] in chosen}
        owners: dict[int, int] = {}
        for root in self.trace.roots:
            pending = [(root, -1)]
            while pending:
                node, owner = pending.pop()
                number = self._numbers[id(node)]
                if owner >= 0:
                    owners[number] = owner
                inner = number if number in chosen else owner
                pending.extend((child, inner) for child in node.children)
        return owners

    @cached_property
    def _nodes(self) -> list[ObservationNode]:
        return sorted(self.trace.walk(), key=lambda node: order(node.span))

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {id(node): number for number, node in enumerate(self._nodes)}

    @cached_property
    def _parents(self) -> list[int]:
        parents = [-1] * len(self._nodes)
        for number, node in enumerate(self._nodes):
            for child in node.children:
                parents[self._numbers[id(child)]] = number
        return parents
