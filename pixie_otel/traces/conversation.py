"""A conversation: several traces that belong together, as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.plain import plain_messages
from pixie_otel.traces.judged_run import HELPERS, judged_root, judged_run
from pixie_otel.traces.messages import AssistantMessage, Message, SystemMessage, ToolResultMessage
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import LLMSpan, ObserveSpan
from pixie_otel.traces.trace import Trace
from pixie_otel.traces.tree import order

__all__ = ["Conversation", "Turn"]


@dataclass(frozen=True, slots=True)
class Turn:
    """What happened from one thing that was said to the answer.

    Attributes:
        traces: The traces, in order of start: one, or those of the calls of a tool loop, and of helpers before them.
        span: The observation that stands for the turn: the one that was asked.
        input: What was asked; of a model call that was given the whole history, only what is new in it.
        output: The answer in the end.
    """

    traces: tuple[Trace, ...]
    span: ObserveSpan
    input: JsonValue
    output: JsonValue

    @property
    def seconds(self) -> float | None:
        """How long it took, from the first start to the last end; ``None`` where times are missing."""
        starts = [trace.start_time_unix_nano for trace in self.traces if trace.start_time_unix_nano]
        end = max(trace.end_time_unix_nano for trace in self.traces)
        return (end - min(starts)) / 1e9 if starts and min(starts) <= end else None


class Conversation(Trace):
    """The traces of one conversation; as a sequence, all their root nodes.

    Its id is that of its first trace.

    Args:
        parts: The traces, one or more, in order of start.
        problems: What is wrong with the conversation as such.

    Attributes:
        parts: The traces.
    """

    def __init__(self, parts: Iterable[Trace], *, problems: Iterable[Problem] = ()) -> None:
        self.parts = tuple(parts)
        self._trace_ids = tuple(part.trace_id for part in self.parts)
        first = self.parts[0]
        roots = sorted((root for part in self.parts for root in part.roots), key=lambda node: order(node.span))
        starts = [part.start_time_unix_nano for part in self.parts if part.start_time_unix_nano]
        super().__init__(
            first.trace_id,
            roots,
            problems=problems,
            source=first.source,
            start_time_unix_nano=min(starts, default=0),
        )

    def __repr__(self) -> str:
        """Show the id and how many traces there are."""
        return f"<Conversation {self.trace_id}, {len(self.parts)} traces>"

    def copy(self) -> Conversation:
        """Give the conversation anew, so that nobody who changes a value in it changes this one."""
        return Conversation([part.copy() for part in self.parts], problems=super().problems)

    @property
    def trace_ids(self) -> tuple[str, ...]:
        """The ids of its traces."""
        return self._trace_ids

    @cached_property
    def llm_calls(self) -> list[LLMSpan]:
        """The model calls that were really made, by end."""
        found = [call for part in self.parts for call in part.llm_calls]
        return sorted(found, key=lambda call: (call.end_time_unix_nano, call.start_time_unix_nano, call.span_id))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the conversation and with its traces, as far as they were decoded."""
        return (*super().problems, *(problem for part in self.parts for problem in part.problems))

    @cached_property
    def session_id(self) -> str | None:
        """The session: the first that a trace names."""
        return next((part.session_id for part in self.parts if part.session_id), None)

    @cached_property
    def user_id(self) -> str | None:
        """The user: the first that a trace names."""
        return next((part.user_id for part in self.parts if part.user_id), None)

    @cached_property
    def turns(self) -> list[Turn]:
        """What was said and answered, in order.

        A trace whose first model call is given the result of a tool goes on with the turn before it. One that only
        embeds, retrieves or runs a tool belongs to the turn that it helps.
        """
        groups: list[list[Trace]] = []
        waiting: list[Trace] = []
        for part in self.parts:
            if _is_helper(part):
                waiting.append(part)
                continue
            if groups and _goes_on(part):
                groups[-1].extend((*waiting, part))
            else:
                groups.append([*waiting, part])
            waiting = []
        if groups:
            groups[-1].extend(waiting)
        return [_turn(group, number) for number, group in enumerate(groups or [waiting])]


def _turn(group: Sequence[Trace], number: int) -> Turn:
    asked = [part for part in group if not _is_helper(part)] or group
    runs = [judged_run(part.roots) for part in asked if part.roots]
    first, given = runs[0].span, runs[0].input
    if number and isinstance(first, LLMSpan) and (new := _new_messages(first.input_messages)):
        given = plain_messages(new)
    return Turn(tuple(group), first, given, runs[-1].output)


def _is_helper(part: Trace) -> bool:
    top = judged_root(part.roots)
    if top is None or top.span.kind in HELPERS:
        return True
    return isinstance(top.span, LLMSpan) and not part.llm_calls


def _goes_on(part: Trace) -> bool:
    first = min(part.llm_calls, key=lambda call: call.start_time_unix_nano, default=None)
    return first is not None and isinstance(next(reversed(first.input_messages), None), ToolResultMessage)


def _new_messages(messages: Sequence[Message]) -> list[Message]:
    """Give what was said since the last answer."""
    found: list[Message] = []
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            return found[::-1]
        if not isinstance(message, SystemMessage):
            found.append(message)
    return found[::-1]
