"""Calls of the command in this process, for tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Done", "Pixie"]


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a call."""

    code: int
    out: str
    err: str


Pixie: TypeAlias = Callable[..., Done]
"""Calls the command with some arguments; the fixture `pixie` is one."""
