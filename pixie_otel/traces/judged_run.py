"""What stands for a whole run: the root's own input and output, or those of what recorded some below it."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.spans import ObservationKind, ObserveSpan
from pixie_otel.traces.tree import ObservationNode, order

__all__ = ["HELPERS", "JudgedRun", "judged_nodes", "judged_root", "judged_run"]

HELPERS: Final = frozenset(
    {
        ObservationKind.TOOL,
        ObservationKind.RETRIEVER,
        ObservationKind.RERANKER,
        ObservationKind.EMBEDDING,
        ObservationKind.GUARDRAIL,
        ObservationKind.EVALUATOR,
        ObservationKind.PROMPT,
    }
)
"""What only helps to answer."""
_UNASKED: Final = HELPERS | {ObservationKind.OTHER}
_ANSWERING: Final = frozenset({ObservationKind.LLM, ObservationKind.AGENT})


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run, as it is judged.

    Attributes:
        span: The observation that stands for it: the one that was asked.
        input: What was asked.
        output: The answer in the end.
        duration_ms: How long it took, in milliseconds; ``None`` where times are missing.
    """

    span: ObserveSpan
    input: JsonValue
    output: JsonValue
    duration_ms: float | None


def judged_root(roots: Collection[ObservationNode]) -> ObservationNode | None:
    """Give the observation that stands for a run: the first root, or what recorded something below it.

    Args:
        roots: The tops of the run's trees.

    Returns:
        The first of the topmost nodes with an input or output that is no wrapped value, before tools and retrievals
        what asked for them, of the first tree that has one; else the first root. ``None`` where there is no root.
    """
    return next(iter(judged_nodes(roots)), None)


def judged_run(roots: Collection[ObservationNode]) -> JudgedRun:
    """Give a run's input and output.

    Some frameworks record neither on their root, and the question only on the first call below it and the answer on the
    last: then these two stand for it.

    Args:
        roots: The tops of the run's trees, one or more.
    """
    spans = [node.span for node in judged_nodes(roots)]
    first = spans[0]
    if len(spans) == 1:
        return JudgedRun(first, first.input, first.output, first.duration_ms)
    ended = sorted(spans, key=lambda span: (span.end_time_unix_nano, span.start_time_unix_nano, span.span_id))
    given = next((span.input for span in spans if span.input is not None), None)
    given_back = next((span.output for span in reversed(ended) if span.output is not None), None)
    start, end = first.start_time_unix_nano, ended[-1].end_time_unix_nano
    return JudgedRun(first, given, given_back, (end - start) / 1e6 if 0 < start <= end else None)


def judged_nodes(roots: Collection[ObservationNode]) -> list[ObservationNode]:
    """Give the observations whose first input and last output are the run's.

    Args:
        roots: The tops of the run's trees.

    Returns:
        The nodes in order of start: one, or several where nothing above them recorded anything; none where there is no
        root.
    """
    for top in roots:
        missing = top.span.parent_span_id
        if missing is None and _has_recorded(top.span):
            return [top]
        # Spans whose parent is not in the input stand together in its place.
        tops = [top] if missing is None else [node for node in roots if node.span.parent_span_id == missing]
        found = list(_topmost(tops))
        asked = [node for node, _ in found if node.span.kind not in _UNASKED]
        if not asked:
            if _has_models(tops):
                # What a model was asked was not recorded, and what helped it is no answer.
                found = [(node, depth) for node, depth in found if node.span.kind not in HELPERS]
            # Of spans that nobody says what they are of, or that only help, the deeper ones are less likely the run.
            asked = [node for node, depth in found if depth == found[0][1]]
        if asked:
            return sorted(asked, key=lambda node: order(node.span))
    return list(roots)[:1]


def _has_models(tops: Iterable[ObservationNode]) -> bool:
    """Say whether a model or an agent took part."""
    return any(node.span.kind in _ANSWERING for top in tops for node in top.walk())


def _topmost(tops: Collection[ObservationNode]) -> Iterator[tuple[ObservationNode, int]]:
    """Give the nodes that recorded something, and have none above them that did, with their depths."""
    pending = deque((top, 0) for top in tops)
    while pending:
        node, depth = pending.popleft()
        if _has_recorded(node.span):
            yield node, depth
        else:
            pending.extend((child, depth + 1) for child in node.children)


def _has_recorded(span: ObserveSpan) -> bool:
    """Say whether a span recorded an input or an output of its own; what `pixie_otel.wrap` recorded is none."""
    return not (span.input is None and span.output is None) and keys.PIXIE_WRAP_PURPOSE not in span.attributes
