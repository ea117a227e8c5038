"""Text in terminal cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.reports.layout import cell_width, cut, padded, table, wrapped
from pixie_otel.reports.printable import printable

texts = st.text(st.sampled_from("ab 漢é\u0301…"), max_size=60).map(printable)
widths = st.integers(14, 40)


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("漢字", 4), ("e\u0301", 1), ("", 0), ("😀", 2)])
def test_cells_are_counted(text: str, width: int) -> None:
    """Wide characters take two cells and combining ones none."""
    assert cell_width(text) == width


@given(texts, st.integers(2, 20))
def test_a_cut_text_fits(text: str, width: int) -> None:
    """What is cut fits, says that it was cut, and keeps its beginning; what fits is left alone."""
    shown = cut(text, width)

    assert cell_width(shown) <= width
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))
    assert (shown == text) == (cell_width(text) <= width)


@given(texts, st.integers(0, 80))
def test_a_padded_text_has_its_width(text: str, width: int) -> None:
    """A padded text takes the cells it was given, or what it needs."""
    assert cell_width(padded(text, width)) == max(width, cell_width(text))


@given(texts, widths)
def test_wrapping_loses_nothing(text: str, width: int) -> None:
    """Wrapped lines fit and hold all words in order."""
    lines = list(wrapped(text, width, indent=" ", hanging=" "))

    assert all(cell_width(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(texts, widths, st.integers(1, 3))
def test_wrapping_may_stop(text: str, width: int, most: int) -> None:
    """With a limit, there are no more lines than that, and the last one says where something is missing."""
    everything = list(wrapped(text, width))
    lines = list(wrapped(text, width, most=most))

    assert len(lines) == min(len(everything), most)
    assert all(cell_width(line) <= width for line in lines)
    assert lines == everything or lines[-1].endswith("…")


def test_wrapping_indents() -> None:
    """The first line has the indent, and the others the hanging indent as well."""
    assert list(wrapped("one two three four", 18, indent="  ", hanging="    ")) == ["  one two three", "      four"]


def test_columns_line_up() -> None:
    """The first column stands to the left and the others to the right; the first gives way where it is narrow."""
    rows = [("a name that is too long", "1"), ("b", "1000")]

    assert ["  ".join(cells) for cells in table(("Name", "Count"), rows, 22)] == [
        "Name             Count",
        "a name that is…      1",
        "b                 1000",
    ]
