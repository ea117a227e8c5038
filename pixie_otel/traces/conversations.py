"""Conversations: the traces of files put together where they are one conversation.

Where an application's own code is not instrumented, each call of a model is a trace of its own, and so is each step of
a tool loop. Traces of one session belong together; those that name none go on with each other where a call was given
the whole history of an earlier one, its answer included. See `pixie_otel.traces.stitching` for what is never joined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pixie_otel.traces.conversation import Conversation, Turn
from pixie_otel.traces.reader import TraceReader
from pixie_otel.traces.report import Problem
from pixie_otel.traces.stitching import Facts, Stitched, facts_of, stitched
from pixie_otel.traces.trace import Trace

__all__ = ["Conversation", "Turn", "conversations"]


def conversations(traces: TraceReader | Iterable[Trace]) -> Iterator[Trace]:
    """Put traces together that are one conversation.

    Args:
        traces: A reader, whose files are read twice, so that memory holds small facts of each trace and one
            conversation at a time; or traces, which are all held.

    Yields:
        The conversations by their first start: a `Conversation` where several traces belong together, else the trace
        itself. A trace that may belong to several stands alone, with a problem of the kind ``ambiguous-conversation``.

    Raises:
        InputError: As for the reader.
    """
    return _of_reader(traces) if isinstance(traces, TraceReader) else _of_traces(traces)


def _of_traces(traces: Iterable[Trace]) -> Iterator[Trace]:
    held = sorted(traces, key=lambda trace: (trace.start_time_unix_nano, trace.trace_id))
    for found in stitched([facts_of(trace) for trace in held]):
        yield _together([held[number] for number in found.members], found)


def _of_reader(reader: TraceReader) -> Iterator[Trace]:
    with reader.twice() as readings:
        facts = [facts_of(trace) for trace in readings.first()]
        for found in stitched(facts):
            parts = [readings.again(number) for number in found.members]
            _tell_of_repeats(parts, [facts[number] for number in found.members])
            yield _together(parts, found)


def _together(parts: Sequence[Trace], found: Stitched) -> Trace:
    for number, part in zip(found.members, parts, strict=True):
        if number in found.doubts:
            message = f"it is joined to no other trace: {found.doubts[number]}; a session id on the spans tells"
            part.add_problem(Problem("ambiguous-conversation", message, part.source, trace_id=part.trace_id))
    return parts[0] if len(parts) == 1 else Conversation(parts)


def _tell_of_repeats(parts: Sequence[Trace], facts: Sequence[Facts]) -> None:
    """Let count once again what the first reading saw to be recorded in two traces."""
    by_id = {part.trace_id: part for part in parts}
    for part, known in zip(parts, facts, strict=True):
        for repeat in known.repeats:
            calls = part.call_count.calls
            counted = by_id.get(repeat.counted_trace_id or "")
            if counted is not None and repeat.counted is not None and calls:
                counted.join(repeat.counted, calls[0].span, repeat)
            part.count_elsewhere(repeat)
        for problem in known.problems:
            part.add_problem(problem)
