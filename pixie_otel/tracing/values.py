"""Any Python value as bounded JSON, made in the application's own thread without running any of its code.

No method of a value's class is called, not even ``__repr__``, ``__len__`` or ``__eq__``; no property is read, no
iterator consumed, nothing loaded lazily. What is not known is named by its type, ``<app.Session>``. What is too large
is cut, and what was cut says so within the value. `value_types` tells how each type is shown.

The result is a snapshot: later changes to the value do not show in it. It is valid JSON that any reader reads alike:
lone surrogates become U+FFFD; NaN, infinities, and whole numbers that 64 bits cannot hold become texts. A value that is
plain JSON already, and within the limits, comes back equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from pixie_otel.evaluable import JsonValue
from pixie_otel.tracing.faults import report
from pixie_otel.tracing.type_facts import class_dict, type_of
from pixie_otel.tracing.value_walk import LARGEST, SMALLEST, ValueLimits, Walk, clean, cut, encode

__all__ = ["DEFAULT", "JSON", "Encoded", "ValueLimits", "encode_arguments", "encode_value", "plain_value"]

JSON: Final = "application/json"
"""The mime type of JSON."""
_TEXT: Final = "text/plain"

DEFAULT: Final = ValueLimits()
"""What holds where nothing else is said."""


class Encoded(NamedTuple):
    """A value as it goes into an attribute.

    Attributes:
        text: The text of a text; the JSON of everything else.
        mime_type: Which of both, ``text/plain`` or ``application/json``.
        truncated: Whether something was left out for its size. What is named by its type only was not, as it would
            have been named at any size; nor was what stands for a cycle.
    """

    text: str
    mime_type: str
    truncated: bool


_new: Final[Callable[[type[Encoded], tuple[str, str, bool]], Encoded]] = class_dict(tuple)["__new__"]

# Made beforehand, as there may be no stack and no memory left when they are needed.
_FAILED: Final = Encoded('"<not recorded>"', JSON, truncated=True)
_FAILED_ARGUMENTS: Final = Encoded('{"…":"<not recorded>"}', JSON, truncated=True)
_FAILED_PLAIN: Final = ("<not recorded>", True)


class _UnusualError(Exception):
    """A value is not small and plain throughout, and has to be walked through with care."""


def encode_value(value: object, limits: ValueLimits = DEFAULT) -> Encoded:
    """Give any value as text for an attribute.

    Args:
        value: Anything at all.
        limits: How much of it is recorded.

    Returns:
        The text and what it is. Where that fails, as with no stack or memory left, a text that says so; nothing is
        raised.
    """
    try:
        if type(value) is str:
            if value.isascii() and len(value) <= limits.max_string and len(value) <= limits.max_bytes:
                return _new(Encoded, (value, _TEXT, False))
            text, truncated = _text(value, limits)
            return Encoded(text, _TEXT, truncated)
        plain, data, truncated = _encoded(value, limits)
        if isinstance(plain, str) and issubclass(type(value), str):
            return Encoded(plain, _TEXT, truncated)
        return _new(Encoded, (data.decode(), JSON, truncated))
    except (RecursionError, MemoryError):  # the application's state, not a fault of ours
        return _FAILED
    except Exception as error:  # noqa: BLE001 - whatever it is, the application is not to blame
        report("encoding a value", error)
        return _FAILED


def encode_arguments(arguments: Mapping[str, object], limits: ValueLimits = DEFAULT) -> Encoded:
    """Give the arguments of a call as text for an attribute, always a JSON object.

    Args:
        arguments: Values by the names of the parameters, in a dict.
        limits: How much of them is recorded, altogether.
    """
    try:
        plain, data, truncated = _encoded(arguments, limits)
        return _new(Encoded, (data.decode(), JSON, truncated)) if isinstance(plain, dict) else _FAILED_ARGUMENTS
    except (RecursionError, MemoryError):  # the application's state, not a fault of ours
        return _FAILED_ARGUMENTS
    except Exception as error:  # noqa: BLE001 - as above
        report("encoding a value", error)
        return _FAILED_ARGUMENTS


def plain_value(value: object, limits: ValueLimits = DEFAULT) -> tuple[JsonValue, bool]:
    """Give any value as plain JSON values of our own.

    Args:
        value: Anything at all.
        limits: How much of it is kept.

    Returns:
        The bounded value, and whether something was left out for its size. Nothing is raised.
    """
    try:
        if type(value) is str:
            return _text(value, limits)
        plain, _, truncated = _encoded(value, limits)
        return plain, truncated
    except (RecursionError, MemoryError):  # the application's state, not a fault of ours
        return _FAILED_PLAIN
    except Exception as error:  # noqa: BLE001 - as above
        report("encoding a value", error)
        return _FAILED_PLAIN


def _text(text: str, limits: ValueLimits) -> tuple[str, bool]:
    room = limits.max_string
    plain = clean(text if len(text) <= room else cut(text, room, room))
    if len(plain) > limits.max_bytes // 4 and len(plain.encode()) > limits.max_bytes:
        room = limits.max_bytes // 4
        plain = clean(cut(text, room, room))
    return plain, len(text) > room


def _encoded(value: object, limits: ValueLimits) -> tuple[JsonValue, bytes, bool]:
    """Give a value's plain form, its JSON, and whether something was cut."""
    kind = type(value)
    item: Any = value
    try:
        # What most values are needs no care, and is done in a fifth of the time.
        left = [limits.max_nodes - 1]
        if kind is dict:
            plain: JsonValue = _plain_dict(item, 1, left, limits)
        elif kind is list or kind is tuple:
            plain = _plain_list(item, 1, left, limits)
        else:
            return _walked(value, limits)
        data = encode(plain)
    except (_UnusualError, UnicodeEncodeError, RuntimeError):
        # Beside what is unusual: a lone surrogate, or a dict that another thread changes.
        return _walked(value, limits)
    return (plain, data, False) if len(data) <= limits.max_bytes else _walked(value, limits)


def _plain_dict(value: dict[Any, Any], depth: int, left: list[int], limits: ValueLimits) -> dict[str, JsonValue]:  # noqa: C901 - written out, since every call costs this much
    """Copy a dict of nothing but plain values."""
    left[0] -= len(value)
    if left[0] < 0 or depth > limits.max_depth:
        raise _UnusualError
    result: dict[str, JsonValue] = {}
    chars = 0
    for key, item in value.items():
        if type_of(key) is not str:
            raise _UnusualError
        chars += len(key)
        kind = type_of(item)
        plain: JsonValue = item
        if kind is str:
            chars += len(item)
        elif kind is int:
            if not SMALLEST <= item <= LARGEST:
                raise _UnusualError
        elif kind is float:
            if item - item != 0.0:
                raise _UnusualError
        elif kind is dict:
            plain = _plain_dict(item, depth + 1, left, limits)
        elif kind is list or kind is tuple:
            plain = _plain_list(item, depth + 1, left, limits)
        elif kind is not bool and item is not None:
            raise _UnusualError
        result[key] = plain
    if chars > limits.max_string:  # then no single text is too long either
        raise _UnusualError
    return result


def _plain_list(
    value: list[Any] | tuple[Any, ...], depth: int, left: list[int], limits: ValueLimits
) -> list[JsonValue]:
    left[0] -= len(value)
    if left[0] < 0 or depth > limits.max_depth:
        raise _UnusualError
    result: list[JsonValue] = list(value)
    chars = 0
    for place, item in enumerate(value):
        kind = type_of(item)
        if kind is str:
            chars += len(item)
        elif kind is int:
            if not SMALLEST <= item <= LARGEST:
                raise _UnusualError
        elif kind is float:
            if item - item != 0.0:
                raise _UnusualError
        elif kind is dict:
            result[place] = _plain_dict(item, depth + 1, left, limits)
        elif kind is list or kind is tuple:
            result[place] = _plain_list(item, depth + 1, left, limits)
        elif kind is not bool and item is not None:
            raise _UnusualError
    if chars > limits.max_string:
        raise _UnusualError
    return result


def _walked(value: object, limits: ValueLimits) -> tuple[JsonValue, bytes, bool]:
    """Walk through a value, and again with less to spend where the result is too large."""
    walk = Walk(limits, limits.max_bytes, node_cost=1, reserve=0)
    plain = walk.value(value)
    data = encode(plain)
    if not walk.ran_out and len(data) <= limits.max_bytes:
        return plain, data, walk.cut
    chars = limits.max_bytes if len(data) <= limits.max_bytes else limits.max_bytes * 4 // 5
    for _ in range(8):
        walk = Walk(limits, chars, node_cost=4, reserve=1)
        plain = walk.value(value)
        data = encode(plain)
        if len(data) <= limits.max_bytes:
            return plain, data, True
        chars = chars * limits.max_bytes // len(data) * 4 // 5
    return _FAILED_PLAIN[0], encode(_FAILED_PLAIN[0]), True
