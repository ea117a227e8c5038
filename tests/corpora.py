"""Where public test data lies that is not part of the project; tests that need it skip visibly without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def corpora_path(name: str) -> Path:
    """Give the folder of one corpus, or skip the test that asks for it.

    Args:
        name: The corpus, such as ``JSONTestSuite``.
    """
    beside_the_repository = Path(__file__).resolve().parents[2] / "shared" / "corpora"
    folder = Path(os.environ.get("PIXIE_OTEL_CORPORA") or beside_the_repository) / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not there; name the folder that holds it in PIXIE_OTEL_CORPORA")
    return folder
