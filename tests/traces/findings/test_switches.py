"""Which library made a span, and how its content is switched on."""

from __future__ import annotations

import pytest
from observed import observed

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces import dialects
from pixie_otel.traces.findings.switches import LIBRARIES, Library, library_of
from pixie_otel.traces.spans import Scope

CALL: dict[str, JsonValue] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o-mini"}


@pytest.mark.parametrize(
    ("scope", "attributes", "switch"),
    [
        ("opentelemetry.instrumentation.openai_v2", {}, "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"),
        ("opentelemetry.instrumentation.genai.openai", {}, "CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"),
        ("opentelemetry.instrumentation.google_genai", {}, "CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"),
        ("opentelemetry.util.genai.handler", {}, "CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"),
        ("opentelemetry.instrumentation.botocore.bedrock-runtime", {}, "CAPTURE_MESSAGE_CONTENT=true"),
        ("opentelemetry.instrumentation.openai.v1", {}, "TRACELOOP_TRACE_CONTENT=true"),
        ("opentelemetry.instrumentation.anthropic", {"llm.request.type": "chat"}, "TRACELOOP_TRACE_CONTENT=true"),
        ("mine", {"openinference.span.kind": "LLM"}, "unset OPENINFERENCE_HIDE_INPUTS OPENINFERENCE_HIDE_OUTPUTS"),
        ("openinference.instrumentation.openai_agents", {}, "OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA=true"),
        ("pydantic-ai", {}, "InstrumentationSettings(include_content=True)"),
        ("gcp.vertex.agent", {}, "CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"),
        ("gcp.vertex.agent", {"gcp.vertex.agent.llm_request": "{}"}, "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
        ("agent_framework", {}, "ENABLE_SENSITIVE_DATA=true"),
        ("semantic_kernel.utils.telemetry", {}, "ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"),
        ("Experimental.Microsoft.Extensions.AI", {}, "EnableSensitiveData = true"),
        ("haystack", {}, "HAYSTACK_CONTENT_TRACING_ENABLED=true"),
        ("ai", {"ai.operationId": "ai.generateText.doGenerate"}, "recordInputs: true, recordOutputs: true"),
        ("gen_ai", {}, "recordInputs: true, recordOutputs: true"),
        ("litellm", {}, "litellm.turn_off_message_logging = False"),
        ("langsmith", {}, "unset LANGSMITH_HIDE_INPUTS LANGSMITH_HIDE_OUTPUTS"),
        ("langfuse-sdk", {}, "LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED=True"),
        ("strands.telemetry.tracer", {}, "gen_ai_span_attributes_only"),
        ("org.springframework.boot", {}, "spring.ai.chat.observations.log-prompt=true"),
        ("azure.ai.inference", {}, "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true"),
        ("com.anthropic.sdk.python", {}, "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"),
        ("openlit.instrumentation.openai", {}, "openlit.init(capture_message_content=True)"),
    ],
)
def test_the_switch_is_that_of_the_library(scope: str, attributes: dict[str, JsonValue], switch: str) -> None:
    """Known by the keys that only its spans have, else by its scope."""
    library = library_of(observed(CALL | attributes, scope=Scope(scope)))

    assert library is not None
    assert any(line.endswith(switch) or switch in line for line in library.fix.split("\n")[1:])


def test_another_instrumentation_has_no_switch_that_is_known() -> None:
    """Nothing is said of what nobody looked into."""
    assert library_of(observed(CALL, scope=Scope("ai_of_mine"))) is None
    assert library_of(observed(CALL)) is None


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_a_switch_can_be_typed(library: Library) -> None:
    """The advice is a line, and what is to be typed stands on lines of its own; dialects are those that there are."""
    advice, *typed = library.fix.split("\n")

    assert typed
    assert advice.endswith(":")
    assert all(len(line) <= 84 for line in typed)
    assert set(library.dialects) <= {dialect.name for dialect in dialects.DIALECTS}
