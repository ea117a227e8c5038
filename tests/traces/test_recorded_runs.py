"""One run of a tool, an embedding or a retrieval counts once."""

from __future__ import annotations

import pytest
from checked_traces import ROOT_ID, TRACE_ID, agent, llm, says, tool

from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.repeats import Repeat, Rule
from pixie_otel.traces.selectors import root
from pixie_otel.traces.spans import (
    EmbeddingSpan,
    ObservationKind,
    ObserveSpan,
    RetrieverSpan,
    Scope,
    SpanError,
    ToolSpan,
)
from pixie_otel.traces.trace import Trace

BROKE = SpanError("broke", "Timeout")
OUTER, INNER, SECOND = "00000000000000b0", "00000000000000c0", "00000000000000c1"


def runs(*spans: ObserveSpan) -> tuple[list[str], list[Rule]]:
    """Give the last two digits of the ids of the tools' runs, and the rules that others fell under."""
    trace = Trace.from_spans([agent(), *spans])
    return [span.span_id[-2:] for span in trace.tool_spans], [repeat.rule for repeat in trace.repeats]


def embedding(span_id: str, parent: str = ROOT_ID, **fields: object) -> EmbeddingSpan:
    """Make an embedding."""
    kind = ObservationKind.EMBEDDING
    return EmbeddingSpan(trace_id=TRACE_ID, span_id=span_id, parent_span_id=parent, kind=kind, **fields)


def retrieval(span_id: str, parent: str = ROOT_ID, *contents: str, **fields: object) -> RetrieverSpan:
    """Make a retrieval."""
    known = {"kind": ObservationKind.RETRIEVER, "documents": tuple(map(Document, contents)), **fields}
    return RetrieverSpan(trace_id=TRACE_ID, span_id=span_id, parent_span_id=parent, **known)


def test_a_tool_within_its_framework() -> None:
    """The framework's span around the tool's own is one run, which has the call's id and the result."""
    outer = tool(OUTER, "get_weather", arguments={"city": "Paris"}, tool_call_id="call_1")
    inner = tool(INNER, "get_weather", parent=OUTER, arguments={"city": "Paris"}, result="18 °C")
    trace = Trace.from_spans([agent(output="done"), outer, inner])

    (run,) = trace.tool_spans
    assert (run.span_id, run.tool_call_id, run.result) == (OUTER, "call_1", "18 °C")
    assert trace.repeats == [Repeat(Rule.SAME_RUN, TRACE_ID, INNER, "get_weather", OUTER, TRACE_ID)]
    (called,) = root(trace).tools_called or []
    assert (called.name, called.arguments, called.result) == ("get_weather", {"city": "Paris"}, "18 °C")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_weather", {"city": "Paris", "unit": "celsius"}),
        ("get_weather", {"args": [], "kwargs": {"unit": "celsius", "city": "Paris"}}),
        ("get_weather", '{"city": "Paris", "unit": "celsius"}'),
        ("get_weather", {}),
        ("get_weather", None),
        ("tools/call get_weather", {"city": "Paris", "unit": "celsius"}),
        ("P-get_weather", None),
    ],
)
def test_ways_of_writing_the_same_run(name: str, arguments: JsonValue) -> None:
    """Frameworks wrap arguments in mappings of their own, and put the server's or the plugin's name first."""
    outer = tool(OUTER, "get_weather", arguments={"city": "Paris", "unit": "celsius"})

    assert runs(outer, tool(INNER, name, parent=OUTER, arguments=arguments)) == (["b0"], [Rule.SAME_RUN])
    # Either of them may be the one that knows less.
    outer = tool(OUTER, name, arguments=arguments)
    inner = tool(INNER, "get_weather", parent=OUTER, arguments={"city": "Paris", "unit": "celsius"})
    assert runs(outer, inner) == (["b0"], [Rule.SAME_RUN])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_weather", {"city": "London"}),
        ("get_forecast", {"city": "Paris"}),
        ("forget_weather", {"city": "Paris"}),
        ("P-set_weather", {"city": "Paris"}),
    ],
)
def test_a_tool_that_runs_another(name: str, arguments: JsonValue) -> None:
    """Another tool, or the same with other arguments, is another run."""
    outer = tool(OUTER, "get_weather", arguments={"city": "Paris"})

    assert runs(outer, tool(INNER, name, parent=OUTER, arguments=arguments)) == (["b0", "c0"], [])


def test_equal_runs_in_a_row_are_two() -> None:
    """The same tool with the same arguments was run twice."""
    same = {"arguments": {"city": "Paris"}}

    assert runs(tool(OUTER, "f", **same), tool(INNER, "f", **same)) == (["b0", "c0"], [])
    assert runs(tool(OUTER, "f", **same), *(tool(at, "f", parent=OUTER, **same) for at in (INNER, SECOND))) == (
        ["c0", "c1"],
        [Rule.SUM],
    )


def test_a_run_that_was_tried_again() -> None:
    """The outer span is the attempt that worked out; the one before it was a run too."""
    outer = tool(OUTER, "f", arguments={"a": 1})
    failed = tool(INNER, "f", parent=OUTER, arguments={"a": 1}, error=BROKE)
    worked = tool(SECOND, "f", parent=OUTER, arguments={"a": 1}, result=2)

    assert runs(outer, failed, worked) == (["b0", "c0"], [Rule.SAME_RUN])
    assert runs(outer, failed) == (["b0"], [Rule.SAME_RUN])
    assert Trace.from_spans([agent(), outer, failed]).tool_spans[0].error == BROKE


def test_below_a_model_or_an_agent_begins_something_new() -> None:
    """An agent that is used as a tool runs tools of its own."""
    outer = tool(OUTER, "ask", arguments={"q": "?"})
    inner = tool("00000000000000d0", "ask", parent=INNER, arguments={"q": "?"})

    assert runs(outer, agent(INNER, OUTER), inner) == (["b0", "d0"], [])
    assert runs(outer, llm(INNER, says("x"), parent=OUTER), inner) == (["b0", "d0"], [])


def test_the_id_of_the_call_decides() -> None:
    """Names and arguments may be written in any way."""
    outer = tool(OUTER, "Weather tool", tool_call_id="call_1", arguments="Paris")

    assert runs(outer, tool(INNER, "get_weather", parent=OUTER, tool_call_id="call_1", arguments={"x": 1})) == (
        ["b0"],
        [Rule.SAME_RUN],
    )
    other = tool(INNER, "get_weather", parent=OUTER, tool_call_id="call_2", arguments={"x": 1})
    assert runs(tool(OUTER, "get_weather", tool_call_id="call_1", arguments="Paris"), other) == (["b0", "c0"], [])


def timed(span_id: str, scope: str, start: int, end: int, arguments: JsonValue = "Paris") -> ToolSpan:
    """Make a tool's span of an instrumentation, from one moment to another."""
    times = {"start_time_unix_nano": start, "end_time_unix_nano": end}
    return tool(span_id, "f", scope=Scope(scope), arguments=arguments, **times)


def test_two_instrumentations_beside_each_other() -> None:
    """What the second one recorded lies within the first one's time, and says the same."""
    outer = timed(OUTER, "framework", 100, 200)

    assert runs(outer, timed(INNER, "mcp", 110, 190)) == (["b0"], [Rule.TWO_INSTRUMENTATIONS])
    assert runs(outer, timed(INNER, "mcp", 110, 190), timed(SECOND, "mcp", 120, 180))[0] == ["b0", "c1"]
    for other in (
        timed(INNER, "framework", 110, 190),
        timed(INNER, "mcp", 110, 210),
        timed(INNER, "mcp", 110, 190, "London"),
        timed(INNER, "mcp", 110, 190, None),
    ):
        assert runs(outer, other) == (["b0", "c0"], [])


def test_an_embedding_within_its_public_method() -> None:
    """Instrumentations record both, and the inner one knows the texts."""
    trace = Trace.from_spans([agent(), embedding(OUTER, model="m"), embedding(INNER, OUTER, texts=("a", "b"))])

    (only,) = trace.embedding_spans
    assert (only.span_id, only.model, only.texts) == (OUTER, "m", ("a", "b"))
    assert [repeat.rule for repeat in trace.repeats] == [Rule.SAME_RUN]
    assert found(embedding(OUTER, texts=("a", "b")), embedding(INNER, OUTER, model="m")) == ["b0"]


def test_embeddings_of_their_own() -> None:
    """In batches the batches count; other texts or another model are another embedding, and two in a row are two."""
    batches = [embedding(INNER, OUTER, texts=("a",)), embedding(SECOND, OUTER, texts=("b",))]
    assert found(embedding(OUTER, texts=("a", "b")), *batches) == ["c0", "c1"]
    assert found(embedding(OUTER, texts=("a",)), embedding(INNER, OUTER, texts=("x",))) == ["b0", "c0"]
    assert found(embedding(OUTER, model="m"), embedding(INNER, OUTER, model="n")) == ["b0", "c0"]
    assert found(embedding(OUTER, texts=("a",)), embedding(INNER, texts=("a",))) == ["b0", "c0"]


def found(*spans: EmbeddingSpan) -> list[str]:
    """Give the last two digits of the ids of the embeddings."""
    return [span.span_id[-2:] for span in Trace.from_spans([agent(), *spans]).embedding_spans]


def test_a_retriever_within_a_retriever() -> None:
    """It is one retrieval where both found the same, or only one says what."""
    for outer, inner in (((), ("a", "b")), (("a", "b"), ()), (("a", "b"), ("a", "b"))):
        trace = Trace.from_spans([agent(), retrieval(OUTER, ROOT_ID, *outer), retrieval(INNER, OUTER, *inner)])

        (only,) = trace.retriever_spans
        assert [document.content for document in only.documents] == ["a", "b"]
    for outer_query, inner_query in (("?", None), (None, "?"), ("?", "?")):
        spans = [retrieval(OUTER, ROOT_ID, query=outer_query), retrieval(INNER, OUTER, query=inner_query)]
        assert [span.query for span in Trace.from_spans([agent(), *spans]).retriever_spans] == ["?"]


def test_retrievals_of_their_own() -> None:
    """A choice out of what was found, another query and a reranking are steps of their own."""
    for inner in (
        retrieval(INNER, OUTER, "a", "b"),
        retrieval(INNER, OUTER, "a", query="other"),
        retrieval(INNER, OUTER, "a", kind=ObservationKind.RERANKER),
        retrieval(INNER, ROOT_ID, "a", query="?"),
    ):
        trace = Trace.from_spans([agent(), retrieval(OUTER, ROOT_ID, "a", query="?"), inner])

        assert len(trace.retriever_spans) == 2


def test_arguments_of_any_size_cost_little() -> None:
    """Only so many values are compared."""
    many: JsonValue = list(range(100_000))

    assert runs(tool(OUTER, "f", arguments=many), tool(INNER, "f", parent=OUTER, arguments={"many": many})) == (
        ["b0"],
        [Rule.SAME_RUN],
    )


def test_arguments_by_name_are_the_same_only_under_the_same_names() -> None:
    """What a tool passes on to itself with its arguments swapped is another run; by position there are no names."""
    outer = tool(OUTER, "move", arguments={"from": "a", "to": "b"})

    assert runs(outer, tool(INNER, "move", parent=OUTER, arguments={"from": "b", "to": "a"})) == (["b0", "c0"], [])
    for arguments in ({"args": ["a", "b"]}, {"kwargs": {"to": "b", "from": "a"}}, ["b", "a"]):
        inner = tool(INNER, "move", parent=OUTER, arguments=arguments)
        assert runs(outer, inner) == (["b0"], [Rule.SAME_RUN]), arguments


def test_tools_without_names_are_their_own() -> None:
    """Nothing says that they are the same."""
    assert runs(tool(OUTER, ""), tool(INNER, "", parent=OUTER)) == (["b0", "c0"], [])
    same = {"tool_call_id": "call_1"}
    assert runs(tool(OUTER, "", **same), tool(INNER, "", parent=OUTER, **same)) == (["b0"], [Rule.SAME_RUN])


def test_equal_runs_at_the_same_time_stay_two() -> None:
    """Each instrumentation records each of them once."""
    outer = [timed(OUTER, "framework", 100, 200), timed("00000000000000b1", "framework", 130, 210)]
    inner = [timed(INNER, "mcp", 131, 195), timed(SECOND, "mcp", 132, 209)]

    assert runs(*outer, *inner)[0] == ["b0", "b1"]
    assert runs(*outer, *inner, timed("00000000000000d0", "mcp", 133, 150))[0] == ["b0", "b1", "d0"]


def moment(scope: str, start: int, end: int) -> dict[str, object]:
    """Give the instrumentation and the times of a span."""
    return {"scope": Scope(scope), "start_time_unix_nano": start, "end_time_unix_nano": end}


def test_embeddings_and_retrievals_beside_each_other() -> None:
    """A framework's and the provider's recording of the same texts, or of the same query with the same documents."""
    first, second, again = moment("framework", 100, 200), moment("provider", 110, 190), moment("framework", 110, 190)
    assert found(embedding(OUTER, texts=("a",), **first), embedding(INNER, texts=("a",), **second)) == ["b0"]
    for other in (
        embedding(INNER, texts=("a",), **again),
        embedding(INNER, texts=("b",), **second),
        embedding(INNER, **second),
        embedding(INNER, texts=("a",), **moment("provider", 110, 210)),
        embedding(INNER, texts=("a",), **moment("provider", 210, 220)),
    ):
        assert found(embedding(OUTER, texts=("a",), **first), other) == ["b0", "c0"]
    assert found(embedding(OUTER, **first), embedding(INNER, texts=("a",), **second)) == ["b0", "c0"]

    outer = retrieval(OUTER, ROOT_ID, "a", query="?", **first)
    for inner, number in (
        (retrieval(INNER, ROOT_ID, "a", query="?", **second), 1),
        (retrieval(INNER, ROOT_ID, "a", query="?", **again), 2),
        (retrieval(INNER, ROOT_ID, query="?", **second), 2),
        (retrieval(INNER, ROOT_ID, "a", **second), 2),
        (retrieval(INNER, ROOT_ID, "b", query="?", **second), 2),
    ):
        assert len(Trace.from_spans([agent(), outer, inner]).retriever_spans) == number
