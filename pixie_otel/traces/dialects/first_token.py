"""How long a model took to begin its answer: by the events that mark a stream's pieces, or the moment as a date."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.attributes import mlflow as mlflow_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.reading import SpanFacts
from pixie_otel.traces.spans import SpanEvent

__all__ = ["first_token_ms", "ms_until"]

_PIECES: Final = (
    keys.OI_EVENT_FIRST_TOKEN,
    keys.TRACELOOP_EVENT_CHUNK,
    keys.TRACELOOP_EVENT_OLD_CHUNK,
    mlflow_keys.CHUNK_EVENT_PREFIX,
)
"""How the names of such events begin."""


def first_token_ms(events: Iterable[SpanEvent], start_time_unix_nano: int) -> float | None:
    """Give the milliseconds from a span's start to the first piece of its answer.

    Args:
        events: The span's events.
        start_time_unix_nano: When it started; 0 where that is not known.

    Returns:
        The milliseconds; ``None`` where no event marks a piece, or none has a time after the start.
    """
    times = [event.time_unix_nano for event in events if event.name.startswith(_PIECES)]
    if not times or not start_time_unix_nano:
        return None
    passed = (min(times) - start_time_unix_nano) / 1e6
    return passed if passed >= 0 else None


def ms_until(moment: JsonValue, span: SpanFacts) -> float | None:
    """Give the milliseconds from a span's start to a moment.

    Args:
        moment: The moment as a date with its time zone.
        span: The span.

    Returns:
        The milliseconds; ``None`` where either is not known, or the moment comes before the start.
    """
    try:
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else None
    except ValueError:
        return None
    if at is None or at.tzinfo is None or not span.start_time_unix_nano:
        return None
    passed = at.timestamp() * 1000 - span.start_time_unix_nano / 1e6
    return round(passed, 3) if passed >= 0 else None
