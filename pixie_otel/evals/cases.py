"""Cases from traces: what a selector picks, with the trace it came from and what is wrong with that."""

from __future__ import annotations

from pixie_otel.errors import ObservationError
from pixie_otel.evals.case import Case
from pixie_otel.evals.evaluation import Failure, FailureKind
from pixie_otel.evals.expectations import Expectations
from pixie_otel.traces.selectors import Picked, Selector
from pixie_otel.traces.trace import Trace

__all__ = ["trace_cases"]


def trace_cases(trace: Trace, selector: Selector, expectations: Expectations | None = None) -> list[Case]:
    """Make the cases of a trace.

    Args:
        trace: The trace.
        selector: What is judged of it.
        expectations: What good outputs are, where the user gave that.

    Returns:
        A case for each observation picked. Where the selector matches nothing, one case without an evaluable, whose
        failure says what the trace holds.
    """
    try:
        found = selector.pick(trace)
    except ObservationError as error:
        failure = Failure(FailureKind.OBSERVATION, str(error), type(error).__name__)
        return [_case(trace, trace.trace_id, None, None, failure)]
    if selector.single:
        return [_case(trace, trace.trace_id, picked, expectations) for picked in found]
    cases: list[Case] = []
    seen: dict[str, int] = {}
    for picked in found:
        # Span ids are unique in a sound trace only.
        count = seen[picked.span.span_id] = seen.get(picked.span.span_id, 0) + 1
        suffix = "" if count == 1 else f"#{count}"
        cases.append(_case(trace, f"{trace.trace_id}:{picked.span.span_id}{suffix}", picked, expectations))
    return cases


def _case(
    trace: Trace,
    case_id: str,
    picked: Picked | None,
    expectations: Expectations | None,
    failure: Failure | None = None,
) -> Case:
    if picked is None and not trace.roots:
        return Case(id=case_id, name=case_id, evaluable=None, trace=trace, trace_id=trace.trace_id, failure=failure)
    span = trace.roots[0].span if picked is None else picked.span
    evaluable = None if picked is None else picked.evaluable
    if evaluable is not None and expectations is not None:
        row = expectations.match(trace.trace_id, evaluable)
        evaluable = evaluable if row is None else row.apply(evaluable)
    return Case(
        id=case_id,
        name=span.name,
        evaluable=evaluable,
        trace=trace,
        trace_id=trace.trace_id,
        span_id=span.span_id,
        session_id=span.session_id or trace.session_id,
        start_time_unix_nano=span.start_time_unix_nano,
        failure=failure,
        problems=trace.problems,
    )
