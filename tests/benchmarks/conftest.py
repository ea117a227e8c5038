"""Large files, made once a session and removed when it ends, and the table of what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.generate import SPAN_BYTES, generate
from benchmarks.measure import Figure, SpanFile

_FIGURES = pytest.StashKey[list[Figure]]()


def _written(folder: Path, spans: int, span_bytes: int) -> Iterator[SpanFile]:
    path = folder / "traces.jsonl"
    generate(path, spans=spans, span_bytes=span_bytes)
    yield SpanFile(path, spans)
    # pytest keeps the folders of the last sessions, and a file like this one is not worth that.
    path.unlink()


@pytest.fixture(scope="session")
def hundred_thousand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpanFile]:
    """Give 100,000 spans in 20,000 traces, 360 MB."""
    yield from _written(tmp_path_factory.mktemp("hundred-thousand"), 100_000, SPAN_BYTES)


@pytest.fixture(scope="session")
def million(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpanFile]:
    """Give 1,000,000 spans in 200,000 traces, as small as they get: 1.5 GB, as memory goes by their number."""
    yield from _written(tmp_path_factory.mktemp("million"), 1_000_000, 0)


@pytest.fixture(scope="session")
def figures(request: pytest.FixtureRequest) -> list[Figure]:
    """Give the list of what is shown when the session ends."""
    return request.config.stash.setdefault(_FIGURES, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what was measured as a table."""
    found = config.stash.get(_FIGURES, [])
    if not found:
        return
    terminalreporter.section("benchmarks")
    for figure in found:
        terminalreporter.line(f"{figure.name:<52}{figure.value:>10.2f} {figure.unit:<3}{figure.limit_text:>16}")
