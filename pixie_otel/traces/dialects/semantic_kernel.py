"""Microsoft's Semantic Kernel: what its functions are called, and which of them are tools.

Source: semantic-kernel 1.45 (Python). Everything else that its spans hold is under OpenTelemetry's GenAI keys. A tool
is a function of a plugin, and its name is both, with a hyphen between them, which may stand in neither. A function that
no model called for, a prompt say, is no tool. No attribute tells who made the span, so here the scope's name does.
"""

from __future__ import annotations

from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import decoded, text
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "semantic_kernel"
ROOTS: Final = frozenset({"semantic_kernel"})
"""The first segment of the scopes whose spans this dialect reads."""

_SCOPE: Final = "semantic_kernel."


def read(span: SpanFacts) -> Reading | None:
    """Read which function ran.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where no function ran.
    """
    attributes = span.attributes
    name = text(attributes.get(keys.GENAI_TOOL_NAME))
    if name is None or not span.scope.name.startswith(_SCOPE):
        return None
    if keys.GENAI_TOOL_CALL_ID not in attributes:
        return Reading(
            kind=ObservationKind.CHAIN,
            input=decoded(attributes.get(keys.GENAI_TOOL_CALL_ARGUMENTS)),
            output=decoded(attributes.get(keys.GENAI_TOOL_CALL_RESULT)),
        )
    plugin, _, function = name.partition("-")
    return Reading(tool_name=function, metadata={"plugin": plugin}) if plugin and function else None
