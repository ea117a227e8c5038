"""One event a message."""

from __future__ import annotations

import json

import pytest
from observed import event, log

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.dialects.message_events import event_messages, event_values
from pixie_otel.traces.messages import AssistantMessage, SystemMessage, TextContent, ToolResultMessage, UserMessage

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
