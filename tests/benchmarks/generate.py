"""Write a large file of OTLP JSON lines the way exporters write it; the same seed gives the same bytes.

    python tests/benchmarks/generate.py --spans 100000 traces.jsonl

Five spans a trace on average: a chain as the root, and below it a retrieval, tools, and two in five spans model calls,
half of them in OpenInference's form and half in that of the GenAI conventions. Spans of many traces at work at the same
time are written as they end, children before parents, in lines of 25.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

import orjson

__all__ = ["generate"]

_Json: TypeAlias = dict[str, Any]

SPANS_A_LINE: Final = 25
TRACES_AT_WORK: Final = 200
SPANS_A_TRACE: Final = 5
FAILED: Final = 0.01
"""The share of failed spans."""
SPAN_BYTES: Final = 3600
"""About what a span of an agent takes in real files: messages stand in it twice, as sent and as attributes."""

_BARE_BYTES: Final = 1550
"""What a span takes without its texts, on average."""
_TOOLS_BYTES: Final = 520
"""What the definitions of tools add to it, on average; they are left out of spans too small for them."""
_TEXTS_A_SPAN: Final = 3.9
"""How many texts are in a span, on average, counted as often as they stand in it."""
_TEXTS: Final = 2000
_FIRST_START: Final = 1_796_050_000_000_000_000

_WORDS: Final = """
the a of to and in is it that for was on are with as this be at by from or an have not we can order refund invoice
customer delivery address account support policy within days working please agent model answer question token password
search document result weather city temperature tomorrow morning price total shipping warehouse return label carrier
status pending delivered café naïve Zürich Straße 18°C 40€ — … “quoted” "really" déjà 東京 注文 Привет 🙂 👩‍💻
<b>bold</b> {json: [1] https://example.org/a?b=c&d=e 3.14 42 C:\\temp\\file
"""
_SPACES: Final = (*" " * 14, "\n", "\n\n")

_TOOLS: Final[list[_Json]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {argument: {"type": "string"}, "limit": {"type": "integer"}},
                "required": [argument],
            },
        },
    }
    for name, description, argument in (
        ("search_orders", "Find the orders of a customer.", "customer"),
        ("get_weather", "Get the weather for a city.", "city"),
        ("create_refund", "Refund an order.", "order_id"),
    )
]
_SHAPES: Final = {
    "question": ("retriever", "llm"),
    "tool use": ("retriever", "llm", "tool", "llm"),
    "agent": ("retriever", "llm", "tool", "llm", "tool", "llm"),
}
"""What is below the root; all three, equally often, give five spans a trace and two model calls in five spans."""

_RESOURCE: Final = {
    "attributes": [
        {"key": "telemetry.sdk.language", "value": {"stringValue": "python"}},
        {"key": "telemetry.sdk.name", "value": {"stringValue": "opentelemetry"}},
        {"key": "telemetry.sdk.version", "value": {"stringValue": "1.45.2"}},
        {"key": "service.name", "value": {"stringValue": "support-bot"}},
    ]
}
_EXCEPTION: Final = [
    {"key": "exception.type", "value": {"stringValue": "TimeoutError"}},
    {"key": "exception.message", "value": {"stringValue": "no answer within 30 s"}},
]
_SCOPES: Final = {
    "framework": {"name": "openinference.instrumentation.langchain", "version": "0.1.80"},
    "openinference": {"name": "openinference.instrumentation.openai", "version": "0.1.66"},
    "gen_ai": {"name": "opentelemetry.instrumentation.genai.openai", "version": "1.3b0"},
}


def generate(path: Path, *, spans: int, span_bytes: int = SPAN_BYTES, seed: int = 1) -> None:
    """Write a file of spans.

    Args:
        path: Where to write it.
        spans: How many; a multiple of five, as there is one trace for each five.
        span_bytes: How long a span is on average; below some 1600 nothing is left to shorten.
        seed: What to seed the random numbers with.
    """
    random = Random(seed)
    material = _Material(random, span_bytes)
    with path.open("wb") as file:
        batch: list[tuple[str, _Json]] = []
        for ended in _interleaved(spans // SPANS_A_TRACE, material, random):
            batch.append(ended)
            if len(batch) == SPANS_A_LINE:
                file.write(_line(batch))
                batch.clear()
        if batch:
            file.write(_line(batch))


class _Material:
    """What spans are made of: texts made in advance, of lengths around a mean and some much longer, and tools."""

    def __init__(self, random: Random, span_bytes: int) -> None:
        self._random = random
        self._words = _WORDS.split()
        room = span_bytes - _BARE_BYTES - _TOOLS_BYTES
        self.tools = _TOOLS if room >= 0 else []
        mean = (room if room >= 0 else max(room + _TOOLS_BYTES, 0)) / _TEXTS_A_SPAN
        self._texts = [self._make(int(mean * random.choice((0.25, 0.5, 0.75, 1, 2.5)))) for _ in range(_TEXTS)]

    def text(self) -> str:
        return self._texts[int(self._random.random() * _TEXTS)]

    def _make(self, length: int) -> str:
        text = ""
        while len(text.encode()) < length:
            text += self._random.choice(self._words) + self._random.choice(_SPACES)
        return text or self._words[0]


@dataclass
class _Call:
    """A model call, before it is written in one form or the other."""

    messages: list[_Json]
    tools: list[_Json]
    answer: _Json
    reason: str
    tokens: tuple[int, int]


def _interleaved(traces: int, material: _Material, random: Random) -> Iterator[tuple[str, _Json]]:
    """Give the spans, each with its scope, in the order in which they end."""
    waiting = _traces(traces, material, random)
    working = list(islice(waiting, TRACES_AT_WORK))
    while working:
        chosen = int(random.random() * len(working))
        yield working[chosen].pop()
        if not working[chosen]:
            following = next(waiting, None)
            if following is None:
                del working[chosen]
            else:
                working[chosen] = following


def _traces(count: int, material: _Material, random: Random) -> Iterator[list[tuple[str, _Json]]]:
    """Give traces, each a list of spans from the last to end to the first."""
    names = list(_SHAPES)
    # What does not go into three is made up of the shape that is the average of them.
    shapes = [names[number % 3] if number < count - count % 3 else "tool use" for number in range(count)]
    for number, shape in enumerate(shapes):
        yield _trace(_SHAPES[shape], _FIRST_START + number * 50_000_000, material, random)


def _trace(below: tuple[str, ...], start: int, material: _Material, random: Random) -> list[tuple[str, _Json]]:
    trace_id = f"{random.getrandbits(128) | 1:032x}"
    dialect = random.choice(("openinference", "gen_ai"))
    question = material.text()
    messages: list[_Json] = [{"role": "system", "content": material.text()}, {"role": "user", "content": question}]
    root_id = f"{random.getrandbits(64) | 1:016x}"
    found: list[tuple[str, _Json]] = []
    at = start + random.randrange(1_000_000)
    answer = ""
    for position, kind in enumerate(below):
        took = random.randrange(5_000_000, 900_000_000)
        if kind == "llm":
            call = _call(messages, material, random, last="llm" not in below[position + 1 :])
            answer = call.answer["content"] or ""
            messages = [*messages, call.answer]
            scope, name = dialect, "ChatCompletion" if dialect == "openinference" else "chat gpt-4o-mini"
            attributes = _openinference_call(call) if dialect == "openinference" else _genai_call(call)
        elif kind == "tool":
            scope, requested = "framework", messages[-1]["tool_calls"][0]
            name = requested["function"]["name"]
            result = material.text()
            attributes = _tool(name, requested["function"]["arguments"], result)
            messages = [*messages, {"role": "tool", "tool_call_id": requested["id"], "content": result}]
        else:
            scope, name = "framework", "VectorStoreRetriever"
            attributes = _retrieval(question, [material.text() for _ in range(random.randint(1, 4))])
        ids = trace_id, f"{random.getrandbits(64) | 1:016x}", root_id
        failed = random.random() < FAILED
        found.append((scope, _span(ids, name, at, at + took, attributes, failed=failed)))
        at += took + random.randrange(1_000_000)
    root = _span((trace_id, root_id), "support_agent", start, at, _chain(question, answer, random))
    return [("framework", root), *reversed(found)]


def _call(messages: list[_Json], material: _Material, random: Random, *, last: bool) -> _Call:
    """Make the answer to some messages: text, or the call of a tool where more is to come."""
    tokens = random.randrange(50, 4000), random.randrange(5, 600)
    if last:
        return _Call(messages, material.tools, {"role": "assistant", "content": material.text()}, "stop", tokens)
    function = random.choice(_TOOLS)["function"]
    arguments = json.dumps({function["parameters"]["required"][0]: material.text()[:80], "limit": random.randrange(20)})
    requested = {
        "id": f"call_{random.getrandbits(64):016x}",
        "type": "function",
        "function": {"name": function["name"], "arguments": arguments},
    }
    answer = {"role": "assistant", "content": None, "tool_calls": [requested]}
    return _Call(messages, material.tools, answer, "tool_calls", tokens)


def _openinference_call(call: _Call) -> _Json:
    attributes: _Json = {
        "llm.system": "openai",
        "input.value": json.dumps({"model": "gpt-4o-mini", "messages": call.messages, "tools": call.tools}),
        "input.mime_type": "application/json",
        "output.value": _response(call),
        "output.mime_type": "application/json",
    }
    for number, tool in enumerate(call.tools):
        attributes[f"llm.tools.{number}.tool.json_schema"] = json.dumps(tool)
    attributes["llm.invocation_parameters"] = '{"model": "gpt-4o-mini", "temperature": 0.2, "max_tokens": 1000}'
    for number, message in enumerate(call.messages):
        attributes.update(_openinference_message(f"llm.input_messages.{number}.message", message))
    attributes |= {
        "llm.model_name": "gpt-4o-mini",
        "llm.token_count.total": sum(call.tokens),
        "llm.token_count.prompt": call.tokens[0],
        "llm.token_count.completion": call.tokens[1],
        "llm.token_count.prompt_details.cache_read": 0,
        **_openinference_message("llm.output_messages.0.message", call.answer),
        "llm.finish_reason": call.reason,
        "openinference.span.kind": "LLM",
    }
    return attributes


def _response(call: _Call) -> str:
    response: _Json = {
        "id": "chatcmpl-000004",
        "choices": [{"finish_reason": call.reason, "index": 0, "logprobs": None, "message": call.answer}],
        "created": 1764500000,
        "model": "gpt-4o-mini-2024-07-18",
        "object": "chat.completion",
        "usage": {
            "completion_tokens": call.tokens[1],
            "prompt_tokens": call.tokens[0],
            "total_tokens": sum(call.tokens),
        },
    }
    return orjson.dumps(response).decode()


def _openinference_message(prefix: str, message: _Json) -> _Json:
    attributes: _Json = {f"{prefix}.role": message["role"]}
    if message.get("content"):
        attributes[f"{prefix}.content"] = message["content"]
    if "tool_call_id" in message:
        attributes[f"{prefix}.tool_call_id"] = message["tool_call_id"]
    for number, call in enumerate(message.get("tool_calls", ())):
        below = f"{prefix}.tool_calls.{number}.tool_call"
        attributes[f"{below}.id"] = call["id"]
        attributes[f"{below}.function.name"] = call["function"]["name"]
        attributes[f"{below}.function.arguments"] = call["function"]["arguments"]
    return attributes


def _genai_call(call: _Call) -> _Json:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.request.temperature": 0.2,
        "server.address": "api.openai.com",
        "server.port": 443,
        "gen_ai.response.finish_reasons": [call.reason],
        "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
        "gen_ai.response.id": "chatcmpl-000198",
        "gen_ai.usage.input_tokens": call.tokens[0],
        "gen_ai.usage.output_tokens": call.tokens[1],
        "gen_ai.input.messages": orjson.dumps([_genai_message(message) for message in call.messages]).decode(),
        "gen_ai.output.messages": orjson.dumps(
            [{**_genai_message(call.answer), "finish_reason": call.reason}]
        ).decode(),
        "gen_ai.tool.definitions": json.dumps([{"type": "function", **tool["function"]} for tool in call.tools]),
    }


def _genai_message(message: _Json) -> _Json:
    if message["role"] == "tool":
        parts = [{"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}]
    elif "tool_calls" in message:
        (call,) = message["tool_calls"]
        name, arguments = call["function"]["name"], orjson.loads(call["function"]["arguments"])
        parts = [{"type": "tool_call", "id": call["id"], "name": name, "arguments": arguments}]
    else:
        parts = [{"type": "text", "content": message["content"]}]
    return {"role": message["role"], "parts": parts}


def _tool(name: str, arguments: str, result: str) -> _Json:
    return {
        "tool.name": name,
        "tool.description": "A tool of the support bot.",
        "input.value": arguments,
        "input.mime_type": "application/json",
        "output.value": result,
        "openinference.span.kind": "TOOL",
    }


def _retrieval(query: str, documents: list[str]) -> _Json:
    attributes: _Json = {"input.value": query, "input.mime_type": "text/plain"}
    for number, document in enumerate(documents):
        prefix = f"retrieval.documents.{number}.document"
        attributes[f"{prefix}.id"] = f"doc-{number}"
        attributes[f"{prefix}.score"] = 0.9 - number / 10
        attributes[f"{prefix}.content"] = document
        attributes[f"{prefix}.metadata"] = '{"source": "handbook.md", "page": 3}'
    attributes["openinference.span.kind"] = "RETRIEVER"
    return attributes


def _chain(question: str, answer: str, random: Random) -> _Json:
    return {
        "input.value": json.dumps({"question": question}),
        "input.mime_type": "application/json",
        "output.value": answer,
        "output.mime_type": "text/plain",
        "session.id": f"session-{random.randrange(1000)}",
        "metadata": '{"tier": "gold", "experiment": 7}',
        "openinference.span.kind": "CHAIN",
    }


def _span(ids: tuple[str, ...], name: str, start: int, end: int, attributes: _Json, *, failed: bool = False) -> _Json:
    span: _Json = dict(zip(("traceId", "spanId", "parentSpanId"), ids, strict=False))
    span |= {
        "flags": 256,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end),
        "attributes": [{"key": key, "value": _value(value)} for key, value in attributes.items()],
    }
    if failed:
        span["events"] = [{"timeUnixNano": str(end), "name": "exception", "attributes": _EXCEPTION}]
    span["status"] = {"code": 2, "message": "TimeoutError: no answer within 30 s"} if failed else {"code": 1}
    return span


def _value(value: str | float | list[str]) -> _Json:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"arrayValue": {"values": [{"stringValue": item} for item in value]}}


def _line(batch: list[tuple[str, _Json]]) -> bytes:
    by_scope: dict[str, list[_Json]] = {}
    for scope, span in batch:
        by_scope.setdefault(scope, []).append(span)
    scopes = [{"scope": _SCOPES[scope], "spans": spans} for scope, spans in by_scope.items()]
    return orjson.dumps(
        {"resourceSpans": [{"resource": _RESOURCE, "scopeSpans": scopes}]}, option=orjson.OPT_APPEND_NEWLINE
    )


def _main() -> None:
    parser = argparse.ArgumentParser(description="Write a large file of OTLP JSON lines.")
    parser.add_argument("out", type=Path, help="the file to write")
    parser.add_argument("--spans", type=int, default=100_000)
    parser.add_argument("--span-bytes", type=int, default=SPAN_BYTES, help="bytes a span on average")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generate(options.out, spans=options.spans, span_bytes=options.span_bytes, seed=options.seed)


if __name__ == "__main__":
    _main()
