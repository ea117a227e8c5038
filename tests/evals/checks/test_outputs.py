"""The checks of the answer."""

from __future__ import annotations

import pytest
from checked_traces import TRACE_ID, agent, judge, llm, says, user

from pixie_otel.errors import SkipEvaluation
from pixie_otel.evals.evaluators.checks import OutputNotTruncated, OutputPresent
from pixie_otel.evaluable import JsonValue, ToolCall
from pixie_otel.traces.messages import AssistantMessage, ImageContent, ReasoningContent
from pixie_otel.traces.spans import EmbeddingSpan, LLMSpan, ObservationKind, SpanError


@pytest.mark.parametrize("output", ["Paris", 0, False, ["a"], {"answer": ""}])
def test_any_value_is_an_output(output: JsonValue) -> None:
    """Zero and false are answers as good as text."""
    assert judge(OutputPresent(), agent(), llm("01"), output=output).score == 1.0


@pytest.mark.parametrize("output", ["", " \n", [], {}])
def test_an_empty_output_is_found(output: JsonValue) -> None:
    """Nothing between the quotes is no answer, whatever the model said last."""
    evaluation = judge(OutputPresent(), agent(input="?"), llm("01", says("Paris")), output=output)
    assert evaluation.score == 0.0
    assert evaluation.reasoning == "the output was recorded and is empty"
    assert evaluation.details["findings"] == [{"problem": "empty", "span_id": "01"}]


@pytest.mark.parametrize(
    "answer",
    [
        says("Paris"),
        says("", ToolCall("search", {})),
        AssistantMessage(content=(ImageContent("data:,"),)),
    ],
)
def test_the_last_llm_call_answers_for_a_run_that_recorded_nothing(answer: AssistantMessage) -> None:
    """Text, a tool call and an image are answers."""
    evaluation = judge(OutputPresent(), agent(), llm("01"), llm("02", answer), output=None)
    assert evaluation.score == 1.0
    assert evaluation.reasoning == "the run itself recorded no output, but its last LLM call answered (span 02)"


def test_a_raw_output_is_an_answer() -> None:
    """An LLM call whose output was recorded, though not as messages, answered."""
    assert judge(OutputPresent(), agent(), llm("01", output="Paris"), output=None).score == 1.0


@pytest.mark.parametrize("answer", [says(""), says(" "), AssistantMessage(content=(ReasoningContent("hm"),))])
def test_an_empty_answer_of_the_last_llm_call_is_found(answer: AssistantMessage) -> None:
    """A message without text, or with reasoning alone, answers nothing."""
    evaluation = judge(OutputPresent(), agent(), llm("01", answer, input_messages=(user("?"),)), output=None)
    assert evaluation.score == 0.0
    assert evaluation.reasoning == "the last LLM call's answer is empty (span 01)"


def test_content_that_is_not_captured_is_told_from_an_empty_answer() -> None:
    """Where no span has any text, the reasoning says so."""
    for spans in ([agent(), llm("01")], [agent(), llm("01", says(""), input_messages=(user(""),))], [agent()]):
        evaluation = judge(OutputPresent(), *spans, output=None)
        assert evaluation.score == 0.0
        assert evaluation.reasoning.startswith("no content was recorded in this trace")


def test_an_output_that_alone_is_missing_is_told_from_both() -> None:
    """Where inputs were recorded and no output, that is what is said."""
    for spans in ([agent(), llm("01", input_messages=(user("?"),))], [agent(input="?")]):
        evaluation = judge(OutputPresent(), *spans, output=None)
        assert evaluation.score == 0.0
        assert evaluation.reasoning.startswith("content was recorded, but no output")


def test_a_failed_call_explains_the_missing_output() -> None:
    """An error is the reason, not the capture of content."""
    evaluation = judge(OutputPresent(), agent(), llm("01", error=SpanError("boom")), output=None)
    assert evaluation.reasoning == "the last LLM call failed and so gave no answer (span 01)"


def test_a_trace_of_embeddings_has_no_answer() -> None:
    """Steps that answer nobody are skipped."""
    span = EmbeddingSpan(trace_id=TRACE_ID, span_id="01", kind=ObservationKind.EMBEDDING)
    with pytest.raises(SkipEvaluation, match="no LLM call and no agent"):
        judge(OutputPresent(), span, output=None)


@pytest.mark.parametrize(
    "call",
    [
        llm("02", says("Par"), finish_reasons=("length",)),
        llm("02", says("Par", finish_reason="MAX_TOKENS")),
        llm("02", says("Par", finish_reason="max_tokens")),
    ],
)
def test_an_answer_cut_off_is_found(call: LLMSpan) -> None:
    """The limit counts, whether the span or its message tells of it."""
    evaluation = judge(OutputNotTruncated(), agent(), llm("01", says("a"), finish_reasons=("stop",)), call)
    assert evaluation.score == 0.0
    assert evaluation.reasoning == "the answer was cut off at the token limit (span 02)"


def test_the_limit_asked_for_is_named() -> None:
    """The reader learns which setting to raise."""
    call = llm("01", finish_reasons=("length",), request_max_tokens=16, output_tokens=16)
    evaluation = judge(OutputNotTruncated(), call)
    assert evaluation.reasoning == "the answer was cut off at the token limit of 16 (span 01)"
    (finding,) = evaluation.details["findings"]  # type: ignore[misc]
    assert finding == {
        "span_id": "01",
        "model": None,
        "finish_reasons": ["length"],
        "output_tokens": 16,
        "max_tokens": 16,
    }


def test_a_call_before_the_answer_may_be_cut_off() -> None:
    """An inner call at its limit is told, and does not count."""
    spans = [llm("01", finish_reasons=("length",)), llm("02", finish_reasons=("stop",))]
    evaluation = judge(OutputNotTruncated(), agent(), *spans)
    assert evaluation.score == 1.0
    assert evaluation.reasoning == "the answer is whole; 1 call before it hit the token limit (span 01)"
    assert evaluation.details["count"] == 1


def test_a_whole_answer_is_clean() -> None:
    """An answer that stopped by itself is whole."""
    assert judge(OutputNotTruncated(), llm("01", finish_reasons=("stop",))).score == 1.0


def test_truncation_is_skipped_where_it_cannot_be_known() -> None:
    """Without an LLM call or a finish reason there is nothing to judge."""
    with pytest.raises(SkipEvaluation, match="no LLM call"):
        judge(OutputNotTruncated(), agent())
    with pytest.raises(SkipEvaluation, match="no finish reason"):
        judge(OutputNotTruncated(), llm("01"))
