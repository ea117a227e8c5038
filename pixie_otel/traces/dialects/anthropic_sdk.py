"""Anthropic's own SDK, which makes spans itself: OpenTelemetry's GenAI attributes, and some of its own.

Source: anthropic 2.14 and later, scope ``com.anthropic.sdk.python``.
"""

from __future__ import annotations

from typing import Final

from pixie_otel.attributes import anthropic_sdk as keys
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.toolcalls import tool_result
from pixie_otel.traces.dialects.values import text

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "anthropic_sdk"
ROOTS: Final = frozenset({"anthropic"})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_CUT: Final = "content was cut by the producer (ANTHROPIC_OPEN_TELEMETRY_TRACES_MAX_CONTENT_BYTES)"


def read(span: SpanFacts) -> Reading | None:
    """Read what Anthropic's SDK says beside the GenAI conventions.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where it says nothing that counts.
    """
    attributes = span.attributes
    reason = text(attributes.get(keys.STOP_REASON))
    result = tool_result(attributes.get(keys.TOOL_RESULT_CONTENT))
    is_cut = attributes.get(keys.CONTENT_TRUNCATED) is True
    if reason is None and result is None and not is_cut:
        return None
    return Reading(
        raw_finish_reasons=None if reason is None else (reason,),
        output=result,
        result=result,
        notes=(_CUT,) if is_cut else (),
    )
