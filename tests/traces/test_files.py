"""From what the user typed to the inputs behind it."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from opening import LINE, kinds, read

from pixie_otel.errors import InputError
from pixie_otel.traces.files import Source, find_sources, open_source
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.report import ReadReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="there are no such things on Windows")


def names(*paths: str | os.PathLike[str]) -> list[str]:
    """Find sources and give their names."""
    return [source.name for source in find_sources(paths)]


class Stdin(io.TextIOWrapper):
    """Standard input that holds some bytes and is no terminal."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))


class TestFindSources:
    """`find_sources`."""

    def test_a_file_is_taken_whatever_its_name(self, tmp_path: Path) -> None:
        """A file that the user names needs no suffix."""
        path = tmp_path / "export.txt"
        path.write_bytes(LINE)

        assert find_sources([path]) == [Source(str(path), str(path), is_stream=False)]

    def test_a_folder_gives_its_trace_files_sorted(self, tmp_path: Path) -> None:
        """Folders are searched to any depth; other files and hidden ones are left out."""
        for name in ("b.jsonl", "a.JSON", "c/d.ndjson.gz", "c/e.jsonl.zst", "notes.txt", ".hidden.json", ".git/x.json"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(LINE)

        found = [Path(name).relative_to(tmp_path).as_posix() for name in names(tmp_path)]

        assert found == ["a.JSON", "b.jsonl", "c/d.ndjson.gz", "c/e.jsonl.zst"]

    def test_a_pattern_is_expanded_when_the_shell_did_not(self, tmp_path: Path) -> None:
        """A glob may match files at any depth, and folders."""
        for name in ("a.jsonl", "b.jsonl", "c/d.jsonl", "empty/notes.txt"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(LINE)

        assert names(tmp_path / "*.jsonl") == [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
        assert names(tmp_path / "[c-e]*") == [str(tmp_path / "c" / "d.jsonl")]
        assert len(names(tmp_path / "**" / "*.jsonl")) == 3

    def test_a_file_called_like_a_pattern_is_that_file(self, tmp_path: Path) -> None:
        """What exists is no pattern."""
        path = tmp_path / "a[1].jsonl"
        path.write_bytes(LINE)

        assert names(path) == [str(path)]

    @posix_only
    def test_the_same_file_is_given_once(self, tmp_path: Path) -> None:
        """Twice the same path, a hard link, a symbolic link and an overlapping glob are one file."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(LINE)
        os.link(path, tmp_path / "hard.jsonl")
        (tmp_path / "soft.jsonl").symlink_to(path)

        assert names(path, path, tmp_path / "*.jsonl", tmp_path, tmp_path / "soft.jsonl") == [str(path)]

    @posix_only
    def test_links_in_a_circle_end(self, tmp_path: Path) -> None:
        """A link back to a folder above does not make the search endless."""
        (tmp_path / "inner").mkdir()
        (tmp_path / "inner" / "a.jsonl").write_bytes(LINE)
        (tmp_path / "inner" / "up").symlink_to(tmp_path)

        assert names(tmp_path) == [str(tmp_path / "inner" / "a.jsonl")]

    @posix_only
    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("missing.jsonl", "no such file or folder"),
            ("*.nothing", "nothing matches"),
            ("empty", "no trace files in this folder"),
            ("file.jsonl/x", "not a directory"),
            ("loop", "too many levels of symbolic links"),
            ("fifo", "this is a named pipe"),
            ("socket", "this is a socket"),
            ("nul\0byte", "null byte"),
        ],
    )
    def test_what_cannot_be_read_is_said(
        self, tmp_path: Path, name: str, message: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each thing that is no input ends in a message that names it and the reason."""
        monkeypatch.chdir(tmp_path)
        Path("empty").mkdir()
        Path("file.jsonl").write_bytes(LINE)
        Path("loop").symlink_to("loop")
        os.mkfifo("fifo")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket")

            with pytest.raises(InputError, match=message) as raised:
                find_sources([name])
        assert str(raised.value).startswith(f"{name}: ")

    @posix_only
    @pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
    def test_a_device_is_refused(self, device: str) -> None:
        """A device has no end, or nothing in it."""
        with pytest.raises(InputError, match=f"{device}: this is a device"):
            find_sources([device])

    @posix_only
    def test_a_named_pipe_in_a_folder_is_refused(self, tmp_path: Path) -> None:
        """Reading a pipe that nobody writes to would wait for ever."""
        os.mkfifo(tmp_path / "a.jsonl")

        with pytest.raises(InputError, match="named pipe"):
            find_sources([tmp_path])

    @posix_only
    def test_a_dangling_link_in_a_folder_is_said(self, tmp_path: Path) -> None:
        """A link to nothing is an error, not a file less."""
        (tmp_path / "a.jsonl").symlink_to(tmp_path / "gone")

        with pytest.raises(InputError, match=r"a\.jsonl: no such file"):
            find_sources([tmp_path])

    def test_no_permission_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file that may not be read is an error before anything is read."""
        (tmp_path / "a.jsonl").write_bytes(LINE)

        def refuse(path: str, mode: int) -> bool:
            return False

        monkeypatch.setattr(os, "access", refuse)

        with pytest.raises(InputError, match="permission denied"):
            find_sources([tmp_path])

    def test_a_folder_that_may_not_be_searched_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A folder that cannot be listed is an error, not an empty folder."""

        def refuse(path: str) -> Iterable[os.DirEntry[str]]:
            raise PermissionError(13, "Permission denied", path)

        monkeypatch.setattr(os, "scandir", refuse)

        with pytest.raises(InputError, match="permission denied"):
            find_sources([tmp_path])

    def test_no_path_at_all_is_said(self) -> None:
        """Nothing typed is nothing to read."""
        with pytest.raises(InputError, match="no path was given"):
            find_sources([])

    @posix_only
    def test_a_name_that_is_no_text_can_be_shown(self, tmp_path: Path) -> None:
        """Names on disk need not be valid UTF-8; the name for people always is."""
        path = os.path.join(os.fsencode(tmp_path), b"a\xff.jsonl")  # noqa: PTH118 - bytes
        with open(path, "wb") as file:  # noqa: PTH123 - bytes
            file.write(LINE)

        (source,) = find_sources([tmp_path])

        assert source.name.encode().endswith(rb"a\udcff.jsonl")
        assert read(os.fsdecode(path)) == LINE

    def test_the_home_folder_may_be_written_as_a_tilde(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Python callers have no shell that expands it."""
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "a.jsonl").write_bytes(LINE)

        assert names("~/a.jsonl") == [str(tmp_path / "a.jsonl")]

    def test_files_of_a_system_that_numbers_none_stay_apart(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where every inode is 0, paths tell files apart."""
        (tmp_path / "a.jsonl").write_bytes(LINE)
        (tmp_path / "b.jsonl").write_bytes(LINE)
        real = os.stat

        def unnumbered(path: str) -> os.stat_result:
            status = list(real(path))
            status[1] = 0
            return os.stat_result(status)

        monkeypatch.setattr(os, "stat", unnumbered)

        assert len(find_sources([str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")])) == 2

    def test_files_that_are_packed_or_deleted_while_a_folder_is_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Writers pack what is full: such a file is read by its new name; one that is gone altogether is left out."""
        for name in ("found.jsonl", "listed.jsonl", "deleted.jsonl"):
            (tmp_path / name).write_bytes(LINE)

        def pack(name: str) -> None:
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(LINE))
            (tmp_path / name).unlink()

        walk = os.walk

        def busy(folder: str, **options: Any) -> Iterator[tuple[str, list[str], list[str]]]:
            for level in list(walk(folder, **options)):
                (tmp_path / "deleted.jsonl").unlink()
                pack("listed.jsonl")
                yield level

        monkeypatch.setattr(os, "walk", busy)
        sources = find_sources([tmp_path])
        pack("found.jsonl")
        texts = []
        for source in sources:
            with open_source(source, limits=ReadLimits(), report=ReadReport()) as opened:
                texts.append((Path(opened.name).name, opened.pread(0, opened.size)))

        assert texts == [("found.jsonl.gz", LINE), ("listed.jsonl.gz", LINE)]

    def test_a_file_that_is_deleted_after_it_was_found(self, tmp_path: Path) -> None:
        """Writers delete the oldest to make room: such a file is reported, and the others are read."""
        for name in ("oldest.jsonl.gz", "newest.jsonl"):
            (tmp_path / name).write_bytes(LINE)
        sources = find_sources([tmp_path])
        (tmp_path / "oldest.jsonl.gz").unlink()
        report = ReadReport()
        texts = []
        for source in sources:
            with open_source(source, limits=ReadLimits(), report=report) as opened:
                texts.append(opened.pread(0, opened.size))

        assert texts == [LINE, b""]
        assert kinds(report) == ["gone-file"]


class TestStandardInput:
    """Standard input and pipes."""

    def test_dash_reads_standard_input_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """`-` and /dev/stdin, however often, are one input, with a digest as it cannot be read again."""
        monkeypatch.setattr(sys, "stdin", Stdin(LINE * 2))
        report = ReadReport()

        (source,) = find_sources(["-", "-", "/dev/stdin"])
        with open_source(source, limits=ReadLimits(), report=report) as opened:
            assert opened.pread(0, opened.size) == LINE * 2
            assert opened.pread(len(LINE), len(LINE)) == LINE

        assert source.name == "<stdin>"
        assert report.source("<stdin>").sha256 == hashlib.sha256(LINE * 2).hexdigest()

    def test_compressed_standard_input_is_unpacked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is piped in may be packed."""
        monkeypatch.setattr(sys, "stdin", Stdin(gzip.compress(LINE)))

        assert read("-") == LINE

    def test_a_terminal_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Waiting for somebody to type OTLP would look like a hang."""
        pty = pytest.importorskip("pty")
        main, follower = pty.openpty()
        with os.fdopen(follower) as terminal, os.fdopen(main, "rb"):
            monkeypatch.setattr(sys, "stdin", terminal)

            with pytest.raises(InputError, match="terminal"):
                find_sources(["-"])

    def test_no_standard_input_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A process may have been started without one."""
        monkeypatch.setattr(sys, "stdin", None)

        with pytest.raises(InputError, match="there is no standard input"):
            find_sources(["-"])

    def test_standard_input_that_is_a_named_file_is_read_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`eval a.jsonl - < a.jsonl` reads the file once."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(LINE)
        with path.open() as redirected:
            monkeypatch.setattr(sys, "stdin", redirected)

            assert names(path, "-") == [str(path)]

    @posix_only
    def test_process_substitution_is_a_stream(self) -> None:
        """`<(command)` is a pipe under /dev/fd, and is read as it comes."""
        reading, writing = os.pipe()

        def write() -> None:
            with os.fdopen(writing, "wb", buffering=0) as pipe:
                for byte in LINE:
                    pipe.write(bytes([byte]))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert read(f"/dev/fd/{reading}") == LINE
        finally:
            writer.join()
            os.close(reading)

    def test_a_real_pipe_into_a_process(self) -> None:
        """In a process of its own, `-` reads what is piped in."""
        program = (
            "from pixie_otel.traces.files import *; from pixie_otel.traces.limits import *; "
            "from pixie_otel.traces.report import *; "
            "print(open_source(find_sources(['-', '/dev/stdin'])[0], limits=ReadLimits(), report=ReadReport()).size)"
        )

        done = subprocess.run([sys.executable, "-c", program], input=LINE * 3, capture_output=True, check=True)

        assert int(done.stdout) == 3 * len(LINE)

    def test_a_read_error_keeps_what_came_before(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A pipe that breaks costs the rest of it."""

        class Breaking(io.BytesIO):
            def read(self, size: int | None = -1, /) -> bytes:
                data = super().read(size)
                if not data:
                    raise OSError(5, "Input/output error")
                return data

        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Breaking(LINE * 20_000)))
        report = ReadReport()

        assert read("-", report).startswith(LINE)
        assert kinds(report) == ["read-error"]

    def test_a_descriptor_that_does_not_wait_is_a_read_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """No data for now is not the end of the data."""

        class Impatient(io.BytesIO):
            def read(self, size: int | None = -1, /) -> bytes:
                return None  # type: ignore[return-value]

        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Impatient()))
        report = ReadReport()

        assert read("-", report) == b""
        assert "non-blocking" in report.problems[0].message
