"""The cases of a run that a report shows: those that need a look first, and of each kind no more than people read."""

from __future__ import annotations

import dataclasses
from bisect import insort
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from pixie_otel.evals.case import CaseResult
from pixie_otel.evals.evaluation import Outcome

__all__ = ["CaseBoard", "CaseGroup", "group_of"]


class CaseGroup(StrEnum):
    """What cases have in common for somebody who reads a report; in the order in which they are shown."""

    FAILED = "failed"
    ERROR = "error"
    WARNED = "warned"
    PASSED = "passed"
    MEASURED = "measured"
    SKIPPED = "skipped"


_OF_OUTCOME: Final = {outcome: CaseGroup(outcome.value) for outcome in Outcome}


def group_of(result: CaseResult) -> CaseGroup:
    """Say where a case belongs: by its outcome, but for those that went well and have a warning.

    Args:
        result: The judged case.
    """
    group = _OF_OUTCOME[result.outcome]
    if group in {CaseGroup.FAILED, CaseGroup.ERROR}:
        return group
    return CaseGroup.WARNED if any(item.warns for item in result.results) else group


class CaseBoard:
    """Takes judged cases in any order, and keeps of each group the first by start time and id.

    Args:
        limit: How many cases of a group are kept; ``None`` for all. All are counted.
    """

    def __init__(self, limit: int | None = 20) -> None:
        self._limit = limit
        self._counts: Counter[CaseGroup] = Counter()
        self._kept: dict[CaseGroup, list[CaseResult]] = {group: [] for group in CaseGroup}

    def add(self, result: CaseResult) -> None:
        """Count a case, and keep it where it belongs to the first of its group.

        Args:
            result: The judged case.
        """
        group = group_of(result)
        self._counts[group] += 1
        kept = self._kept[group]
        if self._limit is not None and len(kept) >= self._limit:
            if not kept or _order(result) >= _order(kept[-1]):
                return
            kept.pop()
        # A trace would be held in memory as long as the board is, and nothing of it is shown.
        case = dataclasses.replace(result.case, trace=None, evaluable=None)
        insort(kept, CaseResult(case, result.results), key=_order)

    def groups(self) -> Iterator[tuple[CaseGroup, int, list[CaseResult]]]:
        """Give the groups that have cases, with how many, and those that were kept."""
        for group in CaseGroup:
            if self._counts[group]:
                yield group, self._counts[group], self._kept[group]

    def first_trace_to_look_at(self) -> str | None:
        """Give the id of the first trace with something to look at; ``None`` where there is none."""
        for group in (CaseGroup.FAILED, CaseGroup.ERROR, CaseGroup.WARNED):
            for result in self._kept[group]:
                if result.case.trace_id is not None:
                    return result.case.trace_id
        return None


def _order(result: CaseResult) -> tuple[int, str]:
    return result.case.start_time_unix_nano, result.case.id
