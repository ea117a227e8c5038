"""Which spans belong to which trace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.traces.index import ROW_BYTES, SpanIndex, trace_order

START = 1_764_500_000_000_000_000
ROWS = st.tuples(
    st.sampled_from([bytes(15) + b"\x01", bytes(15) + b"\x02", b"\x01" + bytes(15), b"\xff" * 16]),
    st.one_of(st.just(0), st.integers(START, START + 10**6), st.sampled_from([1, 2**63 - 1, 2**63, 2**64 - 1, -5])),
    st.integers(0, 2**48 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
)


def traces_of(
    rows: list[tuple[bytes, int, int, int, int]], spill_bytes: int | None = None
) -> list[tuple[bytes, list[tuple[int, int, int]]]]:
    """Put rows into an index and take the traces out."""
    index = SpanIndex() if spill_bytes is None else SpanIndex(spill_bytes)
    for row in rows:
        index.add(*row)
    assert index.rows == len(rows)
    found = [(found, list(places)) for found, places in index.traces()]
    index.close()
    return found


def key(number: int) -> bytes:
    """Make a trace's key."""
    return number.to_bytes(16)


def test_a_row_has_36_bytes() -> None:
    """What the index costs a span."""
    assert ROW_BYTES == 36


def test_places_of_one_trace_come_together() -> None:
    """Wherever they lie."""
    rows = [(key(1), START, 0, 10, 0), (key(2), START, 10, 10, 0), (key(1), START, 2**40, 10, 7)]

    assert dict(traces_of(rows)) == {key(1): [(0, 10, 0), (2**40, 10, 7)], key(2): [(10, 10, 0)]}


def test_traces_come_in_order_of_their_earliest_start() -> None:
    """A row without a start says nothing about when the trace began."""
    rows = [
        (key(1), START + 10**9, 0, 1, 0),
        (key(2), START, 1, 1, 0),
        (key(3), 0, 2, 1, 0),
        (key(4), 0, 3, 1, 0),
        (key(4), START - 10**9, 4, 1, 0),
        (key(2), START + 10**12, 5, 1, 0),
    ]
    assert [found for found, _ in traces_of(rows)] == [key(3), key(4), key(2), key(1)]


@pytest.mark.parametrize("start", [-1, 2**63, 2**64])
def test_a_start_that_is_no_time_counts_as_none(start: int) -> None:
    """It would not fit, and nothing happened then."""
    rows = [(key(1), START, 0, 1, 0), (key(2), start, 1, 1, 0)]

    assert [found for found, _ in traces_of(rows)] == [key(2), key(1)]


@pytest.mark.parametrize("spill_bytes", [None, 0])
def test_a_trace_can_be_had_again(spill_bytes: int | None) -> None:
    """By its number among those that were given, whether the rows are held or spilled."""
    index = SpanIndex() if spill_bytes is None else SpanIndex(spill_bytes)
    for number in (3, 1, 2):
        index.add(key(number), number << 20, 10 * number, 5, 0)
    given = list(index.traces())

    assert [index.again(number) for number in (2, 0, 1)] == [given[2], given[0], given[1]]
    index.close()


def test_an_index_without_rows_has_no_traces() -> None:
    """And needs no file."""
    assert traces_of([]) == []


@given(st.lists(ROWS, max_size=40), st.randoms())
def test_the_order_of_rows_makes_no_difference(rows: list[tuple[bytes, int, int, int, int]], random: object) -> None:
    """Every row comes out once, and the result depends on nothing but the rows."""
    found = traces_of(rows)
    shuffled = sorted(rows, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert traces_of(shuffled) == found
    assert len({found_key for found_key, _ in found}) == len(found)
    assert sorted((found_key, *place) for found_key, places in found for place in places) == sorted(
        (row[0], *row[2:]) for row in rows
    )


@given(st.lists(ROWS, max_size=40), st.integers(0, 300))
def test_what_is_spilled_comes_out_the_same(rows: list[tuple[bytes, int, int, int, int]], spill_bytes: int) -> None:
    """However little stays in memory."""
    assert traces_of(rows, spill_bytes) == traces_of(rows)


@pytest.mark.parametrize("spill_bytes", [None, 1000])
def test_a_long_trace_is_read_in_several_pieces(spill_bytes: int | None) -> None:
    """And so is one that ends at the edge of such a piece."""
    rows = [
        (key(number), START + at, at, 1, 0)
        for number, length in ((1, 200), (257, 64), (513, 1))
        for at in range(length)
    ]
    found = dict(traces_of(rows, spill_bytes))

    assert {found_key: len(places) for found_key, places in found.items()} == {key(1): 200, key(257): 64, key(513): 1}
    assert [offset for offset, *_ in found[key(1)]] == list(range(200))


@given(st.lists(ROWS, max_size=12))
def test_the_order_of_traces_can_be_told_without_an_index(rows: list[tuple[bytes, int, int, int, int]]) -> None:
    """`trace_order` puts traces into the order in which the index gives them."""
    starts: dict[bytes, list[int]] = {}
    for trace, start, *_ in rows:
        starts.setdefault(trace, []).append(start)

    assert sorted(starts, key=lambda trace: trace_order(trace, starts[trace])) == [
        trace for trace, _ in traces_of(rows)
    ]
