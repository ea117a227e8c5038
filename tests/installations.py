"""Distributions that instrument something, in a folder of their own."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

__all__ = ["MODULE", "Installation"]


_numbers = itertools.count()


MODULE = """
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor

class Instrumentor(BaseInstrumentor):
    calls = []

    def instrumentation_dependencies(self):
        return {needs!r}

    def _instrument(self, **arguments):
        {instrument}
        self.calls.append(arguments)

    def _uninstrument(self, **arguments):
        {uninstrument}
        self.calls.append(None)
"""


class Installation:
    """Distributions in a folder of their own, and nothing else that is installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: list[str] = []

    def add(
        self,
        name: str,
        module: str,
        *,
        needs: list[str] | None = None,
        declared: bool = True,
        instrument: str = "pass",
        uninstrument: str = "pass",
        source: str = MODULE,
    ) -> None:
        """Install a distribution that instruments something."""
        number = next(_numbers)
        path = self.folder / Path(*module.split("."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".py").write_text(
            source.format(needs=needs or [], instrument=instrument, uninstrument=uninstrument), encoding="utf-8"
        )
        info = self.folder / f"fake_{number}-1.0.dist-info"
        info.mkdir()
        extras = [f'Requires-Dist: {need}; extra == "instruments"' for need in needs or [] if declared]
        metadata = ["Metadata-Version: 2.1", f"Name: fake-{number}", "Version: 1.0", "Provides-Extra: instruments"]
        (info / "METADATA").write_text("\n".join([*metadata, *extras]) + "\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(
            f"[opentelemetry_instrumentor]\n{name} = {module}:Instrumentor\n", encoding="utf-8"
        )
        self.modules.append(module)

    def calls(self, module: str) -> list[Any]:
        """Say how an instrumentor was called: with which arguments, ``None`` for its end; nothing if not loaded."""
        loaded = sys.modules.get(module)
        return [] if loaded is None else list(loaded.Instrumentor.calls)
