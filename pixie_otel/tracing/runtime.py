"""What `init` set up, for everything that makes spans: one object, or none where tracing is off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from pixie_otel.tracing.hub import SpanHub

__all__ = ["Runtime", "current", "install"]


@dataclass(frozen=True, slots=True)
class Runtime:
    """What is in force while tracing is on.

    Attributes:
        tracer: Makes the spans of `wrap` and `observe`.
        hub: Takes every span that ends, whoever made it.
        capture_content: Whether inputs and outputs are recorded, or names and times only.
    """

    tracer: Tracer
    hub: SpanHub
    capture_content: bool = True


_runtime: Runtime | None = None


def current() -> Runtime | None:
    """Give what is in force; ``None`` where tracing is off."""
    return _runtime


def install(runtime: Runtime | None) -> None:
    """Put a runtime in force in place of the one before; ``None`` turns tracing off."""
    global _runtime  # noqa: PLW0603 - a process has one, as it has one tracer provider
    _runtime = runtime
