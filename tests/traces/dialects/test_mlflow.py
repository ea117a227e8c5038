"""MLflow: every value as JSON text, in its own form and in what is left of it in the GenAI mode."""

from __future__ import annotations

import json

import pytest
from case_results import json_values
from hypothesis import given
from hypothesis import strategies as st
from observed import event, observed, observed_call

from pixie_otel.attributes import mlflow as keys
from pixie_otel.evaluable import Document, JsonValue, ToolCall
from pixie_otel.traces.messages import AssistantMessage, TextContent, UserMessage
from pixie_otel.traces.spans import EmbeddingSpan, ObservationKind, RetrieverSpan, SpanError, ToolSpan

CHAT = {"mlflow.traceRequestId": '"tr-1"', "mlflow.spanType": '"CHAT_MODEL"'}
WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
CHUNK = {"id": "c1", "object": "chat.completion.chunk", "model": "m"}


def chunk(delta: dict[str, object], reason: str | None = None) -> str:
    """Give a piece of a stream as MLflow records it."""
    return json.dumps({**CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


def test_a_logged_call() -> None:
    """Request and response are recorded whole; the tokens that MLflow counts include cached ones."""
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    response = {
        "id": "chatcmpl-1",
        "choices": [
            {"finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [call]}}
        ],
        "model": "gpt-4o-mini-2024-07-18",
        "usage": {"prompt_tokens": 57, "completion_tokens": 17, "completion_tokens_details": {"reasoning_tokens": 4}},
    }
    span = observed_call(
        {
            **CHAT,
            "mlflow.spanInputs": json.dumps(
                {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Weather?"}], "temperature": 0.2}
            ),
            "mlflow.spanOutputs": json.dumps(response),
            "mlflow.chat.tools": json.dumps([WEATHER]),
            "mlflow.chat.tokenUsage": json.dumps(
                {"input_tokens": 57, "output_tokens": 17, "total_tokens": 74, "cache_read_input_tokens": 20}
            ),
            "mlflow.llm.model": '"gpt-4o-mini"',
            "mlflow.llm.provider": '"openai"',
            "mlflow.llm.cost": '{"input_cost": 0.25, "output_cost": 0.5, "total_cost": 0.75}',
            "model": '"gpt-4o-mini"',
        }
    )

    assert span.input_messages == (UserMessage(content=(TextContent("Weather?"),)),)
    assert span.output_messages == (
        AssistantMessage(tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "call_1"),)),
    )
    assert (span.request_model, span.response_model, span.provider) == (
        "gpt-4o-mini",
        "gpt-4o-mini-2024-07-18",
        "openai",
    )
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens, span.reasoning_tokens) == (57, 17, 20, 4)
    assert (span.cost, span.request_temperature, span.finish_reasons, span.response_id) == (
        0.75,
        0.2,
        ("tool_calls",),
        "chatcmpl-1",
    )
    assert [tool.name for tool in span.tool_definitions] == ["get_weather"]


def test_anthropic() -> None:
    """Anthropic's response is a message; MLflow adds the cached tokens to the input."""
    span = observed_call(
        {
            **CHAT,
            "mlflow.spanInputs": json.dumps(
                {"model": "claude-x", "system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]}
            ),
            "mlflow.spanOutputs": json.dumps(
                {
                    "id": "msg_1",
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Hello"}],
                    "stop_reason": "end_turn",
                    "usage": {"input_tokens": 37, "output_tokens": 17, "cache_read_input_tokens": 20},
                }
            ),
            "mlflow.chat.tokenUsage": json.dumps(
                {"input_tokens": 57, "output_tokens": 17, "total_tokens": 74, "cache_read_input_tokens": 20}
            ),
        }
    )

    assert [item.text for item in span.input_messages] == ["Be brief.", "Hi"]
    assert (span.output, span.finish_reasons, span.response_id) == ("Hello", ("stop",), "msg_1")
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens) == (57, 17, 20)


def test_langchain() -> None:
    """LangChain's parameters and metadata stand in attributes of their own."""
    span = observed_call(
        {
            **CHAT,
            "mlflow.spanInputs": '{"messages": [{"role": "user", "content": "Hi", "tool_calls": null}]}',
            "mlflow.spanOutputs": '{"choices": [{"message": {"role": "assistant", "content": "Hello"}}]}',
            "invocation_params": '{"model": "m", "temperature": 0.2, "max_completion_tokens": 77}',
            "metadata": '{"thread_id": "session-ada-42", "ls_provider": "openai"}',
            "mlflow.traceTag.k": "v",
        }
    )

    assert (span.output, span.request_temperature, span.request_max_tokens) == ("Hello", 0.2, 77)
    assert span.session_id == "session-ada-42"
    assert span.metadata == {"thread_id": "session-ada-42", "ls_provider": "openai", "k": "v"}


@pytest.mark.parametrize(
    ("recorded", "answer"),
    [
        ('"Paris."', "Paris."),
        (json.dumps('{"answer": 1}'), '{"answer": 1}'),
        ('["Par", "is."]', "Paris."),
        ('[{"text": "Paris."}]', [{"text": "Paris."}]),
        ('{"answer": 1}', {"answer": 1}),
        ("42", 42),
        ("cut {", "cut {"),
    ],
)
def test_answers(recorded: str, answer: JsonValue) -> None:
    """A text is what the model wrote, JSON or not; a generator's pieces are one text."""
    assert observed_call({**CHAT, "mlflow.spanOutputs": recorded}).output == answer


def test_a_stream_of_tool_calls() -> None:
    """What MLflow makes of a stream has no tool calls; the pieces among the events have them."""
    pieces = [
        chunk({"role": "assistant", "content": ""}),
        chunk({"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": '{"a":'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": " 1}"}}]}),
        chunk({}, "tool_calls"),
    ]
    events = [event(f"mlflow.chunk.item.{i}", {"mlflow.chunk.value": piece}) for i, piece in enumerate(pieces)]
    made = '{"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": ""}}]}'
    expected = (AssistantMessage(tool_calls=(ToolCall("f", {"a": 1}, "call_1"),)),)

    span = observed_call({**CHAT, "mlflow.spanOutputs": made}, *events)
    assert (span.output_messages, span.finish_reasons) == (expected, ("tool_calls",))
    # In the GenAI mode the events are all that is left in MLflow's own form.
    genai = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": '[{"role": "assistant", "parts": []}]'}
    assert observed_call(genai, *events).output_messages == expected
    assert observed_call(genai, event("mlflow.chunk.item.0", {"mlflow.chunk.value": "no chunk"})).dialects == (
        "gen_ai",
    )


def test_a_tool() -> None:
    """A function's arguments by name; LangChain's are what it records of them."""
    tool = {"mlflow.spanType": '"TOOL"'}
    message = json.dumps({"content": '{"temp_c": 18}', "type": "tool", "tool_call_id": "call_1"})
    for asked, given_back, identity in (
        ('{"city": "Paris"}', '{"temp_c": 18}', None),
        ('{"city": "Paris"}', json.dumps('{"temp_c": 18}'), None),
        (json.dumps("{'city': 'Paris'}"), message, "call_1"),
    ):
        span = observed({**tool, "mlflow.spanInputs": asked, "mlflow.spanOutputs": given_back})
        assert isinstance(span, ToolSpan)
        assert (span.arguments, span.result, span.tool_call_id) == ({"city": "Paris"}, {"temp_c": 18}, identity)


@pytest.mark.parametrize(("name", "tool"), [("f", "f"), ("f_1", "f"), ("weather", "weather"), ("f_x", "f_x")])
def test_tool_names(name: str, tool: str) -> None:
    """Older versions count the spans of a trace that have one name; the function's name tells."""
    span = observed({"mlflow.spanType": '"TOOL"', "mlflow.spanFunctionName": '"f"'}, name=name)

    assert isinstance(span, ToolSpan)
    assert span.tool_name == tool


def test_a_retriever() -> None:
    """MLflow's documents are LangChain's."""
    span = observed(
        {
            "mlflow.spanType": '"RETRIEVER"',
            "mlflow.spanInputs": '{"q": "How long?"}',
            "mlflow.spanOutputs": '[{"page_content": "Refunds.", "metadata": {"doc_uri": "a.md"}, "id": null}]',
        }
    )

    assert isinstance(span, RetrieverSpan)
    assert (span.query, span.documents) == ("How long?", (Document("Refunds.", None, None, {"doc_uri": "a.md"}),))


def test_embeddings() -> None:
    """Texts, model and tokens come from request and response."""
    span = observed(
        {
            "mlflow.spanType": '"EMBEDDING"',
            "mlflow.spanInputs": '{"model": "text-embedding-3-small", "input": ["a", "b"]}',
            "mlflow.spanOutputs": '{"data": [], "model": "text-embedding-3-small", "usage": {"prompt_tokens": 18}}',
        }
    )

    assert isinstance(span, EmbeddingSpan)
    assert (span.texts, span.model, span.input_tokens) == (("a", "b"), "text-embedding-3-small", 18)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("AGENT", "agent"),
        ("WORKFLOW", "chain"),
        ("PARSER", "chain"),
        ("RERANKER", "reranker"),
        ("UNKNOWN", "other"),
        ("MEMORY", "other"),
        ("my own", "other"),
    ],
)
def test_kinds(said: str, kind: str) -> None:
    """Types are kinds, with quotes around them as MLflow writes them or without."""
    for recorded in (said, json.dumps(said)):
        assert observed({"mlflow.spanType": recorded}).kind.value == kind


def test_a_function() -> None:
    """Input and output of any function, text and JSON; session and user from the trace."""
    span = observed(
        {
            "mlflow.spanType": '"UNKNOWN"',
            "mlflow.spanInputs": '{"question": "Weather?"}',
            "mlflow.spanOutputs": '"Sunny."',
            "session.id": '"s"',
            "mlflow.trace.user": '"u"',
        }
    )

    assert (span.kind, span.input, span.output) == (ObservationKind.OTHER, {"question": "Weather?"}, "Sunny.")
    assert (span.session_id, span.user_id) == ("s", "u")


def test_errors() -> None:
    """A failed call has a status, an exception, and a request only."""
    span = observed_call(
        {**CHAT, "mlflow.spanInputs": '{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'},
        event("exception", {"exception.type": "InternalServerError", "exception.message": "Error code: 500"}),
        status_message="",
    )

    assert span.error == SpanError("Error code: 500", "InternalServerError")
    assert (span.request_model, span.output) == ("m", None)


def test_genai_mode() -> None:
    """MLflow's own span types stand as operations, and LangChain's message as a tool's result."""
    message = {"content": '{"temp_c": 18}', "type": "tool", "name": "f", "tool_call_id": "call_1"}
    tool = observed({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": json.dumps(message)})

    assert observed({"gen_ai.operation.name": "RETRIEVER"}).kind is ObservationKind.RETRIEVER
    assert observed({"gen_ai.operation.name": "CHAIN", "metadata": '{"thread_id": "s"}'}).session_id == "s"
    assert tool.output == {"temp_c": 18}


@given(
    st.sampled_from(["CHAT_MODEL", "TOOL", "RETRIEVER", "EMBEDDING", "UNKNOWN"]),
    st.dictionaries(
        st.sampled_from(
            [
                keys.INPUTS,
                keys.OUTPUTS,
                keys.CHAT_TOOLS,
                keys.COST,
                keys.FUNCTION_NAME,
                keys.INVOCATION_PARAMETERS,
                keys.MODEL,
                keys.TOKEN_USAGE,
                "metadata",
            ]
        ),
        json_values | json_values.map(json.dumps),
    ),
    json_values,
)
def test_any_value_under_any_key(kind: str, attributes: dict[str, JsonValue], piece: JsonValue) -> None:
    """Nothing is raised whatever stands there."""
    pieces = event("mlflow.chunk.item.0", {keys.CHUNK_VALUE: piece})

    assert observed({**attributes, keys.SPAN_TYPE: kind}, pieces).dialects[0] == "mlflow"
