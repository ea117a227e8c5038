"""The same call in two of many traces that are open at a time."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from doubled_calls import ANSWER, LANGCHAIN, OPENAI, counts, two, without_id
from hypothesis import given
from hypothesis import strategies as st
from otlp_lines import line, span

from pixie_otel.traces.reader import TraceReader


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1), (3, 16), (16, 3)])
@pytest.mark.parametrize("above", ["alone", "in a run"])
def test_traces_of_one_moment_come_in_any_order(first: int, second: int, above: str, tmp_path: Path) -> None:
    """With coarse clocks both start at once, and what is within the other may be met first."""
    outer = [("langchain", span(2, trace=first, start_ms=0, ms=50, name="ChatOpenAI", attributes=LANGCHAIN))]
    if above == "in a run":
        run = span(1, trace=first, start_ms=0, ms=60, attributes={"openinference.span.kind": "CHAIN"})
        outer = [("langchain", run), ("langchain", outer[0][1] | {"parentSpanId": f"{1:016x}"})]
    inner = ("openai", span(3, trace=second, start_ms=0, ms=40, attributes=OPENAI))
    later = ("openai", span(4, trace=32, start_ms=5, ms=40, attributes=without_id(OPENAI)))

    by_id = {trace.trace_id: trace for trace in two(tmp_path, *outer, inner, later)}
    assert counts([by_id[f"{number:032x}"] for number in (first, second, 32)]) == [1, 0, 1]
    assert by_id[f"{first:032x}"].llm_calls[0].response_id == "chatcmpl-1"
    assert by_id[f"{second:032x}"].counted_in == f"{first:032x}"


@pytest.mark.parametrize("response_id", [None, "chatcmpl-1"], ids=["no id", "the same id"])
def test_two_programs_that_ask_the_same(response_id: str | None, tmp_path: Path) -> None:
    """They make two calls, where the one is no gateway of the other, which passes on the id of the answer."""
    known = {} if response_id is None else {"gen_ai.response.id": response_id}
    outer = span(1, trace=1, ms=50, name="ChatOpenAI", attributes=LANGCHAIN | known)
    inner = span(2, trace=2, ms=40, attributes=without_id(OPENAI) | known)
    path = tmp_path / "traces.jsonl"
    lines = [line(outer, scope="langchain", service="bot"), line(inner, scope="openai", service="judge")]
    path.write_text("".join(lines), encoding="utf-8")

    assert counts(list(TraceReader(path))) == ([1, 1] if response_id is None else [1, 0])


@given(st.data())
def test_jobs_with_many_traces_at_a_time(data: st.DataObject) -> None:
    """Of calls with an answer of their own, each recorded twice, each counts once, however the lines come."""
    number = data.draw(st.integers(1, 6))
    spans: list[tuple[str, dict[str, Any]]] = []
    ids = iter(data.draw(st.permutations(range(1, 2 * number + 1))))
    for at in range(1, number + 1):
        start, gap, ms = (data.draw(st.integers(0, most)) for most in (20, 3, 20))
        said = f"answer {at}"
        trace = next(ids)
        if data.draw(st.booleans()):
            run = span(
                200 + at, trace=trace, start_ms=start, ms=ms + 10, attributes={"openinference.span.kind": "CHAIN"}
            )
            spans.append(("langchain", run))
        known = LANGCHAIN | {"llm.output_messages.0.message.content": said}
        outer = span(100 + at, trace=trace, parent=200 + at, start_ms=start, ms=ms + 10, attributes=known)
        known = without_id(OPENAI) | {"gen_ai.output.messages": ANSWER.replace("Hello", said)}
        inner = span(300 + at, trace=next(ids), start_ms=start + gap, ms=ms + 9 - gap, attributes=known)
        spans += [("langchain", outer), ("openai", inner)]
    with tempfile.TemporaryDirectory() as folder:
        halves = Path(folder, "1.jsonl"), Path(folder, "2.jsonl")
        for way in (spans, data.draw(st.permutations(spans))):
            for path, part in zip(halves, (way[::2], way[1::2]), strict=True):
                path.write_text("".join(line(item, scope=scope) for scope, item in part), encoding="utf-8")
            traces = list(TraceReader(*halves))

            assert sum(counts(traces)) == number
            assert sorted(repeat.span_id for trace in traces if trace.counts_elsewhere for repeat in trace.repeats) == [
                f"{300 + at:016x}" for at in range(1, number + 1)
            ]
