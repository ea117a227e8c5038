"""Requests and responses of model providers, as several dialects record them whole.

OpenAI's chat completions, completions, embeddings and responses; Anthropic's messages; Google's contents. They are read
only for what a dialect's own attributes do not say.

Source: the providers' API references, as of November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.reading import Reading
from pixie_otel.traces.dialects.toolcalls import tool_definitions
from pixie_otel.traces.dialects.values import json_mapping, json_object, number, text, whole
from pixie_otel.traces.messages import AssistantMessage, Message

__all__ = ["read_parameters", "read_request", "read_response"]

_MESSAGE_KEYS: Final = ("messages", "input", "contents", "prompt")
_LIMIT_KEYS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def read_parameters(value: JsonValue) -> Reading:
    """Read a request's parameters: model, sampling, tools.

    Args:
        value: The parameters, or JSON text of them.
    """
    found = json_object(value)
    if found is None:
        return Reading()
    tools = found.get("tools")
    return Reading(
        request_model=text(found.get("model")) or text(found.get("model_name")),
        request_temperature=number(found.get("temperature")),
        request_max_tokens=next((limit for key in _LIMIT_KEYS if (limit := whole(found.get(key))) is not None), None),
        request_top_p=number(found.get("top_p")),
        tool_definitions=(tool_definitions(tools) or None) if isinstance(tools, list) else None,
    )


def read_request(value: JsonValue) -> Reading:
    """Read a request: its parameters, and the messages in it.

    Args:
        value: The request, or JSON text of it.
    """
    found = json_object(value)
    if found is None:
        return Reading()
    reading = read_parameters(found)
    for key in _MESSAGE_KEYS:
        said = found.get(key)
        if (key == "prompt" or _are_messages(said)) and (read := messages(said)):
            instructions = found.get("system") or found.get("instructions")
            told = messages({"role": "system", "content": instructions}) if instructions else ()
            reading.input_messages = (*told, *read)
            break
    return reading


def read_response(value: JsonValue) -> Reading:
    """Read a response: the answer, why it ended, the model and the tokens.

    Args:
        value: The response, or JSON text of it.
    """
    found = json_object(value)
    if found is None:
        return Reading()
    answers, reasons = _answers(found)
    reading = Reading(
        response_model=text(found.get("model")),
        response_id=text(found.get("id")),
        output_messages=answers or None,
        raw_finish_reasons=reasons or None,
    )
    usage = json_object(found.get("usage"))
    if usage is not None:
        reading.fill(_usage(usage))
    return reading


def _are_messages(value: JsonValue) -> bool:
    """Say whether a request's field holds messages: LlamaIndex writes the ``repr`` of its own objects there."""
    return isinstance(value, str) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))


def _answers(response: dict[str, JsonValue]) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    if isinstance(choices := response.get("choices"), list):
        read: list[Message] = []
        reasons: list[str] = []
        for choice in _objects(choices):
            said = choice.get("message", choice.get("text"))
            read.extend(messages(said, role="assistant"))
            if reason := text(choice.get("finish_reason")):
                reasons.append(reason)
        return tuple(read), tuple(reasons)
    if isinstance(output := response.get("output"), list) and response.get("object") == "response":
        return _merged(messages(output, role="assistant")), ()
    if isinstance(content := response.get("content"), list) and response.get("role") == "assistant":
        reason = text(response.get("stop_reason"))
        return messages({"role": "assistant", "content": content}), (reason,) if reason else ()
    return (), ()


def _merged(items: tuple[Message, ...]) -> tuple[Message, ...]:
    """Make one message of the items of one answer: OpenAI's responses list text, reasoning and calls one by one."""
    if len(items) <= 1:
        return items
    calls = tuple(call for item in items if isinstance(item, AssistantMessage) for call in item.tool_calls)
    return (AssistantMessage(content=tuple(part for item in items for part in item.content), tool_calls=calls),)


def _usage(usage: dict[str, JsonValue]) -> Reading:
    details_in = json_mapping(usage.get("prompt_tokens_details", usage.get("input_tokens_details")))
    details_out = json_mapping(usage.get("completion_tokens_details", usage.get("output_tokens_details")))
    input_tokens = whole(usage.get("prompt_tokens", usage.get("input_tokens")))
    cache_read = whole(usage.get("cache_read_input_tokens"))
    cache_creation = whole(usage.get("cache_creation_input_tokens"))
    if input_tokens is not None:
        # Anthropic counts cached tokens apart, everybody else among the input.
        input_tokens += (cache_read or 0) + (cache_creation or 0)
    return Reading(
        input_tokens=input_tokens,
        output_tokens=whole(usage.get("completion_tokens", usage.get("output_tokens"))),
        cache_read_tokens=whole(details_in.get("cached_tokens")) if cache_read is None else cache_read,
        cache_creation_tokens=cache_creation,
        reasoning_tokens=whole(details_out.get("reasoning_tokens")),
    )


def _objects(values: list[JsonValue]) -> Iterator[dict[str, JsonValue]]:
    return (value for value in values if isinstance(value, dict))
