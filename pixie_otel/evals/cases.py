"""Cases from traces: what a selector picks, with the trace it came from and what is wrong with that."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property

from pixie_otel.errors import ObservationError
from pixie_otel.evals.case import Case
from pixie_otel.evals.evaluation import Failure, FailureKind
from pixie_otel.evals.expectations import Expectations
from pixie_otel.evaluable import Evaluable
from pixie_otel.traces.conversation import Conversation
from pixie_otel.traces.findings import TraceFindings
from pixie_otel.traces.findings.kinds import Weight, kind_of
from pixie_otel.traces.judged_run import judged_root
from pixie_otel.traces.report import Problem
from pixie_otel.traces.selectors import Picked, Selector
from pixie_otel.traces.spans import ObserveSpan
from pixie_otel.traces.trace import Trace

__all__ = ["trace_cases"]


def trace_cases(
    trace: Trace, selector: Selector, expectations: Expectations | None = None, *, explain: bool = False
) -> list[Case]:
    """Make the cases of a trace, or of a conversation.

    Args:
        trace: The trace.
        selector: What is judged of it.
        expectations: What good outputs are, where the user gave that.
        explain: Whether the failure of a selector that matches nothing says which part of it left nothing.

    Returns:
        A case for each observation picked. Where the selector matches nothing, one case without an evaluable, whose
        failure says what the trace holds.
    """
    cases = _Cases(trace, expectations)
    try:
        found = selector.pick(trace)
    except ObservationError as error:
        why = _explained(trace, selector) if explain else str(error)
        return [cases.failed(Failure(FailureKind.OBSERVATION, why, type(error).__name__))]
    if selector.single:
        return [cases.of(picked, trace.trace_id) for picked in found]
    made: list[Case] = []
    seen: Counter[str] = Counter()
    for picked in found:
        # Span ids are unique in a sound trace only.
        case_id = f"{cases.trace_id_of(picked.span)}:{picked.span.span_id}"
        seen[case_id] += 1
        made.append(cases.of(picked, case_id if seen[case_id] == 1 else f"{case_id}#{seen[case_id]}"))
    return made


def _explained(trace: Trace, selector: Selector) -> str:
    return f"{selector.text} matches nothing: {'; '.join(selector.explain(trace).splitlines())}"


class _Cases:
    """Makes the cases of a trace, with what is the same for all of them."""

    def __init__(self, trace: Trace, expectations: Expectations | None) -> None:
        self._trace = trace
        self._expectations = expectations
        self._findings = TraceFindings(trace)

    def failed(self, failure: Failure) -> Case:
        """Make the case of a trace of which nothing was picked."""
        trace = self._trace
        if not trace.roots:
            return Case(trace.trace_id, trace.trace_id, None, trace, trace_id=trace.trace_id, failure=failure)
        return self._case(trace.trace_id, trace.roots[0].span, None, failure)

    def of(self, picked: Picked, case_id: str) -> Case:
        """Make the case of an observation."""
        evaluable = picked.evaluable
        if self._expectations is not None:
            row = self._expectations.match(self.trace_id_of(picked.span), evaluable, self._trace_ids)
            evaluable = evaluable if row is None else row.apply(evaluable)
        return self._case(case_id, picked.span, evaluable)

    def trace_id_of(self, span: ObserveSpan) -> str:
        """Give the id of the trace that a span is of; a conversation holds several."""
        return span.trace_id if isinstance(self._trace, Conversation) else self._trace.trace_id

    def _case(
        self, case_id: str, span: ObserveSpan, evaluable: Evaluable | None, failure: Failure | None = None
    ) -> Case:
        is_whole = evaluable is None or span == self._run_span
        # What stands for the run rests on everything in it.
        found = self._findings.problems() if is_whole else self._findings.about(span)
        trace_id = self.trace_id_of(span)
        problems = self._problems if is_whole else (*self._problems_by_trace[None], *self._problems_by_trace[trace_id])
        return Case(
            id=case_id,
            name=span.name,
            evaluable=evaluable,
            trace=self._trace,
            trace_id=trace_id,
            span_id=span.span_id,
            session_id=span.session_id or self._trace.session_id,
            start_time_unix_nano=span.start_time_unix_nano,
            failure=failure,
            # What is dealt with changes no result.
            problems=(*problems, *(item for item in found if kind_of(item.kind).weight is not Weight.NOTE)),
        )

    @cached_property
    def _trace_ids(self) -> tuple[str, ...]:
        return self._trace.trace_ids

    @cached_property
    def _run_span(self) -> ObserveSpan | None:
        if isinstance(self._trace, Conversation):
            return self._trace.turns[0].span
        top = judged_root(self._trace.roots)
        return None if top is None else top.span

    @cached_property
    def _problems(self) -> tuple[Problem, ...]:
        return self._trace.problems

    @cached_property
    def _problems_by_trace(self) -> dict[str | None, list[Problem]]:
        """The problems of each trace; one alone has all that is known of it."""
        found: dict[str | None, list[Problem]] = defaultdict(list)
        for problem in self._problems:
            found[problem.trace_id if isinstance(self._trace, Conversation) else None].append(problem)
        return found
