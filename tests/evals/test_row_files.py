"""Facts about files of rows."""

import csv
import io
import json
import os
from pathlib import Path

import pytest
from case_results import json_values, texts
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ConfigError
from pixie_otel.evals.row_files import Row, read_rows


def _rows(folder: Path, name: str, content: str | bytes) -> list[Row]:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_rows(path))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give one folder to all examples of a property."""
    return tmp_path_factory.mktemp("rows")


_names = texts.filter(lambda text: bool(text) and text == text.strip())
_row_values = st.lists(st.dictionaries(texts, json_values, max_size=3), max_size=4)


@given(_row_values)
def test_json_lines_come_back(folder: Path, values: list[dict[str, object]]) -> None:
    """Every object on a line of its own is a row with its line number; empty lines are passed over."""
    content = "\n\n".join(map(json.dumps, values))
    assert _rows(folder, "a.jsonl", content) == [Row(2 * i + 1, value) for i, value in enumerate(values)]


@given(_row_values, st.sampled_from([None, 2]), st.booleans())
def test_json_documents_come_back(
    folder: Path,
    values: list[dict[str, object]],
    indent: int | None,
    array: bool,  # noqa: FBT001 - a drawn value
) -> None:
    """The rows of an array, or objects one after the other, come back however they are laid out."""
    content = json.dumps(values, indent=indent) if array else " \n".join(json.dumps(v, indent=indent) for v in values)
    rows = _rows(folder, "a.json", content)
    assert [row.values for row in rows] == values
    assert all(row.problem is None for row in rows)
    lines = content.splitlines()
    assert all("{" in lines[row.line - 1] for row in rows)


@given(st.lists(st.tuples(texts, texts), max_size=5))
def test_csv_cells_are_text(folder: Path, cells: list[tuple[str, str]]) -> None:
    """Cells come back as the text they are, with commas, quotes and line breaks; an empty one, and a row, is none."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([("x", "y"), *cells])
    rows = _rows(folder, "a.csv", text.getvalue())
    assert [row.values for row in rows] == [
        {name: cell for name, cell in zip("xy", pair, strict=True) if cell} for pair in cells if any(pair)
    ]
    assert [row.problem for row in rows] == [None] * len(rows)


def test_rows_know_where_they_start(folder: Path) -> None:
    """The line of a row is the one where it starts, also where rows span lines."""
    assert [row.line for row in _rows(folder, "a.csv", 'x,y\n"a\nb",1\n\n"c",2\n')] == [2, 5]
    assert [row.line for row in _rows(folder, "a.json", '\n[\n{"a":\n1}\n,\n\n{"b": 2}]')] == [3, 7]
    assert [row.line for row in _rows(folder, "a.json", '{"a":\n1}\n\n{"b": 2}\n')] == [1, 4]


@pytest.mark.parametrize("suffix", ["jsonl", "ndjson", "json"])
def test_a_byte_order_mark_and_crlf_do_no_harm(folder: Path, suffix: str) -> None:
    """Files from other editors and systems are read like any."""
    content = b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n'
    assert _rows(folder, f"a.{suffix}", content) == [Row(1, {"a": 1}), Row(2, {"a": 2})]


def test_a_table_from_a_spreadsheet_is_read(folder: Path) -> None:
    """A CSV file with a byte order mark, CRLF and spaces in its header is read like any."""
    assert _rows(folder, "A.CSV", b"\xef\xbb\xbf x ,y\r\n1,2\r\n") == [Row(2, {"x": "1", "y": "2"})]


def test_only_line_feeds_end_a_line(folder: Path) -> None:
    """The characters that Unicode knows as line ends stand within a text as any other."""
    text = "a\u2028b\u0085c\x0b"
    assert _rows(folder, "a.jsonl", json.dumps({"a": text}, ensure_ascii=False).replace("\x0b", "\\u000b")) == [
        Row(1, {"a": text})
    ]
    assert _rows(folder, "a.csv", f"a\n{text}\n") == [Row(2, {"a": text})]


def test_a_bad_line_costs_that_line(folder: Path) -> None:
    """Of JSON lines, those that are none say why, and the others are read."""
    lines = [
        b'{"a": 1}',
        b"nonsense",
        b"[1]",
        b'{"a": NaN}',
        b'{"a": 1, "a": 2}',
        b'{"a": "\xff"}',
        b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": 2}',
    ]
    rows = _rows(folder, "a.jsonl", b"\n".join(lines))
    assert [row.values for row in rows if row.problem is None] == [{"a": 1}, {"a": 2}]
    problems = {row.line: row.problem for row in rows if row.problem is not None}
    assert problems[2] == "no valid JSON: Expecting value (column 1)"
    assert problems[3] == "a row is an object with named values, not '[1]'"
    assert problems[4] == "no valid JSON: NaN is no JSON number"
    assert problems[5] == "'a' stands twice in one object"
    assert problems[6] == "is not UTF-8"
    assert problems[7] == "is nested too deep"
    assert sorted(problems) == [2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'[{"a": 1}\n,\n{"b" 2}]', 3),
        (b'[{"a": 1}\n{"b": 2}]', 2),
        (b'[{"a": 1},\n', 2),
        (b'[{"a": 1}\n\n', 3),
        (b'[{"a": 1},\n]', 2),
        (b"\n[", 2),
        (b'[{"a": 1}]\nrest', 2),
        (b'[{"a": 1},\n{"b": NaN}]', 2),
        (b'{"a": 1}\n]', 2),
        (b'{"a": 1}\n\xff', 2),
        (b'{"a": 1}\n' + b"[" * 100_000, 2),
    ],
)
def test_a_broken_document_says_where(folder: Path, content: bytes, line: int) -> None:
    """A JSON document that breaks off or is torn is told with the line of the break."""
    *_, last = _rows(folder, "a.json", content)
    assert last.line == line
    assert last.problem is not None


@pytest.mark.parametrize("content", ["", "\n", "[]", " [ ] \n"])
def test_a_document_may_be_empty(folder: Path, content: str) -> None:
    """A file without rows has none, and that is no problem of the file."""
    assert _rows(folder, "a.json", content) == []


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"a,b\n1\n2,3\n", 2, "1 cells, and the first line names 2 columns"),
        (b"a,b\n1,2,3\n", 2, "3 cells, and the first line names 2 columns"),
        (b"a,\n1,2\n", 2, "2 cells, and the first line names 1 columns"),
        (b"a,,b\n1,2,3\n", 1, "the first line names the columns, and a name is empty"),
        (b"a,b,\n1,2,,\n1,2,,3\n", 3, "4 cells, and the first line names 2 columns"),
        (b"a, a\n1,2\n", 1, "the column 'a' stands twice"),
        (b"a\n1\n\xff\n2\n", 3, "is not UTF-8"),
        (b'a\n1\n"x"y\n', 3, "no valid CSV: ',' expected after '\"'"),
        (b'a\n1\n"x\n', 3, "no valid CSV: unexpected end of data"),
    ],
)
def test_a_broken_table_says_where(folder: Path, content: bytes, line: int, problem: str) -> None:
    """A row that does not fit the header, a bad header and torn quotes are told with their line."""
    assert Row(line, {}, problem) in _rows(folder, "a.csv", content)


def test_what_a_spreadsheet_adds_is_passed_over(folder: Path) -> None:
    """Empty cells behind the last column and rows of empty cells are none, wherever they stand."""
    content = "\ufeff,,\na,b,,\n1,2,,\n,,,\n\n3,,,\n,\n"
    assert _rows(folder, "a.csv", content) == [Row(3, {"a": "1", "b": "2"}), Row(6, {"a": "3"})]


def test_long_cells_are_read_and_leave_no_trace(folder: Path) -> None:
    """Cells past Python's own limit are read, and that limit is for others what it was."""
    limit = csv.field_size_limit()
    long = "x" * (limit * 2)
    assert _rows(folder, "a.csv", f"a\n{long}\n") == [Row(2, {"a": long})]
    assert csv.field_size_limit() == limit


@given(st.sampled_from([".json", ".jsonl", ".csv"]), st.binary() | st.text('[]{}",:\n a1', max_size=30).map(str.encode))
def test_any_bytes_end_in_rows(folder: Path, suffix: str, content: bytes) -> None:
    """Whatever a file holds, it is read into rows and problems."""
    for row in _rows(folder, f"any{suffix}", content):
        assert (row.problem is None) or not row.values


@pytest.mark.parametrize("name", ["a.txt", "a", "a.jsonl.gz"])
def test_another_suffix_is_refused(tmp_path: Path, name: str) -> None:
    """A file whose name does not say what it is is a `ConfigError`."""
    with pytest.raises(ConfigError, match=r"rows are read from \.jsonl, \.json or \.csv files"):
        _rows(tmp_path, name, "{}")


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A missing file, and a folder by a file's name, are `ConfigError`s."""
    with pytest.raises(ConfigError, match=r"a\.csv: cannot be read: No such file"):
        list(read_rows(tmp_path / "a.csv"))
    (tmp_path / "b.json").mkdir()
    with pytest.raises(ConfigError, match="is no regular file"):
        list(read_rows(tmp_path / "b.json"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no FIFOs")
def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    """A FIFO is refused without being opened."""
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(ConfigError, match="is no regular file"):
        list(read_rows(tmp_path / "a.csv"))


def test_a_huge_document_is_refused(tmp_path: Path) -> None:
    """A JSON document that is too big to be read whole says what to do."""
    path = tmp_path / "a.json"
    with path.open("wb") as file:
        file.truncate(256 * 1024 * 1024 + 1)
    with pytest.raises(ConfigError, match=r"write it as \.jsonl"):
        list(read_rows(path))
