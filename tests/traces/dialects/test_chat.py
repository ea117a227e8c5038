"""Chat messages in all the shapes that they are written in."""

from __future__ import annotations

import json

import pytest
from case_results import json_values
from hypothesis import given

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.dialects.chat import message, messages
from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    OtherContent,
    ReasoningContent,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
)

ARGUMENTS = {"city": "Paris"}
CALL = ToolCall("get_weather", ARGUMENTS, "call_1")
USER = UserMessage(content=(TextContent("Hi"),))


def one(value: object) -> Message:
    """Read what must be one message."""
    (found,) = messages(value)
    return found


def calls_of(found: Message) -> list[tuple[str, object, str | None]]:
    """Give name, arguments and id of a message's calls."""
    assert isinstance(found, AssistantMessage)
    return [(call.name, call.arguments, call.id) for call in found.tool_calls]


@pytest.mark.parametrize(
    "written",
    [
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"role": "user", "parts": [{"type": "text", "content": "Hi"}]},
        {"role": "user", "parts": [{"type": "text", "content": "Hi"}], "name": None},
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "user", "parts": [{"content": "Hi"}]},
        {"role": "user", "parts": ["Hi"]},
        {"role": "user", "parts": {"type": "text", "content": "Hi"}},
        {"role": "user", "content": "Hi", "parts": [{"type": "text", "content": "Hi"}]},
        {"role": "user", "content": [{"text": "Hi"}]},
        {"role": "User", "content": "Hi"},
        {"role": "MessageRole.USER", "content": "Hi"},
        {"role": "human", "content": "Hi"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "human", "data": {"content": "Hi", "type": "human"}},
        {"type": "human", "content": "Hi"},
        {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "Hi"}},
        {"content": "Hi"},
        {"type": "text", "content": "Hi"},
        "Hi",
    ],
)
def test_a_users_text_in_every_shape(written: object) -> None:
    """However a library writes it, it is the same message; also in lists, batches and as JSON text."""
    assert messages(written) == messages([written]) == messages([[written]]) == (USER,)
    if not isinstance(written, str):
        assert messages(json.dumps(written)) == messages(json.dumps(json.dumps([written]))) == (USER,)


@pytest.mark.parametrize(
    "written",
    [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
                }
            ],
        },
        {"role": "assistant", "tool_calls": [{"id": "call_1", "name": "get_weather", "args": ARGUMENTS}]},
        {
            "role": "assistant",
            "tool_calls": '[{"id": "call_1", "name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}]',
        },
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "call_1", "name": "get_weather", "arguments": ARGUMENTS}],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "call_1", "name": "get_weather", "input": ARGUMENTS}],
        },
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "call_1", "name": "get_weather", "input": ARGUMENTS}}],
        },
        {
            "role": "model",
            "parts": [{"function_call": {"id": "call_1", "name": "get_weather", "args": ARGUMENTS}, "text": None}],
        },
        {"role": "model", "parts": [{"functionCall": {"id": "call_1", "name": "get_weather", "args": ARGUMENTS}}]},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "call_1", "toolName": "get_weather", "input": ARGUMENTS}],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "get_weather",
            "arguments": '{"city": "Paris"}',
        },
        {
            "type": "ai",
            "data": {"content": "", "tool_calls": [{"id": "call_1", "name": "get_weather", "args": ARGUMENTS}]},
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "call_1", "name": "get_weather", "input": ARGUMENTS}],
            "tool_calls": [{"id": "call_1", "name": "get_weather", "args": ARGUMENTS}],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use"}],
            "tool_calls": [{"id": "call_1", "name": "get_weather", "args": ARGUMENTS}],
        },
    ],
)
def test_a_tool_call_in_every_shape(written: object) -> None:
    """Name, decoded arguments and id are read once, wherever they lie."""
    assert calls_of(one(written)) == [("get_weather", ARGUMENTS, "call_1")]
    assert one(written).text == ""


def test_old_function_calls() -> None:
    """OpenAI's first form of tool calls has no id; where the new form is there too, that counts."""
    old = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}}

    assert calls_of(one(old)) == [("f", {"a": 1}, None)]
    assert calls_of(one({**old, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]})) == [
        ("f", {}, "1")
    ]


def test_equal_calls_of_one_message() -> None:
    """Two equal calls without ids in a message's list are two calls."""
    call = {"function": {"name": "roll", "arguments": "{}"}}

    assert len(calls_of(one({"role": "assistant", "tool_calls": [call, call]}))) == 2


def test_arguments_that_are_no_json_stay_text() -> None:
    """What a model got wrong is shown as it was."""
    broken = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": '{"a": '}}]}

    assert calls_of(one(broken)) == [("f", '{"a": ', None)]


@pytest.mark.parametrize(
    "written",
    [
        {"role": "tool", "tool_call_id": "call_1", "content": "18°C"},
        {"role": "tool", "id": "call_1", "content": "18°C"},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": "18°C"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "result": "18°C"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "18°C"}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "18°C"}]}
            ],
        },
        {"role": "user", "content": [{"toolResult": {"toolUseId": "call_1", "content": [{"text": "18°C"}]}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "call_1", "output": "18°C"}]},
        {"type": "function_call_output", "call_id": "call_1", "output": "18°C"},
        {"type": "tool", "data": {"content": "18°C", "tool_call_id": "call_1", "id": "message_7"}},
        {
            "role": "tool",
            "parts": [
                {"type": "tool_call_response", "id": "call_1", "response": [{"type": "text", "content": "18°C"}]}
            ],
        },
    ],
)
def test_a_tool_result_in_every_shape(written: object) -> None:
    """Results say what came back and which call they answer, whoever's role they were sent under."""
    assert one(written) == ToolResultMessage(content=(TextContent("18°C"),), tool_call_id="call_1")


def test_results_that_are_json() -> None:
    """A result that is no text is shown as JSON; one with an image keeps it."""
    google = {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"b": 1, "a": 2}}}]}
    rows = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": [{"a": 1}]}]}
    image = {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "1",
                "content": [
                    {"type": "text", "text": "see"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
                ],
            }
        ],
    }

    assert (one(google).text, one(google).name) == ('{"a":2,"b":1}', "f")
    assert one(rows).text == '[{"a":1}]'
    assert one(image).content == (TextContent("see"), ImageContent("data:image/png;base64,AA==", "image/png"))
    assert one({"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": None}]}).content == ()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"temp_c": 18, "sky": "cloudy"}, '{"sky":"cloudy","temp_c":18}'),
        (["Refunds take 5 days.", "Ask us."], '["Refunds take 5 days.","Ask us."]'),
        ([{"id": 1}], '[{"id":1}]'),
        (18, "18"),
        ("18", "18"),
        ([{"type": "text", "text": "18"}], "18"),
        ({"type": "text", "text": "18"}, "18"),
        (None, ""),
    ],
)
def test_content_of_tools_that_is_json(content: object, text: str) -> None:
    """What a tool's message has as its content, neither text nor typed parts, is what the tool returned."""
    said = one({"role": "tool", "tool_call_id": "c", "content": content})

    assert isinstance(said, ToolResultMessage)
    assert (said.text, said.tool_call_id) == (text, "c")


def test_parallel_results_in_one_message_are_split_in_order() -> None:
    """Each result is a message of its own, and what stands around them stays where it stood."""
    read = messages(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "here:"},
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": "2"},
                {"type": "text", "text": "and now?"},
            ],
        }
    )

    assert read == (
        UserMessage(content=(TextContent("here:"),)),
        ToolResultMessage(content=(TextContent("1"),), tool_call_id="a"),
        ToolResultMessage(content=(TextContent("2"),), tool_call_id="b"),
        UserMessage(content=(TextContent("and now?"),)),
    )


def test_a_result_between_an_assistants_words() -> None:
    """Calls listed beside the content are not lost where the content is split, nor doubled."""
    read = messages(
        {
            "role": "assistant",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "content": "2"},
            ],
            "tool_calls": [{"id": "b", "function": {"name": "f"}}],
        }
    )

    assert [type(item).__name__ for item in read] == ["ToolResultMessage", "ToolResultMessage", "AssistantMessage"]
    assert calls_of(read[-1]) == [("f", None, "b")]


@pytest.mark.parametrize(
    ("within", "listed", "expected"),
    [
        (("1", "f"), ("1", "g"), []),
        (("1", "f"), ("2", "f"), ["2"]),
        ((None, "f"), ("2", "f"), []),
        ((None, "f"), ("2", "g"), ["2"]),
        (("1", "f"), (None, "f"), []),
        (("1", "f"), (None, "g"), [None]),
        ((None, "f"), (None, "f"), []),
    ],
)
def test_calls_that_stand_in_the_content_and_beside_it(
    within: tuple[str | None, str], listed: tuple[str | None, str], expected: list[str | None]
) -> None:
    """Two ids tell whether it is the same call; where one of them has none, its name and arguments tell."""
    part, call = ({"id": identity, "name": name, "arguments": "{}"} for identity, name in (within, listed))
    read = one({"role": "assistant", "content": [{"type": "tool_call", **part}], "tool_calls": [call]})

    assert [identity for _, _, identity in calls_of(read)] == [within[0], *expected]


def test_one_message_keeps_a_result_among_other_parts() -> None:
    """Where one message must be given, a result in it is kept as a part."""
    read = message(
        {"role": "assistant", "content": [{"type": "text", "text": "x"}, {"type": "tool_result", "content": "1"}]}
    )

    assert read.content == (TextContent("x"), OtherContent("tool_result", {"type": "tool_result", "content": "1"}))


def test_roles() -> None:
    """Roles are normalised, unknown ones kept, and missing ones what the place says."""
    assert type(one({"role": "developer", "content": "x"})) is SystemMessage
    assert one({"role": "developer", "content": "x"}).role == "developer"
    assert type(one({"role": "AIMessageChunk", "content": "x"})) is AssistantMessage
    assert type(one({"role": "function", "name": "f", "content": "x"})) is ToolResultMessage
    assert one({"role": "critic", "content": "x"}) == Message(role="critic", content=(TextContent("x"),))
    assert type(messages("x", role="assistant")[0]) is AssistantMessage
    assert type(message({"content": "x"}, role="system")) is SystemMessage
    assert one({"role": "tool", "parts": [{"type": "tool_call", "name": "f"}]}).role == "assistant"


def test_reasoning() -> None:
    """What a model thought is a part of its own, in the shapes of all providers; none where it was encrypted."""
    thought = (ReasoningContent("hm"),)

    assert one({"role": "assistant", "reasoning_content": "hm"}).content == thought
    assert (
        one({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}]}).content
        == thought
    )
    assert (
        one(
            {"type": "reasoning", "id": "rs_1", "content": [], "summary": [{"type": "summary_text", "text": "hm"}]}
        ).content
        == thought
    )
    assert one({"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}]}).content == thought
    assert one({"role": "model", "parts": [{"text": "hm", "thought": True}]}).content == thought
    assert (
        one({"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "hm"}}}]}).content
        == thought
    )
    assert one({"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]}).content == (
        ReasoningContent(""),
    )


def test_what_providers_run_themselves() -> None:
    """Items of a conversation that are neither messages nor calls of the app's tools are kept as parts."""
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}

    assert one(item) == AssistantMessage(content=(OtherContent("web_search_call", item),))
    assert one({"role": "assistant", "content": None, "refusal": "no"}).content == (
        OtherContent("refusal", {"type": "refusal", "refusal": "no"}),
    )
    assert one({"role": "assistant", "audio": {"transcript": "hi"}}).content[0] == OtherContent(
        "audio", {"type": "audio", "audio": {"transcript": "hi"}}
    )


def test_text_that_was_not_recorded() -> None:
    """A part that should hold text and does not is left out, and the others stay."""
    assert one({"role": "user", "parts": [{"type": "text"}, {"type": "text", "content": "x"}]}).text == "x"


def test_nothing_gives_nothing() -> None:
    """What is no message is none; an empty one is a message without content."""
    assert [messages(value) for value in (None, 5, "", [], {}, [None, 5, True], "[]")] == [()] * 7
    assert one({"role": "assistant", "content": ""}) == AssistantMessage()
    assert one({"role": "assistant", "content": "x", "finish_reason": "stop"}) == AssistantMessage(
        content=(TextContent("x"),), finish_reason="stop"
    )


@given(json_values)
def test_any_json_is_read_without_error(value: object) -> None:
    """Whatever stands where messages should, reading them does not fail."""
    for found in messages(value):
        assert found.role
    if isinstance(value, dict):
        assert message(value).role


def test_results_that_name_their_call() -> None:
    """Haystack's results hold the call that they answer."""
    origin = {"tool_name": "get_weather", "arguments": ARGUMENTS, "id": "call_1"}
    part = {"tool_call_result": {"result": "18", "origin": origin, "error": False}}

    assert one({"role": "tool", "content": [part]}) == ToolResultMessage(
        content=(TextContent("18"),), name="get_weather", tool_call_id="call_1"
    )


@pytest.mark.parametrize(("city", "spoken"), [("Paris", ""), ("London", "item")])
def test_a_call_that_is_written_as_text_as_well(city: str, spoken: str) -> None:
    """OpenLLMetry's LangChain writes a response's item as text beside the call; text of any other call is text."""
    item = {
        "type": "function_call",
        "name": "get_weather",
        "arguments": json.dumps({"city": city}),
        "call_id": "call_1",
    }
    call = {"type": "tool_call", "id": "call_1", "name": "get_weather", "arguments": ARGUMENTS}
    found = one({"role": "assistant", "parts": [{"type": "text", "content": json.dumps(item)}, call]})

    assert calls_of(found) == [("get_weather", ARGUMENTS, "call_1")]
    assert found.text == (json.dumps(item) if spoken else "")


def test_calls_of_llamaindex() -> None:
    """LlamaIndex's calls are blocks without a type, and stand beside the message in older versions."""
    block = {"tool_call_id": "call_1", "tool_name": "get_weather", "tool_kwargs": json.dumps(ARGUMENTS)}
    listed = {"id": "call_1", "function": {"name": "get_weather", "arguments": json.dumps(ARGUMENTS)}}
    beside = {"additional_kwargs": {"tool_calls": [listed]}}

    for said in ({"blocks": [block]}, {"blocks": [], **beside}, {"blocks": [block], **beside}):
        assert calls_of(one({"role": "assistant", **said})) == [("get_weather", ARGUMENTS, "call_1")]
    assert one({"role": "user", "blocks": [{"block_type": "text", "text": "Hi"}]}) == USER
