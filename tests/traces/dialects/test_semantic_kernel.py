"""Microsoft's Semantic Kernel."""

from __future__ import annotations

from observed import observed, observed_call

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.spans import ObservationKind, Scope, ToolSpan

SCOPE = Scope(name="semantic_kernel.functions.kernel_function")
RUN: dict[str, JsonValue] = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "Weather-get_weather",
    "gen_ai.tool.call.arguments": '{"city": "Paris"}',
    "gen_ai.tool.call.result": '{"temp_c": 18}',
}


def test_a_function_of_a_plugin() -> None:
    """A tool is a function; its plugin stands before the hyphen."""
    called: dict[str, JsonValue] = {**RUN, "gen_ai.tool.call.id": "c"}
    span = observed(called, scope=SCOPE)
    alone = observed({**called, "gen_ai.tool.name": "get_weather"}, scope=SCOPE)
    other = observed({**called, "gen_ai.tool.name": "resolve-library"})

    assert isinstance(span, ToolSpan)
    assert (span.tool_name, span.metadata) == ("get_weather", {"plugin": "Weather"})
    assert (span.arguments, span.result) == ({"city": "Paris"}, {"temp_c": 18})
    assert isinstance(alone, ToolSpan)
    assert (alone.tool_name, alone.metadata) == ("get_weather", {})
    assert isinstance(other, ToolSpan)
    assert other.tool_name == "resolve-library"


def test_a_function_that_no_model_called() -> None:
    """An application's own run of a function, a prompt say, is no run of a tool."""
    span = observed(RUN, scope=SCOPE)

    assert (span.kind, span.input, span.output) == (ObservationKind.CHAIN, {"city": "Paris"}, {"temp_c": 18})


def test_why_a_call_ended() -> None:
    """The span names the reasons of all choices in one text, as Python shows them."""
    span = observed_call(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.response.finish_reason": "FinishReason.STOP, FinishReason.TOOL_CALLS",
        }
    )

    assert span.finish_reasons == ("stop", "tool_calls")
    assert span.raw_finish_reasons == ("FinishReason.STOP", "FinishReason.TOOL_CALLS")


def test_the_class_of_an_error() -> None:
    """An error's type is written as Python shows a class."""
    span = observed({"error.type": "<class 'semantic_kernel.exceptions.ServiceResponseException'>"})

    assert span.error is not None
    assert span.error.type == "semantic_kernel.exceptions.ServiceResponseException"
