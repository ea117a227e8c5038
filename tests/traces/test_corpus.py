"""Real trace files of many instrumentations, against the truth about what they record."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dialect_dumps import DUMPS
from recorded_facts import Truth, compare

from pixie_otel.traces import dialects
from pixie_otel.traces.reader import TraceReader

if TYPE_CHECKING:
    from pixie_otel.traces.trace import Trace

CORPUS = Path(__file__).parent / "corpus"
"""DIALECT/SCENARIO.jsonl with SCENARIO.logs.jsonl where log records hold the content, and SCENARIO.truth.json."""
TRUTHS = sorted(CORPUS.glob("*/*.truth.json"))
DIALECTS = [dialect.name for dialect in dialects.DIALECTS]
SPEAKERS: dict[str, set[Path]] = {}
"""Which truths' files have spans of a dialect, once somebody has asked."""


def read(truth: Truth) -> list[Trace]:
    """Read the file of a truth."""
    return list(TraceReader(*truth.files))


def speakers(dialect: str) -> list[Truth]:
    """Give the truths of the files in which a dialect says something."""
    if not SPEAKERS:
        SPEAKERS.update((name, set()) for name in DIALECTS)
        for path in TRUTHS:
            for trace in read(Truth.load(path)):
                for name in {name for span in trace.spans for name in span.dialects}:
                    SPEAKERS[name].add(path)
    return [Truth.load(path) for path in sorted(SPEAKERS[dialect])]


@pytest.mark.parametrize("path", TRUTHS, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_all_recorded_facts_are_read(path: Path) -> None:
    """Whatever library wrote a file, all that it recorded is what is read."""
    truth = Truth.load(path)

    found = compare(read(truth), truth)

    assert found.misses == []
    assert found.facts >= 4


def test_the_corpus_is_there() -> None:
    """Over a hundred variants of instrumentations, and ten thousand facts are compared."""
    variants = Counter(path.parent.name for path in TRUTHS)
    facts = sum(compare(read(truth), truth).facts for truth in map(Truth.load, TRUTHS))

    assert len(variants) == 125
    assert len(TRUTHS) == 786
    assert facts > 10_000


def test_every_file_has_its_truth() -> None:
    """And is named by it."""
    named = {path for truth in map(Truth.load, TRUTHS) for path in truth.files}

    assert named == set(CORPUS.glob("*/*.jsonl"))


def test_the_readme_counts_every_variant() -> None:
    """A table says which libraries are here, and how many scenarios of each."""
    text = (CORPUS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w.-]+) \|.*\| (\d+) \|$", text, re.MULTILINE)

    assert {name: int(count) for name, count in rows} == Counter(path.parent.name for path in TRUTHS)


def test_paths_and_hosts_are_neutral() -> None:
    """Nothing tells where the files were written."""
    told = re.compile(rb"/(?:tmp|root|work|Users)/|/home/(?!app)|C:\\")

    assert [path for path in CORPUS.glob("*/*") if told.search(path.read_bytes())] == []


@pytest.mark.parametrize("path", TRUTHS, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_reading_reports_nothing_wrong(path: Path) -> None:
    """Files of real libraries have no bad values; what is wrong with their traces is known."""
    truth = Truth.load(path)
    reader = TraceReader(*truth.files)
    kinds = {problem.kind for trace in reader for problem in (*trace.problems, *reader.report.problems)}
    known = {"dropped-attributes", "doubled-call", *truth.recorded.get("problems", ())}

    assert kinds - known == set()


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_is_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any one of the dialects something that is recorded would not be read."""
    spoken, dump = speakers(name), DUMPS.get(name)
    assert dump is None or dump.misses() == {}

    rest = tuple(dialect for dialect in dialects.DIALECTS if dialect.name != name)
    monkeypatch.setattr(dialects.read, "__defaults__", (rest,))

    assert any(compare(read(truth), truth).misses for truth in spoken) if spoken else dump is not None
    assert dump is None or dump.misses() != {}


def test_dumps_stand_in_only_where_there_is_no_file() -> None:
    """A dialect is proven by what its library wrote, wherever that can be had."""
    assert {name for name in DIALECTS if not speakers(name)} == DUMPS.keys()
