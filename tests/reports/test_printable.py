"""Text from traces, made fit for a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.reports.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, 漢字 and é", "plain text, 漢字 and é"),
        ("wide\u3000and\u00a0hard spaces", "wide\u3000and\u00a0hard spaces"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]52;c;ZXZpbA==\x07", r"\x1b]52;c;ZXZpbA==\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("over\rwritten\b\x7f", r"over\rwritten\x08\x7f"),
        ("two\nlines\tapart", r"two\nlines\tapart"),
        ("abc\u202edef\u2066", r"abc\u202edef\u2066"),
        ("in\u200bvis\u200dible\ufeff\u00ad", r"in\u200bvis\u200dible\ufeff\xad"),
        ("blank\u3164letter", r"blank\u3164letter"),
        ("line\u2028separator", r"line\u2028separator"),
        ("half \ud800 pair", r"half \ud800 pair"),
        ("tag \U000e0041", r"tag \U000e0041"),
        ("[bold]markup[/bold]", "[bold]markup[/bold]"),
    ],
)
def test_what_would_steer_or_hide_is_escaped(text: str, shown: str) -> None:
    """Escape sequences, overrides and invisible characters become escapes; everything else stays as it is."""
    assert printable(text) == shown


def test_some_characters_may_stay() -> None:
    """A caller that lays out lines keeps the newlines."""
    assert printable("a\nb\tc", keep="\n") == "a\nb\\tc"


@given(st.text(st.characters()))
def test_nothing_invisible_is_left(text: str) -> None:
    """Whatever the text, what comes out is printable, and making it so again changes nothing."""
    shown = printable(text)

    assert all(char.isprintable() or unicodedata.category(char) == "Zs" for char in shown)
    assert printable(shown) == shown
    assert shown.encode("utf-8").decode() == shown
