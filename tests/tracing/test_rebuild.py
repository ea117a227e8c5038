"""A recorded value becomes what the application works with, or an error that says why it cannot."""

from __future__ import annotations

import asyncio
import inspect
import sys
import types
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from uuid import UUID

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

from pixie_otel.errors import WrapTypeMismatchError
from pixie_otel.evaluable import JsonValue
from pixie_otel.tracing.replay import replay_inputs
from pixie_otel.tracing.values import plain_value
from pixie_otel.tracing.wrap import wrap


class Color(Enum):
    """Colors."""

    RED = "red"


class Level(IntEnum):
    """Levels."""

    HIGH = 2


@dataclass
class Document:
    """A document."""

    text: str
    score: float = 0.0
    tags: list[str] = field(default_factory=list)


class Request(pydantic.BaseModel):
    """A request."""

    question: str
    when: datetime
    amount: Decimal
    document: Document | None = None
    renamed: int = pydantic.Field(default=0, alias="other")


class Options(TypedDict):
    """Options."""

    limit: int


class Pair(NamedTuple):
    """A pair."""

    left: int
    right: str


class Arbitrary:
    """A class that nobody can build from JSON."""


def replayed(value: JsonValue, data: Any, target: Any = None) -> Any:
    """Give what stands in place of `data` while `value` is replayed."""
    with replay_inputs({"data": value}):
        return wrap(data, purpose="input", name="data", type=target)


def called(value: JsonValue, function: Callable[..., Any], target: Any = None) -> Any:
    """Give what a wrapped function gives while `value` is replayed."""
    with replay_inputs({"data": value}):
        return wrap(function, purpose="input", name="data", type=target)()


WHEN = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)


@pytest.mark.parametrize(
    "data",
    [
        "text",
        1,
        2**70,
        1.5,
        float("inf"),
        True,
        None,
        [1, "a"],
        {"a": [None]},
        (1, 2),
        {1, 2},
        frozenset({"a"}),
        b"\x00\xff",
        Decimal("1.10"),
        WHEN,
        WHEN.date(),
        WHEN.time(),
        UUID(int=5),
        Color.RED,
        Level.HIGH,
        Path("a/b"),
        Document("text", 0.5, ["a"]),
        Request(question="why", when=WHEN, amount=Decimal("1.5"), document=Document("d"), other=3),
        OrderedDict(a=1),
    ],
)
def test_what_was_recorded_comes_back_equal(data: object) -> None:
    """Values of the common types come back from their recorded form as equal ones of the same type."""
    plain, cut = plain_value(data)
    assert not cut
    rebuilt = replayed(plain, data)
    assert type(rebuilt) is type(data)
    assert rebuilt == data


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_comes_back_equal(value: Any) -> None:
    """Any JSON value stands in for one of its own type."""
    rebuilt = replayed(value, value)
    assert type(rebuilt) is type(value)
    assert rebuilt == value


@pytest.mark.parametrize(
    ("value", "data", "expected", "reason"),
    [
        (1, "text", "str", "it is a number"),
        ("1", 1, "int", "it is a string"),
        (True, 1, "int", "it is true or false"),
        (1, True, "bool", "it is a number"),
        (None, "text", "str", "it is null"),
        ([1], {}, "dict", "it is an array"),
        ({}, [], "list", "it is an object"),
        ("x", (1,), "tuple", "valid"),
        ("2026-13-01", date(2026, 1, 1), "datetime.date", "valid"),
        ("blue", Color.RED, "Color", "'red'"),
        ({"text": 1}, Document("a"), "Document", "Input should be a valid string at text"),
        ({"base64": "no base64"}, b"", "bytes", "no base64"),
        ({"a": 1}, Arbitrary(), "Arbitrary", "pydantic, which rebuilds values, cannot take this type"),
    ],
)
def test_what_does_not_fit_is_an_error(value: JsonValue, data: Any, expected: str, reason: str) -> None:
    """Nothing is coerced; the error says to what the value cannot be rebuilt, and why."""
    with pytest.raises(WrapTypeMismatchError, match="cannot become") as raised:
        replayed(value, data)
    assert raised.value.expected.endswith(expected)
    assert reason in raised.value.reason
    assert isinstance(raised.value, TypeError)


def test_the_type_can_be_said() -> None:
    """`type=` says what is in a container, and takes the place of the value's own type."""
    assert replayed([{"text": "a"}], [], list[Document]) == [Document("a")]
    assert replayed({"limit": 1}, {}, Options) == {"limit": 1}
    assert replayed([1, "a"], None, Pair) == Pair(1, "a")
    assert replayed(5, None, Annotated[int, pydantic.Field(gt=3)]) == 5
    assert replayed({"a": [1]}, {}, dict[str, tuple[int, ...]]) == {"a": (1,)}
    with pytest.raises(WrapTypeMismatchError, match="list") as raised:
        replayed([{"text": 1}, {}], [], list[Document])
    assert raised.value.reason == "Input should be a valid string at 0.text (and 1 more)"
    with pytest.raises(WrapTypeMismatchError):
        replayed({"limit": "1"}, {}, Options)


def test_a_value_without_type_comes_as_recorded() -> None:
    """Where `data` is None and nothing else is said, the recorded value is given as it is."""
    assert replayed({"a": [1]}, None) == {"a": [1]}


# --- results of callables ---


def test_a_functions_annotation_says_the_type() -> None:
    """Return annotations of functions, methods, partials, callable objects and classes are followed."""

    def document(query: str) -> Document:
        raise AssertionError

    class Store:
        def find(self) -> list[Document]:
            raise AssertionError

        def __call__(self) -> Document:
            raise AssertionError

    recorded: JsonValue = {"text": "a"}
    assert called(recorded, document) == Document("a")
    assert called(recorded, partial(document, "q")) == Document("a")
    assert called([recorded], Store().find) == [Document("a")]
    assert called(recorded, Store()) == Document("a")
    assert called(recorded, Document) == Document("a")
    assert called(recorded, lambda: None) == recorded
    with pytest.raises(WrapTypeMismatchError, match="Document"):
        called("text", document)


def test_an_annotation_that_cannot_be_found_is_passed_over() -> None:
    """A type that only type checkers know, or a name that is misspelt, gives the value as recorded."""

    def unknown() -> OnlyForTypeCheckers:  # type: ignore[name-defined]  # noqa: F821 - that is what is tried
        raise AssertionError

    def other_parameter(value: OnlyForTypeCheckers) -> Document:  # type: ignore[name-defined]  # noqa: F821 - likewise
        raise AssertionError

    assert called({"text": "a"}, unknown) == {"text": "a"}
    assert called({"text": "a"}, other_parameter) == Document("a")


def test_an_async_function_gives_an_awaitable() -> None:
    """What is awaited is of the annotated type; a plain function that gives an awaitable is the same."""

    async def document() -> Document:
        raise AssertionError

    def promised() -> Awaitable[Document]:
        raise AssertionError

    async def run() -> None:
        coroutine = called({"text": "a"}, document)
        assert inspect.iscoroutine(coroutine)
        assert await coroutine == await called({"text": "a"}, promised) == Document("a")
        assert await called({"text": "a"}, document, dict) == {"text": "a"}

    asyncio.run(run())


def test_generators_and_iterators_give_streams() -> None:
    """Functions that generate, or say that they give an iterator, give one over the rebuilt items."""

    def generated() -> Generator[Document, None, None]:
        raise AssertionError
        yield Document("")

    def bare():  # type: ignore[no-untyped-def]  # noqa: ANN202 - a function without annotations
        raise AssertionError
        yield 1

    def iterator() -> Iterator[Document]:
        raise AssertionError

    def iterable() -> Iterable[Document]:
        raise AssertionError

    def sequence() -> Sequence[Document]:
        raise AssertionError

    value: JsonValue = [{"text": "a"}, {"text": "b"}]
    expected = [Document("a"), Document("b")]
    for function in (generated, iterator):
        stream = called(value, function)
        assert isinstance(stream, types.GeneratorType)
        assert list(stream) == expected
    assert list(called([1, 2], bare)) == [1, 2]
    assert called(value, iterable) == expected
    assert called(value, sequence) == expected
    assert list(called("text", bare)) == ["text"]
    with pytest.raises(WrapTypeMismatchError):
        called({"text": "a"}, generated)


def test_async_generators_give_async_streams() -> None:
    """The same for async ones, whether they are awaited for or not."""

    async def generated() -> AsyncGenerator[Document, None]:
        raise AssertionError
        yield Document("")

    async def bare():  # type: ignore[no-untyped-def]  # noqa: ANN202 - a function without annotations
        raise AssertionError
        yield 1

    async def client() -> AsyncIterator[Document]:
        raise AssertionError

    async def run() -> None:
        expected = [Document("a")]
        assert [item async for item in called([{"text": "a"}], generated)] == expected
        assert [item async for item in called([1], bare)] == [1]
        assert [item async for item in await called([{"text": "a"}], client)] == expected

    asyncio.run(run())


def test_what_refuses_to_tell_its_type_is_an_error_not_a_crash() -> None:
    """A type that raises when pydantic asks it, or a validator that raises, is a mismatch."""

    class Hostile:
        @classmethod
        def __get_pydantic_core_schema__(cls, *args: object) -> Any:
            raise ZeroDivisionError("schema")

    def validate(value: object) -> object:
        raise ZeroDivisionError("validator")

    with pytest.raises(WrapTypeMismatchError, match="schema"):
        replayed(1, None, Hostile)
    with pytest.raises(WrapTypeMismatchError, match="validator"):
        replayed(1, None, Annotated[int, pydantic.AfterValidator(validate)])


def test_plain_types_need_no_pydantic(monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON's own types are rebuilt without loading pydantic."""
    monkeypatch.setitem(sys.modules, "pydantic", None)
    assert replayed("recorded", "real") == "recorded"
    assert replayed([1], [2]) == [1]


def test_durations_come_back() -> None:
    """A type whose recorded form pydantic reads by itself."""
    assert replayed(plain_value(timedelta(seconds=90))[0], timedelta()) == timedelta(seconds=90)
