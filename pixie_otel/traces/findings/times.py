"""Whether spans lie within the time of those that they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pixie_otel.traces.findings.found import Finding, Scene

__all__ = ["late_spans"]

_SLACK_NANO: Final = 1_000_000


def late_spans(scene: Scene) -> Iterator[Finding]:
    """Find spans that started when their parents had ended.

    Args:
        scene: The trace.
    """
    for parent in scene.trace.walk():
        if not parent.children:
            continue
        above = parent.span
        end = above.end_time_unix_nano
        if not 0 < above.start_time_unix_nano <= end:
            continue
        for child in parent.children:
            if child.span.start_time_unix_nano > end + _SLACK_NANO:
                yield Finding("late-span", child.span, "span", "that started when the parent had ended")
