"""Functions, a class and an error as applications have them; the first two are observed where they are made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from pixie_otel.tracing.observe import observe

__all__ = ["AppError", "Point", "answer", "answer_later", "count", "count_later"]


class AppError(Exception):
    """An error of the application's."""


@observe
def answer(question: str, *, polite: bool = True) -> str:
    """Answer a question."""
    return f"{question}!" if polite else question


@observe
async def answer_later(question: str) -> str:
    """Answer a question, after a while."""
    await asyncio.sleep(0)
    return f"{question}!"


@observe
def count(up_to: int) -> Iterator[int]:
    """Count."""
    yield from range(up_to)


@observe
async def count_later(up_to: int) -> AsyncIterator[int]:
    """Count, with time between."""
    for number in range(up_to):
        await asyncio.sleep(0)
        yield number


@observe
@dataclass
class Point:
    """A class whose making is observed."""

    x: int
    y: int = 0

    @observe
    def moved(self, by: int) -> Point:
        """Give another one."""
        return Point(self.x + by, self.y)
