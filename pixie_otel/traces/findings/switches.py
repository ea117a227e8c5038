"""Which library made a span, and how it is told to record what was said.

Sources, read or tried: opentelemetry-util-genai 0.4 and 1.3, opentelemetry-instrumentation-openai-v2 2.4,
-google-genai 1.3, -botocore 0.66; OpenLLMetry 0.62; openinference-instrumentation 0.1.72; pydantic-ai 2.68; google-adk
2.13; agent-framework-core 1.23; semantic-kernel 1.45; haystack-ai 3.4; litellm 1.110; openlit 1.45; langsmith 0.15;
langfuse 5.0; anthropic 2.14; strands-agents 1.62; openai-agents 0.24; azure-ai-inference 1.0; the documentation of the
Vercel AI SDK, Spring AI, Microsoft.Extensions.AI and Claude Code.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from pixie_otel import attributes as keys
from pixie_otel.attributes import google_adk as adk_keys
from pixie_otel.traces.spans import ObserveSpan

__all__ = ["LIBRARIES", "Library", "library_of"]

_OPT_IN: Final = "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"
_SPAN_ONLY: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"
_UNHIDE: Final = "unset OPENINFERENCE_HIDE_INPUTS OPENINFERENCE_HIDE_OUTPUTS"
_TRUE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"


class Library(Struct, frozen=True):
    """A library that makes spans, and its switch.

    Attributes:
        name: What people know it by.
        fix: How its content is switched on. The first line is for people; those after it are to be typed.
        dialects: The dialects that only its spans are read by.
        scopes: How the names of its scopes begin; the whole name where it ends in a space.
    """

    name: str
    fix: str
    dialects: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()

    def made(self, span: ObserveSpan) -> bool:
        """Say whether it made a span.

        Args:
            span: The span.
        """
        return not set(self.dialects).isdisjoint(span.dialects) or f"{span.scope.name} ".startswith(self.scopes)


def _set(name: str, *lines: str, note: str = "") -> str:
    return "\n".join((f"{name} records messages with, in the application's environment{note}:", *lines))


_OLDER_ADK: Final = Library(
    "Google ADK",
    _set("Google ADK (first schema)", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
)

LIBRARIES: Final = (
    Library(
        "Anthropic's SDK",
        _set("Anthropic's own SDK", "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"),
        scopes=("com.anthropic.sdk",),
    ),
    Library(
        "OpenAI Agents SDK",
        _set("The OpenAI Agents SDK", "OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA=true", _UNHIDE),
        scopes=("openinference.instrumentation.openai_agents", "opentelemetry.instrumentation.openai_agents"),
    ),
    Library(
        "OpenInference",
        "OpenInference hides what these say; take away those that are set:\n"
        f"{_UNHIDE}\n"
        "unset OPENINFERENCE_HIDE_INPUT_MESSAGES OPENINFERENCE_HIDE_OUTPUT_MESSAGES\n"
        "unset OPENINFERENCE_HIDE_INPUT_TEXT OPENINFERENCE_HIDE_OUTPUT_TEXT",
        dialects=("openinference",),
    ),
    Library(
        "Pydantic AI",
        "Pydantic AI records messages unless it is told not to; give the settings, or Logfire, anew:\n"
        "InstrumentationSettings(include_content=True)\n"
        "logfire.instrument_pydantic_ai(include_content=True)",
        dialects=("pydantic_ai",),
        scopes=("pydantic-ai ",),
    ),
    Library(
        "Google ADK",
        _set("Google ADK", _SPAN_ONLY),
        dialects=("google_adk",),
        scopes=(adk_keys.PREFIX.removesuffix("."),),
    ),
    Library(
        "OpenLIT",
        "OpenLIT records messages unless it is told not to; take away the first, and give the second:\n"
        "unset OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT\n"
        "openlit.init(capture_message_content=True)",
        dialects=("openlit",),
        scopes=("openlit.",),
    ),
    Library(
        "LiteLLM",
        "LiteLLM records messages unless it is told not to; set it back:\n"
        f"litellm.turn_off_message_logging = False\n{_SPAN_ONLY}",
        dialects=("litellm",),
        scopes=("litellm ",),
    ),
    Library(
        "Haystack",
        _set("Haystack", "HAYSTACK_CONTENT_TRACING_ENABLED=true"),
        dialects=("haystack",),
        scopes=("haystack ",),
    ),
    Library(
        "Langfuse",
        "Langfuse records inputs and outputs unless it is told not to; set both back:\n"
        "LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED=True\n"
        "@observe(capture_input=True, capture_output=True)",
        dialects=("langfuse",),
        scopes=("langfuse-sdk",),
    ),
    Library(
        "LangSmith",
        "LangSmith records inputs and outputs unless it is told not to; take away:\n"
        "unset LANGSMITH_HIDE_INPUTS LANGSMITH_HIDE_OUTPUTS",
        dialects=("langsmith",),
        scopes=("langsmith ",),
    ),
    Library(
        "Vercel AI SDK",
        "The Vercel AI SDK records both unless it is told not to; where telemetry is switched on, give:\n"
        "recordInputs: true, recordOutputs: true",
        dialects=("vercel",),
        scopes=("ai ", "gen_ai "),
    ),
    Library(
        "Semantic Kernel",
        _set("Semantic Kernel", "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"),
        dialects=("semantic_kernel",),
        scopes=("semantic_kernel.", "Microsoft.SemanticKernel"),
    ),
    Library(
        "Agent Framework",
        _set("Microsoft's Agent Framework", "ENABLE_SENSITIVE_DATA=true"),
        scopes=("agent_framework",),
    ),
    Library(
        "Microsoft.Extensions.AI",
        "Microsoft.Extensions.AI records messages with one of these:\n"
        f".UseOpenTelemetry(configure: c => c.EnableSensitiveData = true)\n{_TRUE}",
        scopes=("Experimental.Microsoft.Extensions.AI", "Experimental.Microsoft.Agents.AI"),
    ),
    Library(
        "Strands",
        "Strands Agents records messages as span events. Look whether something on the way drops events, and whether "
        "OTEL_SEMCONV_STABILITY_OPT_IN names gen_ai_unredacted_attributes. To have attributes instead:\n"
        "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental,gen_ai_span_attributes_only",
        dialects=("strands",),
        scopes=("strands.",),
    ),
    Library(
        "Spring AI",
        "Spring AI from 1.0 on writes messages into the application's log only; where an exporter takes logs, give it "
        "together with the traces:\n"
        "spring.ai.chat.observations.log-prompt=true\nspring.ai.chat.observations.log-completion=true",
        dialects=("spring_ai",),
        scopes=("org.springframework.",),
    ),
    Library(
        "Azure AI",
        _set("Azure's AI libraries", "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true"),
        scopes=("azure.ai.",),
    ),
    Library(
        "Claude Code",
        _set("Claude Code", "OTEL_LOG_USER_PROMPTS=1"),
        scopes=("com.anthropic.claude_code",),
    ),
    Library(
        "opentelemetry-instrumentation-openai-v2",
        _set(
            "opentelemetry-instrumentation-openai-v2",
            _OPT_IN,
            _SPAN_ONLY,
            note=" (without the first of them it takes =true, and writes messages as log records)",
        ),
        scopes=("opentelemetry.instrumentation.openai_v2",),
    ),
    Library(
        "OpenTelemetry GenAI",
        _set(
            "OpenTelemetry's GenAI instrumentation",
            _OPT_IN,
            _SPAN_ONLY,
            note=" (=true, which older ones take, records nothing here)",
        ),
        scopes=(
            "opentelemetry.instrumentation.genai.",
            "opentelemetry.instrumentation.google_genai",
            "opentelemetry.util.genai",
        ),
    ),
    Library(
        "botocore",
        _set("opentelemetry-instrumentation-botocore", _TRUE, note=" (as log records: give these with the traces)"),
        scopes=("opentelemetry.instrumentation.botocore",),
    ),
    Library(
        "OpenLLMetry",
        "OpenLLMetry records messages unless it is told not to; set it back:\nTRACELOOP_TRACE_CONTENT=true",
        dialects=("openllmetry",),
        scopes=(
            keys.TRACELOOP_PREFIX,
            "@traceloop/",
            *(
                f"opentelemetry.instrumentation.{name}"
                for name in (
                    "alephalpha", "anthropic", "bedrock", "cohere", "crewai", "google_generativeai", "groq", "haystack",
                    "langchain", "llamaindex", "mistralai", "ollama", "openai.", "replicate",
                    "sagemaker", "together", "transformers", "vertexai", "watsonx", "writer",
                )
            ),
        ),
    ),
)  # fmt: skip
"""The libraries whose switch is known, in the order in which they are looked for."""


def library_of(span: ObserveSpan) -> Library | None:
    """Say which library made a span: by the keys that it was read by, else by its scope.

    Args:
        span: The span.

    Returns:
        The library; ``None`` where none of those whose switch is known.
    """
    for library in LIBRARIES:
        if library.made(span):
            is_older = library.name == _OLDER_ADK.name and (
                adk_keys.LLM_REQUEST in span.attributes or adk_keys.TOOL_CALL_ARGS in span.attributes
            )
            return _OLDER_ADK if is_older else library
    return None
