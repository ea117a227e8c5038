"""JSON that is not quite JSON, or not quite OTLP's, brought into the form that the fast decoder reads.

What had to be given up, or was read in another way than it was written, is told once a kind however often it occurs, so
that what is told of one text stays small whatever is in it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Final, TypeAlias

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.wire import is_64_bit

__all__ = ["SNAKE_KEYS", "Complain", "Notes", "camel_key", "read_json", "shown", "silence"]

Complain: TypeAlias = Callable[[str, str], None]
"""Takes the kind of a problem and what to say about it."""

_MAX_DEPTH: Final = 320
"""Enough for every value that is read, as `pixie_otel.traces.wire` has it, and for what is around it."""
_MOST_DIGITS: Final = 20
_SHOWN: Final = 60

_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_TOKENS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_SNAKE: Final = re.compile(r"_([a-z])")
SNAKE_KEYS: Final = frozenset(
    {
        "resource_spans",
        "resource_logs",
        "resource_metrics",
        "resource_profiles",
        "scope_spans",
        "scope_logs",
        "log_records",
        "instrumentation_library_spans",
        "instrumentation_library",
        "instrumentation_library_logs",
        "schema_url",
        "trace_id",
        "span_id",
        "parent_span_id",
        "trace_state",
        "start_time_unix_nano",
        "end_time_unix_nano",
        "time_unix_nano",
        "observed_time_unix_nano",
        "event_name",
        "dropped_attributes_count",
        "dropped_events_count",
        "dropped_links_count",
        "string_value",
        "bool_value",
        "int_value",
        "double_value",
        "array_value",
        "kvlist_value",
        "bytes_value",
    }
)
"""OTLP's keys as those write them who have them from protobuf."""


def silence(kind: str, message: str) -> None:
    """Take a complaint that is made elsewhere.

    Args:
        kind: Not used.
        message: Not used.
    """


def shown(value: JsonValue) -> str:
    """Show a value in a message, on one line and cut to fit, whatever its size.

    Args:
        value: Any JSON value.
    """
    if isinstance(value, dict):
        keys = ", ".join(shown(key) for key in list(value)[:3])
        return f"an object with {keys}{', …' if len(value) > 3 else ''}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, str) and len(value) > _SHOWN:
        return f"{value[:_SHOWN]!r}… ({len(value)} characters)"
    return repr(value) if isinstance(value, str) else json.dumps(value)


def read_json(data: bytes, complain: Complain, *, is_otlp: bool = True) -> JsonValue:
    """Read JSON that the fast decoder refused, giving up as little as possible.

    Args:
        data: The bytes of one JSON value.
        complain: Told of everything that is not read as it stood, once it is clear that the rest can be read.
        is_otlp: Whether its keys are OTLP's, and not the user's own.

    Returns:
        The value, with OTLP's snake_case keys in lowerCamelCase, and as text what has no form in JSON or in 64 bits.

    Raises:
        ValueError: It is no JSON.
        RecursionError: The caller's own stack leaves no room for it.
    """
    notes = Notes()
    text = _text(data, notes)
    try:
        value = _parsed(text, notes)
    except RecursionError:
        notes("nested-too-deep", f"what is nested more than {_MAX_DEPTH} levels deep was left out")
        value = _parsed(_pruned(text), notes)
    value = _cleaned(value, notes, is_otlp=is_otlp)
    notes.tell(complain)
    return value


class Notes:
    """Takes complaints about one text, to tell them later: the first of each kind, and how many there were."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, int]] = {}

    def __call__(self, kind: str, message: str) -> None:
        """Take a complaint."""
        first, count = self._found.get(kind, (message, 0))
        self._found[kind] = (first, count + 1)

    def tell(self, complain: Complain) -> None:
        """Tell what was found."""
        for kind, (message, count) in self._found.items():
            complain(kind, message if count == 1 else f"{message} (the first of {count})")


def _text(data: bytes, notes: Notes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = f"bytes that are no UTF-8 were replaced by U+FFFD, the first at {error.start} ({error.reason})"
        notes("invalid-utf8", message)
        return data.decode(errors="replace")


def _parsed(text: str, notes: Notes) -> JsonValue:
    found = Notes()
    try:
        value: JsonValue = _decoder(found, strict=True).decode(text)
    except json.JSONDecodeError as error:
        if not error.msg.startswith("Invalid control character"):
            raise
        found = Notes()
        value = _decoder(found, strict=False).decode(text)
        found("bad-value", "control characters stand in text without being escaped; they were kept")
    found.tell(notes)
    return value


def _decoder(notes: Notes, *, strict: bool) -> json.JSONDecoder:
    def constant(name: str) -> str:
        notes("bad-value", f"{name} is no JSON; it was read as text")
        return name

    def integer(digits: str) -> int | str:
        # Python itself refuses to read very long ones, and would take the whole text with them.
        number = int(digits) if len(digits) <= _MOST_DIGITS else None
        return digits if number is None or not is_64_bit(number) else number

    def fraction(digits: str) -> float | str:
        number = float(digits)
        return number if math.isfinite(number) else digits

    def mapping(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
        found = dict(pairs)
        if len(found) != len(pairs):
            notes("duplicate-key", "a key stands twice in one JSON object; the last value counts")
        return found

    return json.JSONDecoder(
        strict=strict, parse_constant=constant, parse_int=integer, parse_float=fraction, object_pairs_hook=mapping
    )


def _pruned(text: str) -> str:
    """Put ``null`` in the place of what is nested too deep."""
    kept: list[str] = []
    depth = start = 0
    for token in _TOKENS.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth == _MAX_DEPTH + 1:
                kept += (text[start : token.start()], "null")
        elif token[0] in "]}":
            if depth == _MAX_DEPTH + 1:
                start = token.end()
            depth -= 1
    if depth <= _MAX_DEPTH:
        kept.append(text[start:])
    return "".join(kept)


def _cleaned(document: JsonValue, notes: Notes, *, is_otlp: bool) -> JsonValue:
    """Rename keys and mend text, in place and without recursion."""
    top: list[JsonValue] = [document]
    pending: list[tuple[list[JsonValue] | dict[str, JsonValue], bool]] = [(top, is_otlp)]
    while pending:
        container, has_otlp_keys = pending.pop()
        if isinstance(container, list):
            for index, value in enumerate(container):
                if isinstance(value, str):
                    container[index] = _mended(value, notes)
                elif isinstance(value, list | dict):
                    pending.append((value, has_otlp_keys))
            continue
        pairs = list(container.items())
        container.clear()
        for name, value in pairs:
            key = camel_key(name) if has_otlp_keys and name in SNAKE_KEYS else _mended(name, notes)
            before = container.get(key)
            if isinstance(before, list) and isinstance(value, list):
                # Both ways of writing a key in one object: both lists hold records.
                before.extend(value)
                continue
            container[key] = _mended(value, notes) if isinstance(value, str) else value
            if isinstance(value, list | dict):
                # Attributes written as an object have the user's own keys, which may look like OTLP's.
                pending.append((value, has_otlp_keys and not (key == "attributes" and isinstance(value, dict))))
    return top[0]


def camel_key(key: str) -> str:
    """Give OTLP's own keys in lowerCamelCase, and any other key as it is.

    Args:
        key: A key of a JSON object.
    """
    return _SNAKE.sub(_capital, key) if key in SNAKE_KEYS else key


def _capital(match: re.Match[str]) -> str:
    return match[1].upper()


def _mended(text: str, notes: Notes) -> str:
    if text.isascii() or not _SURROGATES.search(text):
        return text
    notes("lone-surrogate", "half a surrogate pair was replaced by U+FFFD")
    return _SURROGATES.sub("\ufffd", text)
