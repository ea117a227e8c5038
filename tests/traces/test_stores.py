"""Where the spans of a reading lie between the first time and the second."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import InputError
from pixie_otel.traces.files import find_sources, open_source
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.lines import iter_lines
from pixie_otel.traces.report import ReadReport
from pixie_otel.traces.stored import Spool
from pixie_otel.traces.stores import InputStore, SalvageStore


def store_of(path: Path) -> tuple[InputStore, list[tuple[int, int, bytes]]]:
    """Read a file line by line into a store; give the lines by number and offset as well."""
    (source,) = find_sources([path])
    report = ReadReport()
    with open_source(source, limits=ReadLimits(), report=report) as opened:
        store = InputStore(opened)
        lines = []
        for line in iter_lines(opened, ReadLimits(), report):
            store.mark(line.number, line.offset)
            lines.append((line.number, line.offset, line.data))
    return store, lines


@pytest.mark.parametrize("size", [3, 100, 2_000_000])
def test_lines_are_found_again_by_offset(tmp_path: Path, size: int) -> None:
    """Though few of them are remembered; any place within a line will do."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b"".join(b"%d" % number * (size // 3 + 1) + b"\n\r\n" for number in range(min(3000, 10**7 // size)))
    )
    store, lines = store_of(path)

    for number, offset, data in lines[:: max(1, len(lines) // 50)]:
        assert store.line_of(offset) == number
        assert store.line_of(offset + len(data) - 1) == number
        assert store.pread(offset, len(data)) == data


def test_before_the_first_line_there_is_none(tmp_path: Path) -> None:
    """Nothing was marked there."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n\n{}\n")
    store, _ = store_of(path)

    assert store.line_of(0) is None
    assert store.line_of(2) == 3


def test_a_file_that_was_cut_short_is_told(tmp_path: Path) -> None:
    """What was read before is no longer there."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"0123456789\n")
    store, _ = store_of(path)
    path.write_bytes(b"0")

    with pytest.raises(InputError, match="cut short"):
        store.pread(0, 10)


NUMBERS = st.integers(0, 2**40)


@given(st.lists(st.tuples(NUMBERS, st.binary(max_size=30), NUMBERS), max_size=10), st.integers(0, 100))
def test_what_was_salvaged_is_found_with_its_line(records: list[tuple[int, bytes, int]], memory: int) -> None:
    """In memory or in a file."""
    with Spool(memory) as spool:
        store = SalvageStore(spool)
        offsets = [store.put(*record) for record in records]

        for offset, (number, data, batch) in zip(offsets, records, strict=True):
            assert store.pread(offset, len(data)) == data
            assert store.line_of(offset) == number
            assert store.batch_of(offset) == batch


def test_lines_of_what_was_salvaged_go_with_the_spool() -> None:
    """Whoever decodes a span later gets no line, and no error."""
    with Spool(100) as spool:
        store = SalvageStore(spool)
        offset = store.put(5, b"{}")

    assert store.line_of(offset) is None
