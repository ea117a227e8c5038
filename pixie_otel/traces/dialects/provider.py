"""Requests and responses of model providers, as several dialects record them whole.

OpenAI's chat completions, completions, embeddings and responses; Anthropic's messages; Google's contents; Bedrock's
converse; and what Ollama, Cohere and LlamaIndex make of them. They are read only for what a dialect's own attributes do
not say.

Source: the providers' API references, as of November 2026.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.reading import Reading
from pixie_otel.traces.dialects.toolcalls import tool_definitions
from pixie_otel.traces.dialects.values import first_text, first_whole, json_mapping, json_object, number
from pixie_otel.traces.messages import AssistantMessage, Message

__all__ = ["one_answer", "read_parameters", "read_request", "read_response", "read_usage"]

_MESSAGE_KEYS: Final = ("messages", "input", "contents", "prompt", "prompts")
_LIMIT_KEYS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxTokens", "maxOutputTokens")
_MODEL_KEYS: Final = ("model", "model_name", "modelId", "model_id")
_ANSWERED_BY_KEYS: Final = ("model", "model_version", "modelVersion", "model_name")
_ANSWER_ID_KEYS: Final = ("id", "response_id", "responseId")
_CONFIG_KEYS: Final = ("config", "generation_config", "generationConfig", "inferenceConfig", "toolConfig")
"""Where Google's and Bedrock's requests have their parameters."""
_INSTRUCTION_KEYS: Final = ("system", "instructions", "system_instruction", "systemInstruction")
_REASON_KEYS: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason", "finishReason")
_USAGE_KEYS: Final = ("usage", "usage_metadata", "usageMetadata", "token_usage")
_INPUT_KEYS: Final = (
    "prompt_tokens",
    "input_tokens",
    "prompt_token_count",
    "promptTokenCount",
    "inputTokens",
    "prompt_eval_count",
)
_OUTPUT_KEYS: Final = (
    "completion_tokens",
    "output_tokens",
    "candidates_token_count",
    "candidatesTokenCount",
    "outputTokens",
    "eval_count",
)
_OLLAMA_KEYS: Final = ("prompt_eval_count", "eval_count")
_TOTAL_KEYS: Final = ("total_tokens", "totalTokens")
_INPUT_DETAILS_KEYS: Final = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_OUTPUT_DETAILS_KEYS: Final = ("completion_tokens_details", "output_tokens_details", "output_token_details")
_CACHE_READ_KEYS: Final = ("cache_read_input_tokens", "cacheReadInputTokens")
_CACHE_CREATION_KEYS: Final = ("cache_creation_input_tokens", "cacheWriteInputTokens")
_CACHED_KEYS: Final = (
    "cached_tokens",
    "cache_read",
    "cached_content_token_count",
    "cachedContentTokenCount",
    "cachedContentTokens",
)
_THOUGHT_KEYS: Final = ("thoughts_token_count", "thoughtsTokenCount", "thoughtsTokens")


def read_parameters(value: JsonValue) -> Reading:
    """Read a request's parameters: model, sampling, tools.

    Args:
        value: The parameters, or JSON text of them.
    """
    found = json_object(value)
    if found is None:
        return Reading()
    found = _with_config(found)
    tools = found.get("tools")
    return Reading(
        request_model=first_text(found, _MODEL_KEYS),
        request_temperature=number(found.get("temperature")),
        request_max_tokens=first_whole(found, _LIMIT_KEYS),
        request_top_p=number(found.get("top_p", found.get("topP"))),
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
        if (key in ("prompt", "prompts") or _are_messages(said)) and (read := messages(said)):
            reading.input_messages = (*_instructions(_with_config(found)), *read)
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
        response_model=first_text(found, _ANSWERED_BY_KEYS),
        response_id=first_text(found, _ANSWER_ID_KEYS),
        output_messages=answers or None,
        raw_finish_reasons=reasons or None,
    )
    for key in _USAGE_KEYS:
        if (usage := json_object(found.get(key))) is not None:
            reading.fill(read_usage(usage))
            break
    else:
        # Ollama's stands among the rest.
        reading.fill(read_usage({key: said for key, said in found.items() if key in _OLLAMA_KEYS}))
    if isinstance(raw := found.get("raw"), dict):
        # LlamaIndex gives the provider's response beside its own.
        reading.fill(read_response({key: said for key, said in raw.items() if key != "raw"}))
    return reading


def read_usage(usage: Mapping[str, JsonValue]) -> Reading:
    """Read how many tokens a call took, as a provider counts them.

    Args:
        usage: OpenAI's, Anthropic's, Google's, Bedrock's, Cohere's, Ollama's or LangChain's record.
    """
    # Cohere counts what is billed as well, which is less.
    usage = {**usage, **json_mapping(usage.get("tokens"))}
    details_in = _first_mapping(usage, _INPUT_DETAILS_KEYS)
    details_out = _first_mapping(usage, _OUTPUT_DETAILS_KEYS)
    input_tokens, output_tokens = first_whole(usage, _INPUT_KEYS), first_whole(usage, _OUTPUT_KEYS)
    cache_read, cache_creation = first_whole(usage, _CACHE_READ_KEYS), first_whole(usage, _CACHE_CREATION_KEYS)
    thoughts = first_whole(usage, _THOUGHT_KEYS)
    if input_tokens is not None and first_whole(usage, _TOTAL_KEYS) != input_tokens + (output_tokens or 0):
        # Anthropic counts cached tokens apart, everybody else among the input.
        input_tokens += (cache_read or 0) + (cache_creation or 0)
    if output_tokens is not None:
        # Google counts thoughts apart.
        output_tokens += thoughts or 0
    if cache_read is None:
        cache_read = first_whole({**usage, **details_in}, _CACHED_KEYS)
    if cache_creation is None:
        cache_creation = first_whole(details_in, ("cache_creation", "cache_write_tokens"))
    reasoning = first_whole(details_out, ("reasoning_tokens", "reasoning"))
    return Reading(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=cache_read,
        cache_creation_tokens=cache_creation,
        reasoning_tokens=thoughts if reasoning is None else reasoning,
    )


def _with_config(request: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Give a request with what lies one level down in it beside the rest."""
    inner = [below for key in _CONFIG_KEYS if isinstance(below := request.get(key), dict)]
    if not inner:
        return request
    merged: dict[str, JsonValue] = {}
    for below in inner:
        merged.update(below)
    return {**merged, **request}


def _instructions(request: dict[str, JsonValue]) -> tuple[Message, ...]:
    said = next((found for key in _INSTRUCTION_KEYS if (found := request.get(key))), None)
    if said is None:
        return ()
    content = said["parts"] if isinstance(said, dict) and "parts" in said else said
    return messages({"role": "system", "content": content})


def _are_messages(value: JsonValue) -> bool:
    """Say whether a request's field holds messages: LlamaIndex writes the ``repr`` of its own objects there."""
    return isinstance(value, str) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value))


def _answers(response: dict[str, JsonValue]) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    for key in ("choices", "candidates"):
        if isinstance(choices := response.get(key), list):
            return _choices(choices)
    reason = first_text(response, _REASON_KEYS)
    reasons = (reason,) if reason else ()
    output = response.get("output")
    if isinstance(output, list) and response.get("object") == "response":
        return one_answer(messages(output, role="assistant")), ()
    if response.get("role") == "assistant" and isinstance(response.get("content"), list):
        return messages({"role": "assistant", "content": response["content"]}), reasons
    said = output.get("message") if isinstance(output, dict) else response.get("message")
    if isinstance(said, dict):
        return messages(said, role="assistant"), reasons
    return (), ()


def _choices(choices: list[JsonValue]) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    read: list[Message] = []
    reasons: list[str] = []
    for choice in _objects(choices):
        said = choice.get("message", choice.get("content", choice.get("text")))
        read.extend(messages(said, role="assistant"))
        if reason := first_text(choice, _REASON_KEYS):
            reasons.append(reason)
    return tuple(read), tuple(reasons)


def one_answer(items: tuple[Message, ...]) -> tuple[Message, ...]:
    """Make one message of the items of one answer: OpenAI's responses list text, reasoning and calls one by one.

    Args:
        items: The items, each as a message.
    """
    if len(items) <= 1:
        return items
    calls = tuple(call for item in items if isinstance(item, AssistantMessage) for call in item.tool_calls)
    return (AssistantMessage(content=tuple(part for item in items for part in item.content), tool_calls=calls),)


def _first_mapping(found: Mapping[str, JsonValue], names: tuple[str, ...]) -> dict[str, JsonValue]:
    for name in names:
        if below := json_mapping(found.get(name)):
            return below
    return {}


def _objects(values: list[JsonValue]) -> Iterator[dict[str, JsonValue]]:
    return (value for value in values if isinstance(value, dict))
