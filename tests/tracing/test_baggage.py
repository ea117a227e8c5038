"""Session and user come with the baggage of a request onto every span."""

from __future__ import annotations

import pytest
from opentelemetry import baggage
from opentelemetry.context import Context
from opentelemetry.trace import Tracer

from pixie_otel.tracing.hub import SpanHub


class TestBaggage:
    """Session and user from W3C baggage."""

    def test_they_are_copied(self, tracer: Tracer, hub: SpanHub) -> None:
        """A span gets the session and the user of the request that it belongs to."""
        context = baggage.set_baggage("session.id", "s1", baggage.set_baggage("user.id", "u1", Context()))
        span = tracer.start_span("a span", context=context)

        assert dict(span.attributes or {}) == {"session.id": "s1", "user.id": "u1"}  # type: ignore[attr-defined]

    @pytest.mark.parametrize("value", [7, "", None, ["s1"]])
    def test_only_texts(self, value: object, tracer: Tracer) -> None:
        """What is no text in the baggage is no session."""
        span = tracer.start_span("a span", context=baggage.set_baggage("session.id", value, Context()))

        assert not span.attributes  # type: ignore[attr-defined]

    def test_the_span_s_own_counts(self, tracer: Tracer) -> None:
        """A span that has a session keeps it."""
        context = baggage.set_baggage("session.id", "s1", Context())
        span = tracer.start_span("a span", context=context, attributes={"session.id": "own"})

        assert dict(span.attributes or {}) == {"session.id": "own"}  # type: ignore[attr-defined]

    def test_the_public_way(self, tracer: Tracer, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where OpenTelemetry keeps the baggage under another key, it is found too."""
        monkeypatch.setattr("pixie_otel.tracing.hub._BAGGAGE", None)
        tracer.start_span("without").end()
        span = tracer.start_span("a span", context=baggage.set_baggage("user.id", "u1", Context()))

        assert dict(span.attributes or {}) == {"user.id": "u1"}  # type: ignore[attr-defined]
