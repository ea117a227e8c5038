"""Streams as applications have them: generators, and the classes of clients."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Self

__all__ = ["AsyncClient", "Client", "counted", "letters"]


def counted() -> Generator[int, str, str]:
    """Give two numbers and a result, and take what is sent."""
    sent = yield 1
    assert sent in (None, "sent")
    yield 2
    return "result"


async def letters() -> AsyncIterator[str]:
    """Give three letters, with time between them."""
    for letter in "abc":
        await asyncio.sleep(0)
        yield letter


class Client:
    """A client's stream, as OpenAI's: an iterator that iterates with a generator of its own, and can be closed."""

    def __init__(self, items: list[str]) -> None:
        self.response = "response"
        self.closed = False
        self._iterator = iter(items)

    def __next__(self) -> str:
        return self._iterator.__next__()

    def __iter__(self) -> Iterator[str]:
        yield from self._iterator

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.closed = True


class AsyncClient:
    """The same for async code."""

    def __init__(self, items: list[str]) -> None:
        self.closed = False
        self._items = iter(items)

    async def __anext__(self) -> str:
        await asyncio.sleep(0)
        for item in self._items:
            return item
        raise StopAsyncIteration

    async def __aiter__(self) -> AsyncIterator[str]:
        for item in self._items:
            yield item

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection."""
        await asyncio.sleep(0)
        self.closed = True
