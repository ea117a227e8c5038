"""Streams come back unconsumed with their whole protocol, and what flowed is recorded when they end."""

from __future__ import annotations

import collections.abc
import contextlib
import copy
import csv
import gc
import inspect
import io
import itertools
import pickle
import sqlite3
import types
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from example_streams import Client, counted
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.trace import StatusCode
from tracing_runtime import Recorded, recording

from pixie_otel.tracing.observe import observe
from pixie_otel.tracing.streams import end_open_streams
from pixie_otel.tracing.wrap import wrap

pytestmark = pytest.mark.usefixtures("nothing_logged")


def test_a_generator_comes_back_as_one(recorded: Recorded) -> None:
    """A wrapped generator is a generator to everything that asks, with its attributes."""
    generator = counted()
    wrapped = wrap(generator, purpose="state", name="numbers")
    assert isinstance(wrapped, types.GeneratorType)
    assert inspect.isgenerator(wrapped)
    assert isinstance(wrapped, collections.abc.Generator)
    assert not isinstance(wrapped, collections.abc.Sized | collections.abc.Awaitable)
    assert not hasattr(wrapped, "__len__")
    assert wrapped.gi_frame is generator.gi_frame
    assert wrapped.__name__ == "counted"
    assert inspect.getgeneratorstate(wrapped) == "GEN_CREATED"
    assert repr(wrapped) == repr(generator)
    assert wrapped == generator
    assert hash(wrapped) == hash(generator)
    assert recorded.spans == []


def test_send_and_return_values_go_through(recorded: Recorded) -> None:
    """What is sent arrives, and the generator's result is what `yield from` gives."""
    wrapped = wrap(counted(), purpose="state", name="numbers")

    def outer() -> Generator[int, str, str]:
        return (yield from wrapped)

    driver = outer()
    assert next(driver) == 1
    assert driver.send("sent") == 2
    with pytest.raises(StopIteration) as stopped:
        next(driver)
    assert stopped.value.value == "result"
    assert recorded.output("numbers") == [1, 2]
    assert recorded.span().status.status_code is StatusCode.UNSET


def test_a_generator_takes_what_is_thrown_into_it(recorded: Recorded) -> None:
    """An exception thrown in can be handled inside, and what is given then is recorded too."""

    def handling() -> Iterator[str]:
        try:
            yield "before"
        except KeyError:
            yield "handled"

    wrapped: Any = wrap(handling(), purpose="output", name="handling")
    assert next(wrapped) == "before"
    assert wrapped.throw(KeyError("thrown")) == "handled"
    assert list(wrapped) == []
    assert recorded.output() == "beforehandled"


def test_the_exception_of_a_stream_is_its_own(recorded: Recorded) -> None:
    """What a generator raises is the same object, with a traceback that ends where it was raised."""
    error = ValueError("broken")

    def failing() -> Iterator[int]:
        yield 1
        raise error

    wrapped = wrap(failing(), purpose="output", name="failing")
    assert next(wrapped) == 1
    with pytest.raises(ValueError, match="broken") as raised:
        next(wrapped)
    assert raised.value is error
    assert raised.value.__context__ is None
    assert raised.traceback[-1].name == "failing"
    span = recorded.span()
    assert recorded.output() == [1]
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "ValueError: broken"
    assert [event.name for event in span.events] == ["exception"]


@pytest.mark.parametrize(
    ("make", "items"),
    [
        (lambda: iter([1, 2]), [1, 2]),
        (lambda: map(str, [1, 2]), ["1", "2"]),
        (lambda: zip("ab", [1, 2], strict=True), [("a", 1), ("b", 2)]),
        (lambda: itertools.chain([1], [2]), [1, 2]),
        (lambda: csv.reader(["a,b", "c,d"]), [["a", "b"], ["c", "d"]]),
        (lambda: enumerate("ab"), [(0, "a"), (1, "b")]),
        (lambda: reversed([1, 2]), [2, 1]),
        (lambda: (number for number in (1, 2)), [1, 2]),
    ],
)
def test_iterators_of_every_kind_flow(recorded: Recorded, make: Any, items: list[Any]) -> None:
    """Builtin iterators keep their class and give all they had."""
    plain = make()
    wrapped = wrap(plain, purpose="state", name="items")
    assert isinstance(wrapped, type(plain))
    assert iter(wrapped) is wrapped
    assert list(wrapped) == items
    assert list(wrapped) == []
    assert recorded.span().attributes is not None


def test_a_stream_compares_as_it_says(recorded: Recorded) -> None:
    """What a comparison gives is the stream's own, as of those that compare item by item."""

    class Items:
        def __iter__(self) -> Items:
            return self

        def __next__(self) -> int:
            raise StopIteration

        def __eq__(self, other: object) -> Any:
            return [True, False]

        def __ne__(self, other: object) -> Any:
            return [False, True]

        __hash__ = None  # type: ignore[assignment] # as Python does it with a class that compares

    wrapped = wrap(Items(), purpose="state", name="items")
    assert (wrapped == 1) == [True, False]
    assert (wrapped != 1) == [False, True]


def test_a_stream_can_be_split_and_copied_as_before(recorded: Recorded) -> None:
    """`itertools.tee` works on a wrapped generator, and a list's iterator can still be copied and pickled."""
    first, second = itertools.tee(wrap(counted(), purpose="state", name="split"))
    assert list(first) == list(second) == [1, 2]
    iterator = wrap(iter([1, 2, 3]), purpose="state", name="copied")
    assert next(iterator) == 1
    assert list(copy.copy(iterator)) == [2, 3]
    assert list(pickle.loads(pickle.dumps(iterator))) == [2, 3]
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(wrap(counted(), purpose="state", name="not pickled"))


def test_files_and_iterables_are_plain_values(recorded: Recorded) -> None:
    """A file, a range and a list come back as themselves, and nothing is read from them."""
    for value in (io.StringIO("line\n"), io.BytesIO(b"line\n"), range(3), [1], {"a": 1}, {"a": 1}.keys()):
        assert wrap(value, purpose="state", name="plain") is value
    with open(__file__, encoding="utf-8") as file:  # noqa: PTH123 - a file as `open` gives it is what is tried
        assert wrap(file, purpose="state", name="plain") is file
        assert file.tell() == 0
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        cursor = database.execute("select 1")
        assert observe(lambda: cursor)() is cursor
        assert cursor.fetchall() == [(1,)]


@given(st.lists(st.text() | st.integers() | st.none()), st.integers(0, 5))
def test_whatever_flows_arrives(items: list[Any], taken: int) -> None:
    """Any items arrive as the same objects in order, however many are taken before the stream is closed."""
    with recording() as found:
        wrapped: Any = wrap((item for item in items), purpose="output", name="items")
        arrived = list(itertools.islice(wrapped, taken))
        assert all(one is other for one, other in zip(arrived, items, strict=False))
        assert len(arrived) == min(taken, len(items))
        wrapped.close()
        assert found.names == ["items"]


# --- how a stream ends ---


def test_a_closed_stream_ends_with_what_flowed(recorded: Recorded) -> None:
    """Closing a generator runs its clean-up and ends the span, without an error."""
    cleaned = []

    def cleaning() -> Iterator[str]:
        try:
            yield "one"
            yield "two"
        finally:
            cleaned.append(True)

    wrapped: Any = wrap(cleaning(), purpose="output", name="cleaning")
    assert next(wrapped) == "one"
    assert recorded.spans == []
    wrapped.close()
    assert cleaned == [True]
    assert recorded.output() == "one"
    assert recorded.span().status.status_code is StatusCode.UNSET


def test_an_abandoned_stream_ends_when_nobody_holds_it(recorded: Recorded) -> None:
    """A generator that is dropped in the middle ends its span at once."""
    wrapped = wrap(counted(), purpose="state", name="dropped")
    assert next(wrapped) == 1
    del wrapped
    assert recorded.output("dropped") == [1]


def test_a_stream_in_a_cycle_ends_outside_the_collector(recorded: Recorded) -> None:
    """What the garbage collector finds is ended by the next span, as ending takes locks that may be held."""
    holder: dict[str, Any] = {"stream": wrap(counted(), purpose="state", name="cyclic")}
    holder["self"] = holder
    assert next(holder["stream"]) == 1
    del holder
    gc.collect()
    assert recorded.spans == []
    wrap("value", purpose="state", name="next")
    assert recorded.names == ["cyclic", "next"]
    cyclic, following = recorded.spans
    assert cyclic.end_time is not None
    assert following.start_time is not None
    assert cyclic.end_time <= following.start_time


def test_the_end_of_the_process_ends_open_streams(recorded: Recorded) -> None:
    """`end_open_streams` ends the spans with what flowed; the streams go on for whoever still reads them."""
    wrapped = wrap(counted(), purpose="state", name="open")
    assert next(wrapped) == 1
    end_open_streams()
    assert recorded.output() == [1]
    assert list(wrapped) == [2]
    del wrapped
    assert recorded.names == ["open"]


def test_a_stream_that_was_never_read_is_recorded_as_empty(recorded: Recorded) -> None:
    """No item is an empty list, not a missing output."""
    wrap(counted(), purpose="state", name="unread")
    assert recorded.output() == []


def test_a_long_stream_is_recorded_up_to_a_bound(recorded: Recorded) -> None:
    """Items beyond the bound flow on, are counted, and the output says so."""
    total = 100_000
    assert sum(1 for _ in wrap(iter(range(total)), purpose="state", name="long")) == total
    output = recorded.output()
    kept = len(output) - 1
    assert output[:kept] == list(range(kept))
    assert output[-1] == f"… ({total - kept:,} more items)"
    assert recorded.attributes()["pixie.truncated"] == ("output.value",)


def test_a_long_text_is_joined_up_to_a_bound(recorded: Recorded) -> None:
    """Pieces of text become one text, bounded too."""
    pieces = ["x" * 1000] * 10_000
    assert list(wrap(iter(pieces), purpose="output", name="text")) == pieces
    assert len(recorded.output()) < 3_000_000
    assert recorded.attributes()["pixie.truncated"] == ("output.value",)


def test_mixed_items_are_a_list(recorded: Recorded) -> None:
    """Where not all items are texts, the output is a list of them as they were when they flowed."""
    item = {"n": 1}
    for given_item in wrap(iter(["a", item, None]), purpose="output", name="mixed"):
        if given_item is item:
            item["n"] = 2
    item["n"] = 3
    assert recorded.output() == ["a", {"n": 1}, None]


def test_a_clients_stream_keeps_its_methods(recorded: Recorded) -> None:
    """A class-based stream can be read step by step or by its own generator, entered, closed and asked for anything."""
    stream = Client(["x", "y", "z"])
    wrapped = wrap(stream, purpose="output", name="client")
    assert isinstance(wrapped, Client)
    assert wrapped.response == "response"
    with wrapped as entered:
        assert entered is wrapped
        assert next(wrapped) == "x"
        assert next(iter(wrapped)) == "y"
        wrapped.response = "set"
    assert stream.response == "set"
    assert stream.closed
    assert recorded.output() == "xy"


def test_content_that_is_not_wanted_is_not_kept() -> None:
    """Without content, a stream flows as ever and its span has no output."""
    with recording(capture_content=False) as found:
        assert list(wrap(iter("abc"), purpose="output", name="secret")) == ["a", "b", "c"]
        assert "output.value" not in found.attributes("secret")


def test_a_stream_comes_back_as_it_is_while_tracing_is_off() -> None:
    """Before `init`, a stream is not stood in for."""
    generator = counted()
    assert wrap(generator, purpose="state", name="numbers") is generator
