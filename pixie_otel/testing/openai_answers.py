"""Answers in the form of OpenAI's API: chat completions, responses and embeddings, whole and as events of a stream."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias, cast

from pixie_otel.testing.replies import FunctionCall, Reply

__all__ = [
    "Body",
    "Embedder",
    "chat_completion",
    "chat_events",
    "embedding",
    "embeddings",
    "model",
    "response",
    "response_events",
]

Body: TypeAlias = dict[str, Any]
Embedder: TypeAlias = Callable[[str], Sequence[float]]

_CREATED: Final = 1_764_500_000
"""The same in every answer, so that tests can compare whole answers."""

_DIMENSIONS: Final = 128
_WORDS: Final = re.compile(r"\w+|[^\w\s]")
_PIECES: Final = re.compile(r"\s*\S+\s*$|\s*\S+|\s+$")


def chat_completion(request: Body, reply: Reply, number: int) -> Body:
    """Give a chat completion.

    Args:
        request: The request's body.
        reply: What the model answers.
        number: Which request this is; ids are made of it.
    """
    message: Body = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.tool_calls:
        message["tool_calls"] = [_chat_call(call, number, at) for at, call in enumerate(reply.tool_calls)]
    choices = [
        {"index": index, "message": message, "finish_reason": _finish_reason(reply), "logprobs": None, **reply.choice}
        for index in range(request.get("n") or 1)
    ]
    return {
        **_chat_head(request, number, "chat.completion"),
        "choices": choices,
        "usage": _chat_usage(request.get("messages"), reply),
    }


def chat_events(request: Body, reply: Reply, number: int) -> Iterator[str]:
    """Give a chat completion as the events of a stream, up to the one that says that it is done.

    Args:
        request: The request's body.
        reply: What the model answers.
        number: Which request this is.
    """
    options: Body = request.get("stream_options") or {}
    with_usage = bool(options.get("include_usage"))
    head = _chat_head(request, number, "chat.completion.chunk") | ({"usage": None} if with_usage else {})
    for index in range(request.get("n") or 1):
        for delta, finish_reason in _chat_deltas(reply, number):
            more = dict(reply.choice) if finish_reason else {}
            choice = {"index": index, "delta": delta, "finish_reason": finish_reason, "logprobs": None, **more}
            yield _event(head | {"choices": [choice]})
    if with_usage:
        yield _event(head | {"choices": [], "usage": _chat_usage(request.get("messages"), reply)})
    yield "data: [DONE]\n\n"


def response(request: Body, reply: Reply, number: int) -> Body:
    """Give an answer of the Responses API.

    Args:
        request: The request's body.
        reply: What the model answers.
        number: Which request this is.
    """
    items = [item for item, _ in _response_items(reply, number)]
    prompt, completion = _tokens([request.get("instructions"), request.get("input")], reply)
    is_cut = _finish_reason(reply) == "length"
    return _response_head(request, number) | {
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": items,
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": completion,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + completion,
        },
    }


def response_events(request: Body, reply: Reply, number: int) -> Iterator[str]:
    """Give an answer of the Responses API as the events of a stream.

    Args:
        request: The request's body.
        reply: What the model answers.
        number: Which request this is.
    """
    whole = response(request, reply, number)
    bare: Body = {**_response_head(request, number), "status": "in_progress", "output": []}
    kinds: list[Body] = [
        {"type": "response.created", "response": bare},
        {"type": "response.in_progress", "response": bare},
    ]
    for at, (item, parts) in enumerate(_response_items(reply, number)):
        kinds.extend(event | {"output_index": at} for event in _item_events(item, parts))
    kinds.append({"type": f"response.{whole['status']}", "response": whole})
    for sequence, event in enumerate(kinds):
        yield _event(event | {"sequence_number": sequence}, event["type"])


def embeddings(request: Body, embed: Embedder | None = None) -> Body:
    """Give the vectors of a request's texts.

    Args:
        request: The request's body.
        embed: What makes a vector of a text; `embedding` where not given.
    """
    texts = _texts(request.get("input"))
    count = request.get("dimensions") or _DIMENSIONS
    data: list[Body] = []
    for index, text in enumerate(texts):
        text_of = text if isinstance(text, str) else json.dumps(text)
        vector = embedding(text_of, count) if embed is None else [float(number) for number in embed(text_of)]
        packed = request.get("encoding_format") == "base64"
        data.append({"object": "embedding", "index": index, "embedding": _base64(vector) if packed else vector})
    tokens = sum(_words(text) for text in texts)
    return {
        "object": "list",
        "data": data,
        "model": request.get("model"),
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def embedding(text: str, dimensions: int = _DIMENSIONS) -> list[float]:
    """Give the vector of a text, of length 1: the more words two texts share, also in part, the closer they are.

    Args:
        text: Any text.
        dimensions: How many numbers the vector has; 1 or more.
    """
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [""]:
        padded = f" {word} "
        # By parts of three letters, "refund" and "refunds" have much in common.
        for part in (padded, *(padded[at : at + 3] for at in range(len(word)))):
            digest = hashlib.blake2b(part.encode("utf-8", "replace"), digest_size=8).digest()
            vector[int.from_bytes(digest) % dimensions] += 1.0
    length = math.sqrt(sum(number * number for number in vector))
    return [number / length for number in vector]


def model(name: str) -> Body:
    """Give what is said of a model.

    Args:
        name: The model's name.
    """
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "pixie-otel"}


def _texts(given: object) -> list[object]:
    """Give what is to be embedded: a text, several, tokens of one, or of several."""
    if not isinstance(given, list):
        return [given]
    items = cast("list[object]", given)
    return [items] if items and isinstance(items[0], int) else items


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")


def _event(data: Body, name: str | None = None) -> str:
    head = "" if name is None else f"event: {name}\n"
    return f"{head}data: {json.dumps(data)}\n\n"


def _pieces(text: str) -> list[str]:
    """Cut a text as models do, word by word; together the pieces are the text."""
    return _PIECES.findall(text)


def _finish_reason(reply: Reply) -> str:
    return reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")


def _words(value: object) -> int:
    if isinstance(value, str):
        return len(_WORDS.findall(value))
    return 0 if value is None else len(_WORDS.findall(json.dumps(value)))


def _tokens(prompt: Sequence[object], reply: Reply) -> tuple[int, int]:
    if reply.usage is not None:
        return reply.usage
    said: list[str] = [reply.text or "", reply.refusal or ""]
    for call in reply.tool_calls:
        said += [call.name, call.arguments_text]
    return sum(map(_words, prompt)), sum(map(_words, said))


def _call_id(call: FunctionCall, number: int, at: int) -> str:
    return call.id or f"call_{number}_{at}"


def _chat_call(call: FunctionCall, number: int, at: int) -> Body:
    function = {"name": call.name, "arguments": call.arguments_text}
    return {"id": _call_id(call, number, at), "type": "function", "function": function}


def _chat_head(request: Body, number: int, kind: str) -> Body:
    return {
        "id": f"chatcmpl-{number}",
        "object": kind,
        "created": _CREATED,
        "model": request.get("model"),
        "system_fingerprint": None,
    }


def _chat_usage(messages: Sequence[Body] | None, reply: Reply) -> Body:
    contents: list[object] = [message.get("content") for message in messages or ()]
    prompt, completion = _tokens(contents, reply)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _chat_deltas(reply: Reply, number: int) -> Iterator[tuple[Body, str | None]]:
    yield {"role": "assistant", "content": None if reply.text is None else ""}, None
    for piece in _pieces(reply.text or ""):
        yield {"content": piece}, None
    for piece in _pieces(reply.refusal or ""):
        yield {"refusal": piece}, None
    for at, call in enumerate(reply.tool_calls):
        whole = _chat_call(call, number, at)
        arguments = whole["function"]["arguments"]
        begun = whole | {"index": at, "function": {"name": call.name, "arguments": ""}}
        yield {"tool_calls": [begun]}, None
        for piece in _pieces(arguments):
            yield {"tool_calls": [{"index": at, "function": {"arguments": piece}}]}, None
    yield {}, _finish_reason(reply)


def _response_head(request: Body, number: int) -> Body:
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": _CREATED,
        "model": request.get("model"),
        "error": None,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "metadata": request.get("metadata") or {},
        "parallel_tool_calls": True,
        "previous_response_id": request.get("previous_response_id"),
        "temperature": request.get("temperature", 1.0),
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools") or [],
        "top_p": request.get("top_p", 1.0),
        "usage": None,
    }


def _response_items(reply: Reply, number: int) -> Iterator[tuple[Body, list[Body]]]:
    """Give the items of an answer, each with its parts."""
    parts: list[Body] = []
    if reply.text is not None:
        parts.append({"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []})
    if reply.refusal is not None:
        parts.append({"type": "refusal", "refusal": reply.refusal})
    status = "incomplete" if _finish_reason(reply) == "length" else "completed"
    if parts:
        said = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": status, "content": parts}
        yield said, parts
    for at, call in enumerate(reply.tool_calls):
        yield (
            {
                "id": f"fc_{number}_{at}",
                "type": "function_call",
                "status": status,
                "call_id": _call_id(call, number, at),
                "name": call.name,
                "arguments": call.arguments_text,
            },
            [],
        )


def _item_events(item: Body, parts: list[Body]) -> Iterator[Body]:
    place = {"item_id": item["id"]}
    emptied: Body = {"content": []} if item["type"] == "message" else {"arguments": ""}
    yield {"type": "response.output_item.added", "item": item | emptied | {"status": "in_progress"}}
    for at, part in enumerate(parts):
        key, kind = ("text", "output_text") if part["type"] == "output_text" else ("refusal", "refusal")
        here = place | {"content_index": at}
        logprobs: Body = {"logprobs": []} if key == "text" else {}
        yield {"type": "response.content_part.added", "part": part | {key: ""}} | here
        for piece in _pieces(part[key]):
            yield {"type": f"response.{kind}.delta", "delta": piece} | here | logprobs
        yield {"type": f"response.{kind}.done", key: part[key]} | here | logprobs
        yield {"type": "response.content_part.done", "part": part} | here
    if item["type"] == "function_call":
        for piece in _pieces(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", "delta": piece} | place
        yield {
            "type": "response.function_call_arguments.done",
            "arguments": item["arguments"],
            "name": item["name"],
        } | place
    yield {"type": "response.output_item.done", "item": item}
