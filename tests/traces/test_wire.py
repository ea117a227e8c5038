"""The wire model: OTLP JSON, decoded no further than asked."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from otlp_lines import attributes
from otlp_strategies import ANY_VALUES, compact

from pixie_otel.traces.wire import (
    MAX_VALUE_DEPTH,
    UNSET,
    decode_attributes,
    decode_batch,
    decode_events,
    decode_log,
    decode_span,
    decode_value,
    integer,
    json_double,
)

PLAIN = st.recursive(
    st.one_of(
        st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), st.text()
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=8,
)


def nested(levels: int) -> bytes:
    """Give an AnyValue of lists in lists."""
    return b'{"arrayValue":{"values":[' * levels + b'{"intValue":"1"}' + b"]}}" * levels


class TestIntegers:
    """Integers of 64 bits, written as numbers or as text."""

    @pytest.mark.parametrize(
        ("written", "number"),
        [(5, 5), ("5", 5), ("-5", -5), (5.0, 5), ("1581452772000000321", 1581452772000000321), (2**64 - 1, 2**64 - 1)],
    )
    def test_numbers_and_decimal_text_are_integers(self, written: object, number: int) -> None:
        """OTLP writes 64-bit integers as text, and others write numbers; neither loses a digit."""
        assert integer(written) == number

    @pytest.mark.parametrize(
        "written",
        [
            None,
            True,
            "",
            " 5",
            "1_0",
            "+5",
            "0x5",
            "٣",
            "5.0",
            "1e3",
            5.5,
            math.inf,
            2**64,
            str(2**70),
            -(2**63) - 1,
            [],
        ],
    )
    def test_anything_else_is_none(self, written: object) -> None:
        """What Python would take for a number and OTLP does not is none, and so is what 64 bits do not hold."""
        assert integer(written) is None

    @given(st.integers(-(2**63), 2**64 - 1))
    def test_all_of_64_bits_go_through_text(self, number: int) -> None:
        """Every integer of 64 bits is read from text as from a number."""
        assert integer(str(number)) == integer(number) == number


class TestDoubles:
    """Doubles, and what JSON has no number for."""

    @pytest.mark.parametrize(("written", "value"), [(5, 5.0), (5.5, 5.5), ("5.5", 5.5), ("-1e-3", -0.001)])
    def test_numbers_as_numbers_or_text(self, written: float | str, value: float) -> None:
        """Either way it is a float."""
        assert json_double(written) == value

    @pytest.mark.parametrize(
        ("written", "text"),
        [("NaN", "NaN"), ("nan", "NaN"), ("Infinity", "Infinity"), ("-Infinity", "-Infinity"), ("inf", "Infinity")],
    )
    def test_what_json_cannot_say_stays_text(self, written: str, text: str) -> None:
        """JSON has no such numbers, so reports and results hold the text that OTLP has for them."""
        assert json_double(written) == text

    @pytest.mark.parametrize("written", ["", "x", " 5", "1_0", "٣", "1e999", "0x1p3", ".5"])
    def test_anything_else_is_refused(self, written: str) -> None:
        """Python's own reading of numbers is wider than JSON's."""
        with pytest.raises(ValueError, match="no number"):
            json_double(written)


class TestAttributes:
    """Attributes, and the AnyValues in them."""

    @given(st.dictionaries(st.text(), PLAIN, max_size=5))
    def test_every_value_comes_back_as_it_was(self, values: dict[str, Any]) -> None:
        """Writing a value as an AnyValue and reading it changes nothing, floats and integers staying apart."""
        assert repr(decode_attributes(compact(attributes(values)))) == repr(values)

    @pytest.mark.parametrize("raw", [b"null", b"[]"])
    def test_no_attributes(self, raw: bytes) -> None:
        """Nothing, and nothing in a list, are the same."""
        assert decode_attributes(raw) == {}

    def test_variants_that_are_null_are_not_there(self) -> None:
        """Some exporters write all seven variants, six of them null."""
        variants = ("stringValue", "intValue", "boolValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue")
        for variant, value in (("boolValue", False), ("intValue", "0"), ("stringValue", ""), ("doubleValue", 0.0)):
            written = [{"key": "k", "value": dict.fromkeys(variants) | {variant: value}}]
            assert decode_attributes(compact(written))["k"] in (False, 0, "", 0.0)

    def test_of_two_variants_one_is_always_the_same(self) -> None:
        """Text goes before numbers, whatever stands first."""
        assert (
            decode_value(b'{"intValue":5,"stringValue":"x"}')
            == decode_value(b'{"stringValue":"x","intValue":5}')
            == "x"
        )

    def test_bytes_stay_base64(self) -> None:
        """Bytes have no other form in JSON."""
        assert decode_value(b'{"bytesValue":"AAEC"}') == "AAEC"

    @pytest.mark.parametrize(
        "raw",
        [
            b'[{"key":"k","value":{"intValue":"x"}}]',
            b'[{"key":"k","value":{"intValue":1180591620717411303424}}]',
            b'[{"key":"k","value":{"doubleValue":"1_0"}}]',
            b'[{"key":"k","value":{}}]',
            b'[{"key":"k","value":{"string_value":"x"}}]',
            b'[{"key":"k","value":{"intValue":"1"}},{"key":"k","value":{"intValue":"1"}}]',
            b'[{"key":"k","value":{"kvlistValue":{"values":[{"key":"a"},{"key":"a"}]}}}]',
            b'[{"key":"k","value":{"stringValue":"\xff"}}]',
            b'[{"key":"k","value":{"stringValue":"\\ud800"}}]',
            b'{"k":"v"}',
            b"5",
        ],
    )
    def test_what_would_lose_something_is_refused(self, raw: bytes) -> None:
        """The fast path never guesses: what is not plain OTLP goes another way."""
        with pytest.raises(ValueError):  # noqa: PT011 - what it says is not shown to anybody
            decode_attributes(raw)

    def test_values_may_be_nested_up_to_a_limit(self) -> None:
        """The limit is well below what everything that reads the value can take."""
        value = decode_value(nested(MAX_VALUE_DEPTH - 1))
        assert json.dumps(value).count("[") == MAX_VALUE_DEPTH - 1
        with pytest.raises(ValueError, match="nested more than 64"):
            decode_value(nested(MAX_VALUE_DEPTH))

    def test_a_nesting_bomb_is_refused(self) -> None:
        """The error is one that callers expect."""
        with pytest.raises((ValueError, RecursionError)):
            decode_value(nested(100_000))

    @given(ANY_VALUES)
    def test_any_value_is_decoded_or_refused(self, value: dict[str, Any]) -> None:
        """Only values that hold nothing at all are refused."""
        try:
            decode_value(compact(value))
        except ValueError as error:
            assert "none of OTLP's types" in str(error)  # noqa: PT017 - most values are none


class TestRecords:
    """Batches, spans, events and log records."""

    def test_attributes_stay_bytes(self) -> None:
        """Decoding a span costs nothing for what nobody asked for."""
        span = decode_span(b'{"traceId":"a","attributes":[ 1 , 2 ],"unknown":{"x":[1]}}')

        assert (span.trace_id, bytes(span.attributes), bytes(span.events)) == ("a", b"[ 1 , 2 ]", b"null")

    def test_a_line_of_spans_logs_and_metrics(self) -> None:
        """Collectors put all three into one file."""
        batch = decode_batch(
            b'{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}],"resourceLogs":[],"resourceMetrics":[1]}'
        )

        assert isinstance(batch.resource_spans, list)
        assert batch.resource_logs == []
        assert batch.resource_profiles is UNSET
        assert not batch.is_mixed()

    @pytest.mark.parametrize("key", ["batches", "resource_spans", "resource_logs"])
    def test_records_in_another_form_beside_them_are_noticed(self, key: str) -> None:
        """Whoever looks only for the common form would lose them."""
        assert decode_batch(compact({"resourceSpans": [], key: []})).is_mixed()

    def test_logs_and_events(self) -> None:
        """Both decode with their attributes and bodies as bytes."""
        (event,) = decode_events(b'[{"name":"e","timeUnixNano":"5","attributes":[]}]') or []
        log = decode_log(b'{"traceId":null,"body":{"stringValue":"b"}}')

        assert (event.name, event.time_unix_nano, bytes(event.attributes)) == ("e", "5", b"[]")
        assert (log.trace_id, bytes(log.body)) == (None, b'{"stringValue":"b"}')
