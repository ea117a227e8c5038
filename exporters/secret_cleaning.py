"""Values without the credentials in them: by the shape of a credential, and by the name that it stands under.

What is looked at closely is only what `may_hold_credential` does not clear, at every depth, so that a span whose bytes
it clears holds nothing that would be found here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, cast

from pixie_otel.exporters.secret_names import (
    NAME_ENDS,
    NAMED,
    STEMS,
    is_credential_like,
    is_harmless_token,
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
_LEAST_TOKEN: Final = 16
_NAME_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_LONGEST_NAME: Final = 100
_NAME: Final = re.compile(rf"[A-Za-z0-9_.-]{{0,{_LONGEST_NAME}}}?{NAMED}{NAME_ENDS}", re.ASCII)
_AFTER_QUOTE: Final = re.compile(
    r"""(?P<escape>\\{0,15})["']\s{0,4}:\s{0,4}[\[(]?\s{0,4}[bru]?(?:(?P<open>(?P=escape)["'])|(?P<number>[0-9.-]{3,}))"""
)
_AFTER_SIGN: Final = re.compile(r""" {0,2}[:=] {0,3}(?P<open>\\{0,15}["'])?""")
_SCHEME: Final = re.compile(
    r"""(?:Basic|Bearer|Digest|Token|ApiKey|Negotiate|AWS4-HMAC-SHA256) {1,3}[^\n"'\\]{4,4000}""", re.IGNORECASE
)
_COOKIES: Final = re.compile(r"""[^\s=;"'\\]{1,200}=[^\n"'\\]{1,8000}""")
_HEADERS: Final = {"authorization": _SCHEME, "cookie": _COOKIES}
_WORD: Final = re.compile(r"""[^\s"'&<>,;\\)\]}`]{1,8000}""")
_SIGNED: Final = re.compile(r"""(?i:[?&](?:key|sig|auth)|signature)=(?P<value>[^\s&"'#<>\\]{16,4000})""", re.ASCII)
_FLAG_NAME: Final = re.compile(r"--?[A-Za-z0-9_.-]{2,100}")
_SCHEMA_KEYS: Final = frozenset(
    {"$ref", "additionalProperties", "allOf", "anyOf", "description", "enum", "format", "items", "maxLength"}
    | {"minLength", "nullable", "oneOf", "pattern", "properties", "required", "title", "type"}
)
_SCHEMA_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})

Found = tuple[int, int, str]
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
            is_secret = named or (self._names and is_token_name(name) and is_credential_like(value, _LEAST_TOKEN))
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
        if self._names:
            found += _named(text)
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

    def _mapping(self, name: str, values: Mapping[object, object], depth: int, json_levels: int) -> object:
        """Clean an object; under the name of a credential all texts in it are, unless it only describes one."""
        described = _SCHEMA_KEYS if name and _is_schema(values) else frozenset[str]()
        told = values.get("name", values.get("key"))
        changed = False
        cleaned: dict[object, object] = {}
        for key, value in values.items():
            inner = key if isinstance(key, str) else ""
            if name and not is_secret_name(inner):
                inner = "" if inner in described else name
            elif inner == "value" and isinstance(told, str):
                # Headers and variables often come as a list of names and values.
                inner = told
            new_key = self.text(key) if isinstance(key, str) else key
            new = self.value(inner, value, depth - 1, json_levels=json_levels)
            changed = changed or new is not value or new_key is not key
            cleaned[new_key] = new
        return cleaned if changed else values

    def _sequence(self, name: str, values: Sequence[object], depth: int, json_levels: int) -> object:
        cleaned: list[object] = []
        changed = False
        flag = ""
        for value in values:
            new = self.value(flag or name, value, depth - 1, json_levels=json_levels)
            changed = changed or new is not value
            cleaned.append(new)
            # The value of a command's flag is often the next argument.
            flag = value if isinstance(value, str) and _FLAG_NAME.fullmatch(value) is not None else ""
        if not changed:
            return values
        return tuple(cleaned) if isinstance(values, tuple) else cleaned


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


def _apart(found: list[Found]) -> list[Found]:
    """Join what overlaps, so that nothing of any of it stays."""
    joined: list[Found] = []
    for start, end, kind in sorted(found):
        if joined and start < joined[-1][1]:
            before = joined[-1]
            joined[-1] = before[0], max(before[1], end), before[2] or kind
        else:
            joined.append((start, end, kind))
    return joined


def _named(text: str) -> Iterator[Found]:
    """Find what stands behind names of credentials in a text that is no JSON as a whole."""
    taken = 0
    for stem in STEMS.finditer(text):
        if stem.start() < taken:
            continue
        start = _name_start(text, stem.start(), taken)
        name = _NAME.match(text, start)
        if (name is None or name.end() < stem.end()) and text[start - 1 : start] == " ":
            # It may be of two words, as in `API Key`.
            name = _NAME.match(text, _name_start(text, start - 1, taken))
        if name is None or name.end() < stem.end():
            continue
        if name["token"] is not None and is_harmless_token(name[0]):
            continue
        found = _value_after(text, name)
        if found is not None:
            taken = found[1]
            yield *found, ""
    for match in _SIGNED.finditer(text):
        if is_credential_like(match["value"], _LEAST_TOKEN):
            yield *match.span("value"), ""


def _name_start(text: str, end: int, least: int) -> int:
    least = max(least, end - _LONGEST_NAME)
    while end > least and text[end - 1] in _NAME_LETTERS:
        end -= 1
    return end


def _value_after(text: str, name: re.Match[str]) -> tuple[int, int] | None:
    """Give where the credential is that a name announces; ``None`` where none comes."""
    least = 0 if name["token"] is None else _LEAST_TOKEN
    quoted = _AFTER_QUOTE.match(text, name.end())
    if quoted is not None:
        if quoted["open"] is None:
            return None if least else quoted.span("number")
        return _real(text, quoted.end(), _closing(text, quoted["open"], quoted.end()), least)
    is_flag = name[0].startswith("--")
    sign = _AFTER_SIGN.match(text, name.end())
    if sign is None:
        if not is_flag or text[name.end()] != " ":
            return None
        word = _WORD.match(text, name.end() + 1)
        return None if word is None or word[0].startswith("-") else _real(text, *word.span(), least)
    if sign["open"] is not None:
        return _real(text, sign.end(), _closing(text, sign["open"], sign.end()), least or 6)
    is_header = ":" in sign[0]
    form = next((form for part, form in _HEADERS.items() if part in name[0].lower()), None) if is_header else None
    if form is not None and (header := form.match(text, sign.end())) is not None:
        return header.span()
    word = _WORD.match(text, sign.end())
    if word is None:
        return None
    in_query = not is_header and (is_flag or text[name.start() - 1 : name.start()] in {"?", "&"})
    return _real(text, *word.span(), least or (0 if in_query else 8))


def _real(text: str, start: int, end: int, least: int) -> tuple[int, int] | None:
    """Give a place back if a credential is there; with a least length, it must also look like one."""
    value = text[start:end]
    if stands_for_nothing(value) or (least and not is_credential_like(value, least)):
        return None
    return start, end


def _closing(text: str, quote: str, start: int) -> int:
    """Find the quote that ends a text within text, however often it is escaped; the end where it is cut off."""
    at = text.find(quote, start)
    while at >= 0:
        before = at
        while before > start and text[before - 1] == "\\":
            before -= 1
        extra = at - before
        if not extra or (len(quote) == 1 and extra % 2 == 0):
            return at
        at = text.find(quote, at + 1)
    return len(text)
