"""Facts about finding runs."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pixie_otel.errors import ConfigError, InputError
from pixie_otel.runs.run import Run
from pixie_otel.runs.store import find_run, run_folders
from pixie_otel.runs.verdict import Verdict
from pixie_otel.runs.writer import RunWriter


def _run(out: Path, day: int, microsecond: int = 0) -> Run:
    return RunWriter(out, started=datetime(2026, 1, day, 12, 0, 0, microsecond, tzinfo=UTC)).finish(
        Verdict(0, "PASSED")
    )


def test_runs_are_listed_the_oldest_first(tmp_path: Path) -> None:
    """The folder's runs come in the order of their start; other files and folders are no runs."""
    runs = [_run(tmp_path, day) for day in (3, 1, 2)]
    (tmp_path / "20260101-120000-abcdef").mkdir()
    (tmp_path / "notes").mkdir()
    assert run_folders(tmp_path) == [runs[1].path, runs[2].path, runs[0].path]


def test_a_folder_that_is_not_there_has_no_runs(tmp_path: Path) -> None:
    """Before the first run there is nothing to list."""
    assert run_folders(tmp_path / "gone") == []


def test_a_run_is_found_by_what_people_call_it(tmp_path: Path) -> None:
    """An id, a beginning that no other has, a path and a file in it all lead to the run."""
    run, _ = _run(tmp_path, 1), _run(tmp_path, 2)
    for reference in (run.id, run.id[:8], run.path, str(run.path), run.path / "run.json"):
        assert find_run(reference, tmp_path).id == run.id


def test_latest_is_the_last_one_started(tmp_path: Path) -> None:
    """``latest`` goes by the start, to the fraction of a second."""
    for _ in range(3):
        _run(tmp_path, 1, 900)
        last = _run(tmp_path, 2, 5000)
        _run(tmp_path, 2, 10)
        assert find_run("latest", tmp_path).manifest.started_at == last.manifest.started_at


def test_latest_looks_past_a_damaged_neighbour(tmp_path: Path) -> None:
    """A damaged manifest in the same second does not stand in the way of the last run."""
    damaged, run = _run(tmp_path, 1), _run(tmp_path, 1)
    (damaged.path / "run.json").write_text("{", encoding="utf-8")
    assert find_run("latest", tmp_path).id == run.id
    with pytest.raises(InputError):
        find_run(damaged.id, tmp_path)


def test_a_beginning_of_several_ids_is_refused(tmp_path: Path) -> None:
    """A beginning that several runs have is a `ConfigError` that lists them."""
    runs = sorted([_run(tmp_path, 1), _run(tmp_path, 2)], key=lambda run: run.id)
    with pytest.raises(ConfigError, match=f"beginning of 2 runs: {runs[0].id}, {runs[1].id}"):
        find_run("2026", tmp_path)


@pytest.mark.parametrize("reference", ["1999", "", "../secret", "no/such/path"])
def test_what_names_no_run_is_told_with_those_there_are(tmp_path: Path, reference: str) -> None:
    """A reference to nothing is a `ConfigError` with the last runs."""
    run = _run(tmp_path, 1)
    with pytest.raises(ConfigError, match=f"no run {reference!r}.*the last runs: {run.id}"):
        find_run(reference, tmp_path)


def test_latest_of_none_is_told(tmp_path: Path) -> None:
    """Without a run there is no latest, and nothing known to choose from."""
    with pytest.raises(ConfigError, match="there is no run in"):
        find_run("latest", tmp_path)
    with pytest.raises(ConfigError, match="the last runs: none"):
        find_run("x", tmp_path)
