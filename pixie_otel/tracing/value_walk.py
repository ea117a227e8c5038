"""The walk through one value: what it costs is counted, what is cut says so, and no code of the value's runs.

Counting nodes and characters bounds the time as well, since nothing that is called can take long by itself; so there is
no clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isnan
from typing import Any, Final

import msgspec.json

from pixie_otel.evaluable import JsonValue
from pixie_otel.tracing.type_facts import is_scalar, type_name
from pixie_otel.tracing.value_types import plan_of

__all__ = ["LARGEST", "SMALLEST", "ValueLimits", "Walk", "clean", "cut", "encode"]


@dataclass(frozen=True, slots=True)
class ValueLimits:
    """How much of a value is recorded.

    Attributes:
        max_depth: How many containers may stand inside each other.
        max_nodes: How many values there may be altogether, containers included.
        max_string: The most characters of one text.
        max_bytes: The most bytes of the whole, as JSON; at least a few hundred.
    """

    max_depth: int = 64
    max_nodes: int = 10_000
    max_string: int = 2**20
    max_bytes: int = 4 * 2**20


encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
"""Write plain values as JSON."""

SMALLEST: Final = -(2**63)
LARGEST: Final = 2**64 - 1
"""Whole numbers between these are numbers to every reader that takes JSON seriously; all others become text."""
_MOST_BITS: Final = 14_000
"""A little less than what `sys.set_int_max_str_digits` allows by default: decimal digits cost time squared."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Put U+FFFD in place of every lone surrogate, which no encoding can write."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def cut(text: str, room: int, longest: int) -> str:
    """Shorten a text to about `room` characters, its last words saying so; never longer than `longest`."""
    said = f"… (cut, {len(text):,} characters)"
    return f"{text[: max(0, room - len(said))]}{said}"[:longest]


class Walk:
    """One walk through one value, and what is left to spend on it.

    Attributes:
        nodes: How many more values there may be.
        chars: How many more characters.
        cut: Whether anything was left out for its size.
        ran_out: Whether a container was cut short since nodes or characters ran out.
    """

    __slots__ = ("_depth", "_limits", "_node_cost", "_open", "_reserve", "chars", "cut", "nodes", "ran_out")

    def __init__(self, limits: ValueLimits, chars: int, *, node_cost: int, reserve: int) -> None:
        """Set out.

        Args:
            limits: What holds for the whole.
            chars: How many characters may be spent.
            node_cost: How many characters every value costs beside its text.
            reserve: How many nodes each container keeps back for saying that it was cut, none or one.
        """
        self._limits = limits
        self._node_cost = node_cost
        self._reserve = reserve
        self._depth = 0
        self._open: dict[int, int] = {}
        self.nodes = limits.max_nodes - 1
        self.chars = chars - node_cost
        self.cut = False
        self.ran_out = False

    def value(self, value: object) -> JsonValue:
        """Give the plain form of a value; the caller has counted it."""
        kind = type(value)
        item: Any = value
        if kind is str:
            return self.text(item)
        if item is None or kind is bool:
            return item  # type: ignore[no-any-return] # None or a bool, by the line above
        if kind is int:
            return self.integer(item)
        if kind is float:
            return self.number(item)
        try:
            return plan_of(kind)(self, value)
        except (RecursionError, MemoryError):
            raise
        except Exception:  # noqa: BLE001 - what cannot be read is named, and the rest of the value is still worth having
            return self.opaque(kind)

    @property
    def text_room(self) -> int:
        """How long a text may be here without being cut."""
        return min(self._limits.max_string, self.chars)

    # --- single values ---

    def text(self, text: str) -> str:
        """Give a text, cut to what is left and without surrogates."""
        room = self.text_room
        if len(text) > room:
            self.cut = True
            text = cut(text, room, self._limits.max_string)
        self.chars -= len(text)
        return text if text.isascii() else clean(text)

    def integer(self, number: int) -> JsonValue:
        """Give a whole number, as text where readers would lose digits of it."""
        if SMALLEST <= number <= LARGEST:
            return number
        bits = number.bit_length()
        if bits <= _MOST_BITS:
            try:
                return self.text(int.__repr__(number))
            except ValueError:  # the application allows fewer digits
                pass
        return self.instead(f"<int: {bits:,} bits>")

    def number(self, number: float) -> JsonValue:
        """Give a number, as text where JSON has none."""
        if number - number == 0.0:
            return number
        return self.text("NaN" if isnan(number) else "Infinity" if number > 0 else "-Infinity")

    def opaque(self, kind: type) -> str:
        """Name the type of what is not looked into."""
        return self.text(f"<{type_name(kind)}>")

    def instead(self, text: str) -> str:
        """Say what stood here, and that it was left out for its size."""
        self.cut = True
        return self.text(text)

    # --- containers ---

    def inside(self, value: object, inner: object) -> JsonValue:
        """Give what a value holds in place of the value itself, as of a member of an enum."""
        if is_scalar(type(inner)):
            return self.value(inner)
        refused = self._refusal(value, 1)
        if refused is not None:
            return refused
        self._enter(value)
        try:
            return self.value(inner)
        finally:
            self._leave(value, kept=True)

    def array(self, value: object, size: int, items: Iterable[object]) -> JsonValue:
        """Give a list.

        Args:
            value: What holds the items, for finding cycles.
            size: How many items there are altogether.
            items: The items, or as many of the first ones as can be spent; a copy that nobody changes meanwhile.
        """
        if not size:
            return []
        refused = self._refusal(value, size)
        if refused is not None:
            return refused
        result: list[JsonValue] = []
        whole = True
        self._enter(value)
        try:
            for item in items:
                if self.nodes <= 0 or self.chars <= 0:
                    whole = False
                    break
                self.nodes -= 1
                self.chars -= self._node_cost
                result.append(self.value(item))
            if not whole or len(result) < size:
                whole = False
                self.cut = self.ran_out = True
                result.append(f"… ({size - len(result):,} more items)")
        finally:
            self._leave(value, kept=whole)
        return result

    def mapping(self, value: object, size: int, pairs: Iterable[tuple[object, object]]) -> JsonValue:
        """Give an object.

        Args:
            value: What holds the pairs, for finding cycles.
            size: How many there are altogether.
            pairs: Keys and values, or as many of the first ones as can be spent; a copy that nobody changes meanwhile.
        """
        if not size:
            return {}
        refused = self._refusal(value, size)
        if refused is not None:
            return refused
        result: dict[str, JsonValue] = {}
        repeats: dict[str, int] = {}
        whole = True
        self._enter(value)
        try:
            for key, item in pairs:
                if self.nodes <= 0 or self.chars <= 0:
                    whole = False
                    break
                self.nodes -= 1
                self.chars -= self._node_cost
                name = self.text(key) if type(key) is str else self._key(key)
                if name in result:
                    name = self._another(name, result, repeats)
                self.chars -= self._node_cost
                result[name] = self.value(item)
            if not whole or len(result) < size:
                whole = False
                self.cut = self.ran_out = True
                name = "…" if "…" not in result else self._another("…", result, repeats)
                result[name] = f"({size - len(result):,} more)"
        finally:
            self._leave(value, kept=whole)
        return result

    def _key(self, key: object) -> str:
        plain = self.value(key)
        if isinstance(plain, str):
            return plain
        # null, true and numbers are written as JSON writes them; a tuple's parts keep their order.
        return self.text(encode(plain).decode())

    def _another(self, name: str, taken: dict[str, JsonValue], repeats: dict[str, int]) -> str:
        """Number a key that reads like one before it, such as 1 beside "1"."""
        number = repeats.get(name, 1)
        another = name
        while another in taken:
            number += 1
            said = f" ({number})"
            another = f"{name[: max(0, self._limits.max_string - len(said))]}{said}"
        repeats[name] = number
        return another

    def _refusal(self, value: object, size: int) -> str | None:
        """Say why a container is not opened; ``None`` where it is."""
        opened_at = self._open.get(id(value))
        if opened_at is not None:
            up = self._depth - opened_at
            return self.text(f"<cycle: {up} level{'s' if up != 1 else ''} up>")
        if self._depth >= self._limits.max_depth:
            return self.instead(f"<{type_name(type(value))}: {size:,} items, too deep>")
        if self.nodes < self._reserve:
            self.ran_out = True
            return self.instead(f"<{type_name(type(value))}: {size:,} items>")
        return None

    def _enter(self, value: object) -> None:
        self._open[id(value)] = self._depth
        self._depth += 1
        self.nodes -= self._reserve

    def _leave(self, value: object, *, kept: bool) -> None:
        self._depth -= 1
        del self._open[id(value)]
        if kept:
            self.nodes += self._reserve
