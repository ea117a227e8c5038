"""`wrap` gives back what it was given, and records it under its name."""

from __future__ import annotations

import asyncio
import collections.abc
import contextlib
import copy
import functools
import inspect
import json
import logging
import pickle
import sqlite3
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, assert_type
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.trace import StatusCode
from tracing_runtime import Recorded, recording

from pixie_otel.tracing.wrap import wrap


class Liar:
    """An object that says that it is a str, and raises for whatever else it is asked."""

    @property
    def __class__(self) -> type:  # type: ignore[override] # the lie
        return str

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("iter")

    def __len__(self) -> int:
        raise RuntimeError("len")

    def __repr__(self) -> str:
        raise RuntimeError("repr")


class Everything:
    """A stand-in that claims every protocol, as the request of a web framework."""

    def __call__(self) -> None:
        """Claim to be callable."""

    __iter__ = __next__ = __aiter__ = __anext__ = __await__ = __call__


def shout(text: str, *, times: int = 1) -> str:
    """Shout."""
    return text.upper() * times


@pytest.mark.parametrize("purpose", ["input", "output", "state"])
def test_a_value_comes_back_as_itself(recorded: Recorded, purpose: Any) -> None:
    """The same object, and one short span with name, purpose, description and value in standard attributes."""
    value = {"question": ["why"]}
    assert wrap(value, purpose=purpose, name="data", description="what it is") is value
    side = "input" if purpose == "input" else "output"
    assert recorded.attributes("data") == {
        "openinference.span.kind": "CHAIN",
        "pixie.wrap.name": "data",
        "pixie.wrap.purpose": purpose,
        "pixie.wrap.description": "what it is",
        f"{side}.value": '{"question":["why"]}',
        f"{side}.mime_type": "application/json",
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_value_comes_back_as_itself(value: object) -> None:
    """Identity holds for every value, with tracing on or off."""
    assert wrap(value, purpose="input", name="data") is value
    with recording() as found:
        assert wrap(value, purpose="state", name="data") is value
        assert found.names == ["data"]


@pytest.mark.parametrize(
    "make",
    [
        Liar,
        Everything,
        object,
        mock.NonCallableMock,
        mock.NonCallableMagicMock,
        lambda: types.SimpleNamespace(a=1),
        lambda: types.MappingProxyType({"a": 1}),
        lambda: memoryview(b"x"),
        lambda: ...,
    ],
)
def test_odd_objects_are_plain_values(recorded: Recorded, make: Callable[[], object]) -> None:
    """What lies, raises or claims every protocol comes back as itself."""
    value = make()
    assert wrap(value, purpose="state", name="odd") is value
    assert recorded.names == ["odd"]


def test_a_weak_proxy_is_a_plain_value(recorded: Recorded) -> None:
    """A weak proxy claims every protocol for an object that it merely knows."""
    target = Liar()
    proxy = weakref.proxy(target)
    assert wrap(proxy, purpose="state", name="proxy") is proxy


def test_a_databases_connection_is_a_plain_value(recorded: Recorded) -> None:
    """Although it can be called: other functions written in C take it by its type."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        assert wrap(connection, purpose="state", name="connection") is connection


def test_a_callable_passes_for_the_one_it_calls(recorded: Recorded) -> None:
    """Signature, names and class are the original's, and each call has its arguments and result."""
    wrapped = wrap(shout, purpose="output", name="shouting", description="loud")
    assert inspect.signature(wrapped) == inspect.signature(shout)
    assert (wrapped.__name__, wrapped.__doc__, wrapped.__module__) == ("shout", "Shout.", __name__)
    assert isinstance(wrapped, types.FunctionType)
    assert recorded.spans == []
    assert wrapped("a", times=2) == "AA"
    assert recorded.attributes("shouting") == {
        "openinference.span.kind": "CHAIN",
        "pixie.wrap.name": "shouting",
        "pixie.wrap.purpose": "output",
        "pixie.wrap.description": "loud",
        "input.value": '{"text":"a","times":2}',
        "input.mime_type": "application/json",
        "output.value": "AA",
        "output.mime_type": "text/plain",
    }


def test_callables_of_every_kind(recorded: Recorded) -> None:
    """Lambdas, builtins, bound methods, partials and callable objects are called as before."""

    class Greeter:
        greeting = "hi "

        def greet(self, name: str) -> str:
            return self.greeting + name

        def __call__(self, name: str) -> str:
            return self.greet(name)

    greeter = Greeter()
    assert wrap(lambda x: x, purpose="state", name="lambda")(1) == 1
    assert wrap(len, purpose="state", name="builtin")([1]) == 1
    assert wrap(greeter.greet, purpose="state", name="bound")("you") == "hi you"
    assert wrap(functools.partial(shout, times=2), purpose="state", name="partial")("a") == "AA"
    assert wrap(greeter, purpose="state", name="object")("you") == "hi you"
    assert wrap("a-b".split, purpose="state", name="builtin method")("-") == ["a", "b"]
    assert recorded.input("bound") == recorded.input("object") == {"name": "you"}
    assert recorded.names == ["lambda", "builtin", "bound", "partial", "object", "builtin method"]


def test_an_async_callable_is_one_still(recorded: Recorded) -> None:
    """It is a coroutine function to who asks, refuses a wrong call at once, and its awaited result is recorded."""

    async def later(text: str) -> str:
        await asyncio.sleep(0)
        return text

    wrapped = wrap(later, purpose="input", name="later")
    assert inspect.iscoroutinefunction(wrapped)
    assert asyncio.iscoroutinefunction(wrapped)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        wrapped()  # type: ignore[call-arg] # that is what is tried
    recorded.clear()

    async def run() -> list[str]:
        coroutine = wrapped("one")
        assert inspect.iscoroutine(coroutine)
        return [await coroutine, await asyncio.create_task(wrapped("two")), *await asyncio.gather(wrapped("three"))]

    assert asyncio.run(run()) == ["one", "two", "three"]
    assert [span.attributes and span.attributes["output.value"] for span in recorded.spans] == ["one", "two", "three"]


def test_spans_inside_a_wrapped_async_call_keep_their_own_nesting(recorded: Recorded) -> None:
    """A span that the coroutine holds open while it waits is still the parent afterwards, and nobody else's."""
    tracer = recorded.provider.get_tracer("app")

    async def later() -> None:
        with tracer.start_as_current_span("held"):
            await asyncio.sleep(0)
            with tracer.start_as_current_span("below"):
                await asyncio.sleep(0)

    wrapped = wrap(later, purpose="state", name="later")

    async def run() -> None:
        with tracer.start_as_current_span("outer"):
            await asyncio.gather(wrapped(), wrapped())
            with tracer.start_as_current_span("sibling"):
                pass

    asyncio.run(run())
    names = {span.context.span_id: span.name for span in recorded.spans if span.context}
    parents = {(span.name, names.get(span.parent.span_id) if span.parent else None) for span in recorded.spans}
    assert parents == {("below", "held"), ("held", "later"), ("later", "outer"), ("sibling", "outer"), ("outer", None)}


def test_a_class_passes_for_itself(recorded: Recorded) -> None:
    """A wrapped class makes instances, answers `isinstance`, can be subclassed, and its attributes are reached."""

    @dataclass
    class Settings:
        name: str
        kind = "settings"

        @classmethod
        def named(cls, name: str) -> Settings:
            return cls(name)

    wrapped = wrap(Settings, purpose="state", name="settings")
    made = wrapped("a")
    assert type(made) is Settings
    assert isinstance(made, wrapped)
    assert issubclass(Settings, wrapped)
    assert inspect.isclass(wrapped)
    assert wrapped.kind == "settings"
    assert wrapped.named("b") == Settings("b")
    assert recorded.input("settings") == {"name": "a"}
    assert recorded.output("settings") == {"name": "a"}

    class More(wrapped):  # type: ignore[misc, valid-type] # that is what is tried
        pass

    assert More.__mro__[1] is Settings


def test_a_wrapped_callable_binds_as_a_method(recorded: Recorded) -> None:
    """In a class it is a method, and the object is no argument."""

    class Agent:
        def plain(self, question: str) -> str:
            return question

        run = wrap(plain, purpose="output", name="run")

    assert Agent().run("why") == "why"
    assert Agent.run(Agent(), "why") == "why"
    for span in recorded.spans:
        assert json.loads(str((span.attributes or {})["input.value"])) == {"question": "why"}


def test_a_wrapped_callable_is_copied_and_pickled(recorded: Recorded) -> None:
    """A copy passes for a copy of the original; a pickle brings back a wrapped one."""
    wrapped = wrap(shout, purpose="output", name="shouting")
    assert copy.copy(wrapped) is wrapped
    assert copy.deepcopy({"f": wrapped})["f"]("a") == "A"
    restored = pickle.loads(pickle.dumps(wrapped))
    assert restored("b") == "B"
    partial = wrap(functools.partial(shout, times=2), purpose="output", name="partial")
    assert copy.deepcopy(partial)("c") == "CC"
    assert recorded.names == ["shouting", "shouting", "partial"]


def test_a_callable_wrapped_before_tracing_is_recorded_afterwards() -> None:
    """`wrap` at the top of a module works although `init` comes later, and once tracing is off it only calls."""
    wrapped = wrap(shout, purpose="output", name="early")
    assert wrapped("a") == "A"
    with recording() as found:
        assert wrapped("b") == "B"
        assert found.names == ["early"]
    assert wrapped("c") == "C"
    assert len(found.names) == 1


def test_a_callable_that_gives_a_stream_is_followed(recorded: Recorded) -> None:
    """The result comes back unconsumed, and the call's span ends with it."""

    def stream(text: str) -> Iterator[str]:
        yield from text

    wrapped = wrap(stream, purpose="output", name="stream")
    assert inspect.isgeneratorfunction(wrapped)
    result = wrapped("ab")
    assert isinstance(result, collections.abc.Generator)
    assert recorded.spans == []
    assert list(result) == ["a", "b"]
    assert recorded.output("stream") == "ab"
    assert recorded.input("stream") == {"text": "ab"}


def test_errors_of_a_callable_go_through(recorded: Recorded) -> None:
    """The exception is the callable's own, and on the span."""
    error = ValueError("no")

    def refuse() -> None:
        raise error

    with pytest.raises(ValueError, match="no") as raised:
        wrap(refuse, purpose="output", name="refuse")()
    assert raised.value is error
    assert recorded.span("refuse").status.status_code is StatusCode.ERROR


def test_wrong_words_never_stop_the_application(recorded: Recorded, caplog: pytest.LogCaptureFixture) -> None:
    """A purpose that there is not is recorded as state with a warning, and a name that is no text becomes one."""
    value = [1]
    with caplog.at_level(logging.WARNING, "pixie_otel"):
        assert wrap(value, purpose="intput", name="typo") is value  # type: ignore[arg-type] # that is what is tried
        assert wrap(value, purpose=["x"], name=3, description=b"x") is value  # type: ignore[arg-type] # likewise
    assert "there is no purpose 'intput', so it is recorded as state" in caplog.text
    assert recorded.attributes("typo")["pixie.wrap.purpose"] == "state"
    assert recorded.attributes("3")["pixie.wrap.name"] == "3"


def test_values_are_recorded_as_they_were(recorded: Recorded) -> None:
    """Later changes do not show."""
    value = {"n": 1}
    wrap(value, purpose="state", name="data")["n"] = 2
    assert recorded.output("data") == {"n": 1}


def test_names_and_purposes_are_recorded_without_content() -> None:
    """With `capture_content=False` the span says what passed, not what it held."""
    with recording(capture_content=False) as found:
        wrap("secret", purpose="input", name="data")
        assert found.attributes("data") == {
            "openinference.span.kind": "CHAIN",
            "pixie.wrap.name": "data",
            "pixie.wrap.purpose": "input",
        }


def test_a_value_comes_back_near_the_recursion_limit(recorded: Recorded) -> None:
    """Wherever `wrap` can still be called, it gives back what it was given, and nothing else is raised."""
    value = {"a": [1]}

    def at(margin: int) -> bool:
        if margin:
            return at(margin - 1)
        return wrap(value, purpose="state", name="deep") is value

    room = sys.getrecursionlimit() - len(inspect.stack(0))
    assert all(at(room - margin) for margin in range(20, 120))
    assert recorded.names


def test_type_checkers_see_the_same_type() -> None:
    """`wrap` gives what it takes."""
    assert_type(wrap(1, purpose="state", name="n"), int)
    assert_type(wrap(shout, purpose="state", name="f")("a"), str)
