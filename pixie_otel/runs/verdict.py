"""The verdict on a run: its exit code, and a sentence that explains it.

The codes, the first that applies:

    130, 143   interrupted by Ctrl-C or by SIGTERM
    2          a flag, a setting or a file that people wrote is wrong (said by an error before there is a run)
    3          nothing to judge: no readable input, no trace, or a filter that leaves none
    1          the criteria are not met on what was judged
    5          the budget was spent before the end
    4          the criteria are met, but something could not be judged, or nothing was
    0          otherwise

What was skipped never fails a run. A case counts as judged when at least one evaluator held it against a threshold,
and it passes when it reached every threshold that it was held against; whether another evaluator could not judge it is
a matter of code 4, which a share of such cases can be allowed for.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from msgspec import Struct

from pixie_otel.evals.evaluation import Outcome
from pixie_otel.runs.summary import Summary

__all__ = ["UNFINISHED", "Stop", "Verdict", "decide"]

_ROUNDING: Final = 1e-9


class Stop(IntEnum):
    """What ended a run early; the value is the exit code."""

    INTERRUPTED = 130
    TERMINATED = 143
    BUDGET = 5


class Verdict(Struct, frozen=True):
    """What a run comes to.

    Attributes:
        exit_code: The exit code of the command.
        text: One sentence that explains it.
    """

    exit_code: int
    text: str

    @property
    def passed(self) -> bool:
        """Whether everything is well: exit code 0."""
        return self.exit_code == 0


UNFINISHED: Final = Verdict(Stop.INTERRUPTED, "NOT FINISHED: the run was ended before its verdict")
"""The verdict of a run that says nothing of its end: it was killed, or is still going on."""


def decide(summary: Summary, *, pct: float = 1.0, allow_errors: float = 0.0, stop: Stop | None = None) -> Verdict:
    """Decide what a run comes to.

    Args:
        summary: What was found.
        pct: The share of judged cases that must pass, from 0 to 1.
        allow_errors: The share of all cases that may have errors, from 0 to 1.
        stop: What ended the run early, if anything did.
    """
    if stop is Stop.INTERRUPTED or stop is Stop.TERMINATED:
        how = "interrupted" if stop is Stop.INTERRUPTED else "terminated"
        return Verdict(stop, f"INTERRUPTED: {how} after {_count(summary.cases, 'case')}; {_judged(summary)}")
    if summary.judged_passed + _ROUNDING < pct * summary.judged:
        errors = f"; {summary.errored} of {_count(summary.cases, 'case')} had errors" if summary.errored else ""
        return Verdict(1, f"FAILED: {_judged(summary)}, {_percent(pct)} needed{errors}")
    if stop is Stop.BUDGET:
        return Verdict(
            stop, f"BUDGET SPENT: the run ended early, after {_count(summary.cases, 'case')}; {_judged(summary)}"
        )
    if not summary.cases:
        return Verdict(3, "NOTHING TO JUDGE: there was no case")
    if not summary.judged:
        return Verdict(4, f"NOT JUDGED: {_not_judged(summary)}")
    if summary.errored > allow_errors * summary.cases + _ROUNDING:
        allowed = f", {_percent(allow_errors)} allowed" if allow_errors else ""
        errors = f"{summary.errored} of {_count(summary.cases, 'case')} could not be judged in full{allowed}"
        return Verdict(4, f"INCOMPLETE: {_judged(summary)}, but {errors}")
    return Verdict(0, f"PASSED: {_judged(summary)}{_conditions(summary, pct)}")


def _judged(summary: Summary) -> str:
    return f"{summary.judged_passed} of {_count(summary.judged, 'judged case')} passed"


def _conditions(summary: Summary, pct: float) -> str:
    notes: list[str] = []
    if summary.judged_passed < summary.judged:
        notes.append(f"{_percent(pct)} needed")
    if summary.errored:
        notes.append(f"{summary.errored} of {_count(summary.cases, 'case')} had errors, which was allowed")
    return "".join(f", {note}" for note in notes)


def _not_judged(summary: Summary) -> str:
    parts = [
        f"{count} {word}"
        for outcome, word in (
            (Outcome.ERROR, "with errors"),
            (Outcome.MEASURED, "measured without a threshold"),
            (Outcome.SKIPPED, "skipped"),
        )
        if (count := summary.outcomes.get(outcome, 0))
    ]
    return f"no evaluator held any of {_count(summary.cases, 'case')} against a threshold ({', '.join(parts)})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _percent(share: float) -> str:
    return f"{share * 100:.10g} %"
