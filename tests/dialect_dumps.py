"""Attributes of libraries of which the corpus has no file, as their documentation and their users show them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from observed import log, observed

if TYPE_CHECKING:
    from pixie_otel.evaluable import JsonValue
    from pixie_otel.traces.spans import SpanEvent

_QUESTION: Final = "What's the weather in Paris?"


@dataclass(frozen=True)
class Dump:
    """A span as a library writes it, and what is to be read from it.

    Attributes:
        attributes: The span's attributes.
        read: Fields of the observation.
        name: The span's name.
        records: Log records of the span.
    """

    attributes: dict[str, JsonValue]
    read: dict[str, JsonValue]
    name: str = "a span"
    records: tuple[SpanEvent, ...] = field(default=())

    def misses(self) -> dict[str, Any]:
        """Give the fields that are not read as they should be, with what is read."""
        span = observed(self.attributes, *self.records, name=self.name)
        return {
            name: got for name, wanted in self.read.items() if (got := getattr(span, name, "no such field")) != wanted
        }


DUMPS: Final = {
    "spring_ai": Dump(
        {
            "gen_ai.operation.name": "framework",
            "gen_ai.system": "spring_ai",
            "spring.ai.kind": "chat_client",
            "spring.ai.chat.client.conversation.id": "session-ada-42",
            "spring.ai.chat.client.user.text": _QUESTION,
        },
        {"session_id": "session-ada-42", "input": [{"role": "user", "content": _QUESTION}], "output": "18 degrees"},
        records=(log("", 'Chat Client Completion:\n["18 degrees"]'),),
    ),
    "coding_agents": Dump(
        {
            "session.id": "cec62d6f",
            "span.type": "llm_request",
            "model": "claude-opus-5",
            "input_tokens": 2,
            "output_tokens": 1200,
            "cache_read_tokens": 84562,
            "cache_creation_tokens": 7096,
            "ttft_ms": 812,
            "stop_reason": "tool_use",
            "response.model_output": "Fixed.",
        },
        {
            "model": "claude-opus-5",
            "input_tokens": 91660,
            "output_tokens": 1200,
            "time_to_first_token_ms": 812,
            "session_id": "cec62d6f",
            "output": "Fixed.",
        },
        name="claude_code.llm_request",
    ),
    "livekit": Dump(
        {
            "lk.function_tool.id": "call_abc123",
            "lk.function_tool.name": "get_weather",
            "lk.function_tool.arguments": '{"city": "Paris"}',
            "lk.function_tool.output": '{"temp_c": 18}',
        },
        {
            "tool_name": "get_weather",
            "tool_call_id": "call_abc123",
            "arguments": {"city": "Paris"},
            "result": {"temp_c": 18},
        },
        name="function_tool",
    ),
    "koog": Dump(
        {"koog.node.id": "ask", "koog.node.input": json.dumps(_QUESTION), "koog.node.output": '"18 degrees"'},
        {"input": _QUESTION, "output": "18 degrees"},
        name="node ask",
    ),
    "sentry": Dump(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.input": '{"city":"Paris"}',
            "gen_ai.tool.output": '{"temp_c":18}',
        },
        {"tool_name": "get_weather", "arguments": {"city": "Paris"}, "result": {"temp_c": 18}},
        name="execute_tool get_weather",
    ),
    "gemini_cli": Dump(
        {
            "gen_ai.operation.name": "tool_call",
            "gen_ai.tool.name": "read_file",
            "gen_ai.tool.call_id": "read_file-1",
            "gen_ai.input.messages": '{"callId":"read_file-1","name":"read_file","args":{"path":"a"}}',
            "gen_ai.output.messages": '{"llmContent":"text"}',
        },
        {
            "tool_name": "read_file",
            "tool_call_id": "read_file-1",
            "arguments": {"path": "a"},
            "result": {"llmContent": "text"},
        },
        name="tool_call",
    ),
    "adot": Dump(
        {"traceloop.span.kind": "tool", "traceloop.entity.name": "get_weather"},
        {"tool_name": "get_weather", "arguments": {"city": "Paris"}, "result": "18 degrees"},
        name="get_weather.tool",
        records=(
            log(
                "opentelemetry.instrumentation.langchain",
                {
                    "input": {"messages": [{"role": "user", "content": '{"args": [], "kwargs": {"city": "Paris"}}'}]},
                    "output": {"messages": [{"role": "assistant", "content": '"18 degrees"'}]},
                },
            ),
        ),
    ),
}
"""By dialect."""
