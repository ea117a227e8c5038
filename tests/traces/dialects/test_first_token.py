"""How long a model took to begin, by the events of its span or by a date."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from observed import START, observed_call

from pixie_otel.traces.dialects.first_token import first_token_ms, ms_until
from pixie_otel.traces.dialects.reading import SpanFacts
from pixie_otel.traces.spans import SpanEvent

if TYPE_CHECKING:
    from pixie_otel.evaluable import JsonValue


def at(name: str, milliseconds: float) -> SpanEvent:
    """Make an event some time after the start."""
    return SpanEvent(name=name, time_unix_nano=START + int(milliseconds * 1e6))


@pytest.mark.parametrize(
    "name",
    [
        "First Token Stream Event",
        "llm.content.completion.chunk",
        "gen_ai.content.completion.chunk",
        "mlflow.chunk.item.0",
    ],
)
def test_the_first_piece_counts(name: str) -> None:
    """OpenInference marks the first piece, others each; their order does not matter."""
    assert first_token_ms([at("x", 1), at(name, 300), at(name, 250)], START) == 250


def test_nothing_marked() -> None:
    """Without such an event, a start, or a time after it, nothing is known."""
    name = "First Token Stream Event"

    assert first_token_ms([at("exception", 5)], START) is None
    assert first_token_ms([at(name, 5)], 0) is None
    assert first_token_ms([SpanEvent(name=name)], START) is None


def test_the_dialects_word_comes_first() -> None:
    """What a producer measured itself counts before what its events tell."""
    kind = {"openinference.span.kind": "LLM"}

    assert observed_call(kind, at("First Token Stream Event", 250)).time_to_first_token_ms == 250
    own = {"gen_ai.operation.name": "chat", "gen_ai.response.time_to_first_chunk": 0.5}
    assert observed_call(own, at("gen_ai.content.completion.chunk", 250)).time_to_first_token_ms == 500


@pytest.mark.parametrize(
    ("moment", "milliseconds"),
    [
        ("2023-11-14T22:13:20.250Z", 250.0),
        ("2023-11-14T23:13:20.250+01:00", 250.0),
        ("2023-11-14T22:13:20.250", None),
        ("2023-11-14T22:13:19Z", None),
        ("soon", None),
        (5, None),
        (None, None),
    ],
)
def test_moments(moment: JsonValue, milliseconds: float | None) -> None:
    """A date counts with its time zone only, and not before the start."""
    span = SpanFacts(trace_id="t", span_id="s", start_time_unix_nano=START)

    assert ms_until(moment, span) == milliseconds
    assert ms_until(moment, SpanFacts(trace_id="t", span_id="s")) is None
