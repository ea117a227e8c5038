"""Attribute keys."""

from __future__ import annotations

import ast
from pathlib import Path

from attribute_keys import constants

import pixie_otel
from pixie_otel import attributes
from pixie_otel.attributes import coding_agents

PACKAGE = Path(pixie_otel.__file__).parent
LIBRARIES = "openinference.instrumentation."


PREFIXES = tuple(
    sorted(
        {
            key.partition(".")[0] + "."
            for name, key in constants().items()
            if "." in key and not name.startswith(f"{coding_agents.__name__}.")
        }
    )
)
"""How keys begin; those of coding agents begin with words that others use as well."""


def test_every_key_stands_once() -> None:
    """No two names for one key."""
    keys = list(constants().values())

    assert len(keys) == len(set(keys)) > 50
    assert all(isinstance(key, str) and key for key in keys)


def test_names_tell_the_convention() -> None:
    """A key of a convention has a name that says which."""
    general = ((name, key) for name, key in vars(attributes).items() if name.isupper())
    for name, key in general:
        if key.startswith("openinference."):
            assert name.startswith("OI_")
        if key.startswith("pixie."):
            assert name.startswith("PIXIE_")
        if key.startswith("gen_ai."):
            assert name.startswith(("GENAI_", "TRACELOOP_"))


def test_keys_are_spelled_nowhere_else() -> None:
    """A key that is misspelled reads nothing and fails nowhere, so all stand in one place."""
    spelled: list[str] = []
    paths = (path for room in ("exporters", "testing", "traces", "tracing") for path in (PACKAGE / room).rglob("*.py"))
    for path in sorted(paths):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        spelled.extend(
            f"{path.name}: {node.value}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(PREFIXES)
            if " " not in node.value and not node.value.startswith(LIBRARIES)
        )

    assert spelled == []
