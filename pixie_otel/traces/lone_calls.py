"""Calls of an SDK whose model spans are not there: sampled away, or left out by a filter.

The Vercel AI SDK's span around a call and its steps is no model call where these are there. Where nothing below it is
one, it is all that there is of the call, and stands for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import structs

from pixie_otel.attributes import vercel as vercel_keys
from pixie_otel.evaluable import canonical_json
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.plain import plain_messages
from pixie_otel.traces.dialects.reading import SpanFacts
from pixie_otel.traces.observe import observe
from pixie_otel.traces.spans import LLMSpan, ObservationKind, ObserveSpan
from pixie_otel.traces.tree import ObservationNode

__all__ = ["lone_calls"]

_OPERATIONS: Final = frozenset(
    {
        vercel_keys.OPERATION_GENERATE_TEXT,
        vercel_keys.OPERATION_STREAM_TEXT,
        vercel_keys.OPERATION_GENERATE_OBJECT,
        vercel_keys.OPERATION_STREAM_OBJECT,
    }
)
_CALL: Final = ".doGenerate"
_NOTE: Final = "stands for the model calls in it, of which none is in the input"


def lone_calls(roots: Iterable[ObservationNode]) -> list[LLMSpan]:
    """Find the spans around model calls that are not there.

    Args:
        roots: The tops of the trees to search.

    Returns:
        Each as the one call that it stands for.
    """
    flat: list[tuple[ObservationNode, int]] = [(root, -1) for root in roots]
    for at, (node, _) in enumerate(flat):
        flat.extend((child, at) for child in node.children)
    if not any(_is_around_calls(node.span) for node, _ in flat):
        return []
    found: list[LLMSpan] = []
    has_call = [False] * len(flat)
    # Children stand behind their parents, so backwards every node meets finished ones.
    for at in range(len(flat) - 1, -1, -1):
        node, above = flat[at]
        has_call[at] = has_call[at] or isinstance(node.span, LLMSpan)
        if not has_call[at] and _is_around_calls(node.span) and (call := _as_call(node.span)) is not None:
            found.append(call)
            has_call[at] = True
        if above >= 0 and has_call[at]:
            has_call[above] = True
    return found


def _is_around_calls(span: ObserveSpan) -> bool:
    if span.kind is not ObservationKind.CHAIN:
        return False
    operation = span.attributes.get(vercel_keys.OPERATION_ID)
    return isinstance(operation, str) and operation in _OPERATIONS


def _as_call(span: ObserveSpan) -> LLMSpan | None:
    """Read a span as the call that it is around; ``None`` where it failed, and may have made none."""
    if span.error is not None:
        return None
    given = plain_messages(messages(span.input))
    instead = {
        vercel_keys.OPERATION_ID: f"{span.attributes[vercel_keys.OPERATION_ID]}{_CALL}",
        vercel_keys.PROMPT_MESSAGES: canonical_json(given),
    }
    call = observe(
        SpanFacts(
            trace_id=span.trace_id,
            span_id=span.span_id,
            parent_span_id=span.parent_span_id,
            name=span.name,
            start_time_unix_nano=span.start_time_unix_nano,
            end_time_unix_nano=span.end_time_unix_nano,
            attributes={**span.attributes, **instead},
            events=span.events,
            resource=span.resource,
            scope=span.scope,
            otel_kind=span.otel_kind,
            dropped_attributes=span.dropped_attributes,
        )
    )
    if not isinstance(call, LLMSpan):
        return None
    return structs.replace(call, attributes=span.attributes, notes=(*call.notes, _NOTE))
