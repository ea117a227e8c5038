"""Spans of one trace that have the same id."""

from __future__ import annotations

from itertools import permutations

from sdk_spans import sdk_span

from pixie_otel.exporters.otlp_json import encode
from pixie_otel.exporters.readback import record
from pixie_otel.traces.record import SpanRecord
from pixie_otel.traces.twins import Twins


def span(number: int, name: str = "a span", service: str = "a") -> SpanRecord:
    """Give a span as the reader has it."""
    return record(encode(sdk_span(number=number, name=name, resource={"service.name": service})))


def test_ids_that_differ() -> None:
    """There is nothing to tell."""
    twins = Twins()

    assert [twins.is_known(span(number)) for number in (1, 2)] == [False, False]
    assert twins.problems("t", "memory") == []


def test_the_same_and_others() -> None:
    """A span that was there is known, and one with its id and other content is not; both are said."""
    twins = Twins()

    assert [twins.is_known(span(1, name)) for name in ("a", "b", "a", "b", "b")] == [False, False, True, True, True]
    assert twins.repeated == 3
    repeated, conflicting = twins.problems("t", "memory")
    assert (repeated.kind, repeated.message[:23]) == ("duplicate-span", "3 repeated spans were l")
    assert (conflicting.kind, conflicting.span_id) == ("conflicting-span", f"{1:016x}")


def test_whatever_comes_first() -> None:
    """Which origin is kept, and in which order spans stand, does not depend on how they came."""
    found: set[tuple[tuple[str, object], ...]] = set()
    for order in permutations([("a", "x"), ("b", "x"), ("a", "y")]):
        twins = Twins()
        records = [made for name, service in order if not twins.is_known(made := span(1, name, service))]
        twins.sort(records)
        found.add(tuple((made.name, made.origin.resource["service.name"]) for made in records))

    assert len(found) == 1
