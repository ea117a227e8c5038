"""Attribute values as dialects write them."""

from __future__ import annotations

import json

import pytest
from case_results import json_values
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.traces.dialects.values import (
    Kept,
    below,
    call_arguments,
    decoded,
    indexed,
    json_mapping,
    json_object,
    json_value,
    leaf,
    number,
    text,
    texts,
    tree,
    whole,
)


class TestDecoded:
    """`decoded`."""

    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ('{"a": [1]}', {"a": [1]}),
            ('["a"]', ["a"]),
            ('"text"', "text"),
            ('"{\\"a\\": 1}"', {"a": 1}),
            ("18", "18"),
            ("true", "true"),
            ("[1] see the appendix", "[1] see the appendix"),
            ('{"a": ', '{"a": '),
            ("", ""),
            (None, None),
            (5, 5),
            ({"a": '{"b": 1}'}, {"a": '{"b": 1}'}),
            ('["\ud800"]', '["\ud800"]'),
        ],
    )
    def test_json_in_text(self, written: object, value: object) -> None:
        """Objects, lists and strings are decoded, twice at most; any other text is text."""
        assert decoded(written) == value

    def test_only_twice(self) -> None:
        """What is text after two rounds stays text."""
        thrice = json.dumps(json.dumps(json.dumps({"a": 1})))

        assert decoded(thrice) == '{"a": 1}'
        assert decoded('"[1]"', depth=1) == "[1]"

    @pytest.mark.parametrize("depth", [101, 500, 100_000])
    def test_nesting_bombs_stay_text(self, depth: int) -> None:
        """JSON that later steps could not walk through stays as it was written."""
        bomb = "[" * depth + "]" * depth

        assert decoded(bomb) == bomb

    def test_many_brackets_are_no_bomb(self) -> None:
        """Breadth is no depth."""
        assert decoded("[" + "[],{}," * 200 + "[]]") == [[], {}] * 200 + [[]]
        assert isinstance(decoded("[" * 99 + "]" * 99), list)

    @given(json_values)
    def test_written_json_is_read_back(self, value: object) -> None:
        """What a producer dumped is what is read."""
        assert json_value(json.dumps(value)) == value or isinstance(value, str | int | float)

    def test_json_values_of_any_kind(self) -> None:
        """Where the mime type says JSON, numbers and names are JSON too."""
        assert json_value("null") is None
        assert json_value(" true ") is True
        assert json_value("-1.5") == -1.5
        assert json_value("1.2.3") == "1.2.3"
        assert json_value("9" * 400) == "9" * 400
        assert json_value("plain") == "plain"
        assert json_value(7) == 7


class TestScalars:
    """`text`, `number`, `whole` and the mappings."""

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (5, 5),
            ("57", 57),
            (57.0, 57),
            ("57.0", 57),
            (2**60 + 1, 2**60 + 1),
            (1.5, None),
            ("many", None),
            (True, None),
            (None, None),
            ("nan", None),
            ("inf", None),
            ([5], None),
        ],
    )
    def test_whole(self, value: object, expected: int | None) -> None:
        """Counts are whole numbers, also as text."""
        assert whole(value) == expected

    def test_number(self) -> None:
        """Numbers are finite, whatever their size was."""
        assert number("0.25") == 0.25
        assert number(10**400) is None
        assert number(float("nan")) is None
        assert number(value=False) is None

    def test_text(self) -> None:
        """Only text that says something is text."""
        assert text("a") == "a"
        assert [text(value) for value in ("", None, 5, ["a"], {})] == [None] * 5

    def test_objects(self) -> None:
        """An object may be there as such or as JSON."""
        assert json_object({"a": 1}) == json_object('{"a": 1}') == {"a": 1}
        assert json_object("[1]") is None
        assert json_mapping("[1]") == {}


class TestCallArguments:
    """`call_arguments`."""

    @pytest.mark.parametrize(
        ("recorded", "arguments"),
        [
            ({"args": [], "kwargs": {"city": "Paris"}}, {"city": "Paris"}),
            ({"kwargs": {"city": "Paris"}}, {"city": "Paris"}),
            ({"args": ["Paris"], "kwargs": {}}, "Paris"),
            ({"args": ["a", "b"], "kwargs": {}}, {"args": ["a", "b"], "kwargs": {}}),
            ({"args": ["a"], "kwargs": {"k": 1}}, {"args": ["a"], "kwargs": {"k": 1}}),
            ({"args": ["a"]}, {"args": ["a"]}),
            ({"kwargs": {}, "city": "Paris"}, {"kwargs": {}, "city": "Paris"}),
            ("Paris", "Paris"),
        ],
    )
    def test_python_calls(self, recorded: object, arguments: object) -> None:
        """What decorators record of a Python call is given as its arguments, where nothing is lost by that."""
        assert call_arguments(recorded) == arguments


class TestTree:
    """`tree`, `leaf` and `indexed`."""

    def test_nesting(self) -> None:
        """Dotted keys nest, and other keys are left alone."""
        built = tree({"a.0.role": "user", "a.0.text": "hi", "b.0": 1, "ab": 2}, ("a.",))

        assert built == {"a": {"0": {"role": "user", "text": "hi"}}}
        assert leaf(built, "a", "0", "role") == "user"
        assert leaf(built, "a", "0", "role", "further") is None
        assert leaf(built, "x", "y") is None

    @pytest.mark.parametrize("turned", [False, True])
    def test_a_value_at_a_branch(self, *, turned: bool) -> None:
        """A key that is a value and a branch at once keeps both, in either order."""
        attributes = {"a": "whole", "a.0.text": "part", "a.0": "middle"}
        if turned:
            attributes = dict(reversed(attributes.items()))

        assert tree(attributes, ("a",)) == {"a": {"": "whole", "0": {"": "middle", "text": "part"}}}

    @pytest.mark.parametrize("turned", [False, True])
    def test_structured_values_are_not_written_to(self, *, turned: bool) -> None:
        """A value that is a mapping belongs to the span and stays as it is."""
        inner = {"0": {"role": "user"}}
        attributes: dict[str, object] = {"a.b": inner, "a": {"x": {}}, "a.b.0.text": "hi", "a.x.y": 1}
        if turned:
            attributes = dict(reversed(attributes.items()))

        built = tree(attributes, ("a",))

        assert inner == {"0": {"role": "user"}}
        assert attributes["a"] == {"x": {}}
        assert leaf(built, "a", "b", "0", "text") == "hi"
        assert leaf(built, "a", "b", "") == inner

    def test_keys_of_thousands_of_segments(self) -> None:
        """A key does not nest deeper than anybody can walk."""
        built = tree({"a" + ".a" * 10_000: 1}, ("a",))

        depth, at = 0, built
        while isinstance(at, dict):
            depth, at = depth + 1, next(iter(at.values()))
        assert depth < 50

    def test_indexes_stand_in_numeric_order(self) -> None:
        """10 comes after 9; gaps, huge indexes and what is no index cost nothing."""
        branch = {str(key): {"n": key} for key in (10, 9, 0, 999_999_999, "x", "-1", "1.5", "", "٣", "1" * 20)}

        assert [index for index, _ in indexed(branch)] == [0, 9, 10, 999_999_999]
        assert indexed("text") == indexed(None) == indexed([{}]) == []
        assert indexed({"0": "no mapping"}) == []

    @given(st.dictionaries(st.text("a.0", max_size=8), json_values, max_size=8))
    def test_any_keys_make_a_tree(self, attributes: dict[str, object]) -> None:
        """No set of keys breaks it, and the attributes are as they were."""
        before = json.dumps(attributes)

        tree(attributes, ("a", "0", "."))

        assert json.dumps(attributes) == before


def test_below() -> None:
    """What stands under keys of one beginning, one key a name or all as one object; not what begins like it."""
    attributes = {"a.b": '{"x": 0, "z": 2}', "a.b.x": '{"y": 1}', "a.b.c.d": "5", "a.bc": 1, "a.b.": 2}

    assert below(attributes, "a.b") == below(attributes, "a.b.") == {"x": {"y": 1}, "z": 2, "c.d": "5", "": 2}
    assert below({"a": 5}, "a") == {}
    assert attributes["a.b"] == '{"x": 0, "z": 2}'


class TestKept:
    """`Kept`."""

    def test_made_once(self) -> None:
        """What is made of a key is made once, but of a long key each time; of many keys only the last ones are kept."""
        made: list[str] = []
        kept = Kept(lambda key: made.append(key) or len(key))
        long = "k" * 300
        for key in ("a", "a", long, long, *(str(count) for count in range(5000)), "a"):
            assert kept[key] == len(key)

        assert (made.count("a"), made.count(long)) == (2, 2)
        assert len(kept) < 4097


def test_json_on_a_line_of_its_own() -> None:
    """JSON that was written to be looked at is JSON; other text keeps its spaces."""
    assert decoded('\n  {"a": 1}\n') == {"a": 1}
    for text_of_it in (" a", ' {"a"', ' "a"', "  ", "\n"):
        assert decoded(text_of_it) == text_of_it


def test_texts() -> None:
    """One or several, without those that are empty."""
    assert texts("a") == ("a",)
    assert texts(["a", "", 5, None, ["b"], "c"]) == ("a", "c")
    assert texts(None) == texts({"a": "b"}) == texts("") == ()
