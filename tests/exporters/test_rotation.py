"""Facts about closed files: their names, their compression, and the room that all take together."""

from __future__ import annotations

import errno
import gzip
import logging
import os
import sys
import time
from pathlib import Path

import pytest
from fault_calls import FailingCalls
from fault_files import LINE, append, mode_of, texts_in

from pixie_otel.diagnostics import internal_errors
from pixie_otel.exporters import leases, rotation
from pixie_otel.exporters.rotation import (
    DiskSpace,
    compress_file,
    own_file_name,
    own_files,
    rotated_file_name,
    rotated_files,
)
from pixie_otel.exporters.trace_files import Appended, FileLimits, SharedFile, TraceFolder, open_target

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")


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


def test_closed_files_are_compressed(tmp_path: Path) -> None:
    """What was rotated is gzipped for the user alone, the current file is not, and nothing else is left behind."""
    for target in (tmp_path / "many", tmp_path / "one" / "traces.jsonl"):
        folder = target if target.suffix == "" else target.parent
        file = open_target(target, FileLimits(max_file_bytes=30))
        append(file, *[b"line %03d\n" % number for number in range(20)])
        assert file.close(30)
        names = [path.name for path in folder.iterdir()]
        assert sum(name.endswith(".jsonl.gz") for name in names) == 6
        assert sum(name.endswith(".jsonl") for name in names) == 1
        assert {mode_of(path) for path in folder.iterdir()} == {0o600}
        assert len(b"".join(texts_in(folder)).splitlines()) == 20


def test_a_compressed_file_keeps_its_time(tmp_path: Path) -> None:
    """The oldest stays the oldest, by when it was last written to."""
    path = tmp_path / own_file_name()
    path.write_bytes(LINE)
    os.utime(path, ns=(5, 5))
    compress_file(path)
    (packed,) = tmp_path.iterdir()
    assert packed.stat().st_mtime_ns == 5
    assert gzip.decompress(packed.read_bytes()) == LINE


@pytest.mark.parametrize("function", ["open", "fsync", "replace", "utime"])
def test_a_file_that_cannot_be_compressed_stays(function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fails, the plain file is still there, and no part of a compressed one."""
    path = tmp_path / own_file_name()
    path.write_bytes(LINE)
    calls = FailingCalls(monkeypatch, "open", "fsync", "replace", "utime", "unlink")
    calls.fail(function, 2 if function == "open" else 1, errno.ENOSPC)
    with pytest.raises(OSError, match="No space"):
        compress_file(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == LINE


def test_a_failed_compression_is_said_and_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Rotation goes on where compression fails, and no fault of ours is counted."""
    calls = FailingCalls(monkeypatch, "replace")
    calls.fail_always("replace", errno.ENOSPC)
    before = internal_errors()
    file = TraceFolder(tmp_path, FileLimits(max_file_bytes=10))
    with caplog.at_level(logging.INFO, "pixie_otel"):
        append(file, *[LINE] * 4)
        assert file.close(30)
    assert texts_in(tmp_path) == [LINE] * 4
    assert "cannot be compressed: No space left on device" in caplog.text
    assert internal_errors() == before


def test_both_forms_of_a_file_become_one(tmp_path: Path) -> None:
    """Where a crash left a file plain and compressed, the next look at the room takes the plain one away."""
    name = own_file_name()
    (tmp_path / name).write_bytes(LINE)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(LINE))
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
            append(file, b"line %04d\n" % number)
            texts = texts_in(tmp_path)
            assert sum(map(len, texts)) - 3000 <= 100
    assert file.deleted_files > 10
    assert file.close()
    kept = b"".join(text for text in texts_in(tmp_path) if len(text) < 1000).splitlines()
    assert kept == [b"line %04d" % number for number in range(50 - len(kept), 50)]
    assert len(kept) >= 5
    assert caplog.text.count("the oldest trace files are deleted") == 1


def test_a_shared_file_makes_room_too(tmp_path: Path) -> None:
    """What was rotated from a file is deleted, the file itself never."""
    file = SharedFile(tmp_path / "traces.jsonl", FileLimits(max_total_bytes=100), compress=False)
    for number in range(50):
        append(file, b"line %04d\n" % number)
        assert sum(map(len, texts_in(tmp_path))) <= 100
    assert file.close()
    assert (tmp_path / "traces.jsonl").exists()


def test_a_file_that_is_open_is_not_deleted(tmp_path: Path) -> None:
    """Where all files are somebody's, there is no room: nothing is written, until a file is closed."""
    others = [TraceFolder(tmp_path, FileLimits()) for _ in range(4)]
    for other in others:
        append(other, b"x" * 24 + b"\n")
    file = TraceFolder(tmp_path, FileLimits(max_total_bytes=100))
    assert file.append(LINE) == Appended(0)
    assert others[0].close()
    append(file, LINE)
    assert len(texts_in(tmp_path)) == 4
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
    append(file, LINE)
    assert file.close()
    assert "max_total_bytes is not kept to" in caplog.text


def test_without_a_bound_nothing_is_deleted(tmp_path: Path) -> None:
    """No bound, no listing of the folder."""
    assert DiskSpace(tmp_path / "nowhere", own_files(), None).take(10**12)


def test_what_is_larger_than_all_the_room_deletes_nothing(tmp_path: Path) -> None:
    """A line for which there cannot be room costs no other file."""
    file = TraceFolder(tmp_path, FileLimits(max_file_bytes=10, max_total_bytes=100), compress=False)
    append(file, *[LINE] * 5)
    assert file.append(b"x" * 200 + b"\n") == Appended(0)
    assert file.close()
    assert texts_in(tmp_path) == [LINE] * 5


def test_room_is_not_made_anew_for_every_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full folder is looked through once for many writes, however small its files are."""
    for _ in range(100):
        (tmp_path / own_file_name()).write_bytes(b"x" * 10)
    calls = FailingCalls(monkeypatch, "scandir")
    space = DiskSpace(tmp_path, own_files(), 1000)
    assert all(space.take(1) for _ in range(40))
    assert calls.calls["scandir"] <= 3


def test_a_search_for_room_that_is_much_work_is_not_made_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a look takes long and finds nothing to delete, it is made again after ten times as long."""
    moment, worked = 1000.0, 0.0

    def work() -> float:
        nonlocal worked
        worked += 0.5
        return worked

    monkeypatch.setattr(rotation.time, "monotonic", lambda: moment)
    monkeypatch.setattr(rotation.time, "thread_time", work)
    calls = FailingCalls(monkeypatch, "scandir")
    held = TraceFolder(tmp_path, FileLimits())
    append(held, b"x" * 99 + b"\n")
    space = DiskSpace(tmp_path, own_files(), 100)
    assert not any(space.take(1) for _ in range(10))
    assert calls.calls["scandir"] == 1
    assert held.close()
    moment += 5
    assert space.take(1)
