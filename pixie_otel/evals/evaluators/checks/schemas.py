"""The JSON Schemas that tools declare for their arguments.

Schemas come from traces, so nothing in them may fetch, hang or crash: references to elsewhere are not followed, those
within are counted, and patterns that could take long are not tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import msgspec

from pixie_otel.errors import PixieError
from pixie_otel.evals.evaluators.checks.wording import shortened
from pixie_otel.evaluable import JsonValue

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

__all__ = ["UnusableSchemaError", "schema_problems"]

_Keyword: TypeAlias = "Callable[[Validator, JsonValue, JsonValue, JsonValue], Iterator[ValidationError] | None]"
_Extend: TypeAlias = "Callable[[type[Validator], dict[str, _Keyword]], type[Validator]]"

_MOST_PROBLEMS: Final = 5
_MOST_REFERENCES: Final = 2_000
_LONGEST_MATCHED: Final = 256
"""How long a text may be to be tried against a pattern: short enough that a few nested repeats end soon."""

_SAYS_NOTHING: Final = frozenset(
    {"$comment", "$id", "$schema", "default", "description", "examples", "strict", "title"}
)
_TYPES: Final[dict[JsonValue, tuple[type, ...]]] = {
    "array": (list,),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "string": (str,),
}
_NAMES_OF_GEMINI: Final = frozenset({"ARRAY", "BOOLEAN", "INTEGER", "NULL", "NUMBER", "OBJECT", "STRING"})

_references: ContextVar[int] = ContextVar("references followed in one validation", default=0)


class UnusableSchemaError(PixieError):
    """A declared schema cannot be used; the message says why."""


def schema_problems(schema: dict[str, JsonValue], arguments: JsonValue) -> list[str]:
    """Say where arguments break a declared schema.

    Args:
        schema: The schema, of the draft that its ``$schema`` names, else of 2020-12.
        arguments: Decoded arguments.

    Returns:
        The first problems, each with its place; empty where there are none.

    Raises:
        UnusableSchemaError: The schema is none, or cannot be used without fetching or much work.
    """
    try:
        if _surely_fits(schema, arguments):
            return []
        encoded = msgspec.json.encode(schema)
    except RecursionError:
        raise UnusableSchemaError("it is nested too deeply") from None
    validator = _validator(encoded)
    if isinstance(validator, str):
        raise UnusableSchemaError(validator)
    _references.set(0)
    try:
        errors = list(islice(validator.iter_errors(arguments), _MOST_PROBLEMS))
    # jsonschema has no common error for what a schema can do to it: references to nowhere, loops of them, numbers too
    # large to divide. None of it says anything about the arguments.
    except Exception as error:  # noqa: BLE001 - see above
        raise UnusableSchemaError(f"{type(error).__name__}: {shortened(str(error))}") from None
    return [f"{shortened(error.json_path)}: {shortened(error.message)}" for error in errors]


def _surely_fits(schema: JsonValue, value: JsonValue) -> bool:
    """Say that a value fits, for the few keywords that most tools' schemas consist of.

    ``False`` means only that it takes a closer look: jsonschema takes a tenth of a second to load, and validates
    twenty times slower.
    """
    if not isinstance(schema, dict):
        return False
    return all(_rule_surely_holds(keyword, rule, schema, value) for keyword, rule in schema.items())


def _rule_surely_holds(keyword: str, rule: JsonValue, schema: dict[str, JsonValue], value: JsonValue) -> bool:
    if keyword in _SAYS_NOTHING:
        return True
    if keyword == "type":
        return isinstance(rule, str) and _has_type(rule, value)
    if keyword == "properties" and isinstance(rule, dict) and isinstance(value, dict):
        return all(_surely_fits(rule[name], inner) for name, inner in value.items() if name in rule)
    if keyword == "required" and isinstance(rule, list) and isinstance(value, dict):
        return all(isinstance(name, str) and name in value for name in rule)
    if keyword == "additionalProperties" and isinstance(rule, bool) and isinstance(value, dict):
        properties = schema.get("properties", {})
        return rule or (isinstance(properties, dict) and value.keys() <= properties.keys())
    if keyword == "items" and isinstance(value, list):
        return all(_surely_fits(rule, inner) for inner in value)
    # Of other types, what JSON takes for different may be equal in Python.
    return keyword == "enum" and isinstance(rule, list) and isinstance(value, str) and value in rule


def _has_type(name: str, value: JsonValue) -> bool:
    if name == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, _TYPES.get(name, ()))


@lru_cache(maxsize=512)
def _validator(encoded: bytes) -> Validator | str:
    """Prepare the validator of a schema; text where the schema cannot be used, saying why."""
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for
    from referencing.jsonschema import EMPTY_REGISTRY

    schema: dict[str, JsonValue] = msgspec.json.decode(encoded)
    try:
        if schema.get("type") == "OBJECT":
            _rename_types(schema)
        if not _has_cheap_patterns(schema):
            return "it has patterns that could take very long to try"
        named = schema if isinstance(schema.get("$schema", ""), str) else {}
        draft = validator_for(named, default=Draft202012Validator)
        draft.check_schema(schema)
    except SchemaError as error:
        return f"it is no JSON Schema: {shortened(error.json_path)}: {shortened(error.message)}"
    except RecursionError:
        return "it is nested too deeply"
    # With a registry that is empty, a reference to elsewhere leads nowhere and is never fetched.
    return _bounded(draft)(schema, registry=EMPTY_REGISTRY)


@lru_cache(maxsize=16)
def _bounded(draft: type[Validator]) -> type[Validator]:
    """Give a draft's validator class, with bounds on what a schema can make it do."""
    from jsonschema import validators

    keywords = cast("dict[str, _Keyword]", draft.VALIDATORS)
    references = ("$ref", "$dynamicRef", "$recursiveRef")
    changed = {name: _counted(keywords[name]) for name in keywords if name in references}
    # The function has no types.
    extend = cast("_Extend", validators.extend)  # pyright: ignore[reportUnknownMemberType]
    return extend(draft, {**changed, "pattern": _on_short_text(keywords["pattern"])})


def _counted(keyword: _Keyword) -> _Keyword:
    def follow(
        validator: Validator, reference: JsonValue, value: JsonValue, schema: JsonValue
    ) -> Iterator[ValidationError]:
        followed = _references.get() + 1
        if followed > _MOST_REFERENCES:
            raise UnusableSchemaError(f"it follows more than {_MOST_REFERENCES} references")
        _references.set(followed)
        yield from keyword(validator, reference, value, schema) or ()

    return follow


def _on_short_text(keyword: _Keyword) -> _Keyword:
    def match(
        validator: Validator, pattern: JsonValue, value: JsonValue, schema: JsonValue
    ) -> Iterator[ValidationError]:
        if isinstance(value, str) and len(value) <= _LONGEST_MATCHED:
            yield from keyword(validator, pattern, value, schema) or ()

    return match


def _has_cheap_patterns(schema: JsonValue) -> bool:
    if isinstance(schema, list):
        return all(_has_cheap_patterns(inner) for inner in schema)
    if not isinstance(schema, dict):
        return True
    pattern = schema.get("pattern")
    # Keys are matched without a bound on their length.
    if (isinstance(pattern, str) and not _is_cheap(pattern)) or isinstance(schema.get("patternProperties"), dict):
        return False
    return all(_has_cheap_patterns(inner) for inner in schema.values())


def _is_cheap(pattern: str) -> bool:
    """Say whether a pattern repeats no group, and little else: the time is then a small power of the text's length."""
    plain = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]", "c", pattern, flags=re.DOTALL)
    return re.search(r"\)[*+{]", plain) is None and len(re.findall(r"[*+]|\{\d*,", plain)) <= 2


def _rename_types(schema: JsonValue) -> None:
    """Rename the types of Gemini's schemas, ``OBJECT`` and so on, as JSON Schema has them."""
    if isinstance(schema, list):
        for inner in schema:
            _rename_types(inner)
    elif isinstance(schema, dict):
        name = schema.get("type")
        if isinstance(name, str) and name in _NAMES_OF_GEMINI:
            schema["type"] = [name.lower(), "null"] if schema.get("nullable") is True else name.lower()
        for inner in schema.values():
            _rename_types(inner)
