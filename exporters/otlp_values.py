"""Values as OTLP JSON writes them: the attributes of spans, of what is in them and of what they come from.

What OTLP has no room for is written as the nearest thing that every reader takes: a lone surrogate as U+FFFD, an
integer beyond 64 bits as text, what no attribute can be as the name of its type.
"""

from __future__ import annotations

import math
from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from typing import Final, cast

import msgspec

from pixie_otel.traces.wire import MAX_VALUE_DEPTH

__all__ = ["attribute_list", "name_of", "text"]

_LEAST_INT: Final = -(2**63)
_MOST_INT: Final = 2**63 - 1
_STRING: Final = b'"stringValue":'
_NOT_STRING: Final = -len(_STRING)
_MOST_KEYS: Final = 8192
_LONGEST_KEY: Final = 200

_json: Final = msgspec.json.Encoder().encode
_prefixes: Final[dict[str, bytes]] = {}


def attribute_list(attributes: Mapping[str, object] | None) -> bytes:
    """Encode attributes as a field of an object that has fields before it; nothing where there are none."""
    return b',"attributes":[%b}}]' % _pairs(attributes, MAX_VALUE_DEPTH) if attributes else b""


def text(text: str) -> bytes:
    """Encode a text, which must be Python's own, as JSON."""
    try:
        return _json(text)
    except UnicodeEncodeError:
        # Two halves that belong together become one character, as they do when JSON's escapes are read.
        return _json(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def name_of(name: object) -> str:
    """Give a name as text; whatever is none is never asked for its own."""
    return str.__str__(name) if isinstance(name, str) else "" if name is None else f"<{type(name).__name__}>"


def _pairs(values: Mapping[str, object], depth: int) -> bytes:
    """Encode keys and values, but for the two braces behind the last."""
    known, json = _prefixes.get, _json
    parts: list[bytes] = []
    for key, value in values.items():
        prefix = known(key) or _prefix(key)
        if type(value) is str:
            try:
                parts.append(prefix + json(value))
            except UnicodeEncodeError:
                parts.append(prefix + text(value))
        else:
            parts.append(prefix[:_NOT_STRING] + _value(value, depth))
    return b"}},".join(parts)


def _prefix(key: object) -> bytes:
    """Give all that stands before a text, from the key on; most keys come again and again."""
    if isinstance(key, str):
        key = str.__str__(key)
    else:
        # Only what is known to be harmless is asked how it is written.
        key = str(key) if type(key) in {int, float, bool, bytes, type(None)} else f"<{type(key).__name__}>"
    prefix = b'{"key":%b,"value":{%b' % (text(key), _STRING)
    if len(key) <= _LONGEST_KEY:
        if len(_prefixes) >= _MOST_KEYS:
            _prefixes.clear()
        _prefixes[key] = prefix
    return prefix


def _value(value: object, depth: int) -> bytes:
    """Encode a value: what stands between the braces of OTLP's AnyValue."""
    kind = type(value)
    if kind is str:
        return _STRING + text(cast("str", value))
    if value is None:
        return b""
    if kind is bool:
        return b'"boolValue":true' if value else b'"boolValue":false'
    if kind is int:
        return _integer(cast("int", value))
    if kind is float:
        return _double(cast("float", value))
    if not depth > 1 and isinstance(value, Sequence | Mapping) and not isinstance(value, str | bytes):
        return b'"stringValue":"<nested more than %d levels deep>"' % MAX_VALUE_DEPTH
    if kind is tuple or kind is list:
        return _array(cast("Sequence[object]", value), depth)
    if kind is dict:
        return _object(cast("Mapping[str, object]", value), depth)
    return _unusual(value, depth)


def _unusual(value: object, depth: int) -> bytes:
    """Encode a value of a type that is rare: also what only a span made by hand can hold."""
    # Of types derived from Python's own, only what Python's own say counts.
    if isinstance(value, str):
        return _STRING + text(str.__str__(value))
    if isinstance(value, int):
        return _integer(int.__int__(value))
    if isinstance(value, float):
        return _double(float.__float__(value))
    if isinstance(value, bytes):
        return b'"bytesValue":"%b"' % b2a_base64(value, newline=False)
    if isinstance(value, Sequence):
        return _array(cast("Sequence[object]", value), depth)
    if isinstance(value, Mapping):
        return _object(cast("Mapping[str, object]", value), depth)
    return _STRING + text(name_of(value))


def _array(values: Sequence[object], depth: int) -> bytes:
    inside = b"},{".join([_value(value, depth - 1) for value in values])
    return b'"arrayValue":{"values":[{%b}]}' % inside if values else b'"arrayValue":{"values":[]}'


def _object(values: Mapping[str, object], depth: int) -> bytes:
    return b'"kvlistValue":{"values":[%b}}]}' % _pairs(values, depth - 1) if values else b'"kvlistValue":{"values":[]}'


def _integer(value: int) -> bytes:
    if _LEAST_INT <= value <= _MOST_INT:
        return b'"intValue":"%d"' % value
    try:
        return b'"stringValue":"%d"' % value
    except ValueError:
        # Python refuses to write thousands of decimal digits.
        return b'"stringValue":"%b"' % hex(value).encode()


def _double(value: float) -> bytes:
    if math.isfinite(value):
        return b'"doubleValue":' + _json(value)
    return b'"doubleValue":"NaN"' if value != value else b'"doubleValue":"%bInfinity"' % (b"-" if value < 0 else b"")  # noqa: PLR0124 - only NaN differs from itself
