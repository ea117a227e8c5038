"""Facts about the files themselves: their names, their ends, and what becomes of them when they are closed."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from fault_calls import FailingCalls
from fault_files import LINE, append, mode_of, texts_in
from fault_queues import wait_until

from pixie_otel.exporters import leases, trace_files
from pixie_otel.exporters.rotation import (
    own_file_name,
    own_files,
)
from pixie_otel.exporters.trace_files import Appended, FileLimits, SharedFile, TraceFolder, open_target

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("there", TraceFolder),
        ("there/", TraceFolder),
        ("new/", TraceFolder),
        ("new", TraceFolder),
        ("new.jsonl/", TraceFolder),
        ("there.d", TraceFolder),
        ("new.jsonl", SharedFile),
        ("there/new.json", SharedFile),
    ],
)
def test_a_path_is_taken_for_what_it_looks_like(path: str, kind: type, tmp_path: Path) -> None:
    """What is a folder, ends like one or has no suffix is a folder; everything else is a file."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there.d").mkdir()
    assert type(open_target(f"{tmp_path}/{path}", FileLimits())) is kind


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An application that changes its folder does not move its traces."""
    monkeypatch.chdir(tmp_path)
    file = open_target("traces.jsonl", FileLimits())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    append(file, LINE)
    assert file.close()
    assert (tmp_path / "traces.jsonl").read_bytes() == LINE


def test_files_and_folders_are_the_users_alone(tmp_path: Path) -> None:
    """Files are made 0600 and every folder on the way 0700, whatever the umask allows."""
    before = os.umask(0)
    try:
        for path in ("a/b/c/", "d/e/f.jsonl"):
            file = open_target(f"{tmp_path}/{path}", FileLimits())
            append(file, LINE)
            assert file.close()
    finally:
        os.umask(before)
    modes = {mode_of(path) for path in tmp_path.rglob("*") if path.is_file()}
    folders = {mode_of(path) for path in tmp_path.rglob("*") if path.is_dir()}
    assert (modes, folders) == ({0o600}, {0o700})


def test_a_file_that_was_there_keeps_its_mode_and_its_lines(tmp_path: Path) -> None:
    """A file of the user's is appended to, and stays as readable as it was made."""
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"before\n")
    path.chmod(0o644)
    file = SharedFile(path, FileLimits())
    append(file, LINE)
    assert file.close()
    assert path.read_bytes() == b"before\na line\n"
    assert mode_of(path) == 0o644


def test_no_other_program_inherits_the_file(tmp_path: Path) -> None:
    """The descriptors close when another program is executed."""
    for file in (TraceFolder(tmp_path, FileLimits()), SharedFile(tmp_path / "x.jsonl", FileLimits())):
        append(file, LINE)
        assert file._descriptor is not None
        assert not os.get_inheritable(file._descriptor)
        assert file.close()


def test_the_name_tells_host_process_and_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's name in a folder is unique, and cannot leave the folder whatever the host is called."""
    monkeypatch.setattr("socket.gethostname", lambda: "../a host:1")
    file = TraceFolder(tmp_path, FileLimits())
    append(file, LINE)
    assert file.close()
    (path,) = tmp_path.iterdir()
    assert re.fullmatch(rf"traces-\.\._a_host_1-{os.getpid()}-\d{{8}}T\d{{6}}Z-[0-9a-f]{{8}}\.jsonl", path.name)
    assert own_files().fullmatch(path.name)
    assert len({own_file_name() for _ in range(100)}) == 100


@pytest.mark.parametrize("tail", [b'{"torn', b"\0\0\0", b"x"])
def test_a_torn_end_is_left_alone(tail: bytes, tmp_path: Path) -> None:
    """After a crash the unfinished line stays, and the next one starts behind it on a line of its own."""
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"whole\n" + tail)
    file = SharedFile(path, FileLimits())
    append(file, LINE, LINE)
    assert file.close()
    assert path.read_bytes() == b"whole\n" + tail + b"\na line\na line\n"


def test_a_full_file_is_followed_by_another(tmp_path: Path) -> None:
    """By size, at the end of a line: no file is larger than it may be, and every line is in one."""
    for target in (tmp_path / "many", tmp_path / "one" / "traces.jsonl"):
        lines = [b"line %03d\n" % number for number in range(20)]
        file = open_target(target, FileLimits(max_file_bytes=30), compress=False)
        append(file, *lines)
        assert file.close()
        texts = texts_in(target if target.suffix == "" else target.parent)
        assert sorted(b"".join(texts).splitlines(keepends=True)) == lines
        assert {len(text) for text in texts} == {27, 18}
        assert len(texts) == 7


def test_a_line_longer_than_a_file_may_be_has_one_for_itself(tmp_path: Path) -> None:
    """The bound of a file never splits or drops a line."""
    file = TraceFolder(tmp_path, FileLimits(max_file_bytes=10), compress=False)
    append(file, b"x" * 100 + b"\n", b"y\n")
    assert file.close()
    assert sorted(map(len, texts_in(tmp_path))) == [2, 101]


def test_an_old_file_is_followed_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By age: the first line after the time is the first of a new file."""
    moment = 1000.0
    monkeypatch.setattr(trace_files.time, "monotonic", lambda: moment)
    for target in (tmp_path / "many", tmp_path / "one" / "traces.jsonl"):
        file = open_target(target, FileLimits(max_file_seconds=60), compress=False)
        append(file, b"1\n")
        moment += 59
        append(file, b"2\n")
        moment += 1
        append(file, b"3\n")
        assert file._compression is None
        assert file.close()
        assert sorted(texts_in(target if target.suffix == "" else target.parent)) == [b"1\n2\n", b"3\n"]


def test_a_file_that_was_rotated_by_another_is_left(tmp_path: Path) -> None:
    """Two writers of one file follow each other's rotation, and no line gets lost."""
    limits = FileLimits(max_file_bytes=40)
    first, second = (SharedFile(tmp_path / "traces.jsonl", limits) for _ in range(2))
    for number in range(20):
        append(first, b"first %02d\n" % number)
        append(second, b"second %02d\n" % number)
    assert first.close(30)
    assert second.close(30)
    assert len(b"".join(texts_in(tmp_path)).splitlines()) == 40


def test_a_file_that_cannot_be_rotated_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the next file cannot be begun, lines go into the old one, and nothing is lost."""
    for function, target in (("rename", tmp_path / "one" / "traces.jsonl"), ("open", tmp_path / "many")):
        file = open_target(target, FileLimits(max_file_bytes=10), compress=False)
        append(file, LINE)
        with monkeypatch.context() as patch:
            FailingCalls(patch, function).fail_always(function, errno.EACCES)
            append(file, LINE)
        append(file, LINE)
        assert file.close()
        folder = target if target.suffix == "" else target.parent
        assert sorted(texts_in(folder)) == [LINE, LINE * 2]


def test_a_file_that_is_replaced_all_the_time_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer does not chase for ever what somebody else keeps replacing."""
    monkeypatch.setattr(trace_files, "is_at", lambda descriptor, path: False)
    file = SharedFile(tmp_path / "traces.jsonl", FileLimits())
    appended = file.append(LINE)
    assert appended.kept == 0
    assert appended.error is not None
    assert appended.error.errno == errno.ESTALE
    assert file.close()


class TestWithoutLocks:
    """Where the file system has no locks, as some network file systems."""

    @pytest.fixture(autouse=True)
    def _no_locks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(descriptor: int, operation: int) -> None:
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(leases.fcntl, "flock", refuse)

    def test_a_shared_file_is_never_cut(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A half-written line stays, as somebody else's may stand behind it; the next one starts anew."""
        path = tmp_path / "traces.jsonl"
        file = SharedFile(path, FileLimits())
        calls = FailingCalls(monkeypatch, "write", "ftruncate")
        calls.write_short(1)
        calls.fail("write", 2, errno.ENOSPC)
        appended = file.append(b"0123456789\n")
        assert (appended.kept, calls.calls["ftruncate"]) == (5, 0)
        append(file, LINE)
        assert file.close()
        assert path.read_bytes() == b"01234\na line\n"

    def test_a_file_of_one_process_is_cut(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """In a folder nobody else writes to the file, so that half a line can be taken back."""
        file = TraceFolder(tmp_path, FileLimits())
        calls = FailingCalls(monkeypatch, "write")
        calls.write_short(1)
        calls.fail("write", 2, errno.ENOSPC)
        assert file.append(b"0123456789\n").kept == 0
        append(file, LINE)
        assert file.close()
        assert texts_in(tmp_path) == [LINE]

    def test_nothing_is_compressed_or_deleted(self, tmp_path: Path) -> None:
        """What cannot be known to be closed is left as it is, and the bound is kept by writing no more."""
        for target in (tmp_path / "many", tmp_path / "one" / "traces.jsonl"):
            file = open_target(target, FileLimits(max_file_bytes=10, max_total_bytes=30))
            append(file, LINE, LINE, LINE, LINE)
            assert file.append(LINE) == Appended(0)
            assert file.close(30)
            folder = target if target.suffix == "" else target.parent
            assert texts_in(folder) == [LINE] * 4


def test_an_interrupted_write_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between two parts of a line leaves nothing of it, and passes through."""
    file = SharedFile(tmp_path / "traces.jsonl", FileLimits())
    original: Callable[[int, bytes], int] = os.write
    written: list[int] = []

    def interrupted(descriptor: int, data: bytes) -> int:
        if written:
            raise KeyboardInterrupt
        written.append(original(descriptor, data[:3]))
        return written[0]

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            file.append(LINE)
    append(file, LINE)
    assert file.close()
    assert (tmp_path / "traces.jsonl").read_bytes() == LINE


def test_a_write_that_takes_nothing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write of no bytes does not make an endless loop."""
    file = SharedFile(tmp_path / "traces.jsonl", FileLimits())
    monkeypatch.setattr(os, "write", lambda descriptor, data: 0)
    appended = file.append(LINE)
    assert appended.kept == 0
    assert isinstance(appended.error, OSError)
    assert file.close()


@pytest.mark.parametrize("path", ["x" * 300 + ".jsonl", "d/" * 2500 + "traces.jsonl", "d/" * 1200 + "traces.jsonl"])
def test_a_path_that_is_too_long_is_an_error_of_the_file(path: str, tmp_path: Path) -> None:
    """However long a path is, it is written to or its error is told."""
    (tmp_path / "beside").touch()
    file = open_target(tmp_path / path, FileLimits())
    appended = file.append(LINE)
    assert file.close()
    if appended.error is None:
        assert appended.kept == len(LINE)
        (tmp_path / path).unlink()
        # Too deep for whoever tidies up by recursion.
        os.removedirs((tmp_path / path).parent)
    else:
        assert appended.error.errno == errno.ENAMETOOLONG
    assert [file.name for file in tmp_path.iterdir()] == ["beside"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files")
def test_no_file_stays_open(tmp_path: Path) -> None:
    """Rotation, removal and compression leave neither files nor threads behind."""
    before = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    for target in (tmp_path / "many", tmp_path / "one" / "traces.jsonl"):
        file = open_target(target, FileLimits(max_file_bytes=10))
        append(file, *[LINE] * 200)
        for _ in range(50):
            shutil.rmtree(target if target.suffix == "" else target.parent, ignore_errors=True)
            append(file, LINE)
        assert file.close(30)
    wait_until(lambda: (len(list(Path("/proc/self/fd").iterdir())), threading.active_count()) == before)
