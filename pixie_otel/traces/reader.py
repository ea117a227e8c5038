"""Reading traces: from paths to `Trace` values, with an account of everything that was read."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from pixie_otel.errors import InputError
from pixie_otel.traces.assembly import Assembly
from pixie_otel.traces.doubles import RecentTraces
from pixie_otel.traces.files import find_sources, open_source
from pixie_otel.traces.index import Place
from pixie_otel.traces.indexing import Indexer
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.report import ReadReport
from pixie_otel.traces.stored import Spool
from pixie_otel.traces.trace import Trace

__all__ = ["Readings", "TraceReader", "read_traces"]

_OPEN_FILES: Final = 64


def read_traces(*paths: str | os.PathLike[str]) -> Iterator[Trace]:
    """Read the traces of files.

    Args:
        paths: Files, folders, globs, or ``-`` for standard input; JSON or JSON lines, plain, gzip or zstd.

    Yields:
        The traces by start time; those of one moment in an order that their ids alone make. To know what was wrong with
        the input, use `TraceReader`.

    Raises:
        InputError: A path leads to nothing that can be read.
    """
    return iter(TraceReader(*paths))


class TraceReader:
    """Reads the traces of files, and accounts for everything in them.

    Spans of one trace may lie anywhere in any of the files. Memory holds an index of 36 bytes a span, and one trace at
    a time (with some small ones around it) as long as the caller keeps no other.

    Args:
        paths: Files, folders, globs, or ``-`` for standard input, which is empty when it is iterated a second time.
        limits: Bounds of reading.
        strict: Whether the first thing that is wrong ends the reading with an `InputError`.

    Attributes:
        sources: The inputs behind the paths.
        report: The account of the latest iteration, complete when that has ended.

    Raises:
        InputError: A path leads to nothing that can be read.
    """

    def __init__(self, *paths: str | os.PathLike[str], limits: ReadLimits | None = None, strict: bool = False) -> None:
        self.sources = find_sources(paths)
        self._limits = limits or ReadLimits()
        self._strict = strict
        self.report = ReadReport(strict=strict)

    def report_json(self) -> dict[str, Any]:
        """Give the account as it is now, as a JSON object."""
        return dict(self.report.to_json())

    def __iter__(self) -> Iterator[Trace]:
        """Read everything and give the traces by start time; those of one moment in an order that their ids make.

        Raises:
            InputError: An input cannot be opened; or anything is wrong and the reading is strict.
        """
        with self._indexed() as (indexer, report):
            yield from self._traces(indexer, report, [])

    @contextmanager
    def twice(self) -> Generator[Readings]:
        """Open everything for reading all traces, and then some of them again.

        Raises:
            InputError: An input cannot be opened; or anything is wrong and the reading is strict.
        """
        with self._indexed() as (indexer, report):
            yield Readings(self._traces, indexer, report)

    @contextmanager
    def _indexed(self) -> Generator[tuple[Indexer, ReadReport]]:
        """Read everything once, and keep it open, with the account of it."""
        # Another iteration may begin, and have a report of its own, before this one ends.
        report = self.report = ReadReport(strict=self._strict)
        with ExitStack() as stack:
            unpacked = stack.enter_context(Spool(self._limits.spool_bytes))
            salvaged = stack.enter_context(Spool(self._limits.spool_bytes))
            indexer = Indexer(self._limits, report, salvaged)
            stack.callback(indexer.index.close)
            for number, source in enumerate(self.sources):
                with ExitStack() as reading:
                    opened = open_source(source, limits=self._limits, report=report, spool=unpacked)
                    indexer.read(reading.enter_context(opened))
                    if number < _OPEN_FILES:
                        # A file that is not open is opened anew for every span that is read again.
                        stack.push(reading.pop_all())
            indexer.strays.sort()
            yield indexer, report

    def _traces(self, indexer: Indexer, report: ReadReport, numbers: list[int]) -> Iterator[Trace]:
        """Give all traces, and note the number in the index of each that is given."""
        recent, index = RecentTraces(), indexer.index
        for number, (key, places) in enumerate(index.traces()):
            trace = Assembly(key, indexer, report).trace(places)
            if trace is not None:
                numbers.append(number)
                self._note_places(trace, places, indexer)
                if report.strict:
                    # What is wrong within a span shows when it is decoded.
                    _ = trace.spans
                if recent.passes(trace, index.next_small_start):
                    yield trace
                    continue
                size = sum(length for _, length, _ in places)
                yield from recent.add(trace, size, index.next_start, index.next_small_start)
        yield from recent.before(None, None)

    def _note_places(self, trace: Trace, places: list[Place], indexer: Indexer) -> None:
        """Take note of where a trace's records lie; a reader that writes them again needs to know."""


class Readings:
    """Reads all traces of files once, and then any of them again.

    Args:
        traces: Gives the traces of an index, and notes their numbers in it.
        indexer: What was read.
        report: The account of it.
    """

    def __init__(
        self,
        traces: Callable[[Indexer, ReadReport, list[int]], Iterator[Trace]],
        indexer: Indexer,
        report: ReadReport,
    ) -> None:
        self._traces = traces
        self._indexer = indexer
        self._report = report
        self._numbers: list[int] = []

    def first(self) -> Iterator[Trace]:
        """Give all traces in order. What is wrong with them is reported when they are read again."""
        self._numbers = []
        return self._traces(self._indexer, ReadReport(), self._numbers)

    def again(self, number: int) -> Trace:
        """Read a trace again, when all were read.

        Args:
            number: Which of those that `first` gave, from 0.

        Raises:
            InputError: It is no longer there; or anything is wrong with it and the reading is strict.
        """
        key, places = self._indexer.index.again(self._numbers[number])
        report = self._report
        trace = Assembly(key, self._indexer, report).trace(places)
        if trace is None:
            raise InputError(f"{', '.join(report.sources)}: changed while it was read")
        if report.strict:
            _ = trace.spans
        return trace
