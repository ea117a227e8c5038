"""Around a call: called exactly once, and what it gives or raises goes through, whatever fails around it."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from example_functions import AppError
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode
from tracing_runtime import Recorded, recording

from pixie_otel.tracing import spans
from pixie_otel.tracing.observe import observe
from pixie_otel.tracing.spans import end_unfinished
from pixie_otel.tracing.wrap import wrap


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
def test_what_is_no_exception_passes(recorded: Recorded, error: type[BaseException]) -> None:
    """An interrupt out of a call goes through, and the call's span has ended."""

    @observe
    def interrupted() -> None:
        raise error

    with pytest.raises(error):
        interrupted()
    expected = StatusCode.UNSET if error is GeneratorExit else StatusCode.ERROR
    assert recorded.span("interrupted").status.status_code is expected


def test_a_call_near_the_recursion_limit_is_made(recorded: Recorded) -> None:
    """At every depth where the function itself can still be called, it is called once and its result comes back."""
    made = []

    def plain(depth: int) -> int:
        made.append(depth)
        return depth

    observed = observe(plain)
    wrapped = wrap(plain, purpose="output", name="plain")

    def descend(left: int, function: Callable[[int], int]) -> int:
        return function(left) if left == 0 else descend(left - 1, function) + 1

    room = sys.getrecursionlimit() - _depth() - 10
    for function in (observed, wrapped):
        for margin in range(60):
            made.clear()
            try:
                assert descend(room - margin, function) == room - margin
            except RecursionError:
                assert margin < 12
                assert len(made) <= 1
            else:
                assert made == [0]
            assert trace.get_current_span() is trace.INVALID_SPAN
    wrap("next", purpose="state", name="next")
    assert "plain" in recorded.names


def _depth() -> int:
    frame: Any = sys._getframe()
    depth = 0
    while frame is not None:
        depth += 1
        frame = frame.f_back
    return depth


def test_a_recursion_error_of_the_applications_is_its_own(recorded: Recorded) -> None:
    """Endless recursion through an observed function ends in a RecursionError, with every span ended."""

    @observe
    def endless(number: int) -> int:
        return endless(number + 1)

    with pytest.raises(RecursionError):
        endless(0)
    end_unfinished()
    assert len(recorded.spans) > 10
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_an_exception_that_cannot_tell_itself_goes_through(recorded: Recorded) -> None:
    """An exception whose text raises is recorded by its type."""

    class Silent(Exception):  # noqa: N818 - a name of an application's
        def __str__(self) -> str:
            raise RuntimeError("no text")

    error = Silent()

    @observe
    def refuse() -> None:
        raise error

    with pytest.raises(Silent) as raised:
        refuse()
    assert raised.value is error
    span = recorded.span("refuse")
    assert span.status.description == "Silent: <the exception has no text>"
    assert len(span.events) == 1


def test_an_endless_message_is_cut(recorded: Recorded) -> None:
    """An exception with megabytes of text is recorded with its beginning."""

    @observe
    def refuse() -> None:
        raise AppError("x" * 10_000_000)

    with pytest.raises(AppError):
        refuse()
    span = recorded.span("refuse")
    assert len(span.status.description or "") < 100_000
    assert len(str(span.events[0].attributes)) < 300_000


def test_an_exception_is_recorded_and_goes_through_unchanged(recorded: Recorded) -> None:
    """The same object surfaces, its traceback ends where it was raised, and cause and context are its own."""
    cause = KeyError("cause")
    error = AppError("effect")

    @observe
    def refuse() -> None:
        raise error from cause

    with pytest.raises(AppError) as raised:
        refuse()
    assert raised.value is error
    assert error.__cause__ is cause
    assert error.__context__ is None
    assert raised.traceback[-1].name == "refuse"
    span = recorded.span("refuse")
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "AppError: effect"
    attributes = dict(span.events[0].attributes or {})
    assert attributes["exception.message"] == "effect"
    assert "in refuse" in str(attributes["exception.stacktrace"])
    assert str(recorded.attributes()["error.type"]).endswith("AppError")


def test_the_handled_exception_is_not_seen_by_the_function(recorded: Recorded) -> None:
    """`sys.exc_info` is the caller's own inside an observed function."""
    assert observe(lambda: sys.exc_info()[0])() is None
    try:
        raise AppError("outer")  # noqa: TRY301 - that it is being handled is what counts
    except AppError:
        assert observe(lambda: sys.exc_info()[0])() is AppError


def test_calls_in_many_threads_keep_apart(recorded: Recorded) -> None:
    """Every call in a pool of threads has its own span, with its own argument and result."""
    barrier = threading.Barrier(4)

    @observe
    def meet(number: int) -> int:
        barrier.wait()
        return number * 2

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(meet, range(8))) == [number * 2 for number in range(8)]
    assert sorted(span.attributes["input.value"] for span in recorded.spans if span.attributes) == [
        f'{{"number":{number}}}' for number in range(8)
    ]


def test_concurrent_tasks_nest_each_by_itself(recorded: Recorded) -> None:
    """Calls in concurrent tasks are children of their own task's call, and cancelling one leaves the others."""

    @observe
    async def inner(label: str) -> str:
        await asyncio.sleep(0)
        return label

    @observe
    async def outer(label: str) -> str:
        return await inner(label)

    @observe
    async def waiting() -> None:
        await asyncio.Event().wait()

    async def run() -> None:
        task = asyncio.create_task(waiting())
        assert await asyncio.gather(*(outer(label) for label in "abc")) == ["a", "b", "c"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    by_id = {span.context.span_id: span for span in recorded.spans if span.context}
    for span in recorded.spans:
        if span.name == "inner":
            assert span.parent is not None
            parent = by_id[span.parent.span_id]
            assert (parent.attributes or {})["input.value"] == (span.attributes or {})["input.value"]
    assert recorded.span("waiting").status.status_code is StatusCode.ERROR


def test_arguments_are_recorded_as_they_were(recorded: Recorded) -> None:
    """What the function does to its arguments does not show in the input."""

    @observe
    def consume(items: list[int]) -> list[int]:
        items.clear()
        return items

    items = [1, 2]
    result = consume(items)
    assert result is items
    items.append(3)
    assert recorded.input() == {"items": [1, 2]}
    assert recorded.output() == []


def test_nothing_is_encoded_for_a_span_that_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a sampler that says no, values are not looked at, and children still see their parent's decision."""
    monkeypatch.setattr(spans, "encode_arguments", pytest.fail)
    monkeypatch.setattr(spans, "encode_value", pytest.fail)

    @observe
    def inner(value: int) -> int:
        return int(trace.get_current_span().get_span_context().trace_id)

    @observe
    def outer(value: int) -> int:
        assert inner(value) == trace.get_current_span().get_span_context().trace_id != 0
        return value

    with recording(sampler=ALWAYS_OFF) as found:
        assert outer(1) == 1
        assert wrap("value", purpose="state", name="value") == "value"
        assert list(wrap(iter([1]), purpose="state", name="stream")) == [1]
        assert found.spans == []


def test_suppressed_instrumentation_is_silent(recorded: Recorded) -> None:
    """Where OpenTelemetry's instrumentation is suppressed, as in exporters, calls make no spans."""
    token = otel_context.attach(
        otel_context.set_value(otel_context._SUPPRESS_INSTRUMENTATION_KEY, "yes")  # type: ignore[attr-defined] # private there
    )
    try:
        assert observe(lambda: 1)() == 1
        assert wrap("value", purpose="state", name="value") == "value"
    finally:
        otel_context.detach(token)
    assert recorded.spans == []


@given(st.lists(st.integers()), st.dictionaries(st.text(), st.integers()))
def test_any_arguments_arrive(args: list[int], kwargs: dict[str, int]) -> None:
    """Any arguments reach the function as they are, whatever they are called, wrapped or observed or both."""

    def function(*given_args: int, **given_kwargs: int) -> tuple[tuple[int, ...], dict[str, int]]:
        return given_args, given_kwargs

    with recording():
        for called in (observe(function), wrap(function, purpose="state", name="f"), observe(observe(function))):
            assert called(*args, **kwargs) == (tuple(args), kwargs)
