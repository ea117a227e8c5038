"""Tests that the application comes first: whatever is recorded, and whatever fails in it, it runs as before.

Two things are tried. Any value at all goes through every public call. And a small application, which uses all of them,
is run while each of our functions fails in turn, and does what it does without us.
"""

from __future__ import annotations

import contextvars
import functools
import importlib
import inspect
import itertools
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from types import CodeType, FunctionType
from typing import Any, Final

import pytest
from hostile_values import hostile_objects, ill_behaved, unusual_values
from hypothesis import given, settings
from small_app import NONE, OURS, PURPOSES, App, AppError, Public
from tracing_runtime import recording
from traps import HostileError, watched
from value_strategies import any_value

import pixie_otel.tracing
from pixie_otel import diagnostics
from pixie_otel.tracing.observation import start_observation
from pixie_otel.tracing.observe import observe
from pixie_otel.tracing.stand_ins import _METHODS
from pixie_otel.tracing.stream_kinds import stream_kind
from pixie_otel.tracing.streams import end_open_streams
from pixie_otel.tracing.wrap import wrap

# --- any value through every public call ---


@observe
def given_back(value: Any) -> Any:
    """Give back what is given."""
    return value


@observe(kind="retriever", name="a name", metadata={"a": 1})
async def given_back_later(value: Any, *more: Any, **named: Any) -> Any:
    """Give back what is given, as a coroutine."""
    return value


@observe
def raised(value: Any, error: BaseException) -> Any:
    """Raise what is given."""
    raise error


def stepped(coroutine: Any) -> Any:
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError


def check(value: Any) -> None:
    """Put one value through every public call, while all of its code raises."""
    with watched() as calls:
        results = [wrap(value, purpose=purpose, name="a name") for purpose in PURPOSES]
        results += [given_back(value), given_back(value=value), stepped(given_back_later(value, value, named=value))]
        assert_raised(value, AppError("text"))
        with start_observation(input=value, metadata={"m": value}) as observation:
            observation.set_output(value)
            observation.set_metadata(value=value)
        untouched = list(calls)
        # What says how to record may be asked what it is, as the text of an error is; and any of it may fail.
        assert_raised(value, AppError(value))
        if issubclass(type(value), BaseException):
            assert_raised(None, value)
        results += [wrap(value, purpose="state", name="a name", description=value, type=value)]
        results += [wrap(value, purpose=value, name=value), observe(name=value, kind=value)(identity)(value)]
        results += [observe(session_id=value, user_id=value, metadata=value)(identity)(value)]
        with start_observation(name=value, kind=value, session_id=value, user_id=value, metadata=value) as observation:
            observation.set_metadata(value)
    # A callable and a stream come back as what passes for them.
    if not callable(value) and stream_kind(value) is None:
        assert all(result is value for result in results)
        assert untouched == []


def assert_raised(value: Any, error: BaseException) -> None:
    """Let an observed function raise, and see that what arrives is what arrives from the function alone."""
    arrived = []
    for function in (inspect.unwrap(raised), raised):
        try:
            function(value, error)
        except BaseException as caught:  # noqa: BLE001 - whatever the application raises
            arrived.append(caught)
    alone, observed = arrived
    # The interpreter itself asks a hostile error's class something, and raises what that raises, each time anew.
    assert observed is alone or (type(observed) is HostileError and observed.args == alone.args)


def identity(value: Any) -> Any:
    """Give back what is given."""
    return value


@given(any_value())
@settings(max_examples=100)
def test_any_value_goes_through_every_call(value: Any) -> None:
    """Nothing raises, plain values come back as themselves with none of their code run, errors stay themselves."""
    with recording():
        check(value)


@pytest.mark.long
@given(any_value())
@settings(max_examples=10_000)
def test_any_value_goes_through_every_call_long(value: Any) -> None:
    """The same with ten thousand values."""
    with recording():
        check(value)


@pytest.mark.parametrize("make", [hostile_objects, ill_behaved, unusual_values])
def test_each_kind_goes_through_every_call(make: Any) -> None:
    """Every hostile, ill-behaved and unusual value goes through every call as any value does."""
    with recording():
        for value in make():
            check(value)


# --- our functions failing in turn ---

ERRORS: Final = ("Exception", "RecursionError", "MemoryError", "UnicodeError")
MODULES: Final = [
    *(
        importlib.import_module(each.name)
        for each in pkgutil.iter_modules(pixie_otel.tracing.__path__, "pixie_otel.tracing.")
    ),
    diagnostics,
]
TRACING: Final = "pixie_otel.tracing."
EXCLUDED: Final = {
    "wrap.wrap": "the application calls it",
    "observe.observe": "the application calls it",
    "observation.start_observation": "the application calls it",
    "observation.Observation.__init__": "the application is to get what it makes",
    "calls.call": "the application's function is called in it",
    "streams.advance": "the application's stream takes its step in it",
    "stand_ins._finished_by": "the application's stream is closed in it",
    "stand_ins._item_step": "what the application awaits goes through it",
    "stand_ins._same_or_inner": "what the application iterates over goes through it",
    "streams.Follower.__del__": "the interpreter calls it, and prints what it raises",
}
"""What cannot fail in turn, since nobody of ours stands between it and who calls it."""
CALLED_BY_APP: Final = {"observation.Observation", "stand_ins.StandIn"}
"""Classes of which the application calls the public and the special methods itself."""


def internals() -> dict[str, FunctionType]:
    """Find all functions, methods and properties of ours, by module and name."""
    found: dict[str, FunctionType] = {}
    for module in MODULES:
        short = module.__name__.rpartition(".")[2]
        owned = {name: thing for name, thing in vars(module).items() if isinstance(thing, FunctionType | type)}
        classes = {name: thing for name, thing in owned.items() if isinstance(thing, type)}
        for owner, kind in classes.items():
            for name, thing in vars(kind).items():
                owned[f"{owner}.{name}"] = thing.fget if isinstance(thing, property) else thing
        for name, thing in owned.items():
            if isinstance(thing, FunctionType) and thing.__module__ == module.__name__:
                found[f"{short}.{name}"] = thing
    return found


def is_called_by_app(name: str) -> bool:
    """Say whether a function is one that the application itself calls."""
    owner, _, method = name.rpartition(".")
    return owner in CALLED_BY_APP and (not method.startswith("_") or method.endswith("__"))


def is_step_of_stand_in(function: FunctionType) -> bool:
    """Say whether a function is a special method of a stand-in, which the application's own steps go through."""
    return any(function is step for step in _METHODS.values())


INTERNALS: Final = {
    name: function
    for name, function in internals().items()
    if name not in EXCLUDED and not is_called_by_app(name) and not is_step_of_stand_in(function)
}


def failing_code(function: FunctionType, error: str) -> CodeType:
    """Make code that raises, for a function in place of its own."""
    free = function.__code__.co_freevars
    source = (
        f"def outer({', '.join(free)}):\n"
        f"    def fail(*args, **kwargs):\n"
        f"        ({', '.join([*free, '0'])})\n"
        f"        raise {error}('made to fail')\n"
        f"    return fail\n"
    )
    names: dict[str, Any] = {}
    exec(source, names)
    code: CodeType = names["outer"](*free).__code__
    return code


@contextmanager
def failing(name: str, error: str) -> Iterator[None]:
    """Let one of our functions raise whoever calls it, wherever its name was imported or put into a table."""
    function = INTERNALS[name]
    code = function.__code__
    function.__code__ = failing_code(function, error)
    try:
        yield
    finally:
        function.__code__ = code


def used() -> list[str]:
    """Say which of our functions the small application makes run."""
    codes = {function.__code__: name for name, function in INTERNALS.items()}
    seen: set[str] = set()

    def note(frame: Any, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code in codes:
            seen.add(codes[frame.f_code])

    sys.setprofile(note)
    try:
        with recording():
            App(OURS).run(lambda: None)
    finally:
        sys.setprofile(None)
    return sorted(seen)


def run(public: Public, *, before: Any = nullcontext, meanwhile: Any = nullcontext) -> list[Any]:
    """Make and run the application in a context of its own, with a fault from the start, or from midway on."""

    def inner() -> list[Any]:
        with before(), ExitStack() as stack:
            return App(public).run(lambda: stack.enter_context(meanwhile()))

    try:
        return contextvars.copy_context().run(inner)
    finally:
        end_open_streams()


def faults(cases: Iterable[tuple[str, str]]) -> list[str]:
    """Say for which faults the application does not do what it does without us."""
    expected = run(NONE)
    found: list[str] = []
    with recording():
        assert run(OURS) == expected
        for name, error in cases:
            for moment in ("before", "meanwhile"):
                try:
                    got: Any = run(OURS, **{moment: functools.partial(failing, name, error)})
                except BaseException as passed:  # noqa: BLE001 - that is what should not happen
                    got = [passed]
                if got != expected:
                    wrong = next((pair for pair in zip(expected, got, strict=False) if pair[0] != pair[1]), got)
                    found.append(f"{name}, raising {error} ({moment}): {wrong}")
        assert run(OURS) == expected
    return found


def test_the_application_uses_most_of_what_is_ours() -> None:
    """The small application makes so many of our functions run that their failing means something."""
    names = used()

    assert len(names) > 90
    for module in (
        "arguments",
        "callables",
        "calls",
        "labels",
        "spans",
        "stand_ins",
        "streams",
        "values",
        "value_walk",
    ):
        assert any(name.startswith(f"{module}.") for name in names)


def test_the_application_runs_whatever_fails() -> None:
    """With each of our functions failing in turn, from the start or midway, the application does what it does alone."""
    assert faults((name, ERRORS[place % len(ERRORS)]) for place, name in enumerate(used())) == []


@pytest.mark.long
def test_the_application_runs_whatever_fails_long() -> None:
    """The same, each of our functions failing in every way."""
    assert faults(itertools.product(used(), ERRORS)) == []
