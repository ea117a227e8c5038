"""What is wrong with many traces, kind by kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from otlp_lines import agent, chat, line, span, write
from otlp_strategies import batches
from reading import read

from pixie_otel.errors import ConfigError
from pixie_otel.traces.findings import find_problems
from pixie_otel.traces.findings.examination import Diagnosis, Examination, kinds_to_fail_on
from pixie_otel.traces.findings.kinds import KINDS, Weight
from pixie_otel.traces.reader import TraceReader

BARE = {"llm.model_name": "gpt-4o-mini", "openinference.span.kind": "LLM", "llm.token_count.prompt": 1}


def examined(*lines: str, folder: Path) -> list[Diagnosis]:
    """Examine the traces of a file."""
    reader = TraceReader(write(folder / "traces.jsonl", *lines))
    examination = Examination()
    for trace in reader:
        examination.add(trace)
    return examination.finish(reader.report)


def test_each_kind_is_counted_with_examples(tmp_path: Path) -> None:
    """How often, in how many traces, what to do, and the first of them; what matters most comes first."""
    bare = [line(span(n, trace=n, attributes=BARE | {"session.id": "s"})) for n in range(1, 31)]
    off, torn = examined(*bare, '{"resourceSpans": [\n', folder=tmp_path)

    assert (off.kind.name, off.count, off.traces, len(off.examples)) == ("content-off", 30, 30, 20)
    assert list(off.fixes.values()) == [30]
    assert (torn.kind.weight, torn.count, torn.traces, len(torn.examples)) == (Weight.ERROR, 1, 0, 1)


def test_good_traces_have_nothing(tmp_path: Path) -> None:
    """Not a note."""
    named = {"session.id": "s"}
    assert examined(line(chat(2, parent=1), agent(1, attributes=named)), folder=tmp_path) == []


def test_many_problems_with_files_are_counted_exactly(tmp_path: Path) -> None:
    """Though only the first of them were kept."""
    (row,) = [row for row in examined(line(chat(1)), *["[1]\n"] * 150, folder=tmp_path) if row.kind.name == "not-otlp"]

    assert (row.count, row.traces, len(row.examples)) == (150, 0, 20)


@pytest.mark.parametrize(
    ("sessions", "expected"),
    [(["", ""], "no-session"), (["s", ""], "lost-session"), (["s", "s"], None), ([""], None)],
)
def test_sessions_show_over_all_traces(sessions: list[str], expected: str | None, tmp_path: Path) -> None:
    """None names one, or some do not; of a single trace nothing can be said."""
    lines = [
        line(chat(number, trace=number, attributes={"session.id": session} if session else {}))
        for number, session in enumerate(sessions, 1)
    ]
    assert [row.kind.name for row in examined(*lines, folder=tmp_path)] == ([expected] if expected else [])


def test_a_limit_of_lengths_shows_over_all_traces(tmp_path: Path) -> None:
    """Where one trace has too few values to tell."""
    lines = [
        line(chat(number, answer=f"{number} and " + "so on " * 40, trace=number, attributes={"session.id": "s"}))
        for number in range(1, 5)
    ]
    (row,) = examined(*lines, folder=tmp_path)

    assert row.kind.name == "cut-value"
    assert row.traces == 0


def test_words_for_kinds() -> None:
    """A kind, a weight with all that weighs more, or any, which what is only good to know does not fail."""
    by_weight = {weight: {kind.name for kind in KINDS.values() if kind.weight is weight} for weight in Weight}

    assert kinds_to_fail_on(["torn-line", "content-off"]) == {"torn-line", "content-off"}
    assert kinds_to_fail_on(["error"]) == by_weight[Weight.ERROR]
    assert kinds_to_fail_on(["warning"]) == by_weight[Weight.ERROR] | by_weight[Weight.WARNING]
    assert kinds_to_fail_on(["any"]) == kinds_to_fail_on(["warning"])
    assert kinds_to_fail_on(["note"]) == KINDS.keys()
    assert kinds_to_fail_on([]) == frozenset()
    with pytest.raises(ConfigError, match="did you mean content-off"):
        kinds_to_fail_on(["contents-off"])


@settings(max_examples=40)
@given(documents=st.lists(batches(), max_size=4))
def test_any_trace_can_be_examined(documents: list[dict[str, object]]) -> None:
    """Whatever is in it, and every kind is one that is explained."""
    reading = read("\n".join(map(json.dumps, documents)) + "\n")
    for trace in reading.traces:
        assert {problem.kind for problem in find_problems(trace)} <= KINDS.keys()
