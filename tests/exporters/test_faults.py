"""Facts about disks that fail: every call once, in every place, and real full, read-only and vanished ones."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_calls import FailingCalls
from fault_programs import run_program
from fault_spans import balanced, lines_in, names_in, names_in_line, trace_files
from sdk_spans import sdk_span

from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter
from pixie_otel.exporters.span_queue import span_queue
from pixie_otel.exporters.work_queue import Outcome

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")

_FAULTS = [
    ("open", errno.ENOSPC),
    ("open", errno.EMFILE),
    ("write", errno.ENOSPC),
    ("write", errno.EIO),
    ("fsync", errno.EIO),
    ("fsync", errno.ENOSPC),
    ("rename", errno.EIO),
    ("replace", errno.ENOSPC),
    ("ftruncate", errno.EIO),
    ("fstat", errno.EIO),
    ("pread", errno.EIO),
]
_FUNCTIONS = sorted({name for name, _ in _FAULTS})


class _Trial:
    """Writes spans, and knows which must be in the file afterwards."""

    def __init__(self, target: Path, *, fsync: bool = False, compress: bool = False) -> None:
        self.target = target
        self.exporter = OtlpJsonlExporter(
            target, fsync=fsync, compress=compress, max_file_bytes=3500, max_line_bytes=800
        )
        self.number = 0
        self.written = 0
        self.dropped: Counter[str] = Counter()
        self.accounts: list[Outcome] = []

    def write(self, batches: int) -> Outcome:
        outcome = Outcome(0, {})
        for _ in range(batches):
            spans = [sdk_span({"text": "x" * 100}, number=self.number + place) for place in range(1, 4)]
            self.number += 3
            outcome = self.exporter.export_counted(spans)
            self.written += outcome.written
            self.dropped.update(outcome.dropped)
        return outcome

    def check(self) -> None:
        self.exporter.shutdown()
        assert self.written + self.dropped.total() == self.number
        found = names_in(self.target)
        assert found.total() == self.written, (found.total(), self.written, self.dropped)
        assert set(found.values()) <= {1}


def _targets(folder: Path) -> Iterator[Path]:
    yield folder / "many"
    yield folder / "one" / "traces.jsonl"


def _fail_each_once(folder: Path, calls: FailingCalls, function: str, error: int, most: int) -> None:
    hit = 0
    for nth in range(1, most + 1):
        for target in _targets(folder / str(nth)):
            trial = _Trial(target, fsync=function == "fsync", compress=function in {"open", "fsync", "replace"})
            failed = calls.failed
            calls.fail(function, nth, error)
            trial.write(3 * most + 10)
            calls.heal()
            assert trial.write(1) == Outcome(3, {})
            trial.check()
            hit += calls.failed - failed
        shutil.rmtree(folder / str(nth))
    # Only files that are shared are renamed, only what failed is cut, and what is compressed is so when there is time.
    if function in {"rename", "replace"}:
        assert hit >= most if function == "rename" else hit
    elif function != "ftruncate":
        assert hit == 2 * most


@pytest.mark.parametrize(("function", "error"), _FAULTS)
def test_any_call_may_fail_once(function: str, error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever call fails, nothing is raised, files hold whole lines, and the account is what is in them."""
    calls = FailingCalls(monkeypatch, *_FUNCTIONS)
    _fail_each_once(tmp_path, calls, function, error, 6)


@pytest.mark.long
@pytest.mark.parametrize(("function", "error"), _FAULTS)
def test_any_of_a_hundred_calls_may_fail_once(
    function: str, error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for each of the first hundred calls."""
    calls = FailingCalls(monkeypatch, *_FUNCTIONS)
    _fail_each_once(tmp_path, calls, function, error, 100)


def _write_short(folder: Path, calls: FailingCalls, most: int) -> None:
    for nth in range(1, most + 1):
        for error in (None, errno.ENOSPC, errno.EIO):
            for target in _targets(folder / f"{nth}-{error}"):
                trial = _Trial(target)
                failed = calls.failed
                calls.write_short(nth)
                if error is not None:
                    calls.fail("write", nth + 1, error)
                trial.write(3 * most + 10)
                calls.heal()
                assert calls.failed - failed == (1 if error is None else 2)
                assert trial.write(1) == Outcome(3, {})
                assert trial.dropped == ({"io_error": 3} if error == errno.ENOSPC else {})
                trial.check()
            shutil.rmtree(folder / f"{nth}-{error}")


def test_a_short_write_is_continued_or_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that takes a part only is continued; where the rest fails, the part is taken back and tried elsewhere."""
    _write_short(tmp_path, FailingCalls(monkeypatch, *_FUNCTIONS), 6)


@pytest.mark.long
def test_any_of_a_hundred_writes_may_be_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for each of the first hundred writes."""
    _write_short(tmp_path, FailingCalls(monkeypatch, *_FUNCTIONS), 100)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_what_cannot_be_taken_back_spoils_no_other_line(
    error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where neither the rest of a line nor its removal succeeds, the next line starts anew, and the account holds."""
    calls = FailingCalls(monkeypatch, *_FUNCTIONS)
    for nth in range(1, 7):
        for target in _targets(tmp_path / str(nth)):
            trial = _Trial(target)
            calls.write_short(nth)
            calls.fail("write", nth + 1, error)
            calls.fail("ftruncate", 1, errno.EIO)
            trial.write(25)
            calls.heal()
            assert trial.write(1) == Outcome(3, {})
            trial.exporter.shutdown()
            whole, torn = 0, 0
            for file in trace_files(target):
                for line in lines_in(file):
                    try:
                        whole += len(list(names_in_line(line)))
                    except ValueError:
                        torn += 1
            assert whole == trial.written
            assert trial.written + trial.dropped.total() == trial.number
            assert torn <= 1


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT, errno.ESTALE])
def test_a_disk_that_fails_for_a_while_costs_that_while(
    error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While no write succeeds spans are dropped as io_error; with the first that does all is as before."""
    calls = FailingCalls(monkeypatch, *_FUNCTIONS)
    for target in _targets(tmp_path):
        trial = _Trial(target)
        trial.write(3)
        calls.fail_always("write", error)
        assert trial.write(3) == Outcome(0, {"io_error": 3})
        calls.heal()
        assert trial.write(1) == Outcome(3, {})
        assert trial.dropped == {"io_error": 9}
        trial.check()


def test_a_queue_over_a_failing_disk_accounts_for_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a queue too, what ended is what was written and what was dropped, by reason."""
    calls = FailingCalls(monkeypatch, *_FUNCTIONS)
    queue = span_queue("a failing disk", OtlpJsonlExporter(tmp_path / "traces.jsonl"), delay=0)
    for number in range(1, 301):
        if number == 100:
            calls.fail_always("write", errno.ENOSPC)
        if number == 200:
            assert queue.flush(30)
            calls.heal()
        queue.put(sdk_span(number=number))
    assert queue.shutdown(30)
    stats = balanced(queue.stats())
    assert stats.ended == 300
    assert 0 < stats.dropped["io_error"] <= 201
    assert names_in(tmp_path).total() == stats.written


def test_a_removed_folder_is_made_again(tmp_path: Path) -> None:
    """When the folder is deleted under it, the next write makes it again, and loses nothing."""
    for target in _targets(tmp_path):
        trial = _Trial(target)
        trial.write(2)
        folder = target if target.suffix == "" else target.parent
        shutil.rmtree(folder)
        assert trial.write(2) == Outcome(3, {})
        trial.exporter.shutdown()
        assert names_in(target).total() == 6


def test_a_file_that_is_moved_away_is_followed_by_a_new_one(tmp_path: Path) -> None:
    """After logrotate moved the file, lines go into a new one of the old name."""
    path = tmp_path / "traces.jsonl"
    exporter = OtlpJsonlExporter(path)
    exporter.export([sdk_span(number=1)])
    path.rename(tmp_path / "traces.jsonl.1")
    exporter.export([sdk_span(number=2)])
    exporter.shutdown()
    assert names_in(tmp_path) == {"span 2": 1}
    assert list(names_in_line((tmp_path / "traces.jsonl.1").read_bytes())) == ["span 1"]


def test_a_file_that_is_cut_off_is_written_on(tmp_path: Path) -> None:
    """After logrotate's copytruncate the next line is the first, without a gap."""
    path = tmp_path / "traces.jsonl"
    exporter = OtlpJsonlExporter(path)
    exporter.export([sdk_span(number=1)])
    os.truncate(path, 0)
    exporter.export([sdk_span(number=2)])
    exporter.shutdown()
    assert list(names_in_line(path.read_bytes())) == ["span 2"]


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "link", "loop", "file as a folder"])
def test_a_path_that_is_no_file_costs_the_spans_only(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing hangs or is raised where the path cannot be a file; the reason is said, and spans are counted."""
    path = tmp_path / "traces.jsonl"
    exporter_path = path
    if kind == "device":
        exporter_path = Path("/dev/full")
    elif kind == "file as a folder":
        path.write_text("")
        exporter_path = path / "inside.jsonl"
    exporter = OtlpJsonlExporter(exporter_path)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "elsewhere.jsonl")
    elif kind == "loop":
        path.symlink_to(path)
    for number in range(3):
        assert exporter.export_counted([sdk_span(number=number + 1)]) == Outcome(0, {"io_error": 1})
    exporter.shutdown()
    assert caplog.text.count("cannot be written") == 1
    assert not (tmp_path / "elsewhere.jsonl").exists()


def test_a_path_that_becomes_a_file_is_written_without_a_restart(tmp_path: Path) -> None:
    """As soon as what stood in the way is gone, spans are written."""
    path = tmp_path / "traces.jsonl"
    exporter = OtlpJsonlExporter(path)
    path.mkdir()
    assert exporter.export_counted([sdk_span(number=1)]).written == 0
    path.rmdir()
    assert exporter.export_counted([sdk_span(number=2)]).written == 1
    exporter.shutdown()
    assert names_in(tmp_path) == {"span 2": 1}


def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    """Without permission spans are counted as lost, and written when it is given."""
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    exporter = OtlpJsonlExporter(tmp_path / "traces.jsonl")
    assert exporter.export_counted([sdk_span()]) == Outcome(0, {"io_error": 1})
    tmp_path.chmod(0o700)
    assert exporter.export_counted([sdk_span()]) == Outcome(1, {})
    exporter.shutdown()


_LIMITED = """
import resource, sys
from pathlib import Path
from fault_spans import names_in
from sdk_spans import sdk_span
from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter

resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
exporter = OtlpJsonlExporter(sys.argv[1], max_line_bytes=1000)
written = 0
for number in range(1, 101):
    outcome = exporter.export_counted([sdk_span({"text": "x" * 500}, number=number)])
    written += outcome.written
exporter.shutdown()
assert names_in(Path(sys.argv[1])).total() == written == 100, written
print("fine")
"""


@pytest.mark.parametrize("name", ["many", "traces.jsonl"])
def test_a_limit_on_file_sizes_begins_another_file(name: str, tmp_path: Path) -> None:
    """Where the system limits how large a file becomes, nothing is lost and the process lives."""
    assert run_program(_LIMITED, tmp_path / name) == "fine\n"


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """On a file system of 64 KiB spans are lost when it is full, counted, and written again when there is room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        filler = disk / "filler"
        filler.write_bytes(b"x" * 30_000)
        exporter = OtlpJsonlExporter(disk / "traces.jsonl")
        outcomes = Counter[str]()
        for number in range(1, 101):
            outcome = exporter.export_counted([sdk_span({"text": "x" * 500}, number=number)])
            outcomes["written"] += outcome.written
            outcomes.update(outcome.dropped)
        assert outcomes["written"] > 10
        assert outcomes["io_error"] == 100 - outcomes["written"] > 10
        filler.unlink()
        assert exporter.export_counted([sdk_span(number=101)]) == Outcome(1, {})
        exporter.shutdown()
        assert names_in(disk).total() == outcomes["written"] + 1
    finally:
        subprocess.run(["umount", disk], check=True)
