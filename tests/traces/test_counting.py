"""Whatever a trace holds, each of its model spans counts, or does not and says why."""

from __future__ import annotations

from typing import Any

from checked_traces import TRACE_ID, agent, llm, says, tool, user
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.traces.spans import LLMSpan, ObservationKind, ObserveSpan, Scope, SpanError
from pixie_otel.traces.trace import Trace

START = 1_700_000_000_000_000_000
TOKENS = st.none() | st.integers(0, 3)
TEXTS = st.sampled_from([None, "a", "b"])


@st.composite
def spans(draw: st.DrawFn) -> list[ObserveSpan]:
    """Make up to ten spans of any kinds below each other, which are often alike."""
    found: list[ObserveSpan] = [agent()]
    for number in range(1, draw(st.integers(2, 10))):
        start = draw(st.integers(0, 6))
        common: dict[str, Any] = {
            "parent": draw(st.sampled_from([span.span_id for span in found])),
            "start_time_unix_nano": START + start * 1_000_000,
            "end_time_unix_nano": START + draw(st.integers(start, 8)) * 1_000_000,
            "scope": Scope(draw(st.sampled_from(["framework", "provider", ""]))),
            "error": draw(st.sampled_from([None, None, SpanError("broke")])),
        }
        span_id = f"{number:016x}"
        kind = draw(st.sampled_from(["llm", "llm", "llm", "tool", "agent", "guardrail"]))
        if kind == "llm":
            asked, said = draw(TEXTS), draw(TEXTS)
            known = {"input_tokens": draw(TOKENS), "output_tokens": draw(TOKENS), "request_model": "m"}
            known["input_messages"] = () if asked is None else (user(asked),)
            answers = () if said is None else (says(said),)
            found.append(llm(span_id, *answers, operation=draw(st.sampled_from(["chat", None])), **known, **common))
        elif kind == "tool":
            found.append(tool(span_id, "f", arguments=draw(TEXTS), **common))
        elif kind == "agent":
            found.append(agent(span_id, **common))
        else:
            parent = common.pop("parent")
            guard = ObservationKind.GUARDRAIL
            found.append(ObserveSpan(trace_id=TRACE_ID, span_id=span_id, parent_span_id=parent, kind=guard, **common))
    return found


@given(spans(), st.randoms())
def test_each_span_counts_or_says_why_not(made: list[ObserveSpan], random: Any) -> None:
    """None is lost or counted twice, what counts in a span's place counts, and the order of spans changes nothing."""
    trace = Trace.from_spans(made)
    counted = [call.span_id for call in trace.llm_calls] + [run.span_id for run in trace.tool_spans]
    repeated = [repeat.span_id for repeat in trace.repeats]
    recorded = [span.span_id for span in made if span.kind in {ObservationKind.LLM, ObservationKind.TOOL}]

    assert sorted(counted + repeated) == sorted(recorded)
    instead = {repeat.span_id: repeat.counted for repeat in trace.repeats}
    for span_id in instead:
        at: str | None = span_id
        while at in instead:
            at = instead[at]
        assert at is None or at in counted
    shuffled = [*made]
    random.shuffle(shuffled)
    again = Trace.from_spans(shuffled)
    assert (again.llm_calls, again.tool_spans, again.repeats) == (trace.llm_calls, trace.tool_spans, trace.repeats)
    assert again.usage == trace.usage


@given(spans())
def test_what_is_used_is_no_less_than_the_calls_say_and_no_more_than_all_spans_do(made: list[ObserveSpan]) -> None:
    """A sum adds what its calls did not record, and nothing else."""
    trace = Trace.from_spans(made)
    known = [call.input_tokens or 0 for call in trace.llm_calls]
    recorded = [span.input_tokens or 0 for span in made if isinstance(span, LLMSpan)]

    assert sum(known) <= (trace.usage.input_tokens or 0) <= sum(recorded)
