"""Which traces of the inputs become cases, with a count of those that do not and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import chain

from pixie_otel.errors import InputError
from pixie_otel.evals.case import Case
from pixie_otel.evals.cases import trace_cases
from pixie_otel.evals.expectations import Expectations
from pixie_otel.traces.conversations import conversations
from pixie_otel.traces.filters import TraceFilter, sampled
from pixie_otel.traces.reader import TraceReader
from pixie_otel.traces.selectors import Selector

__all__ = ["Intake", "IntakeCounts"]

_PROBLEMS_SHOWN = 3


@dataclass(slots=True)
class IntakeCounts:
    """What became of the traces that were read: ``read`` is the sum of the others.

    Attributes:
        read: All of them.
        judged: Those that became cases.
        filtered: Those that the filter left out.
        not_sampled: Those that the sample left out.
        over_limit: Those beyond the limit.
        without_content: Those with neither model calls nor recorded inputs or outputs.
        counted_elsewhere: Those that only record again a model call of another trace.
    """

    read: int = 0
    judged: int = 0
    filtered: int = 0
    not_sampled: int = 0
    over_limit: int = 0
    without_content: int = 0
    counted_elsewhere: int = 0

    def to_json(self) -> dict[str, int]:
        """Give the counts by name."""
        return asdict(self)


@dataclass(slots=True)
class Intake:
    """Makes cases of the traces of some inputs.

    Attributes:
        reader: Reads the traces.
        selector: What is judged of each.
        filter: Which are judged at all.
        expectations: What good outputs are, where the user gave that.
        limit: How many traces at most, in the reader's order.
        sample: The share of traces to take, from 0 to 1; which ones depends on their ids and the seed alone.
        seed: Another seed takes another sample.
        include_empty: Whether traces without content are judged too.
        per_conversation: Whether the traces of a conversation are judged as one; what is said of traces then holds
            for conversations.
        explain: Whether the failure of a selector that matches nothing says which part of it left nothing.
        counts: What became of the traces so far.
    """

    reader: TraceReader
    selector: Selector
    filter: TraceFilter
    expectations: Expectations | None = None
    limit: int | None = None
    sample: float | None = None
    seed: int = 0
    include_empty: bool = False
    per_conversation: bool = False
    explain: bool = False
    counts: IntakeCounts = field(default_factory=IntakeCounts)

    def cases(self) -> Iterator[Case]:
        """Read and give the cases, one trace at a time, with the first one already made.

        Raises:
            InputError: There is none; the message says why.
        """
        found = self._cases()
        first = next(found, None)
        if first is None:
            raise InputError(self._nothing())
        return chain([first], found)

    def _cases(self) -> Iterator[Case]:
        counts = self.counts
        for trace in conversations(self.reader) if self.per_conversation else self.reader:
            counts.read += 1
            if self.sample is not None and not sampled(trace.trace_id, self.sample, self.seed):
                counts.not_sampled += 1
            elif not self.filter.matches(trace):
                counts.filtered += 1
            elif not self.include_empty and not trace.has_content:
                counts.without_content += 1
            elif not self.include_empty and trace.counts_elsewhere:
                counts.counted_elsewhere += 1
            elif self.limit is not None and counts.judged >= self.limit:
                counts.over_limit += 1
            else:
                counts.judged += 1
                yield from trace_cases(trace, self.selector, self.expectations, explain=self.explain)

    def _nothing(self) -> str:
        counts, report = self.counts, self.reader.report
        if counts.read:
            left_out = {
                f"not matching the filter ({self.filter})": counts.filtered,
                "not in the sample": counts.not_sampled,
                "beyond the limit": counts.over_limit,
                "with neither LLM calls nor recorded inputs or outputs (judge them with --all)": counts.without_content,
                "that only record again a call of another trace (judge them with --all)": counts.counted_elsewhere,
            }
            reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items() if count)
            hint = "; --trace takes a whole id, or at least its first 8 digits" if self.filter.trace_ids else ""
            noun = "conversation" if self.per_conversation else "trace"
            traces = f"1 {noun}" if counts.read == 1 else f"{counts.read} {noun}s"
            return f"nothing to judge: of {traces}, {reasons}{hint}"
        names = ", ".join(report.sources) or "the input"
        problems = [f"{problem.location}: {problem.message}" for problem in report.problems[:_PROBLEMS_SHOWN]]
        more = len(report.problems) - len(problems)
        found = "".join(f"\n  {problem}" for problem in problems) + (f"\n  … and {more} more" if more > 0 else "")
        if found:
            return f"no trace was found in {names}:{found}"
        if report.log_records or report.metrics:
            held = f"{report.log_records} log records and {report.metrics} metrics"
            return f"no trace was found in {names}: there are {held}, and no spans; give the file with the traces too"
        return f"no trace was found in {names}: there are only blank lines"
