"""What an application gives to be called for every span that ends."""

from __future__ import annotations

from collections.abc import Awaitable

from pixie_otel.traces.spans import LLMSpan, ObserveSpan

__all__ = ["InstrumentationHandler"]


class InstrumentationHandler:
    """Takes the spans of an application as observations; a subclass says what is done with them.

    Each span is given to one of the two methods, once, soon after it ended. They are called one after another on a
    thread of their own, and may be coroutine functions. What they raise is counted and logged, and goes nowhere.
    """

    def on_llm(self, span: LLMSpan) -> Awaitable[None] | None:
        """Take a call of a language model.

        Args:
            span: The call.
        """

    def on_observe(self, span: ObserveSpan) -> Awaitable[None] | None:
        """Take any other span.

        Args:
            span: The observation.
        """
