"""Evaluate LLM applications from their OpenTelemetry traces.

The names below are the public API. Each is imported from its module the first time it is used, so that
`import pixie_otel` in a production application loads none of what only an evaluation needs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pixie_otel.config import PixieConfig, get_config
    from pixie_otel.errors import (
        ConfigError,
        InputError,
        ObservationError,
        PixieError,
        SkipEvaluation,
        WrapRegistryMissError,
        WrapTypeMismatchError,
    )
    from pixie_otel.evals.evaluate import evaluate, evaluate_sync
    from pixie_otel.evals.evaluation import (
        Evaluation,
        EvaluationResult,
        Evaluator,
        FailureKind,
        Outcome,
        ScoreThreshold,
    )
    from pixie_otel.evals.evaluators.heuristics import (
        AutoevalsAdapter,
        ExactMatch,
        JSONDiff,
        LevenshteinMatch,
        ListContains,
        NumericDiff,
        ValidJSON,
    )
    from pixie_otel.evaluable import UNSET, Evaluable, NamedData, TestCase, ToolCall, collapse_named_data
    from pixie_otel.exporters.handlers import InstrumentationHandler
    from pixie_otel.exporters.memory import MemoryTraceHandler
    from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter
    from pixie_otel.runs.eval_traces import eval_cases, eval_traces
    from pixie_otel.runs.interrupted import Interrupted
    from pixie_otel.runs.run import Run
    from pixie_otel.runs.store import find_run
    from pixie_otel.traces.conversation import Conversation
    from pixie_otel.traces.conversations import conversations
    from pixie_otel.traces.filters import TraceFilter
    from pixie_otel.traces.findings import find_problems
    from pixie_otel.traces.limits import ReadLimits
    from pixie_otel.traces.messages import (
        AssistantMessage,
        ImageContent,
        SystemMessage,
        TextContent,
        ToolResultMessage,
        UserMessage,
    )
    from pixie_otel.traces.reader import TraceReader, read_traces
    from pixie_otel.traces.report import Problem, ReadReport
    from pixie_otel.traces.selectors import Selector, as_evaluable, last_llm_call, llm_calls, root, select
    from pixie_otel.traces.spans import (
        AgentSpan,
        Document,
        EmbeddingSpan,
        LLMSpan,
        ObserveSpan,
        RetrieverSpan,
        ToolDefinition,
        ToolSpan,
    )
    from pixie_otel.traces.trace import Trace
    from pixie_otel.traces.tree import ObservationNode, build_tree
    from pixie_otel.tracing.capture import capture_traces
    from pixie_otel.tracing.dispatch import add_handler, remove_handler
    from pixie_otel.tracing.observation import Observation, start_observation
    from pixie_otel.tracing.observe import observe
    from pixie_otel.tracing.setup import flush, init, shutdown, stats
    from pixie_otel.tracing.statistics import TracingStats
    from pixie_otel.tracing.wrap import wrap

    __version__: str

__all__ = [
    "UNSET",
    "AgentSpan",
    "AssistantMessage",
    "AutoevalsAdapter",
    "ConfigError",
    "Conversation",
    "Document",
    "EmbeddingSpan",
    "Evaluable",
    "Evaluation",
    "EvaluationResult",
    "Evaluator",
    "ExactMatch",
    "FailureKind",
    "ImageContent",
    "InputError",
    "InstrumentationHandler",
    "Interrupted",
    "JSONDiff",
    "LLMSpan",
    "LevenshteinMatch",
    "ListContains",
    "MemoryTraceHandler",
    "NamedData",
    "NumericDiff",
    "Observation",
    "ObservationError",
    "ObservationNode",
    "ObserveSpan",
    "OtlpJsonlExporter",
    "Outcome",
    "PixieConfig",
    "PixieError",
    "Problem",
    "ReadLimits",
    "ReadReport",
    "RetrieverSpan",
    "Run",
    "ScoreThreshold",
    "Selector",
    "SkipEvaluation",
    "SystemMessage",
    "TestCase",
    "TextContent",
    "ToolCall",
    "ToolDefinition",
    "ToolResultMessage",
    "ToolSpan",
    "Trace",
    "TraceFilter",
    "TraceReader",
    "TracingStats",
    "UserMessage",
    "ValidJSON",
    "WrapRegistryMissError",
    "WrapTypeMismatchError",
    "add_handler",
    "as_evaluable",
    "build_tree",
    "capture_traces",
    "collapse_named_data",
    "conversations",
    "eval_cases",
    "eval_traces",
    "evaluate",
    "evaluate_sync",
    "find_problems",
    "find_run",
    "flush",
    "get_config",
    "init",
    "last_llm_call",
    "llm_calls",
    "observe",
    "read_traces",
    "remove_handler",
    "root",
    "select",
    "shutdown",
    "start_observation",
    "stats",
    "wrap",
]

_MODULES = {
    "UNSET": "pixie_otel.evaluable",
    "AgentSpan": "pixie_otel.traces.spans",
    "AssistantMessage": "pixie_otel.traces.messages",
    "AutoevalsAdapter": "pixie_otel.evals.evaluators.heuristics",
    "ConfigError": "pixie_otel.errors",
    "Conversation": "pixie_otel.traces.conversation",
    "Document": "pixie_otel.traces.spans",
    "EmbeddingSpan": "pixie_otel.traces.spans",
    "Evaluable": "pixie_otel.evaluable",
    "Evaluation": "pixie_otel.evals.evaluation",
    "EvaluationResult": "pixie_otel.evals.evaluation",
    "Evaluator": "pixie_otel.evals.evaluation",
    "ExactMatch": "pixie_otel.evals.evaluators.heuristics",
    "FailureKind": "pixie_otel.evals.evaluation",
    "ImageContent": "pixie_otel.traces.messages",
    "InputError": "pixie_otel.errors",
    "InstrumentationHandler": "pixie_otel.exporters.handlers",
    "Interrupted": "pixie_otel.runs.interrupted",
    "JSONDiff": "pixie_otel.evals.evaluators.heuristics",
    "LLMSpan": "pixie_otel.traces.spans",
    "LevenshteinMatch": "pixie_otel.evals.evaluators.heuristics",
    "ListContains": "pixie_otel.evals.evaluators.heuristics",
    "MemoryTraceHandler": "pixie_otel.exporters.memory",
    "NamedData": "pixie_otel.evaluable",
    "NumericDiff": "pixie_otel.evals.evaluators.heuristics",
    "Observation": "pixie_otel.tracing.observation",
    "ObservationError": "pixie_otel.errors",
    "ObservationNode": "pixie_otel.traces.tree",
    "ObserveSpan": "pixie_otel.traces.spans",
    "OtlpJsonlExporter": "pixie_otel.exporters.otlp_jsonl",
    "Outcome": "pixie_otel.evals.evaluation",
    "PixieConfig": "pixie_otel.config",
    "PixieError": "pixie_otel.errors",
    "Problem": "pixie_otel.traces.report",
    "ReadLimits": "pixie_otel.traces.limits",
    "ReadReport": "pixie_otel.traces.report",
    "RetrieverSpan": "pixie_otel.traces.spans",
    "Run": "pixie_otel.runs.run",
    "ScoreThreshold": "pixie_otel.evals.evaluation",
    "Selector": "pixie_otel.traces.selectors",
    "SkipEvaluation": "pixie_otel.errors",
    "SystemMessage": "pixie_otel.traces.messages",
    "TestCase": "pixie_otel.evaluable",
    "TextContent": "pixie_otel.traces.messages",
    "ToolCall": "pixie_otel.evaluable",
    "ToolDefinition": "pixie_otel.traces.spans",
    "ToolResultMessage": "pixie_otel.traces.messages",
    "ToolSpan": "pixie_otel.traces.spans",
    "Trace": "pixie_otel.traces.trace",
    "TraceFilter": "pixie_otel.traces.filters",
    "TraceReader": "pixie_otel.traces.reader",
    "TracingStats": "pixie_otel.tracing.statistics",
    "UserMessage": "pixie_otel.traces.messages",
    "ValidJSON": "pixie_otel.evals.evaluators.heuristics",
    "WrapRegistryMissError": "pixie_otel.errors",
    "WrapTypeMismatchError": "pixie_otel.errors",
    "add_handler": "pixie_otel.tracing.dispatch",
    "as_evaluable": "pixie_otel.traces.selectors",
    "build_tree": "pixie_otel.traces.tree",
    "capture_traces": "pixie_otel.tracing.capture",
    "collapse_named_data": "pixie_otel.evaluable",
    "conversations": "pixie_otel.traces.conversations",
    "eval_cases": "pixie_otel.runs.eval_traces",
    "eval_traces": "pixie_otel.runs.eval_traces",
    "evaluate": "pixie_otel.evals.evaluate",
    "evaluate_sync": "pixie_otel.evals.evaluate",
    "find_problems": "pixie_otel.traces.findings",
    "find_run": "pixie_otel.runs.store",
    "flush": "pixie_otel.tracing.setup",
    "get_config": "pixie_otel.config",
    "init": "pixie_otel.tracing.setup",
    "last_llm_call": "pixie_otel.traces.selectors",
    "llm_calls": "pixie_otel.traces.selectors",
    "observe": "pixie_otel.tracing.observe",
    "read_traces": "pixie_otel.traces.reader",
    "remove_handler": "pixie_otel.tracing.dispatch",
    "root": "pixie_otel.traces.selectors",
    "select": "pixie_otel.traces.selectors",
    "shutdown": "pixie_otel.tracing.setup",
    "start_observation": "pixie_otel.tracing.observation",
    "stats": "pixie_otel.tracing.setup",
    "wrap": "pixie_otel.tracing.wrap",
}

# A type checker takes a module's `__getattr__` to mean that every name exists; the imports above tell it better.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name from its module and keep it here."""
        if name == "__version__":
            from importlib.metadata import version

            value = version("pixie-otel")
        elif name in _MODULES:
            from importlib import import_module

            value = getattr(import_module(_MODULES[name]), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the public names too, whether or not they have been used."""
    return sorted({*globals(), *__all__, "__version__"})
