"""Dialects: one module for each set of attribute conventions, all asked the same way.

A dialect module has ``NAME``, ``ROOTS`` (the first segments of the keys that it reads, so that it is asked only where
it may know something) and ``read(span) -> Reading | None``. To add one, write the module and put it into `DIALECTS`;
what an earlier dialect says counts before what a later one says, so that several vocabularies on one span make one
observation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from pixie_otel.traces.dialects import genai, generic, openinference, openllmetry
from pixie_otel.traces.dialects.reading import Reading, SpanFacts

__all__ = ["DIALECTS", "Dialect", "read"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One set of attribute conventions.

    Attributes:
        name: What it is called.
        roots: The first segments of the keys that it reads.
        read: Reads a span; gives ``None`` where it knows nothing of it.
    """

    name: str
    roots: frozenset[str]
    read: Callable[[SpanFacts], Reading | None]


DIALECTS: Final[tuple[Dialect, ...]] = tuple(
    Dialect(module.NAME, module.ROOTS, module.read) for module in (openinference, openllmetry, genai, generic)
)
"""All dialects, in the order in which they are asked."""


def read(span: SpanFacts, dialects: Iterable[Dialect] = DIALECTS) -> tuple[Reading, tuple[str, ...]]:
    """Read a span through every dialect that knows something of it.

    Args:
        span: The span.
        dialects: The dialects to ask, in order.

    Returns:
        What they say together, and the names of those that said something.
    """
    roots = {key.partition(".")[0] for key in span.attributes}
    # Events and log records may hold all that there is, under keys that the span does not have.
    roots.update(event.name.partition(".")[0] for event in span.events)
    merged: Reading | None = None
    names: list[str] = []
    for dialect in dialects:
        if dialect.roots.isdisjoint(roots):
            continue
        reading = dialect.read(span)
        if reading is None:
            continue
        names.append(dialect.name)
        if merged is None:
            merged = reading
        else:
            merged.fill(reading)
    return merged or Reading(), tuple(names)
