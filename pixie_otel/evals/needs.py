"""What evaluators need of a case, and how to see whether it is there.

Checked before anything is called: what the specification does not give makes an evaluator ``skipped``; what the trace
should hold and does not is an ``error`` of kind ``observation``, with a reason that says what it does hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pixie_otel.errors import ObservationError, SkipEvaluation
from pixie_otel.evals.evaluation import Need
from pixie_otel.evaluable import UNSET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pixie_otel.evaluable import Evaluable, NamedData
    from pixie_otel.traces.trace import Trace

__all__ = ["check_needs", "is_absent", "unmet"]


def _no_value(items: list[NamedData] | None) -> bool:
    return not items or all(item.value is None for item in items)


def _no_output(evaluable: Evaluable) -> bool:
    # Where the specification expects nothing, a run that gave nothing has an output to judge.
    if evaluable.eval_output is not None and evaluable.expectation is None:
        return False
    return _no_value(evaluable.eval_output)


_ABSENT: Final[dict[Need, Callable[[Evaluable, Trace | None], bool]]] = {
    Need.INPUT: lambda evaluable, _: _no_value(evaluable.eval_input),
    Need.OUTPUT: lambda evaluable, _: _no_output(evaluable),
    Need.EXPECTATION: lambda evaluable, _: evaluable.expectation is UNSET,
    Need.CONTEXT: lambda evaluable, _: not evaluable.context,
    Need.RETRIEVAL_CONTEXT: lambda evaluable, _: not evaluable.retrieval_context,
    # No tools are something to expect, and something to have called; only what is not known is absent.
    Need.EXPECTED_TOOLS: lambda evaluable, _: evaluable.expected_tools is None,
    Need.TOOLS_CALLED: lambda evaluable, _: evaluable.tools_called is None,
    Need.TRACE: lambda _, trace: trace is None,
}

_SKIPPED: Final = {
    Need.EXPECTATION: "no expectation was given for this case",
    Need.CONTEXT: "no context was given for this case",
    Need.EXPECTED_TOOLS: "no expected tools were given for this case",
    # Finished cases have none, and nothing is wrong with them.
    Need.TRACE: "the case comes from no trace",
}

_MISSING: Final = {
    Need.INPUT: "no input was recorded",
    Need.OUTPUT: "no output was recorded",
    Need.RETRIEVAL_CONTEXT: "no retrieved documents were recorded",
    Need.TOOLS_CALLED: "which tools were called is not recorded",
}


def is_absent(need: Need, evaluable: Evaluable, trace: Trace | None) -> bool:
    """Tell whether a case lacks what an evaluator needs.

    Args:
        need: What is needed.
        evaluable: What is judged.
        trace: The trace it came from, if any.
    """
    return _ABSENT[need](evaluable, trace)


def unmet(needs: Iterable[Need], evaluable: Evaluable, trace: Trace | None) -> SkipEvaluation | ObservationError | None:
    """Say which need a case does not meet, as the error to raise or to report.

    What the specification lacks comes first: an evaluator that does not apply is no failure, whatever else is missing.

    Args:
        needs: What is needed.
        evaluable: What is judged.
        trace: The trace it came from, if any.

    Returns:
        `SkipEvaluation` for what the specification does not give, `ObservationError` for what was not recorded, and
        ``None`` when nothing is missing.
    """
    absent = {need for need in needs if is_absent(need, evaluable, trace)}
    for need, reason in _SKIPPED.items():
        if need in absent:
            return SkipEvaluation(reason)
    for need, reason in _MISSING.items():
        if need in absent:
            return ObservationError(f"{reason}; the case holds {_held(evaluable, trace)}")
    return None


def check_needs(needs: Iterable[Need], evaluable: Evaluable, trace: Trace | None) -> None:
    """Raise where a case does not meet a need.

    Args:
        needs: What is needed.
        evaluable: What is judged.
        trace: The trace it came from, if any.

    Raises:
        SkipEvaluation: The specification does not give it.
        ObservationError: It was not recorded.
    """
    error = unmet(needs, evaluable, trace)
    if error is not None:
        raise error


def _held(evaluable: Evaluable, trace: Trace | None) -> str:
    held: list[str] = []
    if not _no_value(evaluable.eval_input):
        held.append(f"an input ({_names(evaluable.eval_input)})")
    if not _no_value(evaluable.eval_output):
        held.append(f"an output ({_names(evaluable.eval_output or ())})")
    if evaluable.expectation is not UNSET:
        held.append("an expectation")
    counted = (
        ("retrieved document", evaluable.retrieval_context),
        ("tool call", evaluable.tools_called),
    )
    held += [f"{len(items)} {noun}{'' if len(items) == 1 else 's'}" for noun, items in counted if items]
    if trace is not None:
        held.append("a trace")
    return ", ".join(held) or "nothing"


def _names(items: Iterable[NamedData]) -> str:
    return ", ".join(dict.fromkeys(item.name for item in items if item.value is not None))
