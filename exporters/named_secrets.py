"""Credentials in text that is no JSON as a whole, by the names that announce them: settings, code, commands, headers.

Where a quote follows the name and another one begins the value, everything in quotes is one. What stands without quotes
must look like a credential, as text also speaks of passwords; on a line of settings it need not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pixie_otel.exporters.secret_names import (
    NAME_ENDS,
    NAMED,
    STEMS,
    is_credential_like,
    is_harmless_token,
    stands_for_nothing,
)

__all__ = ["LEAST_TOKEN", "is_credential_of_pair", "named_in_text"]

LEAST_TOKEN: Final = 16
"""How long a token is at least, where only its looks tell that it is one."""

_LEAST_QUOTED: Final = 4
_LEAST_WORD: Final = 8
_LONGEST_NAME: Final = 100
_NAME_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_NAME: Final = re.compile(rf"[A-Za-z0-9_.-]{{0,{_LONGEST_NAME}}}?{NAMED}{NAME_ENDS}", re.ASCII)

_BLANK: Final = r"(?:[ \t]|\\{1,4}t){0,20}"
_LINES: Final = r"(?:\s|\\{1,4}[nrt]){0,20}"
_OPEN: Final = r"""(?P<open>\\{0,15}(?:\"{3}|'{3}|["'`]))"""
_SIGN: Final = r"(?:=>|:=|={1,3}|:)"
_AFTER_QUOTE: Final = re.compile(
    rf"""(?P<escape>\\{{0,15}})["'`]\]?{_LINES}(?P<sign>{_SIGN}|,|value=){_LINES}[\[(]?{_LINES}[bruf]{{0,2}}"""
    rf"""(?:{_OPEN}|(?P<number>[0-9.-]{{3,}}))"""
)
_AFTER_SIGN: Final = re.compile(
    rf"[*`]{{0,3}}{_BLANK}"
    rf"(?P<sign>{_SIGN}(?: ?[A-Za-z_.\[\]|]{{2,40}} ?=(?= ?[bruf]{{0,2}}[\"'`]))?|%3[ADad]|is(?= )| provided:"
    rf"|{_LINES}value:)"
    rf"\*{{0,2}}{_LINES}(?:[bruf]{{0,2}}{_OPEN})?"
)
_AFTER_BLANK: Final = re.compile(rf"[ \t]{{1,4}}(?P<by>(?i:by) )?{_OPEN}")
_LIST_OF_NAMES: Final = re.compile(r"""(?:enum|required)\\{0,15}["']?\s{0,4}[:=]\s{0,4}\Z""")
_ELEMENT: Final = re.compile(r">(?P<value>[^<>\n]{1,8000})<")
_SCHEME: Final = re.compile(
    r"""(?:Basic|Bearer|Digest|Token|ApiKey|Negotiate|AWS4-HMAC-SHA256) {1,3}[^\n"'\\]{4,4000}""", re.IGNORECASE
)
_COOKIES: Final = re.compile(r"""[^\s=;"'\\]{1,200}=[^\n"'\\]{1,8000}""")
_HEADERS: Final = {"authorization": _SCHEME, "cookie": _COOKIES}
_WORD: Final = re.compile(r"""[^\s"'&<>,;\\)\]}`]{1,500}""")
_REST_OF_WORD: Final = re.compile(r"""[^\s"'&<>,;\\)\]}`]{0,8000}""")
_LINE_START: Final = re.compile(r"(?:.*\n)?[ \t]*(?:(?:export|set|setx|ENV|ARG|[-#$>*]) +)?", re.DOTALL)
_LINE: Final = re.compile(r"""(?P<value>[^\s"'`\\]{3,8000})[ \t\r;]*(?:\n|\Z)""")
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_SAYS_NOTHING: Final = re.compile(
    r"""(?i)\$.*|.*[()\[\]{}<>].*|(?:any|bool|bytes|changed|disabled|empty|enabled|expired|expected|hidden|incorrect|int|invalid"""
    r"""|missing|no|off|on|optional|required|reset|secretstr|self\..*|str|string|text|unset|varchar.*|wrong|yes)[,.;:!?]?"""
)
_SIGNED: Final = re.compile(
    r"""(?i:(?:[?&]|u0026)(?:key|sig|auth)|signature)=(?P<value>[^\s&"'#<>\\]{16,4000})""", re.ASCII
)
_CURL: Final = "curl"
_CURL_FLAG: Final = re.compile(
    r"""\s(?:(?:-u|--user)[ =]["']?[^\s:"'\\]{1,200}:|-b ?["']?[^\s=;"'\\]{1,200}=)(?P<value>[^\s"'\\]{1,4000})"""
)
_LONGEST_COMMAND: Final = 500


def named_in_text(text: str) -> Iterator[tuple[int, int]]:
    """Find what stands behind names of credentials.

    Args:
        text: Any text.

    Yields:
        Where each credential begins and ends, in no order.
    """
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
            yield found
    for match in _SIGNED.finditer(text):
        if is_credential_like(match["value"], LEAST_TOKEN):
            yield match.span("value")
    for match in _CURL_FLAG.finditer(text) if _CURL in text else ():
        # Other commands mean something else by these flags.
        if _CURL in text[max(0, match.start() - _LONGEST_COMMAND) : match.start()]:
            yield match.span("value")


def is_credential_of_pair(value: str) -> bool:
    """Say whether a text that comes after a name in a list of two is a credential, and not just another name."""
    return is_credential_like(value) or _SCHEME.fullmatch(value) is not None


def _name_start(text: str, end: int, least: int) -> int:
    least = max(least, end - _LONGEST_NAME)
    while end > least and text[end - 1] in _NAME_LETTERS:
        end -= 1
    return end


def _value_after(text: str, name: re.Match[str]) -> tuple[int, int] | None:
    """Give where the credential is that a name announces; ``None`` where none comes."""
    least = 0 if name["token"] is None else LEAST_TOKEN
    if (quoted := _AFTER_QUOTE.match(text, name.end())) is not None:
        return _after_quote(text, name, quoted, least)
    sign = _AFTER_SIGN.match(text, name.end())
    if sign is not None:
        return _after_sign(text, name, sign, least)
    if text[name.start() - 1 : name.start()] == "<" and (element := _ELEMENT.match(text, name.end())) is not None:
        return _real(text, *element.span("value"), least)
    is_flag = name[0].startswith("--")
    # `--password "…"`, and SQL's `PASSWORD '…'`
    if (opened := _AFTER_BLANK.match(text, name.end())) is not None:
        return _quoted(text, opened, least or (0 if is_flag else 6))
    if not is_flag or text[name.end()] != " ":
        return None
    word = _WORD.match(text, name.end() + 1)
    return None if word is None or word[0].startswith("-") else _real_word(text, word, least)


def _after_quote(text: str, name: re.Match[str], quoted: re.Match[str], least: int) -> tuple[int, int] | None:
    """Find the value where the name stands in quotes, as in a mapping, a pair or an element's attribute."""
    if quoted["open"] is None:
        return None if least or quoted["sign"] == "," else quoted.span("number")
    end = _closing(text, quoted["open"], quoted.end())
    if quoted["sign"] == ",":
        before, after = name.start() - 1 - len(quoted["escape"]), end + len(quoted["open"])
        before -= text[before - 1 : before] in {"b", "r", "u"}
        is_pair = text[before - 1 : before] in {"(", "["} and text[after : after + 1] in {")", "]"}
        if not is_pair or not is_credential_of_pair(text[quoted.end() : end]):
            return None
        if _LIST_OF_NAMES.search(text, max(0, before - 40), before - 1) is not None:
            return None
    return _real(text, quoted.end(), end, least)


def _after_sign(text: str, name: re.Match[str], sign: re.Match[str], least: int) -> tuple[int, int] | None:
    """Find the value where a sign follows the name at once, as in settings, code, headers and queries."""
    if sign["open"] is not None:
        # Behind the head of a class or a function comes what it is about.
        is_docstring = len(sign["open"]) == 3 and sign["sign"] == ":" and "\n" in sign[0]
        return None if is_docstring else _quoted(text, sign, least)
    is_header = sign["sign"][0] == ":"
    form = next((form for part, form in _HEADERS.items() if part in name[0].lower()), None) if is_header else None
    if form is not None and (header := form.match(text, sign.end())) is not None:
        return header.span()
    if not least and (line := _on_line(text, name, sign)) is not None:
        return line
    word = _WORD.match(text, sign.end())
    if word is None:
        return None
    in_query = sign["sign"] == "=" and (name[0].startswith("--") or text[name.start() - 1 : name.start()] in {"?", "&"})
    return _real_word(text, word, least or (0 if in_query else _LEAST_WORD))


def _on_line(text: str, name: re.Match[str], sign: re.Match[str]) -> tuple[int, int] | None:
    """Find the value of a setting that has a line of its own: it may be any word that says something."""
    start = name.start()
    if sign["sign"] not in {"=", ":"} or _LINE_START.fullmatch(text, max(0, start - 60), start) is None:
        return None
    line = _LINE.match(text, sign.end())
    if line is None:
        return None
    is_variable = sign[0] == "=" and _VARIABLE.fullmatch(name[0]) is not None
    value = line["value"].rstrip(",")
    if stands_for_nothing(value) or value[0] == "$":
        return None
    # In code, a variable of a like name is what comes.
    if not is_variable and (_SAYS_NOTHING.fullmatch(value) is not None or STEMS.search(value) is not None):
        return None
    return line.span("value")


def _quoted(text: str, opened: re.Match[str], least: int) -> tuple[int, int] | None:
    end = _closing(text, opened["open"], opened.end())
    if not least and end - opened.end() < _LEAST_QUOTED:
        return None
    return _real(text, opened.end(), end, least)


def _real_word(text: str, word: re.Match[str], least: int) -> tuple[int, int] | None:
    """Give a word's place back if it is a credential, as its first letters tell; all of it is then one."""
    if _real(text, *word.span(), least) is None:
        return None
    rest = _REST_OF_WORD.match(text, word.end())
    return word.start(), word.end() if rest is None else rest.end()


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
