"""The tool calls that models asked for."""

from __future__ import annotations

import json

import pytest
from checked_traces import llm, says, user
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.evals.evaluators.checks.calls import arguments_key, asked_calls, json_arguments
from pixie_otel.evaluable import JsonValue, ToolCall
from pixie_otel.traces.trace import Trace


def names(*spans: object) -> list[tuple[str, str]]:
    """Give the span and the tool of every call asked for."""
    trace = Trace.from_spans(spans)  # type: ignore[arg-type]  # all of them are spans
    return [(by.span_id, call.name) for by, call in asked_calls(trace)]


def test_calls_come_in_order_with_who_asked() -> None:
    """Every call of every answer stands once, and what is no answer is passed over."""
    first = llm("01", user("?"), says("", ToolCall("a", {}, "1"), ToolCall("b", {}, "2")))
    second = llm("02", says("", ToolCall("a", {}, "3")))
    assert names(first, second) == [("01", "a"), ("01", "b"), ("02", "a")]


def test_a_call_recorded_twice_is_one() -> None:
    """The same id, tool and arguments are the same call."""
    call = ToolCall("a", {"x": 1}, "1")
    assert names(llm("01", says("", call)), llm("02", says("", call))) == [("01", "a")]


def test_an_id_used_again_does_not_hide_a_call() -> None:
    """Servers that number calls anew in every answer make calls that differ in more than the id."""
    calls = [ToolCall("a", {"x": 1}, "call_0"), ToolCall("a", {"x": 2}, "call_0"), ToolCall("b", {"x": 2}, "call_0")]
    assert names(llm("01", *(says("", call) for call in calls))) == [("01", "a"), ("01", "a"), ("01", "b")]


def test_a_call_without_a_name_is_none() -> None:
    """What was recorded of a part that is no call is left out."""
    assert names(llm("01", says("", ToolCall("")))) == []


@pytest.mark.parametrize(
    ("recorded", "arguments"),
    [
        ({"x": 1}, {"x": 1}),
        (None, None),
        ("", {}),
        (" ", {}),
        ("__REDACTED__", None),
        ("[1]", [1]),
        ("null", None),
        ('{"x": ', '{"x": '),
        ("\ud800", "\ud800"),
    ],
)
def test_arguments_are_json_where_they_can_be(recorded: JsonValue, arguments: JsonValue) -> None:
    """Hidden arguments are not known, none are none, and text that is no JSON stays text."""
    assert json_arguments(ToolCall("a", recorded)) == arguments


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.booleans()))
def test_equal_arguments_have_equal_keys(arguments: dict[str, JsonValue]) -> None:
    """The order of keys does not matter."""
    turned = dict(reversed(arguments.items()))
    assert arguments_key(arguments) == arguments_key(turned)
    assert json.loads(arguments_key(arguments) or "") == arguments


def test_arguments_that_cannot_be_compared_have_no_key() -> None:
    """Unknown arguments are equal to nothing, nor are those nested beyond all measure."""
    deep: JsonValue = []
    for _ in range(100_000):
        deep = [deep]
    assert arguments_key(None) is None
    assert arguments_key("__REDACTED__") is None
    assert arguments_key(deep) is None
