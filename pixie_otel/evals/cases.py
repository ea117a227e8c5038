"""Cases from traces: what a selector picks, with the trace it came from and what is wrong with that."""

from __future__ import annotations

from pixie_otel.errors import ObservationError
from pixie_otel.evals.case import Case
from pixie_otel.evals.evaluation import Failure, FailureKind
from pixie_otel.evals.expectations import Expectations
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
    findings = TraceFindings(trace)
    try:
        found = selector.pick(trace)
    except ObservationError as error:
        why = _explained(trace, selector) if explain else str(error)
        failure = Failure(FailureKind.OBSERVATION, why, type(error).__name__)
        return [_case(trace, trace.trace_id, None, None, findings=findings, failure=failure)]
    if selector.single:
        return [_case(trace, trace.trace_id, picked, expectations, findings=findings) for picked in found]
    cases: list[Case] = []
    seen: dict[str, int] = {}
    for picked in found:
        # Span ids are unique in a sound trace only.
        case_id = f"{_trace_id_of(trace, picked.span)}:{picked.span.span_id}"
        count = seen[case_id] = seen.get(case_id, 0) + 1
        suffix = "" if count == 1 else f"#{count}"
        cases.append(_case(trace, f"{case_id}{suffix}", picked, expectations, findings=findings))
    return cases


def _explained(trace: Trace, selector: Selector) -> str:
    return f"{selector.text} matches nothing: {'; '.join(selector.explain(trace).splitlines())}"


def _trace_id_of(trace: Trace, span: ObserveSpan) -> str:
    """Give the id of the trace that a span is of; a conversation holds several."""
    return span.trace_id if len(trace.trace_ids) > 1 else trace.trace_id


def _case(
    trace: Trace,
    case_id: str,
    picked: Picked | None,
    expectations: Expectations | None,
    *,
    findings: TraceFindings,
    failure: Failure | None = None,
) -> Case:
    if picked is None and not trace.roots:
        return Case(id=case_id, name=case_id, evaluable=None, trace=trace, trace_id=trace.trace_id, failure=failure)
    span = trace.roots[0].span if picked is None else picked.span
    evaluable = None if picked is None else picked.evaluable
    if evaluable is not None and expectations is not None:
        row = expectations.match(_trace_id_of(trace, span), evaluable, trace.trace_ids)
        evaluable = evaluable if row is None else row.apply(evaluable)
    return Case(
        id=case_id,
        name=span.name,
        evaluable=evaluable,
        trace=trace,
        trace_id=_trace_id_of(trace, span),
        span_id=span.span_id,
        session_id=span.session_id or trace.session_id,
        start_time_unix_nano=span.start_time_unix_nano,
        failure=failure,
        problems=(*trace.problems, *_findings(trace, picked, findings)),
    )


def _findings(trace: Trace, picked: Picked | None, findings: TraceFindings) -> list[Problem]:
    """Give what is wrong with the observations that a case rests on; what stands for the run rests on all of them."""
    top = judged_root(trace.roots)
    is_whole = picked is None or (top is not None and top.span.span_id == picked.span.span_id)
    found = findings.problems() if picked is None or is_whole else findings.about(picked.span)
    # What is dealt with changes no result.
    return [problem for problem in found if kind_of(problem.kind).weight is not Weight.NOTE]
