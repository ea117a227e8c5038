"""One trace as lines for a terminal: what it is as a whole, its trees, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pixie_otel.evals.evaluators.checks.wording import counted
from pixie_otel.reports.layout import cut, wrapped
from pixie_otel.reports.printable import printable
from pixie_otel.reports.style import Style
from pixie_otel.traces.repeats import REASONS, Repeat
from pixie_otel.traces.text import duration_text, tree_text
from pixie_otel.traces.trace import Trace

__all__ = ["trace_lines"]

_MOST_PROBLEMS: Final = 3


def trace_lines(trace: Trace, width: int | None, style: Style, *, verbose: bool = False) -> Iterator[str]:
    """Show a trace.

    Args:
        trace: The trace.
        width: How many cells a line has; ``None`` to cut nothing.
        style: Whether to colour.
        verbose: Also show ids, dialects, notes, all problems, and which spans recorded the same thing as others.
    """
    yield style.paint(f"Trace {printable(trace.trace_id)}", "title")
    facts = printable(_facts(trace))
    for line in [facts] if width is None else wrapped(facts, width, hanging=""):
        yield style.paint(line, "quiet")
    for line in tree_text(trace.roots, max_chars=width, verbose=verbose).split("\n"):
        yield _fitted(line, width)
    for said in _repeats(trace) if verbose else ():
        for line in _whole(f"= {said}", width):
            yield style.paint(line, "quiet")
    problems = trace.problems if verbose else trace.problems[:_MOST_PROBLEMS]
    for problem in problems:
        said = f"! {problem.kind}: {problem.message}"
        for line in _whole(said, width) if verbose else [_fitted(said, width)]:
            yield style.paint(line, "doubtful")
    if len(trace.problems) > len(problems):
        yield style.paint(f"! … and {len(trace.problems) - len(problems)} more problems", "doubtful")


def _facts(trace: Trace) -> str:
    usage = trace.usage
    started = "" if trace.started_at is None else f"{trace.started_at:%Y-%m-%d %H:%M:%S} UTC"
    tokens = "" if usage.total_tokens is None else f"{usage.input_tokens or 0}→{usage.output_tokens or 0} tokens"
    facts = (
        started,
        duration_text(trace.duration_ms),
        counted(len(trace.spans), "span"),
        counted(len(trace.llm_calls), "LLM call"),
        "its one counts in another trace" if trace.counts_elsewhere else "",
        tokens,
        "" if usage.cost is None else f"${usage.cost:.4g}",
        ", ".join(trace.service_names),
        f"session {trace.session_id}" if trace.session_id else "",
    )
    return " · ".join(filter(None, facts))


def _repeats(trace: Trace) -> list[str]:
    """Say which spans do not count by themselves, and why, in the order of the tree."""
    spans = {node.span.span_id: (place, node.span.name) for place, node in enumerate(trace.walk())}
    elsewhere = len(spans), ""
    return [
        _repeat(repeat, trace, spans.get(repeat.counted or "", elsewhere)[1])
        for repeat in sorted(trace.repeats, key=lambda repeat: spans.get(repeat.span_id, elsewhere)[0])
    ]


def _repeat(repeat: Repeat, trace: Trace, name: str) -> str:
    own = _named(repeat.span_id, repeat.name, repeat.trace_id, trace)
    if repeat.counted is None:
        return f"{repeat.rule}: {own} does not count: {REASONS[repeat.rule]}"
    counted = _named(repeat.counted, name, repeat.counted_trace_id, trace)
    return f"{repeat.rule}: {own} counts as {counted}: {REASONS[repeat.rule]}"


def _named(span_id: str, name: str, trace_id: str | None, trace: Trace) -> str:
    place = "" if trace_id in (None, trace.trace_id) else f" of trace {trace_id}"
    return f"{name} {span_id}{place}".lstrip()


def _whole(line: str, width: int | None) -> list[str]:
    line = printable(line)
    return [line] if width is None else list(wrapped(line, width))


def _fitted(line: str, width: int | None) -> str:
    line = printable(line)
    return line if width is None else cut(line, width)
