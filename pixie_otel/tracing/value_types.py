"""Which plan a value is read by: one for every class, chosen when the first of its instances comes along.

Only types that are known are looked into, and only through functions of the interpreter and of the libraries that the
types come from. Everything else is named, not read. What the reader of a trace sees:

- Subclasses of ``dict``, ``list``, ``str`` and so on count as what they are based on; a named tuple is an object.
- A member of an enum is its value. Sets are sorted; one too large for that is only named.
- Bytes are ``{"base64": …}``, or ``<bytes: 123,456>`` where that would be longer than a text may be.
- Dates, times and durations are ISO 8601, decimals and fractions their exact digits.
- An exception is ``{"exception": type, "args": [...]}``.
- Classes, functions and modules are named, ``<function app.answer>``; of an array of numpy's, shape and kind are shown.
"""

from __future__ import annotations

import datetime as dt
import re
from array import array
from collections import UserDict, UserList, UserString, deque
from collections.abc import Callable
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType, SimpleNamespace
from typing import Any, Final
from weakref import ref

from pixie_otel.tracing import value_plans as plans
from pixie_otel.tracing.type_facts import getter, loaded, mro, type_of
from pixie_otel.tracing.value_fields import Plan, fields_plan

__all__ = ["plan_of"]


def _by_id(*table: tuple[Any, Plan]) -> dict[int, Plan]:
    return {id(kind): plan for kind, plan in table}


_SOME: Final[dict[str, str]] = {}
_EXACT: Final = _by_id(
    (range, plans.span_of_numbers),
    (memoryview, plans.buffer),
    (array, plans.array_of_numbers),
    (re.Pattern, plans.pattern),
    (FunctionType, plans.function),
    (MethodType, plans.method),
    (BuiltinFunctionType, plans.builtin),
    (MappingProxyType, plans.proxy),
    (SimpleNamespace, plans.name_space),
    (UserDict, plans.data_of),
    (UserList, plans.data_of),
    (UserString, plans.data_of),
    *((type_of(view), plans.view) for view in (_SOME.keys(), _SOME.values(), _SOME.items())),
)
"""Types whose subclasses may be something else altogether."""

_BASES: Final = _by_id(
    (str, plans.text),
    (int, plans.whole),
    (float, plans.number),
    (complex, plans.complex_number),
    (dict, plans.pairs),
    (list, plans.sequence(list)),
    (tuple, plans.sequence(tuple)),
    (deque, plans.sequence(deque)),
    (set, plans.unordered(set)),
    (frozenset, plans.unordered(frozenset)),
    (bytes, plans.binary(bytes)),
    (bytearray, plans.binary(bytearray)),
    (dt.datetime, plans.moment(dt.datetime)),
    (dt.time, plans.moment(dt.time)),
    (dt.date, plans.by_isoformat),
    (dt.timedelta, plans.duration),
    (BaseException, plans.exception),
    (ModuleType, plans.module),
)
"""Types that stand for their subclasses too."""

_LOADED_BASES: Final[tuple[tuple[str, str, Callable[[Any], Plan]], ...]] = (
    ("decimal", "Decimal", plans.by_text),
    ("pydantic.types", "_SecretBase", lambda _base: plans.secret),
    ("pydantic.networks", "_BaseUrl", lambda _base: plans.member_of("_url")),
    ("pydantic.networks", "_BaseMultiHostUrl", lambda _base: plans.member_of("_url")),
    ("numpy", "generic", plans.numpy_scalar),
)
"""Types of modules that may not be imported, which stand for their subclasses too."""

_LOADED: Final[tuple[tuple[str, str, Callable[[Any], Plan]], ...]] = (
    ("uuid", "UUID", plans.by_text),
    *(("pathlib", f"{pure}{system}Path", plans.by_text) for pure in ("", "Pure") for system in ("Posix", "Windows")),
    ("fractions", "Fraction", plans.by_text),
    *(
        ("ipaddress", f"IPv{version}{what}", plans.by_text)
        for version in (4, 6)
        for what in ("Address", "Network", "Interface")
    ),
    ("zoneinfo", "ZoneInfo", plans.by_text),
    ("pydantic_core", "Url", plans.by_text),
    ("pydantic_core", "MultiHostUrl", plans.by_text),
    ("httpx", "URL", plans.by_text),
    ("yarl", "URL", plans.by_text),
    ("collections", "ChainMap", lambda _base: plans.chain_map),
    ("numpy", "ndarray", plans.numpy_array),
)
"""Types of modules that may not be imported, without their subclasses."""

_chosen: Final[dict[int, tuple[Plan, ref[type]]]] = {}
"""By the id of the class, as hashing a class runs code of its metaclass."""


def plan_of(kind: type) -> Plan:
    """Give how values of a class are read."""
    known = _chosen.get(id(kind))
    if known is not None and known[1]() is kind:
        return known[0]
    plan = _choose(kind)
    place = id(kind)
    _chosen[place] = (plan, ref(kind, lambda _gone: _forget(place)))
    return plan


def _forget(place: int) -> None:
    known = _chosen.get(place)
    # Another class may have come to live at the same place.
    if known is not None and known[1]() is None:
        _chosen.pop(place, None)


def _choose(kind: type) -> Plan:
    exact = _EXACT.get(id(kind)) or _plan_of_loaded(kind, _LOADED)
    if exact is not None:
        return exact
    bases = mro(kind)
    for base in bases:
        if base is type:
            return plans.class_name
        if base is Enum:
            return plans.enum_member(getter(kind, "_value_"))
        of_library = _plan_of_loaded(base, _LOADED_BASES)
        if of_library is not None:
            return of_library
    declared = fields_plan(kind)
    if declared is not None:
        return declared
    return next((_BASES[id(base)] for base in bases if id(base) in _BASES), plans.opaque)


def _plan_of_loaded(kind: type, table: tuple[tuple[str, str, Callable[[Any], Plan]], ...]) -> Plan | None:
    for module, name, make in table:
        if loaded(module, name) is kind:
            return make(kind)
    return None
