"""Spring AI."""

from __future__ import annotations

import pytest
from observed import event, log, observed, observed_call

from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.spans import ObservationKind, RetrieverSpan, ToolSpan

CALL: dict[str, JsonValue] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "openai",
    "gen_ai.request.model": "gpt-5",
    "gen_ai.response.model": "none",
    "gen_ai.response.finish_reasons": '["STOP"]',
    "gen_ai.usage.input_tokens": "11",
    "gen_ai.usage.output_tokens": "13",
}


def test_content_in_log_lines() -> None:
    """What a model was asked and answered is logged, as texts in quotes in which nothing is escaped."""
    span = observed_call(
        CALL,
        log("", 'Chat Model Prompt Content:\n["You are "kind".", "Hi"]'),
        log("", 'Chat Model Completion:\n["Hello"]'),
        log("", "Something else\nthat was logged"),
        log("", {"a": 1}),
    )

    assert [item.text for item in span.input_messages] == ['You are "kind".', "Hi"]
    assert (span.output, span.finish_reasons) == ("Hello", ("stop",))
    assert (span.input_tokens, span.output_tokens, span.response_model) == (11, 13, None)
    assert observed_call(CALL, log("", "Chat Model Completion:\n[]")).output is None
    assert observed_call(CALL, log("", "Chat Model Completion:\nplain")).output == "plain"


def test_a_request_in_a_log_line() -> None:
    """Some handlers log the messages themselves."""
    line = 'Chat Model Prompt Content:\n{"messages": [{"role": "system", "content": "Be brief."}], "model": "m"}'

    assert observed_call(CALL, log("", line)).input == [{"role": "system", "content": "Be brief."}]


def test_content_in_attributes_and_events() -> None:
    """Before 1.0 texts stood in attributes or in events."""
    kept = observed_call({**CALL, "gen_ai.prompt": ["Hi"], "gen_ai.completion": ["Hello"]})
    told = observed_call(
        CALL,
        event("gen_ai.content.prompt", {"gen_ai.prompt": ["Hi"]}),
        event("gen_ai.content.completion", {"gen_ai.completion": ["Hello"]}),
    )

    assert [(span.input, span.output) for span in (kept, told)] == [([{"role": "user", "content": "Hi"}], "Hello")] * 2


def test_a_client() -> None:
    """A chat client and its advisors are around a call; the conversation is a session."""
    span = observed(
        {
            "gen_ai.operation.name": "framework",
            "gen_ai.system": "spring_ai",
            "spring.ai.kind": "chat_client",
            "spring.ai.chat.client.conversation.id": "c-1",
            "spring.ai.chat.client.system.text": "Be brief.",
            "spring.ai.chat.client.user.text": "Hi",
        },
        log("", 'Chat Client Completion:\n["Hello"]'),
    )

    assert (span.kind, span.session_id, span.output) == (ObservationKind.CHAIN, "c-1", "Hello")
    assert span.input == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    assert observed({"spring.ai.kind": "advisor"}).kind is ObservationKind.CHAIN


def test_a_tool() -> None:
    """A tool's result is JSON, that of a text as well."""
    span = observed(
        {
            "gen_ai.operation.name": "framework",
            "spring.ai.kind": "tool_call",
            "spring.ai.tool.definition.name": "getWeather",
            "spring.ai.tool.definition.description": "Get it.",
            "spring.ai.tool.call.id": "c",
            "spring.ai.tool.call.arguments": '{"city": "Paris"}',
            "spring.ai.tool.call.result": '"18°C"',
        }
    )

    assert isinstance(span, ToolSpan)
    assert (span.tool_name, span.tool_call_id, span.description) == ("getWeather", "c", "Get it.")
    assert (span.arguments, span.result) == ({"city": "Paris"}, "18°C")


def test_a_vector_store() -> None:
    """A query of a vector store is a retrieval; adding to it is none."""
    query: dict[str, JsonValue] = {"spring.ai.kind": "vector_store", "db.vector.query.content": "refunds?"}
    span = observed({**query, "db.vector.query.response.documents": ["Five days.", "Ask."]})
    logged = observed(query, log("", 'Vector Store Query Response:\n["Five days."]'))

    assert isinstance(span, RetrieverSpan)
    assert (span.query, span.documents) == ("refunds?", (Document("Five days."), Document("Ask.")))
    assert isinstance(logged, RetrieverSpan)
    assert logged.documents == (Document("Five days."),)
    assert observed({"spring.ai.kind": "vector_store", "db.operation.name": "add"}).kind is ObservationKind.CHAIN


@pytest.mark.parametrize("value", [None, 1, "", "[", [1], {"a": 1}])
def test_any_value_under_any_key(value: JsonValue) -> None:
    """What is no text, call or document costs only itself."""
    names = ("kind", "chat.client.user.text", "tool.call.arguments", "tool.call.result", "tool.definition.name")
    attributes = {f"spring.ai.{name}": value for name in names}

    assert isinstance(observed({**attributes, "db.vector.query.content": "q"}), RetrieverSpan)
    assert isinstance(observed(attributes, log("", value)), ToolSpan)
    assert observed_call({**CALL, "db.vector.query.response.documents": None}, log("", value)).output is None
