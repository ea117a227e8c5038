"""`observe` makes calls of everything callable observations, and what it gives back passes for what it was given."""

from __future__ import annotations

import asyncio
import inspect
import logging
import types
from collections.abc import Callable
from typing import Any, assert_type

import pytest
from example_functions import Point, answer, answer_later, count, count_later
from tracing_runtime import Recorded, recording

from pixie_otel.tracing.observe import observe


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
    assert (answer.__name__, answer.__qualname__, answer.__module__) == ("answer", "answer", "example_functions")
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
