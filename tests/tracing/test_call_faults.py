"""Faults of ours, and of what hangs on spans, are never the application's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from example_functions import AppError
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from tracing_runtime import recording

from pixie_otel.diagnostics import internal_errors
from pixie_otel.tracing import calls, faults, spans, stand_ins, streams
from pixie_otel.tracing import observe as observing
from pixie_otel.tracing.observe import observe
from pixie_otel.tracing.spans import end_unfinished
from pixie_otel.tracing.wrap import wrap


class Failing(SpanProcessor):
    """Somebody's span processor, which raises wherever it can."""

    def __init__(self, error: type[Exception], *, starting: bool = True, ending: bool = True) -> None:
        self.error = error
        self.starting = starting
        self.ending = ending

    def on_start(self, span: Span, parent_context: Any = None) -> None:
        """Fail."""
        if self.starting:
            raise self.error("on_start")

    def on_end(self, span: ReadableSpan) -> None:
        """Fail."""
        if self.ending:
            raise self.error("on_end")


ERRORS = [Exception, RecursionError, MemoryError, UnicodeError]


FAULTS = [
    (spans, "encode_value"),
    (spans, "encode_arguments"),
    (spans, "set_span_in_context"),
    (spans, "Status"),
    (spans, "type_name"),
    (faults, "internal_error"),
    (spans, "report"),
    (streams, "stream_kind"),
    (streams, "encode_value"),
    (calls, "begin"),
    (calls, "start_span"),
    (calls, "settle"),
    (calls, "fail"),
    (observing, "begin"),
    (observing, "settle"),
    (observing, "fail"),
    (spans.OpenSpan, "attach"),
    (spans.OpenSpan, "detach"),
    (spans.OpenSpan, "finish"),
    (spans.OpenSpan, "put_output"),
    (spans.OpenSpan, "put_arguments"),
    (spans.OpenSpan, "_end"),
    (spans.OpenSpan, "_record"),
    (stand_ins, "stand_in"),
    (stand_ins, "stream_kind"),
    (stand_ins, "_class_for"),
    (streams.Follower, "enter"),
    (streams.Follower, "leave"),
    (streams.Follower, "keep"),
    (streams.Follower, "end"),
    (streams.Follower, "__init__"),
]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(("place", "name"), FAULTS)
def test_a_fault_of_ours_stays_ours(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception], place: Any, name: str
) -> None:
    """Whatever fails inside, functions, generators and their errors behave as if nobody looked on."""
    made: list[str] = []

    def fault(*args: object, **kwargs: object) -> None:
        raise error(name)

    def answer(question: str) -> list[str]:
        made.append(question)
        return [question]

    def refuse(question: str) -> None:
        made.append(question)
        raise AppError(question)

    def items() -> Iterator[str]:
        yield "item"
        raise AppError("stream")

    async def later(question: str) -> str:
        made.append(question)
        return question

    async def letters() -> AsyncIterator[str]:
        for letter in "ab":
            yield letter

    async def run() -> list[str]:
        assert [letter async for letter in flowing_later()] == ["a", "b"]
        return [await waiting("four"), await wrapped_later("five")]

    with recording():
        observed, refused, flowing, waiting = observe(answer), observe(refuse), observe(items), observe(later)
        flowing_later = observe(letters)
        wrapped = wrap(answer, purpose="output", name="answer")
        wrapped_later = wrap(later, purpose="output", name="later")
        monkeypatch.setattr(place, name, fault)
        value = {"a": 1}
        assert wrap(value, purpose="state", name="value") is value
        assert observed("one") == ["one"]
        assert wrapped("two") == ["two"]
        with pytest.raises(AppError, match="three"):
            refused("three")
        stream = flowing()
        assert next(stream) == "item"
        with pytest.raises(AppError, match="stream"):
            next(stream)
        stream.close()
        assert asyncio.run(run()) == ["four", "five"]
        del stream
        monkeypatch.undo()
    assert made == ["one", "two", "three", "four", "five"]
    left = trace.get_current_span()
    otel_context.attach(otel_context.Context())
    end_unfinished()
    assert left is trace.INVALID_SPAN or name in {"detach", "leave"}


@pytest.mark.parametrize("error", ERRORS)
def test_a_span_processor_that_raises_is_not_the_applications_error(error: type[Exception]) -> None:
    """The application's own result and exception surface, not those of somebody's span processor."""

    @observe
    def refuse() -> None:
        raise AppError("mine")

    for processor in (Failing(error), Failing(error, starting=False), Failing(error, ending=False)):
        with recording(processors=[processor]):
            assert observe(lambda: 1)() == 1
            with pytest.raises(AppError, match="mine") as raised:
                refuse()
            assert raised.value.__context__ is None
    assert internal_errors()["ending a span"] > 0
    assert trace.get_current_span() is trace.INVALID_SPAN
