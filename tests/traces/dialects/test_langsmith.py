"""LangSmith: runs whose inputs and outputs are JSON under two keys."""

from __future__ import annotations

import json

import pytest
from case_results import json_values
from hypothesis import given
from hypothesis import strategies as st
from observed import event, observed, observed_call

from pixie_otel.evaluable import Document, JsonValue, ToolCall
from pixie_otel.traces.messages import AssistantMessage, SystemMessage, TextContent, UserMessage
from pixie_otel.traces.spans import EmbeddingSpan, ObservationKind, RetrieverSpan, SpanError, ToolSpan

LLM = {"langsmith.span.kind": "llm", "gen_ai.operation.name": "chat", "gen_ai.system": "langchain"}
USAGE = {
    "input_tokens": 57,
    "output_tokens": 17,
    "total_tokens": 74,
    "input_token_details": {"cache_read": 20},
    "output_token_details": {"reasoning": 4},
}


def constructor(name: str, /, **fields: JsonValue) -> dict[str, JsonValue]:
    """Give a message as LangChain serialises it."""
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": fields}


def test_langchain() -> None:
    """A chat model's prompts are lists of messages, its results lists of generations."""
    calls = [{"name": "get_weather", "args": {"city": "Paris"}, "id": "call_1", "type": "tool_call"}]
    answer = constructor(
        "AIMessage",
        content="",
        tool_calls=[*calls],
        usage_metadata={**USAGE},
        response_metadata={"model_name": "gpt-4o-mini-2024-07-18", "finish_reason": "tool_calls", "id": "chatcmpl-1"},
    )
    result = {"generations": [[{"text": "", "generation_info": {"finish_reason": "tool_calls"}, "message": answer}]]}
    prompt = [constructor("SystemMessage", content="Be brief."), constructor("HumanMessage", content="Weather?")]
    span = observed_call(
        {
            **LLM,
            "gen_ai.request.model": "gpt-4o-mini",
            "gen_ai.prompt": json.dumps({"messages": [prompt]}),
            "gen_ai.completion": json.dumps(result),
            "gen_ai.usage.input_tokens": 57,
            "gen_ai.usage.output_tokens": 17,
            "langsmith.metadata.ls_provider": "openai",
            "langsmith.metadata.ls_temperature": 0.2,
            "langsmith.metadata.ls_max_tokens": "77",
            "langsmith.metadata.usage_metadata": json.dumps(USAGE),
            "langsmith.metadata.session_id": "session-ada-42",
            "langsmith.metadata.user_id": "ada",
            "langsmith.trace.session_id": "a project",
        }
    )

    assert span.input_messages == (
        SystemMessage(content=(TextContent("Be brief."),)),
        UserMessage(content=(TextContent("Weather?"),)),
    )
    assert span.output_messages == (
        AssistantMessage(tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "call_1"),)),
    )
    assert (span.provider, span.request_model, span.response_model) == (
        "openai",
        "gpt-4o-mini",
        "gpt-4o-mini-2024-07-18",
    )
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens, span.reasoning_tokens) == (57, 17, 20, 4)
    assert (span.finish_reasons, span.response_id) == (("tool_calls",), "chatcmpl-1")
    assert (span.request_temperature, span.request_max_tokens) == (0.2, 77)
    assert (span.session_id, span.user_id) == ("session-ada-42", "ada")
    assert span.metadata["usage_metadata"] == USAGE


def test_a_wrapped_call() -> None:
    """The wrapper of OpenAI records request and response whole."""
    span = observed_call(
        {
            **LLM,
            "gen_ai.prompt": '{"messages": [{"role": "user", "content": "Hi"}], "model": "m", "temperature": 0.2}',
            "gen_ai.completion": json.dumps(
                {
                    "id": "chatcmpl-1",
                    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Hello"}}],
                    "model": "m-1",
                    "usage_metadata": USAGE,
                }
            ),
            "langsmith.metadata.ls_invocation_params": '{"max_tokens": 5}',
        }
    )

    assert (span.input, span.output, span.finish_reasons) == ([{"role": "user", "content": "Hi"}], "Hello", ("stop",))
    assert (span.request_model, span.response_model, span.request_max_tokens) == ("m", "m-1", 5)
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens) == (57, 17, 20)


@pytest.mark.parametrize(
    ("completion", "answer"),
    [
        ({"output": "Paris."}, "Paris."),
        ({"output": '{"answer": 1}'}, '{"answer": 1}'),
        ({"output": ["Par", "is."]}, "Paris."),
        ({"outputs": {"role": "assistant", "content": "Paris."}}, "Paris."),
        ({"role": "assistant", "content": "Paris.", "usage_metadata": {"input_tokens": 1}}, "Paris."),
        ({"content": "Paris.", "type": "ai", "response_metadata": {}}, "Paris."),
        ({"answer": "Paris."}, {"answer": "Paris."}),
        ({"output": None}, None),
        ({}, None),
    ],
)
def test_answers(completion: dict[str, JsonValue], answer: JsonValue) -> None:
    """A run's output that is no object is put into one; a generator's pieces are one text."""
    assert observed_call({**LLM, "gen_ai.completion": json.dumps(completion)}).output == answer


def test_a_failed_call_of_langchain() -> None:
    """LangChain makes an empty result of a call that failed: that is no answer."""
    empty = {"generations": [[{"text": "", "message": constructor("AIMessage", content="")}]]}
    span = observed_call(
        {**LLM, "gen_ai.completion": json.dumps(empty)},
        event(
            "exception", {"exception.type": "Exception", "exception.message": "APIError('Error code: 500')Traceback"}
        ),
    )

    assert (span.output, span.output_messages) == (None, ())


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (
            "ValueError('unknown city: Atlantis')Traceback (most recent call last):\n x",
            ("unknown city: Atlantis", "ValueError"),
        ),
        ('a.b.Failed("it\'s (bad)", 500)\n\nTraceback (most recent call last):\n x', ("it's (bad)", "a.b.Failed")),
        ("KeyError(5)", ("5", "KeyError")),
        ("RuntimeError()", ("", "RuntimeError")),
        ("Error: kaput", ("Error: kaput", "Exception")),
        ("", ("", "Exception")),
    ],
)
def test_errors(said: str, error: tuple[str, str]) -> None:
    """A failed run has an exception whose message is what Python shows, and a status that may say that all is well."""
    raised = event("exception", {"exception.type": "Exception", "exception.message": said})

    assert observed({**LLM}, raised).error == SpanError(*error)


def test_a_tool() -> None:
    """Arguments are the run's inputs; LangChain's result is its message of it."""
    tool = {"langsmith.span.kind": "tool", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather"}
    message = {"content": '{"temp_c": 18}', "type": "tool", "name": "get_weather", "tool_call_id": "call_1"}
    for asked, given_back, identity in (
        ({"city": "Paris"}, {"temp_c": 18}, None),
        ({"city": "Paris"}, {"output": message}, "call_1"),
        ({"city": "Paris"}, {"output": constructor("ToolMessage", **message)}, "call_1"),
        ({"input": "{'city': 'Paris'}"}, {"output": '{"temp_c": 18}'}, None),
    ):
        span = observed({**tool, "gen_ai.prompt": json.dumps(asked), "gen_ai.completion": json.dumps(given_back)})
        assert isinstance(span, ToolSpan)
        assert (span.tool_name, span.arguments, span.result) == ("get_weather", {"city": "Paris"}, {"temp_c": 18})
        assert span.tool_call_id == identity
    plain = observed({**tool, "gen_ai.prompt": '{"input": "Paris"}', "gen_ai.completion": '{"output": "sunny"}'})
    assert isinstance(plain, ToolSpan)
    assert (plain.arguments, plain.result) == ({"input": "Paris"}, "sunny")


@pytest.mark.parametrize("name", ["documents", "output", "outputs"])
def test_a_retriever(name: str) -> None:
    """A retriever's run is called an embedding, and its documents stand under one of several names."""
    found = [{"id": "d1", "page_content": "Refunds.", "type": "Document", "metadata": {"a": 1}}]
    span = observed(
        {
            "langsmith.span.kind": "retriever",
            "gen_ai.operation.name": "embeddings",
            "gen_ai.prompt": '{"query": "How long?"}',
            "gen_ai.completion": json.dumps({name: found}),
        }
    )

    assert isinstance(span, RetrieverSpan)
    assert (span.query, span.documents) == ("How long?", (Document("Refunds.", "d1", None, {"a": 1}),))


def test_an_embedding() -> None:
    """The texts are among the inputs."""
    span = observed({"langsmith.span.kind": "embedding", "gen_ai.prompt": '{"texts": ["a", "b"]}'})

    assert isinstance(span, EmbeddingSpan)
    assert span.texts == ("a", "b")


@pytest.mark.parametrize(
    ("run_type", "kind"), [("chain", "chain"), ("prompt", "prompt"), ("parser", "chain"), ("odd", "other")]
)
def test_other_runs(run_type: str, kind: str) -> None:
    """Chains and prompts are no model calls, whatever operation they name."""
    span = observed(
        {
            "langsmith.span.kind": run_type,
            "gen_ai.operation.name": "odd" if run_type == "odd" else "chat",
            "gen_ai.prompt": '{"input": "Hi"}',
            "gen_ai.completion": '{"output": "Hello"}',
        }
    )

    assert (span.kind.value, span.input, span.output) == (kind, "Hi", "Hello")


def test_metadata_alone() -> None:
    """Others' spans may have LangSmith's metadata: it says who, and nothing of what the span is."""
    span = observed_call(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.prompt": '[{"role": "user", "content": "Hi"}]',
            "langsmith.metadata.thread_id": "s",
        }
    )

    assert (span.session_id, [item.text for item in span.input_messages]) == ("s", ["Hi"])
    assert observed({"langsmith.trace.name": "x"}).kind is ObservationKind.OTHER
    assert observed({}, event("langsmith")).dialects == ()


@given(
    st.sampled_from(["llm", "tool", "retriever", "embedding", "chain"]),
    st.dictionaries(
        st.sampled_from(
            ["gen_ai.prompt", "gen_ai.completion", "langsmith.metadata.usage_metadata", "langsmith.metadata.session_id"]
        ),
        json_values | json_values.map(json.dumps),
    ),
    json_values,
)
def test_any_value_under_any_key(run_type: str, attributes: dict[str, JsonValue], said: JsonValue) -> None:
    """Nothing is raised whatever stands there."""
    raised = event("exception", {"exception.message": said})

    assert observed({**attributes, "langsmith.span.kind": run_type}, raised).dialects[0] == "langsmith"


def test_token_details() -> None:
    """What was cached, and spent on reasoning, stands beside the counts as Python shows it."""
    span = observed_call(
        {
            "langsmith.span.kind": "llm",
            "gen_ai.usage.input_tokens": 57,
            "gen_ai.usage.output_tokens": 17,
            "gen_ai.usage.input_token_details": "{'audio': 0, 'cache_read': 20}",
            "gen_ai.usage.output_token_details": '{"reasoning": 4}',
        }
    )

    assert (span.input_tokens, span.cache_read_tokens, span.reasoning_tokens) == (57, 20, 4)
