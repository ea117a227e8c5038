"""The ids of traces and spans: hex of either case, or base64 where the length tells."""

from __future__ import annotations

import base64
import re
from typing import Final

__all__ = ["SPAN_ID_BYTES", "TRACE_ID_BYTES", "canonical_id", "read_span_id"]

TRACE_ID_BYTES: Final = 16
SPAN_ID_BYTES: Final = 8

_HEX: Final = re.compile(r"[0-9a-fA-F]+", re.ASCII)
_PLAIN_SPAN_ID: Final = re.compile(r"[0-9a-f]*[1-9a-f][0-9a-f]*", re.ASCII)
_BASE64: Final = re.compile(r"[0-9a-zA-Z+/]+", re.ASCII)
_FROM_URL_SAFE: Final = str.maketrans("-_", "+/")
_LENGTHS: Final = {TRACE_ID_BYTES: (32, 22, 24), SPAN_ID_BYTES: (16, 11, 12)}
"""How long an id of so many bytes is in hex, in base64, and in base64 with padding."""


def canonical_id(value: str, size: int) -> str | None:
    """Read a trace or span id.

    Args:
        value: Hex of either case, with or without ``0x``, or base64; the length tells which.
        size: The id's size in bytes: 16 for traces, 8 for spans.

    Returns:
        Lower-case hex; ``""`` for an empty or all-zero id; ``None`` where it is no such id.
    """
    hexadecimal, bare, padded = _LENGTHS[size]
    text = value.strip()
    digits = text[2:] if text[:2] in {"0x", "0X"} else text
    if not digits.strip("0"):
        return ""
    if len(digits) == hexadecimal:
        return digits.lower() if _HEX.fullmatch(digits) else None
    # Base64 may begin like a prefix.
    digits = text[:bare].translate(_FROM_URL_SAFE)
    padding = "=" * (padded - bare)
    if text[bare:] not in {"", padding} or len(digits) < bare or not _BASE64.fullmatch(digits):
        return None
    data = base64.b64decode(digits + padding)
    # The last digit has bits to spare, and an encoder leaves them zero: other text only looks like base64.
    if base64.b64encode(data).decode() != digits + padding:
        return None
    return data.hex() if any(data) else ""


def read_span_id(value: str | None) -> str | None:
    """Read a span id that may be missing; one that is neither hex nor base64 is taken as it stands.

    Args:
        value: What was written.

    Returns:
        The id, or ``None`` where it is missing, empty or zero.
    """
    if not value:
        return None
    if len(value) == 2 * SPAN_ID_BYTES and _PLAIN_SPAN_ID.fullmatch(value):
        return value
    identity = canonical_id(value, SPAN_ID_BYTES)
    return value if identity is None else identity or None
