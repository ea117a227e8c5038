"""Facts about runs as they are read back."""

import json
from pathlib import Path

import pytest
from case_results import case_result

from pixie_otel.errors import InputError
from pixie_otel.evals.case import Case, CaseResult
from pixie_otel.evals.evaluation import Failure, FailureKind
from pixie_otel.evaluable import Evaluable, NamedData
from pixie_otel.runs.run import Run
from pixie_otel.runs.verdict import UNFINISHED, Verdict
from pixie_otel.runs.writer import RunWriter


def _run(out: Path, *results: CaseResult, verdict: Verdict = Verdict(0, "PASSED")) -> Run:  # noqa: B008 - a value
    writer = RunWriter(out)
    for result in results:
        writer.write(result)
    return writer.finish(verdict)


def test_a_run_is_read_as_often_as_one_likes(tmp_path: Path) -> None:
    """Each iteration reads the results from the start."""
    results = [case_result("a", "passed"), case_result("b", "failed")]
    run = _run(tmp_path, *results)
    assert list(run) == list(run) == results


@pytest.mark.parametrize("inside", ["", "run.json", "results.jsonl"])
def test_a_run_opens_by_its_folder_or_a_file_in_it(tmp_path: Path, inside: str) -> None:
    """A finished run opens equal to the one that was written: id, results, summary and verdict."""
    written = _run(tmp_path, case_result("a", "passed"), verdict=Verdict(1, "FAILED"))
    run = Run.open(written.path / inside)
    assert run.id == written.id
    assert run.path == written.path
    assert list(run) == list(written)
    assert run.summary == written.summary
    assert run.exit_code == 1
    assert not run.passed
    assert repr(run) == f"<Run {run.id}: FAILED>"


def test_what_is_no_run_does_not_open(tmp_path: Path) -> None:
    """A folder without a manifest is an `InputError`."""
    with pytest.raises(InputError, match="is no run"):
        Run.open(tmp_path)


def test_a_file_cut_anywhere_gives_the_whole_lines(tmp_path: Path) -> None:
    """Wherever a kill cuts the file, the results before the cut are read and the torn one is left out."""
    run = _run(tmp_path, case_result("a", "passed"), case_result("b", "passed"))
    path = run.path / "results.jsonl"
    data = path.read_bytes()
    for length in range(len(data), -1, -1):
        path.write_bytes(data[:length])
        assert len(list(run)) == data[:length].count(b"\n")


def test_a_damaged_line_is_told_with_its_place(tmp_path: Path) -> None:
    """A whole line that is no result ends the reading with file and line."""
    run = _run(tmp_path, case_result("a", "passed"), case_result("b", "passed"))
    path = run.path / "results.jsonl"
    path.write_bytes(path.read_bytes().replace(b'{"schema":1,"case_id":"b"', b'\0"schema":1,"case_id":"b"'))
    with pytest.raises(InputError, match=r"results\.jsonl:2: not written by pixie-otel, or damaged"):
        list(run)


def test_results_that_are_gone_are_told(tmp_path: Path) -> None:
    """A run without its results file says which file is missing."""
    run = _run(tmp_path)
    (run.path / "results.jsonl").unlink()
    with pytest.raises(InputError, match=r"results\.jsonl: cannot be read: No such file"):
        list(run)


def test_a_run_without_an_end_is_added_up_from_its_results(tmp_path: Path) -> None:
    """A run that was killed has a summary of what it wrote, and the verdict that it did not finish."""
    writer = RunWriter(tmp_path)
    writer.write(case_result("a", "passed", "failed"))
    run = Run.open(writer.path)
    assert run.summary == writer.summary
    assert run.summary is run.summary
    assert len(run) == 1
    assert run.verdict == UNFINISHED
    writer.finish(Verdict(0, "PASSED"))


def test_records_are_one_row_per_case_and_evaluator(tmp_path: Path) -> None:
    """The rows for pandas are flat, all with the same columns, and carry the case's input and output."""
    rows = _run(tmp_path, case_result("a", "passed", "skipped"), case_result("b", "error")).to_records()
    assert [(row["case_id"], row["evaluator"], row["outcome"]) for row in rows] == [
        ("a", "E0", "passed"),
        ("a", "E1", "skipped"),
        ("b", "E0", "error"),
    ]
    assert len({tuple(row) for row in rows}) == 1
    assert rows[0]["score"] == 1.0
    assert rows[0]["threshold"] == 0.5
    assert rows[0]["reasoning"] == "because"
    assert rows[0]["input"] == "a"
    assert rows[0]["output"] == "out"
    assert rows[0]["expectation"] is None
    assert rows[1]["skip_reason"] == "does not apply"
    assert rows[1]["score"] is None
    assert rows[1]["case_outcome"] == "passed"
    assert rows[2]["failure_kind"] == "evaluator"
    assert rows[2]["failure"] == "it broke"
    json.dumps(rows)


def test_a_case_that_could_not_be_made_is_a_row_too(tmp_path: Path) -> None:
    """A case without results is one row that says why, and one without an evaluable has no input."""
    failure = Failure(FailureKind.OBSERVATION, "no spans")
    (row,) = _run(tmp_path, case_result("a", failure=failure)).to_records()
    assert row["evaluator"] is None
    assert row["outcome"] == row["case_outcome"] == "error"
    assert row["failure_kind"] == "observation"
    assert row["failure"] == "no spans"
    assert row["input"] is None


def test_an_expectation_stands_in_the_rows(tmp_path: Path) -> None:
    """An expectation that was given is a column of the rows."""
    case = Case("a", "a", Evaluable([NamedData("input", 1)], expectation=["x"]))
    (row,) = _run(tmp_path, CaseResult(case, ())).to_records()
    assert row["expectation"] == ["x"]
    assert row["output"] is None
