"""Observations as values."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.traces.spans import LLMSpan, ObserveSpan, SpanError


def span(start: int = 0, end: int = 0, **fields: object) -> ObserveSpan:
    """Make an observation that took so long."""
    return ObserveSpan(trace_id="t", span_id="s", start_time_unix_nano=start, end_time_unix_nano=end, **fields)  # type: ignore[arg-type]


def test_times() -> None:
    """Times are in UTC, durations in milliseconds."""
    observed = span(1_700_000_000_123_456_789, 1_700_000_001_123_456_789)

    assert observed.started_at == datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=UTC)
    assert observed.ended_at == datetime(2023, 11, 14, 22, 13, 21, 123456, tzinfo=UTC)
    assert observed.duration_ms == 1000.0


@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 5), (5, 0), (5, 4)])
def test_missing_and_skewed_times(start: int, end: int) -> None:
    """What cannot be told is not told."""
    assert span(start, end).duration_ms is None
    assert span().started_at is None


@given(st.integers(0, 2**64 - 1))
def test_any_time_is_no_error(nanoseconds: int) -> None:
    """A time past the year 9999 is none."""
    moment = span(nanoseconds).started_at

    assert moment is None or moment.year <= 9999


def test_service() -> None:
    """The service is the resource's, where that is a name."""
    assert span(resource={"service.name": "bot"}).service_name == "bot"
    assert span(resource={"service.name": 5}).service_name is None
    assert span().service_name is None


def test_the_model_is_the_one_that_answered() -> None:
    """Else it is the one that was asked for."""
    call = LLMSpan(trace_id="t", span_id="s", request_model="m", response_model="m-1")

    assert call.model == "m-1"
    assert LLMSpan(trace_id="t", span_id="s", request_model="m").model == "m"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SpanError(), "unknown error"),
        (SpanError("broke"), "broke"),
        (SpanError(type="ValueError"), "ValueError"),
        (SpanError("broke", "ValueError"), "ValueError: broke"),
        (SpanError("ValueError: broke", "builtins.ValueError"), "ValueError: broke"),
    ],
)
def test_errors_as_text(error: SpanError, said: str) -> None:
    """An error says its type once."""
    assert str(error) == said
