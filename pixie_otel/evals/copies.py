"""Copies of evaluables, so that an evaluator which changes what it is given changes nothing for the others."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pixie_otel.errors import ObservationError

if TYPE_CHECKING:
    from pixie_otel.evaluable import Document, Evaluable, JsonValue, NamedData, ToolCall, Unset

__all__ = ["copy_evaluable", "with_expectation"]

_ValueT = TypeVar("_ValueT")


def copy_evaluable(evaluable: Evaluable) -> Evaluable:
    """Copy an evaluable so deeply that it shares nothing that can be changed.

    JSON values are copied here, several times as fast as `copy.deepcopy` does; that one copies everything else.

    Args:
        evaluable: What to copy.

    Raises:
        ObservationError: Its values are nested deeper than Python follows.
    """
    outputs, documents = evaluable.eval_output, evaluable.retrieval_context
    try:
        return _changed(
            evaluable,
            eval_input=_named(evaluable.eval_input),
            eval_output=None if outputs is None else _named(outputs),
            expectation=_value(evaluable.expectation),
            eval_metadata=_value(evaluable.eval_metadata),
            context=_value(evaluable.context),
            expected_tools=_calls(evaluable.expected_tools),
            tools_called=_calls(evaluable.tools_called),
            retrieval_context=None if documents is None else [_document(item) for item in documents],
        )
    except RecursionError:
        raise ObservationError("the case holds a value that is nested too deeply to be copied") from None


def with_expectation(evaluable: Evaluable, expectation: JsonValue | Unset) -> Evaluable:
    """Give the same evaluable another expectation.

    Args:
        evaluable: What to start from; it stays as it is.
        expectation: What a good output is.
    """
    return _changed(evaluable, expectation=expectation)


def _changed(evaluable: Evaluable, **fields: object) -> Evaluable:
    # `dataclasses.replace` calls the constructor, which a subclass may have changed.
    clone = copy.copy(evaluable)
    for name, value in fields.items():
        object.__setattr__(clone, name, value)
    return clone


def _named(items: list[NamedData]) -> list[NamedData]:
    return [replace(item, value=_value(item.value)) for item in items]


def _document(document: Document) -> Document:
    return document if document.metadata is None else replace(document, metadata=_value(document.metadata))


def _calls(calls: list[ToolCall] | None) -> list[ToolCall] | None:
    if calls is None:
        return None
    return [replace(call, arguments=_value(call.arguments), result=_value(call.result)) for call in calls]


def _value(value: _ValueT) -> _ValueT:
    kind = type(value)
    if kind is str or kind is int or kind is float or kind is bool or value is None:
        return value
    if kind is dict:
        mapping = cast("dict[Any, Any]", value)
        return cast("_ValueT", {key: _value(inner) for key, inner in mapping.items()})
    if kind is list:
        return cast("_ValueT", [_value(inner) for inner in cast("list[Any]", value)])
    return copy.deepcopy(value)
