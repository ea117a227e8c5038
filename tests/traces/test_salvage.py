"""Saving what can be saved: one bad value costs that value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from otlp_strategies import ATTRIBUTES, compact, spans

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.salvage import (
    salvage_attributes,
    salvage_events,
    salvage_log,
    salvage_object,
    salvage_span,
    salvage_value,
)
from pixie_otel.traces.wire import MAX_VALUE_DEPTH, decode_attributes, decode_span

ANY_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["key", "value", "values", "stringValue", "intValue", "arrayValue", "kvlistValue", "x"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=10,
)


@pytest.fixture
def said() -> list[str]:
    """Collect what is said."""
    return []


def value_of(written: object, said: list[str]) -> JsonValue:
    """Read one AnyValue."""
    return salvage_value(compact(written), lambda kind, message: said.append(f"{kind}: {message}"), "it")


class TestValues:
    """AnyValues, right and wrong."""

    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ({"stringValue": "x"}, "x"),
            ({"string_value": "x"}, "x"),
            ({"intValue": "5"}, 5),
            ({"intValue": 5.0}, 5),
            ({"boolValue": False}, False),
            ({"doubleValue": 5}, 5.0),
            ({"doubleValue": "NaN"}, "NaN"),
            ({"bytesValue": "AAEC"}, "AAEC"),
            ({"arrayValue": {"values": [{"intValue": 1}, {}, None]}}, [1, None, None]),
            ({"arrayValue": [{"intValue": 1}]}, [1]),
            ({"arrayValue": {}}, []),
            ({"kvlistValue": {"values": [{"key": "a", "value": {"intValue": 1}}, {"key": "b"}]}}, {"a": 1, "b": None}),
            ({"kvlistValue": {"values": None}}, {}),
            ({"stringValue": None, "intValue": None, "boolValue": True}, True),
            ({"stringValue": None, "kvlistValue": None}, None),
            ({}, None),
            (None, None),
        ],
    )
    def test_every_form_of_a_value_is_read_in_silence(self, written: object, value: object, said: list[str]) -> None:
        """What OTLP allows, or leaves no doubt about, is no problem."""
        assert repr(value_of(written, said)) == repr(value)
        assert said == []

    @pytest.mark.parametrize(
        ("written", "value", "message"),
        [
            ({"intValue": "1_0"}, "1_0", "it.intValue is '1_0', no whole number in 64 bits"),
            ({"intValue": " 5 "}, " 5 ", "it.intValue is ' 5 ', no whole number in 64 bits"),
            ({"intValue": 2**70}, str(2**70), f"it.intValue is '{2**70}', no whole number in 64 bits"),
            ({"intValue": True}, True, "it.intValue is true, no whole number in 64 bits"),
            ({"boolValue": "true"}, "true", "it.boolValue is 'true', neither true nor false"),
            ({"doubleValue": "x"}, "x", "it.doubleValue is 'x', no number that 64 bits can hold"),
            ({"doubleValue": False}, False, "it.doubleValue is false, no number that 64 bits can hold"),
            ({"stringValue": 5}, 5, "it.stringValue is 5, not text"),
            ({"bytesValue": [1]}, [1], "it.bytesValue is a list of 1, not text"),
            ({"arrayValue": {"values": 5}}, 5, "it.arrayValue is 5, not a list"),
            ({"kvlistValue": "x"}, "x", "it.kvlistValue is 'x', not a list"),
            ("bare", "bare", "it is 'bare', not an object that names its type"),
            ([1], [1], "it is a list of 1, not an object that names its type"),
            ({"foo": 1}, {"foo": 1}, "it is an object with 'foo', none of OTLP's types"),
            (
                {"arrayValue": {"values": [{"intValue": 1}, {"intValue": "y"}]}},
                [1, "y"],
                "it.arrayValue[1].intValue is 'y', no whole number in 64 bits",
            ),
            (
                {"kvlistValue": {"values": [{"key": "a", "value": {"boolValue": 1}}]}},
                {"a": 1},
                "it.kvlistValue 'a'.boolValue is 1, neither true nor false",
            ),
        ],
    )
    def test_a_wrong_value_is_kept_and_told(
        self, written: object, value: object, message: str, said: list[str]
    ) -> None:
        """What stood there is worth more than nothing."""
        assert repr(value_of(written, said)) == repr(value)
        assert said == [f"bad-value: {message}; it is kept as it stands"]

    def test_of_two_types_one_counts_whatever_stands_first(self, said: list[str]) -> None:
        """The one that the fast path takes as well."""
        assert value_of({"intValue": 1, "stringValue": "x"}, said) == "x"
        assert said == ["bad-value: it has stringValue and intValue; stringValue counts"]

    def test_a_key_that_stands_twice_is_told(self, said: list[str]) -> None:
        """The last value counts, as in an object."""
        pairs = [{"key": "a", "value": {"intValue": number}} for number in (1, 2)]

        assert value_of({"kvlistValue": {"values": [*pairs, 5]}}, said) == {"a": 2}
        assert said == [
            "duplicate-key: it.kvlistValue 'a' stands twice; the last value counts",
            "bad-value: it.kvlistValue: 5 stands where a key and a value should; it is left out",
        ]

    @pytest.mark.parametrize(
        "opening", ['{"arrayValue":{"values":[', '{"kvlistValue":{"values":[{"key":"a","value":', "[", '{"a":']
    )
    def test_what_is_nested_too_deep_is_left_out(self, opening: str, said: list[str]) -> None:
        """It costs itself, and everything that reads the value is safe."""
        closing = "".join({"[": "]", "{": "}"}[character] for character in reversed(opening) if character in "[{")
        for levels in (MAX_VALUE_DEPTH + 1, 300, 3000):
            data = opening * levels + '{"intValue":1}' + closing * levels
            value = salvage_value(data.encode(), lambda kind, message: said.append(kind), "it")
            json.dumps(value)
        assert set(said) == {"nested-too-deep"}

    @given(ANY_JSON)
    def test_any_json_is_read_somehow(self, written: object) -> None:
        """There is no error, whatever the types."""
        value = salvage_value(json.dumps(written).encode(), lambda *_: None, "it")
        json.dumps(value, allow_nan=False)


class TestAttributes:
    """Lists of attributes."""

    @given(ATTRIBUTES)
    def test_good_attributes_read_as_on_the_fast_path(self, written: list[dict[str, Any]]) -> None:
        """Whichever way a value goes, it comes out the same."""
        said: list[str] = []
        values = salvage_attributes(compact(written), lambda kind, _: said.append(kind))

        assert said == []
        try:
            assert repr(decode_attributes(compact(written))) == repr(values)
        except ValueError:
            assert any(value is None for value in values.values()) or "{}" in json.dumps(written)

    def test_one_bad_attribute_costs_itself(self, said: list[str]) -> None:
        """The others are read."""
        written = [5, {"key": 5}, {"value": {"intValue": 1}}, {"key": "good", "value": {"intValue": "1"}}]

        assert salvage_attributes(compact(written), lambda _, message: said.append(message)) == {"good": 1}
        assert said == [
            "attribute: 5 stands where a key and a value should; it is left out",
            "attribute: an object with 'key' stands where a key and a value should; it is left out",
            "attribute: an object with 'value' stands where a key and a value should; it is left out",
        ]

    def test_an_object_is_read_as_its_keys_and_values(self, said: list[str]) -> None:
        """Values may be AnyValues or plain; the keys are the user's own, and stay."""
        written = {"trace_id": {"stringValue": "x"}, "n": 1, "o": {"a": [1]}, "two": {"stringValue": "x", "b": 1}}
        values = salvage_attributes(compact(written), lambda _, message: said.append(message))

        assert values == {"trace_id": "x", "n": 1, "o": {"a": [1]}, "two": {"stringValue": "x", "b": 1}}
        assert said == []

    def test_an_object_nested_too_deep_is_left_out(self, said: list[str]) -> None:
        """As in a list."""
        data = b'{"a":1,"b":' + b"[" * 100 + b"]" * 100 + b"}"

        assert salvage_attributes(data, lambda kind, _: said.append(kind)) == {"a": 1, "b": None}
        assert said == ["nested-too-deep"]

    @pytest.mark.parametrize("data", [b"null", b"5", b'"x"', b"{", b"[1"])
    def test_what_holds_no_attributes_gives_none(self, data: bytes, said: list[str]) -> None:
        """Null is no problem, all else is one."""
        assert salvage_attributes(data, lambda kind, _: said.append(kind)) == {}
        assert said == ([] if data == b"null" else ["bad-value"])


class TestSpans:
    """Spans, events and log records."""

    @given(spans())
    def test_a_good_span_reads_as_on_the_fast_path(self, written: dict[str, Any]) -> None:
        """Field by field."""
        fast, slow = decode_span(compact(written)), salvage_span(compact(written), lambda *told: pytest.fail(f"{told}"))

        assert slow is not None
        assert (fast.trace_id, fast.span_id, fast.name, fast.kind) == (
            slow.trace_id,
            slow.span_id,
            slow.name,
            slow.kind,
        )
        assert int(fast.start_time_unix_nano or 0) == slow.start_time_unix_nano
        assert json.loads(bytes(fast.attributes)) == json.loads(bytes(slow.attributes))

    def test_bad_fields_cost_themselves(self, said: list[str]) -> None:
        """Each is told with what stood there and what was made of it."""
        written = {
            "traceId": 5,
            "spanId": ["x"],
            "name": True,
            "kind": [],
            "startTimeUnixNano": 5.5,
            "endTimeUnixNano": "7",
            "status": {"code": {}, "message": 5},
            "droppedAttributesCount": None,
        }
        span = salvage_span(compact(written), lambda _, message: said.append(message))

        assert span is not None
        assert (span.trace_id, span.span_id, span.name, span.kind, span.end_time_unix_nano) == ("5", "", "true", 0, 7)
        assert said == [
            "traceId is 5, not text; it is read as '5'",
            "spanId is a list of 1, not text; it is left out",
            "name is true, not text; it is read as 'true'",
            "kind is an empty list, neither a number nor a name; it is read as 0",
            "startTimeUnixNano is 5.5, no whole number in 64 bits; it is read as 0",
            "status.code is an empty object, neither a number nor a name; it is read as 0",
            "status.message is 5, not text; it is read as '5'",
        ]

    def test_a_status_that_is_no_object_is_left_out(self, said: list[str]) -> None:
        """The span stays."""
        span = salvage_span(b'{"traceId":"a","status":"ERROR"}', lambda _, message: said.append(message))

        assert span is not None
        assert span.status is None
        assert said == ["status is 'ERROR', not an object; it is left out"]

    @pytest.mark.parametrize("data", [b"5", b"null", b"[]", b'"x"', b"{", b"\xff"])
    def test_what_is_no_span_is_skipped(self, data: bytes, said: list[str]) -> None:
        """One bad span costs that span; likewise a log record."""
        assert salvage_span(data, lambda kind, _: said.append(kind)) is None
        assert salvage_log(data, lambda kind, _: said.append(kind)) is None
        assert said == ["bad-span", "bad-log"]

    def test_a_bad_log_record_keeps_its_good_fields(self, said: list[str]) -> None:
        """Its body and attributes stay bytes."""
        log = salvage_log(
            b'{"trace_id":"a","timeUnixNano":"x","body":{"intValue":1}}', lambda _, message: said.append(message)
        )

        assert log is not None
        assert (log.trace_id, log.time_unix_nano, json.loads(bytes(log.body))) == ("a", 0, {"intValue": 1})
        assert said == ["a log record's timeUnixNano is 'x', no whole number in 64 bits; it is read as 0"]

    def test_one_bad_event_costs_itself(self, said: list[str]) -> None:
        """And a bad field of one costs the field."""
        written = [5, {"name": 5, "timeUnixNano": "x"}, {"name": "good", "timeUnixNano": 1}]
        events = salvage_events(compact(written), lambda _, message: said.append(message))

        assert [(event.name, event.time_unix_nano) for event in events] == [("5", 0), ("good", 1)]
        assert said[0] == "an event is 5, not an object; it is skipped"
        assert salvage_events(b"5", lambda _, message: said.append(message)) == []
        assert said[-1] == "the events are 5, not a list; they are left out"
        assert salvage_events(b"null", lambda *told: pytest.fail(f"{told}")) == []

    def test_a_resource_that_is_no_object_is_left_out(self, said: list[str]) -> None:
        """Null is simply none."""
        assert salvage_object(b"5", lambda _, message: said.append(message), "resource") == {}
        assert salvage_object(b"null", lambda *told: pytest.fail(f"{told}"), "resource") == {}
        assert said == ["the resource is 5, not an object; it is left out"]
