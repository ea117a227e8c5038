"""Keys of Laminar."""

from __future__ import annotations

from typing import Final

__all__ = ["INPUT", "METADATA", "OUTPUT", "SESSION", "SPAN_TYPE", "USER"]

SPAN_TYPE: Final = "lmnr.span.type"
INPUT: Final = "lmnr.span.input"
OUTPUT: Final = "lmnr.span.output"
SESSION: Final = "lmnr.association.properties.session_id"
USER: Final = "lmnr.association.properties.user_id"
METADATA: Final = "lmnr.association.properties.metadata."
