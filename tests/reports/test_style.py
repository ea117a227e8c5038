"""Colours."""

from __future__ import annotations

from pixie_otel.reports.style import Style


def test_paints_only_where_colours_are_wanted() -> None:
    """Without colours, text stays as it is."""
    assert Style(color=True).paint("no", "title", "bad") == "\x1b[1;31mno\x1b[0m"
    assert Style(color=True).paint("no") == "no"
    assert Style().paint("no", "bad") == "no"
