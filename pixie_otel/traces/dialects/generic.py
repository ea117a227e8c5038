"""What any span may say whatever its dialect: session, user, and plain ``input``, ``output`` and ``metadata``."""

from __future__ import annotations

from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.identities import SESSION_NAMES, USER_NAMES, first_identity
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import decoded

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "generic"
_SESSION_KEYS: Final = (keys.SESSION_ID, *(name for name in SESSION_NAMES if "thread" not in name))
"""A thread may be one of the operating system's, where nothing around it says more."""
_USER_KEYS: Final = (keys.USER_ID, keys.ENDUSER_ID, *USER_NAMES)
ROOTS: Final = frozenset({"session", "user", "enduser", "input", "output", "metadata", *_SESSION_KEYS, *_USER_KEYS})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_INPUT: Final = "input"
_OUTPUT: Final = "output"
_KEYS: Final = frozenset({_INPUT, _OUTPUT, keys.METADATA, *_SESSION_KEYS, *_USER_KEYS})


def read(span: SpanFacts) -> Reading | None:
    """Read what needs no dialect.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of the keys is there.
    """
    attributes = span.attributes
    if _KEYS.isdisjoint(attributes):
        return None
    given, given_back = _value(attributes.get(_INPUT)), _value(attributes.get(_OUTPUT))
    metadata = span.json_object(keys.METADATA)
    session_id = first_identity(attributes, _SESSION_KEYS) or first_identity(metadata, SESSION_NAMES)
    user_id = first_identity(attributes, _USER_KEYS) or first_identity(metadata, USER_NAMES)
    if given is None and given_back is None and session_id is None and user_id is None:
        return None
    return Reading(input=given, output=given_back, session_id=session_id, user_id=user_id)


def _value(value: JsonValue) -> JsonValue:
    """Decode a value; nothing is often written as JSON."""
    return None if value == "null" else decoded(value)
