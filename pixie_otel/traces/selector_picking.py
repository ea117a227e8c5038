"""What a selector picks of a trace: the observations that it finds, each with what is judged of it."""

from __future__ import annotations

from collections import Counter
from typing import Final

from pixie_otel.errors import ObservationError
from pixie_otel.traces.selector_evaluables import Picked, as_evaluable, documents, picked_call, picked_root
from pixie_otel.traces.selector_explain import listed
from pixie_otel.traces.selector_steps import Chain, Named, Step, Term
from pixie_otel.traces.selector_view import View
from pixie_otel.traces.trace import Trace

__all__ = ["pick", "pick_calls", "pick_root"]

_ROOT: Final = Chain((Step((Term(Named("root")),)),))
_CALLS: Final = Chain((Step((Term(Named("llm_calls")),)),))
_LAST_CALL: Final = Chain((Step((Term(Named("last_llm_call")),)),))


def pick(chain: Chain, text: str, trace: Trace) -> list[Picked]:
    """Give what a selector finds in a trace, as it is judged.

    Args:
        chain: The selector.
        text: The selector as typed, for messages.
        trace: The trace.

    Raises:
        ObservationError: It finds nothing; the message says what the trace holds.
    """
    last = chain.steps[-1]
    if chain == _ROOT:
        return [pick_root(trace)]
    if chain == _CALLS:
        return pick_calls(trace)
    if chain == _LAST_CALL:
        return pick_calls(trace)[-1:]
    view = View(trace)
    found = chain.find(view)
    if not found:
        raise ObservationError(f"{text} matches no span of the trace; {_holdings(trace)}")
    if last.names("root"):
        return [picked_root(trace)]
    if last.names("llm_calls", "last_llm_call"):
        retrieved = documents(trace)
        return [picked_call(view.calls[number], retrieved) for number in found]
    return [Picked(span, as_evaluable(span)) for span in map(view.spans.__getitem__, found)]


def pick_root(trace: Trace) -> Picked:
    """Give what stands for a whole run.

    Args:
        trace: The trace.

    Raises:
        ObservationError: The trace is empty.
    """
    if not trace.roots:
        raise ObservationError("an empty trace has no root")
    return picked_root(trace)


def pick_calls(trace: Trace) -> list[Picked]:
    """Give every real model call, by end.

    Args:
        trace: The trace.

    Raises:
        ObservationError: The trace has none.
    """
    if not trace.llm_calls:
        raise ObservationError(f"the trace has no LLM call; {_holdings(trace)}")
    retrieved = documents(trace)
    return [picked_call(call, retrieved) for call in trace.llm_calls]


def _holdings(trace: Trace) -> str:
    """Say what a trace holds, for the message that it does not hold something else."""
    kinds = Counter(span.kind.value for span in trace.spans)
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return f"it holds {len(trace.spans)} spans ({counted}): {listed(span.name for span in trace.spans)}"
