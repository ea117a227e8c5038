"""A trace: its trees, and what can be said of it as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, overload

from pixie_otel.traces.calls import CallCount, count_calls
from pixie_otel.traces.integrity import trace_problems
from pixie_otel.traces.merging import answered, joined
from pixie_otel.traces.recorded_runs import embeddings, retrievals, tool_runs
from pixie_otel.traces.repeats import Repeat, Rule
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import EmbeddingSpan, LLMSpan, ObservationKind, ObserveSpan, RetrieverSpan, ToolSpan
from pixie_otel.traces.sums import QUANTITIES, left_over
from pixie_otel.traces.tree import ObservationNode, link, nodes, order, ordered

__all__ = ["Trace", "Usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What the model calls of a trace used; ``None`` where no call recorded it.

    Attributes:
        input_tokens: Tokens in.
        output_tokens: Tokens out.
        cost: US dollars.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None

    @property
    def total_tokens(self) -> int | None:
        """Tokens in and out together; ``None`` where neither was recorded."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)


class Trace(Sequence[ObservationNode]):
    """One trace; as a sequence, its root nodes.

    Args:
        trace_id: The trace's id.
        roots: The tops of its trees, in order of start.
        problems: What is wrong with it; problems of values join when they are decoded.
        source: The input that it came from, by the name that the user knows.
        start_time_unix_nano: The earliest start, where known without decoding.
        end_time_unix_nano: The latest end, likewise.
        scopes: The names of the scopes that its spans are of, likewise.
    """

    def __init__(
        self,
        trace_id: str,
        roots: Iterable[ObservationNode],
        *,
        problems: Iterable[Problem] = (),
        source: str = "memory",
        start_time_unix_nano: int | None = None,
        end_time_unix_nano: int | None = None,
        scopes: frozenset[str] | None = None,
    ) -> None:
        self.trace_id = trace_id
        self.roots = list(roots)
        self.source = source
        self._problems = list(problems)
        self._start = start_time_unix_nano
        self._end = end_time_unix_nano
        self._scopes = scopes
        self._counts_elsewhere = False
        self._joined: dict[str, list[tuple[LLMSpan, Rule]]] = {}
        self._foreign: list[Repeat] = []

    @classmethod
    def from_spans(cls, spans: Iterable[ObserveSpan]) -> Trace:
        """Build a trace from the observations of one trace.

        Args:
            spans: The observations, in any order.

        Raises:
            ValueError: There are none, or they belong to several traces.
        """
        found = ordered(spans)
        ids = {span.trace_id for span in found}
        if len(ids) != 1:
            raise ValueError(f"a trace needs spans of one trace id, and these have {len(ids)}: {sorted(ids)[:3]}")
        links = link(found)
        problems = trace_problems(found, links, trace_id=found[0].trace_id, source="memory")
        return cls(found[0].trace_id, nodes([ObservationNode(span) for span in found], links), problems=problems)

    @overload
    def __getitem__(self, index: int) -> ObservationNode: ...
    @overload
    def __getitem__(self, index: slice) -> list[ObservationNode]: ...
    def __getitem__(self, index: int | slice) -> ObservationNode | list[ObservationNode]:
        """Give a root node, or several."""
        return self.roots[index]

    def __len__(self) -> int:
        """Say how many root nodes there are."""
        return len(self.roots)

    def __eq__(self, other: object) -> bool:
        """Compare the trace ids and the trees."""
        if not isinstance(other, Trace):
            return NotImplemented
        return self.trace_id == other.trace_id and self.roots == other.roots

    def __hash__(self) -> int:
        """Hash the trace's id."""
        return hash(self.trace_id)

    def __repr__(self) -> str:
        """Show the id and how many roots there are."""
        return f"<Trace {self.trace_id}, {len(self.roots)} roots>"

    def copy(self) -> Trace:
        """Give the trace anew, so that nobody who changes a value in it changes this one."""
        twin = Trace(
            self.trace_id,
            [top.copy() for top in self.roots],
            problems=self._problems,
            source=self.source,
            start_time_unix_nano=self._start,
            end_time_unix_nano=self._end,
            scopes=self._scopes,
        )
        twin._counts_elsewhere = self._counts_elsewhere
        twin._joined = deepcopy(self._joined)
        twin._foreign = [*self._foreign]
        return twin

    def walk(self) -> Iterator[ObservationNode]:
        """Give all nodes, depth first, tree by tree."""
        for root in self.roots:
            yield from root.walk()

    def wire_bytes(self) -> Iterator[tuple[ObservationNode, bytes]]:
        """Give the nodes' content as it stood in the file, for searching without decoding."""
        for node in self.walk():
            for part in node.wire_bytes():
                yield node, part

    def to_text(self) -> str:
        """Give the trees as indented text with everything in them."""
        from pixie_otel.traces.text import tree_text

        return tree_text(self.roots)

    @cached_property
    def spans(self) -> list[ObserveSpan]:
        """All observations, by start, then id."""
        return sorted((node.span for node in self.walk()), key=order)

    @cached_property
    def call_count(self) -> CallCount:
        """The model calls of the trace by itself, other traces left aside; see `pixie_otel.traces.calls`."""
        return count_calls(self.roots)

    @cached_property
    def llm_calls(self) -> list[LLMSpan]:
        """The model calls that were really made, by end, each with what other recordings know of it."""
        if self._counts_elsewhere:
            return []
        calls = [joined(call.span, self._joined.get(call.span.span_id, ())) for call in self.call_count.calls]
        return sorted(calls, key=lambda call: (call.end_time_unix_nano, call.start_time_unix_nano, call.span_id))

    @cached_property
    def tool_spans(self) -> list[ToolSpan]:
        """The runs of tools, by start; what two spans recorded, one in the other, is one run."""
        return tool_runs(self.roots, [])

    @cached_property
    def retriever_spans(self) -> list[RetrieverSpan]:
        """The retrievals, by start, likewise."""
        return retrievals(self.roots, [])

    @cached_property
    def embedding_spans(self) -> list[EmbeddingSpan]:
        """The embeddings, by start, likewise."""
        return embeddings(self.roots, [])

    @property
    def repeats(self) -> list[Repeat]:
        """The spans that count for nothing by themselves, since others recorded the same thing, and why."""
        found = [*self.call_count.repeats, *self._foreign]
        tool_runs(self.roots, found)
        retrievals(self.roots, found)
        embeddings(self.roots, found)
        return found

    @property
    def trace_ids(self) -> tuple[str, ...]:
        """The ids of all traces in it: of a conversation, those that it is made of."""
        return (self.trace_id,)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the trace, as far as it was decoded."""
        return tuple(self._problems)

    def add_problem(self, problem: Problem) -> None:
        """Note one more thing that is wrong with the trace."""
        self._problems.append(problem)

    @property
    def counts_elsewhere(self) -> bool:
        """Whether the trace only records again what is a call of another trace."""
        return self._counts_elsewhere

    @property
    def counted_in(self) -> str | None:
        """The id of the trace in which the model call counts that this one only records again, where it does."""
        own = (repeat for repeat in self._foreign if repeat.trace_id == self.trace_id)
        return next((repeat.counted_trace_id for repeat in own), None) if self._counts_elsewhere else None

    @property
    def foreign_repeats(self) -> tuple[Repeat, ...]:
        """What this trace and another one both recorded, and in which of them it counts."""
        return tuple(self._foreign)

    def count_elsewhere(self, repeat: Repeat) -> None:
        """Let the trace's model calls not count: another trace records the same ones.

        Args:
            repeat: Says which.
        """
        self._counts_elsewhere = True
        self._foreign.append(repeat)
        self.__dict__.pop("llm_calls", None)
        self.__dict__.pop("usage", None)

    def join(self, call_id: str, other: LLMSpan, repeat: Repeat) -> None:
        """Complete one of the trace's model calls from a recording of it in another trace.

        The answer of a stream is the call's own, so it is on the call's observation too.

        Args:
            call_id: The id of the call.
            other: The other recording.
            repeat: Says why it is one.
        """
        if repeat.rule is Rule.STREAM_ANSWER:
            for node in self.walk():
                if node.span.span_id == call_id:
                    node.complete(lambda call: answered(call, other) if isinstance(call, LLMSpan) else call)
            self._end = None
        else:
            self._joined.setdefault(call_id, []).append((other, repeat.rule))
        self._foreign.append(repeat)
        for known in ("spans", "call_count", "llm_calls", "usage"):
            self.__dict__.pop(known, None)

    @cached_property
    def session_id(self) -> str | None:
        """The session that the trace belongs to: the first that a span names, roots first."""
        return next((node.span.session_id for node in self.walk() if node.span.session_id), None)

    @cached_property
    def user_id(self) -> str | None:
        """The user that the trace was made for: the first that a span names, roots first."""
        return next((node.span.user_id for node in self.walk() if node.span.user_id), None)

    @cached_property
    def service_names(self) -> list[str]:
        """The services that made the spans, sorted."""
        return sorted({span.service_name for span in self.spans if span.service_name})

    @cached_property
    def usage(self) -> Usage:
        """What the real model calls used together, also where only a span around several of them recorded it."""
        calls, sums = self.llm_calls, self.call_count.sums
        totals: dict[str, Any] = {}
        for quantity in QUANTITIES:
            known = [value for call in calls if (value := getattr(call, quantity)) is not None]
            known += left_over(sums, calls, quantity) if sums else ()
            totals[quantity] = sum(known) if known else None
        return Usage(**totals)

    @property
    def calls_without_tokens(self) -> list[LLMSpan]:
        """The model calls of which nobody recorded tokens, a span around several of them neither."""
        sums = [one for one in self.call_count.sums if (one.input_tokens, one.output_tokens) != (None, None)]
        known = {span_id for one in sums for span_id in one.call_ids}
        return [
            call
            for call in self.llm_calls
            if call.input_tokens is None and call.output_tokens is None and call.span_id not in known
        ]

    @cached_property
    def has_content(self) -> bool:
        """Whether there is anything to judge: a model call, or a span with a recorded input, output or LLM kind."""
        return any(
            span.kind is not ObservationKind.OTHER or span.input is not None or span.output is not None
            for span in self.spans
        )

    @property
    def start_time_unix_nano(self) -> int:
        """The earliest start that was recorded, in nanoseconds since 1970; 0 where none was."""
        if self._start is None:
            starts = [span.start_time_unix_nano for span in self.spans if span.start_time_unix_nano]
            self._start = min(starts, default=0)
        return self._start

    @property
    def end_time_unix_nano(self) -> int:
        """The latest end, in nanoseconds since 1970; 0 where none was recorded."""
        if self._end is None:
            self._end = max((node.end_time_unix_nano for node in self.walk()), default=0)
        return self._end

    @property
    def scopes(self) -> frozenset[str]:
        """The names of the instrumentation scopes that made its spans."""
        if self._scopes is None:
            self._scopes = frozenset(span.scope.name for span in self.spans)
        return self._scopes

    @property
    def started_at(self) -> datetime | None:
        """The earliest start, in UTC."""
        return min((span.started_at for span in self.spans if span.started_at is not None), default=None)

    @property
    def duration_ms(self) -> float | None:
        """From the earliest start to the latest end, in milliseconds; ``None`` where times are missing."""
        start, end = self.start_time_unix_nano, self.end_time_unix_nano
        return (end - start) / 1e6 if 0 < start <= end else None
