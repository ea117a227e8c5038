"""Spans around several calls, and what only they know of these."""

from __future__ import annotations

import pytest
from checked_traces import agent, llm, says, user
from counted_calls import BROKE, beside, calls, ids, rules, wrapper
from msgspec import structs

from pixie_otel.traces.findings import TraceFindings
from pixie_otel.traces.repeats import Rule
from pixie_otel.traces.spans import LLMSpan
from pixie_otel.traces.trace import Trace


def streamed_steps(*tokens: tuple[int | None, int | None], **around: object) -> list[LLMSpan]:
    """Make a generation's span around steps in a row, whose tokens may not have been recorded."""
    known = {"input_tokens": 155, "output_tokens": 29, "cost": 0.5, "finish_reasons": ("stop",), "response_id": "r2"}
    content = {"parent": "00000000000000b0", "input_messages": (user("?"),)}
    steps = [
        llm(f"00000000000000c{at}", says("step"), input_tokens=given, output_tokens=made, **content)
        for at, (given, made) in enumerate(tokens, 1)
    ]
    return [wrapper(**{"output_messages": (), **known, **around}), *steps]


@pytest.mark.parametrize(
    ("tokens", "used"),
    [
        ([(None, None), (None, None)], (155, 29, 0.5)),
        ([(60, 17), (None, None)], (155, 29, 0.5)),
        ([(60, None), (95, None)], (155, 29, 0.5)),
        ([(60, 17), (95, 12)], (155, 29, 0.5)),
        ([(60, 17), (90, 11)], (150, 28, 0.5)),
        ([(100, 17), (None, None), (100, 20)], (200, 37, 0.5)),
    ],
)
def test_the_tokens_of_a_sum_are_not_lost(
    tokens: list[tuple[int | None, int | None]], used: tuple[int, int, float]
) -> None:
    """Where a call in it recorded none of its own, what is left of the sum is used too; else it says nothing new."""
    trace = Trace.from_spans([agent(), *streamed_steps(*tokens)])

    assert [call.input_tokens for call in trace.llm_calls] == [given for given, _ in tokens]
    assert (trace.usage.input_tokens, trace.usage.output_tokens, trace.usage.cost) == used


def test_calls_of_which_nobody_recorded_tokens() -> None:
    """Those in a span that has the tokens of all are not among them."""
    third = llm("00000000000000c9", says("hi"), input_messages=(user("?"),))
    for around, silent in (
        ({}, [third]),
        ({"input_tokens": None}, [third]),
        ({"input_tokens": None, "output_tokens": None}, None),
    ):
        trace = Trace.from_spans([agent(), *streamed_steps((None, None), (None, None), **around), third])

        assert trace.calls_without_tokens == (trace.llm_calls if silent is None else silent)
        (found,) = [problem for problem in TraceFindings(trace).problems() if problem.kind == "no-tokens"]
        assert found.message.startswith("3 " if silent is None else "model call 'chat' 00000000000000c9 ")


def test_a_sum_in_a_sum_is_counted_once() -> None:
    """The outer one holds what the inner one does."""
    outer = llm("00000000000000a9", input_tokens=200, output_tokens=None)
    inner, *steps = streamed_steps((None, None), (None, None), parent="00000000000000a9")
    third = llm("00000000000000c9", parent="00000000000000a9")
    usage = Trace.from_spans([agent(), outer, inner, *steps, third]).usage

    assert (usage.input_tokens, usage.output_tokens) == (200, 29)


def test_a_sum_of_calls_that_others_recorded_too() -> None:
    """What another instrumentation knows of a call is not counted again from the sum, whichever of its spans counts."""
    for said in ((), (says("hi"),)):
        step = {"parent": "00000000000000b0", "input_tokens": None, "answers": said}
        spans = [
            beside("00000000000000b0", "framework", 0, 30, answers=(), input_messages=(), input_tokens=155),
            beside("00000000000000c1", "framework", 1, 9, **step, output_tokens=None),
            beside("00000000000000c2", "framework", 11, 19, **step),
            beside("00000000000000d1", "openai", 2, 8, input_tokens=60),
            beside("00000000000000d2", "openai", 12, 18, input_tokens=95),
        ]
        trace = Trace.from_spans([agent(), *spans])

        assert [call.input_tokens for call in trace.llm_calls] == [60, 95]
        assert trace.usage.input_tokens == 155


def test_the_last_call_in_a_sum_ended_as_the_sum_did() -> None:
    """Its reason and its answer's id, where only the span around recorded them, and the note says so."""
    first, last = calls(*streamed_steps((None, None), (None, None)))

    assert (first.finish_reasons, first.response_id) == ((), None)
    assert (last.finish_reasons, last.response_id) == (("stop",), "r2")
    assert "the last call in span 00000000000000b0" in last.notes[0]


def test_calls_that_ended_in_their_own_way() -> None:
    """Not where they ran at the same time, failed together, or the last one said something else."""
    around, first, last = streamed_steps((None, None), (None, None))
    for changed in (
        [around, structs.replace(first, end_time_unix_nano=last.start_time_unix_nano + 1), last],
        [structs.replace(around, error=BROKE), first, last],
        [
            structs.replace(around, output_messages=(says("a"),)),
            first,
            structs.replace(last, output_messages=(says("b"),)),
        ],
    ):
        assert [call.finish_reasons for call in calls(*changed)] == [(), ()]
    assert calls(around, first, structs.replace(last, finish_reasons=("length",)))[-1].finish_reasons == ("length",)


def test_a_sum_around_agents_is_no_call() -> None:
    """A generation's span with the tokens of all steps below its agents and tools counts the steps."""
    steps = [
        step
        for at in (1, 2)
        for step in (agent(f"00000000000000c{at}", "00000000000000b0"), within_agent(at, input_tokens=5 * at))
    ]

    assert ids(llm("00000000000000b0", input_tokens=15, output_tokens=4), *steps) == ["d1", "d2"]
    assert rules(llm("00000000000000b0", input_tokens=15, output_tokens=4), *steps) == [("b0", Rule.SUM, None)]


def test_a_call_around_agents_that_is_no_sum_counts() -> None:
    """Its tokens are its own, as is a call's around a single one."""
    steps = [agent("00000000000000c1", "00000000000000b0"), within_agent(1)]
    more = [agent("00000000000000c2", "00000000000000b0"), within_agent(2)]

    assert ids(llm("00000000000000b0", input_tokens=11, output_tokens=4), *steps, *more) == ["b0", "d1", "d2"]
    assert ids(llm("00000000000000b0", input_tokens=5, output_tokens=2), *steps) == ["b0", "d1"]


def within_agent(number: int, **fields: object) -> LLMSpan:
    """Make a call below the agent of the same number."""
    known = {"input_tokens": 5, "output_tokens": 2, **fields}
    return llm(f"00000000000000d{number}", says("x"), parent=f"00000000000000c{number}", **known)


def test_a_call_without_tokens_is_no_sum() -> None:
    """Zero is not the sum of what nobody counted."""
    steps = [
        step
        for at in (1, 2)
        for step in (
            agent(f"00000000000000c{at}", "00000000000000b0"),
            within_agent(at, input_tokens=None, output_tokens=None),
        )
    ]

    assert ids(llm("00000000000000b0", input_tokens=0, output_tokens=0), *steps) == ["b0", "d1", "d2"]
