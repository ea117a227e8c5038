"""A stream holds no context between its steps, wherever they are taken."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from example_streams import counted
from opentelemetry import trace
from opentelemetry.trace import StatusCode
from tracing_runtime import Recorded

from pixie_otel.tracing.observe import observe
from pixie_otel.tracing.wrap import wrap

pytestmark = pytest.mark.usefixtures("nothing_logged")


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
