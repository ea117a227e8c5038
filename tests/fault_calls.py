"""Calls of the operating system that fail when they are told to, for the exporters only."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import Any

import pytest

_OURS = "pixie_otel.exporters."


class FailingCalls:
    """Counts what the exporters call in `os`, and makes single calls fail.

    Args:
        monkeypatch: Puts everything back.
        functions: The names of the functions in `os`.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *functions: str) -> None:
        self.calls: Counter[str] = Counter()
        self.failed = 0
        self._faults: dict[tuple[str, int], OSError | None] = {}
        self._always: dict[str, OSError] = {}
        for name in functions:
            monkeypatch.setattr(os, name, self._replacement(name, getattr(os, name)))

    def fail(self, function: str, nth: int, error: int) -> None:
        """Let the n-th call from now on raise an error."""
        self._faults[function, self.calls[function] + nth] = OSError(error, os.strerror(error))

    def write_short(self, nth: int) -> None:
        """Let the n-th write from now on take only a part."""
        self._faults["write", self.calls["write"] + nth] = None

    def fail_always(self, function: str, error: int) -> None:
        """Let every call raise an error, until `heal`."""
        self._always[function] = OSError(error, os.strerror(error))

    def heal(self) -> None:
        """Let everything work again."""
        self._faults.clear()
        self._always.clear()

    def _replacement(self, name: str, original: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            if not sys._getframe(1).f_globals.get("__name__", "").startswith(_OURS):
                return original(*arguments, **options)
            self.calls[name] += 1
            fault = name, self.calls[name]
            error = self._always.get(name) or self._faults.get(fault)
            if error is not None:
                self.failed += 1
                raise error
            if fault in self._faults:
                self.failed += 1
                descriptor, data = arguments
                return original(descriptor, data[: max(len(data) // 2, 1)])
            return original(*arguments, **options)

        return call
