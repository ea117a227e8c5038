"""What any span may say whatever its dialect: session, user, and plain ``input`` and ``output`` attributes."""

from __future__ import annotations

from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import decoded, text

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "generic"
ROOTS: Final = frozenset({"session", "user", "enduser", "input", "output"})
"""The first segments of the keys that this dialect reads."""

_INPUT: Final = "input"
_OUTPUT: Final = "output"


def read(span: SpanFacts) -> Reading | None:
    """Read what needs no dialect.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of the keys is there.
    """
    attributes = span.attributes
    given, given_back = decoded(attributes.get(_INPUT)), decoded(attributes.get(_OUTPUT))
    session_id = text(attributes.get(keys.SESSION_ID))
    user_id = text(attributes.get(keys.USER_ID)) or text(attributes.get(keys.ENDUSER_ID))
    if given is None and given_back is None and session_id is None and user_id is None:
        return None
    return Reading(input=given, output=given_back, session_id=session_id, user_id=user_id)
