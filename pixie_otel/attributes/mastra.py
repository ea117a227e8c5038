"""Keys of Mastra."""

from __future__ import annotations

from typing import Final

__all__ = [
    "COMPLETION_START_TIME",
    "INPUT",
    "METADATA",
    "METADATA_BODY",
    "METADATA_MODEL",
    "OUTPUT",
    "PREFIX",
    "SPAN_TYPE",
]

PREFIX: Final = "mastra."
SPAN_TYPE: Final = "mastra.span.type"
INPUT: Final = "mastra.{}.input"
"""What a span was given, by its type."""
OUTPUT: Final = "mastra.{}.output"
METADATA: Final = "mastra.metadata."
METADATA_BODY: Final = "mastra.metadata.body"
"""The provider's response, whole."""
METADATA_MODEL: Final = "mastra.metadata.modelMetadata"
COMPLETION_START_TIME: Final = "mastra.completion_start_time"
