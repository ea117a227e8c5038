"""Who used an app and in which session, under the names by which applications tell their instrumentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue

__all__ = ["SESSION_NAMES", "USER_NAMES", "first_identity", "identity"]

SESSION_NAMES: Final = (
    "session_id",
    keys.SESSION_ID,
    "sessionId",
    "thread_id",
    "threadId",
    "conversation_id",
    "conversationId",
    "chat_id",
    "chatId",
)
"""What applications call a session in the metadata that they give, the plainest name first."""
USER_NAMES: Final = ("user_id", keys.USER_ID, "userId")
"""What they call a user."""
_NOBODY: Final = ("", "null", "None", "undefined")
_SCRUBBED: Final = "[Scrubbed due to "
"""How Logfire begins what it puts in the place of a value that may be secret."""


def identity(value: JsonValue) -> str | None:
    """Give an id as text, those that are numbers too; ``None`` for anything else.

    Args:
        value: What stands where an id belongs.
    """
    if type(value) is int:
        return str(value)
    return None if not isinstance(value, str) or value in _NOBODY or value.startswith(_SCRUBBED) else value


def first_identity(found: Mapping[str, JsonValue] | None, names: Iterable[str]) -> str | None:
    """Give the first id under one of some names.

    Args:
        found: Attributes or metadata; ``None`` where there are none.
        names: The names, in order.
    """
    if not found or found.keys().isdisjoint(names):
        return None
    return next((said for name in names if (said := identity(found.get(name))) is not None), None)
