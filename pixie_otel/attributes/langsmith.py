"""The attribute keys of LangSmith's OpenTelemetry export."""

from __future__ import annotations

from typing import Final

__all__ = ["METADATA_PREFIX", "PREFIX", "SPAN_KIND"]

PREFIX: Final = "langsmith."
SPAN_KIND: Final = "langsmith.span.kind"
METADATA_PREFIX: Final = "langsmith.metadata."
