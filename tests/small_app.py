"""A small application that uses every public call, to be run with and without instrumentation."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

from pixie_otel.tracing.observation import start_observation
from pixie_otel.tracing.observe import observe
from pixie_otel.tracing.wrap import wrap

__all__ = ["NONE", "OURS", "PURPOSES", "App", "AppError", "Public"]

PURPOSES: Final = ("input", "output", "state")


class AppError(Exception):
    """What the application raises."""


@dataclass(frozen=True, slots=True)
class Public:
    """The public calls, or what takes their place where there are none."""

    wrap: Any
    observe: Any
    start_observation: Any


class NoObservation:
    """A block that nobody observes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Leave."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Leave."""

    def set_output(self, value: object) -> None:
        """Do nothing."""

    def set_metadata(self, *values: object, **named: object) -> None:
        """Do nothing."""


OURS: Final = Public(wrap, observe, start_observation)
NONE: Final = Public(
    lambda data, **_settings: data,
    lambda function=None, **_settings: (lambda decorated: decorated) if function is None else function,
    lambda **_settings: NoObservation(),
)


def outcome(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Give what a call gives, or what it raises, in a form that can be compared."""
    try:
        return call(*args, **kwargs)
    except BaseException as error:  # noqa: BLE001 - whatever the application raises
        return type(error), error.args


class App:
    """An application that uses every public call; decorated when it is made, used when it runs."""

    def __init__(self, public: Public) -> None:  # noqa: C901 - the functions of an application, one after the other
        self.public = public
        observe = public.observe

        @observe
        def answer(question: str, *, times: int = 1) -> dict[str, Any]:
            return {"answer": question * times}

        @observe(kind="tool", name="failing", session_id="s", user_id="u", metadata={"a": [1]})
        def failing(value: Any) -> None:
            raise AppError(value)

        @observe(kind="retriever", capture_input=False)
        async def search(query: str) -> list[str]:
            await asyncio.sleep(0)
            return [query, query]

        @observe
        async def failing_later() -> None:
            await asyncio.sleep(0)
            raise AppError("later")

        @observe
        def numbers(stop: int) -> Iterator[int]:
            got = 0
            for number in range(stop):
                got = yield number + (got or 0)
            return "returned"

        @observe
        async def later_numbers(stop: int) -> AsyncIterator[int]:
            for number in range(stop):
                await asyncio.sleep(0)
                yield number
            if stop > 2:
                raise AppError("too many")

        class Service:
            @observe
            def method(self, value: Any) -> Any:
                return value, type(self).__name__

            @observe
            @classmethod
            def of_class(cls, value: Any) -> Any:
                return value, cls.__name__

            @staticmethod
            @observe
            def of_nobody(value: Any) -> Any:
                return value

        self.answer, self.failing, self.search, self.failing_later = answer, failing, search, failing_later
        self.numbers, self.later_numbers, self.service = numbers, later_numbers, Service()

    def run(self, midway: Callable[[], None]) -> list[Any]:
        """Use everything once.

        Args:
            midway: Is called while streams, observations and calls are under way.

        Returns:
            All that was seen: results, errors, items.
        """
        seen: list[Any] = []
        stream = outcome(self.numbers, 4)
        seen.append(outcome(next, stream))
        block = self.public.start_observation(input={"a": 1}, name="block", metadata={"b": 2})
        with block:
            block.set_output([1])
            midway()
            seen.append(outcome(self.answer, "yes", times=2))
            block.set_metadata({"c": 3}, d=4)
        seen += [outcome(stream.send, 10), outcome(list, stream), outcome(next, stream)]
        seen += self._plain()
        seen += self._wrapped()
        return seen + asyncio.run(self._later())

    def _plain(self) -> list[Any]:
        closed = self.numbers(3)
        next(closed)
        thrown = self.numbers(3)
        next(thrown)
        return [
            outcome(self.answer, 3),
            outcome(self.answer, wrong=1),
            outcome(self.failing, {"a": 1}),
            outcome(self.service.method, 1),
            outcome(type(self.service).of_class, 2),
            outcome(self.service.of_nobody, value=3),
            outcome(closed.close),
            outcome(next, closed),
            outcome(thrown.throw, AppError("thrown")),
            outcome(delegating, self.numbers(2)),
            outcome(self._failing_block),
        ]

    def _failing_block(self) -> None:
        with self.public.start_observation(kind="agent") as block:
            block.set_output("no")
            raise AppError("in the block")

    def _wrapped(self) -> list[Any]:
        seen: list[Any] = []
        value = {"a": [1, object]}
        for purpose in PURPOSES:
            wrapped = functools.partial(self.public.wrap, purpose=purpose, name="a name", description="what it is")
            seen += [wrapped(value) is value, wrapped("text"), wrapped(None), list(wrapped(iter([1, 2])))]
            seen += [list(wrapped(number for number in range(3))), outcome(wrapped(max), 1, 2)]
            seen += [outcome(wrapped(int), "x"), outcome(wrapped(functools.partial(pow, 2)), 3)]
            seen += [outcome(wrapped(lambda items: (item for item in items)), "ab").__next__()]
        return seen

    async def _later(self) -> list[Any]:
        seen: list[Any] = []

        async def tried(awaitable: Any) -> None:
            try:
                seen.append(await awaitable)
            except Exception as error:  # noqa: BLE001 - whatever the application raises
                seen.append((type(error), error.args))

        async def drained(stream: Any) -> list[Any]:
            items: list[Any] = []
            try:
                async for item in stream:
                    items.append(item)  # noqa: PERF401 - the items before an error count
            except AppError as error:
                items.append(error.args)
            return items

        await tried(self.search("q"))
        await tried(asyncio.gather(self.search("a"), self.search("b")))
        await tried(asyncio.wait_for(self.search("c"), 5))
        await tried(self.failing_later())
        await tried(drained(self.later_numbers(2)))
        await tried(drained(self.later_numbers(3)))
        half = self.later_numbers(2)
        await tried(half.__anext__())
        await tried(half.aclose())
        await tried(drained(self.public.wrap(self.later_numbers(2), purpose="output", name="stream")))
        await tried(self.public.wrap(self.search, purpose="input", name="search")("d"))
        await tried(self.public.wrap(self.search("e"), purpose="state", name="coroutine"))
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_result, "f")
        await tried(self.public.wrap(future, purpose="state", name="future"))
        async with self.public.start_observation(input=1) as block:
            await tried(self.search("g"))
            block.set_output(2)
        return seen


def delegating(stream: Any) -> list[Any]:
    """Run a generator that hands everything on to another one."""

    def outer() -> Iterator[Any]:
        result = yield from stream
        yield result

    return list(outer())
