"""What the findings about a trace are made of, and what they are made from."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from msgspec import Struct

from pixie_otel import attributes as keys
from pixie_otel.traces.judged_run import JudgedRun, judged_run
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import AgentSpan, LLMSpan, ObserveSpan, RetrieverSpan, ToolSpan
from pixie_otel.traces.trace import Trace

__all__ = ["Finding", "Scene", "problems_of"]

_MOST_NAME: Final = 80
_MAKING: Final = "create_agent"


class Finding(Struct, frozen=True):
    """One thing that was found at one observation.

    Attributes:
        kind: Its kind, one of `pixie_otel.traces.findings.kinds.KINDS`.
        span: The observation.
        noun: What the observation is, for counting several.
        said: What is wrong with it, as it stands after the noun.
        fix: What to change, where that is more particular than the kind's own advice.
    """

    kind: str
    span: ObserveSpan
    noun: str
    said: str
    fix: str | None = None


class Scene:
    """A trace as detectors look at it.

    Args:
        trace: The trace, or the conversation.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def spans(self) -> list[ObserveSpan]:
        """All observations, by start."""
        return self.trace.spans

    @cached_property
    def calls(self) -> list[LLMSpan]:
        """The model calls that were really made, by end."""
        return self.trace.llm_calls

    @cached_property
    def tools(self) -> list[ToolSpan]:
        """The runs of tools, by start."""
        return self.trace.tool_spans

    @cached_property
    def retrievals(self) -> list[RetrieverSpan]:
        """The retrievals, by start."""
        return self.trace.retriever_spans

    @cached_property
    def agents(self) -> list[AgentSpan]:
        """The runs of agents, by start; that one was made is no run."""
        return [
            span
            for span in self.spans
            if isinstance(span, AgentSpan) and span.attributes.get(keys.GENAI_OPERATION) != _MAKING
        ]

    @cached_property
    def judged(self) -> JudgedRun | None:
        """What stands for the run; ``None`` in a trace without spans."""
        return judged_run(self.trace.roots) if self.trace.roots else None


def problems_of(findings: Iterable[Finding], source: str) -> list[Problem]:
    """Say findings as problems: once a kind and advice, with how many observations it concerns and the first of them.

    Args:
        findings: The findings.
        source: The input that the trace came from.
    """
    groups: dict[tuple[str, str | None], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.kind, finding.fix), []).append(finding)
    return [_problem(group, source) for group in groups.values()]


def _problem(group: list[Finding], source: str) -> Problem:
    first = min(group, key=lambda finding: (finding.span.start_time_unix_nano, finding.span.span_id))
    name = first.span.name
    place = f"{name[:_MOST_NAME] + '…' if len(name) > _MOST_NAME else name!r} {first.span.span_id}"
    if len(group) == 1:
        message = f"{first.noun} {place} {first.said}"
    elif len({(finding.noun, finding.said) for finding in group}) == 1:
        message = f"{len(group)} {first.noun}s {first.said} (first: {place})"
    else:
        message = f"{first.noun} {place} {first.said}; and {len(group) - 1} more like it"
    return Problem(
        first.kind,
        message,
        source,
        trace_id=first.span.trace_id,
        span_id=first.span.span_id,
        fix=first.fix,
    )
