"""One call, or one run, of two recordings: the one that recorded more, completed from the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from msgspec import structs

from pixie_otel.traces.dialects.call_ids import identified, lacks_ids
from pixie_otel.traces.dialects.plain import answer
from pixie_otel.traces.repeats import REASONS, Rule
from pixie_otel.traces.spans import LLMSpan, ObserveSpan

__all__ = ["answered", "completed", "ended_as", "joined", "richer", "with_gaps_filled"]

_OWN: Final = frozenset({"trace_id", "span_id", "parent_span_id", "name", "notes", "attributes", "events", "dialects"})
"""What a merged call keeps of the span that counts."""
_EMPTY: Final[tuple[object, ...]] = (None, (), {}, "")
_OF_ENDS: Final = ("finish_reasons", "response_id", "response_model")
_MOST_NOTES: Final = 16
"""Wrappers are nested in each other a few deep; a chain of thousands must not copy its notes at every level."""


_SpanT = TypeVar("_SpanT", bound=ObserveSpan)


def richer(outer: LLMSpan, inner: LLMSpan) -> tuple[LLMSpan, LLMSpan]:
    """Give the two with the one that recorded more of the call first: the answer, the question, the tokens.

    Args:
        outer: What is around the other; it comes first where both recorded as much.
        inner: What is in it.
    """
    return (outer, inner) if _content(outer) >= _content(inner) else (inner, outer)


def completed(kept: LLMSpan, other: LLMSpan, rule: Rule, inner: LLMSpan | None = None) -> LLMSpan:
    """Give a call with what only the other recording of it knows, and a note that says so.

    Args:
        kept: The one that counts.
        other: The other one.
        rule: Why they are the same call.
        inner: Which of the two is nearer to the provider, and so knows best what was used; by default the other one.
    """
    changes = _gaps(kept, other, (name for name in LLMSpan.__struct_fields__ if name not in _OWN))
    # The messages count, not one instrumentation's dump of them.
    for messages, value in (("input_messages", "input"), ("output_messages", "output")):
        if messages in changes:
            changes[value] = getattr(other, value)
    if lacks_ids(kept.output_messages):
        named = identified(kept.output_messages, other.output_messages)
        changes |= {"output_messages": named, "output": answer(named)}
    changes |= _usage(*((other, kept) if inner is kept else (kept, other)))
    place = "" if other.trace_id == kept.trace_id else f" of trace {other.trace_id}"
    note = f"one call with span {other.span_id} ({other.name}){place}, which recorded it too: {rule}, {REASONS[rule]}"
    return structs.replace(kept, notes=(*kept.notes, *other.notes, note)[:_MOST_NOTES], **changes)


def answered(call: LLMSpan, answer: LLMSpan) -> LLMSpan:
    """Give a streamed call with the answer that was recorded when the stream had ended, which is when the call ended.

    Args:
        call: The call, recorded before its answer came.
        answer: The answer.
    """
    whole = completed(call, answer, Rule.STREAM_ANSWER)
    end = max(call.end_time_unix_nano, answer.end_time_unix_nano)
    return structs.replace(whole, end_time_unix_nano=end)


def ended_as(call: LLMSpan, around: LLMSpan) -> LLMSpan:
    """Give the last of several calls with how they ended, where only the span around them recorded that.

    Args:
        call: The call.
        around: The span.
    """
    changes = _gaps(call, around, _OF_ENDS)
    if not changes:
        return call
    note = f"the last call in span {around.span_id} ({around.name}), which alone recorded how it ended"
    return structs.replace(call, notes=(*call.notes, note)[:_MOST_NOTES], **changes)


def joined(call: LLMSpan, others: Iterable[tuple[LLMSpan, Rule]]) -> LLMSpan:
    """Give a call with what recordings of it in other traces know.

    Args:
        call: The call.
        others: The other recordings, and why they are of the same call.
    """
    for other, rule in others:
        call = completed(call, other, rule)
    return call


def with_gaps_filled(kept: _SpanT, other: _SpanT) -> _SpanT:
    """Give a span with what only the other recording of the same run knows.

    Args:
        kept: The one that counts.
        other: The other one.
    """
    changes = _gaps(kept, other, (name for name in kept.__struct_fields__ if name not in _OWN))
    return structs.replace(kept, **changes) if changes else kept


def _gaps(kept: ObserveSpan, other: ObserveSpan, names: Iterable[str]) -> dict[str, Any]:
    return {
        name: value for name in names if getattr(kept, name) in _EMPTY and (value := getattr(other, name)) not in _EMPTY
    }


def _usage(outer: LLMSpan, inner: LLMSpan) -> dict[str, int]:
    """Give the tokens where two recordings of a call differ: what is around the provider may have counted by itself."""
    if None in (outer.input_tokens, outer.output_tokens) or inner.input_tokens is None or inner.output_tokens is None:
        return {}
    spans = (outer, inner)
    # Some providers leave cached tokens and those of reasoning out, which whoever is around them makes good.
    is_whole_input = not any(span.cache_read_tokens or span.cache_creation_tokens for span in spans)
    is_whole_output = not any(span.reasoning_tokens for span in spans)
    return ({"input_tokens": inner.input_tokens} if is_whole_input else {}) | (
        {"output_tokens": inner.output_tokens} if is_whole_output else {}
    )


def _content(span: LLMSpan) -> tuple[bool, bool, bool]:
    """Rank how much of a call a span recorded: the answer, the question, the tokens."""
    has_tokens = span.input_tokens is not None or span.output_tokens is not None
    return (bool(span.output_messages), bool(span.input_messages), has_tokens)
