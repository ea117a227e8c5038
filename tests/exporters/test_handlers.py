"""What an application gives to be called for every span."""

from __future__ import annotations

from observed import observed, observed_call

from pixie_otel.exporters.handlers import InstrumentationHandler


def test_a_handler_that_does_nothing() -> None:
    """A subclass need not have both methods: those of the base class do nothing."""
    handler = InstrumentationHandler()

    assert handler.on_observe(observed({})) is None
    assert handler.on_llm(observed_call({"openinference.span.kind": "LLM"})) is None
