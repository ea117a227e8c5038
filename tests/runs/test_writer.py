"""Facts about writing a run: real files, real processes."""

import gc
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from case_results import case_result

from pixie_otel.errors import ConfigError, PixieError
from pixie_otel.evals.case import CaseResult
from pixie_otel.evals.evaluation import Outcome
from pixie_otel.runs.manifest import EvaluatorRecord, InputFile, Manifest, RunStatus
from pixie_otel.runs.run import Run
from pixie_otel.runs.verdict import Verdict
from pixie_otel.runs.writer import RunWriter, check_out
from pixie_otel.traces.report import Problem

_GOOD = Verdict(0, "PASSED")

_posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions, signals and limits")


def _child(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python process that has the tests' helpers at hand."""
    # Coverage could not write where such a process may not, and would say so.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_PROCESS")}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**environment, "PYTHONPATH": str(Path(__file__).parents[1])},
    )


def _ids(run: Run) -> list[str]:
    return [result.case.id for result in run]


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_run_has_a_folder_of_its_own(tmp_path: Path) -> None:
    """The folder is named by start and chance, and it and its files are the user's alone."""
    started = datetime(2026, 11, 30, 18, 15, 22, tzinfo=timezone(timedelta(hours=2)))
    run = RunWriter(tmp_path / "runs", started=started).finish(_GOOD)
    assert re.fullmatch(r"20261130-161522-[a-z0-9]{6}", run.id)
    assert run.path == tmp_path / "runs" / run.id
    assert run.manifest.started_at == "2026-11-30T16:15:22+00:00"
    assert _mode(run.path) == _mode(tmp_path / "runs") == 0o700
    assert {path.name: _mode(path) for path in run.path.iterdir()} == {"run.json": 0o600, "results.jsonl": 0o600}


def test_results_are_on_disk_as_they_come(tmp_path: Path) -> None:
    """A result can be read from the file before the run ends, and the run says that it is going on."""
    writer = RunWriter(tmp_path)
    writer.write(case_result("b", "passed", start=2))
    writer.write(case_result("a", "failed", start=1))
    run = Run.open(writer.path)
    assert _ids(run) == ["b", "a"]
    assert run.manifest.status is RunStatus.RUNNING
    assert writer.summary.cases == 2
    writer.finish(_GOOD)


def test_the_order_is_canonical_when_it_closes(tmp_path: Path) -> None:
    """Results stand by start time and case id, however they came."""
    results = [case_result(case_id, "passed", start=start) for start in (1, 5, 2**64 - 1, 0) for case_id in "cab"]
    writer = RunWriter(tmp_path)
    for result in results:
        writer.write(result)
    run = writer.finish(_GOOD)
    assert list(run) == sorted(results, key=lambda result: (result.case.start_time_unix_nano, result.case.id))
    assert _mode(run.path / "results.jsonl") == 0o600


def test_two_orders_give_the_same_file(tmp_path: Path) -> None:
    """The same results in another order give the same bytes."""
    results = [case_result(f"c{i % 7}{i}", "passed", start=i % 3) for i in range(20)]
    files: list[bytes] = []
    for order in (results, results[::-1]):
        writer = RunWriter(tmp_path)
        for result in order:
            writer.write(result)
        files.append((writer.finish(_GOOD).path / "results.jsonl").read_bytes())
    assert files[0] == files[1]


def test_start_times_that_no_clock_has_do_no_harm(tmp_path: Path) -> None:
    """A start below 0 or past 64 bits, as a broken producer may say, only moves the case to that end."""
    writer = RunWriter(tmp_path)
    for case_id, start in (("late", 2**70), ("early", -5), ("normal", 1)):
        writer.write(case_result(case_id, "passed", start=start))
    assert _ids(writer.finish(_GOOD)) == ["early", "normal", "late"]


def test_the_manifest_says_what_was_run_on_what(tmp_path: Path) -> None:
    """Settings, evaluators, inputs, counts, reading, problems, summary and verdict are in the manifest."""
    inputs = [InputFile(path="a.jsonl", size=1, sha256="00")]
    writer = RunWriter(
        tmp_path,
        settings={"select": "root"},
        evaluators=[EvaluatorRecord(name="E1"), EvaluatorRecord(name="E0")],
        inputs=inputs,
        expect=inputs[0],
    )
    writer.write(case_result("a", "passed", "failed"))
    verdict = Verdict(1, "FAILED")
    problem = Problem("bad-line", "no JSON", "a.jsonl", 3)
    run = writer.finish(verdict, counts={"traces": 1}, reading={"spans_read": 2}, problems=[problem])
    manifest = Manifest.load(run.path)
    assert manifest == run.manifest
    assert manifest.status is RunStatus.FINISHED
    assert manifest.settings == {"select": "root"}
    assert manifest.inputs == tuple(inputs)
    assert manifest.expect == inputs[0]
    assert manifest.counts == {"traces": 1}
    assert manifest.reading == {"spans_read": 2}
    assert manifest.problems.kept[0].problem() == problem
    assert manifest.summary is not None
    assert [found.evaluator for found in manifest.summary.evaluators] == ["E1", "E0"]
    assert manifest.verdict == verdict
    assert manifest.ended_at is not None
    assert datetime.fromisoformat(manifest.started_at) <= datetime.fromisoformat(manifest.ended_at) <= datetime.now(UTC)


def test_two_runs_share_a_folder(tmp_path: Path) -> None:
    """Runs of several processes in one folder, started together, all have folders and results of their own."""
    code = """
import sys
from datetime import UTC, datetime
from case_results import case_result
from pixie_otel.runs.verdict import Verdict
from pixie_otel.runs.writer import RunWriter
sys.stdin.readline()
writer = RunWriter(sys.argv[1], started=datetime(2026, 1, 1, tzinfo=UTC))
for index in range(50):
    writer.write(case_result(f"{sys.argv[2]}-{index:02}", "passed"))
print(writer.finish(Verdict(0, "PASSED")).path)
"""
    children = [_child(code, tmp_path / "runs", name) for name in range(3)]
    outputs = [child.communicate()[0] for child in children]
    assert [child.returncode for child in children] == [0, 0, 0], outputs
    assert len(set(outputs)) == 3
    for name, output in enumerate(outputs):
        assert _ids(Run.open(output.strip())) == [f"{name}-{index:02}" for index in range(50)]


def test_never_over_an_existing_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where chance gives the name of a run that is there, another name is taken."""
    letters = iter("aaaaaa" + "aaaaaa" + "bbbbbb")
    monkeypatch.setattr("secrets.choice", lambda _: next(letters))
    started = datetime(2026, 1, 1, tzinfo=UTC)
    paths = [RunWriter(tmp_path, started=started).finish(_GOOD).path.name for _ in range(2)]
    assert paths == ["20260101-000000-aaaaaa", "20260101-000000-bbbbbb"]


@_posix
def test_a_killed_run_leaves_a_readable_file(tmp_path: Path) -> None:
    """After kill -9 in the middle of writing, every result that was written can be read."""
    code = """
import sys
from itertools import count
from case_results import case_result
from pixie_otel.runs.writer import RunWriter
writer = RunWriter(sys.argv[1])
print(writer.path, flush=True)
for index in count():
    writer.write(case_result(f"{index:09}", "passed"))
    if index == 100:
        print("on", flush=True)
"""
    child = _child(code, tmp_path)
    assert child.stdout is not None
    path = Path(child.stdout.readline().strip())
    assert child.stdout.readline() == "on\n"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    run = Run.open(path)
    ids = _ids(run)
    assert len(ids) > 100
    assert ids == [f"{index:09}" for index in range(len(ids))]
    assert run.summary.outcomes[Outcome.PASSED] == len(ids)
    assert run.manifest.status is RunStatus.RUNNING
    assert run.exit_code == 130
    assert not run.passed


@_posix
def test_a_full_disk_keeps_what_was_written(tmp_path: Path) -> None:
    """When the disk takes no more, no part of a line stays, the error says how many are kept, and the run closes."""
    code = """
import resource, signal, sys
from case_results import case_result
from pixie_otel.errors import PixieError
from pixie_otel.runs.verdict import Verdict
from pixie_otel.runs.writer import RunWriter
writer = RunWriter(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    for index in range(1000):
        writer.write(case_result(f"{999 - index:03}", "passed"))
except PixieError as error:
    print(error)
print(writer.finish(Verdict(0, "PASSED")).path)
"""
    output, _ = _child(code, tmp_path).communicate()
    message, path = output.splitlines()
    count = re.search(
        r"results\.jsonl: cannot be written: File too large; the (\d+) results before it are kept", message
    )
    assert count is not None, output
    run = Run.open(path)
    assert len(_ids(run)) == len(run) == int(count[1]) > 10
    assert (run.path / "results.jsonl").read_bytes().endswith(b"}\n")


@_posix
def test_a_full_disk_at_the_end_keeps_the_results(tmp_path: Path) -> None:
    """When the disk is full at closing, the results stay in the order in which they came."""
    code = """
import resource, signal, sys
from case_results import case_result
from pixie_otel.errors import PixieError
from pixie_otel.runs.verdict import Verdict
from pixie_otel.runs.writer import RunWriter
with RunWriter(sys.argv[1]) as writer:
    for index in range(50):
        writer.write(case_result(f"{99 - index}", "passed"))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    try:
        writer.finish(Verdict(0, "PASSED"))
    except PixieError as error:
        print(error)
print(writer.path)
"""
    output, _ = _child(code, tmp_path).communicate()
    message, path = output.splitlines()
    assert "the run cannot be completed: File too large; the 50 results that were written are kept" in message
    assert _ids(Run.open(path)) == [str(99 - index) for index in range(50)]
    assert sorted(file.name for file in Path(path).iterdir()) == ["results.jsonl", "run.json"]


@_posix
def test_a_folder_that_vanishes_is_told(tmp_path: Path) -> None:
    """When somebody removes the run's folder while it is written, that is an error and not a traceback of another."""
    with RunWriter(tmp_path) as writer:
        writer.write(case_result("a", "passed"))
        shutil.rmtree(writer.path)
        with pytest.raises(PixieError, match="the run cannot be completed: No such file"):
            writer.finish(_GOOD)


@_posix
def test_a_folder_that_cannot_be_written_to_is_told_at_once(tmp_path: Path) -> None:
    """A read-only folder is a `ConfigError` with its name before anything is judged."""
    code = """
import os, sys
from case_results import case_result
from pixie_otel.errors import ConfigError
from pixie_otel.runs.writer import RunWriter
os.chdir(sys.argv[1])
if os.getuid() == 0:
    os.setuid(65534)  # permissions do not bind root
try:
    RunWriter("runs")
except ConfigError as error:
    print(error)
"""
    out = tmp_path / "out"
    out.mkdir(mode=0o555)
    output, _ = _child(code, out).communicate()
    assert output == "the results cannot be saved in runs: Permission denied; name another folder with --out\n"
    assert list(out.iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    """An output folder that is a file, or lies in one, is a `ConfigError`."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for out in (tmp_path / "file", tmp_path / "file" / "runs"):
        for make in (RunWriter, check_out):
            with pytest.raises(ConfigError, match=r"the results cannot be saved in .*; name another folder with --out"):
                make(out)


def test_a_place_that_can_take_runs_is_left_as_it_is(tmp_path: Path) -> None:
    """Looking whether runs could be saved makes nothing."""
    check_out(tmp_path / "new" / "deep")
    check_out(None)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to_is_known_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that forbids it, and a name that no file system takes, are told by looking alone."""
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(ConfigError, match=r"cannot be saved in .*new: .* cannot be written to; name another"):
        check_out(tmp_path / "new")
    with pytest.raises(ConfigError, match=r"cannot be saved in x*: .*; name another"):
        check_out("x" * 10_000)


def test_the_folder_of_runs_ignores_itself_in_git(tmp_path: Path) -> None:
    """A folder that was made for runs, or was empty, tells git to leave it alone."""
    (tmp_path / "empty").mkdir()
    for out in (tmp_path / "new" / "deep", tmp_path / "empty"):
        run = RunWriter(out).finish(_GOOD)
        assert (out / ".gitignore").read_text(encoding="utf-8").splitlines()[-1] == "*"
        assert not (run.path / ".gitignore").exists()


def test_a_folder_of_the_users_is_not_hidden_from_git(tmp_path: Path) -> None:
    """In a folder with other things in it only the run's own folder is kept out of git."""
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    run = RunWriter(tmp_path).finish(_GOOD)
    assert not (tmp_path / ".gitignore").exists()
    assert (run.path / ".gitignore").read_text(encoding="utf-8").splitlines()[-1] == "*"


def test_an_ignore_file_of_the_users_stays(tmp_path: Path) -> None:
    """A .gitignore that is there is neither changed nor made up for."""
    (tmp_path / ".gitignore").write_text("mine\n", encoding="utf-8")
    run = RunWriter(tmp_path).finish(_GOOD)
    assert (tmp_path / ".gitignore").read_text(encoding="utf-8") == "mine\n"
    assert not (run.path / ".gitignore").exists()


def test_git_sees_nothing_of_a_run(tmp_path: Path) -> None:
    """In a real repository a run leaves nothing to commit, whichever way it is kept out."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "data").write_text("x", encoding="utf-8")
    for out in ("pixie-runs", "mine"):
        RunWriter(tmp_path / out).finish(_GOOD)
    seen = subprocess.run(
        ["git", "-C", str(tmp_path), "status", "--porcelain", "--untracked-files=all"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert seen.stdout == "?? mine/data\n"


def test_a_run_that_is_not_kept_goes_with_its_last_reference() -> None:
    """Without an output folder the results lie in a temporary one for as long as somebody can read them."""
    writer = RunWriter(None)
    writer.write(case_result("a", "passed"))
    run = writer.finish(_GOOD)
    path = writer.path.parent
    del writer
    gc.collect()
    assert _ids(run) == ["a"]
    assert _mode(path) == 0o700
    del run
    gc.collect()
    assert not path.exists()


def _ended_by(error: BaseException, out: Path, *results: CaseResult, finish: bool = False) -> Run:
    """Write a run in a block that an error ends, and open it."""
    writer = RunWriter(out)

    def work() -> None:
        with writer:
            for result in results:
                writer.write(result)
            if finish:
                writer.finish(_GOOD)
            raise error

    with pytest.raises(type(error)):
        work()
    return Run.open(writer.path)


def test_an_error_marks_the_run_as_failed(tmp_path: Path) -> None:
    """A run that an error ends keeps its results, sorted, and names the error's class; the error goes on."""
    run = _ended_by(ZeroDivisionError(), tmp_path, case_result("b", "passed"), case_result("a", "passed"))
    assert run.manifest.status is RunStatus.FAILED
    assert run.verdict == Verdict(4, "NOT FINISHED: ZeroDivisionError ended the run")
    assert _ids(run) == ["a", "b"]


def test_an_interruption_marks_the_run_as_interrupted(tmp_path: Path) -> None:
    """After Ctrl-C what is done is kept, and the exit code is 130."""
    run = _ended_by(KeyboardInterrupt(), tmp_path, case_result("a", "passed"))
    assert run.manifest.status is RunStatus.INTERRUPTED
    assert run.exit_code == 130
    assert len(run) == 1


def test_leaving_without_a_verdict_is_an_interruption(tmp_path: Path) -> None:
    """A block that ends without `finish` leaves a run without a verdict of its own."""
    with RunWriter(tmp_path) as writer:
        writer.write(case_result("a", "passed"))
    assert Run.open(writer.path).manifest.status is RunStatus.INTERRUPTED


def test_finishing_in_the_block_is_final(tmp_path: Path) -> None:
    """A run that was finished stays as it is when the block ends, well or not."""
    assert _ended_by(ZeroDivisionError(), tmp_path, finish=True).verdict == _GOOD


def test_the_settings_hold_no_command_line(tmp_path: Path) -> None:
    """Nothing of the process, its arguments or its environment gets into the manifest by itself."""
    run = RunWriter(tmp_path).finish(_GOOD)
    document = json.loads((run.path / "run.json").read_bytes())
    assert document["settings"] == {}
    assert sys.argv[0] not in json.dumps(document)


def test_what_cannot_be_written_is_no_config_error(tmp_path: Path) -> None:
    """A disk that fails later is an error of its own, since no setting is wrong."""
    writer = RunWriter(tmp_path)
    writer._file.close()
    writer._file = os.fdopen(os.open(writer.path / "results.jsonl", os.O_RDONLY), "rb", buffering=0)
    with pytest.raises(PixieError, match="cannot be written") as caught:
        writer.write(case_result("a", "passed"))
    assert not isinstance(caught.value, ConfigError)
    writer._file.close()
