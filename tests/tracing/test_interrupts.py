"""A signal handler that raises in the middle of our own code: the exception goes through, and nothing stays current."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from opentelemetry import context as otel_context
from tracing_runtime import recording

from pixie_otel.tracing import spans
from pixie_otel.tracing.observation import start_observation
from pixie_otel.tracing.observe import observe
from pixie_otel.tracing.spans import end_unfinished
from pixie_otel.tracing.wrap import wrap

OURS = str(Path(spans.__file__).parent)
CONTEXTS = str(Path(otel_context.__file__).parent)
# The interpreter keeps what is raised in finalizers, and makes a TypeError of it where `async for` gets its awaitable.
KEPT = frozenset({"__del__", "_await"})


class Interrupter:
    """Raises `KeyboardInterrupt` at one of the moments at which the interpreter runs signal handlers.

    They are run where a function is entered, and after a call of one written in C.
    """

    def __init__(self, moment: int) -> None:
        self.left = moment

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Look at one moment."""
        if event in ("call", "c_return") and _is_ours(frame):
            self.left -= 1
            if self.left == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt


def _is_ours(frame: FrameType) -> bool:
    """Say whether a frame is ours, or OpenTelemetry's context called by us."""
    if frame.f_code.co_name == "__exit__":  # it has to be entered before it can do anything
        return False
    caller: FrameType | None = frame
    while caller is not None and caller.f_code.co_filename.startswith(CONTEXTS):
        caller = caller.f_back
    if caller is None or not caller.f_code.co_filename.startswith(OURS):
        return False
    while caller is not None and caller.f_code.co_name not in KEPT:
        caller = caller.f_back
    return caller is None


@observe
def answer(question: str) -> list[str]:
    """Answer."""
    return [question]


@observe
def refuse(question: str) -> None:
    """Refuse."""
    raise ValueError(question)


@observe
async def answer_later(question: str) -> str:
    """Answer."""
    return question


@observe
async def refuse_later(question: str) -> None:
    """Refuse."""
    raise ValueError(question)


@observe
def count() -> Generator[int]:
    """Count."""
    yield 1
    with start_observation(name="between"):
        yield 2


@observe
async def count_later() -> AsyncIterator[int]:
    """Count."""
    yield 1


def run(coroutine: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine that waits for nothing."""
    with contextlib.closing(coroutine), contextlib.suppress(StopIteration, StopAsyncIteration):
        coroutine.send(None)


def refused() -> None:
    """Refuse, and go on."""
    with contextlib.suppress(ValueError):
        refuse("a")
    with contextlib.suppress(ValueError):
        run(refuse_later("a"))


def closed() -> None:
    """Close a stream in the middle of it."""
    stream = count()
    next(stream)
    next(stream)
    stream.close()


def block() -> None:
    """Observe a block."""
    with start_observation(name="block", input=1) as observation:
        observation.set_output(2)


async def items() -> None:
    """Read an async stream."""
    assert [item async for item in count_later()] == [1]


@pytest.mark.parametrize(
    "action",
    [
        lambda: answer("a"),
        lambda: run(answer_later("a")),
        refused,
        lambda: list(count()),
        closed,
        lambda: run(items()),
        lambda: wrap(answer.__wrapped__, purpose="state", name="callable")("a"),  # type: ignore[attr-defined] # `functools.wraps` sets it
        lambda: wrap({"a": 1}, purpose="output", name="value"),
        lambda: next(wrap(iter([1, 2]), purpose="output", name="stream")),
        block,
    ],
)
def test_an_interrupt_goes_through_and_leaves_nothing_current(action: Callable[[], object]) -> None:
    """At every moment at which a signal handler can raise within our code."""
    with recording():
        action()
        moments = 0
        while True:
            before = otel_context.get_current()
            interrupter = Interrupter(moments + 1)
            sys.setprofile(interrupter)
            try:
                action()
            except KeyboardInterrupt:
                assert interrupter.left == 0
            else:
                assert interrupter.left > 0, "the interrupt was lost"
                break
            finally:
                sys.setprofile(None)
                end_unfinished()
            moments += 1
            assert otel_context.get_current() is before
    assert moments > 10


def test_the_collector_has_no_moment_for_an_interrupt() -> None:
    """A signal handler does not run in what we have the collector call, as what it raised would be dropped."""
    with recording():
        gc.collect()  # what others left may be ended now
        interrupter = Interrupter(1)
        sys.setprofile(interrupter)
        try:
            gc.collect()
        finally:
            sys.setprofile(None)
    assert interrupter.left == 1
