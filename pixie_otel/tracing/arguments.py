"""The arguments of a call by their names, without asking the signature at every call."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["NO_NAMES", "ArgumentNames", "argument_names"]

_RECEIVERS: Final = frozenset({"self", "cls"})


@dataclass(frozen=True, slots=True)
class ArgumentNames:
    """What the positional arguments of a callable are called.

    Attributes:
        names: The names of the parameters that take one, in order.
        rest: The name under which all further ones stand, as a list.
        receiver: Whether the first is the object or class that a method belongs to.
    """

    names: tuple[str, ...] = ()
    rest: str = "args"
    receiver: bool = False

    def bind(self, args: tuple[object, ...], kwargs: dict[str, Any]) -> dict[str, object]:
        """Name the arguments of one call, whether or not the callable would take them.

        Args:
            args: The positional arguments.
            kwargs: The others; they keep their names.

        Returns:
            The arguments in order, without the object or class that a method belongs to, and without defaults.
        """
        names = self.names
        if self.receiver:
            names, args = names[1:], args[1:]
        bound: dict[str, object] = dict(zip(names, args, strict=False))
        if len(args) > len(names):
            bound[self.rest] = list(args[len(names) :])
        if kwargs:
            bound.update(kwargs)
        return bound

    def bound(self) -> ArgumentNames:
        """Give the names for calls in which the receiver is not among the arguments."""
        return ArgumentNames(self.names[1:], self.rest) if self.receiver else self


NO_NAMES: Final = ArgumentNames()
"""For callables that do not tell their parameters."""


def argument_names(function: object) -> ArgumentNames:
    """Read the names off a callable's signature, as far as it tells one.

    Args:
        function: Any callable.

    Returns:
        The names; `NO_NAMES` where it has no signature, as some builtins.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())  # type: ignore[arg-type] # asked, not called
    except Exception:  # noqa: BLE001 - a signature may be made by code of the application's, and names are a nicety
        return NO_NAMES
    names = tuple(
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    )
    rest = next((parameter.name for parameter in parameters if parameter.kind is parameter.VAR_POSITIONAL), "args")
    return ArgumentNames(names, rest, receiver=bool(names) and names[0] in _RECEIVERS)
