"""What can be known of a value and its type without running any code of theirs.

Ordinary attribute access runs properties, descriptors, ``__getattr__`` and what a metaclass defines. Everything here
reads the interpreter's own records instead: the class dictionaries along the order of resolution, the slots, and the
dictionary of an instance.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType, ModuleType, WrapperDescriptorType
from typing import Any, Final, TypeAlias

__all__ = [
    "MISSING",
    "Getter",
    "class_dict",
    "getter",
    "is_native",
    "is_scalar",
    "loaded",
    "mro",
    "namespace",
    "read",
    "static",
    "type_name",
    "type_of",
]

Getter: TypeAlias = Callable[[Any], Any]
"""Reads something of a value."""

MISSING: Final = object()
"""Where there is nothing; no value of anybody's, so that ``None`` stays a value."""

type_of: Final[Callable[[Any], type[Any]]] = type
"""Give the type that a value really is of, whatever its ``__class__`` says. (Type checkers draw no conclusions from it,
as they would make every unknown dict a dict of what they call unknown.)"""

mro: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
"""Give the classes that a class is made of, itself first."""
class_dict: Callable[[type], Mapping[str, Any]] = type.__dict__["__dict__"].__get__
"""Give what is written in the body of a class."""
_plain_text: Callable[[object], str] = class_dict(str)["__str__"]
_module: Callable[[type], object] = type.__dict__["__module__"].__get__
_qualname: Callable[[type], object] = type.__dict__["__qualname__"].__get__
_module_names: Final[Getter] = class_dict(ModuleType)["__dict__"].__get__

# An instance's dictionary may be of a class of the application's own.
_look_up: Final[Callable[[Any, str, object], Any]] = class_dict(dict)["get"]

_SCALARS: Final = frozenset(map(id, (str, int, float, bool, type(None))))
_LONGEST_NAME: Final = 200


def type_name(kind: type) -> str:
    """Give the full name of a class, without ``builtins``."""
    name = _qualname(kind)
    try:
        module = _module(kind)
    except AttributeError:  # somebody deleted it
        module = None
    # Both can be set to anything, and a subclass of str could answer for itself.
    text = _plain_text(name) if issubclass(type_of(name), str) else "?"
    if type(module) is str and module != "builtins":
        text = f"{module}.{text}"
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"


def loaded(module: str, name: str) -> Any:  # noqa: ANN401 - whatever a module has under a name
    """Give what an imported module calls by a name; `MISSING` where it was not imported, or has no such name."""
    found = sys.modules.get(module)
    return _module_names(found).get(name, MISSING) if type_of(found) is ModuleType else MISSING


def is_scalar(kind: type) -> bool:
    """Say whether a type is one that JSON has by itself, and no subclass of one."""
    # Comparing types, as `in` does with a tuple, asks their metaclass.
    return id(kind) in _SCALARS


def _is_plain(value: object) -> bool:
    return is_scalar(type(value))


def static(kind: type, name: str) -> Any:  # noqa: ANN401 - whatever a class has under a name
    """Give what a class or one of its bases has under a name, as it is written there; `MISSING` where none has it."""
    for base in mro(kind):
        found = class_dict(base).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def is_native(kind: type, name: str) -> bool:
    """Say whether a method of a class is written in C, and reached as usual."""
    reached_as_usual = type(static(kind, "__getattribute__")) is WrapperDescriptorType
    return reached_as_usual and type(static(kind, name)) is MethodDescriptorType


def namespace(kind: type) -> Getter | None:
    """Give what reads the dictionary of an instance; ``None`` where instances have none."""
    for base in mro(kind):
        found: Any = class_dict(base).get("__dict__", MISSING)
        if type_of(found) is GetSetDescriptorType:
            return _bound(found)
    return None


def _bound(descriptor: Any) -> Getter:  # noqa: ANN401 - one of several kinds of descriptors
    get: Getter = descriptor.__get__
    return get


def getter(kind: type, name: str) -> Getter:
    """Give what reads an attribute from where an instance keeps it: a slot, or its dictionary.

    A property of the name is passed over. Where an instance keeps nothing, a plain default in the class counts.

    Args:
        kind: The class of the instances.
        name: The attribute's name.

    Returns:
        A function from an instance to the attribute's value, or `MISSING`.
    """
    found = static(kind, name)
    if type_of(found) is MemberDescriptorType:
        return _slot_getter(_bound(found))
    default: Any = found if _is_plain(found) else MISSING
    open_namespace = namespace(kind)
    if open_namespace is None:
        return lambda _value: default

    def read_namespace(value: object) -> Any:  # noqa: ANN401 - whatever the attribute holds
        return _look_up(open_namespace(value), name, default)

    return read_namespace


def _slot_getter(get: Getter) -> Getter:
    def read_slot(value: object) -> Any:  # noqa: ANN401 - whatever the slot holds
        try:
            return get(value)
        except AttributeError:
            return MISSING

    return read_slot


def read(value: object, name: str) -> Any:  # noqa: ANN401 - whatever the attribute holds
    """Read one attribute from where a value keeps it; `MISSING` where it keeps none."""
    return getter(type_of(value), name)(value)
