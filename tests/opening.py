"""Opening inputs the way a reading does, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixie_otel.traces.files import find_sources, open_source
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.report import ReadReport

if TYPE_CHECKING:
    from pathlib import Path

LINE = b'{"resourceSpans":[]}\n'


def read(path: Path | str, report: ReadReport | None = None, limits: ReadLimits | None = None) -> bytes:
    """Open one path and give its text."""
    (source,) = find_sources([path])
    with open_source(source, limits=limits or ReadLimits(), report=report or ReadReport()) as opened:
        with opened.reader() as reader:
            data = reader.read()
        assert len(data) == opened.size
        return data


def kinds(report: ReadReport) -> list[str]:
    """Give the kinds of the problems."""
    return [problem.kind for problem in report.problems]
