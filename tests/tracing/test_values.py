"""Tests of values as they are recorded: how each type looks, and that plain JSON comes back equal."""

from __future__ import annotations

import datetime as dt
import json
import threading
import types
import zoneinfo
from array import array
from collections import ChainMap, OrderedDict, UserDict, deque
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import attrs
import numpy as np
import pydantic
import pytest
from hypothesis import example, given
from openai.types.chat import ChatCompletion
from value_classes import Access, Attrs, Colour, Level, Mode, Model, Plain, Point, Slotted, Struct
from value_strategies import plain_json

from pixie_otel.tracing.values import encode_arguments, encode_value, plain_value


def shown(value: object) -> Any:
    """Encode a value, and read it as whoever reads the trace does."""
    encoded = encode_value(value)
    return encoded.text if encoded.mime_type == "text/plain" else json.loads(encoded.text)


# --- plain values ---


@given(plain_json)
@example({"a": [1, -(2**63), 2**64 - 1, 0.1, -0.0, 5e-324, 1e300, True, None, "\x00\u2028\U0001f642", {}, []]})
def test_plain_json_comes_back_equal(value: Any) -> None:
    """JSON read from what is recorded equals the value, of whatever shape, and nothing counts as cut."""
    encoded = encode_value(value)

    assert (encoded.text if isinstance(value, str) else json.loads(encoded.text)) == value
    assert encoded.truncated is False
    assert plain_value(value) == (value, False)
    assert encode_value(value) == encoded


@given(plain_json)
def test_the_careful_way_gives_what_the_quick_one_gives(value: Any) -> None:
    """A plain value beside an unusual one is recorded as it is recorded alone."""
    assert json.loads(encode_value([value, Decimal(1)]).text) == [value, "1"]


def test_a_text_stays_a_text() -> None:
    """A text is recorded as it is, everything else as JSON, and a text that looks like JSON is a text."""
    assert encode_value('{"a": 1}') == ('{"a": 1}', "text/plain", False)
    assert encode_value({"a": 1}) == ('{"a":1}', "application/json", False)
    assert encode_value(None) == ("null", "application/json", False)
    assert encode_value("") == ("", "text/plain", False)
    assert encode_value(Mode.FAST) == ("fast", "text/plain", False)


def test_later_changes_do_not_show() -> None:
    """What was recorded is a copy, through all levels."""
    value = {"a": [1, {"b": [2]}], "c": deque([3])}
    recorded, _ = plain_value(value)
    plain, _ = plain_value(value["a"])

    value["a"][1]["b"].append(4)  # type: ignore[index]
    value["c"].append(5)  # type: ignore[union-attr]

    assert recorded == {"a": [1, {"b": [2]}], "c": [3]}
    assert plain == [1, {"b": [2]}]


def test_arguments_are_always_an_object() -> None:
    """The arguments of a call are one JSON object by name, whatever they are."""
    assert encode_arguments({"question": "why", "n": 3}).text == '{"question":"why","n":3}'
    assert encode_arguments({}).text == "{}"
    assert json.loads(encode_arguments({"self": object()}).text) == {"self": "<object>"}
    odd: Any = [1]
    assert json.loads(encode_arguments(odd).text) == {"…": "<not recorded>"}


# --- what each type looks like ---

ZURICH = zoneinfo.ZoneInfo("Europe/Zurich")


class Zone(dt.tzinfo):
    """A time zone of the application's own."""

    def utcoffset(self, moment: dt.datetime | None, /) -> dt.timedelta:
        """Answer with code of the application's own."""
        raise AssertionError("must not run")


@attrs.define
class Masked:
    """A class whose author masks a field in his own way."""

    token: str = attrs.field(default="t", repr=lambda _value: "***")


class Excluding(pydantic.BaseModel):
    """A model that keeps fields out of what it dumps or shows."""

    a: int = 1
    b: int = pydantic.Field(default=2, exclude=True)
    c: int = pydantic.Field(default=3, repr=False)
    d: dt.datetime | None = None
    url: pydantic.HttpUrl | None = None
    hosts: pydantic.PostgresDsn | None = None


class Root(pydantic.RootModel[dict[str, int]]):
    """A model that is one value."""


@dataclass
class Defaults:
    """A dataclass whose instances keep nothing for one field."""

    a: int = field(default=5, init=False)


MOMENT = dt.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(Colour.RED, "red", id="an enum's value"),
        pytest.param(Colour.BOTH, ["red", 2], id="an enum's tuple"),
        pytest.param(Level.LOW, 1, id="an enum of numbers"),
        pytest.param(Access.READ | Access.WRITE, 3, id="flags"),
        pytest.param(Decimal("1.10"), "1.10", id="a decimal, exactly"),
        pytest.param(Fraction(1, 3), "1/3", id="a fraction"),
        pytest.param(3 + 4j, "(3+4j)", id="a complex number"),
        pytest.param(MOMENT, "2026-01-02T03:04:05.000006+00:00", id="a moment"),
        pytest.param(MOMENT.replace(tzinfo=None), "2026-01-02T03:04:05.000006", id="a moment without a zone"),
        pytest.param(MOMENT.astimezone(ZURICH), "2026-01-02T04:04:05.000006+01:00", id="a moment somewhere"),
        pytest.param(
            MOMENT.replace(tzinfo=Zone()), f"2026-01-02T03:04:05.000006 <{__name__}.Zone>", id="a foreign zone"
        ),
        pytest.param(MOMENT.date(), "2026-01-02", id="a date"),
        pytest.param(dt.time(1, 2, tzinfo=dt.UTC), "01:02:00+00:00", id="a time of day"),
        pytest.param(dt.timedelta(hours=26, seconds=1), "P1DT7201S", id="a duration"),
        pytest.param(UUID(int=7), "00000000-0000-0000-0000-000000000007", id="a UUID"),
        pytest.param(PurePosixPath("/a/b"), "/a/b", id="a path"),
        pytest.param(ZURICH, "Europe/Zurich", id="a zone"),
        pytest.param(b"\x00\xff", {"base64": "AP8="}, id="bytes"),
        pytest.param(bytearray(b"ab"), {"base64": "YWI="}, id="a byte array"),
        pytest.param(memoryview(b"abcdef")[::2], {"base64": "YWNl"}, id="a view of bytes"),
        pytest.param((1, (2,)), [1, [2]], id="tuples"),
        pytest.param({3, 1, 2}, [1, 2, 3], id="a set, sorted"),
        pytest.param({2, 10, 1.5}, [1.5, 2, 10], id="a set of numbers, sorted as numbers"),
        pytest.param(frozenset({"b", "a"}), ["a", "b"], id="a frozen set, sorted"),
        pytest.param({("b", 1), ("a", 2), 3}, [3, ["a", 2], ["b", 1]], id="a set of everything, sorted as JSON"),
        pytest.param(deque([1, 2]), [1, 2], id="a deque"),
        pytest.param(range(3), "range(0, 3)", id="a range"),
        pytest.param(array("d", [0.5, 1]), [0.5, 1.0], id="an array"),
        pytest.param(OrderedDict(b=1, a=2), {"b": 1, "a": 2}, id="an ordered dict"),
        pytest.param(ChainMap({"a": 1}, {"a": 2, "b": 3}), {"a": 1, "b": 3}, id="a chain of dicts"),
        pytest.param(types.MappingProxyType({"a": 1}), {"a": 1}, id="a read-only dict"),
        pytest.param(types.SimpleNamespace(a=1), {"a": 1}, id="a simple namespace"),
        pytest.param({"a": 1}.keys(), ["a"], id="a dict's keys"),
        pytest.param({"a": 1}.items(), [["a", 1]], id="a dict's items"),
        pytest.param(Point(1, [2]), {"x": 1, "y": [2]}, id="a named tuple"),
        pytest.param(Plain(1, 2), {"a": 1, "b": "<hidden>"}, id="a dataclass"),
        pytest.param(Slotted(1), {"a": 1}, id="a dataclass with slots"),
        pytest.param(Slotted.__new__(Slotted), {}, id="a dataclass with an empty slot"),
        pytest.param(UserDict(a=1), {"a": 1}, id="a user dict"),
        pytest.param(tuple.__new__(Point, (1,)), [1], id="a named tuple too short"),
        pytest.param(Defaults(), {"a": 5}, id="a dataclass's default"),
        pytest.param(Attrs(1), {"a": 1, "b": "<hidden>"}, id="attrs"),
        pytest.param(Masked(), {"token": "<hidden>"}, id="attrs with a mask"),
        pytest.param(Struct(1), {"a": 1}, id="a struct"),
        pytest.param(Struct(1, None), {"a": 1, "b": None}, id="a whole struct"),
        pytest.param(Model(a=1, extra=[2]), {"a": 1, "b": "**********", "extra": [2]}, id="a model"),
        pytest.param(Model(a=1, c=None), {"a": 1, "b": "**********", "c": None}, id="a model given None"),
        pytest.param(Excluding(), {"a": 1, "b": "<hidden>", "c": "<hidden>"}, id="a model that hides"),
        pytest.param(Root({"a": 1}), {"a": 1}, id="a model of one value"),
        pytest.param(pydantic.SecretBytes(b"x"), "**********", id="a secret"),
        pytest.param(KeyError("a", 1), {"exception": "KeyError", "args": ["a", 1]}, id="an exception"),
        pytest.param(Plain, "<class value_classes.Plain>", id="a class"),
        pytest.param(Model, "<class value_classes.Model>", id="a class of a class of its own"),
        pytest.param(shown, f"<function {__name__}.shown>", id="a function"),
        pytest.param(Zone().utcoffset, f"<method {__name__}.Zone.utcoffset>", id="a method"),
        pytest.param(len, "<function len>", id="a built-in function"),
        pytest.param([].append, "<function append>", id="a built-in method"),
        pytest.param(json, "<module json>", id="a module"),
        pytest.param(object(), "<object>", id="an object"),
        pytest.param(iter([1]), "<list_iterator>", id="an iterator"),
        pytest.param(threading.Lock(), "<_thread.lock>", id="a lock"),
        pytest.param(np.float32(0.5), 0.5, id="a number of numpy's"),
        pytest.param(np.bool_(True), True, id="a truth of numpy's"),  # noqa: FBT003 - numpy's own way to write it
        pytest.param(
            np.datetime64("2026-01-02T00:00:00.000000001"), "2026-01-02T00:00:00.000000001", id="numpy's moment"
        ),
        pytest.param(np.timedelta64(5, "D"), "5 days", id="numpy's duration"),
        pytest.param(np.str_("a"), "a", id="a text of numpy's"),
        pytest.param(np.zeros((2, 3), dtype="f4"), "<numpy.ndarray: shape (2, 3), float32>", id="an array of numpy's"),
        pytest.param(float("nan"), "NaN", id="NaN"),
        pytest.param([float("inf"), float("-inf")], ["Infinity", "-Infinity"], id="infinities"),
        pytest.param(2**64, "18446744073709551616", id="a large number"),
        pytest.param([-(2**63) - 1], ["-9223372036854775809"], id="a small number"),
        pytest.param("\ud83d\ude00 \udcff", "\ufffd\ufffd \ufffd", id="lone surrogates"),
        pytest.param({"\udfff": ["\ud800"]}, {"\ufffd": ["\ufffd"]}, id="lone surrogates inside"),
    ],
)
def test_every_known_type_is_shown_by_what_it_holds(value: object, expected: object) -> None:
    """A value of a known type is recorded as the JSON nearest to it, whole."""
    assert shown(value) == expected
    assert encode_value([value]).truncated is False


def test_what_pydantic_parses_is_shown_too() -> None:
    """Moments in pydantic's own zones, and its URLs, are texts."""
    given_data = {"d": "2026-01-02T00:00:00+05:30", "url": "https://example.org/a", "hosts": "postgres://a,b/c"}

    recorded = shown(Excluding.model_validate(given_data))

    assert recorded == {"a": 1, "b": "<hidden>", "c": "<hidden>", **given_data}


def test_a_model_call_is_shown_without_what_nobody_gave() -> None:
    """What OpenAI's library returns has the fields that the answer had, also the unknown ones."""
    answer = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes", "refusal": None}}
        ],
        "novel": {"a": 1},
    }

    assert shown(ChatCompletion.model_validate(answer)) == answer
    assert shown(ChatCompletion.construct(**answer)) == answer  # type: ignore[arg-type]


def test_keys_become_texts_and_stay_apart() -> None:
    """Keys are written as JSON writes their values, and what reads alike is numbered."""
    keys = {1: "int", "1": "str", 1.5: "float", None: "none", False: "bool", (1, "a"): "tuple", Colour.TWO: "enum"}

    assert shown(keys) == {
        "1": "int",
        "1 (2)": "str",
        "1.5": "float",
        "null": "none",
        "false": "bool",
        '[1,"a"]': "tuple",
        "2": "enum",
    }
    assert list(shown({object(): 1, object(): 2, object(): 3})) == ["<object>", "<object> (2)", "<object> (3)"]


def test_a_field_that_is_a_property_is_not_read() -> None:
    """A property is passed over, and what an instance keeps under its name is read."""

    @dataclass
    class Odd:
        a: int = 0

    class Derived(Odd):
        @property  # type: ignore[misc]
        def a(self) -> int:  # type: ignore[override]
            raise AssertionError("must not run")

        @a.setter
        def a(self, value: int) -> None:
            self.kept = value

    assert shown(Derived(3)) == {}
