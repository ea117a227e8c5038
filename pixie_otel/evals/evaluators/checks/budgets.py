"""Budgets for a run; none of them is checked unless it is given."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pixie_otel.errors import ObservationError
from pixie_otel.evals.evaluation import Evaluation, Severity
from pixie_otel.evals.evaluators.checks.calls import asked_calls
from pixie_otel.evals.evaluators.checks.check import (
    TraceCheck,
    clean,
    count_setting,
    found,
    number_setting,
)
from pixie_otel.evals.evaluators.checks.wording import counted, listed
from pixie_otel.evaluable import Evaluable

if TYPE_CHECKING:
    from pixie_otel.traces.trace import Trace

__all__ = ["MaxLLMCalls", "MaxLatency", "MaxTokens", "MaxToolCalls"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxLatency(TraceCheck):
    """The run takes no longer than ``seconds``, from the trace's earliest start to its latest end.

    Attributes:
        seconds: The most it may take.
    """

    name: ClassVar[str] = "MaxLatency"

    severity: Severity = Severity.FAIL
    seconds: float

    def __post_init__(self) -> None:
        """Take the settings as they are typed, too."""
        TraceCheck.__post_init__(self)
        object.__setattr__(self, "seconds", number_setting(self, "seconds"))

    def __call__(self, _: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        if trace.duration_ms is None:
            raise ObservationError("the trace has no start and end time that fit, so its latency is not known")
        taken = trace.duration_ms / 1000
        return _judged(taken, self.seconds, f"{taken:.3g} s", f"{self.seconds:g} s")


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxTokens(TraceCheck):
    """The run's LLM calls use no more than ``tokens`` together, in and out.

    Attributes:
        tokens: The most they may use.
    """

    name: ClassVar[str] = "MaxTokens"

    severity: Severity = Severity.FAIL
    tokens: int

    def __post_init__(self) -> None:
        """Take the settings as they are typed, too."""
        TraceCheck.__post_init__(self)
        object.__setattr__(self, "tokens", count_setting(self, "tokens"))

    def __call__(self, _: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        used = trace.usage.total_tokens or 0
        silent = [call.span_id for call in trace.calls_without_tokens]
        # What was recorded can be too much by itself; that it is not says nothing while a call is silent.
        if silent and used <= self.tokens:
            raise ObservationError(
                f"{len(silent)} of {counted(len(trace.llm_calls), 'LLM call')} recorded no token counts "
                f"(span {listed(silent)}), so whether the run stayed within {self.tokens} is not known"
            )
        return _judged(used, self.tokens, counted(used, "token"), str(self.tokens))


@dataclass(frozen=True, slots=True, kw_only=True)
class _MaxCalls(TraceCheck):
    """A budget of calls.

    Attributes:
        calls: The most that may be made.
    """

    noun: ClassVar[str]

    severity: Severity = Severity.FAIL
    calls: int

    def __post_init__(self) -> None:
        """Take the settings as they are typed, too."""
        TraceCheck.__post_init__(self)
        object.__setattr__(self, "calls", count_setting(self, "calls"))

    def __call__(self, _: Evaluable, /, trace: Trace) -> Evaluation:
        """Check one case."""
        made = self._made(trace)
        return _judged(made, self.calls, counted(made, self.noun), str(self.calls))

    @abstractmethod
    def _made(self, trace: Trace) -> int:
        """Count the calls that were made."""


class MaxLLMCalls(_MaxCalls):
    """The run makes no more than ``calls`` LLM calls."""

    __slots__ = ()

    name: ClassVar[str] = "MaxLLMCalls"
    noun: ClassVar[str] = "LLM call"

    def _made(self, trace: Trace) -> int:
        return len(trace.llm_calls)


class MaxToolCalls(_MaxCalls):
    """The run makes no more than ``calls`` tool calls, asked for by a model or seen to run."""

    __slots__ = ()

    name: ClassVar[str] = "MaxToolCalls"
    noun: ClassVar[str] = "tool call"

    def _made(self, trace: Trace) -> int:
        # A call that was asked for and then run has been recorded twice, and was one.
        return max(len(asked_calls(trace)), len(trace.tool_spans))


def _judged(measured: float, most: float, shown: str, most_shown: str) -> Evaluation:
    if measured <= most:
        return clean(f"{shown}, within the budget of {most_shown}", measured=measured, most=most)
    return found(f"{shown}, over the budget of {most_shown}", [{"measured": measured, "most": most}])
