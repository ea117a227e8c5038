"""One call counts once."""

from __future__ import annotations

from checked_traces import ROOT_ID, agent, llm, says, tool, user
from counted_calls import BROKE, beside, calls, ids, rules, within, wrapper
from msgspec import structs

from pixie_otel.traces.repeats import Rule
from pixie_otel.traces.spans import ObservationKind, ObserveSpan


def test_a_wrapper_and_the_providers_span_are_one_call() -> None:
    """The one that recorded the content counts, completed from the other, and says so."""
    (call,) = calls(wrapper(), within("00000000000000c1", response_id="r", finish_reasons=("stop",)))

    assert call.span_id == "00000000000000b0"
    assert (call.input_tokens, call.output_tokens, call.response_id, call.finish_reasons) == (5, 2, "r", ("stop",))
    assert (call.output_messages, call.operation) == ((says("hi"),), "chat")
    assert "one call with span 00000000000000c1" in call.notes[0]
    assert rules(wrapper(), within("00000000000000c1")) == [("c1", Rule.WRAPPER, "b0")]


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
    assert rules(wrapper(), failed, worked) == [("c2", Rule.ATTEMPTS, "b0")]


def test_several_calls_under_a_wrapper() -> None:
    """A span around several calls that all worked out is none itself."""
    assert ids(wrapper(), within("00000000000000c1"), within("00000000000000c2")) == ["c1", "c2"]
    assert rules(wrapper(), within("00000000000000c1"), within("00000000000000c2")) == [("b0", Rule.SUM, None)]
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
    assert ids(wrapper(request_model="big"), within("00000000000000c1", request_model="small")) == ["b0"]


def test_helpers_marked_as_models() -> None:
    """A helper's span that only names the model is no call beside real ones, and alone it is the best there is."""
    helper = llm("00000000000000b0", operation=None, request_model="m", output={"messages": []})

    assert ids(helper, llm("00000000000000b1", says("hi"), operation=None)) == ["b1"]
    assert rules(helper, llm("00000000000000b1", says("hi"), operation=None)) == [("b0", Rule.HELPER, None)]
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


def test_the_provider_knows_best_what_was_used() -> None:
    """What is around it may have counted tokens by itself; cached ones and reasoning only that may have counted in."""
    guess = wrapper(input_tokens=6, output_tokens=3)
    (call,) = calls(guess, within("00000000000000c1"))
    (cached,) = calls(wrapper(input_tokens=16, output_tokens=3, cache_read_tokens=11), within("00000000000000c1"))
    (reasoned,) = calls(wrapper(input_tokens=6, output_tokens=9), within("00000000000000c1", reasoning_tokens=7))
    (half,) = calls(wrapper(input_tokens=6, output_tokens=None), within("00000000000000c1"))

    assert (call.input_tokens, call.output_tokens) == (5, 2)
    assert (cached.input_tokens, cached.output_tokens) == (16, 2)
    assert (reasoned.input_tokens, reasoned.output_tokens) == (5, 9)
    assert (half.input_tokens, half.output_tokens) == (6, 2)


def test_two_instrumentations_beside_each_other() -> None:
    """The provider's span hangs below the same parent as the framework's: one call, with what both know."""
    outer = beside("00000000000000b0", "langchain", 0, 10)
    inner = beside("00000000000000b1", "openai", 1, 9, response_id="chatcmpl-1")
    (call,) = calls(outer, inner)

    assert (call.span_id, call.response_id, call.input_tokens) == (outer.span_id, "chatcmpl-1", 5)
    assert rules(outer, inner) == [("b1", Rule.TWO_INSTRUMENTATIONS, "b0")]
    assert "two instrumentations" in call.notes[0]


def test_a_third_instrumentation_changes_nothing() -> None:
    """A framework's, the provider's and the SDK's own."""
    spans = [beside(f"00000000000000b{at}", scope, at, 20 - at) for at, scope in enumerate(("a", "b", "c"))]

    assert ids(*spans) == ["b0"]
    assert [rule for _, rule, _ in rules(*spans)] == [Rule.TWO_INSTRUMENTATIONS] * 2


def test_equal_calls_at_the_same_time_stay_two() -> None:
    """Each is recorded by both instrumentations, and one recording is never of two calls."""
    outer = [beside(f"00000000000000b{at}", "langchain", at, 20) for at in (0, 1)]
    inner = [beside(f"00000000000000c{at}", "openai", at + 2, 18) for at in (0, 1)]
    alone = beside("00000000000000c2", "openai", 5, 17)

    assert ids(*outer, *inner) == ["b0", "b1"]
    assert ids(*outer, *inner, alone) == ["c2", "b0", "b1"]


def test_one_instrumentation_records_a_call_once() -> None:
    """So two spans of it are two calls, however alike they are."""
    assert ids(beside("00000000000000b0", "openai", 0, 10), beside("00000000000000b1", "openai", 1, 9)) == ["b1", "b0"]


def test_without_scopes_the_names_tell_instrumentations_apart() -> None:
    """Some exports leave scopes out."""
    outer = beside("00000000000000b0", "", 0, 10, name="ChatOpenAI")

    assert ids(outer, beside("00000000000000b1", "", 1, 9, name="ChatCompletion")) == ["b0"]
    assert ids(outer, beside("00000000000000b1", "", 1, 9, name="ChatOpenAI")) == ["b1", "b0"]


def test_other_calls_beside_each_other() -> None:
    """Another answer, other tokens, another question, another model or another time is another call."""
    outer = beside("00000000000000b0", "langchain", 0, 10)
    for other in (
        {"answers": (says("ho"),)},
        {"input_tokens": 6},
        {"request_model": "claude"},
        {"input_messages": (user("!"),), "input_tokens": None},
        {"error": BROKE},
        {"end": 12},
    ):
        inner = beside("00000000000000b1", "openai", **{"start": 1, "end": 9, **other})
        assert sorted(ids(outer, inner)) == ["b0", "b1"], other


def test_what_a_tool_of_a_call_asks_is_another_call() -> None:
    """It lies within the call's time, and within the call."""
    outer = beside("00000000000000b0", "langchain", 0, 10)
    run = tool("00000000000000c0", "ask", parent=outer.span_id)
    inner = beside("00000000000000d0", "openai", 1, 9, parent=run.span_id)

    assert sorted(ids(outer, run, inner)) == ["b0", "d0"]


def test_what_a_tool_asks_within_what_two_spans_recorded_is_another_call() -> None:
    """Also where the one of them that the tool is not in recorded the content."""
    outer = beside("00000000000000b0", "langchain", 0, 10, answers=(), input_messages=())
    own = beside("00000000000000c1", "provider", 1, 9, parent=outer.span_id)
    run = tool("00000000000000c0", "ask", parent=outer.span_id)
    inner = beside("00000000000000d0", "openai", 2, 8, parent=run.span_id)

    assert sorted(ids(outer, own, run, inner)) == ["c1", "d0"]


def test_a_failed_call_of_two_instrumentations() -> None:
    """Both failed, with the same model, and that is all that is known of it."""
    outer = beside("00000000000000b0", "traceloop", 0, 10, answers=(), error=BROKE, input_tokens=None)
    inner = beside(
        "00000000000000b1", "sdk", 1, 9, answers=(), error=BROKE, input_tokens=None, input_messages=(), parent=ROOT_ID
    )

    assert ids(outer, inner) == ["b0"]
    assert sorted(ids(outer, inner, beside("00000000000000b2", "sdk", 11, 12, answers=(), error=BROKE))) == ["b0", "b2"]


def test_a_call_of_a_guardrail_or_a_search_is_its_own() -> None:
    """What checks a call, or finds what it is told, may ask a model too, and what is around both describes neither."""
    for kind in (
        ObservationKind.GUARDRAIL,
        ObservationKind.EVALUATOR,
        ObservationKind.RETRIEVER,
        ObservationKind.RERANKER,
    ):
        step = ObserveSpan(
            trace_id=wrapper().trace_id, span_id="00000000000000c1", parent_span_id="00000000000000b0", kind=kind
        )
        asked = llm("00000000000000d1", says("yes"), parent=step.span_id, input_tokens=9, output_tokens=1)

        assert ids(wrapper(), step, asked) == ["b0", "d1"]
        assert ids(wrapper(), step, asked, within("00000000000000e1")) == ["b0", "d1"]
        assert rules(wrapper(), step, asked, within("00000000000000e1")) == [("e1", Rule.WRAPPER, "b0")]


def test_another_question_with_another_answer_is_another_call() -> None:
    """A model span may have its question reworded by the same model first; other tokens alone are no such sign."""
    known = {"input_tokens": 5, "output_tokens": 2}
    reworded = llm(
        "00000000000000c1",
        says("reworded"),
        parent="00000000000000b0",
        input_messages=(user("reword: ?"),),
        input_tokens=9,
        output_tokens=1,
    )

    assert ids(wrapper(**known), reworded) == ["b0", "c1"]
    assert ids(wrapper(**known), structs.replace(reworded, input_messages=(user("?"),))) == ["b0"]
    assert ids(wrapper(**known), structs.replace(reworded, output_messages=(says("hi"),))) == ["b0"]
    assert ids(wrapper(**known), structs.replace(reworded, input_tokens=5, output_tokens=2)) == ["b0"]


def test_a_step_that_failed_after_another_is_no_attempt() -> None:
    """The failure is the last step's, and the first one worked out."""
    first = within("00000000000000c1", output_messages=(says("step"),))
    second = within("00000000000000c2", error=BROKE, input_tokens=None, output_tokens=None)
    for around in (wrapper(error=BROKE, output_messages=()), wrapper()):
        found = calls(around, first, second)

        assert [(call.span_id[-2:], call.error) for call in found] == [("c1", None), ("c2", BROKE)]
        assert rules(around, first, second) == [("b0", Rule.SUM, None)]
    # What failed after the last attempt was no call.
    assert rules(wrapper(error=BROKE, output_messages=()), structs.replace(first, error=BROKE), within("c2")) == [
        ("b0", Rule.SUM, None)
    ]


def test_a_second_request_that_was_given_up() -> None:
    """Of requests sent twice, for speed, the span around them describes the one whose answer it has."""
    first = within("00000000000000c1", output_messages=(says("hi"),))
    given_up = within("00000000000000c2", error=BROKE, input_tokens=None, output_tokens=None)

    assert ids(wrapper(), first, given_up) == ["b0", "c2"]
    assert rules(wrapper(), first, given_up) == [("c1", Rule.ATTEMPTS, "b0")]


def test_equal_calls_are_paired_so_that_none_is_left_over() -> None:
    """Of two that a recording fits into, it is of the one that ends first; the other has room for what ends later."""
    outer = [beside("00000000000000b0", "langchain", 0, 100), beside("00000000000000b1", "langchain", 30, 110)]
    inner = [beside("00000000000000c0", "openai", 31, 95), beside("00000000000000c1", "openai", 32, 109)]

    assert ids(*outer, *inner) == ["b0", "b1"]


def test_the_answers_id_tells_equal_calls_apart() -> None:
    """It is the provider's, wherever the times are."""
    outer = [beside(f"00000000000000b{at}", "langchain", at, 20 + at, response_id=f"chatcmpl-{at}") for at in (0, 1)]
    inner = [beside(f"00000000000000c{at}", "openai", 5 - at, 18, response_id=f"chatcmpl-{at}") for at in (0, 1)]

    assert [(own, counted) for own, _, counted in rules(*outer, *inner)] == [("c0", "b0"), ("c1", "b1")]


def test_two_programs_in_one_trace() -> None:
    """They may ask the same at the same time; a gateway passes on the id of the answer."""
    outer = beside("00000000000000b0", "langchain", 0, 10, resource={"service.name": "bot"})
    inner = beside("00000000000000b1", "openai", 1, 9, resource={"service.name": "judge"})
    passed_on = {"response_id": "chatcmpl-1"}

    assert sorted(ids(outer, inner)) == ["b0", "b1"]
    assert ids(structs.replace(outer, **passed_on), structs.replace(inner, **passed_on)) == ["b0"]
    for name in ("bot", "unknown_service:python"):
        assert ids(outer, structs.replace(inner, resource={"service.name": name})) == ["b0"]
