"""Observed methods, classes and objects pass for what they are, also in copies, pickles and other processes."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import json
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest
from example_functions import Point, answer, answer_later, count, count_later
from starlette.background import BackgroundTask
from tracing_runtime import Recorded

from pixie_otel.tracing.observe import observe
from pixie_otel.tracing.replay import replay_inputs
from pixie_otel.tracing.wrap import wrap


@observe
@functools.lru_cache
def cached(number: int) -> int:
    """Give a square, once."""
    return number * number


def test_methods_of_every_kind(recorded: Recorded) -> None:
    """Methods, static and class methods and properties work on either side of the decorator."""

    class Agent:
        @observe
        def run(self, question: str) -> str:
            return question

        @observe
        @staticmethod
        def fixed(value: int) -> int:
            return value

        @staticmethod
        @observe
        def fixed_too(value: int) -> int:
            return value

        @observe
        @classmethod
        def make(cls, value: int) -> type:
            return cls

        @classmethod
        @observe
        def make_too(cls, value: int) -> type:
            return cls

        @observe
        def stream(self, value: int) -> Iterator[int]:
            yield value

        @property
        @observe
        def size(self) -> int:
            return 1

        @observe
        @functools.cache  # noqa: B019 - a cached method is what is tried
        def kept(self, value: int) -> int:
            return value

    class Child(Agent):
        def run(self, question: str) -> str:
            return super().run(question)

    agent = Child()
    assert agent.run("why") == "why"
    assert Agent.run(agent, "why") == "why"
    assert (agent.fixed(1), Agent.fixed(1), agent.fixed_too(1)) == (1, 1, 1)
    assert agent.make(1) is agent.make_too(1) is Child.make(1) is Child
    assert list(agent.stream(1)) == list(Agent.stream(agent, 1)) == [1]
    assert agent.size == 1
    assert agent.kept(1) == 1
    assert inspect.ismethod(agent.run)
    assert isinstance(Agent.__dict__["fixed"], staticmethod)
    assert isinstance(Agent.__dict__["make"], classmethod)
    expected = {"run": {"question": "why"}, "size": {}}
    for span in recorded.spans:
        found = json.loads(str((span.attributes or {})["input.value"]))
        assert found == expected.get(span.name, {"value": 1}), span.name


def test_classes_stay_classes(recorded: Recorded) -> None:
    """An observed class makes its own instances, can be asked and subclassed, and its making is recorded."""
    point = Point(1, y=2)
    assert isinstance(point, Point)
    assert issubclass(Point, Point)
    assert recorded.input("Point") == {"x": 1, "y": 2}
    assert point == Point(1, 2)

    class Farther(Point):
        pass

    assert isinstance(Farther(1), Point)
    assert Farther.__mro__[1] is type(point)
    assert point.moved(2) == Point(3, 2)
    assert recorded.input("moved") == {"by": 2}


def test_classes_without_a_method_of_their_own_stay_as_they_are(
    recorded: Recorded, caplog: pytest.LogCaptureFixture
) -> None:
    """Other base classes, protocols and decorators find in a class what they would have found; a warning says so."""

    class Named(Protocol):
        def name(self) -> str:
            return ""

    class Base:
        def __init__(self, value: int) -> None:
            self.value = value

    @observe
    class Mixin:
        pass

    class Mixed(Mixin, Base):
        pass

    @observe
    class Implementing(Named, Base):
        pass

    @dataclass
    @observe
    class Data:
        value: int

    @observe
    class Pair(NamedTuple):
        value: int

    for made in (Mixed, Implementing, Data, Pair):
        assert made(1).value == 1
    assert recorded.names == []
    assert "observe stands on" in caplog.text
    assert observe(int)("3") == 3
    assert recorded.output("int") == 3


class Color(Enum):
    """A class that is called for its members."""

    RED = 1
    BLUE = 2


def test_frameworks_see_how_an_object_is_called(recorded: Recorded) -> None:
    """The `__call__` of an observed or wrapped object is of the kind that it was, has its signature and is recorded."""

    class Later:
        async def __call__(self, question: str) -> str:
            return f"{question}!"

    class Many:
        def __call__(self, question: str) -> Iterator[str]:
            yield question

    later, many = observe(name="later")(Later()), wrap(Many(), purpose="state", name="many")
    assert inspect.iscoroutinefunction(later.__call__)
    assert inspect.isgeneratorfunction(many.__call__)
    assert str(inspect.signature(later)) == str(inspect.signature(later.__call__)) == "(question: 'str') -> 'str'"
    assert isinstance(later, Later)
    asyncio.run(BackgroundTask(later, "a")())
    assert list(many.__call__("b")) == ["b"]
    assert recorded.output("later") == "a!"
    assert recorded.input("many") == {"question": "b"}
    assert recorded.output("many") == "b"
    for copied in (copy.copy(later), copy.deepcopy(later)):
        assert asyncio.run(copied("c")) == "c!"
    with replay_inputs({"later": "recorded", "color": 1}):
        assert asyncio.run(wrap(Later(), purpose="input", name="later")("a")) == "recorded"
        assert wrap(Color, purpose="input", name="color")(2) is Color.RED  # its metaclass has a `__call__`, too


def test_partials_and_callable_objects(recorded: Recorded) -> None:
    """They keep their class and attributes; the name is the inner function's, or the class's."""

    class Model:
        def __init__(self) -> None:
            self.temperature = 0.5

        def __call__(self, prompt: str) -> str:
            return prompt

    partial = observe(functools.partial(answer.__wrapped__, polite=False))  # type: ignore[attr-defined] # as functools.wraps leaves it
    assert isinstance(partial, functools.partial)
    assert partial.keywords == {"polite": False}
    assert partial("why") == "why"
    model = Model()
    observed = observe(model)
    assert isinstance(observed, Model)
    observed.temperature = 0.7
    assert model.temperature == 0.7
    assert observed("hello") == "hello"
    assert recorded.names == ["answer", "Model"]
    assert recorded.input("Model") == {"prompt": "hello"}
    assert observe(len)("abc") == 3
    assert recorded.output("len") == 3


def test_cached_functions_keep_their_cache(recorded: Recorded) -> None:
    """`cache_info` and `cache_clear` are still there, and a hit is a call too."""
    cached.cache_clear()
    assert (cached(3), cached(3)) == (9, 9)
    assert cached.cache_info().hits == 1
    assert recorded.names == ["cached", "cached"]


@pytest.mark.parametrize("target", [answer, answer_later, count, count_later, Point, cached])
def test_what_a_module_has_pickles_by_name(target: object) -> None:
    """A decorated function of a module comes back from a pickle as the same object, also for `multiprocessing`."""
    assert pickle.loads(pickle.dumps(target)) is target
    assert pickle.loads(bytes(ForkingPickler.dumps(target))) is target
    assert copy.copy(target) is target
    assert copy.deepcopy(target) is target


def test_instances_and_bound_methods_pickle(recorded: Recorded) -> None:
    """An observed class's instances, and methods bound to them, survive a pickle."""
    point = Point(1, 2)
    assert pickle.loads(pickle.dumps(point)) == point
    assert pickle.loads(pickle.dumps(point.moved))(1) == Point(2, 2)


def test_what_has_no_name_pickles_as_what_it_is_around(recorded: Recorded) -> None:
    """An observed partial is rebuilt around its own pickle, and its calls are still recorded."""
    restored = pickle.loads(pickle.dumps(observe(name="restored")(functools.partial(int, base=2))))
    assert restored("101") == 5
    assert recorded.output("restored") == 5


def test_an_observed_function_runs_in_a_worker_process() -> None:
    """`multiprocessing` with fresh interpreters finds a decorated function by its name."""
    code = (
        "import multiprocessing, sys\n"
        "from pixie_otel.tracing.observe import observe\n"
        "@observe\n"
        "def double(number):\n"
        "    return number * 2\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(double, [1, 2]))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(code)
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[2, 4]"
