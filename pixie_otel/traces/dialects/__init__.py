"""Dialects: one module for each set of attribute conventions, all asked the same way.

A dialect module has ``NAME``, ``ROOTS`` (the first segments of the keys that it reads, so that it is asked only where
it may know something) and ``read(span) -> Reading | None``. To add one, write the module and put it into `DIALECTS`;
what an earlier dialect says counts before what a later one says, so that several vocabularies on one span make one
observation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from pixie_otel.traces.dialects import (
    adot,
    anthropic_sdk,
    autogen,
    coding_agents,
    crewai,
    genai,
    generic,
    genkit,
    google_adk,
    haystack,
    langfuse,
    langsmith,
    litellm,
    logfire,
    mastra,
    mlflow,
    openinference,
    openlit,
    openllmetry,
    pydantic_ai,
    semantic_kernel,
    spring_ai,
    strands,
    vercel,
    vocabularies,
)
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


DIALECTS: Final[tuple[Dialect, ...]] = (
    *(
        Dialect(module.NAME, module.ROOTS, module.read)
        for module in (
            litellm,
            langfuse,
            vercel,
            openinference,
            mlflow,
            langsmith,
            openlit,
            pydantic_ai,
            logfire,
            mastra,
            genkit,
            google_adk,
            haystack,
            strands,
            semantic_kernel,
            anthropic_sdk,
            crewai,
            spring_ai,
            autogen,
            coding_agents,
        )
    ),
    *(Dialect(row.name, row.roots, partial(vocabularies.read, row)) for row in vocabularies.VOCABULARIES),
    *(
        Dialect(module.NAME, module.ROOTS, module.read)
        for module in (
            openllmetry,
            genai,
            adot,
            generic,
        )
    ),
)
"""All dialects, in the order in which they are asked."""

_ROOTS: Final = frozenset(root for dialect in DIALECTS for root in dialect.roots)


# The spans of an application have the same few roots again and again.
@lru_cache(maxsize=1024)
def _known(roots: frozenset[str]) -> tuple[Dialect, ...]:
    """Give the dialects that know one of some roots."""
    return _asked(DIALECTS, roots)


def _asked(dialects: Iterable[Dialect], roots: set[str] | frozenset[str]) -> tuple[Dialect, ...]:
    return tuple(dialect for dialect in dialects if not dialect.roots.isdisjoint(roots))


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
    # A span that has no keys at all may still be known by its name and its scope.
    roots.add(span.scope.name.partition(".")[0])
    roots.add(span.name.partition(".")[0])
    merged: Reading | None = None
    names: list[str] = []
    for dialect in _known(_ROOTS & roots) if dialects is DIALECTS else _asked(dialects, roots):
        reading = dialect.read(span)
        if reading is None:
            continue
        names.append(dialect.name)
        if merged is None:
            merged = reading
        else:
            merged.fill(reading)
    return merged or Reading(), tuple(names)
