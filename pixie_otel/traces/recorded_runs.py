"""Which tools, embeddings and retrievals were really run: one run counts once, however many spans recorded it.

A framework's span around the tool's own, a client's around a server's, an embedding's public method around the one
that asks the provider: where a span directly within another of its kind says the same, the two are one run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.values import decoded
from pixie_otel.traces.merging import with_gaps_filled
from pixie_otel.traces.nesting import Nesting, nesting_of
from pixie_otel.traces.repeats import Repeat, Rule
from pixie_otel.traces.spans import EmbeddingSpan, ObservationKind, ObserveSpan, RetrieverSpan, ToolSpan
from pixie_otel.traces.tree import ObservationNode, order

__all__ = ["embeddings", "retrievals", "tool_runs"]

_BOUNDARIES: Final = frozenset({ObservationKind.LLM, ObservationKind.AGENT})
_EMPTY: Final[tuple[object, ...]] = (None, (), {}, "")
_MARKS: Final = frozenset(" -./:")
_MOST_LEAVES: Final = 256
_MOST_OPEN: Final = 64

_RunT = TypeVar("_RunT", bound=ObserveSpan)


def tool_runs(roots: Iterable[ObservationNode], repeats: list[Repeat]) -> list[ToolSpan]:
    """Find the runs of tools below some nodes.

    Args:
        roots: The tops of the trees to search.
        repeats: Takes the spans that are no runs by themselves.

    Returns:
        One span a run, by start: the outermost, completed from the one in it.
    """
    return _runs(nesting_of(roots, ToolSpan, _BOUNDARIES), _same_tool, _tells_tool, repeats)


def embeddings(roots: Iterable[ObservationNode], repeats: list[Repeat]) -> list[EmbeddingSpan]:
    """Find the embeddings below some nodes, likewise; of one in batches, the batches count.

    Args:
        roots: The tops of the trees to search.
        repeats: Takes the spans that are none by themselves.
    """
    return _runs(nesting_of(roots, EmbeddingSpan, _BOUNDARIES), _same_embedding, _tells_embedding, repeats)


def retrievals(roots: Iterable[ObservationNode], repeats: list[Repeat]) -> list[RetrieverSpan]:
    """Find the retrievals below some nodes, likewise.

    Args:
        roots: The tops of the trees to search.
        repeats: Takes the spans that are none by themselves.
    """
    return _runs(nesting_of(roots, RetrieverSpan, _BOUNDARIES), _same_retrieval, _tells_retrieval, repeats)


def _runs(
    nesting: Nesting[_RunT],
    same: Callable[[_RunT, _RunT], bool],
    tells: Callable[[_RunT], bool],
    repeats: list[Repeat],
) -> list[_RunT]:
    """Find the runs.

    Args:
        nesting: The spans.
        same: Says whether two spans, one in the other, may be the same run.
        tells: Says whether a span recorded enough for being the same as another beside it.
        repeats: Takes the spans that are no runs by themselves.
    """
    spans = nesting.spans
    runs: list[list[_RunT]] = [[] for _ in spans]
    for position in range(len(spans) - 1, -1, -1):
        below = [run for at in nesting.inner[position] for run in runs[at]]
        runs[position] = _resolved(spans[position], below, same, repeats)
    found = sorted((run for position in nesting.outermost for run in runs[position]), key=_by_start)
    return _merged_beside(found, same, tells, repeats)


def _resolved(
    outer: _RunT, below: list[_RunT], same: Callable[[_RunT, _RunT], bool], repeats: list[Repeat]
) -> list[_RunT]:
    """Say which runs a span and those in it are."""
    alike = [run for run in below if same(outer, run)]
    succeeded = [run for run in alike if run.error is None]
    if not alike:
        return [outer, *below]
    if len(succeeded) > 1:
        # It was really done several times, in batches or anew.
        repeats.append(Repeat.of(outer, Rule.SUM))
        return below
    inner = (succeeded or alike)[-1]
    repeats.append(Repeat.of(inner, Rule.SAME_RUN, outer))
    return [with_gaps_filled(outer, inner), *(run for run in below if run is not inner)]


def _merged_beside(
    runs: list[_RunT], same: Callable[[_RunT, _RunT], bool], tells: Callable[[_RunT], bool], repeats: list[Repeat]
) -> list[_RunT]:
    """Merge what two instrumentations recorded beside each other; each records a run once."""
    if len({run.scope.name for run in runs}) < 2:
        return sorted(runs, key=order)
    kept: list[_RunT] = []
    scopes: list[set[str]] = []
    for run in runs:
        near = range(len(kept) - 1, max(-1, len(kept) - 1 - _MOST_OPEN), -1)
        fitting = [
            at
            for at in near
            if run.scope.name not in scopes[at]
            and _is_within(run, kept[at])
            and tells(run)
            and tells(kept[at])
            and same(kept[at], run)
        ]
        if not fitting:
            kept.append(run)
            scopes.append({run.scope.name})
        else:
            at = min(fitting, key=lambda at: kept[at].end_time_unix_nano)
            repeats.append(Repeat.of(run, Rule.TWO_INSTRUMENTATIONS, kept[at]))
            kept[at] = with_gaps_filled(kept[at], run)
            scopes[at].add(run.scope.name)
    return sorted(kept, key=order)


def _by_start(run: ObserveSpan) -> tuple[int, int, str]:
    return run.start_time_unix_nano, -run.end_time_unix_nano, run.span_id


def _is_within(inner: ObserveSpan, outer: ObserveSpan) -> bool:
    """Say whether a run lies within another one's time."""
    is_later = 0 < outer.start_time_unix_nano <= inner.start_time_unix_nano
    return is_later and inner.end_time_unix_nano <= outer.end_time_unix_nano


def _same_tool(outer: ToolSpan, inner: ToolSpan) -> bool:
    if outer.tool_call_id is not None and outer.tool_call_id == inner.tool_call_id:
        return True
    if not _names_agree(outer.tool_name or "", inner.tool_name or ""):
        return False
    return _agree(outer.arguments, inner.arguments)


def _tells_tool(run: ToolSpan) -> bool:
    return run.arguments not in _EMPTY


def _tells_embedding(run: EmbeddingSpan) -> bool:
    return bool(run.texts)


def _tells_retrieval(run: RetrieverSpan) -> bool:
    return bool(run.query and run.documents)


def _names_agree(one: str, other: str) -> bool:
    """Say whether two names may be the same tool's: servers and plugins stand before it, behind a mark."""
    short, long = sorted((one, other), key=len)
    return bool(short) and (long == short or (long.endswith(short) and long[-len(short) - 1] in _MARKS))


def _same_embedding(outer: EmbeddingSpan, inner: EmbeddingSpan) -> bool:
    if outer.texts and inner.texts and not set(inner.texts) <= set(outer.texts):
        return False
    return outer.model is None or inner.model is None or outer.model == inner.model


def _same_retrieval(outer: RetrieverSpan, inner: RetrieverSpan) -> bool:
    """Say whether two are one retrieval; one that left something out of what the other found is a step of its own."""
    if outer.kind is not inner.kind or (outer.query and inner.query and outer.query != inner.query):
        return False
    return not outer.documents or not inner.documents or outer.documents == inner.documents


def _agree(ours: JsonValue, theirs: JsonValue) -> bool:
    """Say whether two recordings may be of the same arguments; frameworks wrap them in mappings of their own."""
    if ours in _EMPTY or theirs in _EMPTY or ours == theirs:
        return True
    one, other = (sorted(islice(_leaves(value), _MOST_LEAVES)) for value in (ours, theirs))
    if [name for name, _ in one] == [name for name, _ in other]:
        return one == other
    return sorted(value for _, value in one) == sorted(value for _, value in other)


def _leaves(value: JsonValue) -> Iterator[tuple[str, str]]:
    """Give the values at the bottom, each with the name that it has there, if any."""
    pending: list[tuple[str, JsonValue]] = [("", decoded(value))]
    while pending:
        name, item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item.items())
        elif isinstance(item, list):
            pending.extend(("", part) for part in item)
        elif item is not None:
            yield name, str(item)
