"""Which tools, embeddings and retrievals were really run: one run counts once, however many spans recorded it.

A framework's span around the tool's own, a client's around a server's, an embedding's public method around the one
that asks the provider: where a span directly within another of its kind says the same, the two are one run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, TypeVar

from msgspec import structs

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.values import decoded
from pixie_otel.traces.nesting import Nesting, nesting_of
from pixie_otel.traces.repeats import Repeat, Rule
from pixie_otel.traces.spans import EmbeddingSpan, ObservationKind, ObserveSpan, RetrieverSpan, ToolSpan
from pixie_otel.traces.tree import ObservationNode, order

__all__ = ["embeddings", "retrievals", "tool_runs"]

_BOUNDARIES: Final = frozenset({ObservationKind.LLM, ObservationKind.AGENT})
_EMPTY: Final[tuple[object, ...]] = (None, (), {}, "")
_MARKS: Final = frozenset(" -./:")
_OWN: Final = frozenset({"trace_id", "span_id", "parent_span_id", "name", "notes", "attributes", "events", "dialects"})
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
    return _merged_beside(_runs(nesting_of(roots, ToolSpan, _BOUNDARIES), _same_tool, repeats), repeats)


def embeddings(roots: Iterable[ObservationNode], repeats: list[Repeat]) -> list[EmbeddingSpan]:
    """Find the embeddings below some nodes, likewise; of one in batches, the batches count.

    Args:
        roots: The tops of the trees to search.
        repeats: Takes the spans that are none by themselves.
    """
    return _runs(nesting_of(roots, EmbeddingSpan, _BOUNDARIES), _same_embedding, repeats)


def retrievals(roots: Iterable[ObservationNode], repeats: list[Repeat]) -> list[RetrieverSpan]:
    """Find the retrievals below some nodes, likewise.

    Args:
        roots: The tops of the trees to search.
        repeats: Takes the spans that are none by themselves.
    """
    return _runs(nesting_of(roots, RetrieverSpan, _BOUNDARIES), _same_retrieval, repeats)


def _runs(nesting: Nesting[_RunT], same: Callable[[_RunT, _RunT], bool], repeats: list[Repeat]) -> list[_RunT]:
    spans = nesting.spans
    runs: list[list[_RunT]] = [[] for _ in spans]
    for position in range(len(spans) - 1, -1, -1):
        below = [run for at in nesting.inner[position] for run in runs[at]]
        runs[position] = _resolved(spans[position], below, same, repeats)
    return sorted((run for position in nesting.outermost for run in runs[position]), key=order)


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
        repeats.append(Repeat(Rule.SUM, outer.trace_id, outer.span_id, outer.name))
        return below
    inner = (succeeded or alike)[-1]
    repeats.append(_repeat(Rule.SAME_RUN, inner, outer))
    return [_completed(outer, inner), *(run for run in below if run is not inner)]


def _merged_beside(runs: list[ToolSpan], repeats: list[Repeat]) -> list[ToolSpan]:
    """Merge what two instrumentations recorded beside each other; each records a run once."""
    if len({run.scope.name for run in runs}) < 2:
        return runs
    kept: list[ToolSpan] = []
    scopes: list[set[str]] = []
    for run in runs:
        near = range(len(kept) - 1, max(-1, len(kept) - 1 - _MOST_OPEN), -1)
        at = next((at for at in near if run.scope.name not in scopes[at] and _is_within(run, kept[at])), None)
        if at is None:
            kept.append(run)
            scopes.append({run.scope.name})
        else:
            repeats.append(_repeat(Rule.TWO_INSTRUMENTATIONS, run, kept[at]))
            kept[at] = _completed(kept[at], run)
            scopes[at].add(run.scope.name)
    return kept


def _is_within(inner: ToolSpan, outer: ToolSpan) -> bool:
    """Say whether a run lies within another one's time, and is the same by what both of them say."""
    is_within = 0 < outer.start_time_unix_nano <= inner.start_time_unix_nano
    return (
        is_within
        and inner.end_time_unix_nano <= outer.end_time_unix_nano
        and inner.arguments not in _EMPTY
        and outer.arguments not in _EMPTY
        and _same_tool(outer, inner)
    )


def _repeat(rule: Rule, span: ObserveSpan, counted: ObserveSpan) -> Repeat:
    return Repeat(rule, span.trace_id, span.span_id, span.name, counted.span_id, counted.trace_id)


def _completed(kept: _RunT, other: _RunT) -> _RunT:
    changes: dict[str, Any] = {
        name: value
        for name in kept.__struct_fields__
        if name not in _OWN and getattr(kept, name) in _EMPTY and (value := getattr(other, name)) not in _EMPTY
    }
    return structs.replace(kept, **changes) if changes else kept


def _same_tool(outer: ToolSpan, inner: ToolSpan) -> bool:
    if outer.tool_call_id is not None and outer.tool_call_id == inner.tool_call_id:
        return True
    if not _names_agree(outer.tool_name or "", inner.tool_name or ""):
        return False
    return _agree(outer.arguments, inner.arguments)


def _names_agree(one: str, other: str) -> bool:
    """Say whether two names may be the same tool's: servers and plugins stand before it, behind a mark."""
    short, long = sorted((one, other), key=len)
    return long == short or (bool(short) and long.endswith(short) and long[-len(short) - 1] in _MARKS)


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
    return sorted(islice(_leaves(ours), _MOST_LEAVES)) == sorted(islice(_leaves(theirs), _MOST_LEAVES))


def _leaves(value: JsonValue) -> Iterator[str]:
    pending: list[JsonValue] = [decoded(value)]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        elif item is not None:
            yield str(item)
