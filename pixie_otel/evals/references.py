"""References: evaluators as they are typed.

- ``Name`` or ``Name:key=value,key=value``: a built-in evaluator. A value is JSON where it is JSON, else text; a value
  with a comma in it is written as JSON: ``"a, b"``.
- ``path/file.py:name``: what the file calls by that name. A class is instantiated, a function without parameters is a
  factory and called, any other function and any other object judges as it is. With settings, as in
  ``file.py:name:key=value``, a class or a function is called with these and gives the evaluator.
- ``...``: the trace checks that run by default. Of these, one that is named beside it is replaced by what was named.

The same reference twice is one evaluator. Another one of the same name is told apart by a number: ``name-2``.
"""

from __future__ import annotations

import contextlib
import inspect
import json
from dataclasses import replace
from difflib import get_close_matches
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from pixie_otel.errors import ConfigError
from pixie_otel.evals.binding import BoundEvaluator, bind, distinct
from pixie_otel.evals.registry import BUILTINS, DEFAULTS
from pixie_otel.evals.userfile import find_in_file, load_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pixie_otel.evals.evaluation import AnyEvaluator
    from pixie_otel.evaluable import JsonValue

__all__ = ["load_evaluators", "parse_settings"]

_DEFAULTS: Final = "..."
_OPENERS: Final = ("{", "[", '"')


def load_evaluators(
    references: Iterable[str | BoundEvaluator | AnyEvaluator | Callable[..., Any]],
) -> list[BoundEvaluator]:
    """Load evaluators in the order they are given.

    Args:
        references: What the user typed; from Python also evaluators themselves.

    Raises:
        ConfigError: A reference leads nowhere, or to something that is no evaluator.
    """
    texts: set[str] = set()
    groups: list[BoundEvaluator | None] = []
    for reference in references:
        if isinstance(reference, str):
            text = reference.strip()
            if text not in texts:
                groups.append(None if text == _DEFAULTS else _load(text))
            texts.add(text)
        else:
            groups.append(bind(reference))
    named = {group.name for group in groups if group is not None and group.trusted}
    loaded: list[BoundEvaluator] = []
    for group in groups:
        if group is None:
            loaded += [_load_builtin(name, name, "") for name in DEFAULTS if name not in named]
        else:
            loaded.append(group)
    return distinct(loaded)


def parse_settings(text: str, reference: str) -> dict[str, JsonValue]:
    """Read the settings behind an evaluator's name.

    Args:
        text: ``key=value,key=value``.
        reference: All that was typed, for the message.

    Raises:
        ConfigError: That is no list of settings.
    """
    values: dict[str, JsonValue] = {}
    rest = text.strip()
    while rest:
        key, equals, rest = rest.partition("=")
        key = key.strip()
        if not equals or not key.isidentifier():
            raise ConfigError(f"evaluator {reference!r}: write settings as key=value,key=value, not {key!r}")
        if key in values:
            raise ConfigError(f"evaluator {reference!r} sets {key} twice")
        values[key], rest = _parse_value(rest.lstrip(), key, reference)
    return values


def _load(reference: str) -> BoundEvaluator:
    path, is_file, rest = reference.partition(".py:")
    if is_file:
        name, _, settings = rest.partition(":")
        return _load_from_file(reference, f"{path}.py", name.strip(), settings)
    if reference.endswith(".py"):
        raise ConfigError(f"evaluator {reference!r} names a file and nothing in it: write {reference}:NAME")
    name, _, settings = reference.partition(":")
    return _load_builtin(reference, name.strip(), settings)


def _load_builtin(reference: str, name: str, settings: str) -> BoundEvaluator:
    info = BUILTINS.get(name)
    if info is None:
        raise ConfigError(f"no evaluator is called {name!r}{_suggestion(name)}; see `pixie-otel evaluators`")
    cls: Callable[..., object] = getattr(import_module(info.module), info.attribute)
    made = _make(reference, cls, parse_settings(settings, reference))
    return replace(bind(made), reference=name)


def _load_from_file(reference: str, path: str, name: str, settings: str) -> BoundEvaluator:
    if not name:
        raise ConfigError(f"evaluator {reference!r} names a file and nothing in it: write {path}:NAME")
    file = Path(path).expanduser().resolve()
    found: Any = find_in_file(load_file(path), name, path)
    values = parse_settings(settings, reference)
    if inspect.isclass(found) or (inspect.isroutine(found) and (values or _is_factory(found))):
        evaluator = _make(reference, found, values)
    elif values:
        raise ConfigError(f"evaluator {reference!r}: {name} is a {type(found).__name__}, which takes no settings")
    else:
        evaluator = found
    try:
        # What it is called in the file says more than the name of a class, or of a function inside a factory.
        bound = bind(evaluator, default_name=name)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    return replace(
        bound,
        reference=f"{path}:{name}",
        source=f"{file}:{name}",
        parameters=values,
        digest=sha256(file.read_bytes()).hexdigest(),
    )


def _is_factory(function: Callable[..., object]) -> bool:
    try:
        return not inspect.signature(function).parameters
    except ValueError:
        # A function written in C; it judges, or `bind` will say that it does not.
        return False


def _make(reference: str, make: Callable[..., Any], values: dict[str, JsonValue]) -> object:
    with contextlib.suppress(ValueError):
        # What is written in C may have no signature; then calling it shows what it takes.
        signature = inspect.signature(make)
        try:
            signature.bind(**values)
        except TypeError as error:
            takes = ", ".join(signature.parameters) or "no settings"
            raise ConfigError(f"evaluator {reference!r}: {error}; it takes: {takes}") from error
    try:
        made = make(**values)
    except ConfigError as error:
        raise ConfigError(f"evaluator {reference!r}: {error}") from error
    except (Exception, SystemExit) as error:
        raise ConfigError(f"evaluator {reference!r}: making it raised {type(error).__name__}: {error}") from error
    if inspect.iscoroutine(made):
        made.close()
        raise ConfigError(f"evaluator {reference!r}: an `async` function makes no evaluator, and judges an evaluable")
    return made


def _suggestion(name: str) -> str:
    folded = {known.lower(): known for known in BUILTINS}
    close = get_close_matches(name.lower(), folded, n=3)
    return f"; did you mean {' or '.join(folded[match] for match in close)}?" if close else ""


def _parse_value(text: str, key: str, reference: str) -> tuple[JsonValue, str]:
    """Read one value, and give the rest behind its comma."""
    if not text.startswith(_OPENERS):
        word, _, rest = text.partition(",")
        return _word(word.strip()), rest.lstrip()
    try:
        value, end = cast("tuple[JsonValue, int]", json.JSONDecoder().raw_decode(text))
    except ValueError as error:
        quoted = json.dumps(text)
        raise ConfigError(
            f"evaluator {reference!r}: {key} starts like JSON and is none ({error}); as text, write {key}={quoted}"
        ) from None
    rest = text[end:].lstrip()
    if rest and not rest.startswith(","):
        raise ConfigError(f"evaluator {reference!r}: after {key}={text[:end]} comes {rest!r}, and no comma")
    return value, rest[1:].lstrip()


def _word(word: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(word, parse_constant=str)
    except ValueError:
        return word
    return value
