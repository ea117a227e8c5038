"""Spans of two instrumentations that record the same call in two traces, for tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from otlp_lines import line

from pixie_otel.traces.reader import TraceReader

if TYPE_CHECKING:
    from pathlib import Path

    from pixie_otel.traces.trace import Trace

__all__ = ["ANSWER", "LANGCHAIN", "OPENAI", "counts", "two", "without_id"]

ANSWER = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}])
LANGCHAIN = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "gpt-4o-mini",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "Hi",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Hello",
    "llm.token_count.prompt": 5,
    "llm.token_count.completion": 2,
}
OPENAI = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
    "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]),
    "gen_ai.output.messages": ANSWER,
    "gen_ai.response.id": "chatcmpl-1",
    "gen_ai.usage.input_tokens": 5,
    "gen_ai.usage.output_tokens": 2,
}


def two(folder: Path, *spans: tuple[str, dict[str, Any]]) -> list[Trace]:
    """Write spans of several instrumentations, and read them."""
    path = folder / "traces.jsonl"
    path.write_text("".join(line(item, scope=scope) for scope, item in spans), encoding="utf-8")
    return list(TraceReader(path))


def counts(traces: list[Trace]) -> list[int]:
    """Give how many calls each trace counts."""
    return [len(trace.llm_calls) for trace in traces]


def without_id(attributes: dict[str, Any]) -> dict[str, Any]:
    """Leave out the answer's id."""
    return {name: value for name, value in attributes.items() if name != "gen_ai.response.id"}
