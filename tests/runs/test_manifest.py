"""Facts about ``run.json``."""

import hashlib
import json
import os
import stat
from pathlib import Path

import pytest

from pixie_otel.errors import InputError
from pixie_otel.evals.evaluation import FailureKind, Outcome
from pixie_otel.runs.manifest import EvaluatorRecord, InputFile, Manifest, Problems, RunStatus, current_versions
from pixie_otel.runs.records import SCHEMA
from pixie_otel.runs.summary import EvaluatorSummary, FailureGroup, Summary
from pixie_otel.runs.verdict import Verdict
from pixie_otel.traces.report import Problem

_FULL = Manifest(
    run_id="20261130-161522-k3f9q2",
    status=RunStatus.FINISHED,
    started_at="2026-11-30T16:15:22+00:00",
    ended_at="2026-11-30T16:16:22+00:00",
    versions={"pixie-otel": "0.1.0"},
    settings={"select": "root", "pct": 1.0},
    evaluators=(EvaluatorRecord(name="E", reference="E:x=1", parameters={"x": 1}, threshold=0.5, severity="warn"),),
    inputs=(InputFile(path="a.jsonl", size=3, sha256="00"),),
    counts={"traces": 3},
    reading={"spans_read": 7},
    problems=Problems.of([Problem("bad-line", "no JSON", "a.jsonl", 3)]),
    summary=Summary(
        cases=1,
        outcomes=dict.fromkeys(Outcome, 0) | {Outcome.ERROR: 1},
        evaluators=(EvaluatorSummary(evaluator="E", cases=1, mean=0.5),),
        failure_kinds={FailureKind.TARGET: 1},
        failures=(FailureGroup(kind=FailureKind.TARGET, evaluator=None, message="m", count=1, example="a"),),
    ),
    verdict=Verdict(4, "INCOMPLETE"),
)


def test_it_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    """Every part of a manifest survives the file, which belongs to its owner alone."""
    _FULL.save(tmp_path)
    assert Manifest.load(tmp_path) == _FULL
    assert stat.S_IMODE((tmp_path / "run.json").stat().st_mode) == 0o600


def test_it_is_laid_out_for_people(tmp_path: Path) -> None:
    """The file is plain JSON with a line a field and the format's version at the top."""
    _FULL.save(tmp_path)
    text = (tmp_path / "run.json").read_text(encoding="utf-8")
    assert text.startswith(f'{{\n  "schema": {SCHEMA},\n  "run_id": "20261130-161522-k3f9q2",\n')
    assert json.loads(text)["verdict"] == {"exit_code": 4, "text": "INCOMPLETE"}


def test_a_newer_format_names_the_version_to_install(tmp_path: Path) -> None:
    """A manifest of a newer format says which version of pixie-otel wrote it and how to get it."""
    document = {"schema": SCHEMA + 1, "versions": {"pixie-otel": "7.1.0"}, "run_id": ["novel"]}
    (tmp_path / "run.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=r"pip install --upgrade 'pixie-otel>=7\.1\.0'"):
        Manifest.load(tmp_path)


def test_fields_that_are_not_known_are_passed_over(tmp_path: Path) -> None:
    """A manifest with fields of a later version in the same format is read without them."""
    _FULL.save(tmp_path)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"novel": {"x": 1}}), encoding="utf-8")
    assert Manifest.load(tmp_path) == _FULL


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1}', '{"schema": 1, "versions": 3}'])
def test_a_damaged_manifest_is_told_by_its_path(tmp_path: Path, text: str) -> None:
    """What is no manifest is an `InputError` that names the file."""
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"run\.json: not written by pixie-otel, or damaged"):
        Manifest.load(tmp_path)


def test_a_folder_without_one_is_no_run(tmp_path: Path) -> None:
    """A folder without a manifest is said to be no run."""
    with pytest.raises(InputError, match=r"is no run: run\.json cannot be read: No such file"):
        Manifest.load(tmp_path)


def test_settings_that_json_does_not_have_are_shown(tmp_path: Path) -> None:
    """A setting of a type that JSON does not have is kept as text."""
    Manifest(run_id="a", started_at="now", settings={"path": Path("x"), "odd": "\ud800"}).save(tmp_path)
    assert Manifest.load(tmp_path).settings == {"path": repr(Path("x")), "odd": "\ufffd"}


def test_an_input_file_has_size_and_digest(tmp_path: Path) -> None:
    """A regular file is measured: its bytes and their SHA-256."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"abc")
    assert InputFile.of(path) == InputFile(path=str(path), size=3, sha256=hashlib.sha256(b"abc").hexdigest())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no FIFOs")
def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    """A FIFO is named without being opened, which would wait for a writer."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    assert InputFile.of(path) == InputFile(path=str(path))


def test_an_input_file_that_is_gone_is_named(tmp_path: Path) -> None:
    """A file that was packed or deleted since it was found does not stop the run that reads the others."""
    path = tmp_path / "gone.jsonl"
    assert InputFile.of(path) == InputFile(path=str(path))


def test_an_input_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A file that cannot be read is an `InputError` with its name."""
    (tmp_path / "a.jsonl").write_bytes(b"abc")
    with pytest.raises(InputError, match=r"b\.jsonl: cannot be read: Not a directory"):
        InputFile.of(tmp_path / "a.jsonl" / "b.jsonl")


def test_problems_are_bounded_and_counted() -> None:
    """So many problems of each kind are kept in full, all are counted by kind."""
    many = [Problem("b", str(i), "f") for i in range(30)] + [Problem("a", "x", "f", 1, "t", "s")]
    problems = Problems.of(many, max_per_kind=3)
    assert problems.counts == {"a": 1, "b": 30}
    assert [record.problem() for record in problems.kept] == [*many[:3], many[-1]]


def test_the_versions_that_matter_are_known() -> None:
    """A run notes pixie-otel, Python, autoevals and the platform."""
    assert set(current_versions()) == {"pixie-otel", "python", "autoevals", "platform"}
