"""One call counts once."""

from __future__ import annotations

from checked_traces import agent, llm, says, tool, user

from pixie_otel.traces.spans import LLMSpan, ObservationKind, ObserveSpan, SpanError
from pixie_otel.traces.trace import Trace

BROKE = SpanError("broke", "Timeout")


def calls(*spans: ObserveSpan) -> list[LLMSpan]:
    """Give the real calls of a trace with an agent on top."""
    return Trace.from_spans([agent(), *spans]).llm_calls


def ids(*spans: ObserveSpan) -> list[str]:
    """Give the last two digits of the calls' ids."""
    return [call.span_id[-2:] for call in calls(*spans)]


def wrapper(span_id: str = "00000000000000b0", **fields: object) -> LLMSpan:
    """Make a framework's span around a call, which knows the messages only."""
    return llm(span_id, says("hi"), input_messages=(user("?"),), **{"operation": None, **fields})


def within(span_id: str, **fields: object) -> LLMSpan:
    """Make a provider's own span within the wrapper, which knows the tokens only."""
    return llm(span_id, parent="00000000000000b0", **{"input_tokens": 5, "output_tokens": 2, **fields})


def test_a_wrapper_and_the_providers_span_are_one_call() -> None:
    """The one that recorded the content counts, completed from the other, and says so."""
    (call,) = calls(wrapper(), within("00000000000000c1", response_id="r", finish_reasons=("stop",)))

    assert call.span_id == "00000000000000b0"
    assert (call.input_tokens, call.output_tokens, call.response_id, call.finish_reasons) == (5, 2, "r", ("stop",))
    assert (call.output_messages, call.operation) == ((says("hi"),), "chat")
    assert "one call with span 00000000000000c1" in call.notes[0]


def test_where_the_provider_recorded_the_content() -> None:
    """It is the provider's span that counts, with what only the wrapper knew."""
    inner = llm("00000000000000c1", says("hi"), parent="00000000000000b0", input_messages=(user("?"),), input_tokens=5)
    (call,) = calls(llm("00000000000000b0", session_id="s", output={"raw": 1}), inner)

    assert (call.span_id, call.session_id, call.input_tokens) == (inner.span_id, "s", 5)


def test_three_levels_are_one_call() -> None:
    """A framework on a framework on a provider."""
    middle = llm("00000000000000c1", parent="00000000000000b0")
    inner = llm("00000000000000d1", parent="00000000000000c1", input_tokens=5)

    assert len(calls(wrapper(), middle, inner)) == 1
    assert calls(wrapper(), middle, inner)[0].input_tokens == 5


def test_a_long_chain_of_wrappers_is_one_call_with_few_notes() -> None:
    """Notes that grew at every level would take quadratic time."""
    chain = [llm(f"{at:016x}", says("hi"), parent=f"{at - 1:016x}") for at in range(0xB1, 0xB1 + 100)]
    (call,) = calls(wrapper(), *chain)

    assert 0 < len(call.notes) < 20


def test_a_chain_between_them_changes_nothing() -> None:
    """Frameworks put steps between their span and the provider's."""
    step = ObserveSpan(trace_id=wrapper().trace_id, span_id="00000000000000c1", parent_span_id="00000000000000b0")
    inner = llm("00000000000000d1", parent="00000000000000c1", input_tokens=5)

    assert ids(wrapper(), step, inner) == ["b0"]


def test_calls_below_tools_and_agents_are_their_own() -> None:
    """A model that a tool or a sub-agent asks is another call."""
    run = tool("00000000000000c1", "search", parent="00000000000000b0")
    below = llm("00000000000000d1", says("x"), parent="00000000000000c1")
    sub = agent("00000000000000c2", "00000000000000b0")
    deeper = llm("00000000000000d2", says("y"), parent="00000000000000c2")

    assert ids(wrapper(), run, below, sub, deeper) == ["b0", "d1", "d2"]


def test_two_equal_calls_in_a_row_are_two() -> None:
    """The same question, asked twice, with the same answer, was asked twice."""
    same = {"input_messages": (user("?"),), "input_tokens": 5, "response_id": "r", "parent": "00000000000000a0"}

    assert ids(llm("00000000000000b0", says("hi"), **same), llm("00000000000000b1", says("hi"), **same)) == ["b0", "b1"]


def test_retries_under_a_wrapper() -> None:
    """Each failed attempt was a call, and the wrapper describes the one that worked out."""
    failed = within("00000000000000c1", error=BROKE, input_tokens=None, output_tokens=None)
    worked = within("00000000000000c2")

    assert ids(wrapper(), failed, worked) == ["b0", "c1"]
    assert [call.input_tokens for call in calls(wrapper(), failed, worked)] == [5, None]


def test_several_calls_under_a_wrapper() -> None:
    """A span around several calls that all worked out is none itself."""
    assert ids(wrapper(), within("00000000000000c1"), within("00000000000000c2")) == ["c1", "c2"]
    failed = [within(f"00000000000000c{i}", error=BROKE) for i in (1, 2)]
    assert ids(llm("00000000000000b0", error=BROKE), *failed) == ["c1", "c2"]


def test_an_answer_from_where_nobody_looked() -> None:
    """Where all recorded attempts failed and the wrapper has an answer, that was a call too."""
    assert ids(wrapper(), within("00000000000000c1", error=BROKE)) == ["b0", "c1"]
    assert ids(wrapper(error=BROKE), within("00000000000000c1", error=BROKE)) == ["b0"]
    assert ids(llm("00000000000000b0"), within("00000000000000c1", error=BROKE)) == ["c1"]


def test_another_model_with_other_tokens_is_another_call() -> None:
    """One call has one model and one count; a dated or prefixed name is the same model."""
    big = {"request_model": "big", "input_tokens": 100, "output_tokens": 9}

    assert ids(wrapper(**big), within("00000000000000c1", request_model="small")) == ["b0", "c1"]
    assert ids(wrapper(**big), within("00000000000000c1", request_model="gate/big-2026")) == ["b0"]
    assert ids(
        wrapper(**big), within("00000000000000c1", request_model="small", input_tokens=100, output_tokens=9)
    ) == ["b0"]
    assert ids(wrapper(**big), within("00000000000000c1")) == ["b0"]


def test_helpers_marked_as_models() -> None:
    """A helper's span that only names the model is no call beside real ones, and alone it is the best there is."""
    helper = llm("00000000000000b0", operation=None, request_model="m", output={"messages": []})

    assert ids(helper, llm("00000000000000b1", says("hi"), operation=None)) == ["b1"]
    assert ids(helper) == ["b0"]


def test_calls_without_content_count() -> None:
    """With content capture off there are tokens, or only an operation, a reason or an error."""
    for fields in (
        {"operation": "chat"},
        {"operation": None, "input_tokens": 0},
        {"operation": None, "output_tokens": 1},
        {"operation": None, "finish_reasons": ("stop",)},
        {"operation": None, "error": BROKE},
        {"operation": None, "output": "text"},
    ):
        assert ids(llm("00000000000000b0", **fields), llm("00000000000000b1", says("hi"))) == ["b0", "b1"]


def test_order() -> None:
    """Calls stand by end, then start, then id, whatever order they were given in."""
    start, end = 1_700_000_000_000_000_000, 1_700_000_000_900_000_000
    spans = [
        llm("00000000000000b3", start_time_unix_nano=start, end_time_unix_nano=end),
        llm("00000000000000b1", start_time_unix_nano=start, end_time_unix_nano=end),
        llm("00000000000000b2", start_time_unix_nano=start + 1, end_time_unix_nano=end),
        llm("00000000000000b9", start_time_unix_nano=start, end_time_unix_nano=end - 1),
    ]

    assert ids(*spans) == ids(*reversed(spans)) == ["b9", "b1", "b3", "b2"]


def test_chains_of_any_depth() -> None:
    """Two thousand wrappers around one call are one call."""
    spans = [llm(f"{i:016x}", parent=f"{i - 1:016x}", operation=None) for i in range(0xB1, 0xB1 + 2_000)]

    assert len(calls(wrapper(), *spans)) == 1


def test_kinds() -> None:
    """Only model spans are model calls."""
    assert calls(tool("00000000000000b0", "f")) == []
    assert all(call.kind is ObservationKind.LLM for call in calls(wrapper()))
