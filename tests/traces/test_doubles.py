"""The same call in two traces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from doubled_calls import ANSWER, LANGCHAIN, OPENAI, counts, two, without_id
from otlp_lines import MILLISECOND, batch, line, span

from pixie_otel.evaluable import NamedData
from pixie_otel.traces.doubles import RecentTraces
from pixie_otel.traces.reader import TraceReader
from pixie_otel.traces.repeats import Rule
from pixie_otel.traces.selectors import last_llm_call, root

if TYPE_CHECKING:
    from pathlib import Path

    from pixie_otel.traces.trace import Trace

FULL = {"gen_ai.operation.name": "chat", "gen_ai.response.id": "r", "gen_ai.output.messages": ANSWER}
LOGFIRE = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o-mini"}
BARE = {"gen_ai.operation.name": "chat", "gen_ai.response.id": "r", "gen_ai.usage.input_tokens": 5}


def read(folder: Path, *spans: dict[str, Any]) -> list[Trace]:
    """Write the spans as they come and read them."""
    path = folder / "traces.jsonl"
    path.write_text("".join(json.dumps(batch(item)) + "\n" for item in spans), encoding="utf-8")
    return list(TraceReader(path))


def test_a_bare_span_of_a_call_that_another_trace_holds(tmp_path: Path) -> None:
    """The provider's SDK made a trace of its own beside the instrumentation's: it is no second call, and says so."""
    full, bare = read(tmp_path, span(1, trace=1, attributes=FULL), span(2, trace=2, attributes=BARE))

    assert counts([full, bare]) == [1, 0]
    assert [problem.kind for problem in bare.problems] == ["doubled-call"]
    assert full.trace_id in bare.problems[0].message
    assert not full.problems
    assert bare.usage.input_tokens is None


def test_two_instrumentations_in_two_traces(tmp_path: Path) -> None:
    """The provider's span lies within the framework's, in a trace of its own: one call, which knows what both know."""
    app = span(1, trace=1, ms=100, name="LangGraph", attributes={"openinference.span.kind": "CHAIN"})
    outer = span(2, trace=1, parent=1, ms=50, name="ChatOpenAI", attributes=LANGCHAIN)
    inner = span(3, trace=2, ms=40, name="chat gpt-4o-mini", attributes=OPENAI)
    for lines in ([inner, app, outer], [app, outer, inner], [outer, inner, app]):
        scopes = [("openai" if item is inner else "langchain", item) for item in lines]
        run, double = two(tmp_path, *scopes)

        assert counts([run, double]) == [1, 0]
        (call,) = run.llm_calls
        assert (call.span_id, call.response_id, run.usage.input_tokens) == (f"{2:016x}", "chatcmpl-1", 5)
        assert double.counts_elsewhere
        for trace in (run, double):
            (repeat,) = trace.repeats
            assert (repeat.rule, repeat.span_id) == (Rule.TWO_INSTRUMENTATIONS, f"{3:016x}")
            assert (repeat.counted, repeat.counted_trace_id) == (f"{2:016x}", f"{1:032x}")
        copied = run.copy()
        assert (copied.llm_calls, copied.repeats) == (run.llm_calls, run.repeats)


def test_the_inner_trace_read_first(tmp_path: Path) -> None:
    """Where both start at one moment, the provider's span waits for a framework's trace of any size."""
    app = span(1, trace=2, start_ms=0, ms=100, name="LangGraph", attributes={"openinference.span.kind": "CHAIN"})
    outer = span(2, trace=2, parent=1, start_ms=0, ms=50, name="ChatOpenAI", attributes=LANGCHAIN)
    after = [span(number, trace=2, parent=1, start_ms=60 + number, name="x" * number) for number in range(4, 8)]
    inner = span(3, trace=1, start_ms=0, ms=40, name="chat gpt-4o-mini", attributes=OPENAI)

    found = two(tmp_path, ("openai", inner), *(("langchain", item) for item in (app, outer, *after)))

    assert [trace.trace_id for trace in found] == [f"{1:032x}", f"{2:032x}"]
    assert counts(found) == [0, 1]


def test_a_failed_call_in_two_traces(tmp_path: Path) -> None:
    """The SDK's own span knows no more than the model and that it failed."""
    asked = {name: value for name, value in LANGCHAIN.items() if "output" not in name and "token" not in name}
    bare = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o-mini", "error.type": "api_error"}
    outer = span(1, trace=1, ms=50, error="Error code: 500", attributes=asked)
    inner = span(2, trace=2, ms=40, error="api_error", attributes=bare)

    assert counts(two(tmp_path, ("langchain", outer), ("sdk", inner))) == [1, 0]
    later = span(2, trace=2, start_ms=52, error="api_error", attributes=bare)
    assert counts(two(tmp_path, ("langchain", outer), ("sdk", later))) == [1, 1]


def test_equal_calls_in_several_traces_stay_as_many(tmp_path: Path) -> None:
    """Twice the same question at the same time, each recorded twice, are two calls."""
    outer = [("langchain", span(n, trace=n, ms=50, name="ChatOpenAI", attributes=LANGCHAIN)) for n in (1, 2)]
    inner = [("openai", span(n, trace=n, ms=40, attributes=without_id(OPENAI))) for n in (3, 4)]
    alone = ("openai", span(5, trace=5, ms=38, attributes=without_id(OPENAI)))

    assert sum(counts(two(tmp_path, *outer, *inner))) == 2
    assert sum(counts(two(tmp_path, *outer, *inner, alone))) == 3


@pytest.mark.parametrize(
    ("scope", "times", "changes"),
    [
        ("langchain", {"ms": 40}, {}),
        ("openai", {"start_ms": 60}, {}),
        ("openai", {"ms": 60}, {}),
        ("openai", {"ms": 40}, {"gen_ai.usage.output_tokens": 3}),
        ("openai", {"ms": 40}, {"gen_ai.request.model": "o1", "gen_ai.response.model": "o1"}),
        ("openai", {"ms": 40}, {"gen_ai.output.messages": ANSWER.replace("Hello", "Bye")}),
    ],
    ids=["same instrumentation", "in a row", "longer", "other tokens", "other model", "other answer"],
)
def test_calls_of_their_own(scope: str, times: dict[str, Any], changes: dict[str, object], tmp_path: Path) -> None:
    """The same instrumentation, another time or another fact makes it a call of its own."""
    outer = span(1, trace=1, ms=50, name="ChatOpenAI", attributes=LANGCHAIN)
    other = span(2, trace=2, attributes=without_id(OPENAI) | changes, **times)

    assert counts(two(tmp_path, ("langchain", outer), (scope, other))) == [1, 1]


def test_a_trace_with_a_tool_in_it_is_no_double(tmp_path: Path) -> None:
    """There is more in it than the call."""
    outer = span(1, trace=1, ms=50, name="ChatOpenAI", attributes=LANGCHAIN)
    inner = span(2, trace=2, ms=40, attributes=OPENAI)
    run = span(3, trace=2, parent=2, attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"})

    assert counts(two(tmp_path, ("langchain", outer), ("openai", inner), ("openai", run))) == [1, 1]
    sent = span(3, trace=2, parent=2, attributes={"http.request.method": "POST"})
    assert counts(two(tmp_path, ("langchain", outer), ("openai", inner), ("http", sent))) == [1, 0]


def streamed(number: int, trace: int, question: str = "Hi", **fields: Any) -> tuple[str, dict[str, Any]]:
    """Make the span of a call whose answer was not there yet."""
    attributes = {**LOGFIRE, "logfire.span_type": "span", "gen_ai.input.messages": asked(question)}
    return "logfire.openai", span(number, trace=trace, attributes=attributes, **fields)


def ended(
    number: int, trace: int, question: str = "Hi", took: float = 0.1, **fields: Any
) -> tuple[str, dict[str, Any]]:
    """Make what is written when a stream has ended."""
    attributes = {
        **LOGFIRE,
        "logfire.span_type": "log",
        "duration": took,
        "gen_ai.input.messages": asked(question),
        "gen_ai.output.messages": ANSWER,
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2,
    }
    return "logfire.openai", span(number, trace=trace, ms=0, attributes=attributes, **fields)


def asked(question: str) -> str:
    """Ask a model something."""
    return json.dumps([{"role": "user", "parts": [{"type": "text", "content": question}]}])


def test_the_answer_of_a_stream_in_a_trace_of_its_own(tmp_path: Path) -> None:
    """The call has the answer, the usage and the time that the stream took; the answer's trace counts nothing."""
    call, answer = two(tmp_path, ended(2, 2, start_ms=120), streamed(1, 1, start_ms=0, ms=20))

    assert counts([call, answer]) == [1, 0]
    (counted,) = call.llm_calls
    assert (counted.output, counted.output_tokens, counted.duration_ms) == ("Hello", 2, 120)
    assert [repeat.rule for repeat in answer.repeats] == [Rule.STREAM_ANSWER]


def test_the_streamed_call_is_whole_in_its_tree(tmp_path: Path) -> None:
    """Whoever looks at the nodes, or judges the root, sees the answer as well, in copies too."""
    trace, _ = two(tmp_path, ended(2, 2, start_ms=120), streamed(1, 1, start_ms=0, ms=20))
    (top,) = trace.roots

    for one in (trace, trace.copy()):
        assert [node.span.output for node in one.roots] == [trace.llm_calls[0].output] != [None]
    assert root(trace.roots).eval_output == [NamedData("output", top.span.output)]
    assert last_llm_call([top]).eval_output == [NamedData("output", top.span.output)]
    assert len(trace.llm_calls[0].notes) == 1
    assert trace.duration_ms == pytest.approx(120)


def test_a_stream_of_two_instrumentations(tmp_path: Path) -> None:
    """The framework's span, the provider's without the answer, and the answer, each in a trace of its own."""
    asks = {name: value for name, value in LANGCHAIN.items() if "token" not in name}
    outer = ("langchain", span(1, trace=1, start_ms=0, ms=150, name="ChatOpenAI", attributes=asks))
    traces = two(tmp_path, outer, streamed(2, 2, start_ms=5, ms=15), ended(3, 3, start_ms=120))

    assert counts(traces) == [1, 0, 0]
    assert (traces[0].usage.input_tokens, traces[0].usage.output_tokens) == (5, 2)
    assert sorted(repeat.rule for repeat in traces[0].repeats) == [Rule.STREAM_ANSWER, Rule.TWO_INSTRUMENTATIONS]


def test_what_only_the_other_trace_knows_of_a_call(tmp_path: Path) -> None:
    """With the framework's capture off, the messages come from the provider's span, whose trace counts nothing."""
    known = ("openinference.span.kind", "llm.model_name", "llm.token_count.prompt", "llm.token_count.completion")
    outer = span(1, trace=1, ms=50, name="ChatOpenAI", attributes={name: LANGCHAIN[name] for name in known})
    run, double = two(tmp_path, ("langchain", outer), ("openai", span(2, trace=2, ms=40, attributes=OPENAI)))

    (call,) = run.llm_calls
    assert counts([run, double]) == [1, 0]
    assert (call.span_id, call.input, call.output) == (f"{1:016x}", [{"role": "user", "content": "Hi"}], "Hello")


def test_streams_at_the_same_time(tmp_path: Path) -> None:
    """Each answer belongs to the call with its question, and of equal ones to the one whose stream took so long."""
    traces = two(
        tmp_path,
        streamed(1, 1, start_ms=0, ms=20),
        streamed(2, 2, start_ms=5, ms=20),
        streamed(3, 3, "Other", start_ms=7, ms=20),
        ended(4, 4, start_ms=120, took=0.1),
        ended(5, 5, start_ms=130, took=0.105),
    )

    assert counts(traces) == [1, 1, 1, 0, 0]
    assert [call.duration_ms for trace in traces for call in trace.llm_calls] == [120, 125, 20]


@pytest.mark.parametrize(
    "answer",
    [ended(2, 2, "Other", start_ms=120), ended(2, 2, start_ms=10), ended(2, 2, start_ms=700_000)],
    ids=["other question", "before the call ended", "much later"],
)
def test_answers_of_other_streams(answer: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    """An answer without its call counts for it."""
    traces = two(tmp_path, streamed(1, 1, start_ms=0, ms=20), answer)

    assert counts(traces) == [1, 1]
    assert traces[0].llm_calls[0].output is None


def test_the_order_of_lines_does_not_matter(tmp_path: Path) -> None:
    """What started first counts, wherever it stands in the file."""
    assert counts(read(tmp_path, span(2, trace=2, attributes=BARE), span(1, trace=1, attributes=FULL))) == [1, 0]


@pytest.mark.parametrize(
    "second",
    [
        {**BARE, "gen_ai.response.id": "other"},
        {key: value for key, value in BARE.items() if key != "gen_ai.response.id"},
        FULL,
        {**BARE, "gen_ai.input.messages": json.dumps([{"role": "user", "content": "Hi"}])},
        {**BARE, "gen_ai.completion.0.content": "Hello"},
    ],
)
def test_other_calls_count(tmp_path: Path, second: dict[str, object]) -> None:
    """Another answer, an answer without an id, or one that holds its own content is a call of its own."""
    assert counts(read(tmp_path, span(1, trace=1, attributes=FULL), span(2, trace=2, attributes=second))) == [1, 1]


def test_bare_spans_alone_count(tmp_path: Path) -> None:
    """With content capture off nobody holds the content, and some servers repeat their ids."""
    assert counts(read(tmp_path, span(1, trace=1, attributes=BARE), span(2, trace=2, attributes=BARE))) == [1, 1]


def test_a_bare_span_that_came_first_counts(tmp_path: Path) -> None:
    """What describes a call cannot start before it."""
    assert counts(read(tmp_path, span(1, trace=1, attributes=BARE), span(2, trace=2, attributes=FULL))) == [1, 1]


def test_traces_of_several_spans_count(tmp_path: Path) -> None:
    """A trace with more in it than that one span is no mere double."""
    traces = read(
        tmp_path,
        span(1, trace=1, attributes=FULL),
        span(2, trace=2, attributes=BARE),
        span(3, trace=2, parent=2),
    )

    assert counts(traces) == [1, 1]


@pytest.mark.parametrize(("size", "expected"), [(50, 0), (400, 0), (401, 1)])
def test_huge_traces_are_not_held(size: int, expected: int, tmp_path: Path) -> None:
    """Memory is bounded by the bytes of the traces held, not by their number alone."""
    full, bare = (
        next(iter(read(tmp_path, span(number, trace=number, attributes=attributes))))
        for number, attributes in ((1, FULL), (2, BARE))
    )
    recent = RecentTraces(most_bytes=100)
    recent.add(full, size)
    recent.add(bare, 1)

    assert len(bare.llm_calls) == expected


def test_traces_are_held_until_the_next_starts_after_them(tmp_path: Path) -> None:
    """Nothing that starts later can be a recording of their calls."""
    first, second, third = read(
        tmp_path, *(span(number, trace=number, start_ms=start, ms=10) for number, start in ((1, 0), (2, 5), (3, 30)))
    )
    recent = RecentTraces()

    assert recent.add(first, 1) == []
    soon, later = first.start_time_unix_nano + 5 * MILLISECOND, third.start_time_unix_nano
    assert recent.before(soon, soon) == []
    assert recent.add(second, 1, later, later) == [first, second]
    assert recent.add(third, 1) == []
    assert recent.before(None, None) == [third]


def test_more_traces_than_are_held(tmp_path: Path) -> None:
    """The first is given away; where others may repeat its calls, they still do, but it is not completed from them."""
    long = span(1, trace=1, ms=60_000, attributes=LANGCHAIN)
    others = [span(n, trace=n, start_ms=n, ms=60_000, attributes={"llm.model_name": "m"}) for n in range(2, 400)]
    double = span(401, trace=401, start_ms=500, attributes=OPENAI)
    path = tmp_path / "traces.jsonl"
    lines = [line(long, scope="langchain"), *(line(other, scope="x") for other in others), line(double, scope="openai")]
    path.write_text("".join(lines), encoding="utf-8")
    traces = list(TraceReader(path))

    assert counts([traces[0], traces[-1]]) == [1, 0]
    assert traces[0].llm_calls[0].response_id is None
