"""What of a trace is judged."""

from __future__ import annotations

import pytest
from checked_traces import TRACE_ID, agent, llm, says, tool, user

from pixie_otel.errors import ConfigError, ObservationError
from pixie_otel.evaluable import Document, Evaluable, NamedData, ToolCall
from pixie_otel.traces.selectors import as_evaluable, last_llm_call, llm_calls, parse_selector, root
from pixie_otel.traces.spans import EmbeddingSpan, ObservationKind, ObserveSpan, RetrieverSpan
from pixie_otel.traces.trace import Trace

EMPTY = Trace("t", [])


def span(span_id: str, parent: str | None = None, **fields: object) -> ObserveSpan:
    """Make a span without a kind; ids that sort later happen later."""
    return ObserveSpan(
        trace_id=TRACE_ID,
        span_id=span_id,
        parent_span_id=parent,
        start_time_unix_nano=int(span_id, 16),
        **fields,  # type: ignore[arg-type]
    )


def wrapped(span_id: str, name: str | None, purpose: object, value: object) -> ObserveSpan:
    """Make the span of a wrapped value, which went in where it is an input and came out elsewhere."""
    attributes = {"pixie.wrap.purpose": purpose, "pixie.wrap.name": name}
    given = {"input": value} if purpose == "input" else {"output": value}
    return span(span_id, "00000001", name="wrap", attributes=attributes, **given)


def trace(*spans: ObserveSpan) -> Trace:
    """Make a trace."""
    return Trace.from_spans(spans)


class TestRoot:
    """`root`."""

    def test_the_roots_own_input_and_output(self) -> None:
        """The first root's, though others follow."""
        made = root(trace(span("01", input="q", output="a"), span("02", input="x", output="y")))

        assert made.eval_input == [NamedData("input", "q")]
        assert made.eval_output == [NamedData("output", "a")]

    def test_below_spans_without_either(self) -> None:
        """Below an HTTP server's span it is the topmost that recorded something, not the first one met."""
        made = root(
            trace(
                span("01", name="POST /chat"),
                span("02", "01", name="middleware"),
                span("03", "02", name="deep", input="deep"),
                span("04", "01", name="agent", output="a"),
            )
        )

        assert made.eval_input == [NamedData("input", None)]
        assert made.eval_output == [NamedData("output", "a")]

    def test_nothing_recorded_at_all(self) -> None:
        """Then it is the first root, with an input of null and no output."""
        made = root(trace(span("01"), span("02", "01")))

        assert (made.eval_input, made.eval_output) == ([NamedData("input", None)], [])

    def test_falsy_values_are_recorded(self) -> None:
        """An empty answer, or zero, is an answer."""
        made = root(trace(span("01", output=""), span("02", "01", input="x")))

        assert made.eval_output == [NamedData("output", "")]

    def test_wrapped_values(self) -> None:
        """Inputs by name after the root's input; wrapped outputs and states in the place of its output."""
        top = span("00000001", input="q", output="own")
        made = root(
            trace(
                top,
                wrapped("12", "docs", "input", ["d"]),
                wrapped("13", "reply", "output", "r"),
                wrapped("14", "plan", "state", {"a": 1}),
                wrapped("15", None, "output", 0),
                wrapped("16", "zork", "zork", 1),
            )
        )

        assert made.eval_input == [NamedData("input", "q"), NamedData("docs", ["d"])]
        assert made.eval_output == [NamedData("reply", "r"), NamedData("plan", {"a": 1}), NamedData("wrap", 0)]

    def test_states_without_outputs(self) -> None:
        """Where only states were wrapped, the root's own output comes first."""
        state = wrapped("12", "plan", "state", 1)

        made = root(trace(span("00000001", output="own"), state))
        assert made.eval_output == [NamedData("output", "own"), NamedData("plan", 1)]
        assert root(trace(span("00000001"), state)).eval_output == [NamedData("plan", 1)]

    def test_a_wrapped_value_is_no_root(self) -> None:
        """What was wrapped is not what was run."""
        made = root(trace(span("00000001"), wrapped("12", "docs", "input", "d"), span("13", "00000001", input="q")))

        assert made.eval_input == [NamedData("input", "q"), NamedData("docs", "d")]

    def test_every_other_field(self) -> None:
        """Documents once, tools run, cost and time of the whole trace."""
        documents = (Document("d", score=0.5), Document("e"))
        retrievers = [
            RetrieverSpan(trace_id=TRACE_ID, span_id=f"0{i}", parent_span_id="00000001", documents=documents[:i])
            for i in (1, 2)
        ]
        top = span("00000001", input="q", metadata={"m": 1}, end_time_unix_nano=1_500_000_001)
        run = tool("0000000000000009", "f", parent="00000001", arguments={"a": 1}, result="ok", tool_call_id="c")
        made = root(trace(top, *retrievers, run, llm("000000000000000a", parent="00000001", cost=0.25)))

        assert made.retrieval_context == list(documents)
        assert made.tools_called == [ToolCall("f", {"a": 1}, result="ok")]
        assert made.tools_called[0].id == "c"
        assert (made.token_cost, made.completion_time, made.eval_metadata) == (0.25, 1.5, {"m": 1})

    def test_tools_that_were_only_asked_for(self) -> None:
        """Without spans of tools, the calls that the models asked for; without answers nothing is known."""
        asked = llm("00000000000000b0", says("", ToolCall("f", {"a": 1})))

        assert root(trace(agent(), asked)).tools_called == [ToolCall("f", {"a": 1})]
        assert root(trace(agent(), llm("00000000000000b0", says("x")))).tools_called == []
        bare = root(trace(agent(), llm("00000000000000b0")))
        assert (bare.tools_called, bare.retrieval_context, bare.token_cost) == (None, None, None)

    def test_an_empty_trace(self) -> None:
        """It has no root, as a trace and as a list."""
        for empty in (EMPTY, []):
            with pytest.raises(ValueError, match="empty trace"):
                root(empty)


class TestLastCall:
    """`last_llm_call` and `llm_calls`."""

    def test_messages_and_answer(self) -> None:
        """The messages given, and the answer's text; wrapped values have no part in it."""
        call = llm("00000000000000b0", says("hi"), input_messages=(user("?"),), cost=0.5, metadata={"m": 1})
        made = last_llm_call(trace(agent(), call, wrapped("00000000000000b1", "docs", "input", "d")))

        assert made.eval_input == [NamedData("messages", [{"role": "user", "content": "?"}])]
        assert made.eval_output == [NamedData("output", "hi")]
        assert (made.tools_called, made.token_cost, made.eval_metadata) == ([], 0.5, {"m": 1})
        assert made.completion_time == 0.0005

    def test_an_answer_with_calls(self) -> None:
        """Then the output is text and calls."""
        made = last_llm_call(trace(llm("00000000000000b0", says("hm", ToolCall("f", {}, "c")), parent=None)))

        assert made.eval_output == [
            NamedData("output", {"content": "hm", "tool_calls": [{"id": "c", "name": "f", "arguments": {}}]})
        ]
        assert made.tools_called == [ToolCall("f", {})]

    def test_without_messages(self) -> None:
        """The span's own input and output, or nothing."""
        assert last_llm_call(trace(llm("0b", parent=None, input={"a": 1}, output="x"))) == Evaluable(
            [NamedData("messages", {"a": 1})], [NamedData("output", "x")], tools_called=[], completion_time=0.0005
        )
        assert last_llm_call(trace(llm("0b", parent=None))).eval_output == []

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ({"end_time_unix_nano": 10}, {"end_time_unix_nano": 11, "start_time_unix_nano": 1}),
            (
                {"end_time_unix_nano": 10, "start_time_unix_nano": 5},
                {"end_time_unix_nano": 10, "start_time_unix_nano": 6},
            ),
            (
                {"end_time_unix_nano": 10, "start_time_unix_nano": 5},
                {"end_time_unix_nano": 10, "start_time_unix_nano": 5},
            ),
        ],
    )
    def test_the_last_is_the_one_that_ended_last(self, first: dict[str, int], second: dict[str, int]) -> None:
        """Ties go by start, then by id."""
        spans = [llm("0b", says("1"), parent=None, **first), llm("0c", says("2"), parent=None, **second)]

        for order in (spans, spans[::-1]):
            assert last_llm_call(trace(*order)).eval_output == [NamedData("output", "2")]

    def test_documents_of_the_trace(self) -> None:
        """A call may be judged by what was retrieved for it."""
        found = RetrieverSpan(trace_id=TRACE_ID, span_id="01", documents=(Document("d"),))

        assert last_llm_call(trace(found, llm("0b", says("x"), parent=None))).retrieval_context == [Document("d")]

    def test_documents_that_several_retrievers_report_count_once(self) -> None:
        """Those that differ in anything are different, and each evaluable has a list of its own."""
        documents = (Document("d"), Document("d", score=0.5), Document("d", id="1"))
        inner, outer = (RetrieverSpan(trace_id=TRACE_ID, span_id=at, documents=documents) for at in ("01", "02"))
        calls = [llm(at, says("x"), parent=None) for at in ("0b", "0c")]
        first, second = llm_calls(trace(inner, outer, *calls))

        assert first.retrieval_context == second.retrieval_context == list(documents)
        assert first.retrieval_context is not second.retrieval_context

    def test_all_calls(self) -> None:
        """Each is an evaluable of its own; of nodes as of a trace."""
        whole = trace(agent(), llm("00000000000000b0", says("1")), llm("00000000000000b1", says("2")))

        for given in (whole, whole.roots):
            assert [made.eval_output for made in llm_calls(given)] == [[NamedData("output", n)] for n in "12"]

    def test_no_call(self) -> None:
        """The message says what the trace does hold."""
        names = [span(f"{i:02}", name=f"step {i}") for i in range(1, 12)]

        with pytest.raises(
            ObservationError, match=r"no LLM call; it holds 11 spans \(11 other\): 'step 1'.*'step 8', …"
        ):
            last_llm_call(trace(*names))
        with pytest.raises(ValueError, match="no LLM call"):
            llm_calls(EMPTY)


class TestParsed:
    """`parse_selector`."""

    def test_names(self) -> None:
        """The three by name; two of them always pick one."""
        whole = trace(agent(input="q"), llm("00000000000000b0", says("1")))

        assert parse_selector("root")(whole) == root(whole)
        assert parse_selector("last_llm_call")(whole) == last_llm_call(whole)
        assert parse_selector("llm_calls")(whole) == llm_calls(whole)
        assert [parse_selector(text).single for text in ("root", "last_llm_call", "llm_calls", "kind:llm")] == [
            True,
            True,
            False,
            False,
        ]

    @pytest.mark.parametrize(
        ("text", "ids"),
        [
            ("name:chat", ["b0"]),
            ("name:c*", ["b0"]),
            ("name:[ac]*", ["a0", "b0"]),
            ("name:Chat", []),
            ("kind:tool", ["c0", "c1"]),
            ("kind:TOOL", ["c0", "c1"]),
            ("tool:get_*", ["c0"]),
            ("tool:chat", []),
        ],
    )
    def test_patterns(self, text: str, ids: list[str]) -> None:
        """By the span's name, its kind or its tool, in order of start."""
        whole = trace(
            agent(),
            llm("00000000000000b0"),
            tool("00000000000000c0", "get_weather"),
            tool("00000000000000c1", "set_alarm"),
        )
        selector = parse_selector(text)

        if ids:
            assert [picked.span.span_id[-2:] for picked in selector.pick(whole)] == ids
        else:
            with pytest.raises(ObservationError, match=rf"{text} matches no span of the trace; it holds 4 spans"):
                selector(whole)

    @pytest.mark.parametrize("text", ["", "roots", "name:", "kind", "kind:zork", "span:x"])
    def test_what_is_no_selector(self, text: str) -> None:
        """The message shows it, and what there is."""
        with pytest.raises(ConfigError, match="unknown") as caught:
            parse_selector(text)
        assert repr(text) in str(caught.value)
        assert "attr:KEY=VALUE" in str(caught.value)


def test_one_observation_alone() -> None:
    """Any span is an evaluable of its input and output; nothing else of the trace is in it."""
    embedding = EmbeddingSpan(
        trace_id="t",
        span_id="1",
        kind=ObservationKind.EMBEDDING,
        input="a",
        start_time_unix_nano=1,
        end_time_unix_nano=1,
    )

    assert as_evaluable(embedding) == Evaluable([NamedData("input", "a")], [], completion_time=0.0)
    assert as_evaluable(span("01", output=0)).eval_output == [NamedData("output", 0)]
