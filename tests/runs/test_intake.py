"""Which traces become cases, and what is said where none does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
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
