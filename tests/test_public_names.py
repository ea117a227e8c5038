"""What modules say is public."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import pixie_otel

PACKAGE = Path(pixie_otel.__file__).parent
MODULES = sorted(
    {path for folder in (PACKAGE, PACKAGE / "cli", PACKAGE / "exporters") for path in folder.rglob("*.py")}
    - {PACKAGE / "__main__.py"}
)


def public_names(tree: ast.Module) -> list[str]:
    """Give the functions and classes that a module defines at its top and does not hide."""
    defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return [node.name for node in tree.body if isinstance(node, defined) and not node.name.startswith("_")]


def exported(tree: ast.Module) -> list[str] | None:
    """Give the names in ``__all__``; ``None`` without one."""
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            value = node.value  # type: ignore[union-attr]
            return [str(ast.literal_eval(item)) for item in getattr(value, "elts", [])]
    return None


def isort_key(name: str) -> tuple[int, list[tuple[int, str, int]]]:
    """Give the key by which ruff sorts ``__all__``: constants, then classes, then the rest, digits by their number."""
    rank = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    pieces = re.findall(r"\d+|\D+", name)
    return rank, [(0, "", int(piece)) if piece.isdigit() else (1, piece, 0) for piece in pieces]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_public_name_is_exported(path: Path) -> None:
    """What has no underscore is for other modules, and stands in ``__all__``, which is sorted."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = exported(tree)
    public = public_names(tree)

    if names is None:
        assert public == []
        return
    assert set(public) <= set(names)
    assert names == sorted(set(names), key=isort_key)
