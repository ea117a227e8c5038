"""OpenLIT's decorator: a function's arguments as Python shows them, and what it returned as ``gen_ai.output.messages``.

Source: openlit 1.45. What its instrumentations write is read by `pixie_otel.traces.dialects.genai`.
"""

from __future__ import annotations

from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.attributes import openlit as own_keys
from pixie_otel.traces.dialects.literals import literal
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import call_arguments, decoded

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "openlit"
ROOTS: Final = frozenset({"function"})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""


def read(span: SpanFacts) -> Reading | None:
    """Read what OpenLIT's decorator says of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its keys is there.
    """
    attributes = span.attributes
    if own_keys.FUNCTION_ARGS not in attributes and own_keys.FUNCTION_KWARGS not in attributes:
        return None
    positional, named = (literal(attributes.get(key)) for key in (own_keys.FUNCTION_ARGS, own_keys.FUNCTION_KWARGS))
    return Reading(
        input=call_arguments({"args": positional or [], "kwargs": named or {}}),
        output=literal(decoded(attributes.get(keys.GENAI_OUTPUT_MESSAGES))),
    )
