"""The kinds of problems."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import pixie_otel
from pixie_otel.traces.findings.kinds import KINDS, ProblemKind, Weight, kind_of

PACKAGE = Path(pixie_otel.__file__).parent
KEBAB = re.compile(r"[a-z]+(-[a-z]+)+")
OTHERS = {
    *("two-instrumentations", "stream-answer", "same-run"),
    *("tool-call", "tool-calls", "tool-response", "tool-result", "content-filter"),
}
"""Rules of counting, types of parts, and reasons why an answer ended."""


def reported_kinds() -> set[str]:
    """Give every kind that stands in the code that reports problems."""
    paths = [path for path in (PACKAGE / "traces").rglob("*.py") if "dialects" not in path.parts]
    paths = [path for path in paths if path.name not in {"kinds.py", "switches.py"}]
    found: set[str] = set()
    for path in (*paths, PACKAGE / "evals" / "expectations.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and KEBAB.fullmatch(node.value):
                found.add(node.value)
    return found


def test_every_kind_is_explained() -> None:
    """What is reported stands in the table, and what stands there is reported."""
    assert reported_kinds() - OTHERS <= KINDS.keys()
    assert KINDS.keys() <= reported_kinds()


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_says_what_it_is_and_what_to_do(kind: ProblemKind) -> None:
    """In sentences, and what is to be typed fits a terminal."""
    advice, *typed = kind.fix.split("\n")

    assert KINDS[kind.name] is kind
    assert kind.title[0].isupper()
    assert kind.title.endswith(".")
    assert advice.endswith(":" if typed else ".")
    assert all(line and len(line) <= 74 for line in typed)


def test_those_that_matter_most_come_first() -> None:
    """Errors, then warnings, then notes."""
    weights = [kind.weight for kind in KINDS.values()]

    assert weights == sorted(weights, key=list(Weight).index)


def test_a_kind_of_another_version_is_a_warning() -> None:
    """Nothing is known of it, and it is not passed over."""
    assert kind_of("torn-line") is KINDS["torn-line"]
    assert (kind_of("from-the-future").weight, kind_of("from-the-future").fix) == (Weight.WARNING, "")
