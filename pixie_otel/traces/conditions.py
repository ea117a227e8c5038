"""Conditions on a trace, as people type them: ``status=error``, ``name~*search*``, ``attr.user.plan=pro``.

A condition names a field, an operator and a value. What a trace has many of - names, kinds, models, attributes - needs
one that fits; ``!=`` and ``!~`` are always the opposite of ``=`` and ``~``, so that ``kind!=llm`` means "no LLM span at
all". A trace's status is ``error`` when any of its spans failed. Attributes are looked for on spans and their
resources; of a list, one item must fit. A number that was not recorded fits no comparison.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from typing import TYPE_CHECKING, Final, TypeAlias

from pixie_otel.errors import ConfigError
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.spans import ObservationKind, ObserveSpan

if TYPE_CHECKING:
    from pixie_otel.traces.trace import Trace

__all__ = ["Condition", "attribute_test", "attribute_values", "parse_condition"]

_Read: TypeAlias = "Callable[[Trace], Iterable[JsonValue]]"
_Test: TypeAlias = Callable[[JsonValue], bool]

_EXPRESSION: Final = re.compile(r"(?P<field>[^=~<>!]*)(?P<operator>!=|!~|>=|<=|==|=|~|>|<)(?P<value>.*)", re.DOTALL)
_ATTRIBUTE: Final = ("attr.", "attr:")
_EXAMPLES: Final = (
    "status=error, name~*search*, kind=llm, model~gpt-4*, session=ID, user=ID, attr.KEY=VALUE, attr.KEY~GLOB, "
    "duration>2s, tokens>1000, cost>0.01"
)
_NANOSECONDS: Final = {"ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}
_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">": lambda found, wanted: found > wanted,
    ">=": lambda found, wanted: found >= wanted,
    "<": lambda found, wanted: found < wanted,
    "<=": lambda found, wanted: found <= wanted,
    "=": lambda found, wanted: found == wanted,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on a trace.

    Attributes:
        text: The condition as typed.
    """

    text: str
    _read: _Read = field(repr=False, compare=False)
    _test: _Test = field(repr=False, compare=False)
    _negated: bool = field(repr=False, compare=False)

    def holds(self, trace: Trace) -> bool:
        """Say whether a trace meets the condition.

        Args:
            trace: The trace.
        """
        return any(map(self._test, self._read(trace))) is not self._negated


def parse_condition(text: str) -> Condition:
    """Understand a condition.

    Args:
        text: A field, one of ``= != ~ !~ > >= < <=``, and a value; ``~`` takes a glob.

    Raises:
        ConfigError: The field is unknown, or it does not take that operator or value.
    """
    match = _EXPRESSION.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"{text!r} is no condition, which is a field, an operator and a value: {_EXAMPLES}")
    name, operator, value = match["field"].strip(), match["operator"].replace("==", "="), match["value"].strip()
    try:
        read, test = _read_and_test(name, operator, value)
    except ConfigError as error:
        raise ConfigError(f"{text!r}: {error}") from None
    return Condition(text, read, test, operator.startswith("!"))


def _read_and_test(name: str, operator: str, value: str) -> tuple[_Read, _Test]:
    plain = operator.removeprefix("!")
    if name.startswith(_ATTRIBUTE) and (key := name[len(_ATTRIBUTE[0]) :]):
        return lambda trace: _attributes(trace, key), attribute_test(plain, value)
    if name in _TEXTS:
        if plain not in {"=", "~"}:
            raise ConfigError(f"{name} is text, and takes = != ~ !~, not {operator}")
        return _TEXTS[name], _text_test(plain, _checked(name, value))
    if name in _NUMBERS:
        if plain == "~":
            raise ConfigError(f"{name} is a number, and takes = != > >= < <=, not {operator}")
        return _NUMBERS[name], _number_test(plain, _duration(value) if name == "duration" else _number(value))
    close = difflib.get_close_matches(name, [*_TEXTS, *_NUMBERS], 1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise ConfigError(f"unknown field {name!r}{hint}; conditions look like this: {_EXAMPLES}")


def _checked(name: str, value: str) -> str:
    allowed: tuple[str, ...] = {"status": ("error", "ok"), "kind": tuple(ObservationKind)}.get(name, ())
    if allowed and not any(map(_glob(value), allowed)):
        raise ConfigError(f"{name} is one of {', '.join(allowed)}, not {value!r}")
    return value


def _glob(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(translate(pattern))
    return lambda text: compiled.match(text) is not None


def _text_test(operator: str, value: str) -> _Test:
    if operator == "~":
        fits = _glob(value)
        return lambda found: isinstance(found, str) and fits(found)
    return lambda found: found == value


def _number_test(operator: str, wanted: float) -> _Test:
    compare = _COMPARISONS[operator]
    return lambda found: isinstance(found, int | float) and not isinstance(found, bool) and compare(found, wanted)


def attribute_test(operator: str, value: str) -> Callable[[JsonValue], bool]:
    """Give what compares an attribute, which may be anything: as a number where both are numbers, else as text.

    Args:
        operator: One of ``= ~ > >= < <=``.
        value: What an attribute is compared with; of a list, one item must fit.

    Raises:
        ConfigError: The operator compares numbers, and the value is none.
    """
    if operator == "~":
        fits = _glob(value)
        return _over_items(lambda found: fits(_as_text(found)))
    try:
        number = _number_test(operator, _number(value))
    except ConfigError:
        if operator != "=":
            raise
        return _over_items(lambda found: _as_text(found) == value)
    if operator != "=":
        return _over_items(number)
    return _over_items(lambda found: number(found) or _as_text(found) == value)


def _over_items(test: _Test) -> _Test:
    return lambda found: any(map(test, found)) if isinstance(found, list) else test(found)


def _as_text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value)


def _number(value: str) -> float:
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", value):
        raise ConfigError(f"{value!r} is no number")
    return float(value)


def _duration(value: str) -> float:
    match = re.fullmatch(r"(.*?)\s*(ms|s|m|h)", value)
    if match is None:
        raise ConfigError(f"a duration has a unit, ms, s, m or h, as in duration>2s; {value!r} has none")
    return _number(match[1]) * _NANOSECONDS[match[2]] / 1e6


def _status(trace: Trace) -> Iterable[JsonValue]:
    return ("error" if any(span.error is not None for span in trace.spans) else "ok",)


def _names(trace: Trace) -> Iterable[JsonValue]:
    return (span.name for span in trace.spans)


def _kinds(trace: Trace) -> Iterable[JsonValue]:
    return (span.kind.value for span in trace.spans)


def _models(trace: Trace) -> Iterable[JsonValue]:
    return (model for call in trace.llm_calls for model in (call.response_model, call.request_model))


def _attributes(trace: Trace, key: str) -> Iterable[JsonValue]:
    return (value for span in trace.spans for value in attribute_values(span, key))


def attribute_values(span: ObserveSpan, key: str) -> Iterable[JsonValue]:
    """Give what stands under a key on a span and on its resource.

    Args:
        span: The span.
        key: The attribute's key.
    """
    return (attributes[key] for attributes in (span.attributes, span.resource) if key in attributes)


_TEXTS: Final[Mapping[str, _Read]] = {
    "status": _status,
    "name": _names,
    "kind": _kinds,
    "model": _models,
    "session": lambda trace: (trace.session_id,),
    "user": lambda trace: (trace.user_id,),
}
_NUMBERS: Final[Mapping[str, _Read]] = {
    "duration": lambda trace: (trace.duration_ms,),
    "tokens": lambda trace: (trace.usage.total_tokens,),
    "cost": lambda trace: (trace.usage.cost,),
}
