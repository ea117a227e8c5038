"""What is said of selectors that matched nothing."""

from __future__ import annotations

from pixie_otel.cli.unmatched import Unmatched
from pixie_otel.evals.case import Case, CaseResult
from pixie_otel.evals.evaluation import Failure, FailureKind
from pixie_otel.reports.style import Style


def unmatched(number: int, why: str | None) -> CaseResult:
    """Make a case for which a selector matched nothing, or one that is as it should be."""
    failure = None if why is None else Failure(FailureKind.OBSERVATION, why)
    trace_id = f"{number:08x}" + "0" * 24
    return CaseResult(Case(trace_id, "a", None, trace_id=trace_id, start_time_unix_nano=number, failure=failure), ())


def test_the_most_frequent_reason_comes_first() -> None:
    """With the first traces by their start, in whatever order they were judged."""
    found = Unmatched()
    for number, why in [(9, "b"), (5, "a"), (7, None), (2, "a"), (4, "a"), (3, "a")]:
        found.add(unmatched(number, why))

    assert list(found.lines(80, Style())) == [
        "",
        "Nothing matched",
        "  4x a [00000002, 00000003, 00000004, …]",
        "  1x b [00000009]",
    ]


def test_nothing_to_say() -> None:
    """Where everything matched, there is not even a heading."""
    found = Unmatched()
    found.add(unmatched(1, None))

    assert list(found.lines(80, Style())) == []


def test_many_reasons() -> None:
    """A few are shown, and the others counted, however many there are."""
    found = Unmatched()
    for number in range(1500):
        found.add(unmatched(number, f"why {number:04}"))
    lines = list(found.lines(80, Style()))

    assert len(lines) == 23
    assert lines[-1] == "  … and 1480 more, for other reasons"


def test_ids_of_other_forms() -> None:
    """What is no id of OpenTelemetry's form is shown whole, and a case without a trace by its own."""
    found = Unmatched()
    found.add(CaseResult(Case("row 1", "a", None, failure=Failure(FailureKind.OBSERVATION, "x")), ()))

    assert list(found.lines(80, Style()))[-1] == "  1x x [row 1]"
