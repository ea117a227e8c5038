"""`start_observation` makes a block of code an observation, and leaves the context as it found it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import logging
import threading
import weakref
from collections.abc import Iterator

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import StatusCode
from tracing_runtime import Recorded, recording

from pixie_otel.tracing import observation as module
from pixie_otel.tracing.observation import start_observation
from pixie_otel.tracing.observe import observe


@pytest.fixture
def recorded(caplog: pytest.LogCaptureFixture) -> Iterator[Recorded]:
    """Tracing is on, and afterwards nothing is current and nothing was logged."""
    with recording() as found:
        yield found
    assert trace.get_current_span() is trace.INVALID_SPAN
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_block_is_recorded_with_what_was_said_of_it(recorded: Recorded) -> None:
    """Input, output, kind, conversation, user and metadata are on the span, and its ids can be read."""
    with start_observation(
        input={"q": "why"}, name="answering", kind="agent", session_id="s", user_id="u", metadata={"a": 1}
    ) as observation:
        observation.set_output("because")
        observation.set_metadata({"b": [2]}, c=None)
        context = trace.get_current_span().get_span_context()
        assert observation.trace_id == f"{context.trace_id:032x}"
        assert observation.span_id == f"{context.span_id:016x}"
    assert recorded.attributes("answering") == {
        "openinference.span.kind": "AGENT",
        "session.id": "s",
        "user.id": "u",
        "input.value": '{"q":"why"}',
        "input.mime_type": "application/json",
        "output.value": "because",
        "output.mime_type": "text/plain",
        "metadata": '{"a":1,"b":[2],"c":null}',
    }


def test_little_need_be_said(recorded: Recorded) -> None:
    """Without arguments there is a chain called observation, and no input or output."""
    with start_observation():
        pass
    assert recorded.attributes("observation") == {"openinference.span.kind": "CHAIN"}


def test_a_tool_has_its_name(recorded: Recorded) -> None:
    """A tool's name and a retriever's documents are where readers look for them."""
    with start_observation(name="search", kind="tool"):
        pass
    with start_observation(name="retrieve", kind="retriever") as retrieval:
        retrieval.set_output(["one"])
    assert recorded.attributes("search")["tool.name"] == "search"
    assert recorded.attributes("retrieve")["retrieval.documents.0.document.content"] == "one"


def test_values_are_recorded_as_they_were(recorded: Recorded) -> None:
    """Later changes do not show, and the last output counts."""
    given = {"n": 1}
    with start_observation(input=given) as observation:
        given["n"] = 2
        observation.set_output("x" * 5_000_000)
        observation.set_output(given)
        given["n"] = 3
    assert recorded.input() == {"n": 1}
    assert recorded.output() == {"n": 2}
    assert "pixie.truncated" not in recorded.attributes()


def test_a_cut_value_is_named(recorded: Recorded) -> None:
    """What was too large to record whole is listed."""
    with start_observation(input="x" * 5_000_000) as observation:
        observation.set_output("y" * 5_000_000)
    assert recorded.attributes()["pixie.truncated"] == ("input.value", "output.value")


def test_children_nest_and_errors_go_through(recorded: Recorded) -> None:
    """The block's exception is the same object, recorded on the span; observed calls inside are children."""
    error = ValueError("no")

    def fail() -> None:
        with start_observation(name="outer"):
            observe(name="inner")(int)("1")
            raise error

    with pytest.raises(ValueError, match="no") as raised:
        fail()
    assert raised.value is error
    assert recorded.parent("inner") == "outer"
    assert recorded.span("outer").status.status_code is StatusCode.ERROR


def test_async_blocks(recorded: Recorded) -> None:
    """`async with` does the same, each task by itself."""

    async def answer(name: str) -> None:
        async with start_observation(name=name) as observation:
            await asyncio.sleep(0)
            with start_observation(name=f"{name} inner"):
                await asyncio.sleep(0)
            observation.set_output(name)

    async def run() -> None:
        await asyncio.gather(answer("a"), answer("b"))

    asyncio.run(run())
    assert recorded.parent("a inner") == "a"
    assert recorded.parent("b inner") == "b"
    assert recorded.output("a") == "a"


def test_nothing_happens_while_tracing_is_off() -> None:
    """Before `init`, the block runs, and there are no ids."""
    with start_observation(input=1, metadata={"a": 1}) as observation:
        observation.set_output(2)
        observation.set_metadata(b=2)
        assert observation.trace_id is None
        assert observation.span_id is None


def test_a_task_that_outlives_the_block_stays_below_it(recorded: Recorded) -> None:
    """What a task of the block's observes after the block's end is the block's child, every time."""

    async def linger(ended: asyncio.Event) -> None:
        await ended.wait()
        before = otel_context.get_current()
        for name in ("first", "second"):
            with start_observation(name=name):
                pass
            assert otel_context.get_current() is before

    async def main() -> None:
        ended = asyncio.Event()
        with start_observation(name="block"):
            task = asyncio.create_task(linger(ended))
            await asyncio.sleep(0)
        ended.set()
        await task

    asyncio.run(main())
    assert recorded.parent("first") == recorded.parent("second") == "block"


def test_a_block_is_freed_with_its_end(recorded: Recorded) -> None:
    """Nothing of an observation waits for the collector of cycles."""
    gc.collect()
    gc.disable()
    try:
        with start_observation():
            span = weakref.ref(trace.get_current_span())
        assert recorded.names == ["observation"]
        assert span() is None
    finally:
        gc.enable()


def test_blocks_may_end_in_another_order(recorded: Recorded) -> None:
    """Blocks of interleaved generators end in any order, and none of them stays the current one."""

    def block(name: str) -> Iterator[None]:
        with start_observation(name=name):
            yield

    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)):
        blocks = [block(name) for name in "abc"]
        for one in blocks:
            next(one)
        for number in order:
            assert next(blocks[number], "ended") == "ended"
        assert trace.get_current_span() is trace.INVALID_SPAN
    assert len(recorded.spans) == 12


def test_a_block_may_end_in_another_context(recorded: Recorded) -> None:
    """A block that begins in one context and ends in a copy of it, or in a thread, logs nothing and ends once."""
    first = start_observation(name="first")
    context = contextvars.copy_context()
    context.run(first.__enter__)
    first.__exit__(None, None, None)
    second = start_observation(name="second")
    second.__enter__()
    copied = contextvars.copy_context()
    copied.run(second.__exit__, None, None, None)
    assert copied.run(trace.get_current_span) is trace.INVALID_SPAN
    thread = threading.Thread(target=second.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    assert recorded.names == ["first", "second"]
    contextvars.copy_context().run(lambda: None)
    module.otel_context.attach(module.Context())


def test_a_context_manager_keeps_its_block_current(recorded: Recorded) -> None:
    """A block opened in a `contextlib.contextmanager` is current in the code that uses it."""

    @contextlib.contextmanager
    def managed() -> Iterator[None]:
        with start_observation(name="managed"):
            yield

    with managed(), start_observation(name="inside"):
        pass
    assert recorded.parent("inside") == "managed"


def test_a_block_inside_an_observed_generator_is_not_current_outside(recorded: Recorded) -> None:
    """While the generator waits, its caller's observations are no children of the block's."""

    @observe
    def producing() -> Iterator[int]:
        with start_observation(name="block"):
            yield 1
            with start_observation(name="below"):
                yield 2

    stream = producing()
    next(stream)
    with start_observation(name="outside"):
        next(stream)
    stream.close()  # type: ignore[attr-defined] # it is a generator
    assert recorded.parent("outside") is None
    assert recorded.parent("below") == "block"
    assert recorded.parent("block") == "producing"


def test_wrong_words_never_stop_the_application(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kind that there is not, a name that is no text and metadata that is no mapping are warnings at most."""
    monkeypatch.setattr("pixie_otel.diagnostics._last", {})
    with recording() as found:
        observation = start_observation(name=None, kind=7, metadata=3)  # type: ignore[arg-type] # that is what is tried
        with observation:
            pass
        with observation:
            pass
        assert found.attributes("NoneType") == {"openinference.span.kind": "CHAIN"}
    assert "there is no observation of the kind <int>" in caplog.text
    assert "an observation is of one block" in caplog.text


@pytest.mark.parametrize("name", ["current", "start_span", "_Place", "plain_value", "encode_arguments", "text_of"])
def test_a_fault_of_ours_stays_ours(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Whatever fails inside, the block runs, and its exception goes through."""

    def fault(*args: object, **kwargs: object) -> None:
        raise RuntimeError(name)

    def block() -> None:
        with start_observation(input=1, metadata={"a": 1}) as observation:
            observation.set_output(1)
            observation.set_metadata(a=1)
            raise KeyError

    with recording():
        monkeypatch.setattr(module, name, fault)
        with pytest.raises(KeyError):
            block()
    assert trace.get_current_span() is trace.INVALID_SPAN
