"""Tests of what is cut of a recorded value, and of values recorded in bad circumstances."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from value_classes import Plain
from value_strategies import plain_json

from pixie_otel.tracing.value_walk import Walk
from pixie_otel.tracing.values import DEFAULT, Encoded, ValueLimits, encode_arguments, encode_value, plain_value

SMALL = ValueLimits(max_depth=5, max_nodes=20, max_string=60, max_bytes=2000)


def shown(value: object, limits: ValueLimits = DEFAULT) -> Any:
    """Encode a value, and read it as whoever reads the trace does."""
    encoded = encode_value(value, limits)
    return encoded.text if encoded.mime_type == "text/plain" else json.loads(encoded.text)


# --- cycles, and what is shared ---


def test_cycles_say_where_they_lead() -> None:
    """What holds itself is marked by how many levels up it is met again, and does not count as cut."""
    value: dict[str, Any] = {"list": [1]}
    value["list"] += [value, value["list"]]

    assert shown(value) == {"list": [1, "<cycle: 2 levels up>", "<cycle: 1 level up>"]}
    assert encode_value(value).truncated is False


def test_what_is_shared_is_no_cycle() -> None:
    """A value that stands twice is shown twice."""
    inner = [Decimal(1)]

    assert shown([inner, inner]) == [["1"], ["1"]]


def test_a_doubling_structure_ends() -> None:
    """Thirty levels of [x, x], a milliard of values, end with the budget for nodes."""
    value: Any = "x"
    for _ in range(30):
        value = [value, value]

    encoded = encode_value(value)

    assert encoded.truncated is True
    assert nodes(json.loads(encoded.text)) <= DEFAULT.max_nodes


# --- what is cut ---


def nodes(value: Any) -> int:
    """Count values as the limits count them."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(nodes, inner))


def test_a_long_text_says_how_long_it_was() -> None:
    """A text beyond the limit ends with its length, and is no longer than the limit, alone and inside."""
    alone = encode_value("x" * 5_000_000)
    inside = encode_value({"a": "x" * 5_000_000})

    assert alone.text.endswith("x… (cut, 5,000,000 characters)")
    assert len(alone.text) == DEFAULT.max_string
    assert json.loads(inside.text) == {"a": alone.text}
    assert alone.truncated
    assert inside.truncated


def test_a_text_of_exactly_the_limit_is_whole() -> None:
    """The limit itself is allowed, even where every character takes four bytes."""
    value = "\U0001f642" * DEFAULT.max_string

    assert encode_value(value) == (value, "text/plain", False)
    assert encode_value({"a": "x" * DEFAULT.max_string}).truncated is False


@pytest.mark.parametrize("make", [list, tuple, deque, dict.fromkeys], ids=["list", "tuple", "deque", "dict"])
def test_a_long_container_says_how_much_is_missing(make: Callable[[Any], Any]) -> None:
    """A container of more than the budget ends with how many more there are, within the budget."""
    encoded = encode_value(make(range(20_000)))
    recorded = json.loads(encoded.text)

    assert encoded.truncated is True
    assert nodes(recorded) == DEFAULT.max_nodes
    if isinstance(recorded, dict):
        assert recorded["…"] == "(10,002 more)"
    else:
        assert recorded[-1] == "… (10,002 more items)"


def test_a_container_of_exactly_the_budget_is_whole() -> None:
    """As many values as allowed are recorded, the container counted as one, in plain and in unusual values alike."""
    assert encode_value([0] * 9_999).truncated is False
    assert encode_value([0] * 10_000).truncated is True
    assert encode_value([Decimal(0)] * 9_999).truncated is False
    assert encode_value([Decimal(0)] * 10_000).truncated is True


def test_a_large_set_is_only_named() -> None:
    """Which of a set's items come first would be chance, so one beyond the budget is named."""
    assert encode_value(set(range(20_000))).text == '"<set: 20,000 items>"'
    assert encode_value({frozenset(range(20)), 1}, SMALL).truncated is True


def test_depth_is_limited() -> None:
    """Sixty-four containers may stand inside each other; what is deeper is named."""
    value: Any = 0
    for _ in range(64):
        value = [value]

    assert encode_value(value).truncated is False
    deeper = encode_value([value])
    assert deeper.truncated is True
    assert "<list: 1 items, too deep>" in deeper.text


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(["x" * 2**20] * 100, id="many long texts"),
        pytest.param(["\x00" * 2**20] * 10, id="texts that grow sixfold"),
        pytest.param({str(number): "\U0001f642" * 100_000 for number in range(100)}, id="texts of four bytes each"),
        pytest.param(dict.fromkeys(("k" * 2**20 + str(number) for number in range(50)), 1), id="long keys"),
        pytest.param(["x"] + ["\x01" * 500_000] * 3, id="a mixture"),
    ],
)
def test_the_whole_is_limited_in_bytes(value: Any) -> None:
    """However much a value takes as JSON, what is recorded is within the limit, and not much below it."""
    encoded = encode_value(value)

    assert encoded.truncated is True
    assert DEFAULT.max_bytes // 4 < len(encoded.text.encode()) <= DEFAULT.max_bytes
    json.loads(encoded.text)


def test_numbers_count_as_bytes_too() -> None:
    """Ten thousand numbers fit into a small limit by becoming fewer."""
    encoded = encode_value([0.123456789012345] * 9_000, ValueLimits(max_bytes=1000))

    assert 200 < len(encoded.text) <= 1000
    assert json.loads(encoded.text)[0] == 0.123456789012345


def test_long_bytes_are_counted() -> None:
    """Bytes whose base64 would be too long are recorded as their number."""
    assert encode_value(bytes(2_000_000)) == ('"<bytes: 2,000,000>"', "application/json", True)
    assert encode_value(memoryview(bytearray(2_000_000))).text == '"<memoryview: 2,000,000>"'


def test_a_number_of_too_many_digits_is_measured() -> None:
    """A number that Python itself would refuse to write is recorded as its size."""
    encoded = encode_value([10**5000, 10**4000])

    first, second = json.loads(encoded.text)
    assert first == "<int: 16,610 bits>"
    assert second == "1" + "0" * 4000
    assert encoded.truncated is True


def test_a_large_error_is_cut_like_anything_else() -> None:
    """What an exception carries is bounded too."""
    assert encode_value(ValueError("x" * 5_000_000)).truncated is True


def test_a_mark_does_not_replace_a_key_of_the_same_name() -> None:
    """Where a dict has the key that marks a cut, the mark is numbered."""
    value: dict[Any, int] = {"…": 0, **dict.fromkeys(range(30), 1)}

    recorded = shown(value, SMALL)

    assert recorded["…"] == 0
    assert recorded["… (2)"].endswith("more)")


@given(plain_json, st.integers(3, 30), st.integers(40, 60), st.integers(2, 6))
def test_what_was_cut_is_not_cut_again(value: Any, max_nodes: int, max_string: int, max_depth: int) -> None:
    """Recording what was recorded changes nothing, at whatever limits."""
    limits = ValueLimits(max_depth=max_depth, max_nodes=max_nodes, max_string=max_string, max_bytes=700)
    once, truncated = plain_value(value, limits)
    again, truncated_again = plain_value(once, limits)

    assert again == once
    assert truncated_again is False
    assert nodes(once) <= max_nodes
    assert len(json.dumps(once, ensure_ascii=False, separators=(",", ":")).encode()) <= 700 + 2
    assert truncated or once == value


# --- circumstances ---


def test_a_dict_that_changes_meanwhile_is_copied_again() -> None:
    """A dict to which another thread adds keys all the time is recorded, unusual values and all."""
    value: dict[Any, Any] = {number: Decimal(number) for number in range(50)}
    stop = threading.Event()

    def change() -> None:
        number = 1000
        while not stop.is_set():
            value[number] = number
            value.pop(number - 20, None)
            number += 1

    before = sys.getswitchinterval()
    thread = threading.Thread(target=change)
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        recorded = [json.loads(encode_value({"a": value, "b": 1}).text) for _ in range(300)]
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(before)

    assert all(each["b"] == 1 for each in recorded)
    assert all(isinstance(each["a"], dict) and each["a"]["7"] == "7" for each in recorded)


def test_little_stack_is_enough() -> None:
    """With hardly any stack left a value is recorded or said not to be, and nothing is raised."""
    value = [[[{"a": [Decimal(1), Plain([1])]}]]]
    whole = encode_value(value)
    found: dict[int, Encoded] = {}

    def deeper(levels: int, then: Callable[[object], Any]) -> Any:
        return deeper(levels - 1, then) if levels else then(value)

    def run() -> None:
        sys.settrace(None)  # a measurement of coverage takes stack as well
        deepest = sys.getrecursionlimit()
        while True:
            try:
                deeper(deepest, lambda _value: None)
                break
            except RecursionError:
                deepest -= 1
        for levels in range(deepest - 60, deepest + 1):
            found[levels] = deeper(levels, encode_value)

    # A thread has a stack of its own, with nothing on it that counts differently.
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

    assert len(found) == 61
    assert set(found.values()) == {whole, ('"<not recorded>"', "application/json", True)}


@pytest.mark.parametrize("error", [ValueError, MemoryError, RecursionError, UnicodeError])
def test_a_fault_of_ours_is_not_raised(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong inside gives a text that says so."""

    def fail(*_args: object) -> None:
        raise error

    monkeypatch.setattr(Walk, "value", fail)
    monkeypatch.setattr("pixie_otel.tracing.faults.internal_error", fail)

    assert encode_value(Decimal(1)).text == '"<not recorded>"'
    assert encode_arguments({"a": Decimal(1)}).text == '{"…":"<not recorded>"}'
    assert plain_value(Decimal(1)) == ("<not recorded>", True)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_the_program_passes(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt within our code is nobody's fault and goes on its way."""

    def fail(*_args: object) -> None:
        raise error

    monkeypatch.setattr(Walk, "value", fail)

    with pytest.raises(error):
        encode_value(Decimal(1))


def test_classes_come_and_go() -> None:
    """What is known of a class goes with it, so that another at the same place is read by its own fields."""
    for number in range(2000):
        kind = msgspec.defstruct("Made", [(f"f{number}", int)])
        assert shown(kind(number)) == {f"f{number}": number}


def test_nothing_is_imported_for_it() -> None:
    """Recording values loads none of the libraries whose values are known."""
    program = (
        "import sys; from pixie_otel.tracing.values import encode_value; from dataclasses import dataclass\n"
        "@dataclass\nclass A:\n    a: object = None\n"
        "print(encode_value([A(), 1j, {1}, object()]).text)\n"
        "print(sorted({'numpy', 'pydantic', 'attr', 'openai'} & set(sys.modules)))"
    )

    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout

    assert told.splitlines() == ['[{"a":null},"1j",[1],"<object>"]', "[]"]
