"""Values of classes that declare their fields: dataclasses, attrs, pydantic models, msgspec structs, named tuples.

Each field is read from where the instance keeps it, so no property, validator or lazy load runs, and nothing is read
that the class does not declare. A field that its author keeps out of the representation (``repr=False``, pydantic's
``exclude=True``, a representation of its own with attrs) is shown as ``<hidden>``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from pixie_otel.tracing.type_facts import MISSING, Getter, class_dict, getter, loaded, mro, read, static, type_of

if TYPE_CHECKING:
    from pixie_otel.evaluable import JsonValue
    from pixie_otel.tracing.value_walk import Walk

__all__ = ["HIDDEN", "Plan", "fields_plan"]

Plan: TypeAlias = "Callable[[Walk, Any], JsonValue]"
"""Gives the plain form of a value of one type."""

HIDDEN: Final = "<hidden>"
"""Stands for what the author of a class wants nobody to see."""

_Fields: TypeAlias = Sequence[tuple[str, Getter]]
_items_of: Final[Callable[[Any], Iterator[Any]]] = class_dict(tuple)["__iter__"]
_struct_fields: Final[Getter] = msgspec.StructMeta.__dict__["__struct_fields__"].__get__


def fields_plan(kind: type) -> Plan | None:
    """Give how to read the instances of a class by their fields; ``None`` where it declares none."""
    return _struct(kind) or _pydantic(kind) or _dataclass(kind) or _attrs(kind) or _named_tuple(kind)


def _struct(kind: type) -> Plan | None:
    if not issubclass(type(kind), msgspec.StructMeta):
        return None
    return _plan([(name, getter(kind, name)) for name in _struct_fields(kind)])


def _dataclass(kind: type) -> Plan | None:
    declared = static(kind, "__dataclass_fields__")
    if type_of(declared) is not dict:
        return None
    ordinary = loaded("dataclasses", "_FIELD")  # and neither a class variable nor an argument of `__init__` only
    fields: list[tuple[str, Getter]] = []
    for name, field in declared.items():
        if type_of(name) is str and type_of(field) is dataclasses.Field and read(field, "_field_type") is ordinary:
            fields.append((name, _hidden if read(field, "repr") is False else getter(kind, name)))
    return _plan(fields)


def _attrs(kind: type) -> Plan | None:
    declared = static(kind, "__attrs_attrs__")
    attribute = loaded("attr._make", "Attribute")
    if not issubclass(type_of(declared), tuple) or attribute is MISSING:
        return None
    fields = [field for field in _items_of(declared) if type_of(field) is attribute]
    named = [(read(field, "name"), read(field, "repr")) for field in fields]
    # Anything but True is a function that shows the value its own way, as a mask does.
    return _plan([(name, getter(kind, name) if shown is True else _hidden) for name, shown in named])


def _named_tuple(kind: type) -> Plan | None:
    names = static(kind, "_fields")
    if not issubclass(kind, tuple) or type_of(names) is not tuple or any(type_of(name) is not str for name in names):
        return None

    def plan(walk: Walk, value: tuple[Any, ...]) -> JsonValue:
        items = list(_items_of(value))
        if len(items) != len(names):
            return walk.array(value, len(items), items)
        return walk.mapping(value, len(items), zip(names, items, strict=True))

    return plan


def _pydantic(kind: type) -> Plan | None:
    model = loaded("pydantic.main", "BaseModel")
    if not _derives(kind, model):
        return None
    declared = static(kind, "__pydantic_fields__")
    if type_of(declared) is not dict:
        declared = static(kind, "model_fields")  # its name before pydantic 2.10
    if type_of(declared) is not dict:
        return None
    root_model = loaded("pydantic.root_model", "RootModel")
    if _derives(kind, root_model):
        root = getter(kind, "root")
        return lambda walk, value: walk.inside(value, root(value))
    fields: list[tuple[str, Getter]] = []
    for name, info in declared.items():
        hidden = read(info, "repr") is False or read(info, "exclude") is True
        fields.append((name, _hidden if hidden else getter(kind, name)))
    return _model_plan(fields, getter(kind, "__pydantic_fields_set__"), getter(kind, "__pydantic_extra__"))


def _derives(kind: type, base: object) -> bool:
    return any(base is each for each in mro(kind))


def _plan(fields: _Fields) -> Plan:
    def plan(walk: Walk, value: object) -> JsonValue:
        pairs = [
            (name, item) for name, get in fields if (item := get(value)) is not MISSING and item is not msgspec.UNSET
        ]
        return walk.mapping(value, len(pairs), pairs)

    return plan


def _model_plan(fields: _Fields, get_given: Getter, get_extra: Getter) -> Plan:
    def plan(walk: Walk, value: object) -> JsonValue:
        given = get_given(value)
        pairs: list[tuple[Any, Any]] = []
        for name, get in fields:
            item = get(value)
            # A model of somebody's API has dozens of fields that nobody gave, and None says nothing there.
            if item is MISSING or (item is None and type_of(given) is set and name not in given):
                continue
            pairs.append((name, item))
        extra = get_extra(value)
        if type_of(extra) is dict:
            pairs += list(extra.items())
        return walk.mapping(value, len(pairs), pairs)

    return plan


def _hidden(_value: object) -> str:
    return HIDDEN
