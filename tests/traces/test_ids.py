"""The ids of traces and spans: hex of either case, or base64 where the length tells."""

from __future__ import annotations

import base64

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pixie_otel.traces.ids import canonical_id, read_span_id

HEX = "4bf92f3577b34da6a3ce929d0e0e4736"
SIZES = st.sampled_from([8, 16])


@pytest.mark.parametrize(
    "written",
    [HEX, HEX.upper(), f"0x{HEX}", f"0X{HEX}", f" {HEX}\n", "S/kvNXezTaajzpKdDg5HNg==", "S_kvNXezTaajzpKdDg5HNg"],
)
def test_every_way_of_writing_a_trace_id_is_one_id(written: str) -> None:
    """Case, prefix, white space around it and base64 of either alphabet make no difference."""
    assert canonical_id(written, 16) == HEX


@pytest.mark.parametrize("written", ["", "0", "0" * 32, "0x", "0x0000", "AAAAAAAAAAAAAAAAAAAAAA==", "A" * 22])
def test_an_empty_or_zero_id_is_no_id(written: str) -> None:
    """OpenTelemetry writes zeros, and some exporters nothing, where there is no id."""
    assert canonical_id(written, 16) == ""


@pytest.mark.parametrize(
    "written",
    [
        "abc",
        HEX[:-1],
        HEX[:-1] + "g",
        HEX[:-1] + "４",  # noqa: RUF001 - a digit of another script
        f"{HEX[:16]} {HEX[17:]}",
        "hello-world-1234567890",
        "S/kvNXezTaajzpKdDg5HNg=!",
        "S/kvNXezTaajzpKdDg5HNh==",  # bits set that no encoder sets
        "S/kvNXezTaajzpKdDg5H é=",
    ],
)
def test_what_only_looks_like_an_id_is_not_guessed_at(written: str) -> None:
    """Text of another length, with other characters or spare bits is no id."""
    assert canonical_id(written, 16) is None


@example(bytes.fromhex("d170000000000000"))  # its base64 begins with 0X
@given(SIZES.flatmap(lambda size: st.binary(min_size=size, max_size=size)))
def test_hex_and_base64_of_the_same_bytes_are_the_same_id(data: bytes) -> None:
    """Whatever the bytes, all four forms give the same lower-case hex, or no id for zeros."""
    expected = data.hex() if any(data) else ""
    encoded = base64.b64encode(data).decode()
    urlsafe = base64.urlsafe_b64encode(data).decode()
    for written in (data.hex(), data.hex().upper(), encoded, encoded.rstrip("="), urlsafe, urlsafe.rstrip("=")):
        assert canonical_id(written, len(data)) == expected


@given(st.text(max_size=40), SIZES)
def test_any_text_is_an_id_or_is_not(text: str, size: int) -> None:
    """No text is an error, and what is an id has one form that reads as itself."""
    identity = canonical_id(text, size)

    assert identity is None or identity == "" or len(identity) == 2 * size
    if identity:
        assert canonical_id(identity, size) == identity


def test_a_span_id_of_another_form_is_taken_as_it_stands() -> None:
    """Children can still find their parent by it."""
    assert read_span_id("span-1") == "span-1"
    assert read_span_id("00F067AA0BA902B7") == "00f067aa0ba902b7"


@pytest.mark.parametrize("written", [None, "", "0000000000000000", "AAAAAAAAAAA="])
def test_a_missing_span_id_is_none(written: str | None) -> None:
    """Missing, empty and zero are the same: none."""
    assert read_span_id(written) is None
