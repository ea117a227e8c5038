"""Reading bytes as trace files, for tests, with the accounting checked each time."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.reader import TraceReader
from pixie_otel.traces.report import Problem, ReadReport
from pixie_otel.traces.trace import Trace


class Reading(NamedTuple):
    """What came of reading some files, every span of it decoded."""

    traces: list[Trace]
    report: ReadReport

    @property
    def kinds(self) -> dict[str, int]:
        """How many problems there were, by kind."""
        return dict(self.report.counts)

    @property
    def counts(self) -> dict[str, int]:
        """The numbers that do not depend on how things were spread over files."""
        return {name: value for name, value in self.report.to_json().items() if isinstance(value, int)}

    def problem(self, kind: str) -> Problem:
        """Give the only problem of a kind."""
        (found,) = [problem for problem in self.report.problems if problem.kind == kind]
        return found

    def trace_problems(self) -> list[list[tuple[str, str, str | None, str | None]]]:
        """Give what is wrong with each trace, without saying where."""
        return [sorted(map(_placeless, trace.problems), key=repr) for trace in self.traces]


def read(*inputs: bytes | str, strict: bool = False, limits: ReadLimits | None = None) -> Reading:
    """Write each input to a file, read them all, and see that everything in them is accounted for.

    Args:
        inputs: What stands in the files.
        strict: Whether the first problem is fatal.
        limits: Bounds of reading.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.jsonl" for number in range(len(inputs))]
        for path, content in zip(paths, inputs, strict=True):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        reader = TraceReader(*paths, strict=strict, limits=limits)
        traces: list[Trace] = []
        for trace in reader:
            traces.append(trace)
            assert trace.spans
            trace.to_text()
    check_accounting(reader.report, traces)
    return Reading(traces, reader.report)


def check_accounting(report: ReadReport, traces: list[Trace]) -> None:
    """See that every line, document and span was used or counted with a reason."""
    assert report.spans_read == report.spans_used + report.duplicate_spans + report.bad_spans
    assert report.spans_used == sum(len(list(trace.walk())) for trace in traces)
    for source in report.sources.values():
        for tally in (source.lines, source.documents):
            assert tally.total == tally.read + tally.blank + tally.skipped
    json.dumps(report.to_json())


def _placeless(problem: Problem) -> tuple[str, str, str | None, str | None]:
    return problem.kind, problem.message, problem.trace_id, problem.span_id
