"""Python's literals."""

from __future__ import annotations

import pytest
from case_results import json_values
from hypothesis import given

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.literals import literal


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        ("{'a': 1, 'b': None, 'c': True, 'd': -0.5}", {"a": 1, "b": None, "c": True, "d": -0.5}),
        ("('a', [1, ()])", ["a", [1, []]]),
        ("['it\\'s', \"a\\nb\", '\\\\d', '\\x41']", ["it's", "a\nb", "\\d", "A"]),
        ("{}", {}),
        ("{'it': \"it's\", 'b': None}", {"it": "it's", "b": None}),
        ("{'None': 'True or False', 'c': '{\"a\": \"\\\\n\"}'}", {"None": "True or False", "c": '{"a": "\\n"}'}),
        (
            "[None, [True, False], '', 'é\\u2028', 12345678901234567890123, 1e+16]",
            [None, [True, False], "", "é\u2028", 12345678901234567890123, 1e16],
        ),
    ],
)
def test_literals(shown: str, value: JsonValue) -> None:
    """Dictionaries, lists and tuples are read as JSON has them."""
    assert literal(shown) == value


@pytest.mark.parametrize(
    "shown",
    [
        "plain",
        "",
        "[",
        "{'a': f()}",
        "{1: 2}",
        "{'a': {1, 2}}",
        "[b'x']",
        "[1 + 2j]",
        "['\\d']",
        "['a' 1]",
        "{'path': 'C:\\foo'}",
        "[1, 'a]",
        "[Nonesuch]",
        "[" * 150 + "]" * 150,
        "[" * 300 + "]" * 300,
        "[" + "1," * 40_000 + "]",
        5,
        None,
        {"a": 1},
    ],
)
def test_what_is_none_stays(shown: JsonValue) -> None:
    """Anything else is given back as it is, without a warning: code, other types, what is too deep or too long."""
    assert literal(shown) == shown


@given(json_values)
def test_what_python_shows_is_read(value: JsonValue) -> None:
    """Whatever Python shows of JSON values is read back."""
    if isinstance(value, dict | list) and "inf" not in repr(value):
        assert literal(repr(value)) == value
