"""Text from traces made fit for a terminal: what would steer it, or be invisible, is written as an escape."""

from __future__ import annotations

import unicodedata
from typing import Final

__all__ = ["printable"]

_BLANK_LETTERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that Unicode counts as letters or marks, and that show nothing."""


def printable(text: str, *, keep: str = "") -> str:
    r"""Write what a terminal would obey, hide or choke on as a Python escape, such as ``\x1b`` or ``\u202e``.

    That is control characters, bidirectional overrides, zero-width characters, line separators and half surrogate
    pairs. Spaces of any width stay.

    Args:
        text: Any text.
        keep: Control characters that stay, such as a newline.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in keep or _is_shown(char) else _escaped(char) for char in text)


def _is_shown(char: str) -> bool:
    if char.isprintable():
        return char not in _BLANK_LETTERS
    return unicodedata.category(char) == "Zs"


def _escaped(char: str) -> str:
    code = ord(char)
    if char in "\n\t\r":
        return {"\n": r"\n", "\t": r"\t", "\r": r"\r"}[char]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
