"""Calls that lie within the time of other calls, without lying in them: found as they come, by start.

A call is paired with one recording of every other instrumentation at most, so that two equal calls at the same time,
recorded twice each, stay two.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container
from typing import Final, Generic, TypeVar

from pixie_otel.traces.sameness import CallFacts, same_call

__all__ = ["Beside"]

_MOST_OPEN: Final = 512
"""How many calls at a time are compared with; more than that, and the oldest is given up."""

_KeyT = TypeVar("_KeyT")


class _Open(Generic[_KeyT]):
    """A call that another one may lie within, and who recorded it so far."""

    __slots__ = ("facts", "key", "scopes")

    def __init__(self, facts: CallFacts, key: _KeyT) -> None:
        self.facts = facts
        self.key = key
        self.scopes = facts.scopes

    def has_id(self, response_id: str | None) -> bool:
        return response_id is not None and self.facts.response_id == response_id


class Beside(Generic[_KeyT]):
    """The calls that were open a moment ago; asked for each call whether it is one of them.

    Args:
        most_open: How many calls are kept.
    """

    def __init__(self, most_open: int = _MOST_OPEN) -> None:
        self._most_open = most_open
        self._open: OrderedDict[int, _Open[_KeyT]] = OrderedDict()
        self._added = 0

    def is_open(self, start: int) -> bool:
        """Say whether any call is open at a time, which is no earlier than those asked for before.

        Args:
            start: The time.
        """
        for number in [number for number, call in self._open.items() if call.facts.end < start]:
            del self._open[number]
        return bool(self._open)

    def add(self, facts: CallFacts, key: _KeyT) -> None:
        """Take a call that later ones may be the same as.

        Args:
            facts: The call.
            key: What `around` gives where one is.
        """
        self._open[self._added] = _Open(facts, key)
        self._added += 1
        if len(self._open) > self._most_open:
            self._open.popitem(last=False)

    def around(self, facts: CallFacts, barred: Container[_KeyT] = ()) -> _KeyT | None:
        """Find the call that another one, which starts no earlier than those before it, is the same as.

        Args:
            facts: The other one.
            barred: The keys of those that it cannot be.

        Returns:
            The key of the one with the same answer's id, else of the one that ends first; from then on, none of the
            same instrumentation fits into that.
        """
        if not self.is_open(facts.start):
            return None
        fitting = [
            call
            for call in self._open.values()
            if call.key not in barred
            and facts.scopes.isdisjoint(call.scopes - call.facts.scopes)
            and same_call(call.facts, facts)
        ]
        if not fitting:
            return None
        # Of equal calls at the same time, what ends first can take in the fewest of those that are still to come.
        found = min(fitting, key=lambda call: (not call.has_id(facts.response_id), call.facts.end, -call.facts.start))
        found.scopes |= facts.scopes
        return found.key

    def take_out(self, key: _KeyT) -> None:
        """Forget a call.

        Args:
            key: What it was added with.
        """
        for number in [number for number, call in self._open.items() if call.key == key]:
            del self._open[number]
