"""Copies share nothing that can be changed."""

from dataclasses import dataclass, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import ObservationError
from pixie_otel.evals.copies import copy_evaluable, with_expectation
from pixie_otel.evaluable import UNSET, Document, Evaluable, NamedData, ToolCall

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
NAMED = st.builds(NamedData, st.text(), JSON)
CALLS = st.none() | st.lists(st.builds(ToolCall, st.text(), JSON, result=st.just(UNSET) | JSON), max_size=2)
EVALUABLES = st.builds(
    Evaluable,
    eval_input=st.lists(NAMED, max_size=2),
    eval_output=st.none() | st.lists(NAMED, max_size=2),
    expectation=st.just(UNSET) | JSON,
    eval_metadata=st.none() | st.dictionaries(st.text(), JSON),
    description=st.none() | st.text(),
    context=st.none() | st.lists(st.text()),
    expected_tools=CALLS,
    tools_called=CALLS,
    retrieval_context=st.none()
    | st.lists(st.builds(Document, st.text(), metadata=st.none() | st.dictionaries(st.text(), JSON)), max_size=2),
    token_cost=st.none() | st.floats(0, 1),
)


def mutable_parts(value: object) -> list[int]:
    """Collect the identities of all lists and dicts in a value."""
    found: list[int] = []
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, list):
            found.append(id(current))
            waiting += current
        elif isinstance(current, dict):
            found.append(id(current))
            waiting += current.values()
        elif hasattr(current, "__dataclass_fields__"):
            waiting += [getattr(current, field.name) for field in fields(current)]
    return found


@given(EVALUABLES)
def test_a_copy_is_equal_and_shares_nothing(evaluable: Evaluable) -> None:
    """Whatever an evaluable holds, its copy is equal to it and has no list and no dict in common with it."""
    clone = copy_evaluable(evaluable)

    assert clone == evaluable
    assert not set(mutable_parts(clone)) & set(mutable_parts(evaluable))


def test_what_is_no_json_is_copied_as_well() -> None:
    """Values that Python code put there, such as a set, are not shared either."""
    evaluable = Evaluable(eval_output=[NamedData("output", {1, 2})])

    clone = copy_evaluable(evaluable)

    assert clone.eval_output is not None
    assert clone.eval_output[0].value == {1, 2}
    assert clone.eval_output[0].value is not evaluable.eval_output[0].value


def test_a_subclass_with_a_constructor_of_its_own_is_copied() -> None:
    """A copy has the class of what was copied, and no constructor is called."""

    @dataclass(frozen=True, init=False)
    class Mine(Evaluable):
        def __init__(self, text: str) -> None:
            super().__init__(eval_output=[NamedData("output", text)])

    clone = copy_evaluable(Mine("x"))

    assert type(clone) is Mine
    assert clone.eval_output == [NamedData("output", "x")]


def test_endless_nesting_is_an_error_of_the_observation() -> None:
    """A value that cannot be copied for its depth is said to be too deep."""
    value: object = 1
    for _ in range(100_000):
        value = [value]

    with pytest.raises(ObservationError, match="nested too deeply"):
        copy_evaluable(Evaluable(eval_output=[NamedData("output", value)]))


def test_another_expectation_leaves_the_rest() -> None:
    """Only the expectation changes, and only in the copy."""
    evaluable = Evaluable(eval_output=[NamedData("output", "x")], expectation="old", description="d")

    changed = with_expectation(evaluable, None)

    assert changed.expectation is None
    assert changed.description == "d"
    assert changed.eval_output == evaluable.eval_output
    assert evaluable.expectation == "old"
