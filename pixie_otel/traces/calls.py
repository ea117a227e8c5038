"""Which model calls were really made: one call counts once, however many spans recorded it.

A framework's span around the provider's own span of the same call is one call; so is an instrumentation's span around
the one that the provider's SDK makes itself. A model span below a tool or an agent is a call of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec import structs

from pixie_otel.traces.spans import LLMSpan, ObservationKind
from pixie_otel.traces.tree import ObservationNode

__all__ = ["llm_calls"]

_BOUNDARIES: Final = frozenset({ObservationKind.TOOL, ObservationKind.AGENT})
_OWN: Final = frozenset({"trace_id", "span_id", "parent_span_id", "name", "notes", "attributes", "events", "dialects"})
"""What a merged call keeps of the span that recorded the content."""
_MOST_NOTES: Final = 16
"""Wrappers are nested in each other a few deep; a chain of thousands must not copy its notes at every level."""


def llm_calls(roots: Iterable[ObservationNode]) -> list[LLMSpan]:
    """Find the real model calls below some nodes.

    Args:
        roots: The tops of the trees to search.

    Returns:
        One span a call, by end, then start, then id. Where two spans recorded one call, it is the one that recorded the
        content, completed from the other, with a note that says so.
    """
    spans: list[LLMSpan] = []
    nested: list[list[int]] = []
    outermost: list[int] = []
    pending: list[tuple[ObservationNode, int]] = [(root, -1) for root in roots]
    while pending:
        node, enclosing = pending.pop()
        span = node.span
        if isinstance(span, LLMSpan):
            (outermost if enclosing < 0 else nested[enclosing]).append(len(spans))
            enclosing = len(spans)
            spans.append(span)
            nested.append([])
        elif span.kind in _BOUNDARIES:
            enclosing = -1
        pending.extend((child, enclosing) for child in node.children)
    calls: list[list[LLMSpan]] = [[] for _ in spans]
    # Children come after their parents in the list, so backwards every span meets finished ones.
    for position in range(len(spans) - 1, -1, -1):
        below = [call for child in nested[position] for call in calls[child]]
        calls[position] = _resolved(spans[position], below)
    found = [call for position in outermost for call in calls[position]]
    if any(_was_made(call) for call in found):
        # Some frameworks mark helpers around a call as model spans: they name the model, and nothing came of them.
        found = [call for call in found if _was_made(call)]
    return sorted(found, key=lambda call: (call.end_time_unix_nano, call.start_time_unix_nano, call.span_id))


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


def _resolved(outer: LLMSpan, below: list[LLMSpan]) -> list[LLMSpan]:
    if not below:
        return [outer]
    succeeded = [call for call in below if call.error is None]
    if not succeeded and outer.error is None and outer.output_messages:
        # The attempt that worked out in the end, a fallback to another provider say, is recorded nowhere else.
        return [*below, outer]
    # Around several calls a wrapper describes the one that worked out; failed attempts before it were calls too.
    counterpart = below[0] if len(below) == 1 else succeeded[0] if len(succeeded) == 1 else None
    if counterpart is None:
        return below
    if _differ(outer, counterpart):
        return [*below, outer]
    return [_merged(outer, call) if call is counterpart else call for call in below]


def _differ(outer: LLMSpan, inner: LLMSpan) -> bool:
    """Say whether two spans, one in the other, cannot be the same call: other models, and other tokens."""
    models = [span.model for span in (outer, inner)]
    tokens = [(span.input_tokens, span.output_tokens) for span in (outer, inner)]
    if None in models or any(None in pair for pair in tokens) or tokens[0] == tokens[1]:
        return False
    # Providers add a date to a name, gateways a prefix.
    short = sorted((str(model).rpartition("/")[2] for model in models), key=len)
    return short[0] not in short[1]


def _merged(outer: LLMSpan, inner: LLMSpan) -> LLMSpan:
    keep, other = (outer, inner) if _content(outer) >= _content(inner) else (inner, outer)
    changes: dict[str, Any] = {}
    for name in LLMSpan.__struct_fields__:
        if name not in _OWN and getattr(keep, name) in (None, (), {}) and (value := getattr(other, name)) is not None:
            changes[name] = value
    note = f"one call with span {other.span_id} ({other.name}), which recorded it too"
    return structs.replace(keep, notes=(*keep.notes, *other.notes, note)[:_MOST_NOTES], **changes)


def _content(span: LLMSpan) -> tuple[bool, bool, bool]:
    """Rank how much of a call a span recorded: the answer, the question, the tokens."""
    has_tokens = span.input_tokens is not None or span.output_tokens is not None
    return (bool(span.output_messages), bool(span.input_messages), has_tokens)
