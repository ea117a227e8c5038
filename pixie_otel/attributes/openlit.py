"""The attribute keys of OpenLIT's decorator; its instrumentations write OpenTelemetry's GenAI attributes."""

from __future__ import annotations

from typing import Final

__all__ = ["FUNCTION_ARGS", "FUNCTION_KWARGS"]

FUNCTION_ARGS: Final = "function.args"
FUNCTION_KWARGS: Final = "function.kwargs"
