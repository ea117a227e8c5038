"""From what the user typed to the bytes of each input."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import random
import socket
import subprocess
import sys
import threading
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pixie_otel.errors import InputError, MissingExtraError
from pixie_otel.traces.files import Source, file_digest, find_sources, open_source
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.report import ReadReport
from pixie_otel.traces.stored import Spool

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LINE = b'{"resourceSpans":[]}\n'
MIB = 1024 * 1024
NOISE = random.Random(1).randbytes(MIB)  # what does not pack

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="there are no such things on Windows")


def names(*paths: str | os.PathLike[str]) -> list[str]:
    """Find sources and give their names."""
    return [source.name for source in find_sources(paths)]


def read(path: Path | str, report: ReadReport | None = None, limits: ReadLimits | None = None) -> bytes:
    """Open one path and give its text."""
    (source,) = find_sources([path])
    with open_source(source, limits=limits or ReadLimits(), report=report or ReadReport()) as opened:
        with opened.reader() as reader:
            data = reader.read()
        assert len(data) == opened.size
        return data


def kinds(report: ReadReport) -> list[str]:
    """Give the kinds of the problems."""
    return [problem.kind for problem in report.problems]


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


class TestOpenPlain:
    """`open_source` on files read where they lie."""

    def test_a_plain_file_is_read_in_order_and_from_any_offset(self, tmp_path: Path) -> None:
        """The position of one reader moves neither another one nor `pread`."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"first\nsecond\n")
        report = ReadReport()

        with (
            open_source(find_sources([path])[0], limits=ReadLimits(), report=report) as opened,
            opened.reader() as one,
            opened.reader() as other,
        ):
            assert one.readline() == b"first\n"
            assert opened.pread(6, 6) == b"second"
            assert other.readline() == b"first\n"
            assert one.readline() == b"second\n"
            assert one.seekable()
            assert one.seek(6) == 6
            assert one.read() == b"second\n"
            with pytest.raises(io.UnsupportedOperation):
                one.raw.seek(0, os.SEEK_END)
        assert report.source(str(path)).bytes == 13
        assert not report.problems

    def test_a_closed_file_can_still_be_read_by_offset(self, tmp_path: Path) -> None:
        """Thousands of files need not stay open between two passes."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(LINE)
        opened = open_source(find_sources([path])[0], limits=ReadLimits(), report=ReadReport())
        opened.close()
        opened.close()

        assert opened.pread(1, 15) == LINE[1:16]
        assert opened.growth() == 0

    def test_a_file_cut_short_in_between_is_an_error(self, tmp_path: Path) -> None:
        """Bytes that are no longer there are not replaced by others."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(LINE)
        with open_source(find_sources([path])[0], limits=ReadLimits(), report=ReadReport()) as opened:
            os.truncate(path, 4)

            with pytest.raises(InputError, match="cut short"):
                opened.pread(0, len(LINE))

    def test_a_file_replaced_in_between_is_an_error(self, tmp_path: Path) -> None:
        """A rotated log has another file at the same path."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(LINE)
        opened = open_source(find_sources([path])[0], limits=ReadLimits(), report=ReadReport())
        opened.close()
        path.rename(tmp_path / "a.jsonl.1")
        path.write_bytes(LINE)

        with pytest.raises(InputError, match="another file took its place"):
            opened.pread(0, 4)

    def test_a_file_removed_in_between_is_an_error(self, tmp_path: Path) -> None:
        """A file that went away is said, with its name."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(LINE)
        source = find_sources([path])[0]
        opened = open_source(source, limits=ReadLimits(), report=ReadReport())
        opened.close()
        path.unlink()

        with pytest.raises(InputError, match="cannot be read again"):
            opened.pread(0, 4)
        with pytest.raises(InputError, match="no such file"):
            open_source(source, limits=ReadLimits(), report=ReadReport())
        with pytest.raises(InputError, match="no such file"):
            open_source(Source("gone", str(path), is_stream=True), limits=ReadLimits(), report=ReadReport())

    def test_an_empty_file_is_reported(self, tmp_path: Path) -> None:
        """Nothing in a file is a fact worth telling."""
        path = tmp_path / "a.jsonl"
        path.touch()
        report = ReadReport()

        assert read(path, report) == b""
        assert kinds(report) == ["empty-file"]

    def test_a_foreign_file_is_named_and_not_read(self, tmp_path: Path) -> None:
        """What is no text costs that file, and the message says what it is."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"PK\x03\x04 and so on")
        report = ReadReport()

        assert read(path, report) == b""
        assert kinds(report) == ["foreign-format"]
        assert "this is a zip archive, not OTLP JSON" in report.problems[0].message

    def test_strict_makes_a_foreign_file_fatal(self, tmp_path: Path) -> None:
        """A strict reading ends at the file."""
        path = tmp_path / "a.csv"
        path.write_bytes(b"trace_id,name\n1,chat\n")

        with pytest.raises(InputError, match="this is CSV"):
            read(path, ReadReport(strict=True))

    def test_digest_of_a_file(self, tmp_path: Path) -> None:
        """The digest is that of the file as it lies, packed or not."""
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(LINE))

        assert file_digest(path) == hashlib.sha256(path.read_bytes()).hexdigest()
        with pytest.raises(InputError, match="no such file"):
            file_digest(tmp_path / "missing")


class TestGzip:
    """`open_source` on gzip."""

    def test_gzip_is_recognised_by_its_content(self, tmp_path: Path) -> None:
        """The name does not matter, and several members are one text."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(gzip.compress(LINE) + gzip.compress(LINE * 2))
        report = ReadReport()

        assert read(path, report) == LINE * 3
        assert not report.problems
        assert report.source(str(path)).bytes == 3 * len(LINE)

    def test_truncated_gzip_keeps_what_was_read(self, tmp_path: Path) -> None:
        """A writer that crashed costs the end of the file."""
        text = b"".join(b'{"n":%d}\n' % number for number in range(50_000))
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(text)[:-2000])
        report = ReadReport()

        data = read(path, report)

        assert text.startswith(data)
        assert len(data) > len(text) // 2
        assert kinds(report) == ["truncated-gzip"]

    def test_a_bad_checksum_at_the_end_keeps_the_text(self, tmp_path: Path) -> None:
        """The checksum comes after the text was unpacked."""
        packed = bytearray(gzip.compress(LINE))
        packed[-6] ^= 0xFF
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(packed)
        report = ReadReport()

        assert read(path, report) == LINE
        assert kinds(report) == ["bad-gzip"]

    def test_damage_in_the_middle_keeps_what_came_before(self, tmp_path: Path) -> None:
        """Flipped bytes cost the rest of the file."""
        packed = bytearray(gzip.compress(NOISE))
        packed[MIB // 2 : MIB // 2 + 200] = b"\xff" * 200
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(packed)
        report = ReadReport()

        read(path, report)

        assert set(kinds(report)) <= {"bad-gzip", "foreign-format"}
        assert kinds(report)

    def test_garbage_after_the_gzip_data_is_reported(self, tmp_path: Path) -> None:
        """What follows the last member is not read as text."""
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(LINE) + b"garbage")
        report = ReadReport()

        assert read(path, report) == LINE
        assert kinds(report) == ["bad-gzip"]

    def test_a_bomb_is_stopped_by_its_ratio(self, tmp_path: Path) -> None:
        """A file that unpacks a thousandfold is stopped, and the message names the limit."""
        packer = zlib.compressobj(9, wbits=31)
        blank = bytes(MIB).replace(b"\x00", b" ")
        path = tmp_path / "bomb.gz"
        path.write_bytes(b"".join(packer.compress(blank) for _ in range(200)) + packer.flush())
        report = ReadReport()

        size = len(read(path, report))

        assert size <= 65 * MIB
        assert kinds(report) == ["compression-bomb"]
        assert "max_ratio" in report.problems[0].message

    def test_honest_text_of_a_high_ratio_passes(self, tmp_path: Path) -> None:
        """Repetitive JSON packs a hundredfold, and is read to its end."""
        text = b"".join(b'{"resourceSpans":[{"scopeSpans":[]}],"n":%d}\n' % n for n in range(100)) * 20_000
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(text))
        report = ReadReport()

        assert len(text) > 64 * MIB
        assert len(text) / path.stat().st_size > 100
        assert len(read(path, report)) == len(text)
        assert not report.problems

    def test_the_unpacked_size_is_capped(self, tmp_path: Path) -> None:
        """A file may unpack to so much and no more."""
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(NOISE.hex().encode()))
        report = ReadReport()

        assert len(read(path, report, ReadLimits(max_decompressed_bytes=MIB))) <= MIB
        assert kinds(report) == ["too-much-data"]
        assert "max_decompressed_bytes" in report.problems[0].message

    @pytest.mark.parametrize("inner", [gzip.compress, zstd.compress])
    def test_a_second_level_is_refused(self, tmp_path: Path, inner: Callable[[bytes], bytes]) -> None:
        """Only one level is unpacked."""
        path = tmp_path / "a.jsonl.gz.gz"
        path.write_bytes(gzip.compress(inner(LINE)))
        report = ReadReport()

        assert read(path, report) == b""
        assert kinds(report) == ["nested-compression"]

    def test_what_is_packed_may_be_foreign(self, tmp_path: Path) -> None:
        """A packed archive is named as well."""
        path = tmp_path / "a.tar.gz"
        path.write_bytes(gzip.compress(b"a.json".ljust(257, b"\0") + b"ustar"))
        report = ReadReport()

        assert read(path, report) == b""
        assert "a tar archive" in report.problems[0].message

    def test_packed_nothing_is_an_empty_file(self, tmp_path: Path) -> None:
        """An empty text is reported whether packed or not."""
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(b""))
        report = ReadReport()

        assert read(path, report) == b""
        assert kinds(report) == ["empty-file"]


class TestZstd:
    """`open_source` on zstd."""

    def test_several_frames_are_one_text(self, tmp_path: Path) -> None:
        """Frames follow one another, and skippable ones say nothing."""
        skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
        path = tmp_path / "a.jsonl.zst"
        path.write_bytes(skippable + zstd.compress(LINE) + skippable + zstd.compress(LINE * 100_000))
        report = ReadReport()

        assert read(path, report) == LINE * 100_001
        assert not report.problems

    def test_truncated_zstd_keeps_what_was_read(self, tmp_path: Path) -> None:
        """A writer that crashed costs the end of the file."""
        packed = zstd.compress(LINE) + zstd.compress(NOISE.hex().encode())[:-1000]
        path = tmp_path / "a.jsonl.zst"
        path.write_bytes(packed)
        report = ReadReport()

        assert read(path, report).startswith(LINE)
        assert kinds(report) == ["truncated-zstd"]

    def test_damaged_zstd_keeps_what_came_before(self, tmp_path: Path) -> None:
        """What follows a frame and is none is damage."""
        path = tmp_path / "a.jsonl.zst"
        path.write_bytes(zstd.compress(LINE) + b"garbage!")
        report = ReadReport()

        assert read(path, report) == LINE
        assert kinds(report) == ["bad-zstd"]

    def test_a_huge_window_is_refused(self, tmp_path: Path) -> None:
        """A frame may ask for gigabytes of memory before its first byte."""
        packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 28})
        path = tmp_path / "a.jsonl.zst"
        path.write_bytes(packer.compress(LINE * 10, mode=packer.FLUSH_BLOCK) + packer.flush())
        report = ReadReport()

        assert read(path, report) == b""
        assert "--long=31" in report.problems[0].message

    def test_a_bomb_is_stopped_by_its_ratio(self, tmp_path: Path) -> None:
        """A zstd bomb packs far better than a gzip one."""
        path = tmp_path / "bomb.zst"
        path.write_bytes(zstd.compress(b" " * (100 * MIB)))
        report = ReadReport()

        assert len(read(path, report)) <= 65 * MIB
        assert kinds(report) == ["compression-bomb"]

    def test_the_collectors_framed_zstd_is_named(self, tmp_path: Path) -> None:
        """Messages packed one by one behind their lengths are no zstd stream, and that is said."""
        message = zstd.compress(LINE)
        path = tmp_path / "data.json.zst"
        path.write_bytes(len(message).to_bytes(4, "big") + message)
        report = ReadReport()

        assert read(path, report) == b""
        assert "collector file exporter" in report.problems[0].message

    def test_without_the_library_the_command_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The message is what to type."""
        path = tmp_path / "a.jsonl.zst"
        path.write_bytes(zstd.compress(LINE))
        monkeypatch.setitem(sys.modules, "backports.zstd", None)
        monkeypatch.setitem(sys.modules, "compression.zstd", None)
        monkeypatch.delattr("backports.zstd", raising=False)

        with pytest.raises(MissingExtraError, match=r"pip install 'pixie-otel\[zstd\]'"):
            read(path)


class TestEncodings:
    """`open_source` on text that is not UTF-8."""

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32-le", "utf-16-be", "utf-32-be"])
    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_a_byte_order_mark_tells_the_encoding(
        self, tmp_path: Path, encoding: str, pack: Callable[[bytes], bytes]
    ) -> None:
        """What a Windows shell redirects is UTF-16, and is read as if it were UTF-8."""
        text = '{"name":"Grüße 😀"}\n' * 20_000
        path = tmp_path / "a.jsonl"
        path.write_bytes(pack(f"\ufeff{text}".encode(encoding)))
        report = ReadReport()

        assert read(path, report) == text.encode()
        assert not report.problems

    def test_broken_utf_16_is_replaced_and_reported(self, tmp_path: Path) -> None:
        """A lone half of a pair, or half a unit at the end, costs that character."""
        path = tmp_path / "a.jsonl"
        path.write_bytes("\ufeffab".encode("utf-16-le") + b"\x00\xd8" + "cd".encode("utf-16-le") + b"x")
        report = ReadReport()

        assert read(path, report).decode().startswith("ab\ufffdcd")
        assert kinds(report) == ["invalid-text"]


class TestSpool:
    """`Spool`."""

    @pytest.mark.parametrize("memory", [0, 10, 1000])
    def test_several_inputs_share_one_spool(self, tmp_path: Path, memory: int) -> None:
        """Each input sees its own bytes, in memory or on disk, also after the others are read and it is closed."""
        texts = [LINE, LINE * 3, b'{"a":1}\n']
        for number, text in enumerate(texts):
            (tmp_path / f"{number}.gz").write_bytes(gzip.compress(text))
        report = ReadReport()

        with Spool(memory) as spool:
            opened = [
                open_source(source, limits=ReadLimits(), report=report, spool=spool)
                for source in find_sources(sorted(tmp_path.iterdir()))
            ]
            for each in opened:
                each.close()

            assert [each.pread(0, each.size) for each in opened] == texts
            assert [each.reader().read() for each in opened] == texts
            assert [each.growth() for each in opened] == [0, 0, 0]

    def test_a_full_disk_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """No room in the temporary folder ends in a message that names it."""

        def fail(**_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("tempfile.TemporaryFile", fail)

        with Spool(0) as spool, pytest.raises(InputError, match="No space left on device; make room there"):
            spool.append(LINE)

    def test_the_spool_of_a_failed_reading_is_closed(self, tmp_path: Path) -> None:
        """A strict reading that ends early leaves nothing open."""
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(LINE)[:-4])

        with pytest.raises(InputError, match="ends too early"):
            read(path, ReadReport(strict=True), ReadLimits(spool_bytes=0))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=300), cut=st.integers(0, 300), pack=st.sampled_from([bytes, gzip.compress, zstd.compress])
)
def test_any_bytes_can_be_opened(tmp_path: Path, data: bytes, cut: int, pack: Callable[[bytes], bytes]) -> None:
    """Any bytes, packed or not, whole or cut, give text or a problem, and no exception."""
    packed = pack(data)
    path = tmp_path / "any"
    path.write_bytes(packed[: max(len(packed) - cut, 0)])
    report = ReadReport()

    text = read(path, report)

    assert text or report.problems
