"""The tags that Jaeger keeps of an OpenTelemetry span beside its attributes."""

from __future__ import annotations

from typing import Final

__all__ = ["LIBRARY_NAME", "LIBRARY_VERSION", "SCOPE_NAME", "SCOPE_VERSION", "SPAN_KIND", "STATUS_CODE", "STATUS_TEXT"]

SCOPE_NAME: Final = "otel.scope.name"
SCOPE_VERSION: Final = "otel.scope.version"
LIBRARY_NAME: Final = "otel.library.name"
LIBRARY_VERSION: Final = "otel.library.version"
SPAN_KIND: Final = "span.kind"
STATUS_CODE: Final = "otel.status_code"
STATUS_TEXT: Final = "otel.status_description"
