"""The calls of providers that Logfire instruments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from observed import observed, observed_call

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.messages import AssistantMessage, ImageContent, ReasoningContent, TextContent
from pixie_otel.traces.spans import (
    EmbeddingSpan,
    LLMSpan,
)

if TYPE_CHECKING:
    from pixie_otel.evaluable import JsonValue

QUESTION = "What is the capital of France?"
ANSWER = "The capital of France is Paris."
ARGUMENTS = {"city": "Paris", "unit": "celsius"}
REQUEST = {
    "model": "gpt-4o-mini",
    "temperature": 0.2,
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}],
    "tools": [{"type": "function", "function": {"name": "get_weather"}}],
}
USAGE = {
    "prompt_tokens": 57,
    "completion_tokens": 17,
    "total_tokens": 74,
    "prompt_tokens_details": {"cached_tokens": 20},
    "completion_tokens_details": {"reasoning_tokens": 4},
}
OLD_CALL: dict[str, JsonValue] = {
    "request_data": json.dumps(REQUEST),
    "gen_ai.request.model": "gpt-4o-mini",
    "logfire.msg_template": "Chat Completion with {request_data[model]!r}",
    "logfire.span_type": "span",
}


def answered(message: dict[str, JsonValue], usage: object = USAGE) -> dict[str, JsonValue]:
    """Give the attribute that holds a response."""
    return {"response_data": json.dumps({"message": message, "usage": usage})}


class TestCalls:
    """Spans of the calls of providers' SDKs."""

    def test_request_and_response(self) -> None:
        """Old versions name no operation: what has a request is a model call."""
        span = observed_call({**OLD_CALL, **answered({"role": "assistant", "content": ANSWER, "tool_calls": None})})

        assert span.input == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]
        assert span.output == ANSWER
        assert (span.input_tokens, span.output_tokens) == (57, 17)
        assert (span.cache_read_tokens, span.reasoning_tokens) == (20, 4)
        assert (span.request_model, span.request_temperature) == ("gpt-4o-mini", 0.2)
        assert [tool.name for tool in span.tool_definitions] == ["get_weather"]

    @pytest.mark.parametrize(
        ("call", "arguments"),
        [
            (
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": json.dumps(ARGUMENTS)}},
                ARGUMENTS,
            ),
            (
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"input":{"a":1}}'}},
                {"input": {"a": 1}},
            ),
            ({"id": "c", "function": {"name": "f", "arguments": '{"input":{"a":1}}'}}, {"a": 1}),
            ({"id": "c", "function": {"name": "f", "arguments": '{"a":1}'}}, {"a": 1}),
        ],
    )
    def test_tool_calls(self, call: JsonValue, arguments: JsonValue) -> None:
        """Of Anthropic's tool calls the arguments are written within ``input``, and the type is not."""
        (said,) = observed_call({**OLD_CALL, **answered({"role": "assistant", "tool_calls": [call]})}).output_messages

        assert isinstance(said, AssistantMessage)
        assert said.tool_calls == (ToolCall("f", arguments, "c"),)

    def test_anthropics_tokens(self) -> None:
        """Cached tokens, which Anthropic counts apart, are among the input."""
        usage = {
            "input_tokens": 37,
            "output_tokens": 17,
            "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 3,
        }
        span = observed_call({**OLD_CALL, **answered({"role": "assistant", "content": ANSWER}, usage)})

        assert (span.input_tokens, span.cache_read_tokens, span.cache_creation_tokens) == (60, 20, 3)

    def test_the_halves_of_a_stream(self) -> None:
        """The span of a stream has the question, its log span the answer as well; both are calls."""
        log = {
            **OLD_CALL,
            "logfire.span_type": "log",
            "logfire.msg_template": "streaming response from {request_data[model]!r} took {duration:.2f}s",
            "response_data": '{"combined_chunk_content":"The capital of France is Paris.","chunk_count":2}',
            "gen_ai.usage.raw": json.dumps(USAGE),
            "gen_ai.response.finish_reasons": '["stop"]',
        }
        first, second = observed_call(OLD_CALL), observed_call(log)

        assert (first.output, first.input) == (None, second.input)
        assert (second.output, second.input_tokens, second.finish_reasons) == (ANSWER, 57, ("stop",))

    def test_completions(self) -> None:
        """A completion's prompt and text are messages too."""
        request = json.dumps({"model": "gpt-3.5-turbo-instruct", "prompt": QUESTION})
        response = json.dumps({"finish_reason": "stop", "text": ANSWER, "usage": {"prompt_tokens": 5}})
        span = observed_call({**OLD_CALL, "request_data": request, "response_data": response})

        assert (span.input, span.output) == ([{"role": "user", "content": QUESTION}], ANSWER)
        assert (span.finish_reasons, span.input_tokens) == (("stop",), 5)

    def test_current_attributes_count(self) -> None:
        """Where the conversation is there in GenAI's words, the request says nothing more."""
        said = {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
            "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}],
            "gen_ai.usage.raw": json.dumps(USAGE),
            "operation.cost": 1.7e-05,
        }
        span = observed_call({**OLD_CALL, **said, **answered({"role": "assistant", "content": ANSWER})})

        assert (span.input, span.output) == ([{"role": "user", "content": "Hi"}], "Hello")
        assert (span.reasoning_tokens, span.cost, span.dialects) == (4, 1.7e-05, ("logfire", "gen_ai"))

    def test_embeddings(self) -> None:
        """A request with ``input`` embeds it; that of responses stands elsewhere."""
        request = {"model": "text-embedding-3-small", "input": ["a text", "another"]}
        span = observed({**OLD_CALL, "request_data": json.dumps(request), "gen_ai.usage.input_tokens": 18})

        assert isinstance(span, EmbeddingSpan)
        assert (span.texts, span.input_tokens) == (("a text", "another"), 18)

    @pytest.mark.parametrize(
        "other",
        [
            {"response_data": '{"images": [{"url": "https://example.com/a.png"}]}'},
            {"gen_ai.operation.name": "image_generation"},
            {"url": "/v1/messages/count_tokens"},
        ],
    )
    def test_calls_of_no_language_model(self, other: dict[str, JsonValue]) -> None:
        """Images that are made, and other requests, are no calls of a language model."""
        span = observed({**OLD_CALL, **other})

        assert not isinstance(span, LLMSpan)
        assert span.input == REQUEST


class TestResponses:
    """Calls of OpenAI's responses."""

    CALL = json.dumps({"model": "gpt-4o-mini", "stream": False})
    ASKED = (
        {"event.name": "gen_ai.system.message", "content": "Be brief.", "role": "system"},
        {"event.name": "gen_ai.user.message", "content": "My name is Ada.", "role": "user"},
        {"event.name": "gen_ai.assistant.message", "content": "Hello, Ada.", "role": "assistant"},
        {"event.name": "gen_ai.developer.message", "content": "Be kind.", "role": "developer"},
        {"event.name": "gen_ai.user.message", "content": QUESTION, "role": "user"},
    )
    REASONING = (
        {
            "event.name": "gen_ai.unknown",
            "role": "assistant",
            "content": "reasoning\n\nSee JSON for details",
            "data": {"type": "reasoning", "summary": [{"type": "summary_text", "text": "France."}]},
        },
    )
    SAID = (
        {"event.name": "gen_ai.assistant.message", "content": "Let me look.", "role": "assistant"},
        {
            "event.name": "gen_ai.assistant.message",
            "role": "assistant",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": json.dumps(ARGUMENTS)}}
            ],
        },
    )

    def call(self, *events: object, **more: JsonValue) -> LLMSpan:
        """Read a call with some events."""
        return observed_call(
            {
                **OLD_CALL,
                "request_data": self.CALL,
                "events": json.dumps(events),
                **{key.replace("__", "."): value for key, value in more.items()},
            }
        )

    def test_the_answer_stands_last(self) -> None:
        """Reasoning, text and calls at the end are one answer; what was said before the question is history."""
        span = self.call(*self.ASKED, *self.REASONING, *self.SAID, gen_ai__response__id="resp_1")
        (said,) = span.output_messages

        assert [item.role for item in span.input_messages] == ["system", "user", "assistant", "developer", "user"]
        assert isinstance(said, AssistantMessage)
        assert said.content == (ReasoningContent("France."), TextContent("Let me look."))
        assert said.tool_calls == (ToolCall("f", ARGUMENTS, "c"),)

    def test_before_an_answer(self) -> None:
        """Without anything that an answer leaves, the last words are part of the question."""
        span = self.call(*self.ASKED, *self.SAID[:1])

        assert (len(span.input_messages), span.output_messages) == (6, ())

    def test_without_request(self) -> None:
        """The oldest versions write the events alone."""
        said = {**OLD_CALL, "events": json.dumps([*self.ASKED, *self.SAID]), "gen_ai.usage.output_tokens": 17}
        del said["request_data"]

        assert len(observed_call(said).output_messages) == 1

    @pytest.mark.parametrize(
        "events",
        [
            [
                {"event.name": "gen_ai.user.message", "content": "Describe this.", "role": "user"},
                {"event.name": "gen_ai.user.message", "content": "data:image/png;base64,iVBORw0K", "role": "user"},
            ],
            [
                {"event.name": "gen_ai.unknown", "role": "unknown", "data": {"type": "input_text", "text": item}}
                if not item.startswith("data:")
                else {
                    "event.name": "gen_ai.unknown",
                    "role": "unknown",
                    "data": {"type": "input_image", "image_url": item},
                }
                for item in ("Describe this.", "data:image/png;base64,iVBORw0K")
            ],
        ],
    )
    def test_images_belong_to_the_text_before_them(self, events: list[object]) -> None:
        """An image is an event of its own, which holds its URI as if it were text, or is not known at all."""
        (said,) = self.call(*events).input_messages

        assert said.content == (TextContent("Describe this."), ImageContent("data:image/png;base64,iVBORw0K"))

    def test_an_image_alone(self) -> None:
        """An image that follows nobody's text is a message."""
        image = {"event.name": "gen_ai.user.message", "content": "data:image/png;base64,iVBORw0K", "role": "user"}

        assert [item.text for item in self.call(*self.SAID[:1], image, image).input_messages] == ["Let me look.", ""]

    def test_one_answer_of_several_messages(self) -> None:
        """In GenAI's words each item of the answer is a message; only choices, which end, are several answers."""
        text: JsonValue = {"role": "assistant", "parts": [{"type": "text", "content": "Let me look."}]}
        call: JsonValue = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f"}]}
        choices: JsonValue = [
            {"role": "assistant", "parts": [{"type": "text", "content": said}], "finish_reason": "stop"}
            for said in ("A", "B")
        ]

        span = observed_call({**OLD_CALL, "gen_ai.output.messages": json.dumps([text, call])})
        assert span.output == {"content": "Let me look.", "tool_calls": [{"id": "c", "name": "f"}]}
        assert observed_call({**OLD_CALL, "gen_ai.output.messages": json.dumps(choices)}).output == ["A", "B"]

    def test_events_hold_the_reasoning(self) -> None:
        """With both vocabularies on a span, the answer is read from the events, which leave nothing out."""
        both: dict[str, JsonValue] = {
            "gen_ai__input__messages": [{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}],
            "gen_ai__output__messages": [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}],
            "gen_ai__response__id": "resp_1",
        }
        said = {"event.name": "gen_ai.assistant.message", "content": ANSWER, "role": "assistant"}
        span = self.call(*self.ASKED, *self.REASONING, said, **both)

        assert span.output_messages[0].reasoning == "France."
        assert span.input == [{"role": "user", "content": QUESTION}]
