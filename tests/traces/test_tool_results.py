"""Tool calls that models asked for, with results from the messages that came later."""

from __future__ import annotations

from checked_traces import result, says, user
from told_calls import call

from pixie_otel.evaluable import UNSET, ToolCall
from pixie_otel.traces.messages import ImageContent, ToolResultMessage
from pixie_otel.traces.spans import LLMSpan
from pixie_otel.traces.tool_results import asked_tools

PARIS = ToolCall("get_weather", {"city": "Paris"}, "call_1")
ROME = ToolCall("get_weather", {"city": "Rome"}, "call_2")


def results(*calls: LLMSpan) -> list[object]:
    """Give the results of the tools that some calls asked for."""
    return [tool.result for asked in asked_tools(calls) for tool in asked]


def test_by_id() -> None:
    """Results come to the calls that they answer, whatever their order; JSON is decoded."""
    told = ["?", says("", PARIS, ROME), result("rain", "call_2"), result('{"temp_c": 18}', "call_1")]

    assert results(call(1, ["?"], says("", PARIS, ROME)), call(2, told, "18")) == [{"temp_c": 18}, "rain"]


def test_by_place() -> None:
    """Without ids, as many results as calls stand in their order; otherwise nobody knows."""
    paris, rome = ToolCall("f", {"a": 1}), ToolCall("f", {"a": 2})
    first = call(1, ["?"], says("", paris, rome))

    assert results(first, call(2, ["?", says("", paris, rome), result("1"), result("2")], "ok")) == ["1", "2"]
    assert results(first, call(2, ["?", says("", paris, rome), result("1")], "ok")) == [UNSET, UNSET]
    assert results(first, call(2, ["?", says("", paris), result("1"), result("2")], "ok")) == [UNSET, UNSET]


def test_ids_that_come_again() -> None:
    """Where each answer's calls are numbered anew, the result is the one behind that answer."""
    one, two = ToolCall("f", {"a": 1}, "f_0"), ToolCall("f", {"a": 2}, "f_0")
    told = ["?", says("", one), result("1", "f_0")]
    calls = [
        call(1, ["?"], says("", one)),
        call(2, told, says("", two)),
        call(3, [*told, says("", two), result("2", "f_0")], "ok"),
    ]

    assert results(*calls) == ["1", "2"]


def test_two_ids_of_one_call() -> None:
    """OpenAI's responses name a call twice; its arguments tell that it is one."""
    item = ToolCall("get_weather", {"city": "Paris"}, "fc_1")

    assert results(call(1, ["?"], says("", item)), call(2, ["?", says("", PARIS), result("18", "call_1")], "ok")) == [
        "18"
    ]


def test_arguments_that_were_left_out() -> None:
    """Then the id alone tells which call it is."""
    bare, other = ToolCall("get_weather", None, "call_1"), ToolCall("get_weather", None, "call_2")
    told = ["?", says("", bare), result("18", "call_1"), says("ok"), result("19", "call_3")]

    assert results(call(1, ["?"], says("", PARIS)), call(2, told, "ok")) == ["18"]
    assert results(call(1, ["?"], says("", other)), call(2, told, "ok")) == [UNSET]


def test_results_without_the_answer_before_them() -> None:
    """Where only the results were recorded, their ids are enough."""
    assert results(call(1, ["?"], says("", PARIS)), call(2, [result("18", "call_1")], "ok")) == ["18"]


def test_an_unanswered_call_does_not_get_another_ones_result() -> None:
    """An id that several calls have says nothing by itself."""
    one, two = ToolCall("f", {"a": 1}, "f_0"), ToolCall("f", {"a": 2}, "f_0")
    told = ["?", says("", one), result("1", "f_0")]
    calls = [call(1, ["?"], says("", one)), call(2, told, says("", two)), call(3, [*told, "?"], "ok")]

    assert results(*calls) == ["1", UNSET]


def test_an_earlier_call_knows_no_result() -> None:
    """What stands in a call that was over before cannot be the result, unless the ids say so."""
    first = call(2, ["?"], says("", ToolCall("f", {})))

    assert results(call(1, ["?", says("", ToolCall("f", {})), result("old")], "x"), first) == [UNSET]


def test_results_that_are_no_text() -> None:
    """They are given as messages have them."""
    picture = ToolResultMessage(content=(ImageContent("data:,a"),), tool_call_id="call_1")

    assert results(call(1, ["?"], says("", PARIS)), call(2, ["?", says("", PARIS), picture], "ok")) == [
        [{"type": "image", "url": "data:,a"}]
    ]


def test_calls_that_ask_for_nothing() -> None:
    """Each model call has a list of its own."""
    asked = asked_tools([call(1, ["?"], None), call(2, ["?"], says("", PARIS)), call(3, ["?"], user("echo"))])

    assert asked == [[], [PARIS], []]
