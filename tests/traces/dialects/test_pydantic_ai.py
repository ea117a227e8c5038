"""Pydantic AI in all formats that it has written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from case_results import json_values
from hypothesis import given
from hypothesis import strategies as st
from observed import event, observed, observed_call

from pixie_otel.attributes import pydantic_ai as pydantic_ai_keys
from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    ReasoningContent,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
)
from pixie_otel.traces.spans import AgentSpan, EmbeddingSpan, ObservationKind, ToolSpan

if TYPE_CHECKING:
    from pixie_otel.evaluable import JsonValue

QUESTION = "What's the weather in Paris?"
ANSWER = "It is 18°C and cloudy in Paris."
ARGUMENTS = {"city": "Paris", "unit": "celsius"}
CALL = ToolCall("get_weather", ARGUMENTS, "call_abc123")
WRITTEN_CALL = {
    "id": "call_abc123",
    "type": "function",
    "function": {"name": "get_weather", "arguments": json.dumps(ARGUMENTS)},
}
TOOL = {"name": "get_weather", "description": "Get the weather.", "parameters_json_schema": {"type": "object"}}
CHAT: dict[str, JsonValue] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "openai",
    "gen_ai.request.model": "gpt-4o-mini",
    "model_request_parameters": json.dumps(
        {"function_tools": [TOOL], "output_mode": "tool", "output_tools": [{"name": "final_result"}]}
    ),
    "gen_ai.usage.input_tokens": 57,
    "gen_ai.usage.output_tokens": 17,
    "gen_ai.usage.details.reasoning_tokens": 4,
    "gen_ai.usage.details.cached_tokens": 20,
    "operation.cost": 1.92e-05,
    "gen_ai.response.finish_reasons": ["tool_call"],
}
EVENTS: list[JsonValue] = [
    {"content": "Be brief.", "role": "system", "gen_ai.system": "openai", "event.name": "gen_ai.system.message"},
    {"content": QUESTION, "role": "user", "gen_ai.message.index": 0, "event.name": "gen_ai.user.message"},
    {"role": "assistant", "tool_calls": [WRITTEN_CALL], "event.name": "gen_ai.assistant.message"},
    {
        "role": "tool",
        "id": "call_abc123",
        "name": "get_weather",
        "content": {"temp_c": 18, "sky": "cloudy"},
        "event.name": "gen_ai.tool.message",
    },
]
AGENT: dict[str, JsonValue] = {
    "model_name": "gpt-4o-mini",
    "agent_name": "weather_agent",
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.conversation.id": "01a22cfe",
    "logfire.msg": "weather_agent run",
    "final_result": ANSWER,
    "gen_ai.usage.input_tokens": 155,
    "gen_ai.usage.output_tokens": 29,
}
MESSAGES: list[JsonValue] = [
    {"role": "user", "parts": [{"type": "text", "content": QUESTION}]},
    {
        "role": "assistant",
        "parts": [
            {"type": "tool_call", "id": "call_abc123", "name": "get_weather", "arguments": json.dumps(ARGUMENTS)}
        ],
    },
    {
        "role": "user",
        "parts": [{"type": "tool_call_response", "id": "call_abc123", "name": "get_weather", "result": {"temp_c": 18}}],
    },
    {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}], "finish_reason": "stop"},
]

TOOL_RUN: dict[str, JsonValue] = {
    "gen_ai.tool.name": "get_weather",
    "gen_ai.tool.call.id": "call_abc123",
    "tool_arguments": json.dumps(ARGUMENTS),
    "logfire.msg": "running tool: get_weather",
}


class TestCalls:
    """Spans of model calls."""

    def test_events_in_one_attribute(self) -> None:
        """The first format has the conversation as a list of events, the answer as a choice."""
        answered: JsonValue = {"index": 0, "message": {"role": "assistant", "content": ANSWER}}
        assert isinstance(answered, dict)
        choice: JsonValue = {**answered, "event.name": "gen_ai.choice"}
        span = observed_call({**CHAT, "events": json.dumps([*EVENTS, choice])})

        assert span.input_messages == (
            SystemMessage(content=(TextContent("Be brief."),)),
            UserMessage(content=(TextContent(QUESTION),)),
            AssistantMessage(tool_calls=(CALL,)),
            ToolResultMessage(
                content=(TextContent('{"sky":"cloudy","temp_c":18}'),), name="get_weather", tool_call_id="call_abc123"
            ),
        )
        assert span.output == ANSWER
        assert (span.input_tokens, span.output_tokens) == (57, 17)
        assert (span.reasoning_tokens, span.cache_read_tokens, span.cost) == (4, 20, 1.92e-05)
        assert span.finish_reasons == ("tool_calls",)

    def test_an_answer_of_several_events(self) -> None:
        """Reasoning, text and tool calls of one answer may be several choices of index 0, and are one message."""
        choices: list[JsonValue] = [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": [{"kind": "thinking", "text": "Look."}, {"kind": "text", "text": "Let me look."}],
                },
                "event.name": "gen_ai.choice",
            },
            {"index": 0, "message": {"role": "assistant", "tool_calls": [WRITTEN_CALL]}, "event.name": "gen_ai.choice"},
        ]
        (said,) = observed_call({**CHAT, "events": choices}).output_messages

        assert isinstance(said, AssistantMessage)
        assert said.content == (ReasoningContent("Look."), TextContent("Let me look."))
        assert said.tool_calls == (CALL,)

    def test_images_in_events(self) -> None:
        """Texts are written without a type, images with their kind."""
        content: list[JsonValue] = [
            "Describe these.",
            {"kind": "binary", "media_type": "image/png", "binary_content": "iVBORw0K"},
            {"kind": "image-url", "url": "https://example.com/a.png"},
            {"kind": "binary", "media_type": "image/png"},
        ]
        asked: JsonValue = [{"content": content, "role": "user", "event.name": "gen_ai.user.message"}]
        (said,) = observed_call({**CHAT, "events": asked}).input_messages

        assert said.content == (
            TextContent("Describe these."),
            ImageContent("data:image/png;base64,iVBORw0K", "image/png"),
            ImageContent("https://example.com/a.png"),
            ImageContent("", "image/png"),
        )

    @pytest.mark.parametrize(
        ("part", "url"),
        [
            ({"type": "binary", "media_type": "image/png", "content": "iVBORw0K"}, "data:image/png;base64,iVBORw0K"),
            ({"type": "image-url", "url": "https://example.com/a.png"}, "https://example.com/a.png"),
            (
                {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "iVBORw0K"},
                "data:image/png;base64,iVBORw0K",
            ),
            ({"type": "uri", "modality": "image", "uri": "https://example.com/a.png"}, "https://example.com/a.png"),
        ],
    )
    def test_images_in_messages(self, part: JsonValue, url: str) -> None:
        """The formats since the second have images as parts, of its own types before the fourth."""
        asked: JsonValue = [{"role": "user", "parts": [{"type": "text", "content": "Describe this."}, part]}]
        (said,) = observed_call({**CHAT, "gen_ai.input.messages": json.dumps(asked)}).input_messages

        assert said.text == "Describe this."
        assert [part.url for part in said.content if isinstance(part, ImageContent)] == [url]

    def test_built_in_tools_are_no_tool_runs(self) -> None:
        """What the provider ran itself is in the answer between its words, and nothing for the app to answer."""
        parts: list[JsonValue] = [
            {"type": "tool_call", "id": "ws_1", "name": "web_search", "builtin": True, "arguments": {"q": "Paris"}},
            {"type": "tool_call_response", "id": "ws_1", "name": "web_search", "builtin": True, "result": "18°C"},
            {"type": "text", "content": ANSWER},
        ]
        answered: JsonValue = [{"role": "assistant", "parts": parts, "finish_reason": "stop"}]
        span = observed_call({**CHAT, "gen_ai.output.messages": json.dumps(answered)})

        assert span.output == ANSWER
        assert len(span.output_messages) == 1

    def test_tools_of_old_versions(self) -> None:
        """The tools offered stand in the request's parameters where they have no attribute of their own."""
        listed = json.dumps([{"type": "function", "name": "get_weather"}])

        assert [tool.name for tool in observed_call(CHAT).tool_definitions] == ["get_weather", "final_result"]
        named = observed_call({**CHAT, "gen_ai.tool.definitions": listed})
        assert [tool.name for tool in named.tool_definitions] == ["get_weather"]

    def test_a_call_that_failed(self) -> None:
        """A failed call has neither messages nor tokens, and an error."""
        raised = event("exception", {"exception.type": "ModelHTTPError", "exception.message": "status_code: 500"})
        failed = {key: value for key, value in CHAT.items() if "usage" not in key and "finish" not in key}
        span = observed_call(failed, raised, status_message="ModelHTTPError: status_code: 500")

        assert span.error is not None
        assert span.error_type == "ModelHTTPError"
        assert (span.input, span.output, span.input_tokens) == (None, None, None)


class TestAgents:
    """Spans of agents' runs."""

    @pytest.mark.parametrize(
        "said",
        [
            {"pydantic_ai.all_messages": json.dumps(MESSAGES)},
            {
                "all_messages_events": json.dumps(
                    [*EVENTS[1:], {"role": "assistant", "content": ANSWER, "event.name": "gen_ai.assistant.message"}]
                )
            },
        ],
    )
    def test_what_it_was_given_and_what_came_of_it(self, said: dict[str, JsonValue]) -> None:
        """The messages up to the question are the input; tool results in the user's name are none of the user's."""
        span = observed({**AGENT, **said})

        assert isinstance(span, AgentSpan)
        assert span.agent_name == "weather_agent"
        assert span.input == [{"role": "user", "content": QUESTION}]
        assert span.output == ANSWER
        assert [item.role for item in span.output_messages] == ["assistant", "tool", "assistant"]
        assert span.session_id == "01a22cfe"

    def test_instructions_come_first(self) -> None:
        """System instructions, which stand apart, are part of what the agent was given."""
        told = json.dumps([{"type": "text", "content": "Be brief."}])
        both = {"pydantic_ai.all_messages": json.dumps(MESSAGES), "gen_ai.system_instructions": told}

        span = observed({**AGENT, **both})

        assert isinstance(span, AgentSpan)
        assert [item.text for item in span.input_messages] == ["Be brief.", QUESTION]

    def test_structured_results(self) -> None:
        """A result that is no text is JSON."""
        assert observed({**AGENT, "final_result": '{"city":"Paris"}'}).output == {"city": "Paris"}

    def test_runs_that_failed(self) -> None:
        """Without a result, the question is there all the same."""
        asked = {key: value for key, value in AGENT.items() if key != "final_result"}
        span = observed({**asked, "pydantic_ai.all_messages": MESSAGES[:1]}, status_message="ModelHTTPError: 500")

        assert (span.input, span.output) == ([{"role": "user", "content": QUESTION}], None)
        assert span.error is not None

    def test_without_content(self) -> None:
        """Messages of which only roles and parts' types were recorded are nothing that was said."""
        bare: list[JsonValue] = [
            {"role": "user", "parts": [{"type": "text"}, {"type": "uri", "modality": "image"}]},
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "get_weather"}]},
            {"role": "assistant", "parts": [{"type": "text"}]},
        ]
        asked = {key: value for key, value in AGENT.items() if key != "final_result"}
        span = observed({**asked, "pydantic_ai.all_messages": json.dumps(bare)})

        assert (span.kind, span.input, span.output) == (ObservationKind.AGENT, None, None)

    def test_agents_before_operations_had_names(self) -> None:
        """Versions below 1 name no operation; without content they say as little as the agent's name and model."""
        old = {key: value for key, value in AGENT.items() if not key.startswith("gen_ai.operation")}

        assert observed(old).kind is ObservationKind.AGENT
        del old["final_result"]
        assert observed(old).kind is ObservationKind.AGENT
        assert observed({"agent_name": "a", "model_name": "m"}).kind is ObservationKind.OTHER
        assert observed({"agent_name": "a"}).dialects == ()

    def test_sessions(self) -> None:
        """A session in an agent's metadata counts before the conversation's id, which is made anew for each run."""
        said = {**AGENT, "metadata": json.dumps({"session_id": "session-ada-42"})}

        assert observed(said).session_id == "session-ada-42"
        assert observed(said).metadata == {"session_id": "session-ada-42"}


class TestTools:
    """Spans of tools."""

    @pytest.mark.parametrize("named", [{}, {"gen_ai.operation.name": "execute_tool"}])
    def test_first_formats(self, named: dict[str, JsonValue]) -> None:
        """Arguments and result have keys of their own in the first two formats."""
        span = observed({**TOOL_RUN, **named, "tool_response": '{"temp_c":18}'}, name="running tool")

        assert isinstance(span, ToolSpan)
        assert (span.tool_name, span.tool_call_id) == ("get_weather", "call_abc123")
        assert (span.arguments, span.result) == (ARGUMENTS, {"temp_c": 18})
        assert (span.input, span.output) == (span.arguments, span.result)

    def test_results_that_were_not_recorded(self) -> None:
        """The oldest versions do not record what a tool gave back."""
        span = observed(TOOL_RUN)

        assert isinstance(span, ToolSpan)
        assert (span.arguments, span.result) == (ARGUMENTS, None)

    def test_keys_of_somebody_else(self) -> None:
        """Arguments without the name of a tool are nobody's that is known."""
        assert observed({"tool_arguments": "{}"}).kind is ObservationKind.OTHER


def test_embeddings() -> None:
    """The texts stand in an attribute of its own."""
    said = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e", "gen_ai.usage.input_tokens": 18}
    span = observed({**said, "inputs": json.dumps(["a text", "another"])})

    assert isinstance(span, EmbeddingSpan)
    assert (span.texts, span.input_tokens) == (("a text", "another"), 18)
    assert observed({"inputs": ["a text"]}).kind is ObservationKind.OTHER


@given(
    st.dictionaries(
        st.sampled_from([key for name, key in vars(pydantic_ai_keys).items() if name.isupper()] + list(CHAT)),
        json_values | json_values.map(json.dumps) | st.sampled_from([json.dumps(EVENTS), json.dumps(MESSAGES)]),
        max_size=8,
    )
)
def test_any_json_is_read_without_error(attributes: dict[str, JsonValue]) -> None:
    """Whatever stands under the keys, nothing is raised."""
    observed(attributes)
