"""Arguments get the names that the signature gives them, as `inspect` would bind them."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.tracing.arguments import NO_NAMES, argument_names


def example(first: int, /, second: int, *rest: int, third: int = 3, **others: int) -> None:
    """Take arguments of every kind."""


@given(st.lists(st.integers(), min_size=2, max_size=6), st.dictionaries(st.sampled_from("xyz"), st.integers()))
def test_arguments_are_named_as_a_call_would_bind_them(args: list[int], kwargs: dict[str, int]) -> None:
    """Positional arguments have their parameters' names, further ones stand together, others keep their names."""
    bound = inspect.signature(example).bind(*args, **kwargs).arguments
    expected = {key: list(value) if isinstance(value, tuple) else value for key, value in bound.items()}
    expected |= expected.pop("others", {})
    assert argument_names(example).bind(tuple(args), dict(kwargs)) == expected


def test_an_object_or_class_is_no_argument() -> None:
    """`self` and `cls` are left out of what a method was called with."""

    class Agent:
        def run(self, question: str) -> None:
            pass

        @classmethod
        def make(cls, name: str) -> None:
            pass

    agent = Agent()
    assert argument_names(Agent.run).bind((agent, "why"), {}) == {"question": "why"}
    assert argument_names(agent.run).bind(("why",), {}) == {"question": "why"}
    assert argument_names(Agent.__dict__["make"].__func__).bind((Agent, "n"), {}) == {"name": "n"}
    assert argument_names(Agent.run).bound().bind(("why",), {}) == {"question": "why"}


def test_a_wrong_call_has_names_all_the_same() -> None:
    """Arguments that the function will refuse are named as far as possible."""

    def one(only: int) -> None:
        pass

    assert argument_names(one).bind((1, 2, 3), {"other": 4}) == {"only": 1, "args": [2, 3], "other": 4}
    assert argument_names(one).bind((), {}) == {}


def test_a_decorated_function_has_its_own_names() -> None:
    """The names come from the function that was decorated, not from the decorator's."""

    def decorated(*args: Any) -> None:
        pass

    names = argument_names(functools.wraps(example)(decorated))
    assert names.names == ("first", "second")
    assert names.rest == "rest"


def test_what_has_no_signature_has_no_names() -> None:
    """A builtin without a signature, and an object whose signature raises, have their arguments in a list."""

    class Hostile:
        @property
        def __signature__(self) -> object:
            raise RuntimeError("no")

        def __call__(self) -> None:
            pass

    assert argument_names(Hostile()) is NO_NAMES
    assert argument_names(min) is NO_NAMES
    assert argument_names(min).bind((1, 2), {"key": None}) == {"args": [1, 2], "key": None}
