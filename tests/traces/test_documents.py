"""From the bytes of an input to its JSON documents, where those span lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from corpora import corpora_path
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pixie_otel.traces.documents import Document, iter_documents, json_error
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.report import ReadReport
from pixie_otel.traces.stored import PlainFile, SourceBytes

if TYPE_CHECKING:
    from pathlib import Path

BOM = b"\xef\xbb\xbf"


@pytest.fixture
def report() -> ReadReport:
    """Give an accounting that is empty."""
    return ReadReport()


def opened(path: Path) -> SourceBytes:
    """Open a file as text, whatever it is."""
    file = PlainFile(str(path))
    return SourceBytes(str(path), file, start=0, size=file.size, on_close=file.close)


def documents_of(tmp_path: Path, data: bytes, report: ReadReport, limits: ReadLimits | None = None) -> list[Document]:
    """Read the documents of some bytes, and see that each is JSON, can be read again, and that none is lost."""
    path = tmp_path / "a.json"
    path.write_bytes(data)
    with opened(path) as source:
        documents = list(iter_documents(source, limits or ReadLimits(), report))
        for document in documents:
            assert source.pread(document.offset, len(document.data)) == document.data
            assert data.count(b"\n", 0, document.offset) == document.number - 1
            assert json_error(document.data) is None
    tally = report.source(str(path)).documents
    assert tally.total == tally.read + tally.blank + tally.skipped
    assert tally.read == len(documents)
    return documents


def values(documents: list[Document]) -> list[object]:
    """Decode documents."""
    return [json.loads(document.data) for document in documents]


def problems(report: ReadReport) -> list[tuple[str, int | None]]:
    """Give kind and line of the problems."""
    return [(problem.kind, problem.line) for problem in report.problems]


DOCUMENT = {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": 'a "b" \\ {[]}\n', "kind": 3}, {}]}]}], "x": []}


class TestShapes:
    """The shapes that files come in."""

    @pytest.mark.parametrize("indent", [None, 0, 1, 2, 4, "\t"])
    @pytest.mark.parametrize("count", [1, 3])
    def test_documents_one_after_another(
        self, tmp_path: Path, report: ReadReport, indent: int | str | None, count: int
    ) -> None:
        """Printed in whatever way, each document is given once."""
        text = "\n".join([json.dumps(DOCUMENT, indent=indent)] * count)

        assert values(documents_of(tmp_path, text.encode(), report)) == [DOCUMENT] * count
        assert not report.problems

    @pytest.mark.parametrize("indent", [None, 0, 1, 2, 4, "\t"])
    def test_the_items_of_an_array(self, tmp_path: Path, report: ReadReport, indent: int | str | None) -> None:
        """A list of documents gives each of them, with the line at which it begins."""
        text = json.dumps([DOCUMENT, DOCUMENT], indent=indent)

        assert values(documents_of(tmp_path, text.encode(), report)) == [DOCUMENT, DOCUMENT]
        assert not report.problems

    @pytest.mark.parametrize(
        "data",
        [
            b'{"a":1}{"a":2}',
            b'{"a":1}\r{"a":2}',
            b'{"a":1},\n{"a":2},\n',
            BOM + b'[{"a":1},{"a":2}]' + BOM + b"[]",
            b'[\n{"a":1}\n,\n{"a":2}\n]\n[]',
        ],
    )
    def test_what_stands_between_documents_does_not_matter(
        self, tmp_path: Path, report: ReadReport, data: bytes
    ) -> None:
        """White space, commas and byte order marks separate documents."""
        assert values(documents_of(tmp_path, data, report)) == [{"a": 1}, {"a": 2}]
        assert not report.problems

    def test_lists_within_a_list_are_given_whole(self, tmp_path: Path, report: ReadReport) -> None:
        """Only the outermost array is taken apart."""
        assert values(documents_of(tmp_path, b'[[{"a":1}],[1]]', report)) == [[{"a": 1}], [1]]

    def test_documents_longer_than_the_window(self, tmp_path: Path, report: ReadReport) -> None:
        """Documents, strings and byte order marks may lie across any edge of what is held."""
        items: list[object] = [
            {"text": '\\"{' * size, "list": [{"x": {"y": {"z": [size]}}}] * 2000} for size in (9, 99_999)
        ]
        text = " " * (256 * 1024 - 2) + "\ufeff" + json.dumps(items)

        assert values(documents_of(tmp_path, text.encode(), report)) == items
        assert not report.problems

    def test_nothing_has_no_documents(self, tmp_path: Path, report: ReadReport) -> None:
        """Blank files have none."""
        assert documents_of(tmp_path, b" \n", report) == []
        assert not report.problems


class TestProblems:
    """What is wrong with files."""

    @pytest.mark.parametrize(
        ("torn", "kind"),
        [
            (b'{\n  "a": 1,\n', "truncated-document"),
            (b'{\n  "a": {\n', "truncated-document"),
            (b'{\n  "a":\n', "bad-document"),
            (b'{\n  "a": "text\n', "truncated-document"),
            (b'{\n  "a": "text\\\n', "truncated-document"),
            (b'{\n  "a": [\n  1\n', "truncated-document"),
            (b'{\n  "a": 01\n}\n', "bad-document"),
            (b'{\n  "a": ]\n', "bad-document"),
            (b"garbage\n", "bad-document"),
            (b'{"a": [{"b":{"c":{"d":{"e":1}}}} }\n', "bad-document"),
            (b"}\n", "bad-document"),
            (b"]\n", "bad-document"),
            (b'{"a": NaN}\n', "bad-document"),
            (b'{"a": -Infinity}\n', "bad-document"),
        ],
    )
    def test_reading_goes_on_behind_what_is_no_document(
        self, tmp_path: Path, report: ReadReport, torn: bytes, kind: str
    ) -> None:
        """A torn or broken document costs itself; the next line that begins like one is read."""
        good = b'{\n  "b": [\n    {}\n  ]\n}\n'

        documents = documents_of(tmp_path, good + torn + good + good, report)

        if torn == b'{\n  "a":\n':
            # Nothing tells that the value of "a" is another document, until its end.
            documents = documents[1:]
        assert values(documents)[-2:] == [{"b": [{}]}, {"b": [{}]}]
        assert report.problems[0].line == 6
        assert report.problems[0].kind in {kind, "truncated-document"}

    def test_the_end_of_the_file_within_a_document(self, tmp_path: Path, report: ReadReport) -> None:
        """A file that was cut off keeps what was whole."""
        assert values(documents_of(tmp_path, b'[\n{"a":1},\n{"a":\n', report)) == [{"a": 1}]
        assert problems(report) == [("truncated-document", 3)]

    def test_an_array_that_does_not_end(self, tmp_path: Path, report: ReadReport) -> None:
        """An array whose end is missing has lost no document that could be counted."""
        assert values(documents_of(tmp_path, b'[\n{"a":1},\n', report)) == [{"a": 1}]
        assert problems(report) == [("truncated-document", 1)]
        assert report.source(str(tmp_path / "a.json")).documents.skipped == 0

    def test_an_array_goes_on_behind_a_broken_item(self, tmp_path: Path, report: ReadReport) -> None:
        """One bad item costs that item, and the array may end as before."""
        assert values(documents_of(tmp_path, b'[\n{"a":1},\n{"a":x},\n{"a":3}\n]\n', report)) == [{"a": 1}, {"a": 3}]
        assert problems(report) == [("bad-document", 3)]

    def test_another_array_behind_a_torn_one(self, tmp_path: Path, report: ReadReport) -> None:
        """A file written twice over has its second array taken apart as well."""
        data = b'[\n{"a":1},\n{"a":"torn\n[\n{"a":2},\n{"a":3}\n]\n'

        assert values(documents_of(tmp_path, data, report)) == [{"a": 1}, {"a": 2}, {"a": 3}]
        assert problems(report) == [("truncated-document", 3)]

    def test_scalars_in_an_array_are_no_documents(self, tmp_path: Path, report: ReadReport) -> None:
        """What is neither object nor array is shown in the message."""
        assert documents_of(tmp_path, b"[1, 2]", report) == []
        assert "expected { or [, found '1, 2]'" in report.problems[0].message

    @pytest.mark.parametrize("opener", [b"[", b'{"":', b"[\n", b'{"":\n', b'[{"":'])
    def test_a_nesting_bomb_is_a_problem(self, tmp_path: Path, report: ReadReport, opener: bytes) -> None:
        """A hundred thousand levels end in a problem, and neither in a crash nor in a long time."""
        assert documents_of(tmp_path, opener * 100_000, report) == []
        assert "nested" in report.problems[0].message

    def test_a_document_over_the_limit_is_skipped(self, tmp_path: Path, report: ReadReport) -> None:
        """The message names the limit, and the next document is read."""
        long = json.dumps({"a": ["x" * 30] * 20}, indent=1).encode()

        documents = documents_of(tmp_path, long + b'\n{"a":2}', report, ReadLimits(max_document_bytes=100))

        assert values(documents) == [{"a": 2}]
        assert problems(report) == [("document-too-long", 1)]
        assert "max_document_bytes (100)" in report.problems[0].message

    def test_a_document_far_over_the_limit_is_not_held(self, tmp_path: Path, report: ReadReport) -> None:
        """The rest of a long document is passed over without being kept."""
        long = b'{"a":[' + b"1," * 500_000 + b"1]}"

        documents = documents_of(tmp_path, long + b'\n{"a":2}', report, ReadLimits(max_document_bytes=1000))

        assert values(documents) == [{"a": 2}]

    def test_nuls_between_documents_are_reported(self, tmp_path: Path, report: ReadReport) -> None:
        """A file cut short under its writer has NULs before the next document."""
        assert values(documents_of(tmp_path, b'{\n}\n\x00\x00{"a":1}', report)) == [{}, {"a": 1}]
        assert problems(report) == [("nul-bytes", 3)]

    def test_a_read_error_keeps_what_came_before(
        self, tmp_path: Path, report: ReadReport, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A disk that fails costs the rest of the file."""
        path = tmp_path / "a.json"
        path.write_bytes(b'{\n"a":1}\n' * 60_000)
        with opened(path) as source:
            real = source.read_at

            def failing(offset: int, length: int) -> bytes:
                if offset:
                    raise OSError(5, "Input/output error")
                return real(offset, length)

            monkeypatch.setattr(source, "read_at", failing)

            assert len(list(iter_documents(source, ReadLimits(), report))) > 1000
        assert [problem.kind for problem in report.problems] == ["read-error"]


def test_json_nested_too_deeply_is_an_error() -> None:
    """The depth that Python allows is the limit, and no crash."""
    assert json_error(b"[" * 100_000) == "it is nested too deeply"


JSON_PIECES = [b"{", b"}", b"[", b"]", b'"', b"\\", b"\n", b",", b":", b'"a"', b"1", b"\x00", BOM, b'{"a":1}', b" "]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
@given(data=(st.binary(max_size=60) | st.lists(st.sampled_from(JSON_PIECES), max_size=60).map(b"".join)))
@example(data=b"[\xef\xbb")
@example(data=b'{"\\')
def test_any_bytes_end_in_documents_and_problems(tmp_path: Path, data: bytes) -> None:
    """No bytes raise, and what has content without a document has a problem."""
    report = ReadReport()

    documents = documents_of(tmp_path, data, report)

    assert documents or report.problems or not data.strip(b" \t\r\n,\x00[]\xef\xbb\xbf")


JSON_VALUES = st.recursive(
    st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    items=st.lists(st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=5), max_size=5),
    indent=st.none() | st.integers(0, 3),
    shape=st.sampled_from(["array", "joined"]),
)
def test_printed_documents_come_back(
    tmp_path: Path, items: list[dict[str, object]], indent: int | None, shape: str
) -> None:
    """Any objects, printed in any way, are given back in order and without a problem."""
    report = ReadReport()
    text = (
        json.dumps(items, indent=indent)
        if shape == "array"
        else "".join(json.dumps(item, indent=indent) for item in items)
    )

    assert values(documents_of(tmp_path, text.encode(), report)) == items
    assert not report.problems


def test_the_json_test_suite(tmp_path: Path) -> None:
    """What must be accepted is given whole, what must be rejected has a problem, and nothing raises."""
    accepted = set[str]()
    for file in sorted(corpora_path("JSONTestSuite").rglob("*.json")):
        data, report = file.read_bytes(), ReadReport()
        wrapped = documents_of(tmp_path, b'{"value":\t' + data + b"}", report)
        if file.name.startswith("y_"):
            assert values(wrapped) == [{"value": json.loads(data)}], file.name
            assert not report.problems, file.name
        elif file.name.startswith("n_") and not report.problems:
            accepted.add(file.name)
        documents_of(tmp_path, data, ReadReport())
    assert accepted == set()
