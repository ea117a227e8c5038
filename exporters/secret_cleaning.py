"""Values without the credentials in them: by the shape of a credential, and by the name that it stands under.

What is looked at closely is only what `may_hold_credential` does not clear, at every depth, so that a span whose bytes
it clears holds nothing that would be found here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, cast

from pixie_otel.exporters.named_secrets import LEAST_TOKEN, is_credential_of_pair, named_in_text
from pixie_otel.exporters.secret_names import (
    is_credential_like,
    is_secret_name,
    is_token_name,
    may_hold_named_secret,
    stands_for_nothing,
)
from pixie_otel.secrets import find_secrets, may_hold_secret

__all__ = ["FAILED", "REDACTED", "Cleaner", "may_hold_credential"]

REDACTED: Final = "<redacted>"
"""What stands where a credential was."""
FAILED: Final = "<redaction failed>"
"""What stands where it could not be told whether a credential was there."""

_BY_NAME: Final = "by-name"
_DEEPEST: Final = 100
_LEVELS_OF_JSON: Final = 3
_KEY_BEGINS: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,20}PRIVATE KEY(?: BLOCK)?-----\s*")
_KEY_ENDS: Final = "-----END"
_KEY_LETTERS: Final = re.compile(r"[A-Za-z0-9+/=]{32}")
_LONGEST_KEY: Final = 20_000
_MOST_HEADERS: Final = 1000
_FLAG_NAME: Final = re.compile(r"--?[A-Za-z0-9_.-]{2,100}")
_SCHEMA_KEYS: Final = frozenset(
    {"$ref", "additionalProperties", "allOf", "anyOf", "description", "enum", "format", "items", "maxLength"}
    | {"minLength", "nullable", "oneOf", "pattern", "properties", "required", "title", "type"}
)
_LISTS_OF_NAMES: Final = frozenset({"enum", "required"})
_SCHEMA_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})

_Found: TypeAlias = tuple[int, int, str]
"""Where a credential is in a text, and what kind it is."""


def may_hold_credential(data: bytes) -> bool:
    """Say quickly whether text, or JSON that holds it, may hold what `Cleaner` would take out."""
    return may_hold_secret(data) or may_hold_named_secret(data)


class Cleaner:
    """Takes credentials out of values; what holds none comes back as the same object.

    Args:
        tell: Told of each credential that is found: what kind it is, and the credential itself.
        names: Whether what stands under the name of a credential is one; else only its shape counts.
    """

    def __init__(self, tell: Callable[[str, str], None] | None = None, *, names: bool = True) -> None:
        self._tell = tell
        self._names = names

    def value(self, name: str, value: object, depth: int = _DEEPEST, *, json_levels: int = _LEVELS_OF_JSON) -> object:
        """Clean a value.

        Args:
            name: What it is called: an attribute's key, an object's.
            value: A text, a number, bytes, or a sequence or mapping of such values.
            depth: How deep it may be nested; what is deeper is taken out.
            json_levels: How often JSON within JSON is looked into.
        """
        named = self._names and is_secret_name(name)
        if isinstance(value, str):
            is_secret = named or (self._names and is_token_name(name) and is_credential_like(value, LEAST_TOKEN))
            return self._hidden(value) if is_secret else self.text(value, json_levels)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return self._hidden(str(value)) if named else value
        if isinstance(value, bytes):
            return self._bytes(name, value)
        if depth <= 0:
            return FAILED
        if isinstance(value, Mapping):
            return self._mapping(name if named else "", cast("Mapping[object, object]", value), depth, json_levels)
        if isinstance(value, Sequence):
            return self._sequence(name, cast("Sequence[object]", value), depth, json_levels)
        return value

    def text(self, text: str, json_levels: int = _LEVELS_OF_JSON) -> str:
        """Clean a text, and the JSON that it may be; JSON stays JSON.

        Args:
            text: The text.
            json_levels: How often JSON within JSON is looked into.
        """
        if not may_hold_credential(text.encode("utf-8", "surrogatepass")):
            return text
        if json_levels and text.lstrip()[:1] in {"{", "[", '"'}:
            try:
                parsed: object = json.loads(text, object_pairs_hook=_object, parse_float=_finite)
            except RecursionError:
                return FAILED
            except ValueError:
                # It is none, or is cut off, or holds what Python's own objects cannot.
                pass
            else:
                cleaned = self.value("", parsed, json_levels=json_levels - 1)
                if cleaned is parsed:
                    return text
                separators = (", ", ": ") if '": ' in text else (",", ":")
                return json.dumps(cleaned, ensure_ascii=False, separators=separators)
        return self._plain_text(text)

    def _plain_text(self, text: str) -> str:
        found = [
            (match.start, _unescaped_end(text, match.start, match.end), match.pattern) for match in find_secrets(text)
        ]
        found += _key_blocks(text)
        if self._names:
            found += ((start, end, "") for start, end in named_in_text(text))
        pieces: list[str] = []
        taken = 0
        for start, end, kind in _apart(found):
            if self._tell is not None:
                self._tell(kind or _BY_NAME, text[start:end])
            pieces += text[taken:start], f"<redacted: {kind}>" if kind else REDACTED
            taken = end
        return "".join((*pieces, text[taken:])) if pieces else text

    def _hidden(self, value: str) -> str:
        if stands_for_nothing(value):
            return value
        if self._tell is not None:
            secrets = find_secrets(value)
            kind, secret = _BY_NAME, value
            if secrets:
                kind, secret = secrets[0].pattern, value[secrets[0].start : secrets[0].end]
            self._tell(kind, secret)
        return REDACTED

    def _bytes(self, name: str, value: bytes) -> bytes:
        text = value.decode("utf-8", "surrogateescape")
        cleaned = cast("str", self.value(name, text))
        return value if cleaned is text else cleaned.encode("utf-8", "surrogateescape")

    def _mapping(
        self, name: str, values: Mapping[object, object], depth: int, json_levels: int, *, is_schema: bool = False
    ) -> object:
        """Clean an object; under the name of a credential all texts in it are, unless it only describes one."""
        if depth <= 0:
            return FAILED
        described = _SCHEMA_KEYS if name and (is_schema or _is_schema(values)) else frozenset[str]()
        told = next((values[key] for key in ("name", "key", "Name", "Key") if key in values), None)
        changed = False
        cleaned: dict[object, object] = {}
        for key, value in values.items():
            inner = key if isinstance(key, str) else ""
            if name and not is_secret_name(inner):
                inner = "" if inner in described else name
            elif inner in {"value", "Value"} and isinstance(told, str):
                # Headers and variables often come as a list of names and values.
                inner = told
            new_key = self.text(key) if isinstance(key, str) else key
            if key == "properties" and isinstance(value, Mapping):
                new = self._properties(cast("Mapping[object, object]", value), depth - 1, json_levels)
            else:
                new = self.value(inner, value, depth - 1, json_levels=json_levels)
            changed = changed or new is not value or new_key is not key
            cleaned[new_key] = new
        return cleaned if changed else values

    def _properties(self, values: Mapping[object, object], depth: int, json_levels: int) -> object:
        """Clean what stands under ``properties``: there, a schema has names with objects that describe them."""
        changed = False
        cleaned: dict[object, object] = {}
        for key, value in values.items():
            name = key if isinstance(key, str) else ""
            if isinstance(value, Mapping):
                known = name if self._names and is_secret_name(name) else ""
                described = cast("Mapping[object, object]", value)
                new = self._mapping(known, described, depth - 1, json_levels, is_schema=True)
            else:
                new = self.value(name, value, depth - 1, json_levels=json_levels)
            new_key = self.text(name) if name else key
            changed = changed or new is not value or new_key is not key
            cleaned[new_key] = new
        return cleaned if changed else values

    def _sequence(self, name: str, values: Sequence[object], depth: int, json_levels: int) -> object:
        cleaned: list[object] = []
        changed = in_key = False
        before: object = None
        is_pair = len(values) == 2 and name not in _LISTS_OF_NAMES
        for value in values:
            if in_key and isinstance(value, str):
                in_key = _KEY_ENDS not in value
                new: object = self._hidden(value) if in_key else value
            else:
                announced = self._announced(before, value, is_pair=is_pair)
                new = self.value(announced or name, value, depth - 1, json_levels=json_levels)
                in_key = isinstance(value, str) and _KEY_BEGINS.fullmatch(value) is not None
            changed = changed or new is not value
            cleaned.append(new)
            before = value
        if not changed:
            return values
        return tuple(cleaned) if isinstance(values, tuple) else cleaned

    def _announced(self, before: object, value: object, *, is_pair: bool) -> str:
        """Give the name under which an item stands if the one before it is that name: a flag's, a header's."""
        if not isinstance(before, str) or not self._names:
            return ""
        if _FLAG_NAME.fullmatch(before) is not None:
            return before
        name = before.rstrip(" :=")
        if not isinstance(value, str) or not (is_pair or name != before) or not is_secret_name(name):
            return ""
        return name if is_credential_of_pair(value) else ""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("no double can hold it")
    return number


def _is_schema(values: Mapping[object, object]) -> bool:
    """Say whether an object describes a value, as the parameters of a tool are described."""
    kind = values.get("type")
    if isinstance(kind, str):
        return kind in _SCHEMA_TYPES
    return isinstance(kind, list | tuple) or any(key in values for key in ("$ref", "anyOf", "oneOf", "allOf"))


def _unescaped_end(text: str, start: int, end: int) -> int:
    """Leave a backslash at the end where it is: it may belong to what follows."""
    while end > start and text[end - 1] == "\\":
        end -= 1
    return end


def _key_blocks(text: str) -> Iterator[_Found]:
    """Find private keys that are not of the shape of a key alone: with headers, PGP's, cut off."""
    taken = 0
    for begins in _KEY_BEGINS.finditer(text):
        if begins.start() < taken:
            continue
        start = begins.end()
        end = text.find(_KEY_ENDS, start, start + _LONGEST_KEY)
        end = min(len(text), start + _LONGEST_KEY) if end < 0 else end
        if _KEY_LETTERS.search(text, start, min(end, start + _MOST_HEADERS)) is not None:
            taken = end
            yield start, end, "private-key"


def _apart(found: list[_Found]) -> list[_Found]:
    """Join what overlaps, so that nothing of any of it stays."""
    joined: list[_Found] = []
    for start, end, kind in sorted(found):
        if joined and start < joined[-1][1]:
            before = joined[-1]
            joined[-1] = before[0], max(before[1], end), before[2] or kind
        else:
            joined.append((start, end, kind))
    return joined
