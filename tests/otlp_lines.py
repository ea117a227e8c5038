"""OTLP JSON lines for tests, written the way OpenTelemetry's Python file exporter writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

START = 1_764_500_000_000_000_000
"""When the first span starts, in nanoseconds since 1970."""
MILLISECOND = 1_000_000


def any_value(value: object) -> dict[str, Any]:
    """Give a Python value as an AnyValue."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": attributes(value)}}
    if isinstance(value, Sequence):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    return {}


def attributes(values: Mapping[str, object]) -> list[dict[str, Any]]:
    """Give a mapping as a list of attributes."""
    return [{"key": key, "value": any_value(value)} for key, value in values.items()]


def span(
    number: int,
    *,
    trace: int = 1,
    parent: int | None = None,
    name: str | None = None,
    start_ms: int | None = None,
    ms: int = 10,
    error: str | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Give a span as it stands in a line.

    Args:
        number: Makes its id; by default also its name and start.
        trace: Makes the trace's id.
        parent: The parent's number.
        name: Its name.
        start_ms: Milliseconds after `START`.
        ms: How long it takes.
        error: The status message of a failed span.
        fields: ``attributes`` as a mapping, and any other field as it stands in OTLP.
    """
    start = START + (number if start_ms is None else start_ms) * MILLISECOND
    found: dict[str, Any] = {
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        "flags": 256,
        "name": f"span {number}" if name is None else name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + ms * MILLISECOND),
        "attributes": attributes(fields.pop("attributes", {})),
        "status": {} if error is None else {"code": 2, "message": error},
    }
    if parent is not None:
        found["parentSpanId"] = f"{parent:016x}"
    return found | fields


def batch(
    *spans: Mapping[str, Any], service: str = "support-bot", scope: str = "openinference.instrumentation.openai"
) -> dict[str, Any]:
    """Give spans as one document."""
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes({"service.name": service})},
                "scopeSpans": [{"scope": {"name": scope, "version": "1"}, "spans": list(spans)}],
            }
        ]
    }


def line(*spans: Mapping[str, Any], **origin: str) -> str:
    """Give spans as one line."""
    return json.dumps(batch(*spans, **origin), separators=(",", ":")) + "\n"


def write(path: Path, *lines: str) -> Path:
    """Write lines to a file."""
    path.write_text("".join(lines), encoding="utf-8")
    return path


def chat(
    number: int,
    question: str = "What is the capital of France?",
    answer: str = "Paris.",
    *,
    finish: str = "stop",
    **fields: Any,
) -> dict[str, Any]:
    """Give a model call in OpenInference's attributes."""
    values = {
        "llm.system": "openai",
        "llm.model_name": "gpt-4o-mini",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": question,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": answer,
        "llm.token_count.prompt": 14,
        "llm.token_count.completion": 3,
        "llm.finish_reason": finish,
        "openinference.span.kind": "LLM",
    }
    return span(number, attributes=values | fields.pop("attributes", {}), **{"name": "ChatCompletion", **fields})


def agent(
    number: int, question: str = "What is the capital of France?", answer: str = "Paris.", **fields: Any
) -> dict[str, Any]:
    """Give an agent's span in OpenInference's attributes."""
    values = {"input.value": question, "output.value": answer, "openinference.span.kind": "AGENT"}
    return span(number, attributes=values | fields.pop("attributes", {}), **{"name": "agent", **fields})
