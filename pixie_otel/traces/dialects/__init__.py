"""Dialects: one module for each set of attribute conventions, all asked the same way.

A dialect module has ``NAME``, ``ROOTS`` (keys, or beginnings of keys up to a dot, one of which a span has that it knows
something of, so that it is asked only there) and ``read(span) -> Reading | None``. To add one, write the module and put
it into `DIALECTS`; what an earlier dialect says counts before what a later one says, so that several vocabularies on
one span make one observation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from pixie_otel.traces.dialects.values import Kept

__all__ = ["DIALECTS", "Dialect", "read"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One set of attribute conventions.

    Attributes:
        name: What it is called.
        roots: Keys, and beginnings of keys up to a dot, one of which a span has that it knows something of; also as the
            name of an event, of the scope or of the span.
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
    *(Dialect(row.name, vocabularies.roots(row), partial(vocabularies.read, row)) for row in vocabularies.VOCABULARIES),
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


class _Choice:
    """Dialects of which those are asked that may know a span.

    Args:
        dialects: The dialects, in order.
    """

    def __init__(self, dialects: Sequence[Dialect]) -> None:
        self._dialects = dialects
        self._by_root: dict[str, int] = {}
        for position, dialect in enumerate(dialects):
            for root in dialect.roots:
                self._by_root[root] = self._by_root.get(root, 0) | 1 << position
        self._segments = max((root.count(".") + 1 for root in self._by_root), default=1)
        self._by_key = Kept(self._knowing)
        self._chosen = lru_cache(maxsize=1024)(self._listed)

    def of(self, span: SpanFacts) -> tuple[Dialect, ...]:
        """Give the dialects that may know something of a span, in order."""
        by_key = self._by_key
        # A span that has no keys at all may still be known by its name and its scope.
        found = by_key[span.scope.name] | by_key[span.name]
        for some in set(map(by_key.__getitem__, span.attributes)):
            found |= some
        # Events and log records may hold all that there is, under keys that the span does not have.
        for event in span.events:
            found |= by_key[event.name]
        return self._chosen(found)

    def _knowing(self, key: str) -> int:
        """Say which dialects may know a key: each is a bit."""
        found, beginning = 0, ""
        for segment in key.split(".", self._segments)[: self._segments]:
            beginning = f"{beginning}.{segment}" if beginning else segment
            found |= self._by_root.get(beginning, 0)
        return found

    def _listed(self, bits: int) -> tuple[Dialect, ...]:
        return tuple(dialect for position, dialect in enumerate(self._dialects) if bits >> position & 1)


_ALL: Final = _Choice(DIALECTS)


def read(span: SpanFacts, dialects: Sequence[Dialect] = DIALECTS) -> tuple[Reading, tuple[str, ...]]:
    """Read a span through every dialect that may know something of it.

    Args:
        span: The span.
        dialects: The dialects to ask, in order.

    Returns:
        What they say together, and the names of those that said something.
    """
    choice = _ALL if dialects is DIALECTS else _Choice(dialects)
    merged: Reading | None = None
    names: list[str] = []
    for dialect in choice.of(span):
        reading = dialect.read(span)
        if reading is None:
            continue
        names.append(dialect.name)
        if merged is None:
            merged = reading
        else:
            merged.fill(reading)
    return merged or Reading(), tuple(names)
