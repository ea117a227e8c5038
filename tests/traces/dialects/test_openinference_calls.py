"""OpenInference's tools and retrievers, as each framework's instrumentor writes them."""

from __future__ import annotations

import json

import pytest
from observed import observed

from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.spans import ObservationKind, RetrieverSpan, ToolSpan

TOOL = {"openinference.span.kind": "TOOL"}
PARIS = {"city": "Paris", "unit": "celsius"}
WEATHER = {"temp_c": 18, "sky": "cloudy"}


def tool(attributes: dict[str, JsonValue], name: str = "get_weather") -> ToolSpan:
    """Read the span of a tool."""
    span = observed({**TOOL, **attributes}, name=name)
    assert isinstance(span, ToolSpan)
    return span


@pytest.mark.parametrize(
    ("given", "given_back"),
    [
        (json.dumps(PARIS), json.dumps(WEATHER)),
        (json.dumps({"kwargs": PARIS}), json.dumps(WEATHER)),
        (json.dumps({"args": [], "sanitize_inputs_outputs": True, "kwargs": PARIS}), json.dumps(WEATHER)),
        (str(PARIS), str(WEATHER)),
        (
            json.dumps({"input": str(PARIS)}),
            json.dumps({"type": "tool", "data": {"content": json.dumps(WEATHER), "tool_call_id": "c"}}),
        ),
        (
            json.dumps(PARIS),
            json.dumps({"tool_name": "f", "raw_input": {}, "raw_output": WEATHER, "content": str(WEATHER)}),
        ),
    ],
)
def test_arguments_and_results(given: str, given_back: str) -> None:
    """They are the same whether DSPy, smolagents, agno, LangChain or LlamaIndex ran the tool."""
    span = tool({"input.value": given, "output.value": given_back})

    assert (span.arguments, span.result) == (PARIS, WEATHER)


def test_names() -> None:
    """A tool is called what the span says; else as the span, without the method that DSPy adds."""
    names = [
        tool({"tool.name": "f"}, name="SimpleTool").tool_name,
        tool({}, name="get_weather.__call__").tool_name,
        tool({}).tool_name,
    ]

    assert names == ["f", "get_weather", "get_weather"]


def test_langchain_says_which_call_a_tool_answers() -> None:
    """The message that LangChain makes of a result has the id of the call."""
    message = {"type": "tool", "data": {"content": "18", "tool_call_id": "call_1"}}

    assert tool({"output.value": json.dumps(message)}).tool_call_id == "call_1"


@pytest.mark.parametrize(
    ("name", "attributes", "kind"),
    [
        ("FinalAnswerTool", {"tool.name": "final_answer"}, ObservationKind.CHAIN),
        ("finish.__call__", {}, ObservationKind.CHAIN),
        ("FinalAnswerTool", {"tool.name": "my_tool"}, ObservationKind.TOOL),
        ("final_answer", {"tool.name": "final_answer"}, ObservationKind.TOOL),
        ("finish.__call__", {"tool.name": "finish"}, ObservationKind.TOOL),
        ("finish", {}, ObservationKind.TOOL),
    ],
)
def test_how_a_model_says_that_it_is_done(name: str, attributes: dict[str, str], kind: ObservationKind) -> None:
    """What smolagents and DSPy end a run with is no tool of the app's; a tool of the app's with that name is one."""
    assert observed({**TOOL, **attributes}, name=name).kind is kind


def test_what_was_searched_for() -> None:
    """The question stands among a retriever's arguments."""
    given = {"query": "How long do refunds take?", "filters": None, "top_k": None}
    span = observed({"openinference.span.kind": "RETRIEVER", "input.value": json.dumps(given)})

    assert isinstance(span, RetrieverSpan)
    assert span.query == "How long do refunds take?"


def test_documents_in_what_came_back() -> None:
    """Where no documents are listed, they are those that the retriever gave back."""
    span = observed(
        {
            "openinference.span.kind": "RETRIEVER",
            "output.value": json.dumps({"documents": [{"page_content": "Refunds", "metadata": {"src": "a"}}]}),
        }
    )

    assert isinstance(span, RetrieverSpan)
    assert span.documents == (Document("Refunds", metadata={"src": "a"}),)
