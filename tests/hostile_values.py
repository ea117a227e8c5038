"""Values that no instrumentation may touch, and a strategy for arbitrary Python values that holds them."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import itertools
import pathlib
import re
import threading
import types
import uuid
import zoneinfo
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque
from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from unittest.mock import MagicMock, Mock

import attrs
import msgspec
import numpy as np
import pydantic
from hypothesis import strategies as st
from traps import (
    Hostile,
    HostileByteArray,
    HostileBytes,
    HostileComplex,
    HostileDate,
    HostileDatetime,
    HostileDecimal,
    HostileDelta,
    HostileDeque,
    HostileDict,
    HostileException,
    HostileFloat,
    HostileFrozenSet,
    HostileInt,
    HostileList,
    HostileModule,
    HostileSet,
    HostileStr,
    HostileTime,
    HostileTuple,
    HostileZone,
    touched,
)

__all__ = [
    "Access",
    "Attrs",
    "Colour",
    "Lazy",
    "Level",
    "Mode",
    "Model",
    "Plain",
    "Point",
    "Slotted",
    "Struct",
    "any_value",
    "hostile_objects",
    "ill_behaved",
    "plain_json",
    "plain_scalars",
    "unusual_values",
]


class Lazy:
    """Loads what it holds when somebody looks, as an object of a database does."""

    def __getattr__(self, name: str) -> Any:
        touched(f"Lazy.{name}")
        raise AttributeError(name)

    @property
    def rows(self) -> list[int]:
        """The rows, from far away."""
        touched("Lazy.rows")
        return [1]


class _Column:
    """Answers for an attribute of its owner, as a column of an ORM does."""

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        touched("Column.__get__")
        return self

    def __set__(self, instance: object, value: object) -> None:
        touched("Column.__set__")


class Colour(enum.Enum):
    """A plain enum."""

    RED = "red"
    TWO = 2
    BOTH = ("red", 2)


class Level(enum.IntEnum):
    """An enum of numbers."""

    LOW = 1


class Mode(enum.StrEnum):
    """An enum of texts."""

    FAST = "fast"


class Access(enum.Flag):
    """An enum of bits."""

    READ = 1
    WRITE = 2


class Point(NamedTuple):
    """A tuple with names."""

    x: Any
    y: Any


@dataclasses.dataclass
class Plain:
    """A dataclass with a field that its author hides."""

    a: Any
    b: Any = dataclasses.field(default=None, repr=False)

    @property
    def c(self) -> int:
        """What is computed."""
        touched("Plain.c")
        return 1


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted:
    """A dataclass without a dictionary."""

    a: Any


class Mapped(Plain):
    """A dataclass whose fields an ORM answers for."""

    a = _Column()  # type: ignore[assignment]


@attrs.define
class Attrs:
    """A class made by attrs."""

    a: Any
    b: Any = attrs.field(default=1, repr=False)


class Struct(msgspec.Struct):
    """A class made by msgspec."""

    a: Any
    b: Any = msgspec.UNSET


class Model(pydantic.BaseModel):
    """A class made by pydantic, with most of what makes code run."""

    model_config = pydantic.ConfigDict(extra="allow", arbitrary_types_allowed=True)

    a: Any
    b: pydantic.SecretStr = pydantic.SecretStr("hunter2")
    c: Any = None

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def computed(self) -> int:
        """What is computed."""
        touched("Model.computed")
        return 1

    @pydantic.model_serializer(mode="wrap")
    def _serialise(self, handler: Any) -> Any:
        touched("Model.serialise")
        return handler(self)

    def __repr__(self) -> str:
        touched("Model.__repr__")
        return "Model()"

    def __eq__(self, other: object) -> bool:
        touched("Model.__eq__")
        return self is other

    def __hash__(self) -> int:
        touched("Model.__hash__")
        return 1


class Wrapped(pydantic.RootModel[list[int]]):
    """A model that is one value."""


def _generator() -> Iterator[int]:
    touched("generator")
    yield 1


async def _async_generator() -> Any:
    touched("async generator")
    yield 1


def hostile_objects() -> list[Any]:
    """Make one hostile object of each kind, some of them holding others."""
    key = Hostile()
    moment = HostileDatetime(2026, 1, 2, 3, 4, 5, tzinfo=HostileZone())
    return [
        Hostile(),
        Hostile,
        HostileDict({"a": Hostile(), key: 1, HostileStr("b"): 2}),
        {key: Hostile(), HostileStr("c"): HostileInt(3)},
        HostileList([1, Hostile()]),
        HostileTuple((1, Hostile())),
        HostileSet({1, HostileStr("d")}),
        HostileFrozenSet({Hostile(), Hostile()}),
        HostileDeque([1, Hostile()]),
        HostileStr("text"),
        HostileBytes(b"bytes"),
        HostileByteArray(b"bytes"),
        HostileInt(5),
        HostileFloat(0.5),
        HostileComplex(1j),
        moment,
        HostileDate(2026, 1, 2),
        HostileTime(1, 2, 3, tzinfo=HostileZone()),
        HostileDelta(1, 2),
        HostileZone(),
        HostileDecimal("1.5"),
        HostileException("what", Hostile()),
        HostileModule("hostile"),
        types.MappingProxyType({key: Hostile()}),
        types.MappingProxyType(HostileDict({"a": 1})),
        ChainMap({key: 1}, {Hostile(): 2}),
        ChainMap(HostileDict({"a": 1})),
        {"a": Hostile()}.values(),
        iter(HostileList([1])),
        types.SimpleNamespace(a=Hostile()),
        Plain(Hostile(), Hostile()),
        Slotted(Hostile()),
        Attrs(Hostile()),
        Struct(Hostile()),
        Model(a=Hostile(), more=Hostile()),
        Point(Hostile(), Lazy()),
        ValueError(Hostile(), HostileStr("x")),
        BaseExceptionGroup("several", [HostileException(), ValueError(Hostile())]),
        Lazy(),
        _mapped(),
    ]


def _mapped() -> Mapped:
    value = Mapped.__new__(Mapped)
    value.__dict__.update(a=1, b=Hostile())
    return value


def ill_behaved() -> list[Any]:
    """Make one of each value that is consumed, locked, lies or is endless when it is looked into."""
    released = memoryview(b"gone")
    released.release()
    return [
        _generator(),
        _async_generator(),
        itertools.count(),
        map(touched, ["map"]),
        zip([1], [2], strict=True),
        iter([1]),
        (touched(str(each)) for each in range(3)),
        threading.Lock(),
        threading.current_thread(),
        Mock(),
        MagicMock(spec=dict),
        Mock(spec=Plain),
        released,
        re.compile("a(b)?"),
        re.compile(b"a").match(b"a"),
        object(),
        NotImplemented,
        ...,
        type,
        enum.Enum,
        np.zeros((2, 3)),
        np.array([Hostile()], dtype=object),
        (lambda: 1),
        len,
        [].append,
        Plain.c,
        Lazy().__class__,
        types,
    ]


def unusual_values() -> list[Any]:
    """Make one of each value that is data without being JSON."""
    return [
        *Colour,
        Level.LOW,
        Mode.FAST,
        Access.READ | Access.WRITE,
        decimal.Decimal("1.10"),
        decimal.Decimal("sNaN"),
        fractions.Fraction(1, 3),
        dt.datetime(2026, 1, 2, 3, 4, 5, 6),  # noqa: DTZ001 - a time of no place is a value too
        dt.datetime(2026, 1, 2, tzinfo=zoneinfo.ZoneInfo("Europe/Zurich")),
        dt.date(2026, 1, 2),
        dt.time(1, 2, tzinfo=dt.UTC),
        dt.timedelta(days=-1, microseconds=3),
        uuid.UUID(int=7),
        pathlib.Path("/tmp/x"),
        pathlib.PureWindowsPath("C:/x"),
        ipaddress.ip_address("::1"),
        pydantic.AnyUrl("http://user@example.org/x"),
        pydantic.SecretStr("hunter2"),
        pydantic.SecretBytes(b"hunter2"),
        b"\x00\xff",
        bytearray(b"abc"),
        memoryview(b"abcdef")[::2],
        3 + 4j,
        range(10**30),
        slice(1, 2),
        float("nan"),
        float("-inf"),
        2**64,
        -(2**63) - 1,
        10**5000,
        "\ud800 lone",
        {"\udfff": 1},
        np.float32(0.5),
        np.float64("nan"),
        np.int8(-3),
        np.bool_(True),  # noqa: FBT003 - numpy's own way to write it
        np.str_("numpy"),
        np.datetime64("2026-01-02T03:04:05.123456789"),
        np.longdouble("0.1"),
        np.void(b"12"),
        np.complex128(1j),
        OrderedDict(b=1, a=2),
        defaultdict(list, a=[1]),
        Counter("hello"),
        deque([1, 2]),
        frozenset({3, 1, 2}),
        {frozenset({"b", "a"}), frozenset({1})},
        ChainMap({"a": 1}, {"a": 2, "b": 3}),
        types.MappingProxyType({"a": 1}),
        types.SimpleNamespace(a=1),
        UserDict(a=1),
        UserList([1]),
        UserString("user"),
        {1: "int", "1": "str", None: "none", 1.5: "float", (1, "a"): "tuple", Colour.RED: "enum", False: "bool"},
        Point(1, 2),
        Plain(1, 2),
        Slotted(1),
        Attrs(1),
        Struct(1),
        Model(a=1, b=pydantic.SecretStr("hunter2"), extra=1),
        Wrapped([1, 2]),
        KeyError("missing", 1),
    ]


def _cycle(values: list[Any]) -> list[Any]:
    values.append({"again": values})
    return values


def _shared(value: Any) -> Any:
    for _ in range(3):
        value = [value, value]
    return value


plain_scalars: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)
"""Values that JSON has by itself."""

plain_json: Final = st.recursive(
    plain_scalars,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(), inner, max_size=6),
    max_leaves=30,
)
"""Values that are JSON already."""

_texts: Final = st.text(st.characters(codec=None) | st.sampled_from("\ud800\udfff\x00\u2028"))
_moments: Final = (
    st.datetimes(timezones=st.none() | st.just(dt.UTC)) | st.dates() | st.times() | st.timedeltas() | st.uuids()
)


def any_value(max_leaves: int = 25) -> st.SearchStrategy[Any]:
    """Make any Python value, nested in any way: plain, unusual, ill-behaved and hostile ones.

    Args:
        max_leaves: About how many values a value may consist of.
    """
    made = st.sampled_from((hostile_objects, ill_behaved, unusual_values)).flatmap(
        lambda make: st.integers(0, len(make()) - 1).map(lambda place: make()[place])
    )
    leaves = st.one_of(plain_scalars, st.integers(), st.floats(), _texts, st.binary(), _moments, st.decimals(), made)
    keys = st.one_of(
        _texts, plain_scalars, st.integers(), st.tuples(_texts, st.integers()), st.sampled_from(Colour), st.uuids()
    )

    def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        lists = st.lists(inner, max_size=5)
        dicts = st.dictionaries(keys, inner, max_size=5)
        return st.one_of(
            lists,
            dicts,
            lists.map(tuple),
            lists.map(deque),
            lists.map(HostileList),
            lists.map(_cycle),
            inner.map(_shared),
            dicts.map(OrderedDict),
            dicts.map(HostileDict),
            dicts.map(types.MappingProxyType),
            st.sets(keys, max_size=5),
            st.builds(Point, inner, inner),
            st.builds(Plain, inner, inner),
            st.builds(Slotted, inner),
            st.builds(Attrs, inner),
            st.builds(Struct, inner),
            inner.map(lambda value: Model(a=value)),
            lists.map(lambda values: ValueError(*values)),
        )

    return st.recursive(leaves, containers, max_leaves=max_leaves)
