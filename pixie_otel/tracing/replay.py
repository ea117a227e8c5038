"""Evaluation mode: recorded inputs by name, for the block that they were given to and all it starts.

They are kept twice: in a context variable, which tasks inherit and servers leave alone, and in OpenTelemetry's context,
which threads and pools are made to inherit while a block is open.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Final, cast

from opentelemetry.context import attach, create_key, get_current, set_value

from pixie_otel.errors import WrapRegistryMissError
from pixie_otel.evaluable import NamedData

__all__ = ["ReplayedInputs", "active", "replay_inputs"]

_active: Final[ContextVar[ReplayedInputs | None]] = ContextVar("pixie_otel_replayed_inputs", default=None)
_CARRIED: Final = create_key("pixie_otel.replayed_inputs")
_was_used = False
"""Whether anything was ever replayed in this process: `wrap` in production asks no further."""


class ReplayedInputs:
    """Recorded values by name, each taken in order; the last one of a name is given again and again.

    Threads and tasks that inherit the context share the order.
    """

    def __init__(self, values: Iterable[NamedData] | Mapping[str, object]) -> None:
        """Take the values, as copies.

        Args:
            values: The values; a mapping has one for each name.

        Raises:
            TypeError: A value is no JSON.
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
                raise TypeError(f"replay_inputs: the value of {name!r} is no JSON: {error}") from None
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
    """Replay recorded inputs in a block: ``wrap(purpose="input")`` gives them in place of the real ones.

    Use it with ``with``. It holds for the tasks, threads and pools that are used within; threads that ran before ask
    the outside world as ever. Blocks inside one another do not mix: what the inner one does not know is an error there.

    Args:
        values: The values, such as the `eval_input` that `pixie_otel.root` gives for a recorded trace; a name that
            stands several times has its values in order. A mapping has one for each name.

    Raises:
        TypeError: A value is no JSON.
    """

    def __init__(self, values: Iterable[NamedData] | Mapping[str, object]) -> None:
        self._inputs = ReplayedInputs(values)
        self._entered: list[tuple[Token[ReplayedInputs | None], object]] = []

    def __enter__(self) -> ReplayedInputs:
        # Loaded here, as `wrap` loads this module in production.
        from pixie_otel.tracing.thread_contexts import carry

        global _was_used  # noqa: PLW0603 - see there
        _was_used = True
        carry()
        self._entered.append((_active.set(self._inputs), get_current().get(_CARRIED)))
        attach(set_value(_CARRIED, self._inputs))
        return self._inputs

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        from pixie_otel.tracing.thread_contexts import carry_no_more

        carry_no_more()
        token, carried_before = self._entered.pop()
        # Without its token, as OpenTelemetry logs an error where that is of another context.
        if get_current().get(_CARRIED) is self._inputs:
            attach(set_value(_CARRIED, carried_before))
        try:
            _active.reset(token)
        except ValueError:
            # It was entered in another context, as with the fixtures of some test runners.
            if _active.get() is self._inputs:
                _active.set(None)


def active() -> ReplayedInputs | None:
    """Give the inputs that are replayed in the current context; ``None`` where the real ones count."""
    found = _active.get()
    if found is None and _was_used:
        return cast("ReplayedInputs | None", get_current().get(_CARRIED))
    return found
