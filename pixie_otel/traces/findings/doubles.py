"""Whether calls are recorded more than once within a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pixie_otel.traces.findings.found import Finding, Scene
from pixie_otel.traces.repeats import Rule
from pixie_otel.traces.spans import ObserveSpan

__all__ = ["repeats"]

_ANTHROPIC: Final = "com.anthropic.sdk"
_ANTHROPIC_OFF: Final = (
    "Each call counts once here, and twice elsewhere; switch the spans of Anthropic's own SDK off:\n"
    "ANTHROPIC_OPEN_TELEMETRY=false"
)
_OF_CALLS: Final = frozenset({Rule.WRAPPER, Rule.ATTEMPTS, Rule.SUM, Rule.TWO_INSTRUMENTATIONS})


def _switch_off(scopes: set[str]) -> str | None:
    return _ANTHROPIC_OFF if any(scope.startswith(_ANTHROPIC) for scope in scopes) else None


def repeats(scene: Scene) -> Iterator[Finding]:
    """Find spans that recorded the same call as others.

    Args:
        scene: The trace.
    """
    by_id: dict[tuple[str, str], ObserveSpan] = {}
    for repeat in (*scene.trace.call_count.repeats, *scene.trace.foreign_repeats):
        if repeat.rule not in _OF_CALLS:
            continue
        if not by_id:
            by_id = {(span.trace_id, span.span_id): span for span in scene.spans}
        span = by_id.get((repeat.trace_id, repeat.span_id))
        if span is None:
            # It stands in another trace, of which that is said.
            continue
        if repeat.counted_trace_id not in (None, repeat.trace_id):
            # That a stream's answer is a trace of its own is as it should be.
            said = f"recorded by {span.scope.name or 'no scope'}, and by another one in trace {repeat.counted_trace_id}"
            yield Finding("two-instrumentations", span, "span", said, _switch_off({span.scope.name}))
            continue
        counted = by_id.get((repeat.counted_trace_id or "", repeat.counted or ""))
        names = {span.scope.name, span.scope.name if counted is None else counted.scope.name} - {""}
        if len(names) > 1:
            pair = " and ".join(sorted(names))
            said = f"recorded twice, by {pair}"
            yield Finding("two-instrumentations", span, "span", said, _switch_off(names))
        else:
            yield Finding("repeated-call", span, "span", "with what other spans recorded as well")
