"""The JSON Schemas that tools declare."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.evals.evaluators.checks.schemas import UnusableSchemaError, schema_problems
from pixie_otel.evaluable import JsonValue

WEATHER: dict[str, Any] = {
    "type": "object",
    "title": "Weather",
    "properties": {
        "city": {"type": "string", "description": "Where"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "days": {"type": "array", "items": {"type": "integer"}},
        "share": {"type": "number"},
        "now": {"type": "boolean"},
        "nothing": {"type": "null"},
    },
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": "Paris"},
        {"city": "Paris", "unit": "celsius", "days": [1, 2], "share": 0.5, "now": True, "nothing": None},
        {"city": "Paris", "days": [1.0], "share": 1},
    ],
)
def test_arguments_that_fit_have_no_problems(arguments: JsonValue) -> None:
    """What the schema allows is allowed."""
    assert schema_problems(WEATHER, arguments) == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "$: 'city' is a required property"),
        ({"city": 1}, "$.city: 1 is not of type 'string'"),
        ({"city": "Paris", "unit": "kelvin"}, "$.unit: 'kelvin' is not one of ['celsius', 'fahrenheit']"),
        ({"city": "Paris", "days": [1, "2"]}, "$.days[1]: '2' is not of type 'integer'"),
        ({"city": "Paris", "days": [True]}, "$.days[0]: True is not of type 'integer'"),
        ({"city": "Paris", "share": True}, "$.share: True is not of type 'number'"),
        (
            {"city": "Paris", "state": "TX"},
            "$: Additional properties are not allowed ('state' was unexpected)",
        ),
        (["Paris"], "$: ['Paris'] is not of type 'object'"),
    ],
)
def test_a_problem_says_where_and_what(arguments: JsonValue, problem: str) -> None:
    """Every problem has its place within the arguments."""
    assert schema_problems(WEATHER, arguments) == [problem]


def test_only_the_first_problems_are_given() -> None:
    """Arguments that are wrong throughout give a few problems."""
    assert len(schema_problems({"items": {"type": "string"}}, list(range(100)))) == 5


schemas = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"]),
            "enum": st.lists(st.sampled_from(["a", "b", 1, True, None]), min_size=1, unique_by=repr),
            "title": st.text(max_size=3),
            "minimum": st.integers(-2, 2),
            "maxLength": st.integers(0, 2),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.just("object"),
            "properties": st.dictionaries(st.sampled_from("xyz"), inner),
            "required": st.lists(st.sampled_from("xyz"), unique=True),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
            "anyOf": st.lists(inner, min_size=1),
        },
    ),
    max_leaves=6,
)
values = st.recursive(
    st.sampled_from([None, True, False, 0, 1, -1, 1.0, 0.5, "", "a", "bbb"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=6,
)


@given(schemas, values)
def test_the_short_way_agrees_with_the_library(schema: dict[str, JsonValue], value: JsonValue) -> None:
    """What is said to fit without asking the library does fit, and the other way round."""
    assert (schema_problems(schema, value) == []) is jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "objekt"}, "it is no JSON Schema: $.type: 'objekt' is not valid"),
        ({"type": "object", "required": "city"}, "it is no JSON Schema: $.required: "),
        ({"properties": 5}, "it is no JSON Schema: $.properties: "),
        ({"required": [1]}, "it is no JSON Schema: $.required[0]: "),
        ({"$ref": "https://example.com/schema.json"}, "Unresolvable: https://example.com/schema.json"),
        ({"$ref": "file:///etc/passwd"}, "Unresolvable: file:///etc/passwd"),
        ({"$ref": "#/$defs/missing"}, "PointerToNowhere: '/$defs/missing'"),
        ({"$ref": "#"}, "RecursionError: "),
        ({"pattern": "^(a+)+$"}, "it has patterns that could take very long to try"),
        ({"pattern": "a*a*a*b"}, "it has patterns that could take very long to try"),
        (
            {"properties": {"x": {"anyOf": [{"pattern": "(a|a)*b"}]}}},
            "it has patterns that could take very long to try",
        ),
        ({"patternProperties": {"^x": {}}}, "it has patterns that could take very long to try"),
        ({"properties": {"x": {"pattern": "("}}}, "it is no JSON Schema: $.properties.x.pattern: '(' is not a 'regex'"),
    ],
)
def test_a_schema_that_cannot_be_used_says_why(schema: dict[str, JsonValue], reason: str) -> None:
    """Nothing is fetched, nothing hangs, and nothing is held against the arguments."""
    with pytest.raises(UnusableSchemaError) as caught:
        schema_problems(schema, {"x": "a" * 40})
    assert reason in str(caught.value)


def test_references_that_multiply_are_counted() -> None:
    """A schema of a few lines that stands for thousands of millions of checks ends soon."""
    levels = {f"level{n}": {"allOf": [{"$ref": f"#/$defs/level{n + 1}"}] * 2} for n in range(40)}
    schema: dict[str, Any] = {"$defs": {**levels, "level40": {}}, "$ref": "#/$defs/level0"}
    with pytest.raises(UnusableSchemaError, match="more than 2000 references"):
        schema_problems(schema, {})


def test_a_schema_nested_beyond_measure_says_so() -> None:
    """Depth ends in a reason, not in a crash."""
    schema: dict[str, JsonValue] = {}
    for _ in range(100_000):
        schema = {"items": schema, "minItems": 0}
    with pytest.raises(UnusableSchemaError, match="nested too deeply"):
        schema_problems(schema, [])
    shallower: dict[str, JsonValue] = {}
    for _ in range(400):
        shallower = {"not": shallower}
    with pytest.raises(UnusableSchemaError, match=r"nested too deeply|RecursionError"):
        schema_problems(shallower, [])


def test_arguments_nested_as_deeply_say_so() -> None:
    """Depth of both, which Python cannot follow, ends in a reason too."""
    schema: dict[str, JsonValue] = {}
    arguments: JsonValue = []
    for _ in range(2_000):
        schema, arguments = {"items": schema}, [arguments]
    with pytest.raises(UnusableSchemaError, match="nested too deeply"):
        schema_problems(schema, arguments)


def test_references_within_are_followed() -> None:
    """Definitions are what schemas made from classes consist of."""
    schema: dict[str, Any] = {
        "$defs": {"Place": {"type": "object", "properties": {"city": {"type": "string"}}}},
        "properties": {"place": {"$ref": "#/$defs/Place"}},
    }
    assert schema_problems(schema, {"place": {"city": "Paris"}}) == []
    assert schema_problems(schema, {"place": {"city": 1}}) == ["$.place.city: 1 is not of type 'string'"]


def test_the_draft_is_the_one_that_the_schema_names() -> None:
    """An older draft's keyword means what it meant; an unknown draft, or none, is 2020-12."""
    tuple_schema: dict[str, JsonValue] = {"items": [{"type": "string"}]}
    draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", **tuple_schema}
    assert schema_problems(draft7, [1]) == ["$[0]: 1 is not of type 'string'"]
    with pytest.raises(UnusableSchemaError, match="no JSON Schema"):
        schema_problems({"$schema": "urn:unknown", **tuple_schema}, [1])
    assert schema_problems({"$schema": "urn:unknown", "minItems": 2}, [1]) == ["$: [1] is too short"]
    with pytest.raises(UnusableSchemaError, match="no JSON Schema"):
        schema_problems({"$schema": ["list"], "minItems": 2}, [1])


def test_the_type_names_of_gemini_are_understood() -> None:
    """Capital letters and `nullable` are how one large provider's SDK declares tools."""
    schema: dict[str, Any] = {
        "type": "OBJECT",
        "properties": {
            "city": {"type": "STRING", "nullable": True},
            "days": {"type": "ARRAY", "items": {"type": "INTEGER"}},
        },
        "required": ["city"],
        "anyOf": [{"type": "OBJECT"}],
    }
    assert schema_problems(schema, {"city": None, "days": [1]}) == []
    assert schema_problems(schema, {"city": "Paris", "days": ["x"]}) == ["$.days[0]: 'x' is not of type 'integer'"]


def test_a_cheap_pattern_is_tried_on_short_text() -> None:
    """Dates and codes are checked; a long text is not tried."""
    schema: dict[str, JsonValue] = {"pattern": r"^\d{4}-[0-9]{2,}-\d+$", "maxLength": 1000}
    assert schema_problems(schema, "2026-11-30") == []
    assert len(schema_problems(schema, "yesterday")) == 1
    assert schema_problems(schema, "x" * 300) == []
    assert schema_problems(schema, 5) == []
