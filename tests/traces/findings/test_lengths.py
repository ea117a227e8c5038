"""Whether values were cut at a limit of their length."""

from __future__ import annotations

from itertools import permutations

import pytest
from observed import observed

from pixie_otel.traces.findings.lengths import Lengths
from pixie_otel.traces.spans import ObserveSpan


def spans(service: str, *numbers: int) -> list[ObserveSpan]:
    """Make observations with texts of one length that differ."""
    return [
        observed(
            {"output.value": f"{number} " + "and so on " * 9},
            span_id=f"{number:016x}",
            start_time_unix_nano=number,
            resource={"service.name": service},
        )
        for number in numbers
    ]


def found(*observed_spans: ObserveSpan) -> list[str]:
    """Watch some observations, and give the ids of the first of those that were cut."""
    lengths = Lengths()
    for span in observed_spans:
        lengths.add(span)
    return [finding.span.span_id for finding in lengths.findings()]


def test_the_order_makes_no_difference() -> None:
    """The first is the earliest."""
    for some in permutations(spans("a", 1, 2, 3)):
        assert found(*some) == [f"{1:016x}"]


def test_each_service_is_watched_for_itself() -> None:
    """A limit holds for a process."""
    assert found(*spans("a", 1, 2, 3), *spans("b", 4, 5, 6)) == [f"{1:016x}", f"{4:016x}"]
    assert found(*spans("a", 1, 2), *spans("b", 4, 5)) == []


def test_many_services_are_not_watched() -> None:
    """Memory does not grow with their number."""
    many = [span for number in range(64) for span in spans(f"service {number}", 1)]

    assert found(*many, *spans("one more", 1, 2, 3)) == []


def ending(end: str) -> list[ObserveSpan]:
    """Make observations with texts of one length that differ, and end alike."""
    return [
        observed({"output.value": f"{number} {'and so on ' * 9}{end}"}, span_id=f"{number:016x}")
        for number in (1, 2, 3)
    ]


@pytest.mark.parametrize("end", ["and so on.", "so on?", '"}'])
def test_what_ends_as_it_should_was_not_cut(end: str) -> None:
    """Answers of a model, as JSON, and questions made of one template are often of one length."""
    assert found(*ending(end)) == []


@pytest.mark.parametrize("end", ["and so", "and so ..."])
def test_what_ends_in_the_middle_was_cut(end: str) -> None:
    """Some say so with dots."""
    assert found(*ending(end)) == [f"{1:016x}"]
