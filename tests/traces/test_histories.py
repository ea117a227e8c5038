"""What a model call was told before, as digests."""

from __future__ import annotations

from checked_traces import result, says
from told_calls import answered, call

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.histories import State, history_of
from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    OtherContent,
    ReasoningContent,
    SystemMessage,
    TextContent,
    UserMessage,
)
from pixie_otel.traces.spans import LLMSpan

WEATHER = ToolCall("get_weather", {"city": "Paris"}, "call_1")


def states_before(call: LLMSpan) -> list[State]:
    """Give what a call goes on from."""
    return list(history_of(call).before)


def states_after(call: LLMSpan) -> list[State]:
    """Give what may go on from a call."""
    return list(history_of(call).after)


def prompt(text: str) -> SystemMessage:
    """Make a system prompt."""
    return SystemMessage(content=(TextContent(text),))


def test_a_call_goes_on_from_the_one_before() -> None:
    """What was said up to an answer is the same history, whether it was answered or told."""
    (after,) = states_after(call(1, ["Hi"], "Hello"))

    assert states_before(call(2, ["Hi", answered("Hello"), "And?"], "So")) == [after]
    assert states_before(call(2, ["Hi", answered("Hello!"), "And?"], "So")) != [after]
    assert states_before(call(1, ["Hi"], "Hello")) == []


def test_the_latest_answer_comes_first() -> None:
    """A long history is looked for from its end, up to a bound."""
    told = ["a", answered("b"), "c", answered("d"), "e"]
    first, second = states_after(call(1, ["a"], "b")), states_after(call(2, told[:3], "d"))

    assert states_before(call(3, told, "f")) == [*second, *first]
    long = [item for number in range(100) for item in (f"q{number}", answered(f"a{number}"))]
    assert len(states_before(call(4, [*long, "?"], "!"))) == 64


def test_what_does_not_matter() -> None:
    """Reasoning, reasons to stop, surrounding space, ids, and in how many messages an answer was recorded."""
    told = [
        AssistantMessage(content=(ReasoningContent("hm"), TextContent(" Let me see. ")), finish_reason="tool_calls"),
        AssistantMessage(tool_calls=(WEATHER,)),
    ]
    one = call(1, ["Hi"], says("Let me see.", ToolCall("get_weather", {"city": "Paris"}, "fc_9")))
    (before,) = states_before(call(2, ["Hi", *told, result("18", "call_1")], "18."))

    assert states_after(one)[0].digest == before.digest
    assert states_after(one)[0].ids is None
    assert before.ids


def test_what_matters() -> None:
    """The service, who speaks, images and other parts, the tools' arguments and results."""
    image = UserMessage(content=(TextContent("Hi"), ImageContent("data:,a")))
    other = UserMessage(content=(TextContent("Hi"), OtherContent("file", {"a": 1})))
    calls = [
        call(1, ["Hi"], "Hello"),
        call(1, ["Hi"], "Hello", resource={"service.name": "other"}),
        call(1, [prompt("Hi")], "Hello"),
        call(1, [prompt("Ho")], "Hello"),
        call(1, [image], "Hello"),
        call(1, [UserMessage(content=(TextContent("Hi"), ImageContent("data:,b")))], "Hello"),
        call(1, [other], "Hello"),
        call(1, ["Hi"], says("Hello", WEATHER)),
        call(1, ["Hi"], says("Hello", ToolCall("get_weather", {"city": "Rome"}, "call_1"))),
        call(1, ["Hi", says("", WEATHER), result("18", "call_1")], "Hello"),
        call(1, ["Hi", says("", WEATHER), result("19", "call_1")], "Hello"),
    ]

    assert len({state.digest for one in calls for state in states_after(one)}) == len(calls)


def test_prompts_are_told_apart_from_what_was_said() -> None:
    """What a system prompt says may be different in each call of a conversation; the state knows it beside the rest."""
    states = [
        states_after(call(1, told, "Hello"))[0]
        for told in (["Hi"], [prompt("At 10:00"), "Hi"], [prompt("At 10:01"), "Hi"])
    ]

    assert len({state.digest for state in states}) == 1
    assert len({state.prompts for state in states}) == 3
    assert states[0].prompts == b""


def test_several_choices() -> None:
    """Of several answers the user may have taken any."""
    both = call(1, ["Hi"], None, output_messages=(answered("a"), answered("b")))

    for taken in "ab":
        (before,) = states_before(call(2, ["Hi", answered(taken), "?"], "!"))
        assert before in states_after(both)
    many = call(1, ["Hi"], None, output_messages=tuple(answered(str(number)) for number in range(9)))
    assert len(states_after(many)) == 1


def test_what_says_nothing() -> None:
    """Without an answer, without what was asked, or where content was left out, there is no history to go on from."""
    empty = UserMessage()

    assert states_after(call(1, ["Hi"], None)) == []
    assert states_after(call(1, ["Hi"], AssistantMessage(content=()))) == []
    assert states_after(call(1, [], "Hello")) == []
    assert states_after(call(1, [empty], "Hello")) == []
    assert states_after(call(1, ["__REDACTED__"], "__REDACTED__")) == []
    assert states_before(call(1, ["__REDACTED__", answered("__REDACTED__"), "?"], "!")) == []
    assert states_after(call(1, ["Hi", empty], "Hello")) == states_after(call(1, ["Hi"], "Hello"))


def test_ids_of_tool_calls() -> None:
    """Where all tool calls of a history have ids that can be compared, these stand for it, too."""
    first, other = says("", WEATHER), says("", ToolCall("get_weather", {"city": "Paris"}, "call_2"))
    unnamed = says("", ToolCall("get_weather", {"city": "Paris"}))
    (a,), (b,), (c,) = (states_after(call(1, ["Hi"], said)) for said in (first, other, unnamed))

    assert a.digest == b.digest == c.digest
    assert len({a.ids, b.ids, c.ids}) == 3
    assert c.ids is None


def test_an_answer_that_was_begun() -> None:
    """The beginning that the model was given and what it added are one answer."""
    (after,) = states_after(call(1, ["Hi", answered("Hel")], "lo"))
    (before,) = states_before(
        call(2, ["Hi", AssistantMessage(content=(TextContent("Hel"), TextContent("lo"))), "?"], "!")
    )

    assert after == before
