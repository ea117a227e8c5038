"""OpenLLMetry's spans of frameworks."""

from __future__ import annotations

import json

import pytest
from observed import event, observed

from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.spans import EmbeddingSpan, LLMSpan, ObservationKind, RetrieverSpan, ToolSpan

PARIS = {"city": "Paris", "unit": "celsius"}
WEATHER = {"temp_c": 18, "sky": "cloudy"}
DOCUMENTS = [{"page_content": "Refunds take 5 days.", "metadata": {"src": "a"}}]


def step(kind: str, name: str, given: JsonValue = None, given_back: JsonValue = None, **more: JsonValue) -> object:
    """Read the span of a framework's step."""
    return observed(
        {
            "traceloop.span.kind": kind,
            "traceloop.entity.name": name,
            "traceloop.entity.input": json.dumps(given),
            "traceloop.entity.output": json.dumps(given_back),
            **{key.replace("__", "."): value for key, value in more.items()},
        }
    )


@pytest.mark.parametrize("output", ["output", "outputs"])
def test_a_tool_of_langchain(output: str) -> None:
    """Arguments, result and the id of the call, without LangChain's wrapping."""
    message = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "ToolMessage"],
        "kwargs": {"content": json.dumps(WEATHER), "type": "tool", "tool_call_id": "call_abc123"},
    }
    span = step(
        "tool",
        "get_weather",
        {"input_str": str(PARIS), "tags": [], "inputs": PARIS, "kwargs": {"tool_call_id": "call_abc123"}},
        {output: message, "kwargs": {"tags": []}},
    )

    assert isinstance(span, ToolSpan)
    assert (span.tool_name, span.tool_call_id) == ("get_weather", "call_abc123")
    assert (span.arguments, span.result) == (PARIS, WEATHER)


def test_a_tool_that_was_given_text() -> None:
    """Where only the text of the arguments was recorded, it is read."""
    span = step("tool", "f", {"input_str": str(PARIS), "inputs": None, "kwargs": {}}, "18")

    assert isinstance(span, ToolSpan)
    assert (span.arguments, span.result) == (PARIS, "18")


def test_a_tool_of_llamaindex() -> None:
    """LlamaIndex's tools are tasks; what came back names the tool and holds what its function returned."""
    record = {"blocks": [], "tool_name": "get_weather", "raw_input": {}, "raw_output": WEATHER, "is_error": False}
    done = step("task", "FunctionTool.task", {"kwargs": PARIS}, record)
    failed = step("task", "FunctionTool.task", {"kwargs": PARIS})

    assert isinstance(done, ToolSpan)
    assert (done.tool_name, done.arguments, done.result) == ("get_weather", PARIS, WEATHER)
    assert isinstance(failed, ToolSpan)
    assert failed.arguments == PARIS


def test_a_retriever_of_langchain() -> None:
    """The operation says that it retrieves."""
    span = step(
        "task",
        "VectorStoreRetriever",
        {"query": "How long?", "tags": [], "metadata": {}, "kwargs": {}},
        {"documents": DOCUMENTS, "count": 1},
        gen_ai__operation__name="vector_db_retrieve",
    )

    assert isinstance(span, RetrieverSpan)
    assert (span.query, span.documents) == ("How long?", (Document("Refunds take 5 days.", metadata={"src": "a"}),))


def test_a_retriever_of_llamaindex() -> None:
    """The nodes are JSON text each, with their scores beside them."""
    node = {"node": {"id_": "n1", "metadata": {}, "text": "Refunds"}, "score": 0.5, "class_name": "NodeWithScore"}
    given = {"str_or_query_bundle": {"query_str": "How long?", "embedding": None}}
    span = step("task", "VectorIndexRetriever.task", given, [json.dumps(node)])

    assert isinstance(span, RetrieverSpan)
    assert (span.query, span.documents) == ("How long?", (Document("Refunds", "n1", 0.5, {}),))


def test_a_task_that_retrieves() -> None:
    """A function's decorator has no kind for retrieving, so the name and what came back tell."""
    span = step("task", "retrieve", {"args": ["How long?"], "kwargs": {}}, ["Refunds", "Support"])

    assert isinstance(span, RetrieverSpan)
    assert (span.query, [document.content for document in span.documents]) == ("How long?", ["Refunds", "Support"])


@pytest.mark.parametrize(
    ("name", "given_back"),
    [("retrieve", "Refunds"), ("RetrieverQueryEngine.task", {"response": "5 days"}), ("retrieve", []), ("rank", ["a"])],
)
def test_a_task_that_does_not(name: str, given_back: JsonValue) -> None:
    """A name alone, or a list alone, makes no retriever."""
    span = step("task", name, None, given_back)

    assert getattr(span, "kind", None) is ObservationKind.CHAIN


def test_steps_that_are_calls() -> None:
    """A framework's step that is itself a model call or an embedding is called a task all the same."""
    call = step("task", "OpenAILike.task", gen_ai__operation__name="chat", gen_ai__request__model="m")
    old = step("task", "OpenAI.task", llm__request__type="chat")
    embedding = step("workflow", "OpenAIEmbedding.workflow", {"texts": ["a b"]}, gen_ai__operation__name="embeddings")
    chain = step("workflow", "LangGraph", gen_ai__operation__name="invoke_agent")

    assert isinstance(call, LLMSpan)
    assert isinstance(old, LLMSpan)
    assert isinstance(embedding, EmbeddingSpan)
    assert embedding.texts == ("a b",)
    assert getattr(chain, "kind", None) is ObservationKind.CHAIN


def test_results_of_a_vector_store() -> None:
    """A vector store's span says what it found in events."""
    found = {
        "db.query.result.id": "d1",
        "db.query.result.distance": 0.25,
        "db.query.result.metadata": '{"src": "a"}',
        "db.query.result.document": "Refunds",
    }
    span = observed({"db.system": "chroma", "db.operation": "query"}, event("db.query.result", found))

    assert isinstance(span, RetrieverSpan)
    assert span.documents == (Document("Refunds", "d1", None, {"src": "a", "distance": 0.25}),)


def test_tools_alone_are_read() -> None:
    """A span that offers tools under OpenLLMetry's keys and says nothing else of it is read, too."""
    span = observed(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "llm.request.functions.0.name": "f",
            "llm.request.functions.0.parameters": '{"type": "object"}',
        }
    )

    assert isinstance(span, LLMSpan)
    assert [tool.name for tool in span.tool_definitions] == ["f"]
