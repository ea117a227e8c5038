"""What is judged."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle

import pytest
from case_results import evaluables, finite, json_values, texts
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.evaluable import (
    UNSET,
    Evaluable,
    JsonValue,
    NamedData,
    TestCase,
    ToolCall,
    Unset,
    canonical_json,
    collapse_named_data,
)


def nested(value: JsonValue, depth: int) -> JsonValue:
    """Put a value into alternating lists and objects."""
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


class TestToolCall:
    """Equality of tool calls."""

    @pytest.mark.parametrize("depth", [0, 1, 2, 7])
    @pytest.mark.parametrize(
        ("one", "other", "equal"),
        [
            (1, 1.0, True),
            (0, -0.0, True),
            (1, True, False),
            (0, False, False),
            (1, "1", False),
            (None, False, False),
            ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
            ([1, 2], [2, 1], False),
            (1.5, 1.5, True),
            (10**20, 1e20, True),
        ],
    )
    def test_as_json_is_equal(self, one: JsonValue, other: JsonValue, *, equal: bool, depth: int) -> None:
        """Numbers are equal by value and booleans are no numbers, at any depth; the hash agrees."""
        for make in (lambda value: ToolCall("f", value), lambda value: ToolCall("f", {}, result=value)):
            left, right = make(nested(one, depth)), make(nested(other, depth))
            assert (left == right) is equal
            assert not equal or hash(left) == hash(right)

    def test_what_is_compared(self) -> None:
        """Name, arguments and result are; ids, descriptions and reasons are not."""
        call = ToolCall("f", {"a": 1}, "1", type="MCP", description="d", reasoning="r")

        assert call == ToolCall("f", {"a": 1}, "2")
        assert call != ToolCall("g", {"a": 1}, "1")
        assert call != ToolCall("f", {"a": 1}, result=None)
        assert call != "f"
        assert len({call, ToolCall("f", {"a": 1.0})}) == 1

    @given(json_values)
    def test_a_copy_is_equal(self, value: JsonValue) -> None:
        """Whatever the arguments are, and through JSON too."""
        call = ToolCall("f", value, result=value)

        assert call == ToolCall("f", json.loads(json.dumps(value)), result=copy.deepcopy(value))


class TestTestCase:
    """`TestCase` and `Evaluable`."""

    def test_expectation_by_its_other_name(self) -> None:
        """``expected_output`` is the expectation, on the way in and out, and not both at once."""
        for make in (TestCase, Evaluable):
            assert make(expected_output="x").expectation == make(expectation="x").expected_output == "x"
            assert make(expected_output=None).expectation is None
            assert make().expectation is make().expected_output is UNSET
            with pytest.raises(TypeError, match="one field"):
                make(expectation=None, expected_output="x")

    def test_fields_are_copied(self) -> None:
        """What is changed later in the lists that were given changes nothing here."""
        inputs = [NamedData("a", 1)]
        case = Evaluable(inputs, inputs, context=["c"])
        inputs.clear()

        assert case.eval_input == case.eval_output == [NamedData("a", 1)]
        assert Evaluable(iter([NamedData("a", 1)])).eval_input == [NamedData("a", 1)]

    def test_nothing_ran_is_not_nothing_came(self) -> None:
        """No output is ``None``, an empty one a list."""
        assert Evaluable().eval_output is None
        assert Evaluable(eval_output=()).eval_output == []

    def test_they_are_values(self) -> None:
        """Fields cannot be set, `dataclasses.replace` makes changed ones, and copies are equal."""
        case = Evaluable([NamedData("a", 1)], expectation="x", token_cost=0.5)

        with pytest.raises(dataclasses.FrozenInstanceError):
            case.expectation = "y"  # type: ignore[misc]
        assert dataclasses.replace(case, expectation="y") == Evaluable(
            [NamedData("a", 1)], expectation="y", token_cost=0.5
        )
        assert copy.deepcopy(case) == pickle.loads(pickle.dumps(case)) == case

    @given(evaluables)
    def test_replacing_nothing_changes_nothing(self, case: Evaluable) -> None:
        """Every field goes through the constructor unchanged."""
        assert dataclasses.replace(case) == case

    def test_pytest_does_not_collect_them(self) -> None:
        """Users import a class called TestCase into their test modules."""
        assert TestCase.__test__ is Evaluable.__test__ is False


def test_unset() -> None:
    """It is falsy, one of its kind, also as a copy, and shows its name."""
    assert not UNSET
    assert repr(UNSET) == "UNSET"
    assert copy.deepcopy(UNSET) is pickle.loads(pickle.dumps(UNSET)) is Unset("unset") is UNSET


class TestCollapse:
    """`collapse_named_data`."""

    @pytest.mark.parametrize(
        ("items", "value"),
        [
            (None, None),
            ([], None),
            ([("a", 1)], 1),
            ([("a", None)], None),
            ([("a", {"b": 1})], {"b": 1}),
            ([("a", 1), ("b", None)], {"a": 1, "b": None}),
            ([("a", 1), ("a", 2)], {"a": [1, 2]}),
            ([("a", 1), ("b", 2), ("a", 3)], {"a": [1, 3], "b": 2}),
        ],
    )
    def test_rules(self, items: list[tuple[str, JsonValue]] | None, value: JsonValue) -> None:
        """None for none, the value for one, names for several; values under one name are all kept."""
        assert collapse_named_data(None if items is None else [NamedData(*item) for item in items]) == value

    @given(st.lists(st.builds(NamedData, texts, json_values), min_size=2, unique_by=lambda item: item.name))
    def test_several_keep_names_and_order(self, items: list[NamedData]) -> None:
        """Nothing is lost of several."""
        assert collapse_named_data(items) == {item.name: item.value for item in items}


class TestCanonicalJson:
    """`canonical_json`."""

    @given(json_values)
    def test_it_is_json_of_the_value(self, value: JsonValue) -> None:
        """Reading it back gives an equal value."""
        assert json.loads(canonical_json(value)) == value

    @given(st.dictionaries(texts, json_values, max_size=5))
    def test_order_of_keys_does_not_matter(self, value: dict[str, JsonValue]) -> None:
        """Equal objects give equal text."""
        assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)

    @given(finite)
    def test_whole_floats_are_integers(self, value: float) -> None:
        """A number has one text, whatever type it came in."""
        if value.is_integer():
            assert canonical_json(value) == canonical_json(int(value)) == str(int(value))

    def test_form(self) -> None:
        """Compact, sorted, in the characters themselves."""
        assert canonical_json({"b": [1.0, True, None], "a": "é"}) == '{"a":"é","b":[1,true,null]}'
