"""JSON that is not quite JSON, or not quite OTLP's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.lenient import Notes, read_json, shown, silence

JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"])),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("abcé_", max_size=4), inner, max_size=4)
    ),
    max_leaves=15,
)


def read(data: bytes | str, *, is_otlp: bool = True) -> tuple[Any, dict[str, str]]:
    """Read JSON, and give what was said by kind; each kind is said once."""
    said: list[tuple[str, str]] = []
    value = read_json(
        data if isinstance(data, bytes) else data.encode(), lambda *told: said.append(told), is_otlp=is_otlp
    )
    assert len(dict(said)) == len(said)
    return value, dict(said)


@given(JSON)
def test_plain_json_is_read_as_it_is(value: JsonValue) -> None:
    """Nothing is changed, and nothing is said, whatever the layout."""
    for layout in ({}, {"indent": 2}, {"ensure_ascii": False}):
        assert read(json.dumps(value, **layout)) == (value, {})


@given(st.binary())
def test_any_bytes_are_json_or_are_not(data: bytes) -> None:
    """There is no error but the expected one, and what was read can be written as strict JSON."""
    try:
        value, _ = read(data)
    except ValueError:
        return
    json.dumps(value, allow_nan=False).encode()


def test_what_json_has_no_number_for_becomes_text() -> None:
    """The text that OTLP has for it, told once with how often it was there."""
    value, said = read("[NaN, Infinity, -Infinity, 1e999, 1]")

    assert value == ["NaN", "Infinity", "-Infinity", "1e999", 1]
    assert said == {"bad-value": "NaN is no JSON; it was read as text (the first of 3)"}


@pytest.mark.parametrize("digits", ["18446744073709551616", "-9223372036854775809", "9" * 5000])
def test_integers_over_64_bits_become_text(digits: str) -> None:
    """No digit is lost, and Python's own limit for digits does not take the rest of the text with it."""
    assert read(f"[{digits}, 18446744073709551615]") == ([digits, 2**64 - 1], {})


def test_invalid_utf8_costs_the_characters_that_it_broke() -> None:
    """The rest of the text stays, and where the first one is gets told."""
    value, said = read(b'{"a":"x\xffy\xfe","b":"\xc3\xa9"}')

    assert value == {"a": "x\ufffdy\ufffd", "b": "é"}
    assert said == {
        "invalid-utf8": "bytes that are no UTF-8 were replaced by U+FFFD, the first at 7 (invalid start byte)"
    }


def test_half_a_surrogate_pair_is_replaced() -> None:
    """No text could be written with it; whole pairs stay."""
    value, said = read(r'{"\ud800k":"a\udc00b","pair":"\ud83d\ude42"}')

    assert value == {"\ufffdk": "a\ufffdb", "pair": "🙂"}
    assert said == {"lone-surrogate": "half a surrogate pair was replaced by U+FFFD (the first of 2)"}


def test_control_characters_in_text_are_kept() -> None:
    """JSON wants them escaped; what else is odd is still told once."""
    value, said = read('{"a":"x\ty","a":"z\x00"}')

    assert value == {"a": "z\x00"}
    assert said.keys() == {"bad-value", "duplicate-key"}
    assert "(" not in said["duplicate-key"]


def test_of_a_key_that_stands_twice_the_last_value_counts() -> None:
    """As with every common parser; but it is told."""
    value, said = read('[{"a":1,"a":2},{"b":1,"b":1}]')

    assert value == [{"a": 2}, {"b": 1}]
    assert said == {"duplicate-key": "a key stands twice in one JSON object; the last value counts (the first of 2)"}


@pytest.mark.parametrize("text", ["", "{", "[1,]", '{"a":1}}', r'"\x"', "nul", '"a', "'a'"])
def test_what_is_no_json_is_refused(text: str) -> None:
    """With nothing said about it: the error says it."""
    with pytest.raises(json.JSONDecodeError):
        read_json(text.encode(), lambda *told: pytest.fail(f"{told}"))


@pytest.mark.parametrize("levels", [400, 5_000, 100_000])
def test_a_nesting_bomb_costs_what_is_too_deep(levels: int) -> None:
    """What stands beside it is read."""
    for opening, closing in (("[", "]"), ('{"a":', "}"), ('[{"":', "}]")):
        value, said = read('{"before":1,"bomb":' + opening * levels + "1" + closing * levels + ',"after":"[{"}')

        assert (value["before"], value["after"]) == (1, "[{")
        if levels > 1000:
            assert said == {"nested-too-deep": "what is nested more than 320 levels deep was left out"}


def test_a_nesting_bomb_without_an_end_is_refused() -> None:
    """It is no JSON, however much of it was left out."""
    with pytest.raises(json.JSONDecodeError):
        read_json(b"[" * 100_000, silence)


class TestKeys:
    """Keys in snake_case."""

    def test_otlp_keys_are_renamed_wherever_they_stand(self) -> None:
        """Other keys with underscores are left alone."""
        value, said = read('{"resource_spans":[{"scope_spans":[{"trace_id":"a_b","my_key":{"span_id":1}}]}]}')

        assert value == {"resourceSpans": [{"scopeSpans": [{"traceId": "a_b", "my_key": {"spanId": 1}}]}]}
        assert said == {}

    def test_the_users_own_keys_are_not(self) -> None:
        """Attributes written as an object have keys that are data."""
        written = {"attributes": {"trace_id": 1, "deep": {"span_id": 2}}}

        assert read(json.dumps(written))[0] == written
        assert read(json.dumps(written["attributes"]), is_otlp=False)[0] == written["attributes"]
        assert read('{"attributes":[{"value":{"int_value":1}}]}')[0] == {"attributes": [{"value": {"intValue": 1}}]}

    def test_both_ways_of_writing_a_key_hold_records(self) -> None:
        """Lists are put together; of other values the last counts."""
        value, _ = read('{"resourceSpans":[1],"resource_spans":[{"trace_id":2}],"traceId":1,"trace_id":2}')

        assert value == {"resourceSpans": [1, {"traceId": 2}], "traceId": 2}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ("a\n", r"'a\n'"),
        ("\x1b[2J", r"'\x1b[2J'"),
        ("x" * 61, f"'{'x' * 60}'… (61 characters)"),
        ([], "an empty list"),
        ([1, 2], "a list of 2"),
        ({}, "an empty object"),
        ({"a": 1}, "an object with 'a'"),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "an object with 'a', 'b', 'c', …"),
    ],
)
def test_values_are_shown_on_one_short_line(value: JsonValue, text: str) -> None:
    """Whatever it holds, a value in a message neither breaks the line nor fills the screen."""
    assert shown(value) == text


@given(JSON)
def test_a_shown_value_is_always_short(value: JsonValue) -> None:
    """Its size does not matter."""
    assert len(shown(value)) < 500
    assert "\n" not in shown(value)


def test_notes_tell_each_kind_once() -> None:
    """The first message, with how many there were."""
    notes, said = Notes(), []
    for number in range(3):
        notes("a", f"message {number}")
    notes("b", "other")
    notes.tell(lambda *told: said.append(told))

    assert said == [("a", "message 0 (the first of 3)"), ("b", "other")]
