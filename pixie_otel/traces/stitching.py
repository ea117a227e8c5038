"""Which traces belong to one conversation, by small facts of each.

Traces of one session belong together. A trace that names none goes on with another where a model call of it was given
the whole history of an earlier call, answer included. Nothing is guessed: where several conversations have the same
history, the trace stands alone and says so; two sessions, or two users, are never one conversation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from msgspec import Struct

from pixie_otel.traces.histories import History, State, history_of
from pixie_otel.traces.repeats import Repeat
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import LLMSpan
from pixie_otel.traces.trace import Trace

__all__ = ["Facts", "Stitched", "facts_of", "stitched"]

_DOUBLED: Final = "doubled-call"
_MOST_ALIKE: Final = 256
"""Of so many calls with one history, which one a later call goes on from is not asked any more."""
_TOLD: Final = 3


class _Answered(Struct, frozen=True, gc=False):
    """A history that later calls may go on from: up to the end of a call."""

    state: State
    end: int


class _Asked(Struct, frozen=True, gc=False):
    """What a call was given, from its latest answer back: histories that it may go on from."""

    start: int
    states: tuple[State, ...]


class Facts(Struct, frozen=True):
    """What must be known of a trace to find its conversation.

    Attributes:
        trace_id: Its id.
        start: Its start; the traces are given in order of it.
        session_id: Its session.
        user_id: Its user.
        answered: The histories up to the answers of its model calls.
        asked: What its model calls were given that none of its own calls answered.
        repeats: What it only records again, where it counts in another trace.
        problems: What says so.
    """

    trace_id: str
    start: int
    session_id: str | None
    user_id: str | None
    answered: tuple[_Answered, ...]
    asked: tuple[_Asked, ...]
    repeats: tuple[Repeat, ...] = ()
    problems: tuple[Problem, ...] = ()


class Stitched(Struct, frozen=True):
    """A conversation.

    Attributes:
        members: The numbers of its traces, in order.
        doubts: By the number of a trace, why it is not part of another conversation.
    """

    members: tuple[int, ...]
    doubts: dict[int, str] = {}


def facts_of(trace: Trace) -> Facts:
    """Note of a trace what finds its conversation.

    Args:
        trace: The trace, with everything that other traces tell of it.
    """
    told = [(call, history_of(call)) for call in trace.llm_calls]
    answered = [_Answered(state, call.end_time_unix_nano) for call, history in told for state in history.after]
    own = {item.state.digest for item in answered}
    repeats = [
        repeat for repeat in trace.foreign_repeats if trace.counts_elsewhere and repeat.trace_id == trace.trace_id
    ]
    return Facts(
        trace_id=trace.trace_id,
        start=trace.start_time_unix_nano,
        session_id=trace.session_id,
        user_id=trace.user_id,
        answered=tuple(answered),
        asked=tuple(_asked(told, own)),
        repeats=tuple(repeats),
        problems=tuple(problem for problem in trace.problems if repeats and problem.kind == _DOUBLED),
    )


def _asked(told: Iterable[tuple[LLMSpan, History]], own: set[bytes]) -> Iterator[_Asked]:
    seen: set[tuple[State, ...]] = set()
    for call, history in told:
        # Up to an answer of its own trace, it goes on from that.
        known = tuple(takewhile(lambda state: state.digest not in own, history.before))
        if known and known not in seen:
            seen.add(known)
            yield _Asked(call.start_time_unix_nano, known)


def stitched(traces: Sequence[Facts]) -> list[Stitched]:
    """Find the conversations of traces.

    Args:
        traces: The facts of each trace, in order of start.

    Returns:
        The conversations in order of their first traces; every trace is in exactly one.
    """
    stitching = _Stitching(traces)
    stitching.join_sessions()
    stitching.join_repeats()
    stitching.join_histories()
    groups: dict[int, list[int]] = defaultdict(list)
    for number in range(len(traces)):
        groups[stitching.head(number)].append(number)
    doubts = stitching.doubts
    return [
        Stitched(tuple(members), {number: doubts[number] for number in members if number in doubts})
        for members in sorted(groups.values())
    ]


@dataclass(slots=True)
class _Stitching:
    """Traces in the course of being joined."""

    traces: Sequence[Facts]
    doubts: dict[int, str] = field(default_factory=dict[int, str])
    _gone_on: set[int] = field(default_factory=set[int], init=False)
    _heads: list[int] = field(init=False)
    _sessions: list[str | None] = field(init=False)
    _users: list[str | None] = field(init=False)

    def __post_init__(self) -> None:
        self._heads = list(range(len(self.traces)))
        self._sessions = [facts.session_id for facts in self.traces]
        self._users = [facts.user_id for facts in self.traces]

    def head(self, number: int) -> int:
        """Give the trace that stands for a conversation."""
        heads = self._heads
        while heads[number] != number:
            heads[number] = heads[heads[number]]
            number = heads[number]
        return number

    def join_sessions(self) -> None:
        """Join the traces of each session; where it has several users, those of each user."""
        sessions: dict[str, list[int]] = defaultdict(list)
        for number, facts in enumerate(self.traces):
            if facts.session_id is not None:
                sessions[facts.session_id].append(number)
        for members in sessions.values():
            users = {self._users[number] for number in members} - {None}
            firsts: dict[str | None, int] = {}
            for number in members:
                user = self._users[number]
                if len(users) > 1 and user is None:
                    self.doubts[number] = "its session has several users, and it names none of them"
                else:
                    self._join(firsts.setdefault(user if len(users) > 1 else None, number), number)

    def join_repeats(self) -> None:
        """Join what only records a call again with the trace in which the call counts."""
        numbers = {facts.trace_id: number for number, facts in enumerate(self.traces)}
        for number, facts in enumerate(self.traces):
            for repeat in facts.repeats:
                counted = numbers.get(repeat.counted_trace_id or "")
                if counted is not None and self._may_be_one(counted, number):
                    self._join(counted, number)

    def join_histories(self) -> None:
        """Join what goes on with an earlier call, in order of time."""
        wanted = {state.digest for facts in self.traces for asked in facts.asked for state in asked.states}
        known: dict[bytes, list[tuple[int, _Answered]]] = defaultdict(list)
        for number, facts in enumerate(self.traces):
            for answered in facts.answered:
                if answered.state.digest in wanted:
                    known[answered.state.digest].append((number, answered))
        later = [(number, asked) for number, facts in enumerate(self.traces) for asked in facts.asked]
        for number, asked in sorted(later, key=lambda item: item[1].start):
            self._go_on(number, asked, known)

    def _go_on(self, number: int, asked: _Asked, known: dict[bytes, list[tuple[int, _Answered]]]) -> None:
        for state in asked.states:
            alike = known.get(state.digest, ())
            if len(alike) > _MOST_ALIKE:
                self._doubt(number, f"{len(alike)} model calls have the history that it goes on from")
                return
            heads = self._heads_of(number, asked.start, state, alike)
            if self.head(number) in heads:
                return
            if len(heads) == 1 and number not in self._gone_on:
                self._gone_on.add(number)
                self._join(next(iter(heads)), number)
                return
            if heads:
                others = sorted(heads.values())
                ids = ", ".join(self.traces[other].trace_id for other in others[:_TOLD])
                more = f" and {len(others) - _TOLD} more" if len(others) > _TOLD else ""
                whose = "another conversation has" if len(others) == 1 else "several conversations have"
                self._doubt(number, f"{whose} the history that it goes on from: {ids}{more}")
                return

    def _heads_of(
        self, number: int, start: int, state: State, alike: Iterable[tuple[int, _Answered]]
    ) -> dict[int, int]:
        """Give the conversations that a call may go on with, each with the first trace that has the history."""
        fitting = [
            (other, answered.state)
            for other, answered in alike
            if answered.end <= start
            and self._may_be_one(other, number)
            and not (state.ids and answered.state.ids and state.ids != answered.state.ids)
        ]
        # The ids of tool calls, where both have them, and the prompts tell conversations with the same words apart.
        fitting = [found for found in fitting if state.ids and found[1].ids == state.ids] or fitting
        fitting = [found for found in fitting if found[1].prompts == state.prompts] or fitting
        return {self.head(other): other for other, _ in reversed(fitting)}

    def _doubt(self, number: int, why: str) -> None:
        if self.traces[number].session_id is None:
            self.doubts[number] = why

    def _may_be_one(self, left: int, right: int) -> bool:
        """Say whether two traces may be of one conversation: of one session and of one user, as far as is known."""
        left, right = self.head(left), self.head(right)
        return all(
            None in pair or pair[0] == pair[1]
            for pair in (
                (self._sessions[left], self._sessions[right]),
                (self._users[left], self._users[right]),
            )
        )

    def _join(self, left: int, right: int) -> None:
        left, right = sorted((self.head(left), self.head(right)))
        self._heads[right] = left
        for values in (self._sessions, self._users):
            values[left] = values[left] if values[left] is not None else values[right]
