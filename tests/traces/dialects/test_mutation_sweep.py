"""Every attribute of real spans of every instrumentation, broken in every way, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from broken_spans import (
    broken_values,
    changed,
    facts,
    folders,
    groups,
    reindexed,
    some_keys,
    spans_of,
    with_attribute,
    with_broken_events,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pixie_otel.traces.dialects.reading import SpanFacts

FOLDERS = folders()
"""One for each instrumentation, in each of its modes."""
TELLING = {
    "ai.operationId",
    "ai.observability.span_type",
    "gen_ai.operation.name",
    "genkit:metadata:subtype",
    "genkit:type",
    "input.mime_type",
    "langfuse.observation.type",
    "langsmith.span.kind",
    "llm.request.type",
    "lmnr.span.type",
    "logfire.msg_template",
    "logfire.span_type",
    "mastra.span.type",
    "mlflow.spanType",
    "openinference.span.kind",
    "output.mime_type",
    "traceloop.span.kind",
}
"""What says how all the rest is to be read: broken, they may cost more than one fact."""
PER_KEY = 3
"""How many of the ways to break a value the short sweep tries for each key: all come up in turn."""


def sweep(spans: Iterable[SpanFacts], *, every_way: bool) -> Iterator[tuple[str, str, list[str]]]:
    """Break one attribute after another.

    Args:
        spans: The spans.
        every_way: Whether each is broken in every way, or in a few that change from key to key.

    Yields:
        For each mutation the key, what was done, and the facts that it cost though they rest on other keys.
    """
    turn = 0
    for span in spans:
        whole = facts(span)
        for key in some_keys(span.attributes):
            gone = facts(without(span, key))
            yield key, "renamed", sorted(changed(gone, facts(without(span, key, instead=f"zork.{key}"))))
            rests = groups(changed(whole, gone))
            ways: list[Any] = list(broken_values(span.attributes[key]))
            if not every_way:
                ways = [ways[(turn + step * 11) % len(ways)] for step in range(PER_KEY)]
                turn += 1
            for value in ways:
                after = facts(with_attribute(span, key, value))
                yield key, f"{value!r:.60}", [] if key in TELLING else beyond(whole, after, rests)
            for other in reindexed(key):
                facts(without(span, key, instead=other))
                yield key, other, []
        for value in broken_values(None):
            for broken in with_broken_events(span, value) if every_way or turn % 5 == 0 else ():
                facts(broken)
                yield "", "event", []


def beyond(whole: dict[str, Any], after: dict[str, Any], rests: set[str]) -> list[str]:
    """Say which facts a broken value cost beyond what rests on its key, and what it speaks of.

    A span whose kind was broken is read as another one. What else has a value may have been there for want of a better
    one, so that a wrong one takes its place: that is one group of facts.
    """
    if whole["kind"] is not after["kind"]:
        return []
    found = groups(changed(whole, after)) - rests
    return sorted(found) if len(found) > 1 else []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_broken_attribute_costs_what_rests_on_it(folder: Path) -> None:
    """Nothing is raised, a key that nobody knows is none, and all other facts are read as before."""
    tried = 0
    for key, way, cost in sweep(spans_of(folder), every_way=False):
        tried += 1
        assert cost == [], (key, way)
    assert tried >= 10


@pytest.mark.long
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_attribute_broken_in_every_way(folder: Path) -> None:
    """The same for all spans of all files, and all ways to break a value."""
    for key, way, cost in sweep(spans_of(folder, every_file=True), every_way=True):
        assert cost == [], (key, way)
