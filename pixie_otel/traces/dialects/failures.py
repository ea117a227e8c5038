"""Why a span failed, where its status, its events or its dialect say that it did."""

from __future__ import annotations

from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.traces.dialects.reading import SpanFacts
from pixie_otel.traces.dialects.values import text
from pixie_otel.traces.spans import SpanError, SpanEvent

__all__ = ["failure", "last_exception"]

_CLASS: Final = "<class '"


def last_exception(span: SpanFacts) -> SpanEvent | None:
    """Give the last exception that was recorded: it ended the span, and those before it may have been handled."""
    return next((event for event in reversed(span.events) if event.name == keys.EXCEPTION_EVENT), None)


def failure(span: SpanFacts, said: str | None = None) -> SpanError:
    """Give the error of a span that failed.

    Args:
        span: The span.
        said: What its dialect says of the error; the status and the last exception say the rest.
    """
    kind = text(span.attributes.get(keys.ERROR_TYPE))
    if kind is not None and kind.startswith(_CLASS):
        # Semantic Kernel writes how Python shows a class.
        kind = kind.removeprefix(_CLASS).removesuffix("'>")
    message = said or span.status_message or text(span.attributes.get(keys.ERROR_MESSAGE)) or ""
    if (kind is None or not message) and (event := last_exception(span)) is not None:
        kind = kind or text(event.attributes.get(keys.EXCEPTION_TYPE))
        message = message or text(event.attributes.get(keys.EXCEPTION_MESSAGE)) or ""
    return SpanError(message=message, type=kind)
