"""`observe`: the decorator that makes each call of a function an observation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, Final, TypeVar, overload

from pixie_otel import attributes as keys
from pixie_otel.diagnostics import warn
from pixie_otel.tracing.arguments import ArgumentNames, argument_names
from pixie_otel.tracing.calls import CallPlan, begin, call, fail
from pixie_otel.tracing.faults import report
from pixie_otel.tracing.labels import Kind, end_attributes, kind_attribute, text_of
from pixie_otel.tracing.spans import leave_unfinished
from pixie_otel.tracing.streams import settle
from pixie_otel.tracing.type_facts import class_dict, type_name

__all__ = ["observe"]

T = TypeVar("T")
# The interpreter's flag of classes that are not built in; those stay as they are, and are called through a stand-in.
_MADE_BY_A_STATEMENT: Final = 1 << 9


@overload
def observe(function: T, /) -> T: ...


@overload
def observe(
    function: None = None,
    /,
    *,
    name: str | None = None,
    kind: Kind = "chain",
    capture_input: bool = True,
    capture_output: bool = True,
    session_id: str | None = None,
    user_id: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Callable[[T], T]: ...


def observe(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    kind: Kind = "chain",
    capture_input: bool = True,
    capture_output: bool = True,
    session_id: str | None = None,
    user_id: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Any:
    """Make each call of a function an observation: a span with its arguments, its result and its time.

    Use it as ``@observe`` or ``@observe(kind="tool")``, on functions of every kind, methods, partials, callable objects
    and classes with an ``__init__`` of their own. What comes back passes for what was given. A call costs next to
    nothing until `init` is called.

    Where the result is a generator or another stream, it comes back unconsumed, and the observation ends with it.

    Args:
        function: What to observe, where the decorator has no arguments.
        name: The observation's name; the function's own where it is not given.
        kind: What the function is for, as OpenInference's semantic conventions name the kinds of spans: ``agent``,
            ``tool``, ``retriever``, ``reranker``, ``llm``, ``embedding``, ``prompt``, ``guardrail``, ``evaluator``,
            else ``chain``.
        capture_input: Whether the arguments are recorded.
        capture_output: Whether the result is recorded.
        session_id: The conversation that all calls belong to; see `start_observation` for one that is known later.
        user_id: The user they are made for.
        metadata: Anything else to record with each call.

    Returns:
        The observed function, or the decorator.
    """

    def plan_of(own_name: str, arguments: ArgumentNames) -> CallPlan:
        label = own_name if name is None else text_of(name, "the name of an observation")
        written = kind_attribute(kind)
        return CallPlan(
            label,
            {keys.OI_SPAN_KIND: written},
            end_attributes(label, written, session_id, user_id, metadata),
            arguments,
            capture_input=capture_input,
            capture_output=capture_output,
            documents=written == "RETRIEVER",
        )

    def decorate(decorated: Any) -> Any:  # noqa: ANN401 - it passes for what it decorates
        try:
            return _observed(decorated, plan_of)
        except Exception as fault:  # noqa: BLE001 - the application works without being observed
            report("decorating a function", fault)
            return decorated

    return decorate if function is None else decorate(function)


def _observed(function: Any, plan_of: Callable[[str, ArgumentNames], CallPlan]) -> Any:  # noqa: ANN401 - it passes for the function
    from pixie_otel.tracing.callables import callable_name, enclose, method_parts

    method = method_parts(function)
    if method is not None:
        make, inner = method
        return make(_observed(inner, plan_of))
    if not callable(function):
        warn("observe", f"observe can decorate what can be called; a {type(function).__name__} stays as it is")
        return function
    plan = plan_of(callable_name(function), argument_names(function))
    made: Any = function
    if issubclass(type(made), type) and made.__flags__ & _MADE_BY_A_STATEMENT:
        _observe_making(made, plan)
        return made
    simple = _enclosed_function(function, plan)
    return enclose(function, plan) if simple is None else simple


def _enclosed_function(function: Any, plan: CallPlan) -> Any:  # noqa: ANN401 - it passes for the function
    """Give a function around a plain one; ``None`` for any other callable.

    A function of its own is called in a third of the time that a stand-in takes.
    """
    if type(function) is not FunctionType or inspect.isgeneratorfunction(function):
        return None
    if inspect.isasyncgenfunction(function):
        return None
    return _async(function, plan) if inspect.iscoroutinefunction(function) else _sync(function, plan)


def _observe_making(made: type[Any], plan: CallPlan) -> None:
    """Have a class record how its instances are made.

    The class stays the object that it is, as pickles of instances, `super`, `except` and annotations need it to. It
    gets no method that it did not have: other base classes, decorators and protocols look for what is not there.
    """
    original: Any = class_dict(made).get("__init__")
    if type(original) is not FunctionType:
        name = type_name(made)
        warn(f"observe-class:{name}", f"observe stands on {name}, which has no __init__ of its own to be recorded")
        return

    @functools.wraps(original)
    def initialize(self: object, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever the class takes
        if type(self) is not made:
            return original(self, *args, **kwargs)
        given: list[Any] = []

        def make(*args: Any, **kwargs: Any) -> object:  # noqa: ANN401 - likewise
            given.append(original(self, *args, **kwargs))
            return self

        call(plan, make, args, kwargs)
        return given[0]

    made.__init__ = initialize


def _sync(function: Callable[..., Any], plan: CallPlan) -> Callable[..., Any]:
    @functools.wraps(function)
    def observed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever the function takes and gives
        return call(plan, function, args, kwargs)

    return observed


def _async(function: Callable[..., Any], plan: CallPlan) -> Callable[..., Any]:
    @functools.wraps(function)
    async def observed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever the function takes and gives
        # `call` once more, with the same reasons for each line; it cannot be shared, as this one waits in the middle.
        opened = None
        try:  # noqa: SIM105 - a context manager is one more call, and the stack may be at its end
            opened = begin(plan, args, kwargs)
        except Exception:  # noqa: BLE001, S110 - the function is called anyway
            pass
        if opened is None:
            return await function(*args, **kwargs)
        try:
            result = await function(*args, **kwargs)
        except BaseException as error:
            try:
                fail(opened, error)
            except Exception:  # noqa: BLE001 - as above
                leave_unfinished(opened)
            except BaseException:
                leave_unfinished(opened)
                raise
            raise
        try:
            return settle(opened, result)
        except Exception:  # noqa: BLE001 - as above
            leave_unfinished(opened)
            return result
        except BaseException:
            leave_unfinished(opened)
            raise

    return observed
