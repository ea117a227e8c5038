"""The reference of the command line."""

from __future__ import annotations

from pathlib import Path

from pixie_otel.cli.reference import reference

ROOT = Path(__file__).parents[2]


def test_is_what_the_help_says(folder: Path) -> None:
    """The committed reference is what the help says today; if it is not, make it anew as its head tells."""
    assert (ROOT / "cli" / "REFERENCE.md").read_text(encoding="utf-8") == reference()


def test_fits_a_terminal() -> None:
    """No line of any help is longer than 80 columns."""
    blocks = reference().split("```")[1::2]

    assert len(blocks) == 8
    assert all(len(line) <= 80 for block in blocks for line in block.splitlines())
