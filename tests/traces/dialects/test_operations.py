"""What operations are by their names."""

from __future__ import annotations

import pytest

from pixie_otel.traces.dialects.operations import LEAF_KINDS, operation_kind
from pixie_otel.traces.spans import ObservationKind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("chat", "llm"),
        ("Chat", "llm"),
        ("acompletion", "llm"),
        ("aresponses", "llm"),
        ("response", "llm"),
        ("aembedding", "embedding"),
        ("RETRIEVER", "retriever"),
        ("rerank", "reranker"),
        ("execute_tool", "tool"),
        ("agent", "agent"),
        ("process_thread_run", "agent"),
        ("execute_task", "chain"),
    ],
)
def test_names(name: str, kind: str) -> None:
    """The conventions' names and the common ones beside them, in any case, also of functions of asyncio."""
    assert operation_kind(name) == kind


@pytest.mark.parametrize("name", [None, "", "a", "run_team", 5, ["chat"], True])
def test_what_is_no_name(name: object) -> None:
    """Nothing is said of any other."""
    assert operation_kind(name) is None  # type: ignore[arg-type]


def test_leaves() -> None:
    """Agents and chains have others do the work."""
    assert {operation_kind("chat"), operation_kind("execute_tool")} <= LEAF_KINDS
    assert LEAF_KINDS.isdisjoint({ObservationKind.AGENT, ObservationKind.CHAIN, ObservationKind.OTHER})
