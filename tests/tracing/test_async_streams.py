"""Async generators, coroutines and the streams of async clients come back unconsumed, and are recorded as they end."""

from __future__ import annotations

import asyncio
import collections.abc
import inspect
import types
from collections.abc import AsyncIterator, Generator
from typing import Any

import pytest
import wrapt
from example_streams import AsyncClient, Client, letters
from opentelemetry.trace import StatusCode
from tracing_runtime import Recorded

from pixie_otel.tracing.observe import observe
from pixie_otel.tracing.streams import end_open_streams
from pixie_otel.tracing.wrap import wrap

pytestmark = pytest.mark.usefixtures("nothing_logged")


def test_an_async_generator_comes_back_as_one(recorded: Recorded) -> None:
    """A wrapped async generator keeps `asend`, `athrow` and `aclose`, and records what flowed."""

    async def echoing() -> AsyncIterator[Any]:
        try:
            sent = yield "first"
            yield sent
        except KeyError:
            yield "handled"

    async def run() -> None:
        wrapped: Any = wrap(echoing(), purpose="output", name="echoing")
        assert isinstance(wrapped, types.AsyncGeneratorType)
        assert inspect.isasyncgen(wrapped)
        assert not isinstance(wrapped, collections.abc.Iterable)
        assert aiter(wrapped) is wrapped
        assert await anext(wrapped) == "first"
        assert await wrapped.asend("sent") == "sent"
        assert await wrapped.athrow(KeyError("thrown")) == "handled"
        assert recorded.spans == []
        await wrapped.aclose()
        assert await anext(wrapped, "default") == "default"

    asyncio.run(run())
    assert recorded.output() == "firstsenthandled"


def test_an_async_generator_left_early_ends_quietly(recorded: Recorded) -> None:
    """`break` out of a stream, in another task than the one that began it, logs nothing and ends the span."""

    async def run() -> None:
        stream: Any = wrap(letters(), purpose="output", name="letters")
        assert await asyncio.create_task(anext_of(stream)) == "a"
        async for letter in stream:
            assert letter == "b"
            break
        await asyncio.create_task(stream.aclose())

    async def anext_of(stream: Any) -> Any:
        return await anext(stream)

    asyncio.run(run())
    assert recorded.output() == "ab"


def test_an_async_generator_dropped_in_the_loop_ends_quietly(recorded: Recorded) -> None:
    """The event loop closes what was abandoned, and the span has ended before."""

    async def run() -> None:
        async for letter in wrap(letters(), purpose="output", name="letters"):
            assert letter == "a"
            break
        assert recorded.output() == "a"

    asyncio.run(run())
    assert recorded.names == ["letters"]


def test_async_siblings_do_not_land_under_a_suspended_generator(recorded: Recorded) -> None:
    """Between two items of an async generator, the consumer's span is the current one."""
    tracer = recorded.provider.get_tracer("app")

    @observe
    async def producing() -> AsyncIterator[int]:
        for number in range(2):
            with tracer.start_as_current_span(f"inner {number}"):
                await asyncio.sleep(0)
                yield number

    async def run() -> None:
        with tracer.start_as_current_span("outer"):
            async for number in producing():
                with tracer.start_as_current_span(f"sibling {number}"):
                    await asyncio.sleep(0)

    asyncio.run(run())
    assert recorded.parent("sibling 0") == recorded.parent("sibling 1") == "outer"
    assert recorded.parent("inner 0") == recorded.parent("inner 1") == "producing"


def test_a_coroutine_comes_back_as_one(recorded: Recorded) -> None:
    """A wrapped coroutine can be awaited, made a task, and gives the same object."""
    result = object()

    async def answering() -> object:
        await asyncio.sleep(0)
        return result

    async def run() -> None:
        wrapped: Any = wrap(answering(), purpose="output", name="awaited")
        assert inspect.iscoroutine(wrapped)
        assert asyncio.iscoroutine(wrapped)
        assert await wrapped is result
        assert await asyncio.create_task(wrap(answering(), purpose="output", name="task")) is result  # type: ignore[arg-type] # it is one
        given_up: Any = wrap(answering(), purpose="output", name="closed")
        given_up.close()

    asyncio.run(run())
    assert recorded.names == ["awaited", "task", "closed"]


def test_a_stream_out_of_a_coroutine_is_followed(recorded: Recorded) -> None:
    """Where awaiting gives a stream, the span stays open until that one ends."""

    @observe
    async def streaming() -> Any:
        await asyncio.sleep(0)
        return AsyncClient(["x", "y"])

    async def run() -> None:
        stream = await streaming()
        assert isinstance(stream, AsyncClient)
        async with stream as entered:
            assert entered is stream
            assert [item async for item in stream] == ["x", "y"]
            assert recorded.names in ([], ["streaming"])
        assert stream.closed

    asyncio.run(run())
    assert recorded.output() == "xy"


def test_an_instrumentations_own_stream_is_followed(recorded: Recorded) -> None:
    """A proxy that is both an iterator and an async one, as OpenInference's, is what it is around."""

    class Instrumented(wrapt.ObjectProxy):  # type: ignore[misc] # no types
        def __iter__(self) -> Any:
            return self

        def __next__(self) -> Any:
            return self.__wrapped__.__next__()

        def __aiter__(self) -> Any:
            return self

        async def __anext__(self) -> Any:
            return await self.__wrapped__.__anext__()

    inner = observe(name="inner")(lambda: Instrumented(Client(["x", "y"])))
    outer = observe(name="outer")(lambda *_: inner())
    later = observe(name="later")(lambda: Instrumented(letters()))
    stream = outer()
    assert isinstance(stream, Client)
    assert list(stream) == ["x", "y"]
    assert recorded.output("inner") == recorded.output("outer") == "xy"

    async def run() -> list[str]:
        return [letter async for letter in later()]

    assert asyncio.run(run()) == ["a", "b", "c"]
    assert recorded.output("later") == "abc"


def test_the_streams_of_openai_are_followed(recorded: Recorded) -> None:
    """The client's own stream classes keep their type and methods, and their chunks are the output."""
    openai = pytest.importorskip("openai")
    httpx = pytest.importorskip("httpx")
    body = b'data: {"id": "1"}\n\ndata: {"id": "2"}\n\ndata: [DONE]\n\n'
    request = httpx.Request("POST", "http://127.0.0.1/v1")

    def create() -> Any:
        client = openai.OpenAI(api_key="none")
        return openai.Stream(cast_to=dict, response=httpx.Response(200, content=body, request=request), client=client)

    with observe(name="sync")(create)() as stream:
        assert isinstance(stream, openai.Stream)
        assert stream.response.status_code == 200
        assert [chunk["id"] for chunk in stream] == ["1", "2"]
    assert recorded.output("sync") == [{"id": "1"}, {"id": "2"}]

    async def create_later() -> Any:
        client = openai.AsyncOpenAI(api_key="none")
        response = httpx.Response(200, content=body, request=request)
        return openai.AsyncStream(cast_to=dict, response=response, client=client)

    async def run() -> None:
        stream = await observe(name="async")(create_later)()
        assert isinstance(stream, openai.AsyncStream)
        assert [chunk["id"] async for chunk in stream] == ["1", "2"]
        await stream.close()

    asyncio.run(run())
    assert recorded.output("async") == [{"id": "1"}, {"id": "2"}]


def test_a_clients_stream_is_closed_with_a_coroutine(recorded: Recorded) -> None:
    """An async `close` ends the span once it has been awaited."""

    async def run() -> None:
        stream = wrap(AsyncClient(["x"]), purpose="output", name="client")
        assert await anext(stream) == "x"  # type: ignore[call-overload] # it iterates with a generator of its own
        closing = stream.close()
        assert recorded.spans == []
        await closing
        assert stream.closed

    asyncio.run(run())
    assert recorded.output() == "x"


def test_waiting_for_an_item_can_be_given_up_and_tried_again(recorded: Recorded) -> None:
    """A step of a client's stream that was cancelled does not end the span."""

    class Queue:
        def __init__(self) -> None:
            self.items: asyncio.Queue[str] = asyncio.Queue()

        def __aiter__(self) -> Queue:
            return self

        async def __anext__(self) -> str:
            return await self.items.get()

    async def run() -> None:
        queue = Queue()
        stream = wrap(queue, purpose="output", name="queue")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(stream), 0.001)
        assert recorded.spans == []
        queue.items.put_nowait("item")
        assert await anext(stream) == "item"
        end_open_streams()

    asyncio.run(run())
    assert recorded.output() == "item"
    assert recorded.span().status.status_code is StatusCode.UNSET


def test_waiting_that_was_given_up_for_good_is_an_error(recorded: Recorded) -> None:
    """A client's stream whose last step was cancelled ends as cancelled."""

    class Silent:
        def __aiter__(self) -> Silent:
            return self

        async def __anext__(self) -> str:
            return await asyncio.Event().wait() and "never"

    async def run() -> None:
        stream = wrap(Silent(), purpose="output", name="silent")
        step = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        step.cancel()
        await asyncio.wait([step])

    asyncio.run(run())
    end_open_streams()
    assert recorded.span("silent").status.status_code is StatusCode.ERROR


def test_a_cancelled_stream_is_an_error(recorded: Recorded) -> None:
    """Cancelling a task in the middle of a step reaches the generator and the caller, and is recorded."""

    async def waiting() -> AsyncIterator[int]:
        yield 1
        await asyncio.Event().wait()

    async def consume(started: asyncio.Event) -> None:
        async for _ in wrap(waiting(), purpose="output", name="waiting"):
            started.set()

    async def run() -> None:
        started = asyncio.Event()
        task = asyncio.create_task(consume(started))
        await started.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    span = recorded.span("waiting")
    assert recorded.output() == [1]
    assert span.status.status_code is StatusCode.ERROR
    assert recorded.attributes()["error.type"] == "asyncio.exceptions.CancelledError"


def test_a_future_comes_back_as_itself(recorded: Recorded) -> None:
    """A task is not stood in for; its result is recorded when there is one."""

    async def answering() -> str:
        return "answer"

    async def run() -> None:
        task = asyncio.ensure_future(answering())
        assert wrap(task, purpose="output", name="task") is task
        cancelled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        wrap(cancelled, purpose="output", name="cancelled")
        cancelled.cancel()
        assert await task == "answer"
        await asyncio.sleep(0)

    asyncio.run(run())
    assert recorded.output("task") == "answer"
    assert recorded.span("cancelled").status.status_code is StatusCode.ERROR


def test_a_generator_based_coroutine_can_be_awaited(recorded: Recorded) -> None:
    """What `types.coroutine` makes is awaitable, wrapped or not."""

    @types.coroutine
    def old_style() -> Generator[Any, Any, str]:
        yield from asyncio.sleep(0).__await__()
        return "old"

    async def run() -> str:
        return await wrap(old_style(), purpose="output", name="old")

    assert asyncio.run(run()) == "old"
    assert recorded.output() == "old"
