"""How many spans there were and what became of them: what `stats` gives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from pixie_otel.diagnostics import internal_errors
from pixie_otel.exporters.work_queue import QueueStats

if TYPE_CHECKING:
    from pixie_otel.tracing.hub import SpanHub

__all__ = ["HubStats", "TracingStats", "collect"]


@dataclass(frozen=True, slots=True)
class HubStats:
    """What became of the spans of a provider, as counted in this process."""

    ended: int
    """How many ended."""

    unsampled: int
    """How many of them are not to be exported, as the sampler said."""

    inherited: int
    """How many had been started before this process was forked off; the parent exports them."""

    after_shutdown: int
    """How many ended after the destinations were shut down."""

    truncated: int
    """How many have values of ours that were cut."""

    unattributed: int
    """How many started while a capture was open and belong to none."""

    handler_errors: int
    """How many calls of handlers failed."""

    destinations: tuple[QueueStats, ...]
    """The queues of the destinations; after a shutdown, as they were at its end."""

    captures: QueueStats | None
    """The queue of the captures; ``None`` where there is none."""

    handlers: QueueStats | None
    """The queue of the handlers, likewise."""


@dataclass(frozen=True, slots=True)
class TracingStats:
    """How many spans ended in this process, and what became of them.

    For each destination ``ended == written + queued + sum(dropped.values())`` holds at any moment.
    """

    ended: int = 0
    """How many spans ended, whoever made them."""

    unsampled: int = 0
    """How many of them are exported nowhere, as the sampler said."""

    inherited: int = 0
    """How many were open when this process was forked off; the parent exports them."""

    after_shutdown: int = 0
    """How many ended after `shutdown`."""

    truncated: int = 0
    """How many hold values that `wrap` or `observe` had to cut."""

    handler_errors: int = 0
    """How many calls of span handlers failed."""

    internal_errors: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often something failed inside pixie-otel, by what was being done."""

    destinations: tuple[QueueStats, ...] = ()
    """What became of the spans on their way to each destination; after a shutdown, as it was then."""

    handlers: QueueStats | None = None
    """What became of the spans on their way to the handlers that `add_handler` was given; ``None`` where none was."""

    def to_json(self) -> str:
        """Give all of it as a JSON object."""
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        said = [f"{self.ended} spans ended"]
        for count, meaning in (
            (self.unsampled, "not sampled"),
            (self.inherited, "left to the parent process"),
            (self.after_shutdown, "after the shutdown"),
            (self.truncated, "with values cut"),
        ):
            if count:
                said.append(f"{count} {meaning}")
        lines = [", ".join(said)]
        lines += [_line(destination) for destination in self.destinations]
        if self.handlers is not None:
            lines.append(_line(self.handlers))
        if self.handler_errors:
            lines.append(f"  {self.handler_errors} calls of span handlers failed")
        lines += [f"  failed inside pixie-otel: {where} ({count})" for where, count in self.internal_errors.items()]
        return "\n".join(lines)


def collect(hub: SpanHub | None) -> TracingStats:
    """Gather the counts of a hub; ``None`` where there is none yet."""
    if hub is None:
        return TracingStats(internal_errors=internal_errors())
    counts = hub.stats()
    return TracingStats(
        ended=counts.ended,
        unsampled=counts.unsampled,
        inherited=counts.inherited,
        after_shutdown=counts.after_shutdown,
        truncated=counts.truncated,
        handler_errors=counts.handler_errors,
        internal_errors=internal_errors(),
        destinations=counts.destinations,
        handlers=counts.handlers,
    )


def _line(queue: QueueStats) -> str:
    dropped = sum(queue.dropped.values())
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(queue.dropped.items()) if count)
    lost = f", {dropped} dropped ({reasons})" if dropped else ""
    waiting = f", {queue.queued} waiting" if queue.queued else ""
    return f"  {queue.name}: {queue.written} of {queue.ended} written{waiting}{lost}"
