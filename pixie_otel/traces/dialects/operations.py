"""What operations are: the names of OpenTelemetry's GenAI conventions, and those that producers have beside them."""

from __future__ import annotations

from typing import Final

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.spans import ObservationKind

__all__ = ["LEAF_KINDS", "operation_kind"]

LEAF_KINDS: Final = frozenset(
    {
        ObservationKind.LLM,
        ObservationKind.EMBEDDING,
        ObservationKind.RETRIEVER,
        ObservationKind.RERANKER,
        ObservationKind.TOOL,
    }
)
"""What does one thing and gives something back, where agents and chains have others do it."""

_KINDS: Final = {
    ObservationKind.LLM: (
        "chat",
        "generate_content",
        "generate_content_stream",
        "text_completion",
        "completion",
        "chat_completion",
        "chat_model",
        "llm",
        "llm_call",
        "execute_structured_output",
        "response",
        "responses",
        "anthropic_messages",
    ),
    ObservationKind.EMBEDDING: ("embeddings", "embedding"),
    ObservationKind.RETRIEVER: ("retrieval", "retrieve", "retriever", "vector_db_retrieve"),
    ObservationKind.RERANKER: ("rerank", "reranker"),
    ObservationKind.TOOL: ("execute_tool", "tool"),
    ObservationKind.AGENT: ("invoke_agent", "create_agent", "agent", "process_thread_run", "start_thread_run"),
    ObservationKind.CHAIN: (
        "invoke_workflow",
        "execute_event_loop_cycle",
        "agent_step",
        "execute_task",
        "chain",
        "plan",
        "workflow",
        "task",
        "parser",
    ),
    ObservationKind.GUARDRAIL: ("guardrail",),
    ObservationKind.EVALUATOR: ("evaluator",),
}
_BY_NAME: Final = {name: kind for kind, names in _KINDS.items() for name in names}


def operation_kind(name: JsonValue) -> ObservationKind | None:
    """Say what an operation is.

    Args:
        name: The operation's name, as it was recorded: that of a function of ``asyncio`` may have an ``a`` before it.

    Returns:
        The kind; ``None`` for a name that is not known.
    """
    if not isinstance(name, str):
        return None
    said = name.lower()
    return _BY_NAME.get(said) or _BY_NAME.get(said.removeprefix("a"))
