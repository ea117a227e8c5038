"""Tests of values that must not be touched: none of their code runs, and what is recorded is valid and bounded."""

from __future__ import annotations

import gc
import json
import threading
from typing import Any

import pytest
from hostile_values import hostile_objects, ill_behaved, unusual_values
from hypothesis import given, settings
from hypothesis import strategies as st
from traps import Hostile, HostileError, watched
from value_strategies import any_value

from pixie_otel import diagnostics
from pixie_otel.tracing.values import DEFAULT, Encoded, ValueLimits, encode_arguments, encode_value, plain_value

TIGHT = ValueLimits(max_depth=4, max_nodes=12, max_string=50, max_bytes=1000)


def recorded(value: object, limits: ValueLimits) -> Encoded:
    """Encode a value in every way, while all of its code is watched."""
    before = diagnostics.internal_errors()
    with watched() as calls:
        encoded = encode_value(value, limits)
        arguments = encode_arguments({"value": value}, limits)
        plain, truncated = plain_value(value, limits)
    assert calls == []
    assert diagnostics.internal_errors() == before
    inner = encoded.text if encoded.mime_type == "text/plain" else json.loads(encoded.text)
    assert inner == plain
    assert truncated is encoded.truncated
    assert isinstance(json.loads(arguments.text), dict)
    for each in (encoded, arguments):
        assert len(each.text.encode()) <= limits.max_bytes
        json.loads(each.text, parse_constant=pytest.fail) if each.mime_type != "text/plain" else None
    return encoded


def check(value: object) -> None:
    """Assert what holds for any value."""
    assert recorded(value, DEFAULT) == recorded(value, DEFAULT)
    recorded(value, TIGHT)
    plain, _ = plain_value(value)
    assert plain_value(plain) == (plain, False)


@given(any_value())
@settings(max_examples=300)
def test_any_value_is_recorded_without_touching_it(value: Any) -> None:
    """Any nesting of any values gives valid, bounded, repeatable JSON, and runs none of their code."""
    check(value)


@pytest.mark.long
@given(any_value(max_leaves=60))
@settings(max_examples=10_000)
def test_any_value_is_recorded_without_touching_it_long(value: Any) -> None:
    """The same, with as many values as patience allows."""
    check(value)


@pytest.mark.parametrize("make", [hostile_objects, ill_behaved, unusual_values])
def test_each_kind_is_recorded_without_touching_it(make: Any) -> None:
    """Every hostile, ill-behaved and unusual value, alone and inside others, is left alone."""
    for value in make():
        check(value)
        check({"a": [value, value], "b": (value,)})


def test_hostile_objects_are_hostile() -> None:
    """The objects that these tests use do notice when they are touched."""
    with watched() as calls:
        for touch in (repr, str, len, bool, hash, list, lambda value: value == 1, lambda value: value.a, type(Hostile)):
            with pytest.raises(HostileError):
                touch(Hostile())
        with pytest.raises(HostileError):
            isinstance(Hostile(), int | str)
    assert len(calls) >= 9


def test_iterators_are_not_consumed() -> None:
    """Generators, iterators and files give afterwards what they would have given."""
    numbers, lines = (number for number in range(3)), iter(["a", "b"])

    encode_value({"numbers": numbers, "lines": [lines], "map": map(str, numbers)})

    assert list(numbers) == [0, 1, 2]
    assert list(lines) == ["a", "b"]


def test_unknown_objects_keep_their_secrets() -> None:
    """The dictionary of an object of an unknown class is not looked into."""

    class Client:
        def __init__(self) -> None:
            self.api_key = "sk-secret"

    assert "sk-secret" not in encode_value({"client": Client(), "inner": [Client()]}).text


def test_a_value_is_let_go() -> None:
    """Recording a value keeps neither it nor its class alive."""

    class Short:
        pass

    gone = threading.Event()

    class Watch:
        def __del__(self) -> None:
            gone.set()

    def record() -> None:
        encode_value([Short(), {"watch": Watch()}])

    record()
    gc.collect()

    assert gone.is_set()


def test_a_class_may_have_any_name() -> None:
    """Whatever somebody made of a class's name and module, values of it are named somehow."""

    class Name(str):
        __slots__ = ()

    odd, long = (type("Made", (), {}) for _ in range(2))
    names: dict[str, Any] = {"type": type}
    exec("nameless = type('Made', (), {})", names)  # no module of a name stands around it
    nameless = names["nameless"]
    odd.__module__ = Hostile()
    odd.__qualname__ = Name("Odd")
    long.__qualname__ = "x" * 10_000

    with watched() as calls:
        encoded = encode_value([nameless(), odd(), long()])

    assert calls == []
    first, second, third = json.loads(encoded.text)
    assert (first, second) == ("<Made>", "<Odd>")
    assert len(third) < 250


@given(st.recursive(st.just(0), lambda inner: st.lists(inner, max_size=2), max_leaves=300))
def test_deep_values_are_bounded(value: Any) -> None:
    """Structure alone, without any content, is bounded too."""
    recorded([value] * 3, TIGHT)
