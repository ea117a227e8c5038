"""Words for findings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.evals.evaluators.checks.wording import counted, listed, shortened


def test_one_is_not_several() -> None:
    """Nouns go with their number."""
    assert counted(1, "tool call") == "1 tool call"
    assert counted(0, "tool call") == "0 tool calls"


def test_a_long_list_is_cut() -> None:
    """The first few are named and the rest counted."""
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


@given(st.text(max_size=1000), st.integers(1, 50))
def test_text_is_cut_to_one_short_line(text: str, most: int) -> None:
    """Whatever stood in a trace becomes one line of bounded length, and short lines stay as they are."""
    line = shortened(text, most)
    assert len(line) <= most + 1
    assert len(line.splitlines()) <= 1
    if text == " ".join(text.split()) and len(text) <= most:
        assert line == text
