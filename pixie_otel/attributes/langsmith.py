"""The attribute keys of LangSmith's OpenTelemetry export."""

from __future__ import annotations

from typing import Final

__all__ = ["INPUT_TOKEN_DETAILS", "METADATA_PREFIX", "OUTPUT_TOKEN_DETAILS", "PREFIX", "SPAN_KIND"]

PREFIX: Final = "langsmith."
SPAN_KIND: Final = "langsmith.span.kind"
METADATA_PREFIX: Final = "langsmith.metadata."
INPUT_TOKEN_DETAILS: Final = "gen_ai.usage.input_token_details"  # noqa: S105 - tokens of text
OUTPUT_TOKEN_DETAILS: Final = "gen_ai.usage.output_token_details"  # noqa: S105 - tokens of text
