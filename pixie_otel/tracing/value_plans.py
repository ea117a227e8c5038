"""How values of the interpreter's and a few libraries' own types are read, one function a type.

All of them call the functions of the type itself (`dict.items`, not the method of a subclass), so that what a subclass
defines never runs.
"""

from __future__ import annotations

import datetime as dt
import re
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterable
from gc import get_referents
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec.json

from pixie_otel.tracing.type_facts import (
    MISSING,
    Getter,
    class_dict,
    is_native,
    is_scalar,
    loaded,
    read,
    type_name,
    type_of,
)
from pixie_otel.tracing.value_fields import Plan

if TYPE_CHECKING:
    from pixie_otel.evaluable import JsonValue
    from pixie_otel.tracing.value_walk import Walk

__all__ = [
    "array_of_numbers",
    "binary",
    "buffer",
    "builtin",
    "by_isoformat",
    "by_text",
    "chain_map",
    "class_name",
    "complex_number",
    "data_of",
    "duration",
    "enum_member",
    "exception",
    "function",
    "member_of",
    "method",
    "module",
    "moment",
    "name_space",
    "number",
    "numpy_array",
    "numpy_scalar",
    "opaque",
    "pairs",
    "pattern",
    "proxy",
    "secret",
    "sequence",
    "span_of_numbers",
    "text",
    "unordered",
    "view",
    "whole",
]

_Iterate: TypeAlias = Callable[[Any], Iterable[Any]]
_Size: TypeAlias = Callable[[Any], int]

SECRET: Final = "**********"  # noqa: S105 - what stands in place of a secret, as pydantic shows it
_TRIES: Final = 3
_MARGIN: Final = 64
"""What the words around a text may take."""

_to_json: Final = msgspec.json.Encoder().encode
_entries: Final[_Iterate] = class_dict(dict)["items"]
_count: Final[_Size] = class_dict(dict)["__len__"]
_look_up: Final[Callable[[Any, str], Any]] = class_dict(dict)["get"]
_args: Final[Getter] = class_dict(BaseException)["args"].__get__
_function_name: Final[Getter] = class_dict(FunctionType)["__qualname__"].__get__
_function_module: Final[Getter] = class_dict(FunctionType)["__module__"].__get__
_builtin_name: Final[Getter] = class_dict(BuiltinFunctionType)["__name__"].__get__
_method_function: Final[Getter] = class_dict(MethodType)["__func__"].__get__
_module_names: Final[Getter] = class_dict(ModuleType)["__dict__"].__get__
_namespace_names: Final[Getter] = class_dict(SimpleNamespace)["__dict__"].__get__
_pattern: Final[Getter] = class_dict(re.Pattern)["pattern"].__get__


# --- single values ---


def opaque(walk: Walk, value: object) -> JsonValue:
    """Name the type of what is not looked into."""
    return walk.opaque(type(value))


def secret(walk: Walk, _value: object) -> JsonValue:
    """Show stars, whatever is behind them."""
    return walk.text(SECRET)


def text(walk: Walk, value: str) -> JsonValue:
    """Give the text of a subclass of str."""
    return walk.text(str.__str__(value))


def whole(walk: Walk, value: int) -> JsonValue:
    """Give the number of a subclass of int."""
    return walk.integer(int.__int__(value))


def number(walk: Walk, value: float) -> JsonValue:
    """Give the number of a subclass of float."""
    return walk.number(float.__float__(value))


def complex_number(walk: Walk, value: complex) -> JsonValue:
    """Give a complex number as Python writes it."""
    return walk.text(complex.__repr__(value))


def span_of_numbers(walk: Walk, value: range) -> JsonValue:
    """Give a range by its ends, which say all of it."""
    return walk.text(range.__repr__(value))


def by_text(base: Any) -> Plan:  # noqa: ANN401 - a class that was looked up by its name
    """Make the plan of a type whose text says all of it, such as a decimal or a path."""
    return lambda walk, value: walk.text(base.__str__(value))


def binary(base: Any) -> Plan:  # noqa: ANN401 - bytes or bytearray, by their own methods
    """Make the plan of bytes: base64, or only their number where that would be too long."""
    length, part = base.__len__, base.__getitem__

    def plan(walk: Walk, value: object) -> JsonValue:
        size = length(value)
        # A subclass may have its own idea of a buffer; a copy made by the base has not.
        return _base64(walk, value, size, lambda: part(value, slice(None)))

    return plan


def buffer(walk: Walk, value: memoryview) -> JsonValue:
    """Give a view of memory as the bytes that it shows."""
    return _base64(walk, value, value.nbytes, value.tobytes)


def _base64(walk: Walk, value: object, size: int, copy: Callable[[], bytes]) -> JsonValue:
    if size * 4 // 3 + _MARGIN > walk.text_room:
        return walk.instead(f"<{type_name(type(value))}: {size:,}>")
    return walk.mapping(value, 1, [("base64", b64encode(copy()).decode("ascii"))])


def enum_member(get: Getter) -> Plan:
    """Make the plan of an enum, whose members are shown as their values."""

    def plan(walk: Walk, value: object) -> JsonValue:
        inner = get(value)
        return walk.opaque(type(value)) if inner is MISSING else walk.inside(value, inner)

    return plan


def moment(base: Any) -> Plan:  # noqa: ANN401 - `datetime` or `time`, which have no base for that
    """Make the plan of points in time."""
    zone_of = class_dict(base)["tzinfo"].__get__
    names = ("hour", "minute", "second", "microsecond")
    parts = [class_dict(base)[name].__get__ for name in names]
    if base is dt.datetime:
        parts = [class_dict(kind)[name].__get__ for kind, name in _DATE_PARTS] + parts

    def plan(walk: Walk, value: Any) -> JsonValue:  # noqa: ANN401 - an instance of `base`
        if value is loaded("pandas", "NaT"):
            return walk.text("NaT")
        zone = zone_of(value)
        if zone is None or is_native(type_of(zone), "utcoffset"):
            return walk.text(base.isoformat(value))
        # The offset is known to code of the application's only.
        return walk.text(f"{base(*(part(value) for part in parts)).isoformat()} <{type_name(type_of(zone))}>")

    return plan


_DATE_PARTS: Final = ((dt.date, "year"), (dt.date, "month"), (dt.date, "day"))


def by_isoformat(walk: Walk, value: dt.date) -> JsonValue:
    """Give a date in the form of ISO 8601."""
    return walk.text(dt.date.isoformat(value))


def duration(walk: Walk, value: dt.timedelta) -> JsonValue:
    """Give a duration in the form of ISO 8601."""
    days, seconds, microseconds = (
        class_dict(dt.timedelta)[name].__get__(value) for name in ("days", "seconds", "microseconds")
    )
    plain = dt.timedelta(days, seconds, microseconds)
    return walk.text(_to_json(plain).decode()[1:-1])


def pattern(walk: Walk, value: re.Pattern[Any]) -> JsonValue:
    """Give what a regular expression was made of."""
    return walk.value(_pattern(value))


# --- what is named only ---


def class_name(walk: Walk, value: type) -> JsonValue:
    """Name a class."""
    return walk.text(f"<class {type_name(value)}>")


def function(walk: Walk, value: FunctionType) -> JsonValue:
    """Name a function."""
    return walk.text(f"<function {_full_name(value)}>")


def method(walk: Walk, value: MethodType) -> JsonValue:
    """Name a method."""
    inner = _method_function(value)
    return walk.text(f"<method {_full_name(inner)}>") if type(inner) is FunctionType else walk.opaque(MethodType)


def builtin(walk: Walk, value: BuiltinFunctionType) -> JsonValue:
    """Name a function that is written in C."""
    return walk.text(f"<function {_builtin_name(value)}>")


def module(walk: Walk, value: ModuleType) -> JsonValue:
    """Name a module."""
    name = _look_up(_module_names(value), "__name__")
    return walk.text(f"<module {name}>") if type_of(name) is str else walk.opaque(type(value))


def _full_name(value: FunctionType) -> str:
    name, owner = _function_name(value), _function_module(value)
    plain = str.__str__(name)
    return f"{owner}.{plain}" if type(owner) is str else plain


# --- containers ---


def _snapshot(walk: Walk, value: object, iterate: _Iterate, size: _Size) -> tuple[list[Any], int]:
    """Copy as many first items as can be spent, in one go, and say how many there are.

    What another thread changes while it is copied is tried again; a copy takes microseconds.
    """
    window = max(walk.nodes, 0) + 1
    tries = 1
    while True:
        try:
            items = list(islice(iterate(value), window))
            return items, len(items) if len(items) < window else size(value)
        except RuntimeError:
            if tries == _TRIES:
                raise
            tries += 1


def sequence(base: Any) -> Plan:  # noqa: ANN401 - list, tuple or deque, by their own methods
    """Make the plan of sequences."""
    iterate, size = base.__iter__, base.__len__

    def plan(walk: Walk, value: object) -> JsonValue:
        items, count = _snapshot(walk, value, iterate, size)
        return walk.array(value, count, items)

    return plan


def pairs(walk: Walk, value: dict[Any, Any]) -> JsonValue:
    """Give a dict, or what a subclass of dict holds as one."""
    items, count = _snapshot(walk, value, _entries, _count)
    return walk.mapping(value, count, items)


def view(walk: Walk, value: Any) -> JsonValue:  # noqa: ANN401 - the keys, values or items of a dict
    """Give a view of a dict as a list."""
    items, count = _snapshot(walk, value, iter, len)
    return walk.array(value, count, items)


def array_of_numbers(walk: Walk, value: array[Any]) -> JsonValue:
    """Give an array of the module of that name as a list."""
    count = len(value)
    return walk.array(value, count, value[: max(walk.nodes, 0) + 1].tolist())


def unordered(base: Any) -> Plan:  # noqa: ANN401 - set or frozenset, by their own methods
    """Make the plan of sets, which are sorted: their own order differs from one process to the next."""
    iterate, length = base.__iter__, base.__len__

    def plan(walk: Walk, value: object) -> JsonValue:
        size = length(value)
        said = f"<{type_name(type(value))}: {size:,} items>"
        if size > walk.nodes:
            return walk.instead(said)
        items, size = _snapshot(walk, value, iterate, length)
        in_order = _sorted(items)
        before, walk.ran_out = walk.ran_out, False
        found = walk.array(value, size, items)
        if walk.ran_out:
            return walk.instead(said)  # which items come first would be chance
        walk.ran_out = before
        if not in_order and isinstance(found, list):
            found.sort(key=_to_json)
        return found

    return plan


def _sorted(items: list[Any]) -> bool:
    """Sort items in place if they are all texts, or all numbers."""
    kinds = {id(type_of(item)) for item in items}
    numbers = kinds <= {id(int), id(float)} and all(item == item for item in items)  # noqa: PLR0124 - NaN is not itself
    if numbers or kinds == {id(str)}:
        items.sort()
        return True
    return False


def exception(walk: Walk, value: BaseException) -> JsonValue:
    """Give an exception by its type and arguments; its text would be made by code of its own."""
    return walk.mapping(value, 2, [("exception", type_name(type(value))), ("args", _args(value))])


def name_space(walk: Walk, value: SimpleNamespace) -> JsonValue:
    """Give a simple namespace, which is nothing but its names."""
    return walk.inside(value, _namespace_names(value))


def data_of(walk: Walk, value: object) -> JsonValue:
    """Give what a `UserDict`, `UserList` or `UserString` holds."""
    return walk.inside(value, read(value, "data"))


def member_of(name: str) -> Plan:
    """Make the plan of a type that only clothes another value."""
    return lambda walk, value: walk.inside(value, read(value, name))


def proxy(walk: Walk, value: MappingProxyType[Any, Any]) -> JsonValue:
    """Give the mapping behind a read-only view of it."""
    return walk.inside(value, get_referents(value)[0])


def chain_map(walk: Walk, value: object) -> JsonValue:
    """Give a chain of dicts as the one dict that it acts as."""
    maps = read(value, "maps")
    if type_of(maps) is not list:
        return walk.opaque(type(value))
    found = walk.array(value, len(maps), maps[::-1])
    result: dict[str, JsonValue] = {}
    for part in found if isinstance(found, list) else [found]:
        if not isinstance(part, dict):
            return walk.opaque(type(value))
        result.update(part)
    return result


# --- numpy, which is never imported for this ---


def numpy_scalar(base: Any) -> Plan:  # noqa: ANN401 - `numpy.generic`
    """Make the plan of numpy's single values."""

    def plan(walk: Walk, value: Any) -> JsonValue:  # noqa: ANN401 - an instance of `base`
        name = type_name(type_of(value))
        if not name.startswith("numpy."):
            return walk.opaque(type_of(value))
        if name in {"numpy.datetime64", "numpy.timedelta64"}:
            return walk.text(str(value))
        if name == "numpy.longdouble":
            return walk.number(float(value))
        item = base.item(value)
        known = is_scalar(type_of(item)) or type_of(item) is complex or type_of(item) is bytes
        return walk.value(item) if known else walk.opaque(type_of(value))

    return plan


def numpy_array(base: Any) -> Plan:  # noqa: ANN401 - `numpy.ndarray`
    """Make the plan of numpy's arrays, of which shape and kind are shown."""
    shape, dtype = class_dict(base)["shape"].__get__, class_dict(base)["dtype"].__get__
    return lambda walk, value: walk.text(f"<{type_name(base)}: shape {shape(value)}, {dtype(value).name}>")
