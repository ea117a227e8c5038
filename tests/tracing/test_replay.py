"""Evaluation mode: recorded inputs by name, in order, for one context."""

from __future__ import annotations

import asyncio
import contextvars
import pickle
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry.context import Context, attach, detach
from opentelemetry.instrumentation.threading import ThreadingInstrumentor
from tracing_runtime import recording

from pixie_otel.errors import WrapRegistryMissError
from pixie_otel.evaluable import NamedData
from pixie_otel.tracing.replay import active, replay_inputs
from pixie_otel.tracing.wrap import wrap


def fetch(name: str) -> str:
    """Reach for the outside world, which no test may."""
    raise AssertionError(name)


def test_the_recorded_value_takes_the_place_of_the_real_one() -> None:
    """Only inputs are replaced, and only inside."""
    with replay_inputs({"question": "recorded"}):
        assert wrap("real", purpose="input", name="question") == "recorded"
        assert wrap("real", purpose="output", name="question") == "real"
        assert wrap("real", purpose="state", name="other") == "real"
    assert wrap("real", purpose="input", name="question") == "real"
    assert active() is None


def test_a_name_has_its_values_in_order_and_the_last_one_repeats() -> None:
    """Every name counts for itself."""
    values = [NamedData("a", 1), NamedData("b", "x"), NamedData("a", 2)]
    with replay_inputs(values):
        assert [wrap(0, purpose="input", name="a") for _ in range(4)] == [1, 2, 2, 2]
        assert [wrap("", purpose="input", name="b") for _ in range(2)] == ["x", "x"]


def test_a_callable_is_not_called() -> None:
    """Its result is the recorded value, also where it was wrapped before."""
    wrapped = wrap(fetch, purpose="input", name="page")
    with replay_inputs({"page": "recorded"}):
        assert wrapped("url") == "recorded"
        assert wrap(fetch, purpose="input", name="page")("url") == "recorded"
    with pytest.raises(AssertionError):
        wrapped("url")


def test_a_name_that_is_not_there_is_an_error() -> None:
    """The message says what there is; for a callable it comes with the call."""
    with replay_inputs({"question": "recorded"}):
        wrapped = wrap(fetch, purpose="input", name="page")
        with pytest.raises(WrapRegistryMissError, match="no recorded value has this name; there are 'question'"):
            wrap("real", purpose="input", name="quesiton")
        with pytest.raises(WrapRegistryMissError) as missed:
            wrapped("url")
    assert isinstance(missed.value, KeyError)
    assert pickle.loads(pickle.dumps(missed.value)).known == ("question",)
    with replay_inputs([]), pytest.raises(WrapRegistryMissError, match="none at all"):
        wrap("real", purpose="input", name="question")


def test_values_are_copies() -> None:
    """What the application does to a replayed value does not show in the next, nor in the values given."""
    values: Any = {"items": [1]}
    with replay_inputs(values):
        values["items"].append(2)
        first = wrap([], purpose="input", name="items")
        first.append(3)
        assert wrap([], purpose="input", name="items") == [1]


def test_what_is_no_json_is_refused() -> None:
    """A value that JSON cannot hold is an error when it is given, not when it is asked for."""
    cycle: list[Any] = []
    cycle.append(cycle)
    for value in (object(), cycle, {1, 2}):
        with pytest.raises(TypeError, match="the value of 'value' is no JSON"):
            replay_inputs({"value": value})  # type: ignore[dict-item] # that is what is tried


def test_inner_inputs_hide_the_outer_ones() -> None:
    """Evaluations inside one another do not mix."""
    with replay_inputs({"a": 1}):
        with replay_inputs({"b": 2}):
            assert wrap(0, purpose="input", name="b") == 2
            with pytest.raises(WrapRegistryMissError):
                wrap(0, purpose="input", name="a")
        assert wrap(0, purpose="input", name="a") == 1


def test_contexts_keep_apart_and_tasks_share_theirs() -> None:
    """Concurrent evaluations see their own values; what one of them starts shares its order."""

    async def take() -> int:
        await asyncio.sleep(0)
        return wrap(0, purpose="input", name="n")

    async def evaluate(values: list[int]) -> list[int]:
        with replay_inputs([NamedData("n", value) for value in values]):
            return sorted(await asyncio.gather(take(), take(), asyncio.to_thread(wrap, 0, purpose="input", name="n")))

    async def run() -> list[list[int]]:
        return await asyncio.gather(evaluate([1, 2, 3]), evaluate([4, 5, 6]))

    assert asyncio.run(run()) == [[1, 2, 3], [4, 5, 6]]


def test_threads_take_each_value_once() -> None:
    """Many threads that ask at once get all the values between them."""
    count = 200
    taken: list[int] = []

    def take() -> None:
        for _ in range(count // 4):
            taken.append(wrap(-1, purpose="input", name="n"))  # noqa: PERF401 - each is to be seen at once

    with replay_inputs([NamedData("n", number) for number in range(count)]):
        threads = [threading.Thread(target=contextvars.copy_context().run, args=(take,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(taken) == list(range(count))


def test_threads_and_pools_that_are_used_within_replay_too() -> None:
    """What a block starts, whatever it runs in, gets the block's values; what follows the block gets the real ones."""

    def ask() -> int:
        return wrap(0, purpose="input", name="n")

    async def in_executor() -> int:
        return await asyncio.get_running_loop().run_in_executor(None, ask)

    found: list[int] = []
    with replay_inputs({"n": 1}), ThreadPoolExecutor(1) as pool:
        thread = threading.Thread(target=lambda: found.append(ask()))
        thread.start()
        thread.join()
        found += [pool.submit(ask).result(), asyncio.run(in_executor())]
        with replay_inputs({"n": 2}):
            found.append(pool.submit(ask).result())
        found.append(pool.submit(ask).result())
    thread = threading.Thread(target=lambda: found.append(ask()))
    thread.start()
    thread.join()

    assert found == [1, 1, 1, 2, 1, 0]
    assert not ThreadingInstrumentor().is_instrumented_by_opentelemetry


def test_a_server_that_begins_with_an_empty_context_replays() -> None:
    """Frameworks attach a context of their own for each request; the values are there all the same."""
    with replay_inputs({"n": 1}):
        token = attach(Context())
        assert wrap(0, purpose="input", name="n") == 1
        detach(token)
    assert wrap(0, purpose="input", name="n") == 0


def test_leaving_in_another_context_is_no_error() -> None:
    """A test runner's fixture may be left in another context than it was entered in."""
    entered = replay_inputs({"a": 1})
    contextvars.copy_context().run(entered.__enter__)
    entered.__exit__(None, None, None)
    assert active() is None


def test_streams_are_replayed_as_streams() -> None:
    """A generator, an async generator and a coroutine come in the form that the application has them in."""

    async def real() -> AsyncIterator[str]:
        raise AssertionError
        yield ""

    async def answering() -> str:
        raise AssertionError

    async def run() -> None:
        with replay_inputs({"numbers": [1, 2], "text": "whole", "letters": ["a", "b"], "answer": "recorded"}):
            numbers = wrap(iter([0]), purpose="input", name="numbers")
            assert next(numbers) == 1
            assert list(numbers) == [2]
            assert list(wrap(iter(["real"]), purpose="input", name="text")) == ["whole"]
            assert [letter async for letter in wrap(real(), purpose="input", name="letters")] == ["a", "b"]
            assert await wrap(answering(), purpose="input", name="answer") == "recorded"

    asyncio.run(run())


def test_what_is_replayed_is_recorded() -> None:
    """With tracing on, a replayed value is on the span like a real one, and an error too."""

    def flow() -> Iterator[str]:
        raise AssertionError
        yield ""

    with recording() as found, replay_inputs({"question": "recorded", "page": "text", "flow": ["a", "b"]}):
        wrap("real", purpose="input", name="question")
        wrapped = wrap(fetch, purpose="input", name="page")
        assert wrapped("url") == "text"
        assert list(wrap(flow, purpose="input", name="flow")()) == ["a", "b"]
        with pytest.raises(WrapRegistryMissError):
            wrap(fetch, purpose="input", name="missing")("url")
        assert found.input("question") == "recorded"
        assert found.input("page") == {"name": "url"}
        assert found.output("page") == "text"
        assert found.output("flow") == "ab"
        assert found.span("missing").events[0].name == "exception"
