"""JSON opened one level at a time: what is inside stays bytes until somebody asks for it."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.lenient import Complain, read_json, silence

__all__ = ["first_byte", "opened", "value_of", "whole"]

_decode_list: Final = msgspec.json.Decoder(list[Raw]).decode
_decode_object: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_value: Final = msgspec.json.Decoder().decode


def whole(data: bytes, complain: Complain) -> Raw:
    """Give a document as it lies where it is JSON, else mended.

    Args:
        data: The document.
        complain: Told of what had to be given up.

    Raises:
        ValueError: It is no JSON.
        RecursionError: The caller's own stack leaves no room for it.
    """
    try:
        raw = msgspec.json.decode(data, type=Raw)
        opened(raw)
    except (ValueError, RecursionError):
        return Raw(msgspec.json.encode(read_json(data, complain)))
    return raw


def opened(raw: Raw) -> list[Raw] | dict[str, Raw] | None:
    """Give what is in a list or an object; ``None`` for anything else.

    Args:
        raw: Any JSON value.
    """
    first = first_byte(raw)
    if first == b"[":
        return _decode_list(raw)
    if first != b"{":
        return None
    try:
        return _decode_object(raw)
    except ValueError:
        # A key has invalid UTF-8 or half a surrogate pair, which shows only now.
        return _decode_object(msgspec.json.encode(read_json(bytes(raw), silence, is_otlp=False)))


def first_byte(raw: Raw) -> bytes:
    """Give the first byte of a JSON value, which tells its type.

    Args:
        raw: Any JSON value.
    """
    return bytes(memoryview(raw)[:1])


def value_of(raw: Raw, complain: Complain = silence) -> JsonValue:
    """Decode a value whose keys are not OTLP's.

    Args:
        raw: Any JSON value.
        complain: Told of what had to be given up.

    Raises:
        RecursionError: The caller's own stack leaves no room for it.
    """
    # The lenient reader alone knows what to do with numbers of any size, with depth, and with what is no text.
    try:
        value: JsonValue = _decode_value(raw)
    except (ValueError, RecursionError):
        return read_json(bytes(raw), complain, is_otlp=False)
    return value
