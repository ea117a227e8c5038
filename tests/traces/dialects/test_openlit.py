"""OpenLIT: its decorator, and what its instrumentations write as GenAI attributes."""

from __future__ import annotations

import json

import pytest
from observed import observed, observed_call

from pixie_otel.evaluable import Document, JsonValue, ToolCall
from pixie_otel.traces.messages import AssistantMessage
from pixie_otel.traces.spans import RetrieverSpan, ToolSpan


@pytest.mark.parametrize(
    ("args", "kwargs", "shown"),
    [
        ("('Capital?',)", "{}", "Capital?"),
        ("()", "{'question': 'Capital?'}", {"question": "Capital?"}),
        ("()", "{}", {}),
        ("('a', 2)", "{'b': None}", {"args": ["a", 2], "kwargs": {"b": None}}),
        ("(<object at 0x1>,)", "{}", {"args": "(<object at 0x1>,)", "kwargs": {}}),
        (5, None, {"args": 5, "kwargs": {}}),
    ],
)
def test_a_decorated_function(args: JsonValue, kwargs: JsonValue, shown: JsonValue) -> None:
    """Arguments stand there as Python shows them."""
    span = observed({"function.args": args, "function.kwargs": kwargs, "gen_ai.output.messages": "Paris."})

    assert (span.input, span.output, span.dialects) == (shown, "Paris.", ("openlit", "gen_ai"))


def test_no_decorator() -> None:
    """Other keys of that beginning are no decorator's."""
    assert observed({"function.name": "f"}).dialects == ()


def test_a_call() -> None:
    """The requested tool stands beside the messages, which does not make the call a tool's run."""
    said = [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "call_1", "name": "get_weather", "arguments": {"city": "Paris"}}],
            "finish_reason": "tool_call",
        }
    ]
    span = observed_call(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o-mini",
            "gen_ai.response.finish_reasons": ["tool_calls"],
            "gen_ai.server.time_to_first_token": 0.25,
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.id": "call_1",
            "gen_ai.tool.args": '{"city": "Paris"}',
            "gen_ai.usage.input_tokens": 57,
            "gen_ai.usage.output_tokens": 17,
            "gen_ai.usage.cache_read.input_tokens": 20,
            "gen_ai.usage.cost": 0.5,
            "gen_ai.output.messages": json.dumps(said),
        }
    )

    assert span.output_messages == (
        AssistantMessage(tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "call_1"),), finish_reason="tool_call"),
    )
    assert (span.input_tokens, span.cache_read_tokens, span.cost, span.time_to_first_token_ms) == (57, 20, 0.5, 250.0)
    assert span.finish_reasons == ("tool_calls",)


def test_a_tool_of_langchain() -> None:
    """Arguments and message are there as Python shows them."""
    span = observed(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.arguments": "{'city': 'Paris', 'unit': 'celsius'}",
            "gen_ai.tool.call.id": "call_1",
            "gen_ai.tool.call.result": "content='{\"temp_c\": 18}' name='get_weather' tool_call_id='call_1'",
        }
    )

    assert isinstance(span, ToolSpan)
    assert (span.arguments, span.result) == ({"city": "Paris", "unit": "celsius"}, {"temp_c": 18})


def test_a_retriever() -> None:
    """Documents have their text and nothing else."""
    span = observed(
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": "How long?",
            "gen_ai.retrieval.documents": '[{"content": "Refunds."}]',
        }
    )

    assert isinstance(span, RetrieverSpan)
    assert (span.query, span.documents) == ("How long?", (Document("Refunds."),))


def test_the_id_of_a_call_in_openais_responses() -> None:
    """The message has the id of the item around the call; the call's own stands beside it."""
    part = {"type": "tool_call", "id": "fc_1", "name": "get_weather", "arguments": {"city": "Paris"}}
    span = observed_call(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-4o-mini",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.id": "call_abc123",
            "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [part]}]),
        }
    )

    assert span.output_messages == (
        AssistantMessage(tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "call_abc123"),)),
    )
