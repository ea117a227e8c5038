"""Which traces become cases, and what is said where none does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from doubled_calls import LANGCHAIN, OPENAI
from otlp_lines import agent, line, span, write

from pixie_otel.errors import InputError
from pixie_otel.runs.intake import Intake
from pixie_otel.traces.filters import TraceFilter
from pixie_otel.traces.reader import TraceReader
from pixie_otel.traces.selectors import parse_selector


def intake(path: Path) -> Intake:
    """Take everything in a file."""
    return Intake(reader=TraceReader(path), selector=parse_selector("root"), filter=TraceFilter())


def test_too_short_an_id_is_hinted_at(tmp_path: Path) -> None:
    """Where an id led to nothing, the error says how much of one is needed."""
    taken = intake(write(tmp_path / "t.jsonl", line(agent(1))))
    taken.filter = TraceFilter.parse(trace_ids=["000"])
    with pytest.raises(InputError, match=r"\(--trace 000\); --trace takes a whole id, or at least its first 8 digits"):
        taken.cases()


def test_every_trace_is_counted_once(tmp_path: Path) -> None:
    """What was read is the sum of what was judged and what was left out for one reason each."""
    path = write(tmp_path / "t.jsonl", *(line(agent(n, trace=n)) for n in range(1, 9)), line(span(9, trace=9)))
    taken = intake(path)
    taken.limit = 3

    assert len(list(taken.cases())) == 3
    counts = taken.counts.to_json()
    assert counts == {
        "read": 9,
        "judged": 3,
        "filtered": 0,
        "not_sampled": 0,
        "over_limit": 5,
        "without_content": 1,
        "counted_elsewhere": 0,
    }


def test_conversations_are_counted(tmp_path: Path) -> None:
    """Where conversations are judged, what is counted and said is about them."""
    spans = [agent(n, trace=n, attributes={"session.id": "ada" if n < 3 else "bob"}) for n in (1, 2, 3)]
    taken = intake(write(tmp_path / "t.jsonl", line(*spans)))
    taken.per_conversation = True
    cases = list(taken.cases())

    assert [case.session_id for case in cases] == ["ada", "bob"]
    assert (taken.counts.read, taken.counts.judged) == (2, 2)
    taken.filter = TraceFilter.parse(where=["session=eve"])
    with pytest.raises(InputError, match=r"of 4 conversations, 2 not matching the filter"):
        taken.cases()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n \n", "there are only blank lines"),
        (json.dumps({"resourceMetrics": [{}, {}]}), "0 log records and 2 metrics, and no spans"),
        ("[1]\n", r"t\.jsonl:1: "),
        ("x\n" * 5, r"… and 2 more"),
        (line(span(1)), r"with neither LLM calls nor recorded inputs or outputs \(judge them with --all\)"),
    ],
)
def test_nothing_to_judge_is_explained(tmp_path: Path, content: str, message: str) -> None:
    """Where there is no case, the error says what there was instead."""
    with pytest.raises(InputError, match=message):
        intake(write(tmp_path / "t.jsonl", content)).cases()


def test_a_call_that_counts_in_another_trace_is_no_case_of_its_own(tmp_path: Path) -> None:
    """Whatever is judged; with all traces asked for it is judged, and says where its call counts."""
    outer = line(span(1, trace=1, ms=50, name="ChatOpenAI", attributes=LANGCHAIN), scope="langchain")
    path = write(tmp_path / "t.jsonl", outer, line(span(2, trace=2, ms=40, attributes=OPENAI), scope="openai"))
    for selector in ("root", "last_llm_call", "llm_calls"):
        taken = intake(path)
        taken.selector = parse_selector(selector)

        (case,) = taken.cases()
        assert case.trace_id == f"{1:032x}"
        assert taken.counts.to_json() | {"read": 2, "judged": 1, "counted_elsewhere": 1} == taken.counts.to_json()
    taken = intake(path)
    taken.include_empty, taken.selector = True, parse_selector("last_llm_call")
    _, double = taken.cases()
    assert double.failure is not None
    said = f"no LLM call of its own: its one is a call of trace {1:032x}, and counts there"
    assert said in double.failure.message
    explained = "\n".join(parse_selector("last_llm_call").explain(list(TraceReader(path))[1]).splitlines())
    assert f"its one is a call of trace {1:032x}, and counts there" in explained
    taken = intake(path)
    taken.filter = TraceFilter.parse(trace_ids=[f"{2:032x}"])
    with pytest.raises(InputError, match=r"1 that only record again a call of another trace \(judge them with --all\)"):
        taken.cases()
