"""Whether what was said is there."""

from __future__ import annotations

from typing import Any

import pytest
from checked_traces import ROOT_ID, agent, llm, says, user
from observed import event, observed

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.findings import find_problems
from pixie_otel.traces.findings.content import says_something
from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    OtherContent,
    ReasoningContent,
    TextContent,
    UserMessage,
)
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import Document, ObservationKind, ObserveSpan, RetrieverSpan, SpanError
from pixie_otel.traces.trace import Trace

CALL: dict[str, JsonValue] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.usage.input_tokens": 14,
    "gen_ai.usage.output_tokens": 8,
}
ASKED: JsonValue = '[{"role":"user","parts":[{"type":"text","content":"What is the capital of France?"}]}]'
ANSWERED: JsonValue = '[{"role":"assistant","parts":[{"type":"text","content":"Paris."}],"finish_reason":"stop"}]'
WHOLE = CALL | {"gen_ai.input.messages": ASKED, "gen_ai.output.messages": ANSWERED}


def problems(*spans: ObserveSpan) -> dict[str, Problem]:
    """Find what is wrong with a trace, by kind."""
    return {problem.kind: problem for problem in find_problems(Trace.from_spans(spans))}


LATER = 1_800_000_000_000_000_000


def whole(span_id: str, **fields: Any) -> ObserveSpan:
    """Make a model call with everything in it."""
    fields = {"input_messages": (user("?"),), "input_tokens": 1, "output_tokens": 1, **fields}
    return llm(span_id, says("!"), **fields)


def test_a_call_with_everything_has_no_problem() -> None:
    """Nothing is said of what is right."""
    assert problems(observed(WHOLE)) == {}
    assert problems(agent(input="?", output="!", end_time_unix_nano=LATER), whole("00000000000000b0")) == {}


def test_a_call_without_messages_was_recorded_with_capture_off() -> None:
    """The problem says how many, which first, and how that library records them."""
    span = observed(CALL, name="chat gpt-4o-mini")

    assert problems(span)["content-off"].message == (
        "model call 'chat gpt-4o-mini' 00000000000000a1 without what was asked and answered"
    )
    assert problems(span)["content-off"].fix is None


def test_several_are_said_once() -> None:
    """With the first of them."""
    found = problems(agent(), *(llm(f"00000000000000b{number}") for number in range(3)))

    assert found["content-off"].message.startswith("3 model calls without what was asked and answered (first: 'chat'")
    assert found["content-off"].span_id == "00000000000000b0"
    # That the root is empty as well is no news.
    assert "root-without-io" not in found


@pytest.mark.parametrize(
    ("messages", "says_it"),
    [
        ([UserMessage(content=(TextContent("hi"),))], True),
        ([UserMessage(content=(TextContent(""),)), AssistantMessage()], False),
        ([UserMessage(content=(TextContent("__REDACTED__"),))], False),
        ([UserMessage(content=(ImageContent("https://example.com/a.png"),))], True),
        ([UserMessage(content=(ImageContent(""),))], False),
        ([AssistantMessage(content=(ReasoningContent("hm"),))], True),
        ([UserMessage(content=(OtherContent("text", {"type": "text"}),))], False),
        ([UserMessage(content=(OtherContent("file", {"type": "file", "file_id": "f1"}),))], True),
        ([UserMessage(content=(OtherContent("file", "f1"),))], True),
        ([], False),
    ],
)
def test_messages_may_be_hollow(messages: list[Message], *, says_it: bool) -> None:
    """With capture off, some libraries record roles and the types of parts."""
    assert says_something(messages) is says_it


def test_of_a_call_that_failed_nothing_else_may_be_known() -> None:
    """Some libraries record the error alone, with capture on."""
    assert "content-off" not in problems(observed(CALL, status_message="429"))


def test_hidden_content_is_told_from_content_that_was_not_recorded() -> None:
    """OpenInference writes that it hid something."""
    hidden: dict[str, JsonValue] = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-4o-mini",
        "llm.token_count.prompt": 3,
        "input.value": "__REDACTED__",
        "output.value": "__REDACTED__",
    }
    found = problems(observed(hidden))

    assert set(found) == {"hidden-content"}
    assert "OPENINFERENCE_HIDE_INPUTS" in (found["hidden-content"].fix or "")


@pytest.mark.parametrize("key", ["gen_ai.input.messages_ref", "gen_ai.output.messages.ref"])
def test_content_may_lie_elsewhere(key: str) -> None:
    """The span, or an event of it, names where."""
    place: dict[str, JsonValue] = {key: "gs://prompts/1.json"}
    inside = event("gen_ai.client.inference.operation.details", place)

    assert set(problems(observed(CALL | place))) == {"external-content"}
    assert set(problems(observed(CALL, inside))) == {"external-content"}


def test_one_half_may_be_missing() -> None:
    """The question, as of images; or the answer, as of a stream that nobody read."""
    asked, answered = {"gen_ai.input.messages": ASKED}, {"gen_ai.output.messages": ANSWERED}

    assert set(problems(observed(CALL | answered))) == {"missing-input"}
    assert set(problems(observed(CALL | asked))) == {"missing-output"}
    assert set(problems(observed(CALL | asked, status_message="429"))) == set()


def test_what_was_lost_is_not_said_to_be_off() -> None:
    """Dropped attributes and cut values tell by themselves where the messages went."""
    assert set(problems(observed(CALL, dropped_attributes=9))) == {"dropped-attributes"}
    assert set(problems(observed(CALL | {"gen_ai.input.messages": str(ASKED)[:50]}))) == {"cut-value"}


def test_token_counts_may_be_missing() -> None:
    """Of a call that did not fail."""
    bare = {key: value for key, value in WHOLE.items() if "usage" not in key}

    assert set(problems(observed(bare))) == {"no-tokens"}
    assert set(problems(observed(bare, status_message="429"))) == set()
    # Some libraries record them within the answer.
    assert set(problems(observed({"gen_ai.operation.name": "chat"}))) == {"content-off"}


def test_a_root_needs_an_input_and_an_output() -> None:
    """Where neither it nor what stands for it has both; one that failed needs no output."""
    call = whole("00000000000000b0")

    assert problems(agent(input="?"), call)["root-without-io"].message == (f"root 'answer' {ROOT_ID} without output")
    assert "root-without-io" not in problems(agent(input="?", error=SpanError("no")), call)
    assert "root-without-io" not in problems(agent(input="?", output="!"), call)


def test_what_its_steps_recorded_may_stand_for_a_root() -> None:
    """That is said, since it is not what the user was asked and told."""
    step = whole("00000000000000b0", input="?", output="!")

    assert "'chat'" in problems(agent(), step)["root-without-io"].message


def test_a_root_around_no_model_is_nobodys_business() -> None:
    """Health checks have neither input nor output."""
    assert problems(ObserveSpan(trace_id="1", span_id="2", start_time_unix_nano=1, end_time_unix_nano=2)) == {}


def test_an_agent_calls_a_model() -> None:
    """Where it does not, the calls were not recorded; that an agent was made is no run."""
    making = {"attributes": {"gen_ai.operation.name": "create_agent"}}

    assert "no-model-calls" in problems(agent(input="?", output="!"))
    assert "no-model-calls" not in problems(agent(input="?", output="!", error=SpanError("no")))
    assert problems(agent(**making)) == {}


@pytest.mark.parametrize(
    ("fields", "is_told"),
    [
        ({}, True),
        ({"documents": (Document(""),)}, True),
        ({"documents": (Document("Refunds take 5 days."),)}, False),
        ({"output": []}, False),
        ({"error": SpanError("down")}, False),
    ],
)
def test_a_retrieval_holds_documents(fields: dict[str, Any], *, is_told: bool) -> None:
    """A list without any is an answer, too."""
    found = RetrieverSpan(
        **{"trace_id": "1", "span_id": "2", "name": "search", "kind": ObservationKind.RETRIEVER, **fields},
        start_time_unix_nano=1,
        end_time_unix_nano=2,
    )

    assert ("missing-documents" in problems(found)) is is_told
