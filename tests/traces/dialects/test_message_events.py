"""One event a message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from observed import event, log

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.dialects.message_events import event_messages, event_values, listed_events
from pixie_otel.traces.messages import AssistantMessage, SystemMessage, TextContent, ToolResultMessage, UserMessage

if TYPE_CHECKING:
    from pixie_otel.evaluable import JsonValue

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
BODIES = [
    ("gen_ai.system.message", {"content": "Be brief."}),
    ("gen_ai.user.message", {"content": "Hi"}),
    ("gen_ai.assistant.message", {"tool_calls": [CALL]}),
    ("gen_ai.tool.message", {"id": "c", "content": "ok"}),
    ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello"}}),
]
GIVEN = (
    SystemMessage(content=(TextContent("Be brief."),)),
    UserMessage(content=(TextContent("Hi"),)),
    AssistantMessage(tool_calls=(ToolCall("f", {"a": 1}, "c"),)),
    ToolResultMessage(content=(TextContent("ok"),), tool_call_id="c"),
)
ANSWERED = (AssistantMessage(content=(TextContent("Hello"),), finish_reason="stop"),)


@pytest.mark.parametrize(
    "make",
    [
        log,
        lambda name, body: log(name, json.dumps(body)),
        event,
        lambda name, body: event(name, {"gen_ai.event.content": json.dumps(body)}),
        lambda name, body: event(name, {**body, "message": json.dumps(body["message"])} if "message" in body else body),
    ],
)
def test_every_way_to_write_them(make: object) -> None:
    """Log records with structured or JSON bodies, and span events, give the same messages in order."""
    assert callable(make)
    told = [make(name, body) for name, body in BODIES]

    assert event_messages(told) == (GIVEN, ANSWERED, ("stop",))


def test_both_at_once_are_told_once() -> None:
    """The same messages as log records and as span events are one conversation, from the one that has content."""
    logs = [log(name, body) for name, body in BODIES]
    on_span = [event(name, body) for name, body in BODIES]
    bare = [event(name) for name, _ in BODIES]
    empty = [log(name, {}) for name, _ in BODIES]

    assert event_messages([*logs, *on_span]) == event_messages(logs)
    assert event_messages([*bare, *logs]) == event_messages(logs)
    assert event_messages([*on_span, *empty]) == event_messages(logs)
    assert len(event_messages([*logs, event("gen_ai.user.message", {"content": "More"})])[0]) == len(GIVEN) + 1


def test_choices_stand_by_index() -> None:
    """Choices may end in any order; their reasons go with them."""
    told = [
        log("gen_ai.choice", {"index": 1, "finish_reason": "length", "message": {"content": "b"}}),
        log("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"content": "a"}}),
    ]
    _, answered, reasons = event_messages(told)

    assert [item.text for item in answered] == ["a", "b"]
    assert reasons == ("stop", "length")


def test_calls_beside_the_message() -> None:
    """Some producers put a choice's tool calls beside its message, or its text in its place."""
    beside = log("gen_ai.choice", {"message": {"role": "assistant"}, "tool_calls": [CALL]})

    assert event_messages([beside])[1] == (AssistantMessage(tool_calls=(ToolCall("f", {"a": 1}, "c"),)),)
    assert event_messages([log("gen_ai.choice", {"message": "Hello"})])[1][0].text == "Hello"
    assert event_messages([log("gen_ai.choice", {"content": "Hello"})])[1][0].text == "Hello"


def test_bodies_that_are_plain_text() -> None:
    """A body that is the text itself is the message's content."""
    assert event_messages([log("gen_ai.user.message", "Hi")])[0] == (UserMessage(content=(TextContent("Hi"),)),)


def test_bedrocks_blocks() -> None:
    """Bodies may hold blocks, with arguments as objects."""
    block = {"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}}
    told = [log("gen_ai.choice", {"finish_reason": "tool_use", "message": {"content": [{"text": "Hm."}, block]}})]

    assert event_messages(told)[1] == (
        AssistantMessage(
            content=(TextContent("Hm."),), tool_calls=(ToolCall("f", {"a": 1}, "c"),), finish_reason="tool_use"
        ),
    )


def test_other_events_are_no_messages() -> None:
    """Exceptions and chunks are passed over."""
    assert event_messages([event("exception"), event("gen_ai.content.completion.chunk")]) == ((), (), ())
    assert event_values([event("exception")]) == (None, None)


def test_values_of_tools() -> None:
    """What a tool got and gave, the first of each."""
    told = [
        log("gen_ai.tool.message", {"content": '{"a": 1}'}),
        log("gen_ai.tool.message", {"content": "later"}),
        event("gen_ai.choice", {"message": "[1]"}),
    ]

    assert event_values(told) == ({"a": 1}, [1])


@pytest.mark.parametrize("write", [json.dumps, lambda value: value])
def test_events_in_one_attribute(write: object) -> None:
    """A list of objects that name their events is read as the events themselves would be."""
    assert callable(write)
    told = [{"event.name": name, **body} for name, body in BODIES]

    assert event_messages(listed_events(write(told))) == (GIVEN, ANSWERED, ("stop",))


def test_listed_events_of_other_names() -> None:
    """A role says what an event is that has no name, or one that is not known; data is kept as a part."""
    told: list[JsonValue] = [
        {"role": "system", "content": "Be brief."},
        {"event.name": "gen_ai.developer.message", "role": "developer", "content": "Be kind."},
        {"event.name": "gen_ai.unknown", "role": "unknown", "data": {"type": "input_text", "text": "Hi"}},
        {"event.name": "gen_ai.unknown", "role": "unknown", "data": {"type": "reasoning", "summary": []}},
        {"event.name": "gen_ai.unknown", "role": "unknown", "content": "x"},
        {"content": "nobody's"},
        3,
    ]
    said, answers, _ = event_messages(listed_events(told))

    assert [(item.role, item.text) for item in said] == [
        ("system", "Be brief."),
        ("developer", "Be kind."),
        ("user", "Hi"),
        ("assistant", ""),
        ("user", "x"),
    ]
    assert answers == ()
    assert listed_events("{") == ()


def test_blocks_as_text() -> None:
    """An attribute of a span event holds a message's parts as JSON text; other JSON is what somebody said."""
    parts = event("gen_ai.user.message", {"content": '[{"text": "Hi "}, {"text": "there"}]'})
    own = event("gen_ai.user.message", {"content": '[{"city": "Paris"}]'})
    logged = log("gen_ai.user.message", {"content": '[{"text": "Hi"}]'})

    assert [item.text for item in event_messages([parts, own, logged])[0]] == [
        "Hi there",
        '[{"city": "Paris"}]',
        '[{"text": "Hi"}]',
    ]


def test_an_answer_that_is_json() -> None:
    """A structured answer is a text, unless it is a message."""
    answers = ['{"city": "Paris"}', '{"role": "assistant", "content": "Hello"}', '["a"]', '[{"text": "b"}]']
    told = [event("gen_ai.choice", {"index": index, "message": said}) for index, said in enumerate(answers)]

    assert [item.text for item in event_messages(told)[1]] == ['{"city": "Paris"}', "Hello", '["a"]', "b"]


def test_a_whole_message_as_content() -> None:
    """Google's agent kit puts its own message, with its role, where the content belongs."""
    call = {"function_call": {"id": "c", "name": "f", "args": {"a": 1}}, "text": None}
    told = [
        log("gen_ai.user.message", {"content": {"role": "user", "parts": [{"text": "Hi"}]}}),
        log("gen_ai.user.message", {"content": {"role": "model", "parts": [call]}}),
        log("gen_ai.choice", {"content": {"role": "model", "parts": [{"text": "Hello"}]}, "finish_reason": "STOP"}),
    ]

    assert event_messages(told) == (
        (UserMessage(content=(TextContent("Hi"),)), AssistantMessage(tool_calls=(ToolCall("f", {"a": 1}, "c"),))),
        (AssistantMessage(content=(TextContent("Hello"),), finish_reason="STOP"),),
        ("STOP",),
    )


def test_an_answer_in_pieces() -> None:
    """A stream may be recorded piece by piece, of which the last says why it ended; choices each say it."""
    pieces = [log("gen_ai.choice", {"index": 0, "message": {"content": said}}) for said in ("It ", "is ")]
    calling = log("gen_ai.choice", {"index": 0, "message": {"tool_calls": [CALL]}})
    last = log("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"content": "18."}})
    choice = log("gen_ai.choice", {"index": 1, "finish_reason": "stop", "message": {"content": "b"}})
    bare = [log("gen_ai.choice", {"message": {"content": said}}) for said in ("a", "b")]

    assert event_messages([*pieces, last])[1] == (
        AssistantMessage(content=(TextContent("It is 18."),), finish_reason="stop"),
    )
    assert event_messages([pieces[0], calling, last])[1] == (
        AssistantMessage(
            content=(TextContent("It 18."),), tool_calls=(ToolCall("f", {"a": 1}, "c"),), finish_reason="stop"
        ),
    )
    for told in ([last, choice], [last, last], bare, [pieces[0], choice]):
        assert len(event_messages(told)[1]) == 2


def test_content_that_was_left_out() -> None:
    """A mark in the place of content says that none was recorded."""
    told = [log("gen_ai.user.message", {"content": "<elided>"}), log("gen_ai.choice", {"content": "<elided>"})]
    kept = [*told, log("gen_ai.user.message", {"content": "Hi"})]

    assert event_messages(told) == ((), (), ())
    assert len(event_messages(kept)[0]) == 2
    assert event_values([event("gen_ai.tool.message", {"content": "[REDACTED]"})]) == (None, None)
