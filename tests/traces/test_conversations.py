"""Traces put together where they are one conversation."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from checked_traces import agent, result, says, tool
from otlp_lines import chat, line, span, write
from told_calls import alone, answered, call

from pixie_otel.errors import InputError
from pixie_otel.evaluable import Document, NamedData, ToolCall, collapse_named_data
from pixie_otel.traces.conversation import Conversation
from pixie_otel.traces.conversations import conversations
from pixie_otel.traces.messages import SystemMessage, TextContent
from pixie_otel.traces.reader import TraceReader
from pixie_otel.traces.report import Problem
from pixie_otel.traces.selectors import last_llm_call, llm_calls, root
from pixie_otel.traces.spans import EmbeddingSpan, ObservationKind, RetrieverSpan
from pixie_otel.traces.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable

CORPUS = Path(__file__).parent / "corpus"
BE_BRIEF = SystemMessage(content=(TextContent("Be brief."),))
WEATHER = ToolCall("get_weather", {"city": "Paris"}, "call_1")
RESULT = ToolCall("get_weather", {"city": "Paris"}, result={"temp_c": 18})


def one(traces: Iterable[Trace]) -> Conversation:
    """Give the conversation that some traces are."""
    (found,) = conversations(traces)
    assert isinstance(found, Conversation)
    return found


def retrieval(number: int) -> RetrieverSpan:
    """Make a retrieval before the call of a number's tenfold."""
    return RetrieverSpan(
        trace_id=f"{number:032x}",
        span_id=f"{number:016x}",
        kind=ObservationKind.RETRIEVER,
        session_id="s",
        input=f"q{number}",
        documents=(Document(f"d{number}"),),
        start_time_unix_nano=number * 10**10 - 10,
        end_time_unix_nano=number * 10**10 - 5,
    )


def tool_loop() -> list[Trace]:
    """Make the two traces of a tool loop."""
    asks = says("", WEATHER)
    told = [BE_BRIEF, "And in Paris?", asks, result('{"temp_c": 18}', "call_1")]
    return [
        alone(1, told[:2], asks, input_tokens=10, output_tokens=5, cost=0.5),
        alone(2, told, "18 degrees.", input_tokens=20, output_tokens=3, cost=0.25),
    ]


class TestOne:
    """What a conversation is as a trace."""

    def test_a_tool_loop_is_one_run(self) -> None:
        """From the question to the last answer, with the tool's result from the messages, in one turn."""
        found = one(tool_loop())
        made = root(found)

        assert made.eval_input == [
            NamedData(
                "input", [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "And in Paris?"}]
            )
        ]
        assert made.eval_output == [NamedData("output", "18 degrees.")]
        assert made.tools_called == [RESULT]
        assert (made.token_cost, made.completion_time) == (0.75, 1.1)
        assert (found.usage.input_tokens, found.usage.output_tokens) == (30, 8)
        assert collapse_named_data(last_llm_call(found).eval_output) == "18 degrees."
        assert len(llm_calls(found)) == 2
        assert [len(turn.traces) for turn in found.turns] == [2]

    def test_what_it_is_called(self) -> None:
        """It has the id of its first trace, the ids of all, and what any of them says of session and user."""
        traces = [alone(1, ["a"], "b"), alone(2, ["a", answered("b"), "c"], "d", session_id="s", user_id="ada")]
        found = one(reversed(traces))

        assert (found.trace_id, found.trace_ids) == (f"{1:032x}", (f"{1:032x}", f"{2:032x}"))
        assert (found.session_id, found.user_id) == ("s", "ada")
        assert repr(found) == f"<Conversation {1:032x}, 2 traces>"
        assert [node.span.trace_id for node in found] == list(found.trace_ids)
        assert found.duration_ms == 1100
        assert (traces[0].trace_ids, traces[0].user_id) == ((f"{1:032x}",), None)

    def test_turns_have_values_of_their_own(self) -> None:
        """Each turn's input is what is new in it, and evaluators see all of them in order."""
        told = [BE_BRIEF, "a", answered("b"), "c"]
        made = root(one([alone(1, told[:2], "b"), alone(2, told, "d")]))

        assert made.eval_input[1] == NamedData("input", [{"role": "user", "content": "c"}])
        assert collapse_named_data(made.eval_output) == {"output": ["b", "d"]}
        assert made.completion_time == pytest.approx(0.2)

    def test_turns_of_agents(self) -> None:
        """An instrumented run is a turn, with its own input, output, tools and wrapped values."""
        runs = [
            Trace.from_spans(
                [
                    agent(trace_id=f"{n:032x}", input=f"q{n}", output=f"a{n}", session_id="s"),
                    tool("c0", f"tool_{n}", trace_id=f"{n:032x}"),
                    agent(
                        "d0",
                        "00000000000000a0",
                        trace_id=f"{n:032x}",
                        output=f"w{n}",
                        attributes={"pixie.wrap.purpose": "state", "pixie.wrap.name": "plan"},
                    ),
                ]
            )
            for n in (1, 2)
        ]
        found = one(runs)
        made = root(found)

        assert made.eval_input == [NamedData("input", "q1"), NamedData("input", "q2")]
        assert collapse_named_data(made.eval_output) == {"output": ["a1", "a2"], "plan": ["w1", "w2"]}
        assert made.tools_called is not None
        assert [call.name for call in made.tools_called] == ["tool_1", "tool_2"]

    def test_helpers_belong_to_the_turn_that_they_help(self) -> None:
        """Embeddings and retrievals before it, a tool's run within it; what comes last belongs to the last turn."""
        asking, answering = tool_loop()

        def helper(number: int, span_type: type, **fields: object) -> Trace:
            times = {"start_time_unix_nano": number * 10**8, "end_time_unix_nano": number * 10**8 + 1}
            return Trace.from_spans(
                [span_type(trace_id=f"{number:032x}", span_id=f"{number:016x}", session_id="s", **times, **fields)]
            )

        embeds = helper(5, EmbeddingSpan, kind=ObservationKind.EMBEDDING, input="x")
        runs = Trace.from_spans(
            [
                tool(
                    "0f",
                    "get_weather",
                    trace_id="f" * 32,
                    parent=None,
                    session_id="s",
                    arguments={"city": "Paris"},
                    result={"temp_c": 18},
                    start_time_unix_nano=15 * 10**8,
                )
            ]
        )
        late = helper(90, RetrieverSpan, kind=ObservationKind.RETRIEVER, input="y")
        asking.session_id = "s"
        found = one([embeds, asking, runs, answering, late])

        assert [[part.trace_id[-1] for part in turn.traces] for turn in found.turns] == [["5", "1", "f", "2", "a"]]
        assert root(found).eval_output == [NamedData("output", "18 degrees.")]
        assert root(found).tools_called == [RESULT]
        only_helpers = one([embeds, late])
        assert [turn.input for turn in only_helpers.turns] == ["x"]

    def test_a_tool_that_was_asked_for_and_ran_without_ids(self) -> None:
        """It was called once, whether its run says by id or by arguments which call it is."""
        asks = says("", ToolCall("get_weather", {"city": "Paris"}), ToolCall("get_time", {}))
        first = alone(1, ["?"], asks, session_id="s")
        run = Trace.from_spans(
            [
                tool(
                    "0f",
                    "get_weather",
                    trace_id="f" * 32,
                    parent=None,
                    session_id="s",
                    arguments={"city": "Paris"},
                    result="18",
                    start_time_unix_nano=15 * 10**8,
                )
            ]
        )
        made = root(one([first, run]))

        assert made.tools_called == [ToolCall("get_time", {}), ToolCall("get_weather", {"city": "Paris"}, result="18")]

    def test_calls_have_the_documents_of_their_turn(self) -> None:
        """What was retrieved for another question is none of a call's context."""
        traces = [
            trace
            for number in (1, 2)
            for trace in (
                Trace.from_spans([retrieval(number)]),
                alone(number * 10, [f"q{number}"], f"a{number}", session_id="s"),
            )
        ]
        found = one(traces)

        assert root(found).retrieval_context == [Document("d1"), Document("d2")]
        assert [made.retrieval_context for made in llm_calls(found)] == [[Document("d1")], [Document("d2")]]
        assert last_llm_call(found).retrieval_context == [Document("d2")]

    def test_nothing_known_of_tools(self) -> None:
        """Where no trace recorded an answer, nothing is known of them."""
        assert root(one([alone(n, ["a"], None, session_id="s") for n in (1, 2)])).tools_called is None

    def test_problems(self) -> None:
        """Its own and those of its traces, also those that show later."""
        first, second = tool_loop()
        found = Conversation([first, second], problems=[Problem("a", "a", "memory")])
        second.add_problem(Problem("b", "b", "memory"))
        found.add_problem(Problem("c", "c", "memory"))

        assert [problem.kind for problem in found.problems] == ["a", "c", "b"]
        assert [problem.kind for problem in found.copy().problems] == ["a", "c", "b"]

    def test_a_copy_shares_nothing(self) -> None:
        """Whoever changes a value in it changes no other."""
        found = one(tool_loop())
        twin = found.copy()

        assert twin == found
        assert isinstance(twin, Conversation)
        twin.parts[0].roots.clear()
        assert found.parts[0].roots

    def test_times_that_are_missing(self) -> None:
        """Then nobody knows how long it took."""
        traces = [alone(n, ["a"], "b", session_id="s", start_time_unix_nano=0, end_time_unix_nano=0) for n in (1, 2)]
        found = one(traces)

        assert root(found).completion_time is None
        assert [turn.seconds for turn in found.turns] == [None, None]

    def test_empty_traces_do_no_harm(self) -> None:
        """A trace without spans has nothing to give."""
        assert Conversation([Trace("t", []), alone(1, ["a"], "b")]).turns[0].output == "b"


class TestRead:
    """Conversations of files."""

    @pytest.mark.parametrize(
        "path",
        [
            "openinference-openai/tool",
            "openinference-openai/responses_tool",
            "traceloop-openai/tool",
            "genai-openai-span/tool",
            "genai-openai-event/tool",
            "google-genai-official/tool_manual",
            "google-genai-official-event/tool_manual",
            "js-openinference-openai/tool",
            "js-traceloop/tool",
            "openinference-anthropic/tool",
            "genai-anthropic/tool",
            "openai-v2-span/tool",
        ],
    )
    def test_tool_loops_of_real_libraries(self, path: str) -> None:
        """Where each call is a trace of its own, the loop is one conversation with the tool's result in it."""
        found = one_of_file(path)
        (called,) = root(found).tools_called or []

        assert (called.name, called.arguments) == ("get_weather", {"city": "Paris", "unit": "celsius"})
        assert called.result == {"temp_c": 18, "sky": "cloudy"}
        assert root(found).eval_output == [NamedData("output", "It is 18°C and cloudy in Paris.")]
        assert len(found.turns) == 1
        assert not found.problems

    @pytest.mark.parametrize(
        "path", ["traceloop-openai/multi", "google-genai-official/multi", "js-traceloop/multi", "genai-anthropic/multi"]
    )
    def test_turns_of_real_libraries(self, path: str) -> None:
        """Two questions without a session are one conversation of two turns."""
        found = one_of_file(path)

        assert len(found.turns) == 2
        assert collapse_named_data(root(found).eval_output) == {
            "output": ["Nice to meet you, Ada.", "Your name is Ada."]
        }

    @pytest.mark.parametrize("path", ["openinference-openai/rag", "openinference-openai-hidden/tool"])
    def test_what_shares_nothing_stays_apart(self, path: str) -> None:
        """An embedding that names no session, and calls whose messages were left out."""
        assert all(not isinstance(found, Conversation) for found in conversations(reader_of(path)))

    def test_read_and_held_are_the_same(self, tmp_path: Path) -> None:
        """Files are read twice, in any order of lines, and everything in them is accounted for once."""
        lines = [line(item) for number in range(5) for item in turns(number)]
        random.Random(4).shuffle(lines)
        path = write(tmp_path / "t.jsonl", *lines, "no JSON\n")
        reader = TraceReader(path)
        read = list(conversations(reader))

        assert read == list(conversations(TraceReader(path))) == list(conversations(list(TraceReader(path))))
        assert [len(found.trace_ids) for found in read] == [2] * 5
        report = reader.report
        assert (report.spans_read, report.spans_used) == (10, 10)
        assert report.counts == {"bad-line": 1}

    @pytest.mark.parametrize("folder", ["openinference-openai", "traceloop-openai-events", "langchain-oi-openai"])
    def test_lines_in_any_order_in_any_files(self, folder: str, tmp_path: Path) -> None:
        """All scenarios of a library at once make the same conversations and evaluables."""
        lines = [
            text
            for path in sorted((CORPUS / folder).glob("*.jsonl"))
            for text in path.read_text(encoding="utf-8").splitlines()
        ]
        whole = write(tmp_path / "whole.jsonl", *(f"{text}\n" for text in lines))
        random.Random(7).shuffle(lines)
        parts = [write(tmp_path / f"{n}.jsonl", *(f"{text}\n" for text in lines[n::3])) for n in range(3)]

        def told(*paths: Path) -> list[object]:
            found = list(conversations(TraceReader(*paths)))
            return [
                (item.trace_ids, root(item), sorted(problem.message for problem in item.problems)) for item in found
            ]

        assert told(whole) == told(*parts)
        assert any(len(ids) > 1 for ids, *_ in told(whole))  # type: ignore[misc]  # a tuple of three

    def test_a_trace_of_its_own_stays_what_it_is(self, tmp_path: Path) -> None:
        """Nothing is wrapped around it; log records without a span, and health checks, disturb nobody."""
        stray = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"traceId": f"{7:032x}"}]}]}]}) + "\n"
        path = write(tmp_path / "t.jsonl", stray, line(span(8, trace=8, name="GET /health")), line(*turns(0)))
        found = list(conversations(TraceReader(path)))

        assert [type(item) for item in found] == [Conversation, Trace]
        assert found[1].roots[0].span.name == "GET /health"

    def test_doubtful_traces_say_so(self, tmp_path: Path) -> None:
        """A trace that may belong to several conversations stands alone, with a problem."""
        first, second = turns(0)
        again = {**first, "traceId": f"{99:032x}", "spanId": f"{99:016x}"}
        path = write(tmp_path / "t.jsonl", line(first), line(again), line(second))
        found = list(conversations(TraceReader(path)))
        (problem,) = [problem for trace in found for problem in trace.problems]

        assert len(found) == 3
        assert (problem.kind, problem.trace_id) == ("ambiguous-conversation", found[2].trace_id)
        assert "several conversations have the history that it goes on from" in problem.message

    def test_what_is_recorded_twice_counts_once(self) -> None:
        """What the first reading saw of two traces holds in the second one, too."""
        found = list(conversations(reader_of("openinference-anthropic/stream_ctx", corpus=CORPUS)))
        plain = list(reader_of("openinference-anthropic/stream_ctx", corpus=CORPUS))

        assert [call for item in found for call in item.llm_calls] == [
            call for item in plain for call in item.llm_calls
        ]
        assert sorted(p.message for item in found for p in item.problems) == sorted(
            p.message for item in plain for p in item.problems
        )

    def test_strict(self, tmp_path: Path) -> None:
        """What is wrong with a trace ends the reading when it is read for good."""
        torn = {**span(1), "startTimeUnixNano": "soon"}
        reader = TraceReader(write(tmp_path / "t.jsonl", line(torn)), strict=True)
        with pytest.raises(InputError, match="startTimeUnixNano"):
            list(conversations(reader))

    def test_a_file_that_is_gone(self, tmp_path: Path) -> None:
        """Where a trace cannot be read again, that is an error."""
        path = write(tmp_path / "t.jsonl", *(line(span(n, trace=n, start_ms=n * 100)) for n in (1, 2)))
        reader = TraceReader(path)
        with reader.twice() as readings:
            assert len(list(readings.first())) == 2
            path.write_bytes(b" " * path.stat().st_size)
            with pytest.raises(InputError, match=r"t\.jsonl: changed while it was read"):
                readings.again(0)


def turns(number: int) -> list[dict[str, object]]:
    """Make the two calls of a conversation."""
    first = chat(2 * number + 1, f"Question {number}?", f"Answer {number}.", trace=2 * number + 1, start_ms=number)
    told = {
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.1.message.content": f"Answer {number}.",
        "llm.input_messages.2.message.role": "user",
        "llm.input_messages.2.message.content": "And then?",
    }
    second = chat(
        2 * number + 2, f"Question {number}?", "Nothing.", trace=2 * number + 2, start_ms=100 + number, attributes=told
    )
    return [first, second]


def reader_of(path: str, corpus: Path = CORPUS) -> TraceReader:
    """Read a scenario of the corpus, with its log records where there are some."""
    files = [corpus / f"{path}.jsonl", corpus / f"{path}.logs.jsonl"]
    if not files[0].exists():
        pytest.skip(f"{path} is not in the corpus")
    return TraceReader(*(file for file in files if file.exists()))


def one_of_file(path: str) -> Conversation:
    """Give the conversation that a scenario is."""
    (found,) = conversations(reader_of(path))
    assert isinstance(found, Conversation)
    return found


def test_calls_and_times_of_a_trace_with_several_spans() -> None:
    """The model calls of all traces come by their end."""
    late = [call(1, ["a"], "b", end_time_unix_nano=9 * 10**9), call(1, ["x"], "y", span_id="02")]
    found = Conversation([Trace.from_spans(late), alone(3, ["c"], "d")])

    assert [item.output for item in found.llm_calls] == ["y", "d", "b"]
