"""What frameworks were asked and what they answered, as OpenInference's instrumentors write it."""

from __future__ import annotations

import json

import pytest
from observed import observed, observed_call

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.messages import SystemMessage, TextContent, UserMessage

QUESTION = "What's the weather in Paris?"
ASKED = (
    "ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text=\"What's the weather in Paris?\")], "
    "_name=None, _meta={})"
)
ANSWERED = (
    "ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[TextContent(text='It is 18°C.')], _name=None, "
    "_meta={'model': 'gpt-4o-mini', 'index': 0, 'finish_reason': 'stop', 'usage': {'completion_tokens': 17, "
    "'prompt_tokens': 60, 'total_tokens': 77, 'completion_tokens_details': {'reasoning_tokens': 4}}})"
)
RAW = (
    "ChatCompletion(id='chatcmpl-10', choices=[Choice(finish_reason='tool_calls', index=0, logprobs=None, "
    "message=ChatCompletionMessage(content=None, role='assistant', tool_calls=[ChatCompletionMessageFunctionToolCall("
    "id='call_abc123', function=Function(arguments='{\"city\": \"Paris\"}', name='get_weather'), type='function')]))], "
    "model='gpt-4o-mini', object='chat.completion', usage=CompletionUsage(completion_tokens=17, prompt_tokens=60, "
    "total_tokens=77, completion_tokens_details=CompletionTokensDetails(reasoning_tokens=4), "
    "prompt_tokens_details=PromptTokensDetails(audio_tokens=0, cached_tokens=20)))"
)


def run(given: JsonValue = None, given_back: JsonValue = None, kind: str = "CHAIN") -> tuple[JsonValue, JsonValue]:
    """Give input and output of a span that recorded values as JSON."""
    span = observed(
        {
            "openinference.span.kind": kind,
            "input.value": json.dumps(given),
            "input.mime_type": "application/json",
            "output.value": json.dumps(given_back),
            "output.mime_type": "application/json",
        }
    )
    return span.input, span.output


def test_what_smolagents_was_asked() -> None:
    """The task is the question; with pictures or arguments beside it, all is shown."""
    task = {"task": QUESTION, "stream": False, "reset": True, "images": None, "additional_args": None}
    with_more = {**task, "additional_args": {"a": 1}}

    assert run(task, kind="AGENT")[0] == QUESTION
    assert run(with_more, kind="AGENT")[0] == with_more


def test_what_dspy_was_asked() -> None:
    """A module's arguments are its input."""
    assert run({"input_args": {"question": QUESTION}})[0] == {"question": QUESTION}


def test_what_a_pipeline_of_haystack_was_asked_and_answered() -> None:
    """Messages that were written as Python shows them are read; the one answer among the outputs is the answer."""
    given, given_back = run({"data": {"llm": {"messages": [ASKED]}}}, {"llm": {"replies": [ANSWERED]}})

    assert given == {"llm": {"messages": [{"role": "user", "content": QUESTION}]}}
    assert given_back == "It is 18°C."


def test_what_an_agent_of_haystack_answered() -> None:
    """An agent gives its last message beside all of them."""
    assert run(None, {"messages": [ASKED, ANSWERED], "last_message": ANSWERED})[1] == "It is 18°C."


def test_several_answers_are_all_shown() -> None:
    """Where several components answered, none of them is the answer."""
    _, given_back = run(None, {"a": {"replies": [ANSWERED]}, "b": {"replies": [ANSWERED]}})

    said = {"replies": [{"role": "assistant", "content": "It is 18°C."}]}
    assert given_back == {"a": said, "b": said}


@pytest.mark.parametrize("value", [QUESTION, 1, None, [], ["x"], {"data": 1}, {"replies": ["x"]}, {"task": "x"}])
def test_other_values_stay_as_they_are(value: JsonValue) -> None:
    """What has none of these shapes is given as it was recorded."""
    assert run(value, value) == (value, value)


def test_a_call_of_haystack() -> None:
    """Why the answer ended, and the details of the usage, stand in the message's metadata only."""
    span = observed_call(
        {
            "openinference.span.kind": "LLM",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "It is 18°C.",
            "llm.token_count.prompt": 60,
            "output.value": json.dumps({"replies": [ANSWERED]}),
        }
    )

    assert (span.finish_reasons, span.response_model) == (("stop",), "gpt-4o-mini")
    assert (span.input_tokens, span.output_tokens, span.reasoning_tokens) == (60, 17, 4)


def test_a_call_of_smolagents() -> None:
    """The provider's response stands in the answer, as Python shows it."""
    span = observed_call(
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "gpt-4o-mini",
            "output.value": json.dumps({"role": "assistant", "content": None, "raw": RAW}),
            "output.mime_type": "application/json",
        }
    )

    assert (span.finish_reasons, span.response_id) == (("tool_calls",), "chatcmpl-10")
    assert (span.cache_read_tokens, span.reasoning_tokens) == (20, 4)


def test_what_llamaindex_gives_a_model() -> None:
    """The outer of LlamaIndex's two spans of a call has its messages as Python shows them."""
    blocks = "additional_kwargs={}, blocks=[TextBlock(block_type='text', text='Hi')])"
    given = [f"ChatMessage(role=<MessageRole.{role.upper()}: '{role}'>, {blocks}" for role in ("system", "user")]
    span = observed_call({"openinference.span.kind": "LLM", "input.value": json.dumps({"messages": given})})

    assert span.input_messages == (
        SystemMessage(content=(TextContent("Hi"),)),
        UserMessage(content=(TextContent("Hi"),)),
    )


def test_the_id_of_a_call_that_only_the_response_has() -> None:
    """Google's instrumentor leaves the ids of tool calls to the response."""
    call = "llm.output_messages.0.message.tool_calls.0.tool_call.function"
    response = {
        "candidates": [
            {
                "content": {
                    "parts": [{"function_call": {"id": "call_1", "name": "f", "args": {"city": "Paris"}}}],
                    "role": "model",
                },
                "finish_reason": "STOP",
            }
        ],
        "response_id": "r",
    }
    span = observed_call(
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "gemini-2.5-flash",
            "llm.output_messages.0.message.role": "model",
            f"{call}.name": "f",
            f"{call}.arguments": '{"city": "Paris"}',
            "output.value": json.dumps(response),
        }
    )

    assert span.output == {
        "content": "",
        "tool_calls": [{"id": "call_1", "name": "f", "arguments": {"city": "Paris"}}],
    }
    assert span.finish_reasons == ("stop",)


def test_what_litellm_was_told_beside_the_request() -> None:
    """A session stands in the metadata of the parameters; the model, where nothing names it, in the response."""
    span = observed_call(
        {
            "openinference.span.kind": "LLM",
            "llm.invocation_parameters": '{"temperature": 0.2, "metadata": {"session_id": "session-ada-42"}}',
            "llm.output_messages.0.message.content": "Paris.",
            "llm.token_count.completion": 2,
            "llm.finish_reason": "stop",
            "output.value": '{"id": "chatcmpl-1", "model": "gpt-4o-mini", "choices": []}',
        }
    )

    assert (span.session_id, span.response_model) == ("session-ada-42", "gpt-4o-mini")


def test_deep_values_are_left_alone() -> None:
    """Messages are looked for in the first levels only."""
    value: JsonValue = [ASKED]
    for _ in range(8):
        value = {"a": value}

    assert run({"b": [ASKED], **value})[0] == {"b": [{"role": "user", "content": QUESTION}], **value}
