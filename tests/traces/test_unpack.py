"""From what an input holds to its text."""

from __future__ import annotations

import gzip
import random
import sys
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opening import LINE, kinds, read

from pixie_otel.errors import MissingExtraError
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.report import ReadReport

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MIB = 1024 * 1024
NOISE = random.Random(1).randbytes(MIB)  # what does not pack


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
    def test_what_is_packed_twice_is_unpacked_twice(self, tmp_path: Path, inner: Callable[[bytes], bytes]) -> None:
        """A rotated file that was packed already is packed again by who collects it."""
        path = tmp_path / "a.jsonl.gz.gz"
        path.write_bytes(gzip.compress(inner(LINE)))
        report = ReadReport()

        assert read(path, report) == LINE
        assert not kinds(report)

    def test_a_fourth_level_is_refused(self, tmp_path: Path) -> None:
        """Nobody packs so often, and what is packed for ever would be unpacked for ever."""
        data = LINE
        for _ in range(4):
            data = gzip.compress(data)
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(data)
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

    def test_the_collectors_framed_zstd_is_unpacked(self, tmp_path: Path) -> None:
        """Messages packed one by one behind their lengths are no zstd stream, and are read all the same."""
        message = zstd.compress(LINE)
        path = tmp_path / "data.json.zst"
        path.write_bytes((len(message).to_bytes(4, "big") + message) * 2)
        report = ReadReport()

        assert read(path, report) == LINE * 2
        assert not report.problems
        (form,) = report.source(str(path)).forms
        assert "collector file exporter" in form

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
