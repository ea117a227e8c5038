"""Which model calls were really made: one call counts once, however many spans recorded it.

A framework's span around the provider's own span of the same call is one call; so is an instrumentation's span around
the one that the provider's SDK makes itself, or beside it. A model span below a tool, an agent, a guardrail or a search
is a call of its own. What does not count by itself is kept as a `Repeat` that names the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct, structs

from pixie_otel.traces.beside import Beside
from pixie_otel.traces.lone_calls import lone_calls
from pixie_otel.traces.merging import answered, completed, ended_as, richer
from pixie_otel.traces.nesting import Nesting, nesting_of
from pixie_otel.traces.repeats import Repeat, Rule
from pixie_otel.traces.sameness import CallFacts, answers_agree, models_agree, questions_agree
from pixie_otel.traces.spans import LLMSpan, ObservationKind
from pixie_otel.traces.stream_pairs import stream_pairs
from pixie_otel.traces.sums import Sum
from pixie_otel.traces.tree import ObservationNode

__all__ = ["Call", "CallCount", "count_calls"]

_BOUNDARIES: Final = frozenset(
    {
        ObservationKind.TOOL,
        ObservationKind.AGENT,
        ObservationKind.GUARDRAIL,
        ObservationKind.EVALUATOR,
        ObservationKind.RETRIEVER,
        ObservationKind.RERANKER,
    }
)
_MOST_AROUND: Final = 64


class Call(Struct, frozen=True):
    """A model call that was really made.

    Attributes:
        span: The recording that counts, completed from the others.
        scopes: The scopes of all spans that recorded it.
        at: Where it stands among the model spans of its trace; of several that recorded it, where the outermost does.
    """

    span: LLMSpan
    scopes: frozenset[str]
    at: int

    def facts(self) -> CallFacts:
        """Give what tells it from other calls."""
        return CallFacts.of(self.span, self.scopes)


class CallCount(Struct, frozen=True):
    """The model calls of a trace.

    Attributes:
        calls: The calls, by end, then start, then id.
        repeats: The model spans that do not count by themselves, by trace and id.
        sums: What spans around several calls recorded of these together.
    """

    calls: tuple[Call, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    sums: tuple[Sum, ...] = ()


def count_calls(roots: Iterable[ObservationNode]) -> CallCount:
    """Find the real model calls below some nodes.

    Args:
        roots: The tops of the trees to search.

    Returns:
        The calls. Where two spans recorded one call, it is the one that recorded the content, completed from the other,
        with a note that says so.
    """
    tops = list(roots)
    nesting = nesting_of(tops, LLMSpan, _BOUNDARIES)
    for span in lone_calls(tops):
        nesting.add(span)
    return _Counting(nesting).counted()


class _Counting:
    """Counts the calls among the model spans of a trace.

    Args:
        nesting: The spans.
    """

    def __init__(self, nesting: Nesting[LLMSpan]) -> None:
        self._nesting = nesting
        self._repeats: list[Repeat] = []
        self._sums: list[Sum] = []

    def counted(self) -> CallCount:
        """Give the calls, and what is none."""
        found = self._made(self._outside_sums(self._nested()))
        if len({scope for call in found for scope in call.scopes}) > 1 or any("" in call.scopes for call in found):
            found = self._merged_beside(found)
        repeats = sorted(self._repeats, key=lambda repeat: (repeat.span_id, repeat.rule))
        counted = {repeat.span_id: repeat.counted for repeat in repeats if repeat.counted is not None}
        sums = tuple(one.counted_as(counted) for one in self._sums)
        return CallCount(tuple(sorted(found, key=_order)), tuple(repeats), sums)

    def _nested(self) -> list[Call]:
        """Merge what lies in each other, from the innermost on."""
        answers = self._join_answers()
        nesting, spans = self._nesting, self._nesting.spans
        calls: list[list[Call]] = [[] for _ in spans]
        # What lies in a span comes after it, so backwards every span meets finished ones.
        for position in range(len(spans) - 1, -1, -1):
            if position not in answers:
                below = [call for at in nesting.inner[position] for call in calls[at]]
                span = spans[position]
                calls[position] = self._resolved(Call(span, frozenset((span.scope.name,)), position), below)
        return [call for position in nesting.outermost for call in calls[position]]

    def _join_answers(self) -> set[int]:
        """Give streamed calls the answers that are spans of their own, and say where those stand."""
        nesting = self._nesting
        pairs = stream_pairs(nesting.spans)
        places = {id(span): position for position, span in enumerate(nesting.spans)} if pairs else {}
        joined: set[int] = set()
        for call, answer in pairs:
            place = places[id(answer)]
            if not nesting.inner[place]:
                nesting.spans[places[id(call)]] = answered(call, answer)
                self._repeats.append(Repeat.of(answer, Rule.STREAM_ANSWER, call))
                joined.add(place)
        if joined:
            nesting.leave_out(joined)
        return joined

    def _resolved(self, outer: Call, below: list[Call]) -> list[Call]:
        """Say which calls a span and those in it are."""
        if not below:
            return [outer]
        succeeded = [call for call in below if call.span.error is None]
        if not succeeded and outer.span.error is None and outer.span.output_messages:
            # The attempt that worked out in the end, a fallback to another provider say, is recorded nowhere else.
            return [*below, outer]
        counterpart = below[0] if len(below) == 1 else _worked_out(outer.span, succeeded, below)
        if counterpart is None:
            return self._summed(outer.span, succeeded, below)
        if _differ(outer.span, counterpart.span):
            return [*below, outer]
        rule = Rule.WRAPPER if len(below) == 1 else Rule.ATTEMPTS
        whole = self._merged(outer, counterpart, rule)
        return [whole if call is counterpart else call for call in below]

    def _summed(self, outer: LLMSpan, succeeded: list[Call], below: list[Call]) -> list[Call]:
        """Leave out a span around several calls, with what only it knows of them."""
        self._repeats.append(Repeat.of(outer, Rule.SUM))
        ids = frozenset(call.span.span_id for call in below)
        self._sums.append(Sum(ids, outer.input_tokens, outer.output_tokens, outer.cost))
        last = max(succeeded, key=_order, default=None)
        if (
            last is None
            or outer.error is not None
            or answers_agree(outer, last.span) is False
            or any(call.span.end_time_unix_nano > last.span.start_time_unix_nano for call in below if call is not last)
        ):
            return below
        ended = structs.replace(last, span=ended_as(last.span, outer))
        return [ended if call is last else call for call in below]

    def _merged(self, outer: Call, inner: Call, rule: Rule) -> Call:
        kept, other = richer(outer.span, inner.span)
        self._repeats.append(Repeat.of(other, rule, kept))
        return Call(completed(kept, other, rule, inner.span), outer.scopes | inner.scopes, outer.at)

    def _outside_sums(self, calls: list[Call]) -> list[Call]:
        """Leave out the spans around tools and agents whose tokens are the sum of the calls in there."""
        around = self._nesting.around
        if all(around[call.at] < 0 for call in calls):
            return calls
        by_place = {call.at: call for call in calls}
        below = [(0, 0, 0)] * len(around)
        left: list[Call] = []
        for position in range(len(around) - 1, -1, -1):
            number, used, made = below[position]
            call = by_place.get(position)
            if call is not None:
                span = call.span
                if number > 1 and used + made > 0 and (used, made) == (span.input_tokens, span.output_tokens):
                    self._repeats.append(Repeat.of(span, Rule.SUM))
                else:
                    left.append(call)
                    number, used, made = number + 1, used + (span.input_tokens or 0), made + (span.output_tokens or 0)
            above = around[position]
            if above >= 0:
                known = below[above]
                below[above] = known[0] + number, known[1] + used, known[2] + made
        return left

    def _made(self, calls: list[Call]) -> list[Call]:
        """Leave out helpers around a call that are marked as model spans: nothing came of them."""
        made = [call for call in calls if _was_made(call.span)]
        if not made:
            return calls
        self._repeats.extend(Repeat.of(call.span, Rule.HELPER) for call in calls if not _was_made(call.span))
        return made

    def _merged_beside(self, calls: Sequence[Call]) -> list[Call]:
        """Merge what two instrumentations recorded beside each other."""
        beside: Beside[int] = Beside()
        merged = {call.at: call for call in calls}
        for call in sorted(calls, key=_by_start):
            facts = call.facts()
            # What is below a tool or an agent that a call is around is another call.
            place = beside.around(facts, frozenset(islice(self._nesting.above(call.at), _MOST_AROUND)))
            if place is None:
                beside.add(facts, call.at)
            else:
                merged[place] = self._merged(merged[place], merged.pop(call.at), Rule.TWO_INSTRUMENTATIONS)
        return list(merged.values())


def _order(call: Call) -> tuple[int, int, str]:
    return call.span.end_time_unix_nano, call.span.start_time_unix_nano, call.span.span_id


def _by_start(call: Call) -> tuple[int, int, str]:
    return call.span.start_time_unix_nano, -call.span.end_time_unix_nano, call.span.span_id


def _worked_out(outer: LLMSpan, succeeded: list[Call], below: list[Call]) -> Call | None:
    """Give the one of several attempts that the span around them describes; ``None`` where they are no attempts."""
    if len(succeeded) != 1 or outer.error is not None:
        return None
    (worked,) = succeeded
    if answers_agree(outer, worked.span):
        return worked
    # Once an attempt has worked out, there is no other; what failed later was the next step.
    is_last = all(call.span.start_time_unix_nano <= worked.span.end_time_unix_nano for call in below)
    return worked if is_last else None


def _differ(outer: LLMSpan, inner: LLMSpan) -> bool:
    """Say whether two spans, one in the other, cannot be the same call: other tokens, and another model or content."""
    tokens = [(span.input_tokens, span.output_tokens) for span in (outer, inner)]
    if any(None in pair for pair in tokens) or tokens[0] == tokens[1]:
        return False
    if not models_agree(outer.model, inner.model):
        return True
    return answers_agree(outer, inner) is False and questions_agree(outer, inner) is False


def _was_made(span: LLMSpan) -> bool:
    """Say whether anything that only a real call leaves was recorded: an operation, tokens, messages, an end."""
    return (
        span.operation is not None
        or span.input_tokens is not None
        or span.output_tokens is not None
        or bool(span.input_messages or span.output_messages or span.finish_reasons)
        or span.error is not None
        or isinstance(span.output, str)
    )
