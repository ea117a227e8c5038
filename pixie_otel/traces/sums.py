"""What a span around several model calls recorded of them together, and they did not by themselves.

Mastra's streamed steps have no tokens, for one, and the generation around them has those of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from pixie_otel.traces.spans import LLMSpan

__all__ = ["QUANTITIES", "Sum", "left_over"]

QUANTITIES: Final = ("input_tokens", "output_tokens", "cost")
"""What a call uses."""


class Sum(Struct, frozen=True):
    """A span around several calls, which is none itself.

    Attributes:
        call_ids: The span ids of the calls in it.
        input_tokens: Tokens in, of all of them.
        output_tokens: Tokens out.
        cost: US dollars.
    """

    call_ids: frozenset[str]
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None

    def counted_as(self, counted: Mapping[str, str]) -> Sum:
        """Give it with the ids of what counts.

        Args:
            counted: By the id of a span that does not count by itself, the id of what counts in its place.
        """
        ids: set[str] = set()
        for span_id in self.call_ids:
            at = span_id
            while at in counted:
                at = counted[at]
            ids.add(at)
        return Sum(frozenset(ids), self.input_tokens, self.output_tokens, self.cost)


def left_over(sums: Iterable[Sum], calls: Iterable[LLMSpan], quantity: str) -> list[float]:
    """Give what sums hold beyond what was recorded of the calls in them, where it was not of all of these.

    Args:
        sums: The sums of a trace.
        calls: Its calls.
        quantity: What is asked for.
    """
    by_id = {call.span_id: call for call in calls}
    found: list[float] = []
    covered: set[str] = set()
    # One around another one holds what that one does.
    for one in sorted(sums, key=lambda one: len(one.call_ids), reverse=True):
        total = getattr(one, quantity)
        if total is None or one.call_ids <= covered:
            continue
        covered |= one.call_ids
        parts = [call for span_id in one.call_ids if (call := by_id.get(span_id)) is not None]
        known = [getattr(call, quantity) for call in parts if call.error is None]
        rest = total - sum(value for value in known if value is not None)
        if None in known and rest > 0:
            found.append(rest)
    return found
