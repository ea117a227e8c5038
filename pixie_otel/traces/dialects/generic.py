"""What any span may say whatever its dialect: session, user, and plain ``input``, ``output`` and ``metadata``."""

from __future__ import annotations

from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import decoded, first_text, json_mapping, text

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "generic"
ROOTS: Final = frozenset({"session", "user", "enduser", "input", "output", "metadata"})
"""The first segments of the keys that this dialect reads."""

_INPUT: Final = "input"
_OUTPUT: Final = "output"
_SESSION_NAMES: Final = ("session_id", "thread_id", "conversation_id")
_USER_NAMES: Final = ("user_id",)


def read(span: SpanFacts) -> Reading | None:
    """Read what needs no dialect.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of the keys is there.
    """
    attributes = span.attributes
    given, given_back = _value(attributes.get(_INPUT)), _value(attributes.get(_OUTPUT))
    metadata = json_mapping(attributes.get(keys.METADATA))
    session_id = text(attributes.get(keys.SESSION_ID)) or first_text(metadata, _SESSION_NAMES)
    user_id = (
        text(attributes.get(keys.USER_ID)) or text(attributes.get(keys.ENDUSER_ID)) or first_text(metadata, _USER_NAMES)
    )
    if given is None and given_back is None and session_id is None and user_id is None:
        return None
    return Reading(input=given, output=given_back, session_id=session_id, user_id=user_id)


def _value(value: JsonValue) -> JsonValue:
    """Decode a value; nothing is often written as JSON."""
    return None if value == "null" else decoded(value)
