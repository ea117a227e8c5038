"""From a span's facts to an observation."""

from __future__ import annotations

import pytest
from observed import event, observed, observed_call

from pixie_otel.traces.observe import finish_reason
from pixie_otel.traces.spans import (
    AgentSpan,
    EmbeddingSpan,
    LLMSpan,
    ObserveSpan,
    RetrieverSpan,
    Scope,
    SpanError,
    ToolSpan,
)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("FinishReason.STOP", "stop"),
        ("end_turn", "stop"),
        ("completed", "stop"),
        ("tool_use", "tool_calls"),
        ("tool_call", "tool_calls"),
        ("tool-calls", "tool_calls"),
        ("ToolCalls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("tool_calls", "tool_calls"),
        ("MAX_TOKENS", "length"),
        ("max_output_tokens", "length"),
        ("length", "length"),
        ("SAFETY", "content_filter"),
        ("content_filter", "content_filter"),
        ("refusal", "content_filter"),
        ("failed", "error"),
        ("pause_turn", "pause_turn"),
        (" Odd ", "odd"),
        ("", ""),
    ],
)
def test_finish_reasons(raw: str, reason: str) -> None:
    """Every provider's spelling has one name; what nobody knows is kept."""
    assert finish_reason(raw) == reason


def test_raw_reasons_are_kept() -> None:
    """What was recorded stands beside what it means."""
    span = observed_call({"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["tool_use", "Odd"]})

    assert (span.finish_reasons, span.raw_finish_reasons) == (("tool_calls", "odd"), ("tool_use", "Odd"))


@pytest.mark.parametrize(
    ("kind", "cls"),
    [
        ("LLM", LLMSpan),
        ("TOOL", ToolSpan),
        ("RETRIEVER", RetrieverSpan),
        ("RERANKER", RetrieverSpan),
        ("EMBEDDING", EmbeddingSpan),
        ("AGENT", AgentSpan),
        ("CHAIN", ObserveSpan),
        ("GUARDRAIL", ObserveSpan),
    ],
)
def test_classes(kind: str, cls: type) -> None:
    """Each kind has its class, and what the span itself says is in all of them."""
    span = observed(
        {"openinference.span.kind": kind},
        event("e"),
        parent_span_id="p",
        resource={"service.name": "bot"},
        scope=Scope("lib", "1"),
        otel_kind="client",
        dropped_attributes=3,
    )

    assert type(span) is cls
    assert (span.name, span.parent_span_id, span.service_name, span.scope.name) == ("a span", "p", "bot", "lib")
    assert (span.otel_kind, span.dropped_attributes, span.events[0].name) == ("client", 3, "e")


def test_a_tool_without_a_name_is_called_as_its_span() -> None:
    """Most instrumentations name the span after the tool."""
    span = observed({"openinference.span.kind": "TOOL"}, name="get_weather")

    assert isinstance(span, ToolSpan)
    assert span.tool_name == "get_weather"


class TestErrors:
    """Why a span failed."""

    def test_none(self) -> None:
        """A span without an error status has none, though an exception was recorded and handled in it."""
        assert observed({}).error is None
        assert observed({}, event("exception", {"exception.type": "ValueError"})).error is None

    def test_from_the_status(self) -> None:
        """The status may say why, or only that."""
        assert observed({}, status_message="broke").error == SpanError("broke")
        assert observed({}, status_message="").error == SpanError()

    def test_from_the_type(self) -> None:
        """An error type is an error, though no status says so."""
        assert observed({"error.type": "Timeout"}).error == SpanError(type="Timeout")
        assert observed({"error.type": ""}).error is None

    def test_from_exceptions(self) -> None:
        """The last exception is the one that ended the span; the status counts before it."""
        told = (
            event("exception", {"exception.type": "KeyError", "exception.message": "handled"}),
            event("exception", {"exception.type": "ValueError", "exception.message": "broke"}),
            event("other"),
        )

        assert observed({}, *told, status_message="").error == SpanError("broke", "ValueError")
        assert observed({}, *told, status_message="said").error == SpanError("said", "ValueError")
        assert observed({"error.type": "E"}, *told, status_message="").error == SpanError("broke", "E")
        assert observed({}, event("exception", {"exception.type": 5}), status_message="").error == SpanError()

    def test_of_a_call(self) -> None:
        """A failed call says the class of its error."""
        span = observed_call({"gen_ai.operation.name": "chat", "error.type": "RateLimitError"}, status_message="429")

        assert (span.error_type, str(span.error)) == ("RateLimitError", "RateLimitError: 429")


def test_an_agents_answer_is_the_last() -> None:
    """An agent's messages may hold the whole loop; messages that are no answers count where there are no others."""
    agent = {"gen_ai.operation.name": "invoke_agent"}
    loop = [
        {"role": "assistant", "parts": [{"type": "tool_call", "name": "f", "arguments": {}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "response": "ok"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "done"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "response": "late"}]},
    ]

    assert observed({**agent, "gen_ai.output.messages": loop}).output == "done"
    assert observed({**agent, "gen_ai.output.messages": loop[1:2]}).output == "ok"
    assert observed({**agent, "gen_ai.output.messages": loop[:1], "output.value": "said"}).output == "said"


def test_a_chain_with_messages() -> None:
    """A workflow's messages are its input and output, as an agent's are."""
    parts = '[{"role": "%s", "parts": [{"type": "text", "content": "%s"}]}]'
    span = observed(
        {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.input.messages": parts % ("user", "Hi"),
            "gen_ai.output.messages": parts % ("assistant", "Hello"),
        }
    )

    assert (span.input, span.output) == ([{"role": "user", "content": "Hi"}], "Hello")
