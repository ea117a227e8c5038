"""Bytes that can be read from any offset."""

from __future__ import annotations

import gzip
import io
import os
from typing import TYPE_CHECKING

import pytest
from opening import LINE, kinds, read

from pixie_otel.errors import InputError
from pixie_otel.traces.files import Source, find_sources, open_source
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.report import ReadReport
from pixie_otel.traces.stored import PlainFile, Spool

if TYPE_CHECKING:
    from pathlib import Path


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
        """A file that went away after it was opened is said, with its name."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(LINE)
        source = find_sources([path])[0]
        opened = open_source(source, limits=ReadLimits(), report=ReadReport())
        opened.close()
        path.unlink()

        with pytest.raises(InputError, match="cannot be read a second time"):
            opened.pread(0, 4)
        with pytest.raises(InputError, match="no such file"):
            open_source(Source("gone", str(path), is_stream=True), limits=ReadLimits(), report=ReadReport())

    def test_an_empty_file_is_reported(self, tmp_path: Path) -> None:
        """Nothing in a file is a fact worth telling."""
        path = tmp_path / "a.jsonl"
        path.touch()
        report = ReadReport()

        assert read(path, report) == b""
        assert kinds(report) == ["empty-file"]

    def test_a_file_that_cannot_be_read_is_an_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file that opens and then fails is said, with its name and the system's reason."""
        path = tmp_path / "a.jsonl"
        path.write_bytes(LINE)

        def fail(file: PlainFile, offset: int, length: int) -> bytes:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(PlainFile, "read_at", fail)

        with pytest.raises(InputError, match=r"a\.jsonl: cannot be read: input/output error"):
            read(path)

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
