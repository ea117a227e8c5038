"""Python literals: what ``str()`` makes of dictionaries and lists, as some producers write values."""

from __future__ import annotations

import ast
import re
from typing import Final, cast

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.values import decoded

__all__ = ["literal"]

_STARTS: Final = frozenset("{[(")
_ENDS: Final = frozenset("}])")
_SECONDS: Final = frozenset("'\"{[()]}-0123456789NTFu \n")
"""What may stand after the first bracket; prose in brackets is told by it at once."""
_LONGEST: Final = 64 * 1024
"""Text longer than this is left alone: Python's parser takes many times its size."""
_MAX_DEPTH: Final = 100
_TEXT: Final = re.compile(r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+\"""", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES: Final = frozenset("\\'\"nrtxuU")
"""What Python escapes when it shows a text; its parser would warn of most others."""
_ESCAPES_OF_JSON: Final = frozenset("\\nrtu")
"""Those of them that mean the same in JSON."""


def literal(value: JsonValue) -> JsonValue:
    """Read a dictionary, list or tuple that was written as Python code; anything else stays as it is.

    Args:
        value: An attribute's value, text or not.

    Returns:
        The value as JSON has it: tuples are lists.
    """
    if not isinstance(value, str) or not 2 <= len(value) <= _LONGEST:
        return value
    if value[0] not in _STARTS or value[1] not in _SECONDS or value[-1] not in _ENDS:
        return value
    escapes: set[str] = set(_ESCAPE.findall(value)) if "\\" in value else set()
    if not escapes <= _ESCAPES:
        return value
    # JSON's parser takes a tenth of the time that Python's takes, and nearly all that is shown can be written so.
    if escapes <= _ESCAPES_OF_JSON and isinstance(found := decoded(_as_json(value), depth=1), dict | list):
        return found
    try:
        return _plain(ast.literal_eval(value), 0)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value


def _as_json(shown: str) -> str:
    """Write as JSON what Python shows; empty for what takes more care, as tuples do."""
    pieces = shown.split("'")
    if any('"' in code for code in pieces[::2]):
        pieces = _TEXT.sub(_in_single_quotes, shown).split("'")
    # What stands between single quotes is each second piece.
    code, texts = "'".join(pieces[::2]), "'".join(pieces[1::2])
    if '"' in code or "(" in code:
        return ""
    pieces[::2] = code.replace("None", "null").replace("True", "true").replace("False", "false").split("'")
    pieces[1::2] = texts.replace('"', '\\"').split("'") if len(pieces) > 1 else []
    return '"'.join(pieces)


def _in_single_quotes(text: re.Match[str]) -> str:
    """Give a text in single quotes; Python shows those with an apostrophe in double ones."""
    written = text[0]
    return written if written[0] == "'" else "'" + written[1:-1].replace("'", "\\u0027") + "'"


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
