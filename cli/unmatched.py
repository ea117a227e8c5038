"""What a selector that matched nothing is explained with, at the end of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pixie_otel.evals.case import CaseResult
from pixie_otel.reports.layout import wrapped
from pixie_otel.reports.printable import printable
from pixie_otel.reports.style import Style

__all__ = ["Unmatched"]

_MOST_KEPT: Final = 1000
_MOST_SHOWN: Final = 20
_TRACES_SHOWN: Final = 3
_ID_SHOWN: Final = 8
_ID_LENGTH: Final = 32


class Unmatched:
    """The cases for which the selector matched nothing, by the reason."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._traces: dict[str, list[tuple[int, str]]] = {}
        self._others = 0

    def add(self, result: CaseResult) -> None:
        """Take note of a case, where the selector matched nothing for it.

        Args:
            result: The judged case.
        """
        case = result.case
        if case.failure is None:
            return
        why = case.failure.message
        if why not in self._counts and len(self._counts) >= _MOST_KEPT:
            self._others += 1
            return
        self._counts[why] = self._counts.get(why, 0) + 1
        traces = self._traces.setdefault(why, [])
        traces.append((case.start_time_unix_nano, case.trace_id or case.id))
        # Cases come in the order in which they are done.
        traces.sort()
        del traces[_TRACES_SHOWN:]

    def lines(self, width: int, style: Style) -> Iterator[str]:
        """Say each reason whole, the most frequent first, with a few of the traces.

        Args:
            width: How many cells a line has.
            style: Whether to colour.
        """
        if not self._counts:
            return
        yield ""
        yield style.paint("Nothing matched", "title")
        ranked = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        for why, count in ranked[:_MOST_SHOWN]:
            ids = ", ".join(_shown_id(trace_id) for _, trace_id in self._traces[why])
            more = ", …" if count > len(self._traces[why]) else ""
            yield from wrapped(f"{count}x {printable(why)} [{ids}{more}]", width, indent="  ")
        others = self._others + sum(count for _, count in ranked[_MOST_SHOWN:])
        if others:
            yield f"  … and {others} more, for other reasons"


def _shown_id(trace_id: str) -> str:
    return printable(trace_id[:_ID_SHOWN] if len(trace_id) == _ID_LENGTH else trace_id)
