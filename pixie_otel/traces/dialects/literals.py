"""Python literals: what ``str()`` makes of dictionaries and lists, as some producers write values."""

from __future__ import annotations

import ast
import re
from typing import Final, cast

from pixie_otel.evaluable import JsonValue

__all__ = ["literal"]

_STARTS: Final = frozenset("{[(")
_ENDS: Final = frozenset("}])")
_LONGEST: Final = 64 * 1024
"""Text longer than this is left alone: Python's parser takes many times its size."""
_MAX_DEPTH: Final = 50
_ESCAPE_OF_NO_REPR: Final = re.compile(r"(?<!\\)(?:\\\\)*\\[^\\'\"nrtxuU]")
"""What Python never writes itself; its parser would warn of it."""


def literal(value: JsonValue) -> JsonValue:
    """Read a dictionary, list or tuple that was written as Python code; anything else stays as it is.

    Args:
        value: An attribute's value, text or not.

    Returns:
        The value as JSON has it: tuples are lists.
    """
    if not isinstance(value, str) or not 2 <= len(value) <= _LONGEST:
        return value
    if value[0] not in _STARTS or value[-1] not in _ENDS or _ESCAPE_OF_NO_REPR.search(value):
        return value
    try:
        return _plain(ast.literal_eval(value), 0)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value


def _plain(value: object, depth: int) -> JsonValue:
    if depth > _MAX_DEPTH:
        raise ValueError(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {_name(key): _plain(item, depth + 1) for key, item in cast("dict[object, object]", value).items()}
    raise ValueError(value)


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(key)
    return key
