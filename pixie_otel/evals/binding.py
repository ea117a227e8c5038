"""Binding: from anything that can judge to a `BoundEvaluator`, which the engine knows how to call."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, cast

from pixie_otel.errors import ConfigError
from pixie_otel.evals.evaluation import Need, Severity
from pixie_otel.evals.registry import BUILTINS
from pixie_otel.evaluable import UNSET, Unset

if TYPE_CHECKING:
    from pixie_otel.evaluable import Evaluable
    from pixie_otel.traces.trace import Trace

__all__ = ["BoundEvaluator", "bind", "bind_all", "distinct"]

_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class BoundEvaluator:
    """An evaluator, and what there is to know before it is called.

    Attributes:
        name: What it is called in results, unique within a run.
        call: The evaluator itself.
        needs: What a case must hold before it is called.
        threshold: The score to reach by its own account; ``None`` to be measured only, `UNSET` when it does not say.
        severity: Whether missing the threshold fails the case.
        takes_trace: It has a parameter ``trace``.
        is_async: Calling it gives an awaitable.
        trusted: It is one of ours: quick, and it changes nothing. So it needs no copies, no thread and no time limit.
        reference: What the user typed to name it, without its settings; empty where it was given as an object.
        source: Where it is defined: the file or module, and the name in it.
        parameters: What it was made with, as far as that is known: everything of a built-in evaluator, else what was
            typed.
        digest: The SHA-256 of the user's file that defines it.
    """

    name: str
    call: Callable[..., Any]
    needs: frozenset[Need] = frozenset()
    threshold: float | Unset | None = UNSET
    severity: Severity = Severity.FAIL
    takes_trace: bool = False
    is_async: bool = False
    trusted: bool = False
    reference: str = ""
    source: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    digest: str | None = None

    def __call__(self, evaluable: Evaluable, trace: Trace | None = None) -> object:
        """Call the evaluator, with the trace where it takes one.

        Args:
            evaluable: What is judged.
            trace: The trace it came from, if any.

        Returns:
            Whatever the evaluator returns, which may be an awaitable or nonsense.
        """
        return self.call(evaluable, trace=trace) if self.takes_trace else self.call(evaluable)


def bind(evaluator: object, *, name: str | None = None, default_name: str | None = None) -> BoundEvaluator:
    """Find out how an evaluator is to be called.

    Args:
        evaluator: A function, a method, or an object that can be called, ``async`` or not. It may carry the attributes
            ``name``, ``needs``, ``threshold`` and ``severity``. A class is instantiated without arguments.
        name: What to call it; default: its attribute ``name``, else its ``__name__``, else its class's name.
        default_name: What to call it where it has no attribute ``name`` that is a text.

    Raises:
        ConfigError: It cannot be called with an evaluable, or one of its attributes is not what it should be.
    """
    if isinstance(evaluator, BoundEvaluator):
        return evaluator if name is None else replace(evaluator, name=name)
    if inspect.isclass(evaluator):
        return bind(_instance(evaluator), name=name, default_name=default_name)
    if not callable(evaluator):
        raise ConfigError(f"{evaluator!r} ({type(evaluator).__name__}) is no evaluator: it cannot be called")
    label = name or _name(evaluator, default_name)
    if hasattr(evaluator, "eval_async") and hasattr(evaluator, "_run_eval_sync"):
        raise ConfigError(f"evaluator {label!r} is a scorer of autoevals: wrap it, AutoevalsAdapter({label}(…))")
    is_async = inspect.iscoroutinefunction(evaluator) or inspect.iscoroutinefunction(type(evaluator).__call__)
    is_builtin = _is_builtin(evaluator)
    return BoundEvaluator(
        name=label,
        call=evaluator,
        needs=_needs(evaluator, label),
        threshold=_threshold(evaluator, label),
        severity=_severity(evaluator, label),
        takes_trace=_takes_trace(evaluator, label),
        is_async=is_async,
        trusted=not is_async and is_builtin,
        source=_source(evaluator),
        parameters=_parameters(evaluator) if is_builtin else {},
    )


def bind_all(evaluators: Iterable[object]) -> list[BoundEvaluator]:
    """Bind several evaluators, and tell apart those of the same name: ``name``, ``name-2``, ``name-3``.

    The same evaluator with other parameters is a second evaluator, so it gets a name of its own.

    Args:
        evaluators: What `bind` takes.

    Raises:
        ConfigError: One of them is no evaluator.
    """
    return distinct([bind(evaluator) for evaluator in evaluators])


def distinct(evaluators: Sequence[BoundEvaluator]) -> list[BoundEvaluator]:
    """Number the evaluators that bear a name which an earlier one has.

    Args:
        evaluators: Bound evaluators, in order.
    """
    taken = {evaluator.name for evaluator in evaluators}
    seen: set[str] = set()
    named: list[BoundEvaluator] = []
    for evaluator in evaluators:
        name, number = evaluator.name, 1
        while name in seen or (number > 1 and name in taken):
            number += 1
            name = f"{evaluator.name}-{number}"
        seen.add(name)
        named.append(evaluator if number == 1 else replace(evaluator, name=name))
    return named


def _instance(cls: type[Any]) -> object:
    try:
        inspect.signature(cls).bind()
    except ValueError:
        # A class written in C may have no signature; then calling it shows whether it wants arguments.
        pass
    except TypeError as error:
        raise ConfigError(f"evaluator {cls.__name__} is a class, and wants arguments: {error}") from error
    return cls()


def _attribute(evaluator: object, key: str) -> object:
    try:
        found: object = getattr(evaluator, key, _MISSING)
        return getattr(_unwrapped(evaluator), key, _MISSING) if found is _MISSING else found
    except Exception as error:
        # A property is the user's code, and may raise anything.
        kind = type(evaluator).__name__
        raise ConfigError(f"evaluator {kind}: its {key} cannot be read: {type(error).__name__}: {error}") from error


def _unwrapped(evaluator: object) -> object:
    while isinstance(evaluator, functools.partial):
        evaluator = cast("Any", evaluator).func
    return evaluator


def _name(evaluator: object, default: str | None) -> str:
    name = _attribute(evaluator, "name")
    if default is not None and not isinstance(name, str):
        return default
    if name is _MISSING:
        name = _attribute(evaluator, "__name__")
    if name is _MISSING:
        name = type(evaluator).__name__
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"an evaluator's name is a text, not {name!r} ({evaluator!r})")
    return name.strip()


def _needs(evaluator: object, label: str) -> frozenset[Need]:
    needs = _attribute(evaluator, "needs")
    if needs is _MISSING or needs is None:
        return frozenset()
    try:
        # A text alone would be taken letter by letter.
        return frozenset(Need(need) for need in ([needs] if isinstance(needs, str) else cast("Iterable[str]", needs)))
    except (TypeError, ValueError):
        valid = ", ".join(Need)
        raise ConfigError(f"evaluator {label!r}: needs is {needs!r}; give any of: {valid}") from None


def _threshold(evaluator: object, label: str) -> float | Unset | None:
    threshold = _attribute(evaluator, "threshold")
    if threshold is _MISSING or threshold is UNSET:
        return UNSET
    if threshold is None:
        return None
    if not isinstance(threshold, int | float) or isinstance(threshold, bool) or not 0 <= threshold <= 1:
        raise ConfigError(
            f"evaluator {label!r}: threshold is {threshold!r}; give a number from 0 to 1, or None to measure only"
        )
    return float(threshold)


def _severity(evaluator: object, label: str) -> Severity:
    severity = _attribute(evaluator, "severity")
    if severity is _MISSING:
        return Severity.FAIL
    try:
        return Severity(cast("str", severity))
    except ValueError:
        valid = " or ".join(Severity)
        raise ConfigError(f"evaluator {label!r}: severity is {severity!r}; give {valid}") from None


def _takes_trace(evaluator: Callable[..., Any], label: str) -> bool:
    try:
        signature = inspect.signature(evaluator)
    except (TypeError, ValueError):
        # Some callables written in C have no signature. They know nothing of traces.
        return False
    takes_trace = "trace" in signature.parameters
    try:
        signature.bind(None, **({"trace": None} if takes_trace else {}))
    except TypeError as error:
        raise ConfigError(
            f"evaluator {label!r} has the signature {signature}, and is called with the evaluable alone, "
            f"or with the evaluable and trace=…: {error}"
        ) from error
    return takes_trace


def _is_builtin(evaluator: object) -> bool:
    # By the registry and by identity: nothing that users define, derive, rename or copy can be taken for one of ours.
    cls = type(evaluator)
    info = BUILTINS.get(cls.__name__)
    if info is None or cls.__module__ != info.module:
        return False
    return getattr(sys.modules.get(info.module), info.attribute, None) is cls


def _parameters(evaluator: object) -> dict[str, Any]:
    # Threshold and severity are set for a run, and stand beside these.
    names = [setting.name for setting in fields(cast("Any", evaluator))]
    return {name: getattr(evaluator, name) for name in names if name not in {"threshold", "severity"}}


def _source(evaluator: object) -> str:
    inner = _unwrapped(evaluator)
    owner: object = inner if inspect.isroutine(inner) else type(inner)
    module, name = getattr(owner, "__module__", None) or "", getattr(owner, "__qualname__", "")
    return f"{module}:{name}" if module else str(name)
