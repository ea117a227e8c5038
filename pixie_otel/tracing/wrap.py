"""`wrap`: what goes into an application and comes out of it, recorded where it passes, and replayed for evaluation."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias, TypeVar

from pixie_otel import attributes as keys
from pixie_otel.diagnostics import warn
from pixie_otel.errors import WrapRegistryMissError, WrapTypeMismatchError
from pixie_otel.tracing.faults import report
from pixie_otel.tracing.labels import shown, text_of
from pixie_otel.tracing.replay import active
from pixie_otel.tracing.runtime import Runtime, current
from pixie_otel.tracing.spans import start_span
from pixie_otel.tracing.stream_kinds import PLAIN_TYPES, is_of_database, is_stand_in_for_anything, stream_kind
from pixie_otel.tracing.streams import follow
from pixie_otel.tracing.type_facts import type_of

__all__ = ["Purpose", "wrap"]

T = TypeVar("T")
Purpose: TypeAlias = Literal["input", "output", "state"]
"""What a wrapped value is to the application: what it is given, what it gives, or what it knows in between."""

_PURPOSES: Final = ("input", "output", "state")


def wrap(
    data: T,
    *,
    purpose: Purpose,
    name: str,
    description: str | None = None,
    type: Any = None,  # noqa: ANN401 - a class, or anything of `typing`
) -> T:
    """Record what passes here, and give it back.

    A value comes back as itself. A callable comes back as one that passes for it, and each of its calls is recorded. A
    generator or another stream comes back unconsumed, with its whole protocol, and is recorded when it ends. Nothing is
    recorded until `init` is called.

    While inputs are replayed (`pixie_otel.testing.replay_inputs`), ``purpose="input"`` gives the recorded value of this
    name in place of `data`, and a callable is not called at all.

    Args:
        data: Anything.
        purpose: ``input`` for what the application gets from outside, ``output`` for what it gives, ``state`` for what
            it knows in between.
        name: The name under which it is evaluated.
        description: What it is, for people.
        type: What a replayed value is rebuilt to, where `data` or the callable's return annotation do not say it all,
            as a list does not say what is in it; of a stream, the type of its items.

    Returns:
        `data` itself, or what passes for it.

    Raises:
        WrapRegistryMissError: Inputs are replayed, and none has this name.
        WrapTypeMismatchError: The replayed input cannot become what is needed.
    """
    try:
        runtime = current()
        inputs = active() if purpose == "input" else None
        if runtime is None and inputs is None and (id(type_of(data)) in PLAIN_TYPES or not callable(data)):
            return data
        if _is_callable(data):
            return _wrapped_callable(data, purpose, name, description, type)  # type: ignore[no-any-return] # passes for it
        given: Any = data
        if inputs is not None:
            from pixie_otel.tracing.rebuild import replayed_value

            given = replayed_value(inputs, name, type, data)
        if runtime is not None:
            given = _recorded(given, runtime, purpose, name, description)
        return given  # type: ignore[no-any-return] # it is the same, or passes for it
    except (WrapRegistryMissError, WrapTypeMismatchError):
        raise
    except Exception as fault:  # noqa: BLE001 - the application gets what it gave
        try:  # noqa: SIM105 - a context manager is one more call, and the stack may be at its end
            report("wrapping a value", fault)
        except Exception:  # noqa: BLE001, S110 - nobody can be told
            pass
        return data


def _is_callable(data: object) -> bool:
    # The connections of sqlite3 can be called, and what else is for connections takes them by their very type.
    return callable(data) and not is_stand_in_for_anything(type(data)) and not is_of_database(type(data))


def _attributes(purpose: object, name: str, description: object) -> dict[str, str]:
    if type(purpose) is not str or purpose not in _PURPOSES:
        word = shown(purpose)
        warn(
            f"purpose:{name}:{word}",
            f"wrap(…, name={name!r}): there is no purpose {word}, so it is recorded as state; "
            f"purposes are {', '.join(_PURPOSES)}",
        )
        purpose = "state"
    attributes = {
        keys.OI_SPAN_KIND: "CHAIN",
        keys.PIXIE_WRAP_NAME: name,
        keys.PIXIE_WRAP_PURPOSE: purpose,
    }
    if description is not None:
        attributes[keys.PIXIE_WRAP_DESCRIPTION] = text_of(description, "the description of a wrap")
    return attributes


def _wrapped_callable(data: Any, purpose: object, name: object, description: object, target: object) -> Any:  # noqa: ANN401 - it passes for the callable
    from pixie_otel.tracing.callables import enclose
    from pixie_otel.tracing.calls import CallPlan

    label = text_of(name, "the name of a wrap")
    plan = CallPlan(label, _attributes(purpose, label, description))
    return enclose(data, plan, (label, target) if purpose == "input" else None)


def _recorded(data: Any, runtime: Runtime, purpose: object, name: object, description: object) -> Any:  # noqa: ANN401 - the same, or a stand-in for the stream
    label = text_of(name, "the name of a wrap")
    opened = start_span(runtime, label, _attributes(purpose, label, description))
    if opened is None:
        return data
    kind = stream_kind(data)
    if kind is not None:
        return follow(opened, data, kind)
    if purpose == "input":
        opened.put_input(data)
    else:
        opened.put_output(data)
    opened.finish()
    return data
