"""Colours for outcomes, and for nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

__all__ = ["Look", "Style"]

Look: TypeAlias = Literal["good", "bad", "doubtful", "quiet", "title"]

_CODES: Final[dict[Look, str]] = {"good": "32", "bad": "31", "doubtful": "33", "quiet": "2", "title": "1"}


@dataclass(frozen=True, slots=True)
class Style:
    """Whether to colour, and how.

    Attributes:
        color: Whether escape sequences may be used at all.
    """

    color: bool = False

    def paint(self, text: str, *looks: Look) -> str:
        """Give a text a look.

        Args:
            text: The text, already made printable.
            looks: What it shall look like.
        """
        if not self.color or not looks:
            return text
        return f"\x1b[{';'.join(_CODES[look] for look in looks)}m{text}\x1b[0m"
