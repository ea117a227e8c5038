"""Words for findings: counts, short lists, and text from traces cut to fit a line."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["counted", "listed", "shortened"]


def counted(number: int, noun: str) -> str:
    """Say how many there are of something, as ``1 tool call`` or ``3 tool calls``.

    Args:
        number: How many.
        noun: One of it.
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(items: Sequence[str], most: int = 3) -> str:
    """List the first few of many, as ``a, b, c and 4 more``, each cut to fit a line.

    Args:
        items: All of them.
        most: How many to name.
    """
    shown = ", ".join(shortened(item, 200) for item in items[:most])
    return f"{shown} and {len(items) - most} more" if len(items) > most else shown


def shortened(text: str, most: int = 120) -> str:
    """Put text from a trace on one line, and cut it.

    Args:
        text: Any text.
        most: The number of characters to keep.
    """
    line = " ".join(text[: 4 * most].split())
    return f"{line[:most]}…" if len(line) > most or len(text) > 4 * most else line
