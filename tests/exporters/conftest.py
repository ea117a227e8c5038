"""A receiver of OTLP, for the tests that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pixie_otel.exporters.otlp_receiver import OtlpReceiver


@pytest.fixture
def said() -> list[str]:
    """What the receiver says."""
    return []


@pytest.fixture
def receiver(tmp_path: Path, said: list[str]) -> Iterator[OtlpReceiver]:
    """A receiver that writes to `out.jsonl`."""
    with OtlpReceiver(tmp_path / "out.jsonl", port=0, say=said.append) as receiver:
        yield receiver
