"""What is wrong with traces for an evaluation: what instrumentations did not record, cut, hid or recorded twice.

How the spans of a trace hang together is told by the reader, see `pixie_otel.traces.integrity`; here it is what the
observations hold. To add a detector, write a function from a `Scene` to findings, and put its kinds into the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Final

from pixie_otel.traces.findings.content import documents, model_calls, roots, unseen_calls
from pixie_otel.traces.findings.doubles import repeats
from pixie_otel.traces.findings.found import Finding, Scene, problems_of
from pixie_otel.traces.findings.times import late_spans
from pixie_otel.traces.findings.tools import tools
from pixie_otel.traces.findings.values import histories, object_names, values
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import LLMSpan, ObserveSpan
from pixie_otel.traces.trace import Trace

__all__ = ["TraceFindings", "find_problems"]

_DETECTORS: Final[tuple[Callable[[Scene], Iterable[Finding]], ...]] = (
    model_calls,
    unseen_calls,
    roots,
    documents,
    tools,
    values,
    histories,
    object_names,
    repeats,
    late_spans,
)
_OF_DOCUMENTS: Final = "missing-documents"


def find_problems(trace: Trace) -> list[Problem]:
    """Say what is wrong with a trace: how its spans hang together, and what they do not hold.

    Args:
        trace: The trace, or the conversation.

    Returns:
        The problems; `pixie_otel.traces.findings.kinds.KINDS` tells for each kind what it means and what to change.
    """
    found = TraceFindings(trace).problems()
    # Decoding tells the trace of more.
    return [*trace.problems, *found]


class TraceFindings:
    """What the observations of a trace do not hold, found when somebody first asks.

    Args:
        trace: The trace, or the conversation.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    @cached_property
    def _findings(self) -> list[Finding]:
        scene = Scene(self._trace)
        return [finding for detector in _DETECTORS for finding in detector(scene)]

    @cached_property
    def _concerned(self) -> dict[tuple[str, str], list[Finding]]:
        """The findings by the observations that they are of, and by all above these."""
        parents = {(span.trace_id, span.span_id): span.parent_span_id for span in self._trace.spans}
        concerned: dict[tuple[str, str], list[Finding]] = {}
        for finding in self._findings:
            trace_id = finding.span.trace_id
            seen: set[str] = set()
            at: str | None = finding.span.span_id
            while at is not None and at not in seen:
                seen.add(at)
                concerned.setdefault((trace_id, at), []).append(finding)
                at = parents.get((trace_id, at))
        return concerned

    def problems(self) -> list[Problem]:
        """Say all of it."""
        return problems_of(self._findings, self._trace.source)

    def about(self, span: ObserveSpan) -> list[Problem]:
        """Say what concerns one observation: itself, what is below it, and for a model call what was retrieved.

        Args:
            span: The observation.
        """
        if not self._findings:
            return []
        found = self._concerned.get((span.trace_id, span.span_id), [])
        if isinstance(span, LLMSpan):
            of_documents = (finding for finding in self._findings if finding.kind == _OF_DOCUMENTS)
            found = [*found, *(finding for finding in of_documents if finding not in found)]
        return problems_of(found, self._trace.source)
