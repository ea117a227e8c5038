"""What gives something later, told by its type alone; an instance is never asked, since it could answer anything."""

from __future__ import annotations

import io
import weakref
from enum import Enum
from inspect import CO_ITERABLE_COROUTINE
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Final

from pixie_otel.tracing.type_facts import MISSING, loaded, mro, static

__all__ = ["PLAIN_TYPES", "StreamKind", "is_of_database", "is_stand_in_for_anything", "stream_kind"]


class StreamKind(Enum):
    """How what a stream gives is got at."""

    ITERATOR = "iterator"
    ASYNC_ITERATOR = "async iterator"
    AWAITABLE = "awaitable"
    FUTURE = "future"


PLAIN_TYPES: Final = frozenset(map(id, (str, dict, list, type(None), bool, int, float, tuple, bytes, set, frozenset)))
"""The ids of the types that most values have; comparing types themselves would ask their metaclass."""

_NATIVE: Final = {
    id(AsyncGeneratorType): StreamKind.ASYNC_ITERATOR,
    id(CoroutineType): StreamKind.AWAITABLE,
}
# The classes of C derive from this one; `io.IOBase` itself only has them registered.
_FILE: Final = io.IOBase.__mro__[1]
_PROXIES: Final = frozenset(map(id, (weakref.ProxyType, weakref.CallableProxyType)))


def stream_kind(value: object) -> StreamKind | None:
    """Say what kind of stream a value is; ``None`` for a plain value, as files and mere iterables are."""
    kind = type(value)
    if id(kind) in PLAIN_TYPES:
        return None
    if kind is GeneratorType:
        flags: int = value.gi_code.co_flags  # type: ignore[attr-defined] # a generator, by the line above
        return StreamKind.AWAITABLE if flags & CO_ITERABLE_COROUTINE else StreamKind.ITERATOR
    native = _NATIVE.get(id(kind))
    if native is not None:
        return native
    if is_stand_in_for_anything(kind):
        inside = _inside(value, kind)
        return None if inside is MISSING else stream_kind(inside)
    return _kind_of(kind)


def is_stand_in_for_anything(kind: type) -> bool:
    """Say whether a type claims every protocol, as proxies do that stand for an object they do not know yet."""
    return id(kind) in _PROXIES or (_has(kind, "__next__") and _has(kind, "__anext__"))


def is_of_database(kind: type) -> bool:
    """Say whether a type is that of a database's connection or cursor."""
    return _has(kind, "execute") and (_has(kind, "fetchone") or _has(kind, "cursor"))


def _inside(value: object, kind: type) -> object:
    """Give what a proxy of wrapt's or of ours is around, as instrumentations' own streams are; `MISSING` for others."""
    if static(kind, "pixie_stream") is not MISSING:
        return object.__getattribute__(value, "pixie_stream")
    proxy = loaded("wrapt", "ObjectProxy")
    if proxy is not MISSING and any(base is proxy for base in mro(kind)):
        try:
            return object.__getattribute__(value, "__wrapped__")
        except Exception:  # noqa: BLE001 - it is not around anything yet
            return MISSING
    return MISSING


def _kind_of(kind: type) -> StreamKind | None:
    # Functions written in C take a file or a database's cursor by its very type.
    if any(base is _FILE for base in mro(kind)) or is_of_database(kind):
        return None
    if _has(kind, "_asyncio_future_blocking"):
        return StreamKind.FUTURE
    if _has(kind, "__await__"):
        return StreamKind.AWAITABLE
    if _has(kind, "__next__") and _has(kind, "__iter__"):
        return StreamKind.ITERATOR
    if _has(kind, "__anext__") and _has(kind, "__aiter__"):
        return StreamKind.ASYNC_ITERATOR
    return None


def _has(kind: type, name: str) -> bool:
    found = static(kind, name)
    return found is not None and found is not MISSING
