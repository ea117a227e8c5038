"""Reading selectors as people type them.

    selector  = step, { (">" | ">>"), step }
    step      = [position], term, { term }, { ("under" | "above"), operand }
    operand   = [position], term, { term }
    position  = "first" | "last" | "each" | "nth(" number ")"
    term      = ["!" | "not"], (name | field ":" value | "attr:" key [operator value] | "(" selector ")")

What people get wrong is said with the place where it is.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final, Literal

from pixie_otel.errors import ConfigError
from pixie_otel.traces.conditions import attribute_test
from pixie_otel.traces.selector_steps import (
    FIELDS,
    NAMED,
    Attribute,
    Chain,
    Combinator,
    Field,
    Named,
    Nested,
    Relation,
    Step,
    Term,
    Test,
)

__all__ = ["field_test", "parse_chain"]

_ATTRIBUTE: Final = "attr"
_POSITIONS: Final = {"first": 1, "last": -1, "each": None}
_RELATIONS: Final = ("under", "above")
_WORDS: Final = (*NAMED, *_POSITIONS, *_RELATIONS, "not")
_PREFIXES: Final = tuple(f"{field}:" for field in (*FIELDS, _ATTRIBUTE))
_PREFIX: Final = re.compile(r"([A-Za-z_]+):")
_WORD: Final = re.compile(r"[^\s()!>:]+")
_PLAIN_WORD: Final = re.compile(r"[^\s()>'\"]+")
_NAME: Final = re.compile(r"[=~<>]")
_NTH: Final = re.compile(r"nth\(\s*([+-]?[0-9]{1,9})\s*\)")
_OPERATOR: Final = re.compile(r"!=|!~|>=|<=|==|=|~|>|<")
_KEY_END: Final = re.compile(r"[=~<>!\s()]")
_FREE_WORD: Final = r"(?:[^\s()]|\([^\s()]*\))+"
_FREE: Final = re.compile(_FREE_WORD)
_FREE_WORDS: Final = re.compile(
    # Names of spans have spaces, as in name:chat gpt-4o, up to what can only be a selector's.
    rf"{_FREE_WORD}(?:\s+(?![!>'\"(]|(?:{'|'.join(_WORDS)}|nth)(?![^\s()!>])|[A-Za-z_]+:(?!//)){_FREE_WORD})*"
)
_FURTHER: Final = re.compile(r"(?<=\s)\S+")
_CROWDED: Final = re.compile(rf">{{1,2}}(?=$|\s|{'|'.join((*_PREFIXES, *NAMED))})")
_MOST_NESTED: Final = 32
_SHOWN: Final = 60
_TERM: Final = "a term, as root, kind:llm or tool:search*"
_USAGE: Final = """\
a selector is terms that must all hold, as in kind:llm !name:*summary*; they are
  root, last_llm_call, llm_calls, name:GLOB, kind:KIND, tool:GLOB, agent:GLOB,
  wrap:GLOB, model:GLOB, status:error, attr:KEY=VALUE; with ! the opposite
first, last or nth(2) before them takes one; after them under … or above …
A > B is a B directly below an A, A >> B anywhere below; quotes keep spaces"""


def parse_chain(text: str) -> Chain:
    """Read a selector.

    Args:
        text: The selector as typed.

    Raises:
        ConfigError: It is none; the message shows where.
    """
    return _Parser(text).whole()


def field_test(field: str, pattern: str) -> Field:
    """Make the test of a field.

    Args:
        field: One of `FIELDS`.
        pattern: A glob; for kinds and status, a word.

    Raises:
        ConfigError: There is no such field, or it takes other words.
    """
    if field not in FIELDS:
        raise ConfigError(f"{field} is no field{_hint(field, FIELDS)}; there are {', '.join(FIELDS)}")
    if not pattern:
        raise ConfigError(f"{field}: needs a value")
    words = FIELDS[field].words
    if words and (pattern := pattern.lower()) not in words:
        raise ConfigError(f"{pattern!r} is no {field}{_hint(pattern, words)}; there are {', '.join(words)}")
    return Field(field, pattern)


class _Parser:
    """Reads one selector from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._open = 0

    def whole(self) -> Chain:
        chain = self._chain()
        if self._next():
            raise self._wrong(self._at, "there is no ( that this ) closes")
        return chain

    def _chain(self) -> Chain:
        steps, combinators = [self._step()], list[Combinator]()
        while self._next() == ">":
            combinator: Combinator = ">>" if self._text.startswith(">>", self._at) else ">"
            self._at += len(combinator)
            combinators.append(combinator)
            steps.append(self._step())
        return Chain(tuple(steps), tuple(combinators))

    def _step(self) -> Step:
        position, terms = self._located_terms()
        relations: list[Relation] = []
        while word := self._relation():
            self._at += len(word)
            inner_position, inner = self._located_terms()
            relations.append(Relation(word, Step(inner, position=inner_position)))
        return Step(terms, tuple(relations), position)

    def _relation(self) -> Literal["under", "above"] | None:
        word = self._word()
        return "under" if word == "under" else "above" if word == "above" else None

    def _located_terms(self) -> tuple[int | None, tuple[Term, ...]]:
        position = self._position()
        terms: list[Term] = []
        while (sign := self._next()) and sign not in ")>" and self._relation() is None:
            terms.append(self._term())
        if not terms:
            raise self._wrong(self._at, f"expected {_TERM}")
        return position, tuple(terms)

    def _position(self) -> int | None:
        word = self._word()
        if word in _POSITIONS:
            self._at += len(word)
            return _POSITIONS[word]
        if word != "nth":
            return None
        found = _NTH.match(self._text, self._at)
        if found is None or not int(found[1]):
            raise self._wrong(self._at, "nth takes a number from 1, or from -1 backwards, as in nth(2)")
        self._at = found.end()
        return int(found[1])

    def _term(self) -> Term:
        negated = False
        while True:
            if self._next() == "!":
                self._at += 1
            elif self._word() == "not":
                self._at += len("not")
            else:
                return Term(self._test(), negated)
            negated = not negated

    def _test(self) -> Test:
        if self._next() == "(":
            return self._nested()
        begin, found = self._at, _PREFIX.match(self._text, self._at)
        if found is not None:
            return self._of_field(begin, found[1], found.end())
        word = self._word()
        if word in NAMED:
            self._at += len(word)
            return Named(word)
        if word in {*_POSITIONS, "nth"}:
            raise self._wrong(
                begin, f"{word} stands before all terms of its step; a value that has this word needs quotes"
            )
        if not word:
            raise self._wrong(begin, f"expected {_TERM}")
        # Whoever knows --where writes kind=llm.
        raise self._wrong(begin, f"{_cut(word)!r} is no term{_hint(_NAME.split(word)[0], (*_PREFIXES, *_WORDS))}")

    def _nested(self) -> Nested:
        begin = self._at
        self._open += 1
        if self._open > _MOST_NESTED:
            raise self._wrong(begin, f"parentheses are nested deeper than {_MOST_NESTED}")
        self._at += 1
        chain = self._chain()
        if self._next() != ")":
            raise self._wrong(self._at, f"expected the ) that closes the ( at {begin + 1}, or another term")
        self._at += 1
        self._open -= 1
        return Nested(chain)

    def _of_field(self, begin: int, field: str, value_at: int) -> Test:
        if field != _ATTRIBUTE and field not in FIELDS:
            raise self._wrong(begin, f"{_cut(field)}: is no field{_hint(field, (*FIELDS, _ATTRIBUTE), colon=True)}")
        self._at = value_at
        if field == _ATTRIBUTE:
            return self._attribute()
        is_free = not FIELDS[field].words
        word = None if is_free else _PLAIN_WORD.match(self._text, value_at)
        if word is None:
            value = self._value(f"{field}:", _FREE_WORDS)
        else:
            value, self._at = word[0], word.end()
        try:
            return field_test(field, value)
        except ConfigError as error:
            raise self._wrong(value_at, str(error)) from None

    def _attribute(self) -> Attribute:
        if self._text[self._at : self._at + 1] in {'"', "'"}:
            key = self._in_quotes()
        else:
            ends = _KEY_END.search(self._text, self._at)
            end = len(self._text) if ends is None else ends.start()
            key, self._at = self._text[self._at : end], end
        if not key:
            raise self._wrong(self._at, "expected the key of an attribute, as in attr:user.plan=pro")
        operator = _OPERATOR.match(self._text, self._at)
        if operator is None:
            self._end_value()
            return Attribute(key)
        self._at = operator.end()
        value = self._value(f"attr:{_cut(key)}{operator[0]}", _FREE)
        found = Attribute(key, operator[0].replace("==", "="), value)
        try:
            attribute_test(found.operator.removeprefix("!"), value)
        except ConfigError as error:
            raise self._wrong(operator.end(), str(error)) from None
        return found

    def _value(self, after: str, bare: re.Pattern[str]) -> str:
        begin = self._at
        if self._text[begin : begin + 1] in {'"', "'"}:
            value = self._in_quotes()
            self._end_value()
            return value
        found = bare.match(self._text, begin)
        if found is None:
            raise self._wrong(begin, f"expected a value right after {after}")
        value, self._at = found[0], found.end()
        self._end_value()
        if crowded := _CROWDED.search(value):
            raise self._wrong(begin + crowded.start(), "> needs a space before it, or the whole value quotes")
        for word in _FURTHER.finditer(value):
            # A name may have any words, but one that is nearly a selector's is more likely a mistake.
            if close := difflib.get_close_matches(word[0], _WORDS, 1, 0.8):
                why = f"{_cut(word[0])!r} is no word of a selector (did you mean {close[0]}?)"
                raise self._wrong(begin + word.start(), f"{why}; a value that has it needs quotes")
        return value

    def _in_quotes(self) -> str:
        begin, quote = self._at, self._text[self._at]
        found: list[str] = []
        at = begin + 1
        while at < len(self._text):
            sign = self._text[at]
            if sign == quote:
                self._at = at + 1
                if not found:
                    raise self._wrong(begin, "expected something between the quotes")
                return "".join(found)
            if sign == "\\" and self._text[at + 1 : at + 2] in {"\\", quote}:
                at += 1
                sign = self._text[at]
            found.append(sign)
            at += 1
        raise self._wrong(begin, f"expected another {quote} that ends the value")

    def _end_value(self) -> None:
        sign = self._text[self._at : self._at + 1]
        if sign and not sign.isspace() and sign != ")":
            raise self._wrong(self._at, "expected a space, or quotes around all of the value")

    def _next(self) -> str:
        """Pass over spaces, and give the next sign; nothing at the end."""
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _word(self) -> str:
        """Give the word that comes next, without passing over it; nothing where a sign or a field comes."""
        self._next()
        found = _WORD.match(self._text, self._at)
        if found is None or self._text[found.end() : found.end() + 1] == ":":
            return ""
        return found[0]

    def _wrong(self, at: int, why: str) -> ConfigError:
        begin = max(0, at - _SHOWN // 2)
        shown = self._text[begin : begin + _SHOWN]
        # One sign for each, so that the mark stands below the right one.
        plain = "".join(sign if sign.isprintable() else " " for sign in shown)
        raise ConfigError(f"unknown selector {_cut(self._text)!r}: {why}\n  {plain}\n  {' ' * (at - begin)}^\n{_USAGE}")


def _hint(word: str, known: Iterable[str], *, colon: bool = False) -> str:
    close = difflib.get_close_matches(word.lower(), list(known), 1)
    return f" (did you mean {close[0]}{':' if colon else ''}?)" if close else ""


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
