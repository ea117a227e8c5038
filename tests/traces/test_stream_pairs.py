"""Streamed calls whose answer is a span of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from checked_traces import ROOT_ID, agent, llm, says, user

from pixie_otel.traces.repeats import Rule
from pixie_otel.traces.spans import LLMSpan, Scope, SpanError
from pixie_otel.traces.trace import Trace

if TYPE_CHECKING:
    from pixie_otel.evaluable import JsonValue

START = 1_700_000_000_000_000_000
SECOND = 1_000_000_000


def call(number: int, end: float, question: str = "?", **fields: object) -> LLMSpan:
    """Make the span of a call, which ends when its stream begins."""
    return made(number, 0, end, "span", **{"input_messages": (user(question),), **fields})


def answer(number: int, at: float, question: str = "?", took: JsonValue = None, **fields: object) -> LLMSpan:
    """Make the span that is written when a stream has ended, and takes no time."""
    known = {"input_messages": (user(question),), "output_messages": (says("hi"),), "input_tokens": 5, **fields}
    return made(number, at, at, "log", **{"output": "hi", **known, "took": took})


def made(number: int, start: float, end: float, kind: str, **fields: object) -> LLMSpan:
    """Make a span of Logfire."""
    took = fields.pop("took", None)
    attributes = {"logfire.span_type": kind} | ({} if took is None else {"duration": took})
    times = {
        "start_time_unix_nano": START + round(start * SECOND),
        "end_time_unix_nano": START + round(end * SECOND),
    }
    known = {"attributes": attributes, "scope": Scope("logfire.openai"), "request_model": "gpt-4o", **times}
    return llm(f"{number:016x}", **{**known, **fields})


def counted(*spans: LLMSpan) -> dict[str, float]:
    """Give the calls, each with how many seconds it took."""
    calls = Trace.from_spans([agent(), *spans]).llm_calls
    return {span.span_id[-2:]: (span.end_time_unix_nano - START) / SECOND for span in calls}


def test_a_call_and_its_answer_are_one() -> None:
    """It has what each of them knows, and ends when the stream did."""
    trace = Trace.from_spans([agent(), call(0xB0, 0.1), answer(0xB1, 0.5)])
    (found,) = trace.llm_calls

    assert (found.span_id[-2:], found.output, found.output_messages, found.input_tokens) == (
        "b0",
        "hi",
        (says("hi"),),
        5,
    )
    assert found.duration_ms == 500
    assert [(repeat.rule, repeat.span_id[-2:]) for repeat in trace.repeats] == [(Rule.STREAM_ANSWER, "b1")]


def test_equal_streams_in_a_row_are_two() -> None:
    """Each answer belongs to the call before it."""
    assert counted(call(0xB0, 0.1), answer(0xB1, 0.5), call(0xB2, 0.7), answer(0xB3, 0.9)) == {"b0": 0.5, "b2": 0.9}


def test_the_time_that_a_stream_took_tells_whose_it_is() -> None:
    """Of equal questions asked at the same time."""
    spans = (call(0xB0, 0.1), call(0xB2, 0.2), answer(0xB1, 0.5, took=0.4), answer(0xB3, 0.6, took=0.4))

    assert counted(*spans) == {"b0": 0.5, "b2": 0.6}


def test_the_same_parent_comes_first() -> None:
    """A stream may be used up elsewhere, and is mostly not."""
    below = answer(0xB3, 0.5, parent="00000000000000c0")
    spans = (call(0xB0, 0.1), agent("00000000000000c0", ROOT_ID), call(0xB2, 0.05, parent="00000000000000c0"), below)

    assert counted(*spans) == {"b0": 0.1, "b2": 0.5}
    assert counted(call(0xB0, 0.1), spans[1], below) == {"b0": 0.5}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (call(0xB0, 0.1), answer(0xB1, 0.5, "other")),
        (call(0xB0, 0.6), answer(0xB1, 0.5)),
        (call(0xB0, 0.1, request_model="o1"), answer(0xB1, 0.5)),
        (call(0xB0, 0.1, scope=Scope("logfire.anthropic")), answer(0xB1, 0.5)),
        (call(0xB0, 0.1, error=SpanError("broke")), answer(0xB1, 0.5)),
        (call(0xB0, 0.1, output="hi"), answer(0xB1, 0.5)),
        (call(0xB0, 0.1, attributes={}), answer(0xB1, 0.5)),
        (call(0xB0, 0.1), answer(0xB1, 0.5, end_time_unix_nano=START + SECOND)),
        (call(0xB0, 0.1), answer(0xB1, 0.5, attributes={"logfire.span_type": "span"})),
        (call(0xB0, 0.1), call(0xB1, 0.5)),
    ],
    ids=[
        "question",
        "ended later",
        "model",
        "scope",
        "failed",
        "answered",
        "not logfire",
        "took time",
        "span",
        "calls",
    ],
)
def test_calls_of_their_own(first: LLMSpan, second: LLMSpan) -> None:
    """Anything that does not fit keeps the two apart."""
    assert sorted(counted(first, second)) == ["b0", "b1"]


def test_odd_durations_are_no_error() -> None:
    """Anything may stand under any key."""
    for took in ("soon", [1], {"a": 1}, float("nan"), 1e300):
        assert "b0" in counted(call(0xB0, 0.1), answer(0xB1, 0.5, took=took))


def test_an_answer_with_calls_in_it_is_one_itself() -> None:
    """Nothing is lost where something odd stands in it."""
    within = llm("00000000000000c0", says("x"), parent=f"{0xB1:016x}", request_model="gpt-4o")

    assert len(counted(call(0xB0, 0.1), answer(0xB1, 0.5), within)) == 2
