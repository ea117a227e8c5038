"""ARCHITECTURE.md: the map is that of the code."""

import re
from pathlib import Path

import pytest

from pixie_otel.traces.dialects import DIALECTS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "room", ["exporters", "pixie_otel/traces", "pixie_otel/tracing", "pixie_otel/evals", "pixie_otel/runs"]
)
def test_every_module_is_on_the_map(room: str) -> None:
    """Each module of a room stands in the table of rooms, by its name or by the beginning of a family's."""
    named = set(re.findall(r"`([\w/]+\*?)`", PAGE))
    families = tuple(name[:-1] for name in named if name.endswith("*"))
    modules = {path.stem for path in (ROOT / room).glob("*.py")} - {"__init__"}

    assert {module for module in modules - named if not module.startswith(families)} == set()


def test_every_dialect_is_documented() -> None:
    """The table of what is read names each dialect."""
    room = ROOT / "pixie_otel" / "traces"
    dialects = set(re.findall(r"^\| `(\w+)`", (room / "DIALECTS.md").read_text(encoding="utf-8"), re.MULTILINE))

    assert dialects == {dialect.name for dialect in DIALECTS}
