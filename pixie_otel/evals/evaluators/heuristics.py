"""Evaluators that compare an output with what was expected, without asking a model: the heuristics of autoevals.

What autoevals scores is its own; what it is given is put right here, because it compares Python's way of writing values
where JSON is meant: ``{"a": 1, "b": 2}`` and ``{"b": 2, "a": 1}`` are equal, as are ``1`` and ``1.0``. Where one side
is text and the other is not, as with expectations from a CSV file, text that is JSON stands for its value.

An output that cannot be compared raises `ObservationError`, such an expectation `ConfigError`: nothing was judged, and
no score says otherwise.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, cast

from pixie_otel.errors import ConfigError, MissingExtraError, ObservationError
from pixie_otel.evals.evaluation import Evaluation, Need, Severity
from pixie_otel.evals.evaluators.adapter import AutoevalsAdapter, compared, cut
from pixie_otel.evaluable import UNSET, Evaluable, JsonValue, Unset, canonical_json, collapse_named_data

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

__all__ = [
    "AutoevalsAdapter",
    "ExactMatch",
    "JSONDiff",
    "LevenshteinMatch",
    "ListContains",
    "NumericDiff",
    "ValidJSON",
]

_MOST_STEPS: Final = 10**10
"""Characters times characters; an edit distance of that size takes a second or two."""

_MOST_TOLD: Final = 300

_MOST_PAIRS: Final = 10**6
"""Items times items of two lists, each of them an edit distance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heuristic:
    """What all heuristics can be told."""

    threshold: float | Unset | None = UNSET
    """The score to reach; ``None`` to measure only. Default: the run's threshold."""

    severity: Severity | str = Severity.FAIL
    """``warn`` for an evaluator that fails no case."""


class _Comparison(_Heuristic, ABC):
    """A comparison of the output with the expectation."""

    __slots__ = ()

    needs: ClassVar[frozenset[Need]] = frozenset({Need.OUTPUT, Need.EXPECTATION})

    def __call__(self, evaluable: Evaluable) -> Evaluation:
        """Compare the output of a case with what was expected."""
        expected = evaluable.expectation
        if isinstance(expected, Unset):
            raise ConfigError(f"{type(self).__name__} compares with an expectation, and the case has none")
        try:
            return self._compare(collapse_named_data(evaluable.eval_output), expected)
        except RecursionError:
            raise ObservationError(f"{type(self).__name__}: values nested too deeply to be compared") from None

    @abstractmethod
    def _compare(self, output: JsonValue, expected: JsonValue) -> Evaluation:
        """Score an output."""


class LevenshteinMatch(_Comparison):
    """How similar the output's text is to the expectation: one minus the share of characters to edit."""

    __slots__ = ()

    def _compare(self, output: JsonValue, expected: JsonValue) -> Evaluation:
        if expected is None:
            raise ConfigError("LevenshteinMatch compares with a text, and the expectation is null; use ExactMatch")
        texts = _texts(output, expected)
        _check_size(*texts)
        return _adapter("string", "Levenshtein").score(*texts)


class ExactMatch(_Comparison):
    """Whether the output equals the expectation, as text or as JSON."""

    __slots__ = ()

    def _compare(self, output: JsonValue, expected: JsonValue) -> Evaluation:
        scored = _adapter("value", "ExactMatch").score(*_texts(output, expected))
        return Evaluation(scored.score, compared(output, expected))


class NumericDiff(_Comparison):
    """How close the output's number is to the expected one: one minus their difference over their sum."""

    __slots__ = ()

    def _compare(self, output: JsonValue, expected: JsonValue) -> Evaluation:
        wanted, given = _number(expected), _number(output)
        if wanted is None:
            raise ConfigError(f"NumericDiff compares numbers, and the expectation is {cut(expected)}")
        if given is None:
            raise ObservationError(f"NumericDiff compares numbers, and the output is {cut(output)}")
        return _adapter("number", "NumericDiff").score(given, wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class JSONDiff(_Comparison):
    """How similar the output's JSON is to the expected one, value by value: texts by distance, numbers by size.

    A key that is missing counts as null, by the rules of autoevals.
    """

    preserve_strings: bool = False
    """Compare texts as texts, though they hold JSON."""

    def _compare(self, output: JsonValue, expected: JsonValue) -> Evaluation:
        if not self.preserve_strings:
            output, expected = _values(output, expected)
        _check_size(canonical_json(output), canonical_json(expected))
        return _adapter("json", "JSONDiff", preserve_strings=self.preserve_strings).score(output, expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListContains(_Comparison):
    """How well the output's list matches the expected one, whatever the order; items by edit distance."""

    allow_extra_entities: bool = False
    """Items that nobody expected cost nothing."""

    def __post_init__(self) -> None:
        """See to it that scipy is there, before anything runs.

        Raises:
            MissingExtraError: It is not.
        """
        if find_spec("scipy") is None:
            raise MissingExtraError("ListContains", "scipy")

    def _compare(self, output: JsonValue, expected: JsonValue) -> Evaluation:
        wanted, given = _items(expected), _items(output)
        if wanted is None:
            raise ConfigError(f"ListContains compares lists, and the expectation is {cut(expected)}")
        if given is None:
            raise ObservationError(f"ListContains compares lists, and the output is {cut(output)}")
        if len(wanted) * len(given) > _MOST_PAIRS:
            raise ObservationError(
                f"ListContains: lists of {len(given)} and {len(wanted)} items are too long to compare"
            )
        _check_size("".join(given), "".join(wanted))
        adapter = _adapter("list", "ListContains", allow_extra_entities=self.allow_extra_entities)
        return adapter.score(cast("JsonValue", given), cast("JsonValue", wanted))


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidJSON(_Heuristic):
    """Whether the output is a JSON object or array; with a schema, whether it is JSON that the schema allows."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.OUTPUT})

    schema: dict[str, JsonValue] | str | None = None
    """A JSON Schema, or the path of a file that holds one."""

    def __post_init__(self) -> None:
        """Check the schema.

        Raises:
            ConfigError: It cannot be read, or is no schema.
        """
        if self.schema is not None:
            object.__setattr__(self, "schema", _checked_schema(self.schema))

    def __call__(self, evaluable: Evaluable) -> Evaluation:
        """Look at the output of a case."""
        output = collapse_named_data(evaluable.eval_output)
        try:
            value = _parse(output) if isinstance(output, str) else output
            if isinstance(self.schema, dict):
                return _validated(value, self.schema)
            # Text in a text would be parsed once more.
            scored = _adapter("json", "ValidJSON").score(output if isinstance(value, str) else value)
        except RecursionError:
            raise ObservationError("ValidJSON: the output is nested too deeply to be read") from None
        except json.JSONDecodeError as error:
            return Evaluation(0.0, f"no JSON: {error}; got {cut(output)}")
        kind = "JSON" if scored.score == 1 else "JSON, but neither an object nor an array"
        return Evaluation(scored.score, f"{kind}; got {cut(value)}")


@cache
def _adapter(module: str, name: str, **settings: bool) -> AutoevalsAdapter:
    # Imported by name, as it carries no types; and on first use, as it loads asyncio, jsonschema and more.
    return AutoevalsAdapter(getattr(import_module(f"autoevals.{module}"), name)(**settings))


def _values(output: JsonValue, expected: JsonValue) -> tuple[JsonValue, JsonValue]:
    """Let text stand for the JSON in it where the other side is no text."""
    if isinstance(output, str) == isinstance(expected, str):
        return output, expected
    return _read(output), _read(expected)


def _texts(output: JsonValue, expected: JsonValue) -> tuple[str, str]:
    """Write both sides so that equal values have equal texts."""
    if isinstance(output, str) and isinstance(expected, str):
        return output, expected
    return _text(output), _text(expected)


def _text(value: JsonValue) -> str:
    read = _read(value)
    # Text that is no JSON stays as it is: in quotes it would be less similar to itself.
    return read if isinstance(read, str) and read is value else canonical_json(read)


def _read(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        try:
            return _parse(value)
        except ValueError:
            return value
    return value


def _number(value: JsonValue) -> float | None:
    if isinstance(value, str):
        try:
            # Python also reads 1_000, which nobody else does.
            value = float(value) if "_" not in value else None
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _items(value: JsonValue) -> list[str] | None:
    value = _read(value)
    if not isinstance(value, list):
        return None
    return [item if isinstance(item, str) else canonical_json(item) for item in value]


def _check_size(output: str, expected: str) -> None:
    if len(output) * len(expected) > _MOST_STEPS:
        raise ObservationError(
            f"an output of {len(output)} characters and an expectation of {len(expected)} are too long to compare"
        )


def _parse(text: str) -> JsonValue:
    """Read JSON as the standard has it, without Python's NaN and Infinity."""
    return cast("JsonValue", json.loads(text, parse_constant=_refuse_constant, parse_int=_integer))


def _integer(digits: str) -> float:
    try:
        return int(digits)
    except ValueError:
        # Python refuses integers of thousands of digits, for the time they take.
        return float(digits)


def _refuse_constant(name: str) -> JsonValue:
    raise json.JSONDecodeError(f"{name} is no JSON value", name, 0)


def _checked_schema(schema: dict[str, JsonValue] | str) -> dict[str, JsonValue]:
    from jsonschema.exceptions import SchemaError

    read: JsonValue = schema
    where = "its schema"
    if isinstance(schema, str):
        where = f"the schema in {schema}"
        try:
            read = _parse(Path(schema).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(f"ValidJSON: {where} cannot be read: {error}") from error
    if not isinstance(read, dict):
        raise ConfigError(f"ValidJSON: {where} is {cut(read)}; a JSON Schema is an object")
    try:
        _draft(read).check_schema(read)
    except SchemaError as error:
        raise ConfigError(f"ValidJSON: {where} is no JSON Schema: {error.json_path}: {error.message}") from error
    return read


def _validated(value: JsonValue, schema: dict[str, JsonValue]) -> Evaluation:
    # Not by autoevals: its scorer never looks at the schema it was made with, and would fetch what a schema refers to.
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import EMPTY_REGISTRY

    try:
        error = next(iter(_draft(schema)(schema, registry=EMPTY_REGISTRY).iter_errors(value)), None)
    except Unresolvable as unresolved:
        raise ConfigError(f"ValidJSON: its schema refers to what is not in it: {unresolved}") from unresolved
    if error is None:
        return Evaluation(1.0, f"JSON, as the schema has it; got {cut(value)}")
    return Evaluation(0.0, f"not as the schema has it, at {error.json_path}: {error.message[:_MOST_TOLD]}")


def _draft(schema: dict[str, JsonValue]) -> type[Validator]:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    return validator_for(schema, default=Draft202012Validator)
