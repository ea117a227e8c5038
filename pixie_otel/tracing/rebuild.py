"""From a recorded JSON value back to what the application works with, by its types and nothing else.

Nothing in a recorded value can name a class or a module; which class is built is the application's own word.
"""

from __future__ import annotations

import inspect
import json
import typing
from base64 import b64decode
from collections import abc
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from types import CoroutineType, SimpleNamespace
from typing import Any, Final

from pixie_otel.errors import WrapTypeMismatchError
from pixie_otel.evaluable import JsonValue
from pixie_otel.tracing.replay import ReplayedInputs
from pixie_otel.tracing.stream_kinds import StreamKind, stream_kind
from pixie_otel.tracing.type_facts import MISSING, type_name

__all__ = ["rebuild", "replayed_call", "replayed_value"]

_AWAITABLES: Final = (abc.Awaitable, abc.Coroutine)
_ITERATORS: Final = (abc.Iterator, abc.Generator)
_ITERABLES: Final = (abc.Iterable,)
_ASYNC_ITERATORS: Final = (abc.AsyncIterator, abc.AsyncGenerator, abc.AsyncIterable)
_NOT_FINITE: Final = frozenset({"NaN", "Infinity", "-Infinity"})
"""How numbers are recorded that JSON does not have."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """How a value is handed over, and of which type it is, or its items are; `MISSING` where that is not known."""

    target: Any = MISSING
    items: StreamKind | None = None
    awaited: bool = False


def replayed_value(inputs: ReplayedInputs, name: str, target: object, data: object) -> Any:  # noqa: ANN401 - of the type of `data`
    """Give the recorded value in place of a value.

    Args:
        inputs: The recorded values.
        name: The name it has there.
        target: Its type, or that of what a stream gives; ``None`` where the value itself tells.
        data: The value that the application had; a coroutine is closed, as nobody is going to await it.

    Raises:
        WrapRegistryMissError: No value has this name.
        WrapTypeMismatchError: It cannot become what is needed.
    """
    kind = stream_kind(data)
    if kind is None:
        shape = _shape(type(data) if target is None and data is not None else target)
    elif kind in (StreamKind.AWAITABLE, StreamKind.FUTURE):
        shape = _Shape(_shape(target).target, awaited=True)
    else:
        shape = _Shape(_shape(target).target, kind)
    given = _give(inputs.take(name), name, shape)
    if type(data) is CoroutineType:
        data.close()
    return given


def replayed_call(inputs: ReplayedInputs, name: str, target: object, function: object) -> Callable[..., Any]:
    """Give what is called in place of a callable: it gives the recorded value, in the form that the callable would.

    Args:
        inputs: The recorded values.
        name: The name it has there.
        target: The type of the result; ``None`` where the callable itself tells.
        function: The callable.
    """

    def replay(*_args: object, **_kwargs: object) -> Any:  # noqa: ANN401 - of the callable's result type
        return _give(inputs.take(name), name, _shape_of_result(function, target))

    return replay


def rebuild(name: str, text: str, target: Any) -> Any:  # noqa: ANN401 - any type, and a value of it
    """Turn a recorded value into one of a type.

    Args:
        name: The name of the ``wrap``, for the error.
        text: The value, as JSON.
        target: The type; `MISSING` for the value as it was recorded.

    Raises:
        WrapTypeMismatchError: It cannot become one.
    """
    if target is MISSING or target is Any:
        return json.loads(text)
    if target in (str, int, float, bool, dict, list, bytes):
        return _plain(name, json.loads(text), target)
    try:
        adapter = _adapter(target)
    except Exception as error:  # noqa: BLE001 - a type may refuse in ways of its own
        reason = f"pydantic, which rebuilds values, cannot take this type ({_first_line(error)})"
        raise WrapTypeMismatchError(name, _type_text(target), reason) from None
    try:
        return adapter(text)
    except Exception as error:  # noqa: BLE001 - validators are code of the application's
        raise WrapTypeMismatchError(name, _type_text(target), _reason(error)) from None


def _plain(name: str, value: JsonValue, target: Any) -> Any:  # noqa: ANN401 - one of JSON's own types
    if type(value) is target:
        return value
    if target is float and (type(value) is int or value in _NOT_FINITE):
        return float(value)
    if target is int and isinstance(value, str) and len(value) > 18:
        # Whole numbers beyond 64 bits are recorded as text.
        try:
            return int(value)
        except ValueError:
            pass
    if target is bytes and isinstance(value, dict) and value.keys() == {"base64"}:
        try:
            return b64decode(str(value["base64"]), validate=True)
        except ValueError as error:
            raise WrapTypeMismatchError(name, "bytes", f"it is no base64: {error}") from None
    raise WrapTypeMismatchError(name, _type_text(target), f"it is {_json_type(value)}")


@lru_cache(maxsize=256)
def _adapter(target: Any) -> Callable[[str], Any]:  # noqa: ANN401 - any type
    import pydantic

    adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(target)
    settings: dict[str, Any] = {"strict": True}
    if tuple(map(int, pydantic.VERSION.split(".")[:2])) >= (2, 11):
        # Fields are recorded by their names, and people may write their aliases.
        settings |= {"by_name": True, "by_alias": True}
    return partial(adapter.validate_json, **settings)


# --- in which form ---


def _shape_of_result(function: object, target: object) -> _Shape:
    inner = function
    while isinstance(inner, partial):
        inner = inner.func
    called = inner
    if not isinstance(inner, type) and not inspect.isroutine(inner):
        called = getattr(type(inner), "__call__", inner)  # noqa: B004 - the method is wanted, not the answer
    if target is None:
        target = inner if isinstance(inner, type) else _annotation(called)
    shape = _shape(target)
    if inspect.iscoroutinefunction(called):
        return _Shape(shape.target, shape.items, awaited=True)
    if shape.items is None and inspect.isasyncgenfunction(called):
        return _Shape(shape.target, StreamKind.ASYNC_ITERATOR)
    if shape.items is None and inspect.isgeneratorfunction(called):
        return _Shape(shape.target, StreamKind.ITERATOR)
    return shape


def _shape(target: object) -> _Shape:
    if target is None:
        return _Shape()
    origin = typing.get_origin(target) or target
    arguments = typing.get_args(target)
    if origin in _AWAITABLES:
        inner = _shape(arguments[-1] if arguments else MISSING)
        return _Shape(inner.target, inner.items, awaited=True)
    first = arguments[0] if arguments else MISSING
    if origin in _ITERATORS:
        return _Shape(first, StreamKind.ITERATOR)
    if origin in _ASYNC_ITERATORS:
        return _Shape(first, StreamKind.ASYNC_ITERATOR)
    if origin in _ITERABLES:
        return _Shape(_list_of(first))
    return _Shape(target)


def _list_of(target: Any) -> object:  # noqa: ANN401 - any type
    return list if target is MISSING else list[target]


def _annotation(function: object) -> object:
    """Give the type that a function says it returns; `MISSING` where it says none that can be found."""
    try:
        function = inspect.unwrap(function)  # type: ignore[arg-type] # anything may be asked
        annotation = function.__annotations__["return"]
        # The other annotations may need what exists for type checkers only.
        alone = SimpleNamespace(__annotations__={"return": annotation})
        namespace: dict[str, Any] = getattr(function, "__globals__", {})
        found: object = typing.get_type_hints(alone, namespace, include_extras=True)["return"]
    except Exception:  # noqa: BLE001 - names that are not there when the program runs, or code of the application's
        return MISSING
    return found


def _give(text: str, name: str, shape: _Shape) -> Any:  # noqa: ANN401 - the form that the shape says
    if shape.items is None:
        value = rebuild(name, text, shape.target)
    else:
        target = shape.target
        if type(json.loads(text)) is str:
            # A stream of texts is recorded as the one text that it makes.
            text = f"[{text}]"
        items: list[Any] = rebuild(name, text, _list_of(target))
        value = _sync_items(items) if shape.items is StreamKind.ITERATOR else _async_items(items)
    return _awaited(value) if shape.awaited else value


def _sync_items(items: list[Any]) -> Iterator[Any]:
    yield from items


async def _async_items(items: list[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item


def _awaited(value: Any) -> Coroutine[Any, Any, Any]:  # noqa: ANN401 - any value
    async def given() -> Any:  # noqa: ANN401 - the value
        return value

    return given()


# --- in words ---


def _type_text(target: object) -> str:
    if isinstance(target, type) and not typing.get_args(target):
        return type_name(target)
    return repr(target).replace("typing.", "")


def _json_type(value: JsonValue) -> str:
    words: dict[type, str] = {
        str: "a string",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "an array",
        dict: "an object",
    }
    return words.get(type(value), "null")


def _reason(error: Exception) -> str:
    errors = getattr(error, "errors", None)
    if errors is None:
        return _first_line(error)
    found: list[dict[str, Any]] = errors(include_url=False, include_input=False, include_context=False)
    first = found[0]
    place = ".".join(map(str, first["loc"]))
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{first['msg']}{f' at {place}' if place else ''}{more}"


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
