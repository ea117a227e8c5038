"""`observe` makes calls of everything callable observations, and what it gives back passes for what it was given."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import json
import logging
import pickle
import subprocess
import sys
import tempfile
import types
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, NamedTuple, Self, assert_type

import pytest
from tracing_runtime import Recorded, recording

from pixie_otel.tracing.observe import observe


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """Tracing is on."""
    with recording() as found:
        yield found


@observe
def answer(question: str, *, polite: bool = True) -> str:
    """Answer a question."""
    return f"{question}!" if polite else question


@observe
async def answer_later(question: str) -> str:
    """Answer a question, after a while."""
    await asyncio.sleep(0)
    return f"{question}!"


@observe
def count(up_to: int) -> Iterator[int]:
    """Count."""
    yield from range(up_to)


@observe
async def count_later(up_to: int) -> AsyncIterator[int]:
    """Count, with time between."""
    for number in range(up_to):
        await asyncio.sleep(0)
        yield number


@observe
@dataclass
class Point:
    """A class whose making is observed."""

    x: int
    y: int = 0

    @observe
    def moved(self, by: int) -> Point:
        """Give another one."""
        return Point(self.x + by, self.y)


@observe
@functools.lru_cache
def cached(number: int) -> int:
    """Give a square, once."""
    return number * number


def test_a_call_is_recorded_with_arguments_and_result(recorded: Recorded) -> None:
    """The span has the function's name, its arguments by name as JSON, and its result."""
    assert answer("why", polite=True) == "why!"
    assert recorded.attributes("answer") == {
        "openinference.span.kind": "CHAIN",
        "input.value": '{"question":"why","polite":true}',
        "input.mime_type": "application/json",
        "output.value": "why!",
        "output.mime_type": "text/plain",
    }


def test_everything_that_can_be_said_is_on_the_span(recorded: Recorded) -> None:
    """Kind, name, conversation, user and metadata travel in their standard attributes."""

    @observe(
        name="search",
        kind="tool",
        session_id="s1",
        user_id="u1",
        metadata={"tier": 1, "tags": ["a"]},
        capture_output=False,
    )
    def find(query: str) -> str:
        return query

    assert find("q") == "q"
    assert recorded.attributes("search") == {
        "openinference.span.kind": "TOOL",
        "tool.name": "search",
        "session.id": "s1",
        "user.id": "u1",
        "metadata": '{"tier":1,"tags":["a"]}',
        "input.value": '{"query":"q"}',
        "input.mime_type": "application/json",
    }


def test_arguments_need_not_be_recorded(recorded: Recorded) -> None:
    """`capture_input=False` leaves them out."""
    assert observe(capture_input=False)(lambda secret: 1)("s") == 1
    assert "input.value" not in recorded.attributes()
    assert recorded.output() == 1


def test_content_that_is_not_wanted_is_nowhere() -> None:
    """With `capture_content=False`, names and times are recorded, values are not."""
    with recording(capture_content=False) as found:
        answer("secret")
        assert found.attributes("answer") == {"openinference.span.kind": "CHAIN"}


def test_texts_of_a_retriever_are_documents(recorded: Recorded) -> None:
    """A short list of texts is also recorded as documents; what a reader finds in the output is not said twice."""
    texts = observe(kind="retriever", name="texts")(lambda query: ["one", "two"])
    mappings = observe(kind="retriever", name="mappings")(lambda query: [{"content": "one"}])
    many = observe(kind="retriever", name="many")(lambda query: ["x"] * 100)
    flowing = observe(kind="retriever", name="flowing")(lambda query: iter(["one", "two"]))
    texts("q"), mappings("q"), many("q"), list(flowing("q"))
    for name in ("texts", "flowing"):
        found = recorded.attributes(name)
        assert found["retrieval.documents.0.document.content"] == "one"
        assert found["retrieval.documents.1.document.content"] == "two"
        assert recorded.output(name) == ["one", "two"]
    for name in ("mappings", "many"):
        assert not [key for key in recorded.attributes(name) if key.startswith("retrieval")]


def test_calls_nest(recorded: Recorded) -> None:
    """A call inside a call is its child."""

    @observe
    def outer() -> str:
        return answer("inside")

    outer()
    assert recorded.parent("answer") == "outer"
    assert recorded.parent("outer") is None


def test_functions_stay_what_they_are(recorded: Recorded) -> None:
    """Signature, names, documentation, module and kind of function are the original's."""
    assert str(inspect.signature(answer)) == "(question: 'str', *, polite: 'bool' = True) -> 'str'"
    assert (answer.__name__, answer.__qualname__, answer.__module__) == ("answer", "answer", __name__)
    assert answer.__doc__ == "Answer a question."
    assert isinstance(answer, types.FunctionType)
    assert inspect.iscoroutinefunction(answer_later)
    assert asyncio.iscoroutinefunction(answer_later)
    assert not inspect.iscoroutinefunction(answer)
    assert inspect.isgeneratorfunction(count)
    assert inspect.isasyncgenfunction(count_later)
    assert inspect.isclass(Point)
    assert str(inspect.signature(count)) == "(up_to: 'int') -> 'Iterator[int]'"
    assert list(inspect.signature(Point).parameters) == ["x", "y"]


def test_async_functions_are_recorded(recorded: Recorded) -> None:
    """The result of awaiting is recorded, and children of it are its children."""

    @observe
    async def outer() -> str:
        return await answer_later("why")

    assert asyncio.run(outer()) == "why!"
    assert recorded.output("answer_later") == "why!"
    assert recorded.parent("answer_later") == "outer"


def test_generators_are_recorded_when_they_end(recorded: Recorded) -> None:
    """What flowed out of a generator function is its output."""

    async def run() -> list[int]:
        return [number async for number in count_later(2)]

    assert list(count(3)) == [0, 1, 2]
    assert asyncio.run(run()) == [0, 1]
    assert recorded.output("count") == [0, 1, 2]
    assert recorded.input("count") == {"up_to": 3}
    assert recorded.output("count_later") == [0, 1]


def test_a_wrong_call_is_refused_as_before(recorded: Recorded) -> None:
    """The function's own TypeError comes at the call, for a generator function too."""
    with pytest.raises(TypeError, match=r"answer\(\) missing 1 required positional argument: 'question'"):
        answer()  # type: ignore[call-arg] # that is what is tried
    with pytest.raises(TypeError, match=r"count\(\) got an unexpected keyword argument 'down_to'"):
        count(down_to=1)  # type: ignore[call-arg] # that is what is tried


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


def test_classes_without_a_method_for_it_are_observed_too(recorded: Recorded) -> None:
    """Plain classes, exceptions, named tuples and subclasses of builtins stay themselves and take what they took."""

    @observe
    class Empty:
        pass

    @observe
    class Refusal(Exception):  # noqa: N818 - a name of an application's
        pass

    @observe
    class Pair(NamedTuple):
        left: int
        right: int = 2

    @observe
    class Shout(str):
        __slots__ = ()

        def __new__(cls, text: str) -> Self:
            return super().__new__(cls, text.upper())

    assert str(inspect.signature(Empty)) == "()"
    assert list(inspect.signature(Pair).parameters) == ["left", "right"]
    assert type(Empty()) is Empty
    with pytest.raises(TypeError, match="takes"):
        Empty(1)  # type: ignore[call-arg] # that is what is tried
    with pytest.raises(Refusal, match="no"):
        raise Refusal("no")
    assert Pair(1) == (1, 2)
    assert Shout("a") == "A"
    assert observe(int)("3") == 3
    assert recorded.names == ["Empty", "Empty", "Refusal", "Pair", "Shout", "int"]
    assert recorded.input("Pair") == {"left": 1}
    assert recorded.output("Shout") == "A"


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


def test_fastapi_sees_the_functions_parameters(recorded: Recorded) -> None:
    """An observed handler is called with what FastAPI reads off its signature."""
    pytest.importorskip("fastapi")
    pytest.importorskip("httpx")
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    app = FastAPI()

    @app.get("/plain")
    @observe
    def plain(number: int) -> dict[str, int]:
        return {"number": number}

    @app.get("/later")
    @observe
    async def later(number: int) -> dict[str, int]:
        return {"number": number}

    client = TestClient(app)
    assert client.get("/plain?number=1").json() == client.get("/later?number=1").json() == {"number": 1}
    assert client.get("/plain?number=x").status_code == 422
    assert recorded.input("plain") == {"number": 1}


def test_wrong_arguments_of_the_decorator_never_stop_the_application(
    recorded: Recorded, caplog: pytest.LogCaptureFixture
) -> None:
    """A kind that there is not is recorded as a chain, with a warning; names that are no texts become some."""
    with caplog.at_level(logging.WARNING, "pixie_otel"):
        assert observe(kind="oracle", name=3)(lambda: 1)() == 1  # type: ignore[call-overload] # that is what is tried
        assert observe("no function") == "no function"
    assert "there is no observation of the kind 'oracle'" in caplog.text
    assert "observe can decorate what can be called; a str stays as it is" in caplog.text
    assert recorded.attributes("3")["openinference.span.kind"] == "CHAIN"


def test_nothing_happens_while_tracing_is_off() -> None:
    """Before `init`, calls go straight through, and generators are the originals."""
    assert answer("why") == "why!"
    assert asyncio.run(answer_later("why")) == "why!"
    assert type(count(1)) is types.GeneratorType


def test_type_checkers_see_the_same_function() -> None:
    """The decorator's type is the function's own, with and without arguments."""

    def typed(question: str) -> int:
        return len(question)

    plain = observe(typed)
    configured = observe(kind="tool")(typed)
    assert_type(plain("a"), int)
    assert_type(configured("a"), int)
    called: Callable[[str], int] = plain
    assert called("abc") == 3


def test_hostile_arguments_and_results_do_no_harm(recorded: Recorded) -> None:
    """An object whose every method raises goes in and out as it is."""

    class Hostile:
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

        def __repr__(self) -> str:
            raise RuntimeError("repr")

        def __bool__(self) -> bool:
            raise RuntimeError("bool")

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("eq")

        __hash__ = None  # type: ignore[assignment] # nothing is right about it

    hostile = Hostile()
    assert observe(lambda value: value)(hostile) is hostile
    assert "Hostile" in str(recorded.output())
