"""Real trace files of many instrumentations, against the truth about what they record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from recorded_facts import Truth, compare

from pixie_otel.traces import dialects
from pixie_otel.traces.reader import TraceReader

if TYPE_CHECKING:
    from pixie_otel.traces.trace import Trace

CORPUS = Path(__file__).parent / "corpus"
"""DIALECT/SCENARIO.jsonl with SCENARIO.logs.jsonl where log records hold the content, and SCENARIO.truth.json."""
TRUTHS = sorted(CORPUS.glob("*/*.truth.json"))


def read(truth: Truth) -> list[Trace]:
    """Read the file of a truth."""
    return list(TraceReader(*truth.files))


@pytest.mark.parametrize("path", TRUTHS, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_all_recorded_facts_are_read(path: Path) -> None:
    """Whatever library wrote a file, all that it recorded is what is read."""
    truth = Truth.load(path)

    found = compare(read(truth), truth)

    assert found.misses == []
    assert found.facts >= 4


def test_the_corpus_is_there() -> None:
    """Every instrumentation has three scenarios and more, and thousands of facts are compared."""
    scenarios: dict[str, int] = {}
    for path in TRUTHS:
        scenarios[path.parent.name] = scenarios.get(path.parent.name, 0) + 1
    facts = sum(compare(read(truth), truth).facts for truth in map(Truth.load, TRUTHS))

    assert len(scenarios) == 29
    assert min(scenarios.values()) >= 3
    assert facts > 2000


@pytest.mark.parametrize("path", TRUTHS, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_reading_reports_nothing_wrong(path: Path) -> None:
    """Files of real libraries have no bad values; what is wrong with their traces is known."""
    reader = TraceReader(*Truth.load(path).files)
    kinds = {problem.kind for trace in reader for problem in (*trace.problems, *reader.report.problems)}

    assert kinds <= {"dropped-attributes", "doubled-call"}


@pytest.mark.parametrize("name", [dialect.name for dialect in dialects.DIALECTS])
def test_every_dialect_is_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any one of the dialects something that is recorded would not be read."""
    rest = tuple(dialect for dialect in dialects.DIALECTS if dialect.name != name)
    monkeypatch.setattr(dialects.read, "__defaults__", (rest,))

    assert any(compare(read(truth), truth).misses for truth in map(Truth.load, TRUTHS))
