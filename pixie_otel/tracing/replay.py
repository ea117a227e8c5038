"""Evaluation mode: recorded inputs by name, for the context that they were given to and all it starts."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from contextvars import ContextVar, Token
from types import TracebackType
from typing import cast

from pixie_otel.errors import WrapRegistryMissError, WrapTypeMismatchError
from pixie_otel.evaluable import NamedData

__all__ = ["ReplayedInputs", "active", "replay_inputs"]

_active: ContextVar[ReplayedInputs | None] = ContextVar("pixie_otel_replayed_inputs", default=None)


class ReplayedInputs:
    """Recorded values by name, each taken in order; the last one of a name is given again and again.

    Threads and tasks that inherit the context share the order.
    """

    def __init__(self, values: Iterable[NamedData] | Mapping[str, object]) -> None:
        """Take the values, as copies.

        Args:
            values: The values; a mapping has one for each name.

        Raises:
            WrapTypeMismatchError: A value is no JSON.
        """
        pairs: Iterable[tuple[str, object]]
        if isinstance(values, Mapping):
            pairs = cast("Mapping[str, object]", values).items()
        else:
            pairs = ((item.name, item.value) for item in values)
        self._texts: dict[str, list[str]] = {}
        self._next: dict[str, int] = {}
        # A value may be asked for in a signal handler or a finalizer, which must not wait for what it interrupted.
        self._lock = threading.RLock()
        for name, value in pairs:
            try:
                text = json.dumps(value)
            except (TypeError, ValueError, RecursionError) as error:
                raise WrapTypeMismatchError(name, "JSON", str(error)) from None
            self._texts.setdefault(name, []).append(text)

    def take(self, name: str) -> str:
        """Give the next value of a name, as JSON.

        Raises:
            WrapRegistryMissError: No value has this name.
        """
        texts = self._texts.get(name)
        if texts is None:
            raise WrapRegistryMissError(name, tuple(self._texts))
        with self._lock:
            position = self._next.get(name, 0)
            self._next[name] = position + 1
        return texts[min(position, len(texts) - 1)]


class replay_inputs:  # noqa: N801 - it is used as a function
    """Replay recorded inputs in the current context: ``wrap(purpose="input")`` gives them in place of the real ones.

    Use it with ``with``. Contexts inside one another do not mix: what the inner one does not know is an error there.

    Args:
        values: The values; a name that stands several times has its values in order. A mapping has one for each name.

    Raises:
        WrapTypeMismatchError: A value is no JSON.
    """

    def __init__(self, values: Iterable[NamedData] | Mapping[str, object]) -> None:
        self._inputs = ReplayedInputs(values)
        self._tokens: list[Token[ReplayedInputs | None]] = []

    def __enter__(self) -> ReplayedInputs:
        self._tokens.append(_active.set(self._inputs))
        return self._inputs

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        token = self._tokens.pop()
        try:
            _active.reset(token)
        except ValueError:
            # It was entered in another context, as with the fixtures of some test runners.
            if _active.get() is self._inputs:
                _active.set(None)


def active() -> ReplayedInputs | None:
    """Give the inputs that are replayed in the current context; ``None`` where the real ones count."""
    return _active.get()
