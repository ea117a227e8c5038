"""Callables that pass for the ones they call: functions of every kind, partials, methods, classes, callable objects."""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any, Final, TypeAlias

from pixie_otel.tracing.arguments import argument_names
from pixie_otel.tracing.calls import CallPlan, call
from pixie_otel.tracing.rebuild import replayed_call
from pixie_otel.tracing.replay import active
from pixie_otel.tracing.runtime import current
from pixie_otel.tracing.type_facts import static, type_name, type_of

__all__ = ["BoundEnclosed", "Enclosed", "EnclosedObject", "Replay", "callable_name", "enclose", "method_parts"]

Replay: TypeAlias = tuple[str, Any]
"""Under which name a callable's results are replayed, and the type that was given for them."""

# Its classes have no types of their own.
_wrapt: Any = import_module("wrapt")
_METHODS: Final = frozenset(map(id, (staticmethod, classmethod)))


class BoundEnclosed(_wrapt.BoundFunctionWrapper):  # type: ignore[misc] # no types
    """An enclosed method, bound to its object or class."""

    def __reduce_ex__(self, protocol: Any) -> Any:  # noqa: ANN401 - as `object` has it
        """Pickle as a bound method pickles: by its object and its name."""
        return getattr, (self._self_instance, self.__name__)


class Enclosed(_wrapt.FunctionWrapper):  # type: ignore[misc] # no types
    """A callable whose calls are recorded."""

    __bound_function_wrapper__ = BoundEnclosed

    def __init__(self, wrapped: Any, plan: CallPlan, replays: Replay | None) -> None:  # noqa: ANN401 - any callable
        _wrapt.FunctionWrapper.__init__(self, wrapped, _around(wrapped, plan, replays))
        self._self_plan = plan
        self._self_replays = replays

    def __reduce_ex__(self, protocol: Any) -> Any:  # noqa: ANN401 - as `object` has it
        """Pickle by name where the name leads here, as a function does, and by what is enclosed elsewhere."""
        name = _name_leading_to(self)
        return (enclose, (self.__wrapped__, self._self_plan, self._self_replays)) if name is None else name

    def __copy__(self) -> Any:  # noqa: ANN401 - a copy passes for a copy of what is enclosed
        return self._around_copy(copy.copy(self.__wrapped__))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:  # noqa: ANN401 - likewise
        return self._around_copy(copy.deepcopy(self.__wrapped__, memo))

    def _around_copy(self, copied: object) -> Any:  # noqa: ANN401 - likewise
        return self if copied is self.__wrapped__ else enclose(copied, self._self_plan, self._self_replays)


class EnclosedObject(Enclosed):
    """An enclosed object of a class with a `__call__` of its own, which frameworks look at to see how to call it."""

    def __init__(self, wrapped: Any, plan: CallPlan, replays: Replay | None) -> None:  # noqa: ANN401 - any such object
        Enclosed.__init__(self, wrapped, plan, replays)
        self._self_call = Enclosed(MethodType(static(type_of(wrapped), "__call__"), wrapped), plan, replays)

    @property
    def __call__(self) -> Any:  # noqa: ANN401 - it passes for the method
        """The method; it is what a call calls."""
        return self._self_call


def enclose(function: object, plan: CallPlan, replays: Replay | None = None) -> Any:  # noqa: ANN401 - it passes for the callable
    """Give a callable that passes for another one and records its calls.

    Args:
        function: The callable, or a static or class method as it stands in the body of a class.
        plan: What is recorded; its arguments' names are asked of the callable at the first call that is recorded.
        replays: What takes the place of its results while inputs are replayed; nothing where it is not given.
    """
    method = method_parts(function)
    if method is not None:
        make, inner = method
        return make(enclose(inner, plan, replays))
    kind = type_of(function)
    # What a class has is its metaclass's, and a method that is no function, as of builtins, tells frameworks nothing.
    has_method = not issubclass(kind, type) and type_of(static(kind, "__call__")) is FunctionType
    return (EnclosedObject if has_method else Enclosed)(function, plan, replays)


def method_parts(function: Any) -> tuple[Callable[[Any], Any], Any] | None:  # noqa: ANN401 - anything
    """Take a static or class method, as it stands in the body of a class, apart: into what makes one, and its function.

    Returns:
        Both; ``None`` for anything else.
    """
    kind = type_of(function)
    return (kind, function.__func__) if id(kind) in _METHODS else None


def callable_name(function: object) -> str:
    """Give the name that people know a callable by."""
    inner: Any = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    try:
        name: object = getattr(inner, "__name__", None)
    except Exception:  # noqa: BLE001 - code of the application's makes it up
        name = None
    return name if type(name) is str else type_name(type_of(inner)).rpartition(".")[2]


def _around(wrapped: Any, plan: CallPlan, replays: Replay | None) -> Callable[..., Any]:  # noqa: ANN401 - any callable
    """Give what is called in place of a callable, in the form that wrapt asks for."""
    plans: tuple[CallPlan, CallPlan] | None = None

    def plan_for(bound: bool) -> CallPlan:  # noqa: FBT001 - one of two
        nonlocal plans
        if plans is None:
            names = argument_names(wrapped)
            plans = replace(plan, arguments=names), replace(plan, arguments=names.bound())
        return plans[bound]

    def around(function: Any, instance: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401 - as wrapt asks for it
        if replays is not None:
            inputs = active()
            if inputs is not None:
                function = replayed_call(inputs, *replays, wrapped)
        this: CallPlan | None = plan
        try:  # noqa: SIM105 - a context manager is one more call, and the stack may be at its end
            this = None if current() is None else plan_for(instance is not None)
        except Exception:  # noqa: BLE001, S110 - the call may still be made
            pass
        return function(*args, **kwargs) if this is None else call(this, function, args, kwargs)

    return around


def _name_leading_to(enclosed: Any) -> str | None:  # noqa: ANN401 - a stand-in for anything
    try:
        name: str = enclosed.__wrapped__.__qualname__
        found: Any = sys.modules[enclosed.__wrapped__.__module__]
        for part in name.split("."):
            found = getattr(found, part)
    except (AttributeError, KeyError):
        return None
    return name if found is enclosed else None
