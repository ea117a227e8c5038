"""Objects all of whose code is a trap: special methods, all others, properties, and those of the class's class.

The traps do what the methods usually do until somebody watches; then each call is noted and raises:

    with watched() as calls:
        encode_value(Hostile())
    assert calls == []
"""

from __future__ import annotations

import datetime as dt
import decimal
import threading
import types
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

__all__ = [
    "Hostile",
    "HostileByteArray",
    "HostileBytes",
    "HostileComplex",
    "HostileDate",
    "HostileDatetime",
    "HostileDecimal",
    "HostileDelta",
    "HostileDeque",
    "HostileDict",
    "HostileError",
    "HostileException",
    "HostileFloat",
    "HostileFrozenSet",
    "HostileInt",
    "HostileList",
    "HostileModule",
    "HostileSet",
    "HostileStr",
    "HostileTime",
    "HostileTuple",
    "HostileZone",
    "hostile_class",
    "touched",
    "watched",
]


class HostileError(Exception):
    """Code of a value's own was run while somebody watched."""


_lock = threading.RLock()
_calls: list[str] = []
_watching = 0


@contextmanager
def watched() -> Iterator[list[str]]:
    """Note every call of a hostile object's code in the meantime; the calls are given as they come."""
    global _watching  # noqa: PLW0603 - hostile objects are everywhere, and have no other way to know
    with _lock:
        _calls.clear()
        _watching += 1
        try:
            yield _calls
        finally:
            _watching -= 1


def touched(what: str) -> None:
    """Say that code of a hostile object runs; raises while somebody watches."""
    if _watching:
        _calls.append(what)
        raise HostileError(what)


_SPECIAL: Final = """
abs add aenter aexit aiter and anext await bool bytes call ceil complex contains copy deepcopy delattr delitem
dir divmod enter eq exit float floor floordiv format fspath ge getattr getattribute getitem getnewargs
getnewargs_ex getstate gt hash iadd iand imul index instancecheck int invert ior iter itruediv le len
length_hint lshift lt matmul missing mod mul ne neg next or pos pow radd rand rdivmod reduce reduce_ex repr
reversed rmul ror round rshift rsub set_name setattr setitem setstate sizeof str sub subclasscheck subclasses
truediv trunc xor json html_ rich_repr pretty
"""
_USUAL: Final[dict[str, Callable[..., Any]]] = {
    "__bool__": lambda _self: True,
    "__len__": lambda _self: 0,
    "__iter__": lambda _self: iter(()),
    "__aiter__": lambda self: self,
    "__fspath__": lambda _self: "/hostile",
    "__index__": lambda _self: 0,
    "__length_hint__": lambda _self: 0,
}


def _trap(owner: str, name: str, usual: Callable[..., Any] | None) -> Callable[..., Any]:
    def trap(*args: Any, **kwargs: Any) -> Any:
        touched(f"{owner}.{name}")
        if usual is not None:
            return usual(*args, **kwargs)
        if name == "__getattr__":
            raise AttributeError(args[1])
        raise TypeError(name)

    return trap


def _traps(owner: str, base: type, names: list[str]) -> dict[str, Any]:
    return {name: _trap(owner, name, getattr(base, name, None) or _USUAL.get(name)) for name in names}


_NAMES: Final = [f"__{name.strip('_')}__" for name in _SPECIAL.split()]
_META_NAMES: Final = [
    *("__getattribute__", "__getattr__", "__hash__", "__eq__", "__ne__", "__lt__", "__repr__", "__str__", "__dir__"),
    *("__instancecheck__", "__subclasscheck__", "__iter__", "__len__", "__bool__", "__contains__", "__getitem__"),
    *("__or__", "__ror__", "__call__", "__setattr__", "__format__", "__reduce_ex__"),
]

HostileMeta: Final[Any] = type("HostileMeta", (type,), _traps("HostileMeta", type, _META_NAMES))


def hostile_class(name: str, base: type) -> Any:
    """Make a subclass all of whose methods, special or not, and whose metaclass's are traps."""
    methods = [each for each in dir(base) if not each.startswith("_") and callable(getattr(base, each))]
    body = _traps(name, base, [*_NAMES, *methods])
    if base.__hash__ is None:
        body["__hash__"] = None
    for each in ("__class__", "__dict__", "__doc__"):
        body[each] = property(_trap(name, each, lambda _self: object))
    return HostileMeta(name, (base,), {**body, "__module__": __name__, "__qualname__": name})


Hostile: Final = hostile_class("Hostile", object)
HostileDict: Final = hostile_class("HostileDict", dict)
HostileList: Final = hostile_class("HostileList", list)
HostileTuple: Final = hostile_class("HostileTuple", tuple)
HostileSet: Final = hostile_class("HostileSet", set)
HostileFrozenSet: Final = hostile_class("HostileFrozenSet", frozenset)
HostileDeque: Final = hostile_class("HostileDeque", deque)
HostileStr: Final = hostile_class("HostileStr", str)
HostileBytes: Final = hostile_class("HostileBytes", bytes)
HostileByteArray: Final = hostile_class("HostileByteArray", bytearray)
HostileInt: Final = hostile_class("HostileInt", int)
HostileFloat: Final = hostile_class("HostileFloat", float)
HostileComplex: Final = hostile_class("HostileComplex", complex)
HostileDatetime: Final = hostile_class("HostileDatetime", dt.datetime)
HostileDate: Final = hostile_class("HostileDate", dt.date)
HostileTime: Final = hostile_class("HostileTime", dt.time)
HostileDelta: Final = hostile_class("HostileDelta", dt.timedelta)
HostileZone: Final = hostile_class("HostileZone", dt.tzinfo)
HostileDecimal: Final = hostile_class("HostileDecimal", decimal.Decimal)
HostileException: Final = hostile_class("HostileException", Exception)
HostileModule: Final = hostile_class("HostileModule", types.ModuleType)
