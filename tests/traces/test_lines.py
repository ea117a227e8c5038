"""From the bytes of an input to its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from corpora import corpora_path
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.lines import Line, iter_lines, looks_like_lines, split_joined
from pixie_otel.traces.report import ReadReport, Tally
from pixie_otel.traces.stored import PlainFile, SourceBytes

if TYPE_CHECKING:
    from pathlib import Path

BOM = b"\xef\xbb\xbf"
SMALL = ReadLimits(max_line_bytes=20)


@pytest.fixture
def report() -> ReadReport:
    """Give an accounting that is empty."""
    return ReadReport()


def opened(path: Path, data: bytes) -> SourceBytes:
    """Write a file and open it as text, whatever it is."""
    path.write_bytes(data)
    file = PlainFile(str(path))
    return SourceBytes(str(path), file, start=0, size=file.size, on_close=file.close)


def lines_of(tmp_path: Path, data: bytes, report: ReadReport, limits: ReadLimits | None = None) -> list[Line]:
    """Read the lines of some bytes, and see that each can be read again and that none is lost."""
    with opened(tmp_path / "a.jsonl", data) as source:
        lines = list(iter_lines(source, limits or ReadLimits(), report))
        for line in lines:
            assert source.pread(line.offset, len(line.data)) == line.data
        tally = report.source(source.name).lines
    assert tally.total == tally.read + tally.blank + tally.skipped
    assert tally.read == len(lines)
    return lines


def kinds(report: ReadReport) -> list[str]:
    """Give the kinds of the problems."""
    return [problem.kind for problem in report.problems]


class TestIterLines:
    """`iter_lines`."""

    def test_lines_have_number_offset_and_data(self, tmp_path: Path, report: ReadReport) -> None:
        """Lines are counted from 1, offsets from 0."""
        assert lines_of(tmp_path, b'{"a":1}\n{"b":2}\n', report) == [Line(1, 0, b'{"a":1}'), Line(2, 8, b'{"b":2}')]

    def test_only_newline_bytes_end_a_line(self, tmp_path: Path, report: ReadReport) -> None:
        """What else counts as a line break in text (U+2028, U+0085, vertical tab, form feed, CR) ends none."""
        text = '{"a":"\u2028\u0085\x0b\x0c\r"}'.encode()

        assert [line.data for line in lines_of(tmp_path, text + b"\n", report)] == [text]

    def test_carriage_returns_and_white_space_around_a_line_are_dropped(
        self, tmp_path: Path, report: ReadReport
    ) -> None:
        """Lines of Windows files are the same lines."""
        assert lines_of(tmp_path, b"\t {} \r\n[]\r\n", report) == [Line(1, 2, b"{}"), Line(2, 7, b"[]")]

    def test_a_byte_order_mark_is_no_part_of_the_first_line(self, tmp_path: Path, report: ReadReport) -> None:
        """The first record of a file with a byte order mark is not lost, nor of one joined to another file."""
        data = BOM + b"{}\n" + BOM + b" []\n" + BOM

        assert lines_of(tmp_path, data, report) == [Line(1, 3, b"{}"), Line(2, 10, b"[]")]
        assert not report.problems

    def test_blank_lines_are_counted(self, tmp_path: Path, report: ReadReport) -> None:
        """Empty lines and lines of white space are no problem."""
        lines_of(tmp_path, b"\n{}\n \t\r\n\n", report)

        (source,) = report.sources.values()
        assert source.lines == Tally(total=4, read=1, blank=3)
        assert not report.problems

    def test_a_last_line_without_newline_says_so(self, tmp_path: Path, report: ReadReport) -> None:
        """The file may end in the middle of a line."""
        lines = lines_of(tmp_path, b'{}\n{"resourceSp', report)

        assert [line.last_without_newline for line in lines] == [False, True]

    def test_nothing_has_no_lines(self, tmp_path: Path, report: ReadReport) -> None:
        """An empty file has no line, not an empty one."""
        assert lines_of(tmp_path, b"", report) == []
        assert report.source(str(tmp_path / "a.jsonl")).lines.total == 0

    def test_nuls_around_a_line_are_dropped_and_reported(self, tmp_path: Path, report: ReadReport) -> None:
        """A file cut short under its writer has NULs before the next line."""
        lines = lines_of(tmp_path, b'{"a":1}\n\x00\x00\x00{"b":2}\x00\n\x00\n', report)

        assert [(line.number, line.data) for line in lines] == [(1, b'{"a":1}'), (2, b'{"b":2}')]
        assert [(problem.kind, problem.line) for problem in report.problems] == [("nul-bytes", 2), ("nul-bytes", 3)]
        assert report.problems[0].message.startswith("4 NUL bytes")

    @pytest.mark.parametrize("nuls", [19, 20, 21, 22, 50, 1000])
    def test_nuls_beyond_the_limit_hide_no_line(self, tmp_path: Path, report: ReadReport, nuls: int) -> None:
        """However long the hole in a file is, the line behind it is read, and the next one too."""
        lines = lines_of(tmp_path, bytes(nuls) + b'{"a":1}\n{}\n', report, SMALL)

        assert [(line.number, line.offset) for line in lines] == [(1, nuls), (2, nuls + 8)]
        assert report.problems[0].message.startswith(f"{nuls} NUL bytes")

    @pytest.mark.parametrize("nuls", [1, 21, 1000])
    def test_nuls_alone_are_a_blank_line(self, tmp_path: Path, report: ReadReport, nuls: int) -> None:
        """A file of NULs has nothing to read, and is reported."""
        assert lines_of(tmp_path, bytes(nuls), report, SMALL) == []
        assert report.source(str(tmp_path / "a.jsonl")).lines.blank == 1
        assert kinds(report) == ["nul-bytes"]

    def test_nuls_within_a_line_are_left_to_the_decoder(self, tmp_path: Path, report: ReadReport) -> None:
        """In the middle of a line NULs are no padding."""
        assert [line.data for line in lines_of(tmp_path, b"{\x00}\n", report)] == [b"{\x00}"]

    @pytest.mark.parametrize("ending", [b"\n", b""])
    def test_a_line_of_the_limit_is_read(self, tmp_path: Path, report: ReadReport, ending: bytes) -> None:
        """The limit is the longest line that is read."""
        assert len(lines_of(tmp_path, b"{}\n" + b"x" * 20 + ending, report, SMALL)) == 2
        assert not report.problems

    @pytest.mark.parametrize("length", [21, 22, 41, 3_000_000])
    @pytest.mark.parametrize("ending", [b"\n", b""])
    @pytest.mark.parametrize("before", [b"{}\n", b""])
    def test_a_line_over_the_limit_is_skipped(
        self, tmp_path: Path, report: ReadReport, length: int, before: bytes, ending: bytes
    ) -> None:
        """A longer line is reported, and the lines around it are read."""
        lines = lines_of(tmp_path, before + b"x" * length + ending + b"{}" * len(ending), report, SMALL)

        assert len(lines) == bool(before) + bool(ending)
        assert kinds(report) == ["line-too-long"]

    def test_the_message_of_a_long_line_names_the_limit(self, tmp_path: Path, report: ReadReport) -> None:
        """Who meets the limit learns what it is called."""
        lines_of(tmp_path, b"\x00" * 30 + b"x" * 30 + b"\n", report, SMALL)

        assert report.problems[0].location.endswith("a.jsonl:1")
        assert report.problems[0].message.startswith("the line has 31 bytes, more than max_line_bytes (20)")

    def test_a_file_that_grows_is_read_to_where_it_was(self, tmp_path: Path, report: ReadReport) -> None:
        """What is written meanwhile is left out and said, so that a busy file has an end."""
        path = tmp_path / "a.jsonl"
        with opened(path, b"{}\n") as source:
            with path.open("ab") as file:
                file.write(b"[]\n")

            assert [line.data for line in iter_lines(source, ReadLimits(), report)] == [b"{}"]
        assert kinds(report) == ["growing-file"]

    def test_a_file_that_shrinks_is_reported(self, tmp_path: Path, report: ReadReport) -> None:
        """A log that is rotated while it is read lacks its end."""
        path = tmp_path / "a.jsonl"
        with opened(path, b"{}\n[]\n") as source:
            with path.open("r+b") as file:
                file.truncate(3)

            assert [line.data for line in iter_lines(source, ReadLimits(), report)] == [b"{}"]
        assert kinds(report) == ["shrinking-file"]

    def test_a_read_error_keeps_what_came_before(
        self, tmp_path: Path, report: ReadReport, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A disk that fails costs the rest of the file."""
        with opened(tmp_path / "a.jsonl", b"{}\n" * 200_000) as source:
            real = source.read_at

            def failing(offset: int, length: int) -> bytes:
                if offset:
                    raise OSError(5, "Input/output error")
                return real(offset, length)

            monkeypatch.setattr(source, "read_at", failing)
            monkeypatch.setattr(source, "growth", lambda: failing(1, 1))

            assert len(list(iter_lines(source, ReadLimits(), report))) > 1000
        assert kinds(report) == ["read-error"]

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(
        data=st.lists(
            st.binary(max_size=30) | st.sampled_from([b"\n", b"\x00" * 25, b"\r\n", BOM, b"{}", b" ", b"\x00"])
        ).map(b"".join),
        longest=st.integers(1, 40),
    )
    @example(data=BOM, longest=1)
    @example(data=b"\x00" * 5 + BOM + b"\n", longest=3)
    def test_any_bytes_end_in_lines_and_problems(self, tmp_path: Path, data: bytes, longest: int) -> None:
        """Every byte sequence is accounted for: each line is read, blank or skipped with a reason."""
        fresh = ReadReport()

        lines = lines_of(tmp_path, data, fresh, ReadLimits(max_line_bytes=longest))

        tally = fresh.source(str(tmp_path / "a.jsonl")).lines
        assert tally.total == data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        assert fresh.counts.get("line-too-long", 0) == tally.skipped
        assert all(0 < len(line.data) <= longest for line in lines)


class TestLooksLikeLines:
    """`looks_like_lines`."""

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\n\n",
            b'{"a":1}\n{"a":2}\n',
            BOM + b'\n\x00{"a":1}\r\n',
            b'{"a":1}',
            b"[1]\n[2]\n",
            b"no JSON\n{}\n",
            b'{"a":"torn\n{"a":1}\n',
            b'{"a":[{"b":1},\n{"a":[]}\n{"a":[]}\n',
            b'{"a":NaN}\n{"a":1}\n',
            b'"text"\n',
            b"{" + b"x" * 200,
        ],
    )
    def test_one_document_to_the_line(self, tmp_path: Path, data: bytes) -> None:
        """A first line that is JSON, or is torn, makes lines."""
        with opened(tmp_path / "a.json", data) as source:
            assert looks_like_lines(source, ReadLimits(max_line_bytes=100))

    @pytest.mark.parametrize(
        "data",
        [
            b'{\n  "a": 1\n}\n',
            b'{ "a": [\n1,\n2]}',
            b'[{"a":1},\n{"a":2}]',
            b'[\n{"a":1},\n{"a":2}\n]\n',
            BOM + b'\n{\n"a":1}',
            b'{"a":1}{"a":2}',
            b'{"a":1},\n{"a":2}',
            b'{"a":1}\r{"a":2}\r',
            b'{\n  "a": 1,\n  "torn',
            b'{"a": [\n' + b"1," * 100,
        ],
    )
    def test_documents_that_span_lines(self, tmp_path: Path, data: bytes) -> None:
        """Pretty-printed, joined and listed documents are told apart from lines, also where they are torn or long."""
        with opened(tmp_path / "a.json", data) as source:
            assert not looks_like_lines(source, ReadLimits(max_document_bytes=100))

    def test_an_unreadable_file_is_left_to_the_reading(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Errors are reported where the file is read."""

        def fail(offset: int, length: int) -> bytes:
            raise OSError(5, "Input/output error")

        with opened(tmp_path / "a.json", b"{}") as source:
            monkeypatch.setattr(source, "read_at", fail)

            assert looks_like_lines(source, ReadLimits())


class TestSplitJoined:
    """`split_joined`."""

    def test_a_document_behind_a_torn_one_is_found(self) -> None:
        """A crash in the middle of a write joins two documents in one line."""
        torn, whole, last = b'{"resourceSpans":[{"na', b'{"resourceSpans":[]}', b'{ "resource_logs": []}'

        parts = split_joined(Line(3, 100, torn + whole + last, last_without_newline=True))

        assert parts == [
            Line(3, 100, torn),
            Line(3, 100 + len(torn), whole),
            Line(3, 100 + len(torn + whole), last, last_without_newline=True),
        ]

    @pytest.mark.parametrize("data", [b'{"resourceSpans":[', rb'x"{\"resourceSpans\":[]}"', b"x"])
    def test_a_line_without_another_document_stays_whole(self, data: bytes) -> None:
        """What stands at the beginning, or within a string, begins no other document."""
        assert split_joined(Line(1, 0, data)) == [Line(1, 0, data)]


def test_the_json_test_suite_as_files(tmp_path: Path) -> None:
    """Every file of JSONTestSuite ends in lines and problems."""
    for file in sorted(corpora_path("JSONTestSuite").rglob("*.json")):
        lines_of(tmp_path, file.read_bytes(), ReadReport())
