"""Requests and responses of providers, recorded whole."""

from __future__ import annotations

import json

import pytest

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.dialects.provider import read_parameters, read_request, read_response, read_usage
from pixie_otel.traces.messages import AssistantMessage, SystemMessage, TextContent, UserMessage

USER = UserMessage(content=(TextContent("Hi"),))
ANSWER = AssistantMessage(content=(TextContent("Hello"),))


@pytest.mark.parametrize(
    "request_json",
    [
        {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
        {"model": "m", "input": "Hi"},
        {"model": "m", "input": [{"role": "user", "content": "Hi"}]},
        {"model": "m", "prompt": "Hi"},
        {"model": "m", "prompt": ["Hi"]},
        {"model_name": "m", "contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    ],
)
def test_requests(request_json: dict[str, object]) -> None:
    """The messages are found under each provider's name for them, in objects and in JSON text."""
    for given in (request_json, json.dumps(request_json)):
        reading = read_request(given)
        assert (reading.request_model, reading.input_messages) == ("m", (USER,))


def test_instructions_come_first() -> None:
    """Anthropic's and OpenAI's instructions beside the messages are the system's message."""
    system = SystemMessage(content=(TextContent("Be brief."),))

    assert read_request({"system": "Be brief.", "messages": "Hi"}).input_messages == (system, USER)
    assert read_request({"instructions": "Be brief.", "input": "Hi"}).input_messages == (system, USER)
    blocks = {"system": [{"type": "text", "text": "Be brief."}], "messages": "Hi"}
    assert read_request(blocks).input_messages == (system, USER)


def test_parameters() -> None:
    """Sampling and tools are read, whichever name the limit has."""
    reading = read_parameters(
        {"temperature": 0, "max_completion_tokens": 5, "top_p": 0.5, "tools": [{"name": "f"}, "no tool"]}
    )

    assert (reading.request_temperature, reading.request_max_tokens, reading.request_top_p) == (0.0, 5, 0.5)
    assert reading.tool_definitions is not None
    assert [tool.name for tool in reading.tool_definitions] == ["f"]
    assert read_parameters({"max_tokens": 0}).request_max_tokens == 0


@pytest.mark.parametrize("value", [None, "text", "[1]", 5, {}, {"messages": ["<repr of an object>"]}, {"input": 5}])
def test_what_is_no_request(value: object) -> None:
    """Anything else says nothing."""
    assert read_request(value).input_messages is None


def test_a_chat_completion() -> None:
    """Answers, reasons, model, id and tokens of OpenAI's chat completions; and of its completions."""
    reading = read_response(
        {
            "id": "r1",
            "model": "m-1",
            "choices": [
                {"finish_reason": "stop", "message": {"role": "assistant", "content": "Hello"}},
                {"finish_reason": "length", "text": "Hello"},
                {"finish_reason": None, "text": ""},
                "no choice",
            ],
            "usage": {
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 1},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        }
    )

    assert reading.output_messages == (ANSWER, ANSWER)
    assert reading.raw_finish_reasons == ("stop", "length")
    assert (reading.response_id, reading.response_model) == ("r1", "m-1")
    assert (reading.input_tokens, reading.output_tokens) == (3, 2)
    assert (reading.cache_read_tokens, reading.reasoning_tokens) == (1, 0)


def test_a_response_is_one_answer() -> None:
    """OpenAI's responses list text, reasoning and calls one by one; together they are one answer."""
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}
    reading = read_response(
        {"object": "response", "output": [text, call], "usage": {"input_tokens": 3, "output_tokens": 2}}
    )

    assert reading.output_messages == (
        AssistantMessage(content=(TextContent("Hello"),), tool_calls=(ToolCall("f", {}, "c"),)),
    )
    assert (reading.input_tokens, reading.output_tokens) == (3, 2)
    assert read_response({"object": "response", "output": [text]}).output_messages == (ANSWER,)


def test_an_anthropic_message() -> None:
    """Anthropic's answer, and why it ended."""
    said = {"role": "assistant", "content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn"}

    assert read_response(said).output_messages == (ANSWER,)
    assert read_response(said).raw_finish_reasons == ("end_turn",)
    assert read_response({**said, "stop_reason": None}).raw_finish_reasons is None


def test_cached_tokens_are_among_the_input() -> None:
    """Anthropic counts what came from the cache apart; the input of a call is all of it."""
    usage = {"input_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 100, "output_tokens": 2}
    reading = read_response({"usage": usage})

    assert (reading.input_tokens, reading.cache_read_tokens, reading.cache_creation_tokens) == (123, 20, 100)
    assert read_response({"usage": {"output_tokens": 2}}).input_tokens is None


@pytest.mark.parametrize("value", [None, "text", {}, {"output": []}, {"content": "x"}, {"choices": 5}])
def test_what_is_no_response(value: object) -> None:
    """Anything else says nothing."""
    assert read_response(value).output_messages is None


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        # A total tells that cached tokens are among the input after all.
        (
            {"input_tokens": 57, "output_tokens": 17, "total_tokens": 74, "cache_read_input_tokens": 20},
            (57, 17, 20, None, None),
        ),
        (
            {
                "inputTokens": 37,
                "outputTokens": 17,
                "totalTokens": 79,
                "cacheReadInputTokens": 20,
                "cacheWriteInputTokens": 5,
            },
            (62, 17, 20, 5, None),
        ),
        # Google counts thoughts apart.
        (
            {
                "promptTokenCount": 57,
                "candidatesTokenCount": 13,
                "thoughtsTokenCount": 4,
                "cachedContentTokenCount": 20,
            },
            (57, 17, 20, None, 4),
        ),
        (
            {"prompt_token_count": 57, "candidates_token_count": 13, "thoughts_token_count": 4},
            (57, 17, None, None, 4),
        ),
        (
            {
                "input_tokens": 57,
                "output_tokens": 17,
                "input_token_details": {"cache_read": 20, "cache_creation": 5},
                "output_token_details": {"reasoning": 4},
            },
            (57, 17, 20, 5, 4),
        ),
        ({}, (None, None, None, None, None)),
    ],
)
def test_usage(usage: dict[str, object], tokens: tuple[int | None, ...]) -> None:
    """Input is with what was cached and output with what was thought, however a provider counts."""
    for reading in (read_usage(usage), read_response({"usage": usage})):
        assert tokens == (
            reading.input_tokens,
            reading.output_tokens,
            reading.cache_read_tokens,
            reading.cache_creation_tokens,
            reading.reasoning_tokens,
        )


def test_llama_index() -> None:
    """LlamaIndex gives the provider's response beside its own."""
    raw = {"model": "m-1", "choices": [{"finish_reason": "stop"}], "usage": {"prompt_tokens": 3}, "raw": {"model": "x"}}
    reading = read_response({"message": {"role": "assistant", "content": "Hello"}, "raw": raw})

    assert reading.output_messages == (ANSWER,)
    assert (reading.response_model, reading.raw_finish_reasons, reading.input_tokens) == ("m-1", ("stop",), 3)


def test_usage_of_cohere_and_ollama() -> None:
    """Cohere counts what is billed as well as what was used; Ollama's counts stand beside the answer."""
    cohere = read_usage({"billed_units": {"input_tokens": 3}, "tokens": {"input_tokens": 30, "output_tokens": 4}})
    ollama = read_response({"message": {"role": "assistant", "content": "A"}, "prompt_eval_count": 3, "eval_count": 4})

    assert (cohere.input_tokens, cohere.output_tokens) == (30, 4)
    assert (ollama.input_tokens, ollama.output_tokens) == (3, 4)
