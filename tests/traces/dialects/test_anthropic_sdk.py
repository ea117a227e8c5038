"""Spans that Anthropic's own SDK makes."""

from __future__ import annotations

import pytest
from observed import observed, observed_call

from pixie_otel.traces.spans import ToolSpan

TOOL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.tool.name": "get_weather",
    "gen_ai.tool.call.id": "toolu_1",
    "gen_ai.tool.call.arguments": '{"city":"Paris","unit":"celsius"}',
}


def test_why_an_answer_ended() -> None:
    """The SDK has a key of its own for the finish reason."""
    span = observed_call(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "claude-sonnet-4-5",
            "gen_ai.usage.input_tokens": 87,
            "anthropic.message.stop_reason": "end_turn",
            "anthropic.response.service_tier": "standard",
        }
    )

    assert (span.finish_reasons, span.raw_finish_reasons) == (("stop",), ("end_turn",))
    assert span.dialects == ("anthropic_sdk", "gen_ai")


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ('[{"type":"text","text":"{\\"temp_c\\": 18, \\"sky\\": \\"cloudy\\"}"}]', {"temp_c": 18, "sky": "cloudy"}),
        ('[{"type":"text","text":"18 "},{"type":"text","text":"degrees"}]', "18 degrees"),
        ("sunny", "sunny"),
        ('[{"type":"image","source":{}}]', [{"type": "image", "source": {}}]),
    ],
)
def test_what_a_tool_returned(content: str, result: object) -> None:
    """The tool runner's spans hold what the model got of the result, in blocks."""
    span = observed({**TOOL, "anthropic.tool_result.content": content})

    assert isinstance(span, ToolSpan)
    assert (span.result, span.output) == (result, result)
    assert (span.arguments, span.tool_call_id) == ({"city": "Paris", "unit": "celsius"}, "toolu_1")


def test_what_was_cut_is_told() -> None:
    """Content that the SDK cut short is said to be so."""
    (note,) = observed({**TOOL, "anthropic.content.truncated": True}).notes

    assert "MAX_CONTENT_BYTES" in note


@pytest.mark.parametrize("value", [None, 1, {}, [], ["x"], '["x"]', "{", True])
def test_anything_else_says_nothing(value: object) -> None:
    """Values of other types cost nothing but themselves."""
    keys = ("anthropic.message.stop_reason", "anthropic.content.truncated", "anthropic.tool_result.content")
    span = observed({**TOOL, **dict.fromkeys(keys, value)})

    assert isinstance(span, ToolSpan)
    assert span.tool_name == "get_weather"
