"""OpenInference."""

from __future__ import annotations

import json

import pytest
from observed import observed, observed_call

from pixie_otel.evaluable import Document, ToolCall
from pixie_otel.traces.messages import (
    AssistantMessage,
    UserMessage,
)
from pixie_otel.traces.spans import AgentSpan, EmbeddingSpan, LLMSpan, ObservationKind, RetrieverSpan, ToolSpan

LLM = {"openinference.span.kind": "LLM"}
IN = "llm.input_messages"
OUT = "llm.output_messages"


def flat(which: str, *said: dict[str, object]) -> dict[str, object]:
    """Write messages as OpenInference does."""
    return {f"{which}.{i}.message.{key}": value for i, item in enumerate(said) for key, value in item.items()}


class TestKinds:
    """What a span is."""

    @pytest.mark.parametrize("kind", list(ObservationKind)[:-1])
    def test_every_kind(self, kind: ObservationKind) -> None:
        """The kind is read in any case."""
        for said in (kind.value.upper(), kind.value, f" {kind.value.title()} "):
            assert observed({"openinference.span.kind": said}).kind is kind

    def test_unknown_kinds(self) -> None:
        """A kind nobody knows is ``other``; none said, it is what the rest says."""
        assert observed({"openinference.span.kind": "ZORK", "llm.model_name": "m"}).kind is ObservationKind.OTHER
        assert observed({"openinference.span.kind": "UNKNOWN", "input.value": "x"}).kind is ObservationKind.OTHER
        assert observed({"openinference.span.kind": "UNKNOWN", "llm.model_name": "m"}).kind is ObservationKind.LLM
        assert observed({"openinference.span.kind": 5, "input.value": "x"}).input == "x"
        both = {"openinference.span.kind": "ZORK", "gen_ai.operation.name": "chat", "input.value": "x"}
        assert observed(both).kind is ObservationKind.LLM

    @pytest.mark.parametrize(
        ("key", "cls"),
        [
            ("llm.output_messages.0.message.role", LLMSpan),
            ("llm.token_count.prompt", LLMSpan),
            ("retrieval.documents.40.document.content", RetrieverSpan),
            ("reranker.output_documents.0.document.content", RetrieverSpan),
            ("embedding.embeddings.7.embedding.text", EmbeddingSpan),
        ],
    )
    def test_after_eviction(self, key: str, cls: type) -> None:
        """A full span loses its kind first, and what is left tells it."""
        assert type(observed({key: "5"})) is cls

    def test_a_framework_step_with_a_role_is_no_call(self) -> None:
        """LangGraph's chain spans carry a message's role, and are no model calls."""
        assert (
            observed({"openinference.span.kind": "CHAIN", f"{IN}.0.message.role": "user"}).kind is ObservationKind.CHAIN
        )


class TestValues:
    """Input, output, metadata and session."""

    def test_mime_types(self) -> None:
        """JSON is decoded where the mime type says so or nothing, and plain text is left as it is."""
        kind = {"openinference.span.kind": "CHAIN"}
        assert observed({**kind, "input.value": '{"a": 1}'}).input == {"a": 1}
        assert observed({**kind, "input.value": "5", "input.mime_type": "application/json"}).input == 5
        assert observed({**kind, "output.value": "null", "output.mime_type": "application/json"}).output is None
        assert observed({**kind, "input.value": '{"a": 1}', "input.mime_type": "text/plain"}).input == '{"a": 1}'
        assert observed({**kind, "input.value": '{"a": ', "input.mime_type": "application/json"}).input == '{"a": '

    def test_sessions(self) -> None:
        """The session is an attribute of its own, or stands in the metadata of frameworks."""
        kind = {"openinference.span.kind": "CHAIN"}
        assert observed({**kind, "session.id": "s", "user.id": "u"}).session_id == "s"
        for key in ("session_id", "thread_id", "conversation_id"):
            assert observed({**kind, "metadata": json.dumps({key: "t"})}).session_id == "t"
        assert observed({**kind, "metadata": {"thread_id": 5}}).session_id == "5"
        assert observed({**kind, "metadata": {"thread_id": [5]}}).session_id is None
        assert observed({**kind, "metadata": "no json"}).metadata == {}

    def test_hidden_content_is_not_content(self) -> None:
        """What the producer hid is not there, and a note says so."""
        span = observed_call(
            {
                **LLM,
                "input.value": "__REDACTED__",
                "output.value": "__REDACTED__",
                **flat(IN, {"role": "user", "content": "__REDACTED__"}),
                **flat(OUT, {"role": "assistant", "content": "__REDACTED__"}),
            }
        )

        assert (span.input, span.output, span.input_messages, span.output_messages) == (None, None, (), ())
        assert "hidden" in span.notes[0]

    def test_content_that_is_partly_hidden(self) -> None:
        """Of a conversation with hidden texts the rest is read."""
        span = observed_call(
            {
                **LLM,
                **flat(
                    IN,
                    {"role": "user", "contents.0.message_content.image.image.url": "__REDACTED__"},
                    {
                        "role": "assistant",
                        "tool_calls.0.tool_call.function.name": "f",
                        "tool_calls.0.tool_call.function.arguments": "__REDACTED__",
                    },
                ),
            }
        )

        assert span.input_messages == (UserMessage(), AssistantMessage(tool_calls=(ToolCall("f"),)))


class TestCalls:
    """What else is known of a model call."""

    def test_fields(self) -> None:
        """Every field from its key; numbers may be text."""
        span = observed_call(
            {
                **LLM,
                "llm.system": "openai",
                "llm.provider": "azure",
                "llm.model_name": "m-1",
                "llm.request.model_name": "m",
                "llm.token_count.prompt": "57",
                "llm.token_count.completion": 17,
                "llm.token_count.prompt_details.cache_read": 20,
                "llm.token_count.prompt_details.cache_write": 1,
                "llm.token_count.completion_details.reasoning": 4,
                "llm.cost.total": 0.5,
                "llm.finish_reason": "tool_use",
                "llm.invocation_parameters": '{"temperature": 0.2, "max_tokens": 100, "top_p": 1}',
                "llm.tools.0.tool.json_schema": '{"type": "function", "function": {"name": "f"}}',
                "llm.tools.1.tool.name": "g",
            }
        )

        assert (span.provider, span.request_model, span.response_model, span.model) == ("azure", "m", "m-1", "m-1")
        assert (span.input_tokens, span.output_tokens, span.reasoning_tokens) == (57, 17, 4)
        assert (span.cache_read_tokens, span.cache_creation_tokens) == (20, 1)
        assert (span.request_temperature, span.request_max_tokens, span.request_top_p) == (0.2, 100, 1.0)
        assert (span.finish_reasons, span.raw_finish_reasons) == (("tool_calls",), ("tool_use",))
        assert [tool.name for tool in span.tool_definitions] == ["f", "g"]
        assert span.cost == 0.5

    def test_fallbacks(self) -> None:
        """What has no key of its own is found in the request and the response, and costs are added up."""
        span = observed_call(
            {
                **LLM,
                "input.value": '{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}',
                "output.value": '{"id": "r", "choices": [{"finish_reason": "stop", "message": {"content": "Hello"}}]}',
                "llm.token_count.prompt_details.cache_input": 3,
                "llm.cost.prompt": 0.25,
                "llm.cost.completion": 0.5,
            }
        )

        assert span.input == [{"role": "user", "content": "Hi"}]
        assert (span.output, span.request_model, span.response_id, span.finish_reasons) == (
            "Hello",
            "m",
            "r",
            ("stop",),
        )
        assert (span.cache_read_tokens, span.cost) == (3, 0.75)


class TestTools:
    """Runs of tools."""

    def test_a_tool(self) -> None:
        """Name, description, id, arguments and result."""
        span = observed(
            {
                "openinference.span.kind": "TOOL",
                "tool.name": "f",
                "tool.description": "d",
                "tool_call.id": "c",
                "input.value": '{"kwargs": {"city": "Paris"}}',
                "output.value": "18",
                "output.mime_type": "application/json",
            }
        )

        assert isinstance(span, ToolSpan)
        assert (span.tool_name, span.description, span.tool_call_id) == ("f", "d", "c")
        assert (span.arguments, span.result) == ({"city": "Paris"}, 18)

    def test_what_frameworks_wrap_around_results(self) -> None:
        """LangChain's tool message and LlamaIndex's record of the call give what the tool returned."""
        message = {"type": "tool", "data": {"content": '{"a": 1}', "tool_call_id": "c", "type": "tool"}}
        record = {
            "blocks": [{"text": "x"}],
            "tool_name": "f",
            "raw_input": {},
            "raw_output": {"a": 1},
            "is_error": False,
        }
        tool = {"openinference.span.kind": "TOOL"}

        for output in (message, record):
            span = observed({**tool, "output.value": json.dumps(output)})
            assert isinstance(span, ToolSpan)
            assert span.result == span.output == {"a": 1}
        assert observed({**tool, "output.value": json.dumps(message)}).tool_call_id == "c"  # type: ignore[attr-defined]
        gone = {"content": "x", "tool_name": "f", "raw_input": {}, "raw_output": None}
        assert observed({**tool, "output.value": json.dumps(gone)}).output == "x"
        own = {"type": "tool", "name": "hammer"}
        assert observed({**tool, "output.value": json.dumps(own)}).output == own


class TestRetrieval:
    """Retrievers, rerankers, embeddings and agents."""

    def test_documents(self) -> None:
        """Documents in numeric order, with metadata that is JSON and ids that are numbers."""
        documents = "retrieval.documents"
        span = observed(
            {
                "openinference.span.kind": "RETRIEVER",
                "input.value": "q",
                f"{documents}.10.document.content": "b",
                f"{documents}.9.document.content": "a",
                f"{documents}.9.document.id": 7,
                f"{documents}.9.document.score": "0.5",
                f"{documents}.9.document.metadata": '{"source": "x"}',
                f"{documents}.10.document.metadata": "no json",
            }
        )

        assert isinstance(span, RetrieverSpan)
        assert span.query == "q"
        assert span.documents == (Document("a", "7", 0.5, {"source": "x"}), Document("b"))

    @pytest.mark.parametrize(
        "attributes",
        [
            {"retrieval.documents": '[{"document": {"content": "a"}}]'},
            {"retrieval.documents": [{"document.content": "a"}]},
            {"output.value": '{"documents": [{"page_content": "a"}]}'},
            {"output.value": '[{"text": "a"}, 3, {"other": 1}]'},
            {"reranker.output_documents.0.document.content": "a", "reranker.query": "q"},
        ],
    )
    def test_documents_elsewhere(self, attributes: dict[str, object]) -> None:
        """Lists in one attribute, and what a retriever returned, are documents too."""
        span = observed({"openinference.span.kind": "RETRIEVER", **attributes})

        assert isinstance(span, RetrieverSpan)
        assert [document.content for document in span.documents] == ["a"]

    def test_rerankers(self) -> None:
        """A reranker's documents are those it put out."""
        span = observed(
            {
                "openinference.span.kind": "RERANKER",
                "reranker.query": "q",
                "reranker.input_documents.0.document.content": "a",
                "reranker.output_documents.0.document.content": "b",
            }
        )

        assert isinstance(span, RetrieverSpan)
        assert (span.query, [document.content for document in span.documents]) == ("q", ["b"])

    def test_embeddings(self) -> None:
        """The texts, a line each, and the model."""
        span = observed(
            {
                "openinference.span.kind": "EMBEDDING",
                "embedding.model_name": "m",
                "embedding.embeddings.1.embedding.text": "b",
                "embedding.embeddings.0.embedding.text": "a",
                "embedding.embeddings.0.embedding.vector": [0.5],
                "embedding.embeddings.2.embedding.text": "__REDACTED__",
                "llm.token_count.prompt": 5,
            }
        )

        assert isinstance(span, EmbeddingSpan)
        assert (span.texts, span.input, span.model, span.input_tokens) == (("a", "b"), "a\nb", "m", 5)

    def test_agents(self) -> None:
        """An agent's messages give its input and output where no others are there."""
        agent = {"openinference.span.kind": "AGENT", "agent.name": "a", **flat(OUT, {"content": "done"})}

        span = observed(agent)
        assert isinstance(span, AgentSpan)
        assert (span.agent_name, span.output) == ("a", "done")
        assert observed({**agent, "output.value": "said"}).output == "said"


def test_other_spans_are_not_read() -> None:
    """A span that only shares a word with the conventions says nothing to this dialect."""
    assert observed({"tool.zork": 1, "metadata": "{}", "llm.other": 2}).dialects == ()


def test_an_embedding_that_failed() -> None:
    """Its texts and its model are in the request only."""
    span = observed(
        {
            "openinference.span.kind": "EMBEDDING",
            "embedding.invocation_parameters": '{"model": "text-embedding-3-small"}',
            "input.value": '{"input": ["a", "b"]}',
            "input.mime_type": "application/json",
        },
        status_message="boom",
    )

    assert isinstance(span, EmbeddingSpan)
    assert (span.texts, span.model) == (("a", "b"), "text-embedding-3-small")


def test_cached_tokens_beside_the_input() -> None:
    """Of Anthropic's counts some instrumentors write the input without what was cached."""
    span = observed_call(
        {
            "openinference.span.kind": "LLM",
            "llm.token_count.prompt": 3,
            "llm.token_count.prompt_details.cache_read": 100,
            "llm.token_count.prompt_details.cache_write": 20,
        }
    )

    assert span.input_tokens == 123


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('{"role": "assistant", "content": "Paris."}', "Paris."),
        ('[{"role": "assistant", "content": "Paris."}]', "Paris."),
        ('{"generations": [[{"text": "Paris."}]]}', "Paris."),
        ("Paris.", "Paris."),
    ],
)
def test_answers_that_are_no_responses(value: str, said: str) -> None:
    """What a model answered may be a message, LangChain's result or a text, and nothing else may say it."""
    span = observed_call({"openinference.span.kind": "LLM", "output.value": value})

    assert [item.text for item in span.output_messages] == [said]
    assert span.output == said
