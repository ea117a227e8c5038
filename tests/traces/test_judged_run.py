"""What stands for a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from checked_traces import TRACE_ID

from pixie_otel.evaluable import Evaluable, JsonValue, NamedData
from pixie_otel.traces.conversations import conversations
from pixie_otel.traces.judged_run import JudgedRun, judged_root, judged_run
from pixie_otel.traces.reader import TraceReader
from pixie_otel.traces.selectors import root
from pixie_otel.traces.spans import ObservationKind, ObserveSpan
from pixie_otel.traces.trace import Trace

CORPUS = Path(__file__).parent / "corpus"


def span(span_id: str, parent: str | None = None, **fields: Any) -> ObserveSpan:
    """Make a span that takes a millisecond; ids that sort later happen later."""
    start = int(span_id, 16) * 1_000_000
    times = {"start_time_unix_nano": start, "end_time_unix_nano": start + 1_000_000}
    return ObserveSpan(trace_id=TRACE_ID, span_id=span_id, parent_span_id=parent, **{**times, **fields})


def run(*spans: ObserveSpan) -> JudgedRun:
    """Judge the trace of some spans."""
    return judged_run(Trace.from_spans(spans).roots)


def test_the_roots_own() -> None:
    """What the root recorded counts, one side alone too."""
    found = run(span("1", output="answer"), span("2", "1", input="q", output="other", kind=ObservationKind.LLM))

    assert (found.span.span_id, found.input, found.output) == ("1", None, "answer")


def test_the_first_question_and_the_last_answer() -> None:
    """Below a root without either, the question is the first call's and the answer the last one's."""
    found = run(
        span("1", kind=ObservationKind.AGENT),
        span("2", "1", input="question", output="call", kind=ObservationKind.LLM),
        span("3", "1", input={"city": "Paris"}, output="sunny", kind=ObservationKind.TOOL),
        span("4", "1", kind=ObservationKind.CHAIN),
        span("5", "4", input="history", output="answer", kind=ObservationKind.LLM),
    )

    assert (found.span.span_id, found.input, found.output) == ("2", "question", "answer")
    assert found.duration_ms == 4.0


def test_helpers_are_not_asked() -> None:
    """A retrieval before the call is no question, nor a guardrail after it an answer."""
    found = run(
        span("1"),
        span("2", "1", input="query", output="documents", kind=ObservationKind.RETRIEVER),
        span("3", "1", input="question", output="answer", kind=ObservationKind.LLM),
        span("4", "1", input="answer", output="fine", kind=ObservationKind.GUARDRAIL),
    )

    assert (found.span.span_id, found.input, found.output) == ("3", "question", "answer")


def test_helpers_alone() -> None:
    """A run that only retrieves and reads is its helpers."""
    found = run(
        span("1"),
        span("2", "1", input="query", output="documents", kind=ObservationKind.RETRIEVER),
        span("3", "1", input="documents", output="best", kind=ObservationKind.RERANKER),
    )

    assert (found.input, found.output) == ("query", "best")


def test_helpers_of_a_model_whose_content_was_left_out() -> None:
    """What a tool gave back is no answer of the model; a function's own result is, whoever recorded it."""
    found = run(
        span("1", kind=ObservationKind.AGENT),
        span("2", "1", kind=ObservationKind.LLM),
        span("3", "1", input={"city": "Paris"}, output="sunny", kind=ObservationKind.TOOL),
    )
    assert (found.span.span_id, found.input, found.output) == ("1", None, None)

    found = run(
        span("1"),
        span("2", "1", input="query", output="documents", kind=ObservationKind.RETRIEVER),
        span("3", "1", input="question", output="answer"),
        span("4", "3", kind=ObservationKind.LLM),
    )
    assert (found.span.span_id, found.input, found.output) == ("3", "question", "answer")


def test_siblings_of_a_missing_root() -> None:
    """Spans whose parent is not in the input stand together in its place."""
    found = run(
        span("2", "1", input="question", output="call", kind=ObservationKind.LLM),
        span("3", "1", input="history", output="answer", kind=ObservationKind.LLM),
        span("4", input="of", output="another root", kind=ObservationKind.LLM),
    )

    assert (found.input, found.output) == ("question", "answer")


def test_the_last_to_end_answers() -> None:
    """The end counts, whatever started last."""
    found = run(
        span("1"),
        span("2", "1", input="q", output="answer", kind=ObservationKind.AGENT, end_time_unix_nano=9_000_000),
        span("3", "1", input="title?", output="title", kind=ObservationKind.LLM),
    )

    assert found.output == "answer"


def test_nothing_recorded() -> None:
    """Then the first root stands for the run, with nothing."""
    trace = Trace.from_spans([span("1"), span("2", "1")])
    top = judged_root(trace.roots)

    assert top is not None
    assert top.span.span_id == "1"
    assert judged_run(trace.roots) == JudgedRun(top.span, None, None, 1.0)
    assert judged_root([]) is None


def runs_of(path: str) -> list[Evaluable]:
    """Give the evaluables of the runs of a scenario of the corpus; of a bare SDK's calls, of their conversation."""
    files = [CORPUS / f"{path}.jsonl", CORPUS / f"{path}.logs.jsonl"]
    return [root(trace) for trace in conversations(TraceReader(*(file for file in files if file.exists())))]


def last_said(messages: JsonValue) -> JsonValue:
    """Give what the user said last, whether the run recorded messages, parameters or a text."""
    if isinstance(messages, dict):
        return messages.get("question") or last_said(messages.get("messages"))
    if not isinstance(messages, list):
        return messages
    asked = [message for message in messages if isinstance(message, dict) and message["role"] == "user"]
    return asked[-1]["content"]


@pytest.mark.parametrize(
    "path",
    [
        "google-adk-legacy/tool",
        "openai-agents-oi/tool",
        "logfire-both/responses_tool",
        "logfire-both/tool",
        "logfire-both/tool_bare",
        "logfire-v1/responses_tool",
        "logfire-v1/tool",
        "logfire-v1/tool_bare",
        "logfire-v2/responses_tool",
        "logfire-v2/tool",
        "logfire-v2/tool_bare",
    ],
)
def test_tool_loops_of_real_libraries(path: str) -> None:
    """The question and the last answer, and not the tool's arguments or the first answer, which only asks for it."""
    (made,) = runs_of(path)

    assert last_said(made.eval_input[0].value) == "What's the weather in Paris?"
    assert made.eval_output == [NamedData("output", "It is 18°C and cloudy in Paris.")]
    assert made.tools_called is not None
    assert [call.result for call in made.tools_called] == [{"temp_c": 18, "sky": "cloudy"}]


@pytest.mark.parametrize("path", ["google-adk-legacy/multi", "logfire-both/multi", "logfire-v1/responses_multi"])
def test_turns_of_real_libraries(path: str) -> None:
    """Each turn has the question that is new in it, and its own answer."""
    turns = [value for made in runs_of(path) for value in zip(made.eval_input, made.eval_output, strict=True)]

    assert [(last_said(given.value), said.value) for given, said in turns] == [
        ("My name is Ada.", "Nice to meet you, Ada."),
        ("What is my name?", "Your name is Ada."),
    ]


@pytest.mark.parametrize(
    ("path", "asked", "answered"),
    [
        ("langchain-traceloop/chain", "What is the capital of France?", "The capital of France is Paris."),
        ("langchain-traceloop/chat", "What is the capital of France?", "The capital of France is Paris."),
        ("langchain-traceloop/rag", "How long do refunds take?", "Refunds take 5 business days."),
        ("logfire-v1/rag", "How long do refunds take?", "Refunds take 5 business days."),
        ("openai-agents-oi/rag", "How long do refunds take?", "Refunds take 5 business days."),
        ("google-adk-legacy/stream", "What is the capital of France?", "The capital of France is Paris."),
    ],
)
def test_single_turns_of_real_libraries(path: str, asked: str, answered: str) -> None:
    """Whatever stands above and beside the model call."""
    (made,) = runs_of(path)

    assert last_said(made.eval_input[0].value) == asked
    assert made.eval_output == [NamedData("output", answered)]


@pytest.mark.parametrize("path", ["openai-agents-genai/tool", "openai-agents-genai/rag", "google-adk-nocontent/chat"])
def test_real_runs_without_content(path: str) -> None:
    """Where the model's part was left out, a tool's does not stand for the run."""
    (made,) = runs_of(path)

    assert (made.eval_input, made.eval_output) == ([NamedData("input", None)], [])
