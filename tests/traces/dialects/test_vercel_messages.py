"""Messages of the Vercel AI SDK: values as versions 4 to 7 write them."""

from __future__ import annotations

import json

import pytest
from observed import observed_call

from pixie_otel.evaluable import JsonValue, ToolCall
from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    OtherContent,
    ReasoningContent,
    TextContent,
    ToolResultMessage,
    UserMessage,
)

ASKED = {"role": "user", "content": [{"type": "text", "text": "What's the weather in Paris?"}]}
CALL: dict[str, JsonValue] = {
    "ai.operationId": "ai.generateText.doGenerate",
    "ai.model.id": "gpt-4o-mini",
    "ai.prompt.messages": json.dumps([ASKED]),
}
TOOL_CALL = ToolCall("get_weather", {"city": "Paris"}, "call_abc123")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"args": {"city": "Paris"}}, {"result": {"temp_c": 18}}),
        ({"input": {"city": "Paris"}}, {"output": {"type": "json", "value": {"temp_c": 18}}}),
        ({"input": {"city": "Paris"}}, {"output": {"type": "text", "value": '{"temp_c":18}'}}),
        (
            {"input": {"city": "Paris"}},
            {"output": {"type": "content", "value": [{"type": "text", "text": '{"temp_c":18}'}]}},
        ),
    ],
)
def test_a_conversation_with_tools(asked: dict[str, object], told: dict[str, object]) -> None:
    """Calls and results stand in the messages as parts, and later versions put a type around the result."""
    part = {"toolCallId": "call_abc123", "toolName": "get_weather"}
    history = [
        ASKED,
        {"role": "assistant", "content": [{"type": "tool-call", **part, **asked}]},
        {"role": "tool", "content": [{"type": "tool-result", **part, **told}]},
    ]
    span = observed_call({**CALL, "ai.prompt.messages": json.dumps(history), "ai.response.text": "Sunny."})

    assert span.input_messages[1:] == (
        AssistantMessage(tool_calls=(TOOL_CALL,)),
        ToolResultMessage(content=(TextContent('{"temp_c":18}'),), name="get_weather", tool_call_id="call_abc123"),
    )
    assert span.output == "Sunny."


def test_an_error_of_a_tool_in_the_conversation() -> None:
    """A tool's error is what the model gets for its result."""
    told = {"type": "tool-result", "toolCallId": "c", "toolName": "f"}
    output = {"type": "error-text", "value": "unknown city: Atlantis"}
    history = [{"role": "tool", "content": [{**told, "output": output}]}]
    span = observed_call({**CALL, "ai.prompt.messages": json.dumps(history)})

    assert [item.text for item in span.input_messages] == ["unknown city: Atlantis"]


@pytest.mark.parametrize(
    ("part", "image"),
    [
        (
            {"type": "file", "mediaType": "image/png", "data": "iVBORw0K"},
            ImageContent("data:image/png;base64,iVBORw0K", "image/png"),
        ),
        (
            {"type": "image", "image": "iVBORw0K", "mimeType": "image/png"},
            ImageContent("data:image/png;base64,iVBORw0K", "image/png"),
        ),
        (
            {"type": "file", "mediaType": "image", "data": "https://example.org/a.png"},
            ImageContent("https://example.org/a.png", "image"),
        ),
        ({"type": "image", "image": "https://example.org/a.png"}, ImageContent("https://example.org/a.png")),
        (
            {"type": "image", "image": {"type": "Buffer", "data": [137, 80, 78, 71]}},
            ImageContent("data:image/*;base64,iVBORw=="),
        ),
        ({"type": "image", "image": {"0": 137, "1": 80}}, ImageContent("data:image/*;base64,iVA=")),
        ({"type": "image", "image": {"type": "Buffer", "data": [137, "x"]}}, ImageContent("")),
        (
            {"type": "image", "image": "[Buffer length=8]", "mimeType": "image/png"},
            ImageContent("", "image/png"),
        ),
    ],
)
def test_images(part: dict[str, object], image: ImageContent) -> None:
    """Images are base64, addresses, or the numbers that JavaScript's JSON makes of bytes."""
    history = [{"role": "user", "content": [{"type": "text", "text": "Describe this image."}, part]}]
    span = observed_call({**CALL, "ai.prompt.messages": json.dumps(history)})

    assert span.input_messages == (UserMessage(content=(TextContent("Describe this image."), image)),)


def test_reasoning_and_files() -> None:
    """What the model thought and the files that it made are parts of its answer."""
    files = json.dumps(
        [{"type": "file", "mediaType": "image/png", "data": "aGk="}, {"mediaType": "audio/wav", "data": "x"}]
    )
    span = observed_call(
        {**CALL, "ai.response.reasoning": "Hmm.", "ai.response.text": "Here.", "ai.response.files": files}
    )

    (answer,) = span.output_messages
    assert answer.content[:3] == (
        ReasoningContent("Hmm."),
        TextContent("Here."),
        ImageContent("data:image/png;base64,aGk=", "image/png"),
    )
    assert isinstance(answer.content[3], OtherContent)
