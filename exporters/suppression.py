"""Keeping instrumented libraries from tracing what is done to hand spans on, which would make spans for ever."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from opentelemetry import context

__all__ = ["untraced"]

# The first is a private key of OpenTelemetry's; the other is what older instrumentation looks for.
_KEYS: Final = tuple(
    str(key) for key in (getattr(context, "_SUPPRESS_INSTRUMENTATION_KEY", None), "suppress_instrumentation") if key
)


@contextmanager
def untraced() -> Generator[None]:
    """Run the block in a bare context in which instrumentation does nothing."""
    bare = context.Context()
    for key in _KEYS:
        bare = context.set_value(key, True, bare)  # noqa: FBT003 - the call is OpenTelemetry's
    token = context.attach(bare)
    try:
        yield
    finally:
        context.detach(token)
