"""Streams come back unconsumed with their whole protocol, and what flowed is recorded when they end."""

from __future__ import annotations

import asyncio
import collections.abc
import contextlib
import contextvars
import copy
import csv
import gc
import inspect
import io
import itertools
import logging
import os
import pickle
import sqlite3
import threading
import types
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any, Self

import pytest
import wrapt
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.trace import StatusCode
from tracing_runtime import Recorded, recording

from pixie_otel.tracing.observe import observe
from pixie_otel.tracing.streams import end_open_streams
from pixie_otel.tracing.wrap import wrap


@pytest.fixture(autouse=True)
def _silent(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is logged in any of these tests; above all not "Failed to detach context"."""
    with caplog.at_level(logging.WARNING):
        yield
    assert caplog.records == []


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """Tracing is on."""
    with recording() as found:
        yield found


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


# --- what passes for what ---


def test_a_generator_comes_back_as_one(recorded: Recorded) -> None:
    """A wrapped generator is a generator to everything that asks, with its attributes."""
    generator = counted()
    wrapped = wrap(generator, purpose="state", name="numbers")
    assert isinstance(wrapped, types.GeneratorType)
    assert inspect.isgenerator(wrapped)
    assert isinstance(wrapped, collections.abc.Generator)
    assert not isinstance(wrapped, collections.abc.Sized | collections.abc.Awaitable)
    assert not hasattr(wrapped, "__len__")
    assert wrapped.gi_frame is generator.gi_frame
    assert wrapped.__name__ == "counted"
    assert inspect.getgeneratorstate(wrapped) == "GEN_CREATED"
    assert repr(wrapped) == repr(generator)
    assert wrapped == generator
    assert hash(wrapped) == hash(generator)
    assert recorded.spans == []


def test_send_and_return_values_go_through(recorded: Recorded) -> None:
    """What is sent arrives, and the generator's result is what `yield from` gives."""
    wrapped = wrap(counted(), purpose="state", name="numbers")

    def outer() -> Generator[int, str, str]:
        return (yield from wrapped)

    driver = outer()
    assert next(driver) == 1
    assert driver.send("sent") == 2
    with pytest.raises(StopIteration) as stopped:
        next(driver)
    assert stopped.value.value == "result"
    assert recorded.output("numbers") == [1, 2]
    assert recorded.span().status.status_code is StatusCode.UNSET


def test_a_generator_takes_what_is_thrown_into_it(recorded: Recorded) -> None:
    """An exception thrown in can be handled inside, and what is given then is recorded too."""

    def handling() -> Iterator[str]:
        try:
            yield "before"
        except KeyError:
            yield "handled"

    wrapped: Any = wrap(handling(), purpose="output", name="handling")
    assert next(wrapped) == "before"
    assert wrapped.throw(KeyError("thrown")) == "handled"
    assert list(wrapped) == []
    assert recorded.output() == "beforehandled"


def test_the_exception_of_a_stream_is_its_own(recorded: Recorded) -> None:
    """What a generator raises is the same object, with a traceback that ends where it was raised."""
    error = ValueError("broken")

    def failing() -> Iterator[int]:
        yield 1
        raise error

    wrapped = wrap(failing(), purpose="output", name="failing")
    assert next(wrapped) == 1
    with pytest.raises(ValueError, match="broken") as raised:
        next(wrapped)
    assert raised.value is error
    assert raised.value.__context__ is None
    assert raised.traceback[-1].name == "failing"
    span = recorded.span()
    assert recorded.output() == [1]
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "ValueError: broken"
    assert [event.name for event in span.events] == ["exception"]


@pytest.mark.parametrize(
    ("make", "items"),
    [
        (lambda: iter([1, 2]), [1, 2]),
        (lambda: map(str, [1, 2]), ["1", "2"]),
        (lambda: zip("ab", [1, 2], strict=True), [("a", 1), ("b", 2)]),
        (lambda: itertools.chain([1], [2]), [1, 2]),
        (lambda: csv.reader(["a,b", "c,d"]), [["a", "b"], ["c", "d"]]),
        (lambda: enumerate("ab"), [(0, "a"), (1, "b")]),
        (lambda: reversed([1, 2]), [2, 1]),
        (lambda: (number for number in (1, 2)), [1, 2]),
    ],
)
def test_iterators_of_every_kind_flow(recorded: Recorded, make: Any, items: list[Any]) -> None:
    """Builtin iterators keep their class and give all they had."""
    plain = make()
    wrapped = wrap(plain, purpose="state", name="items")
    assert isinstance(wrapped, type(plain))
    assert iter(wrapped) is wrapped
    assert list(wrapped) == items
    assert list(wrapped) == []
    assert recorded.span().attributes is not None


def test_a_stream_can_be_split_and_copied_as_before(recorded: Recorded) -> None:
    """`itertools.tee` works on a wrapped generator, and a list's iterator can still be copied and pickled."""
    first, second = itertools.tee(wrap(counted(), purpose="state", name="split"))
    assert list(first) == list(second) == [1, 2]
    iterator = wrap(iter([1, 2, 3]), purpose="state", name="copied")
    assert next(iterator) == 1
    assert list(copy.copy(iterator)) == [2, 3]
    assert list(pickle.loads(pickle.dumps(iterator))) == [2, 3]
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(wrap(counted(), purpose="state", name="not pickled"))


def test_files_and_iterables_are_plain_values(recorded: Recorded) -> None:
    """A file, a range and a list come back as themselves, and nothing is read from them."""
    for value in (io.StringIO("line\n"), io.BytesIO(b"line\n"), range(3), [1], {"a": 1}, {"a": 1}.keys()):
        assert wrap(value, purpose="state", name="plain") is value
    with open(__file__, encoding="utf-8") as file:  # noqa: PTH123 - a file as `open` gives it is what is tried
        assert wrap(file, purpose="state", name="plain") is file
        assert file.tell() == 0
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        cursor = database.execute("select 1")
        assert observe(lambda: cursor)() is cursor
        assert cursor.fetchall() == [(1,)]


@given(st.lists(st.text() | st.integers() | st.none()), st.integers(0, 5))
def test_whatever_flows_arrives(items: list[Any], taken: int) -> None:
    """Any items arrive as the same objects in order, however many are taken before the stream is closed."""
    with recording() as found:
        wrapped: Any = wrap((item for item in items), purpose="output", name="items")
        arrived = list(itertools.islice(wrapped, taken))
        assert all(one is other for one, other in zip(arrived, items, strict=False))
        assert len(arrived) == min(taken, len(items))
        wrapped.close()
        assert found.names == ["items"]


# --- how a stream ends ---


def test_a_closed_stream_ends_with_what_flowed(recorded: Recorded) -> None:
    """Closing a generator runs its clean-up and ends the span, without an error."""
    cleaned = []

    def cleaning() -> Iterator[str]:
        try:
            yield "one"
            yield "two"
        finally:
            cleaned.append(True)

    wrapped: Any = wrap(cleaning(), purpose="output", name="cleaning")
    assert next(wrapped) == "one"
    assert recorded.spans == []
    wrapped.close()
    assert cleaned == [True]
    assert recorded.output() == "one"
    assert recorded.span().status.status_code is StatusCode.UNSET


def test_an_abandoned_stream_ends_when_nobody_holds_it(recorded: Recorded) -> None:
    """A generator that is dropped in the middle ends its span at once."""
    wrapped = wrap(counted(), purpose="state", name="dropped")
    assert next(wrapped) == 1
    del wrapped
    assert recorded.output("dropped") == [1]


def test_a_stream_in_a_cycle_ends_outside_the_collector(recorded: Recorded) -> None:
    """What the garbage collector finds is ended by the next span, as ending takes locks that may be held."""
    holder: dict[str, Any] = {"stream": wrap(counted(), purpose="state", name="cyclic")}
    holder["self"] = holder
    assert next(holder["stream"]) == 1
    del holder
    gc.collect()
    assert recorded.spans == []
    wrap("value", purpose="state", name="next")
    assert recorded.names == ["cyclic", "next"]
    cyclic, following = recorded.spans
    assert cyclic.end_time is not None
    assert following.start_time is not None
    assert cyclic.end_time <= following.start_time


def test_the_end_of_the_process_ends_open_streams(recorded: Recorded) -> None:
    """`end_open_streams` ends the spans with what flowed; the streams go on for whoever still reads them."""
    wrapped = wrap(counted(), purpose="state", name="open")
    assert next(wrapped) == 1
    end_open_streams()
    assert recorded.output() == [1]
    assert list(wrapped) == [2]
    del wrapped
    assert recorded.names == ["open"]


def test_a_stream_that_was_never_read_is_recorded_as_empty(recorded: Recorded) -> None:
    """No item is an empty list, not a missing output."""
    wrap(counted(), purpose="state", name="unread")
    assert recorded.output() == []


def test_a_long_stream_is_recorded_up_to_a_bound(recorded: Recorded) -> None:
    """Items beyond the bound flow on, are counted, and the output says so."""
    total = 100_000
    assert sum(1 for _ in wrap(iter(range(total)), purpose="state", name="long")) == total
    output = recorded.output()
    kept = len(output) - 1
    assert output[:kept] == list(range(kept))
    assert output[-1] == f"… ({total - kept:,} more items)"
    assert recorded.attributes()["pixie.truncated"] == ("output.value",)


def test_a_long_text_is_joined_up_to_a_bound(recorded: Recorded) -> None:
    """Pieces of text become one text, bounded too."""
    pieces = ["x" * 1000] * 10_000
    assert list(wrap(iter(pieces), purpose="output", name="text")) == pieces
    assert len(recorded.output()) < 3_000_000
    assert recorded.attributes()["pixie.truncated"] == ("output.value",)


def test_mixed_items_are_a_list(recorded: Recorded) -> None:
    """Where not all items are texts, the output is a list of them as they were when they flowed."""
    item = {"n": 1}
    for given_item in wrap(iter(["a", item, None]), purpose="output", name="mixed"):
        if given_item is item:
            item["n"] = 2
    item["n"] = 3
    assert recorded.output() == ["a", {"n": 1}, None]


# --- contexts ---


def test_siblings_do_not_land_under_a_suspended_generator(recorded: Recorded) -> None:
    """While a generator waits, its span is not the current one; inside a step it is."""
    tracer = recorded.provider.get_tracer("app")

    @observe
    def producing() -> Iterator[str]:
        for name in ("inner one", "inner two"):
            with tracer.start_as_current_span(name):
                pass
            yield name

    with tracer.start_as_current_span("outer"):
        stream = producing()
        next(stream)
        with tracer.start_as_current_span("sibling"):
            pass
        next(stream)
        assert list(stream) == []
    assert recorded.parent("sibling") == "outer"
    assert recorded.parent("inner one") == recorded.parent("inner two") == "producing"
    assert recorded.parent("producing") == "outer"


def test_what_a_generator_made_current_stays_its_own(recorded: Recorded) -> None:
    """A span that the generator's own code holds open over a `yield` is current inside, and nowhere else."""
    tracer = recorded.provider.get_tracer("app")

    @observe
    def holding() -> Iterator[int]:
        with tracer.start_as_current_span("held"):
            yield 1
            with tracer.start_as_current_span("below held"):
                pass
            yield 2
        with tracer.start_as_current_span("after held"):
            pass

    stream = holding()
    assert next(stream) == 1
    with tracer.start_as_current_span("outside"):
        pass
    assert next(stream) == 2
    assert list(stream) == []
    assert trace.get_current_span() is trace.INVALID_SPAN
    assert recorded.parent("outside") is None
    assert recorded.parent("below held") == "held"
    assert recorded.parent("held") == recorded.parent("after held") == "holding"


def test_interleaved_generators_keep_apart(recorded: Recorded) -> None:
    """Two generators read in turns, and closed in the order in which they began, have their own children only."""
    tracer = recorded.provider.get_tracer("app")

    @observe
    def producing(label: str) -> Iterator[int]:
        for number in range(3):
            with tracer.start_as_current_span(f"{label}{number}"):
                yield number

    one = producing("a")
    two = observe(name="second")(producing.__wrapped__)("b")  # type: ignore[attr-defined] # as functools.wraps leaves it
    for _ in range(2):
        next(one), next(two)
    one.close()
    two.close()
    assert trace.get_current_span() is trace.INVALID_SPAN
    assert recorded.parent("a1") == "producing"
    assert recorded.parent("b1") == "second"


def test_a_generator_may_be_closed_in_another_context(recorded: Recorded) -> None:
    """Steps in a copy of the context, in a thread, and a close elsewhere leave every context as it was."""
    wrapped: Any = wrap(counted(), purpose="state", name="wandering")
    assert next(wrapped) == 1
    assert contextvars.copy_context().run(next, wrapped) == 2
    thread = threading.Thread(target=wrapped.close)
    thread.start()
    thread.join()
    assert trace.get_current_span() is trace.INVALID_SPAN
    assert recorded.output() == [1, 2]


def test_a_context_manager_of_an_observed_generator(recorded: Recorded) -> None:
    """`contextlib.contextmanager` takes an observed generator function, and exceptions pass through it."""
    seen = []

    @contextlib.contextmanager
    @observe
    def managed() -> Iterator[str]:
        try:
            yield "resource"
        except ValueError as error:
            seen.append(error)
            raise

    with managed() as resource:
        assert resource == "resource"
    error = ValueError("inside")
    with pytest.raises(ValueError, match="inside") as raised, managed():
        raise error
    assert raised.value is error
    assert seen == [error]
    assert [span.status.status_code for span in recorded.spans] == [StatusCode.UNSET, StatusCode.ERROR]


def test_an_async_context_manager_of_an_observed_generator(recorded: Recorded) -> None:
    """The same for `contextlib.asynccontextmanager`."""

    @contextlib.asynccontextmanager
    @observe
    async def managed() -> AsyncIterator[str]:
        yield "resource"

    async def use() -> None:
        async with managed() as resource:
            assert resource == "resource"
            raise KeyError

    with pytest.raises(KeyError):
        asyncio.run(use())
    assert recorded.span("managed").status.status_code is StatusCode.ERROR


def test_a_forked_process_leaves_open_streams_to_its_parent(recorded: Recorded) -> None:
    """In the child, a stream that was open goes on and ends no span; in the parent it does."""
    wrapped = wrap(counted(), purpose="state", name="forked")
    assert next(wrapped) == 1
    child = os.fork()
    if child == 0:
        os._exit(0 if list(wrapped) == [2] and recorded.spans == [] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert list(wrapped) == [2]
    assert recorded.output() == [1, 2]


# --- async ---


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


def test_a_clients_stream_keeps_its_methods(recorded: Recorded) -> None:
    """A class-based stream can be read step by step or by its own generator, entered, closed and asked for anything."""
    stream = Client(["x", "y", "z"])
    wrapped = wrap(stream, purpose="output", name="client")
    assert isinstance(wrapped, Client)
    assert wrapped.response == "response"
    with wrapped as entered:
        assert entered is wrapped
        assert next(wrapped) == "x"
        assert next(iter(wrapped)) == "y"
        wrapped.response = "set"
    assert stream.response == "set"
    assert stream.closed
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


def test_content_that_is_not_wanted_is_not_kept() -> None:
    """Without content, a stream flows as ever and its span has no output."""
    with recording(capture_content=False) as found:
        assert list(wrap(iter("abc"), purpose="output", name="secret")) == ["a", "b", "c"]
        assert "output.value" not in found.attributes("secret")


def test_a_stream_comes_back_as_it_is_while_tracing_is_off() -> None:
    """Before `init`, a stream is not stood in for."""
    generator = counted()
    assert wrap(generator, purpose="state", name="numbers") is generator
