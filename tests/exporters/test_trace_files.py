"""Facts about the files themselves: their names, their ends, and what becomes of them when they are closed."""

from __future__ import annotations

import errno
import gzip
import logging
import os
import re
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fault_calls import FailingCalls

from pixie_otel.diagnostics import internal_errors
from pixie_otel.exporters import leases, rotation, trace_files
from pixie_otel.exporters.rotation import (
    DiskSpace,
    compress_file,
    own_file_name,
    own_files,
    rotated_file_name,
    rotated_files,
)
from pixie_otel.exporters.trace_files import Appended, FileLimits, SharedFile, TraceFile, TraceFolder, open_target

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")

_LINE = b"a line\n"


def _append(file: TraceFile, *lines: bytes) -> None:
    for line in lines:
        assert file.append(line) == Appended(len(line))


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _texts(folder: Path) -> list[bytes]:
    """Give what all files hold, the oldest first."""
    files = sorted((path for path in folder.iterdir() if path.is_file()), key=lambda path: path.stat().st_mtime_ns)
    return [gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes() for file in files]


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
    _append(file, _LINE)
    assert file.close()
    assert (tmp_path / "traces.jsonl").read_bytes() == _LINE


def test_files_and_folders_are_the_users_alone(tmp_path: Path) -> None:
    """Files are made 0600 and every folder on the way 0700, whatever the umask allows."""
    before = os.umask(0)
    try:
        for path in ("a/b/c/", "d/e/f.jsonl"):
            file = open_target(f"{tmp_path}/{path}", FileLimits())
            _append(file, _LINE)
            assert file.close()
    finally:
        os.umask(before)
    modes = {_mode(path) for path in tmp_path.rglob("*") if path.is_file()}
    folders = {_mode(path) for path in tmp_path.rglob("*") if path.is_dir()}
    assert (modes, folders) == ({0o600}, {0o700})


def test_a_file_that_was_there_keeps_its_mode_and_its_lines(tmp_path: Path) -> None:
    """A file of the user's is appended to, and stays as readable as it was made."""
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"before\n")
    path.chmod(0o644)
    file = SharedFile(path, FileLimits())
    _append(file, _LINE)
    assert file.close()
    assert path.read_bytes() == b"before\na line\n"
    assert _mode(path) == 0o644


def test_no_other_program_inherits_the_file(tmp_path: Path) -> None:
    """The descriptors close when another program is executed."""
    for file in (TraceFolder(tmp_path, FileLimits()), SharedFile(tmp_path / "x.jsonl", FileLimits())):
        _append(file, _LINE)
        assert file._descriptor is not None
        assert not os.get_inheritable(file._descriptor)
        assert file.close()


def test_the_name_tells_host_process_and_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's name in a folder is unique, and cannot leave the folder whatever the host is called."""
    monkeypatch.setattr("socket.gethostname", lambda: "../a host:1")
    file = TraceFolder(tmp_path, FileLimits())
    _append(file, _LINE)
    assert file.close()
    (path,) = tmp_path.iterdir()
    assert re.fullmatch(rf"traces-\.\._a_host_1-{os.getpid()}-\d{{8}}T\d{{6}}Z-[0-9a-f]{{8}}\.jsonl", path.name)
    assert own_files().fullmatch(path.name)
    assert len({own_file_name() for _ in range(100)}) == 100


def test_only_names_of_ours_are_ours() -> None:
    """Nothing that somebody else named can be taken for a file to delete."""
    name = own_file_name()
    rotated = rotated_file_name(Path("/x/traces.v1.jsonl"))
    assert own_files().fullmatch(name)
    assert own_files().fullmatch(f"{name}.gz")
    assert rotated_files(Path("/x/traces.v1.jsonl")).fullmatch(rotated)
    assert rotated_files(Path("/x/traces.v1.jsonl")).fullmatch(f"{rotated}.gz")
    for other in ("traces.jsonl", "traces-2026.jsonl", f"{name}.bak", f"my-{name}", rotated, f".{name}.gz.0123.tmp"):
        assert not own_files().fullmatch(other)
    for other in ("traces.v1.jsonl", name, "tracesXv1-20261130T120000Z-01234567.jsonl"):
        assert not rotated_files(Path("/x/traces.v1.jsonl")).fullmatch(other)


@pytest.mark.parametrize("tail", [b'{"torn', b"\0\0\0", b"x"])
def test_a_torn_end_is_left_alone(tail: bytes, tmp_path: Path) -> None:
    """After a crash the unfinished line stays, and the next one starts behind it on a line of its own."""
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"whole\n" + tail)
    file = SharedFile(path, FileLimits())
    _append(file, _LINE, _LINE)
    assert file.close()
    assert path.read_bytes() == b"whole\n" + tail + b"\na line\na line\n"


def test_a_full_file_is_followed_by_another(tmp_path: Path) -> None:
    """By size, at the end of a line: no file is larger than it may be, and every line is in one."""
    for target in (tmp_path / "many", tmp_path / "one" / "traces.jsonl"):
        lines = [b"line %03d\n" % number for number in range(20)]
        file = open_target(target, FileLimits(max_file_bytes=30), compress=False)
        _append(file, *lines)
        assert file.close()
        texts = _texts(target if target.suffix == "" else target.parent)
        assert sorted(b"".join(texts).splitlines(keepends=True)) == lines
        assert {len(text) for text in texts} == {27, 18}
        assert len(texts) == 7


def test_a_line_longer_than_a_file_may_be_has_one_for_itself(tmp_path: Path) -> None:
    """The bound of a file never splits or drops a line."""
    file = TraceFolder(tmp_path, FileLimits(max_file_bytes=10), compress=False)
    _append(file, b"x" * 100 + b"\n", b"y\n")
    assert file.close()
    assert sorted(map(len, _texts(tmp_path))) == [2, 101]


def test_an_old_file_is_followed_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By age: the first line after the time is the first of a new file."""
    moment = 1000.0
    monkeypatch.setattr(trace_files.time, "monotonic", lambda: moment)
    for target in (tmp_path / "many", tmp_path / "one" / "traces.jsonl"):
        file = open_target(target, FileLimits(max_file_seconds=60), compress=False)
        _append(file, b"1\n")
        moment += 59
        _append(file, b"2\n")
        moment += 1
        _append(file, b"3\n")
        assert file._compression is None
        assert file.close()
        assert sorted(_texts(target if target.suffix == "" else target.parent)) == [b"1\n2\n", b"3\n"]


def test_closed_files_are_compressed(tmp_path: Path) -> None:
    """What was rotated is gzipped for the user alone, the current file is not, and nothing else is left behind."""
    for target in (tmp_path / "many", tmp_path / "one" / "traces.jsonl"):
        folder = target if target.suffix == "" else target.parent
        file = open_target(target, FileLimits(max_file_bytes=30))
        _append(file, *[b"line %03d\n" % number for number in range(20)])
        assert file.close(30)
        names = [path.name for path in folder.iterdir()]
        assert sum(name.endswith(".jsonl.gz") for name in names) == 6
        assert sum(name.endswith(".jsonl") for name in names) == 1
        assert {_mode(path) for path in folder.iterdir()} == {0o600}
        assert len(b"".join(_texts(folder)).splitlines()) == 20


def test_a_compressed_file_keeps_its_time(tmp_path: Path) -> None:
    """The oldest stays the oldest, by when it was last written to."""
    path = tmp_path / own_file_name()
    path.write_bytes(_LINE)
    os.utime(path, ns=(5, 5))
    compress_file(path)
    (packed,) = tmp_path.iterdir()
    assert packed.stat().st_mtime_ns == 5
    assert gzip.decompress(packed.read_bytes()) == _LINE


@pytest.mark.parametrize("function", ["open", "fsync", "replace", "utime"])
def test_a_file_that_cannot_be_compressed_stays(function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fails, the plain file is still there, and no part of a compressed one."""
    path = tmp_path / own_file_name()
    path.write_bytes(_LINE)
    calls = FailingCalls(monkeypatch, "open", "fsync", "replace", "utime", "unlink")
    calls.fail(function, 2 if function == "open" else 1, errno.ENOSPC)
    with pytest.raises(OSError, match="No space"):
        compress_file(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == _LINE


def test_a_failed_compression_is_said_and_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Rotation goes on where compression fails, and no fault of ours is counted."""
    calls = FailingCalls(monkeypatch, "replace")
    calls.fail_always("replace", errno.ENOSPC)
    before = internal_errors()
    file = TraceFolder(tmp_path, FileLimits(max_file_bytes=10))
    with caplog.at_level(logging.INFO, "pixie_otel"):
        _append(file, *[_LINE] * 4)
        assert file.close(30)
    assert _texts(tmp_path) == [_LINE] * 4
    assert "cannot be compressed: No space left on device" in caplog.text
    assert internal_errors() == before


def test_both_forms_of_a_file_become_one(tmp_path: Path) -> None:
    """Where a crash left a file plain and compressed, the next look at the room takes the plain one away."""
    name = own_file_name()
    (tmp_path / name).write_bytes(_LINE)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(_LINE))
    assert DiskSpace(tmp_path, own_files(), 10**6).take(1)
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.gz"]


def test_what_a_crash_left_of_a_compression_goes(tmp_path: Path) -> None:
    """Half a compressed file is deleted after a minute, unless somebody still writes it; readers never see it."""
    old, new, held = (tmp_path / f".{own_file_name()}.gz.0123456{number}.tmp" for number in range(3))
    for path in (old, new, held):
        path.write_bytes(b"half")
    for path in (old, held):
        os.utime(path, (time.time() - 100,) * 2)
    with held.open("rb") as stream:
        assert leases.lease(stream.fileno())
        assert DiskSpace(tmp_path, own_files(), 10**6).take(1)
    assert sorted(tmp_path.iterdir()) == sorted([new, held])


def test_the_oldest_closed_files_make_room(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Below the bound of all files the oldest are deleted, and that is said once; other files are nobody's business."""
    for other in ("notes.txt", "traces.jsonl", f"my-{own_file_name()}"):
        (tmp_path / other).write_bytes(b"x" * 1000)
    file = TraceFolder(tmp_path, FileLimits(max_total_bytes=100), compress=False)
    with caplog.at_level(logging.INFO, "pixie_otel"):
        for number in range(50):
            _append(file, b"line %04d\n" % number)
            texts = _texts(tmp_path)
            assert sum(map(len, texts)) - 3000 <= 100
    assert file.deleted_files > 10
    assert file.close()
    kept = b"".join(text for text in _texts(tmp_path) if len(text) < 1000).splitlines()
    assert kept == [b"line %04d" % number for number in range(50 - len(kept), 50)]
    assert len(kept) >= 5
    assert caplog.text.count("the oldest trace files are deleted") == 1


def test_a_shared_file_makes_room_too(tmp_path: Path) -> None:
    """What was rotated from a file is deleted, the file itself never."""
    file = SharedFile(tmp_path / "traces.jsonl", FileLimits(max_total_bytes=100), compress=False)
    for number in range(50):
        _append(file, b"line %04d\n" % number)
        assert sum(map(len, _texts(tmp_path))) <= 100
    assert file.close()
    assert (tmp_path / "traces.jsonl").exists()


def test_a_file_that_is_open_is_not_deleted(tmp_path: Path) -> None:
    """Where all files are somebody's, there is no room: nothing is written, until a file is closed."""
    others = [TraceFolder(tmp_path, FileLimits()) for _ in range(4)]
    for other in others:
        _append(other, b"x" * 24 + b"\n")
    file = TraceFolder(tmp_path, FileLimits(max_total_bytes=100))
    assert file.append(_LINE) == Appended(0)
    assert others[0].close()
    _append(file, _LINE)
    assert len(_texts(tmp_path)) == 4
    for each in (*others[1:], file):
        assert each.close()


def test_a_folder_that_cannot_be_listed_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Rather too much on the disk than nothing; that the bound is not kept to is said."""

    def refuse(_: Path) -> None:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(rotation.os, "scandir", refuse)
    file = TraceFolder(tmp_path, FileLimits(max_total_bytes=100))
    _append(file, _LINE)
    assert file.close()
    assert "max_total_bytes is not kept to" in caplog.text


def test_without_a_bound_nothing_is_deleted(tmp_path: Path) -> None:
    """No bound, no listing of the folder."""
    assert DiskSpace(tmp_path / "nowhere", own_files(), None).take(10**12)


def test_a_file_that_was_rotated_by_another_is_left(tmp_path: Path) -> None:
    """Two writers of one file follow each other's rotation, and no line gets lost."""
    limits = FileLimits(max_file_bytes=40)
    first, second = (SharedFile(tmp_path / "traces.jsonl", limits) for _ in range(2))
    for number in range(20):
        _append(first, b"first %02d\n" % number)
        _append(second, b"second %02d\n" % number)
    assert first.close(30)
    assert second.close(30)
    assert len(b"".join(_texts(tmp_path)).splitlines()) == 40


def test_a_file_that_cannot_be_rotated_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the next file cannot be begun, lines go into the old one, and nothing is lost."""
    for function, target in (("rename", tmp_path / "one" / "traces.jsonl"), ("open", tmp_path / "many")):
        file = open_target(target, FileLimits(max_file_bytes=10), compress=False)
        _append(file, _LINE)
        with monkeypatch.context() as patch:
            FailingCalls(patch, function).fail_always(function, errno.EACCES)
            _append(file, _LINE)
        _append(file, _LINE)
        assert file.close()
        folder = target if target.suffix == "" else target.parent
        assert sorted(_texts(folder)) == [_LINE, _LINE * 2]


def test_a_file_that_is_replaced_all_the_time_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer does not chase for ever what somebody else keeps replacing."""
    monkeypatch.setattr(trace_files, "is_at", lambda descriptor, path: False)
    file = SharedFile(tmp_path / "traces.jsonl", FileLimits())
    appended = file.append(_LINE)
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
        _append(file, _LINE)
        assert file.close()
        assert path.read_bytes() == b"01234\na line\n"

    def test_a_file_of_one_process_is_cut(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """In a folder nobody else writes to the file, so that half a line can be taken back."""
        file = TraceFolder(tmp_path, FileLimits())
        calls = FailingCalls(monkeypatch, "write")
        calls.write_short(1)
        calls.fail("write", 2, errno.ENOSPC)
        assert file.append(b"0123456789\n").kept == 0
        _append(file, _LINE)
        assert file.close()
        assert _texts(tmp_path) == [_LINE]

    def test_nothing_is_compressed_or_deleted(self, tmp_path: Path) -> None:
        """What cannot be known to be closed is left as it is, and the bound is kept by writing no more."""
        for target in (tmp_path / "many", tmp_path / "one" / "traces.jsonl"):
            file = open_target(target, FileLimits(max_file_bytes=10, max_total_bytes=30))
            _append(file, _LINE, _LINE, _LINE, _LINE)
            assert file.append(_LINE) == Appended(0)
            assert file.close(30)
            folder = target if target.suffix == "" else target.parent
            assert _texts(folder) == [_LINE] * 4


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
            file.append(_LINE)
    _append(file, _LINE)
    assert file.close()
    assert (tmp_path / "traces.jsonl").read_bytes() == _LINE


def test_a_write_that_takes_nothing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write of no bytes does not make an endless loop."""
    file = SharedFile(tmp_path / "traces.jsonl", FileLimits())
    monkeypatch.setattr(os, "write", lambda descriptor, data: 0)
    appended = file.append(_LINE)
    assert appended.kept == 0
    assert isinstance(appended.error, OSError)
    assert file.close()
