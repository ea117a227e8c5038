"""Attribute values as dialects write them: JSON inside text, numbers as text, keys with indexes in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Generic, TypeAlias, TypeVar, cast

import msgspec

from pixie_otel.evaluable import JsonValue

__all__ = [
    "Kept",
    "Tree",
    "below",
    "call_arguments",
    "decoded",
    "first_number",
    "first_text",
    "first_whole",
    "indexed",
    "json_mapping",
    "json_object",
    "json_value",
    "leaf",
    "number",
    "text",
    "texts",
    "tree",
    "whole",
]

_T = TypeVar("_T")

Tree: TypeAlias = dict[str, JsonValue]
"""Attributes with dotted keys as nested mappings; a value at a branch stands under the empty key."""

_MAX_INDEX_DIGITS: Final = 9
_MAX_DEPTH: Final = 100
"""How deep JSON may be nested: whoever walks through a value later must not run out of stack."""
_MAX_SEGMENTS: Final = 24
_JSON_STARTS: Final = frozenset('{["')
_PYTHON_STARTS: Final = ("{'", "['", "[{'")
"""How most lists and dictionaries begin that Python shows; JSON never does, and finds that out slowly."""
_SCALARS: Final[dict[str, JsonValue]] = {"null": None, "true": True, "false": False}
_NUMBER_STARTS: Final = frozenset("-0123456789")
_MAX_NUMBER_LENGTH: Final = 30
_MAX_KEPT: Final = 4096
_LONGEST_KEPT: Final = 256
_decode: Final = msgspec.json.Decoder().decode


class Kept(dict[str, _T], Generic[_T]):
    """What a function makes of a key, kept: an application writes the same keys again and again.

    Args:
        make: The function. What it makes is never changed.
    """

    def __init__(self, make: Callable[[str], _T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: str) -> _T:
        made = self._make(key)
        if len(key) <= _LONGEST_KEPT:
            if len(self) >= _MAX_KEPT:
                self.clear()
            self[key] = made
        return made


def decoded(value: JsonValue, *, depth: int = 2) -> JsonValue:
    """Decode JSON that was written as text; a text that is no JSON object, list or string stays as it is.

    So does JSON that is nested too deep to be worked with.

    Args:
        value: An attribute's value.
        depth: How many times: some producers write JSON text of JSON text.

    Returns:
        The decoded value.
    """
    if isinstance(value, str) and value[:1].isspace() and value.lstrip()[:1] in _JSON_STARTS:
        # What was written to be looked at begins on a line of its own.
        found = decoded(value.lstrip(), depth=depth)
        return value if isinstance(found, str) else found
    while depth and isinstance(value, str) and value[:1] in _JSON_STARTS:
        if value.startswith(_PYTHON_STARTS):
            return value
        try:
            found = _decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return value
        # Few texts have so many brackets, so few are looked at twice.
        if len(value) > _MAX_DEPTH and value.count("[") + value.count("{") > _MAX_DEPTH and _is_too_deep(found):
            return value
        value = found
        depth -= 1
    return value


def _is_too_deep(value: JsonValue) -> bool:
    level: list[JsonValue] = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            inner
            for item in level
            if isinstance(item, list | dict)
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, list | dict)
        ]
        if not level:
            return False
    return True


def call_arguments(value: JsonValue) -> JsonValue:
    """Give the arguments of a recorded function call the way a reader thinks of them.

    Args:
        value: The arguments; ``{"args": […], "kwargs": {…}}`` is how decorators record a Python call.

    Returns:
        The keyword arguments where there are only those, the one positional argument where it is alone, else the value.
    """
    if not isinstance(value, dict) or "kwargs" not in value or not value.keys() <= {"args", "kwargs"}:
        return value
    positional, named = value.get("args"), value["kwargs"]
    if not positional:
        return named
    if not named and isinstance(positional, list) and len(positional) == 1:
        return positional[0]
    return value


def json_object(value: JsonValue) -> dict[str, JsonValue] | None:
    """Decode a JSON object; ``None`` for anything else."""
    if not isinstance(value, str):
        return value if isinstance(value, dict) else None
    found = decoded(value)
    return found if isinstance(found, dict) else None


def json_value(value: JsonValue) -> JsonValue:
    """Decode JSON text of any kind; a text that is none stays as it is."""
    if not isinstance(value, str):
        return value
    if (scalar := value.strip()) in _SCALARS:
        return _SCALARS[scalar]
    if scalar[:1] in _NUMBER_STARTS and len(scalar) <= _MAX_NUMBER_LENGTH:
        try:
            return cast("JsonValue", _decode(scalar))
        except (msgspec.DecodeError, UnicodeEncodeError):
            return value
    return decoded(value)


def json_mapping(value: JsonValue) -> dict[str, JsonValue]:
    """Decode a JSON object; empty for anything else."""
    return json_object(value) or {}


def text(value: JsonValue) -> str | None:
    """Give a non-empty text; ``None`` for anything else."""
    return value if isinstance(value, str) and value else None


def texts(value: JsonValue) -> tuple[str, ...]:
    """Give the texts of a list, or the one that stands there alone; those that are empty are left out."""
    listed = value if isinstance(value, list) else [value]
    return tuple(item for item in listed if isinstance(item, str) and item)


def first_text(value: Mapping[str, JsonValue], names: Iterable[str]) -> str | None:
    """Give the first non-empty text under one of some keys."""
    for name in names:
        if name in value and isinstance(found := value[name], str) and found:
            return found
    return None


def whole(value: JsonValue) -> int | None:
    """Read a count that is a number, or a number as text; ``None`` for anything else."""
    if type(value) is int or value is None:
        return value
    found = number(value)
    return None if found is None or not found.is_integer() else int(found)


def number(value: JsonValue) -> float | None:
    """Read a finite number, or one as text; ``None`` for anything else, NaN and infinities among it."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if abs(found) < float("inf") else None


def first_whole(found: Mapping[str, JsonValue], names: Iterable[str]) -> int | None:
    """Give the first count under one of some keys."""
    for name in names:
        if name in found and (count := whole(found[name])) is not None:
            return count
    return None


def first_number(found: Mapping[str, JsonValue], names: Iterable[str]) -> float | None:
    """Give the first finite number under one of some keys."""
    for name in names:
        if name in found and (said := number(found[name])) is not None:
            return said
    return None


def tree(attributes: Mapping[str, JsonValue], prefixes: Iterable[str]) -> Tree:
    """Turn dotted keys into nested mappings, in one pass over the attributes.

    Args:
        attributes: A span's attributes.
        prefixes: The keys wanted begin with one of these.

    Returns:
        The nested mapping, from the full key's first segment on. Values that are mappings themselves stand in it as
        they are, and are never written to.
    """
    wanted = tuple(prefixes)
    root: Tree = {}
    structured: list[str] = []
    # Keys that belong together mostly stand together, and go into the same branch.
    last, branch = "", root
    for key, value in attributes.items():
        if not key.startswith(wanted):
            continue
        if isinstance(value, dict):
            structured.append(key)
            continue
        path, _, segment = key.rpartition(".")
        if path != last or not path:
            last, branch = path, _branch(root, key)
        if _put(branch, segment, value):
            last = ""
    # Last, and the longest keys first, so that nothing is put into a mapping that belongs to an attribute.
    for key in sorted(structured, key=len, reverse=True):
        _put(_branch(root, key), key.rpartition(".")[2], attributes[key])
    return root


def _branch(root: Tree, key: str) -> Tree:
    """Give the mapping that a key's last segment belongs into."""
    at = root
    for segment in key.split(".", _MAX_SEGMENTS)[:-1]:
        below = at.get(segment)
        if not isinstance(below, dict):
            fresh: Tree = {} if below is None else {"": below}
            at[segment] = below = fresh
        at = below
    return at


def _put(branch: Tree, segment: str, value: JsonValue) -> bool:
    """Put a value into a mapping; say whether it went into a branch, where it may have taken the place of another."""
    before = branch.get(segment)
    if isinstance(before, dict):
        before[""] = value
        return True
    branch[segment] = value
    return False


def below(attributes: Mapping[str, JsonValue], prefix: str) -> dict[str, JsonValue]:
    """Give what stands under keys of one beginning, decoded: one key a name, or an object under the beginning itself.

    Args:
        attributes: A span's attributes.
        prefix: The beginning; the dot behind it may be left out.

    Returns:
        The values by the rest of their keys.
    """
    whole_key = prefix.removesuffix(".")
    found = json_mapping(attributes.get(whole_key)).copy()
    start = f"{whole_key}."
    for key, value in attributes.items():
        if key.startswith(start):
            found[key[len(start) :]] = decoded(value)
    return found


def leaf(branch: JsonValue, *path: str) -> JsonValue:
    """Follow a path in a tree.

    Args:
        branch: Where to begin.
        path: The segments to follow.

    Returns:
        What stands there: a value, a mapping, or ``None`` where the path ends early.
    """
    for segment in path:
        if not isinstance(branch, dict):
            return None
        branch = branch.get(segment)
    return branch


def indexed(branch: JsonValue) -> list[tuple[int, Tree]]:
    """Give the mappings under numeric segments, in numeric order.

    Only indexes that stand there are looked at, whatever their size, so that neither gaps nor an index of a thousand
    million cost anything.

    Args:
        branch: A branch of a tree.

    Returns:
        Index and mapping of each.
    """
    if not isinstance(branch, dict):
        return []
    found = [
        (int(segment), below)
        for segment, below in branch.items()
        if segment.isascii() and segment.isdigit() and len(segment) <= _MAX_INDEX_DIGITS and isinstance(below, dict)
    ]
    found.sort(key=lambda item: item[0])
    return found
