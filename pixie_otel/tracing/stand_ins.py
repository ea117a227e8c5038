"""Stand-ins for streams: of the same class to whoever asks, with exactly the protocol of what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final, TypeAlias

from pixie_otel.tracing.faults import report
from pixie_otel.tracing.stream_kinds import StreamKind, stream_kind
from pixie_otel.tracing.streams import CLOSING, ITEM, ITEMS, LOOSE_ITEM, Follower, Role, advance
from pixie_otel.tracing.type_facts import class_dict, mro

__all__ = ["StandIn", "stand_in"]

_Given: TypeAlias = Any
"""What an application gives to a step of its stream, and what it gets from it."""


class StandIn:
    """Stands for a stream; whatever is no step of it goes straight through.

    Subclasses have the special methods of one kind of stream, and no others: what looks for a method on a type must
    find it there if and only if the stream has it.
    """

    __slots__ = ("__weakref__", "pixie_follower", "pixie_role", "pixie_stream")

    pixie_follower: Follower
    pixie_role: Role
    pixie_stream: Any

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self.pixie_stream, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.pixie_stream, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.pixie_stream, name)

    def __dir__(self) -> list[str]:
        return dir(self.pixie_stream)

    def __repr__(self) -> str:
        return repr(self.pixie_stream)

    def __str__(self) -> str:
        return str(self.pixie_stream)

    def __format__(self, specification: str) -> str:
        return format(self.pixie_stream, specification)

    # An iterator over an array compares item by item.
    def __eq__(self, other: object) -> Any:  # noqa: ANN401 - whatever the stream says
        return self.pixie_stream == other

    def __ne__(self, other: object) -> Any:  # noqa: ANN401 - likewise
        return self.pixie_stream != other

    def __hash__(self) -> int:
        return hash(self.pixie_stream)

    def __reduce_ex__(self, protocol: Any) -> Any:  # noqa: ANN401 - as `object` has it
        return self.pixie_stream.__reduce_ex__(protocol)


_set_stream: Callable[[StandIn, object], None] = StandIn.__dict__["pixie_stream"].__set__
_set_follower: Callable[[StandIn, Follower], None] = StandIn.__dict__["pixie_follower"].__set__
_set_role: Callable[[StandIn, Role], None] = StandIn.__dict__["pixie_role"].__set__


def stand_in(stream: object, follower: Follower, role: Role) -> Any:  # noqa: ANN401 - it passes for the stream
    """Make a stand-in.

    Args:
        stream: What it stands for.
        follower: What is told of its steps.
        role: What its steps mean.
    """
    made = object.__new__(_class_for(stream))
    _set_stream(made, stream)
    _set_follower(made, follower)
    _set_role(made, role)
    return made


def _next(self: StandIn) -> _Given:
    return advance(self.pixie_follower, self.pixie_role, self.pixie_stream.__next__)


def _send(self: StandIn, value: object, /) -> _Given:
    return advance(self.pixie_follower, self.pixie_role, self.pixie_stream.send, (value,))


def _throw(self: StandIn, *error: _Given) -> _Given:
    return advance(self.pixie_follower, self.pixie_role, self.pixie_stream.throw, error)


def _close(self: StandIn, *args: _Given, **kwargs: _Given) -> _Given:
    return _finished_by(self, self.pixie_stream.close, args, kwargs)


def _iter(self: StandIn) -> _Given:
    return _same_or_inner(self, self.pixie_stream.__iter__())


def _aiter(self: StandIn) -> _Given:
    return _same_or_inner(self, self.pixie_stream.__aiter__())


def _anext(self: StandIn) -> _Given:
    return _item_step(self, self.pixie_stream.__anext__())


def _asend(self: StandIn, value: object, /) -> _Given:
    return _item_step(self, self.pixie_stream.asend(value))


def _athrow(self: StandIn, *error: _Given) -> _Given:
    return _item_step(self, self.pixie_stream.athrow(*error))


def _aclose(self: StandIn, *args: _Given, **kwargs: _Given) -> _Given:
    return _finished_by(self, self.pixie_stream.aclose, args, kwargs)


def _await(self: StandIn) -> _Given:
    stream = self.pixie_stream
    if type(stream) is GeneratorType:
        return self
    steps = stream.__await__()
    if steps is stream:
        return self
    try:
        return stand_in(steps, self.pixie_follower, self.pixie_role)
    except Exception as fault:  # noqa: BLE001 - it is awaited, unseen
        report("following a stream", fault)
        return steps


def _enter(self: StandIn) -> _Given:
    return _same_or_inner(self, self.pixie_stream.__enter__())


def _exit(self: StandIn, *error: _Given) -> _Given:
    return _finished_by(self, self.pixie_stream.__exit__, error, {})


def _aenter(self: StandIn) -> _Given:
    async def entered() -> _Given:
        return _same_or_inner(self, await self.pixie_stream.__aenter__())

    return entered()


def _aexit(self: StandIn, *error: _Given) -> _Given:
    return _finished_by(self, self.pixie_stream.__aexit__, error, {})


def _finished_by(self: StandIn, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Given:
    follower = self.pixie_follower
    result = advance(follower, CLOSING, lambda: method(*args, **kwargs))
    try:
        if stream_kind(result) is StreamKind.AWAITABLE:
            return stand_in(result, follower, CLOSING)
        self.pixie_role.closed(follower)
    except Exception as fault:  # noqa: BLE001 - the stream has been closed, and that is what was asked for
        report("following a stream", fault)
    return result


def _item_step(self: StandIn, step: object) -> _Given:
    try:
        if stream_kind(step) is StreamKind.AWAITABLE:
            role = ITEM if type(self.pixie_stream) is AsyncGeneratorType else LOOSE_ITEM
            return stand_in(step, self.pixie_follower, role)
    except Exception as fault:  # noqa: BLE001 - the step is taken, unseen
        report("following a stream", fault)
    return step


def _same_or_inner(self: StandIn, given: object) -> _Given:
    """Give the stand-in itself for the stream itself, and one of the same span for what the stream iterates with."""
    if given is self.pixie_stream:
        return self
    try:
        if stream_kind(given) in (StreamKind.ITERATOR, StreamKind.ASYNC_ITERATOR):
            return stand_in(given, self.pixie_follower, ITEMS)
    except Exception as fault:  # noqa: BLE001 - it is iterated, unseen
        report("following a stream", fault)
    return given


def _forwarded_value(name: str) -> Callable[[StandIn], Any]:
    return lambda self: getattr(self.pixie_stream, name)


def _forwarded(name: str) -> Callable[..., Any]:
    def method(self: StandIn, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever the stream's own method takes
        return getattr(self.pixie_stream, name)(*args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


_FOLLOWED: Final[dict[str, Callable[..., Any]]] = {
    "__next__": _next,
    "send": _send,
    "throw": _throw,
    "close": _close,
    "__iter__": _iter,
    "__aiter__": _aiter,
    "__anext__": _anext,
    "asend": _asend,
    "athrow": _athrow,
    "aclose": _aclose,
    "__await__": _await,
    "__enter__": _enter,
    "__exit__": _exit,
    "__aenter__": _aenter,
    "__aexit__": _aexit,
}
_OPERATORS: Final = (
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "xor",
    "or",
)
_OTHERS: Final = (
    "len",
    "length_hint",
    "getitem",
    "setitem",
    "delitem",
    "contains",
    "reversed",
    "bool",
    "call",
    "int",
    "float",
    "complex",
    "index",
    "bytes",
    "fspath",
    "lt",
    "le",
    "gt",
    "ge",
    "neg",
    "pos",
    "abs",
    "invert",
    "round",
    "trunc",
    "floor",
    "ceil",
    "copy",
    "deepcopy",
)
_METHODS: Final = _FOLLOWED | {
    name: _forwarded(name)
    for name in (
        *(f"__{name}__" for name in _OTHERS),
        *(f"__{side}{name}__" for name in _OPERATORS for side in ("", "r", "i")),
    )
}
# What a class statement would not let a class say of its instances.
_IDENTITY: Final = {
    name: property(_forwarded_value(name)) for name in ("__class__", "__doc__", "__module__", "__dict__")
}
_NAMES: Final = frozenset(_METHODS)
_classes: dict[frozenset[str], type[StandIn]] = {}
_NATIVE_TYPES: Final = frozenset(map(id, (GeneratorType, AsyncGeneratorType, CoroutineType)))
_native: dict[int, type[StandIn]] = {}


def _class_for(stream: object) -> type[StandIn]:
    kind = type(stream)
    if kind is GeneratorType and stream_kind(stream) is StreamKind.AWAITABLE:
        return _class_of(_names(kind) | {"__await__"})
    found = _native.get(id(kind))
    if found is None:
        found = _class_of(_names(kind))
        if id(kind) in _NATIVE_TYPES:
            _native[id(kind)] = found
    return found


def _names(kind: type) -> frozenset[str]:
    names: set[str] = set()
    for base in reversed(mro(kind)[:-1]):
        written = class_dict(base)
        for name in _NAMES.intersection(written):
            # A class takes a method of its base away by setting it to None.
            (names.discard if written[name] is None else names.add)(name)
    return frozenset(names)


def _class_of(names: frozenset[str]) -> type[StandIn]:
    found = _classes.get(names)
    if found is None:
        methods = {name: _METHODS[name] for name in names}
        found = _classes.setdefault(names, type("StandIn", (StandIn,), {"__slots__": (), **_IDENTITY, **methods}))
    return found
