"""Values that no instrumentation may touch, that cannot be looked into, or that are data without being JSON."""

from __future__ import annotations

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
from typing import Any
from unittest.mock import MagicMock, Mock

import numpy as np
import pydantic
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
from value_classes import (
    Access,
    Attrs,
    Colour,
    Lazy,
    Level,
    Mapped,
    Mode,
    Model,
    Plain,
    Point,
    Slotted,
    Struct,
    Wrapped,
)

__all__ = ["hostile_objects", "ill_behaved", "unusual_values"]


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


def _numpy_values() -> list[Any]:
    return [
        np.float32(0.5),
        np.float64("nan"),
        np.int8(-3),
        np.bool_(True),  # noqa: FBT003 - numpy's own way to write it
        np.str_("numpy"),
        np.datetime64("2026-01-02T03:04:05.123456789"),
        np.longdouble("0.1"),
        np.void(b"12"),
        np.complex128(1j),
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
        *_numpy_values(),
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
