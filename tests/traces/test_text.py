"""Trees as text."""

from __future__ import annotations

from typing import Any

import pytest
from checked_traces import TRACE_ID, agent, llm, result, says, tool, user

from pixie_otel.evaluable import Document, ToolCall
from pixie_otel.traces.messages import AssistantMessage, ImageContent, ReasoningContent, TextContent, UserMessage
from pixie_otel.traces.spans import ObservationKind, ObserveSpan, RetrieverSpan, SpanError
from pixie_otel.traces.text import duration_text, tree_text
from pixie_otel.traces.trace import Trace

ALL: dict[str, Any] = {
    "start_time_unix_nano": 1_700_000_000_000_000_000,
    "end_time_unix_nano": 1_700_000_001_400_000_000,
}


def lines(*spans: ObserveSpan, **options: int) -> list[str]:
    """Give the text of a trace, line by line."""
    return tree_text(Trace.from_spans(spans).roots, **options).split("\n")


def test_a_run() -> None:
    """Names, kinds, durations, models, tokens and reasons; what went in and came out below each."""
    call = ToolCall("get_weather", {"city": "Paris"}, "c1")
    shown = lines(
        agent(input="Weather?", output="Sunny.", **ALL),
        llm(
            "00000000000000b0",
            says("", call),
            input_messages=(user("Weather?"),),
            request_model="m",
            input_tokens=60,
            output_tokens=17,
            finish_reasons=("tool_calls",),
        ),
        tool("00000000000000b1", "get_weather", arguments={}, input={"city": "Paris"}, output={"sky": "sunny"}),
        llm(
            "00000000000000b2",
            says("Sunny."),
            input_messages=(user("Weather?"), says("", call), result("sunny", "c1")),
            output_tokens=3,
            finish_reasons=("stop",),
            error=SpanError("late", "Timeout"),
        ),
    )

    assert shown == [
        "answer [agent] · 1.4 s",
        "│   in: Weather?",
        "│   out: Sunny.",
        "├─ chat [llm] · 0 ms · m · 60→17 tokens · tool_calls",
        "│      user: Weather?",
        '│      → assistant: get_weather({"city":"Paris"})',
        "├─ get_weather [tool] · 0 ms",
        '│      in: {"city":"Paris"}',
        '│      out: {"sky":"sunny"}',
        "└─ chat [llm] · 0 ms · ?→3 tokens",
        "       user: Weather?",
        '       assistant: get_weather({"city":"Paris"})',
        "       tool: (c1) sunny",
        "       → assistant: Sunny.",
        "       error: Timeout: late",
    ]


def test_calls_without_arguments() -> None:
    """Arguments that were not recorded are not shown as any."""
    assert lines(llm("0b", says("", ToolCall("f")), parent=None))[1:] == ["    → assistant: f()"]


def test_parts_of_messages() -> None:
    """Reasoning is told from what was said, and that there was more than text is said."""
    asked = UserMessage(content=(TextContent("this?"), ImageContent("u"), ImageContent("v")))
    said = AssistantMessage(content=(ReasoningContent("hm"), TextContent("yes")))
    shown = lines(llm("0b", said, parent=None, input_messages=(asked,)))

    assert shown[1:] == ["    user: this? (+ 2 other parts)", "    → assistant: (reasoning) hm yes"]


def test_retrievals_show_documents_once() -> None:
    """The documents are the output, and not shown as that too."""
    found: dict[str, Any] = {"trace_id": TRACE_ID, "span_id": "01", "kind": ObservationKind.RETRIEVER, "name": "search"}
    documents = (Document("one\ntwo"), Document("three"))
    shown = lines(RetrieverSpan(**found, input="q", output=["one"], documents=documents))

    assert shown == [
        "search [retriever] · 2 documents",
        "    in: q",
        "    document: one",
        "              two",
        "    document: three",
    ]
    assert lines(RetrieverSpan(**found, output="none"))[1:] == ["    out: none"]


def test_cut_to_fit() -> None:
    """Values are one line each, cut where they are longer, and whole where nobody asks for that."""
    span = agent(input="a  b\nc" * 10, output="x" * 10)

    assert lines(span, max_chars=10)[1:] == ["    in: a b ca b …", "    out: xxxxxxxxxx"]
    assert len(lines(span)) == 13


def test_names_cannot_tear_the_tree() -> None:
    """A name of several lines is one, and a missing one is said to be."""
    span: dict[str, Any] = {"trace_id": TRACE_ID, "span_id": "01"}

    assert lines(ObserveSpan(**span, name="a\n└─ b")) == ["a └─ b [other]"]
    assert lines(ObserveSpan(**span)) == ["(no name) [other]"]


def test_empty_values() -> None:
    """An empty answer is shown as one."""
    assert lines(agent(output=""))[1:] == ["    out: "]
    assert lines(tool("0b", "f", parent=None, output=[]))[1:] == ["    out: []"]


def test_verbose() -> None:
    """Ids, dialects and how a span was read, for those who ask."""
    span = agent(dialects=("openinference",), notes=("merged",))

    assert lines(span, verbose=True)[1:] == [f"    id: {span.span_id}, read as openinference", "    note: merged"]
    assert lines(agent(), verbose=True)[1].endswith("read as no known dialect")


def test_deep_trees_stay_readable() -> None:
    """From some depth on the depth is a number, so that a chain of any length costs little."""
    spans = [
        ObserveSpan(
            trace_id="t",
            span_id=f"{i:05}",
            parent_span_id=f"{i - 1:05}" if i else None,
            start_time_unix_nano=i,
            name="n",
        )
        for i in range(20_000)
    ]
    shown = lines(*spans)

    assert len(shown) == 20_000
    assert shown[30].endswith("└─ n [other]")
    assert shown[-1].strip() == "└ (depth 19999) n [other]"
    assert max(map(len, shown)) < 150


def test_several_roots() -> None:
    """Trees stand one after another, siblings under their lines."""
    shown = lines(
        agent(),
        agent("00000000000000a1", "00000000000000a0"),
        agent("00000000000000a2", "00000000000000a1"),
        agent("00000000000000a3", "00000000000000a0"),
        agent("00000000000000a4"),
    )

    assert [line.partition("answer")[0] for line in shown] == ["", "├─ ", "│  └─ ", "└─ ", ""]
    assert tree_text([]) == ""


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [(None, ""), (0.0, "0 ms"), (12.4, "12 ms"), (1400, "1.4 s"), (125_000, "2 min 5 s"), (59_999, "60.0 s")],
)
def test_durations(milliseconds: float | None, said: str) -> None:
    """Durations as people read them."""
    assert duration_text(milliseconds) == said
