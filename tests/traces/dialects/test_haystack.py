"""Haystack's own tracing."""

from __future__ import annotations

import json

import pytest
from observed import observed, observed_call

from pixie_otel.evaluable import Document, JsonValue, ToolCall
from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    ReasoningContent,
    TextContent,
    ToolResultMessage,
    UserMessage,
)
from pixie_otel.traces.spans import (
    AgentSpan,
    EmbeddingSpan,
    LLMSpan,
    ObservationKind,
    ObserveSpan,
    RetrieverSpan,
    ToolSpan,
)

META = {
    "model": "gpt-4o-mini",
    "index": 0,
    "finish_reason": "tool_calls",
    "usage": {
        "completion_tokens": 17,
        "prompt_tokens": 60,
        "total_tokens": 77,
        "completion_tokens_details": {"reasoning_tokens": 4},
        "prompt_tokens_details": {"cached_tokens": 20},
    },
}
ASKED = {"role": "user", "meta": {}, "name": None, "content": [{"text": "What's the weather in Paris?"}]}
CALLED = {
    "role": "assistant",
    "meta": META,
    "name": None,
    "content": [
        {"tool_call": {"tool_name": "get_weather", "arguments": {"city": "Paris"}, "id": "call_1", "extra": None}}
    ],
}
TOLD = {
    "role": "tool",
    "meta": {},
    "name": None,
    "content": [
        {
            "tool_call_result": {
                "result": '{"temp_c": 18}',
                "origin": {"tool_name": "get_weather", "arguments": {"city": "Paris"}, "id": "call_1", "extra": None},
                "error": False,
            }
        }
    ],
}
ANSWERED = {
    "role": "assistant",
    "meta": {**META, "finish_reason": "stop"},
    "name": None,
    "content": [{"text": "It is 18°C."}],
}
TOOL = {
    "type": "haystack.tools.tool.Tool",
    "data": {"name": "get_weather", "description": "Get it.", "parameters": {"type": "object"}, "function": "f"},
}


def component(kind: str, given: JsonValue, given_back: JsonValue) -> ObserveSpan:
    """Make the span of a component's run."""
    return observed(
        {
            "haystack.component.name": "it",
            "haystack.component.type": kind,
            "haystack.component.fully_qualified_type": f"haystack.components.{kind}",
            "haystack.component.input_types": "{}",
            "haystack.component.input": json.dumps(given),
            "haystack.component.output": json.dumps(given_back),
        },
        name="haystack.component.run",
    )


def test_a_chat_generator() -> None:
    """A generator is a model call: messages, tools, parameters, and of the answer's metadata model, tokens, reason."""
    span = component(
        "OpenAIChatGenerator",
        {
            "messages": [ASKED, CALLED, TOLD],
            "tools": [TOOL],
            "generation_kwargs": {"temperature": 0.2, "max_tokens": 9},
            "streaming_callback": None,
        },
        {"replies": [ANSWERED]},
    )

    assert isinstance(span, LLMSpan)
    assert span.input_messages == (
        UserMessage(content=(TextContent("What's the weather in Paris?"),)),
        AssistantMessage(
            tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "call_1"),), finish_reason="tool_calls"
        ),
        ToolResultMessage(content=(TextContent('{"temp_c": 18}'),), name="get_weather", tool_call_id="call_1"),
    )
    assert (span.output, span.finish_reasons, span.model) == ("It is 18°C.", ("stop",), "gpt-4o-mini")
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens, span.reasoning_tokens) == (60, 17, 20, 4)
    assert (span.request_temperature, span.request_max_tokens) == (0.2, 9)
    assert [(tool.name, tool.parameters) for tool in span.tool_definitions] == [("get_weather", {"type": "object"})]


def test_a_generator_of_text() -> None:
    """Generators that are no chat give texts, and what is said of each beside them."""
    span = component(
        "OpenAIGenerator",
        {"prompt": "Hi", "system_prompt": "Be brief."},
        {"replies": ["Hello", "Ho"], "meta": [META, META]},
    )

    assert isinstance(span, LLMSpan)
    assert [item.role for item in span.input_messages] == ["system", "user"]
    assert span.output == ["Hello", "Ho"]
    assert (span.input_tokens, span.raw_finish_reasons) == (60, ("tool_calls", "tool_calls"))


def test_older_messages_and_parts() -> None:
    """Up to 2.9 keys began with an underscore or content was text; images come without their bytes."""
    said = [
        {"_role": "user", "_name": None, "_meta": {}, "_content": [{"text": "Hi"}]},
        {"role": "user", "content": "Ho", "name": None, "meta": {}},
        {
            "role": "user",
            "content": [{"image": {"base64_image": "Base64 string (96 characters)", "mime_type": "image/png"}}],
        },
        {"role": "assistant", "content": [{"reasoning": {"reasoning_text": "Hm.", "extra": {}}}, {"text": "Yes"}]},
    ]
    span = component("OpenAIChatGenerator", {"messages": said}, {"replies": []})

    assert isinstance(span, LLMSpan)
    assert [item.content for item in span.input_messages] == [
        (TextContent("Hi"),),
        (TextContent("Ho"),),
        (ImageContent("", "image/png"),),
        (ReasoningContent("Hm."), TextContent("Yes")),
    ]


def test_a_retriever() -> None:
    """A document's metadata stands among its fields, or apart from them."""
    found = [
        {"id": "d1", "content": "Five days.", "score": 0.8, "blob": None, "embedding": None, "source": "faq"},
        {"id": "d2", "content": "Ask.", "score": 0.1, "meta": {"page": 2}},
    ]
    span = component("InMemoryBM25Retriever", {"query": "How long?", "filters": None}, {"documents": found})
    near = component("InMemoryEmbeddingRetriever", {"query_embedding": [0.1]}, {"documents": found[:1]})

    assert isinstance(span, RetrieverSpan)
    assert (span.query, span.input, span.output) == ("How long?", "How long?", found)
    assert span.documents == (
        Document("Five days.", id="d1", score=0.8, metadata={"source": "faq"}),
        Document("Ask.", id="d2", score=0.1, metadata={"page": 2}),
    )
    assert isinstance(near, RetrieverSpan)
    assert (near.query, len(near.documents)) == (None, 1)
    assert component("CohereRanker", {"query": "q"}, {"documents": []}).kind is ObservationKind.RERANKER


def test_an_embedder() -> None:
    """Embedders have a text or documents; their vectors are no output to look at."""
    meta = {"model": "text-embedding-3-small", "usage": {"prompt_tokens": 5, "total_tokens": 5}}
    one = component("OpenAITextEmbedder", {"text": "refunds?"}, {"embedding": [0.1], "meta": meta})
    many = component("OpenAIDocumentEmbedder", {"documents": [{"content": "a"}, {"content": "b"}]}, {"documents": []})

    assert isinstance(one, EmbeddingSpan)
    assert (one.texts, one.model, one.input_tokens, one.output) == (("refunds?",), "text-embedding-3-small", 5, None)
    assert isinstance(many, EmbeddingSpan)
    assert many.texts == ("a", "b")


def test_other_components() -> None:
    """What a component is, its type tells; inputs that nobody gave are left out."""
    span = component("ChatPromptBuilder", {"question": "Hi", "template": None}, {"prompt": [ASKED]})

    assert (span.kind, span.input) == (ObservationKind.PROMPT, {"question": "Hi"})
    assert component("DALLEImageGenerator", {}, {}).kind is ObservationKind.CHAIN
    assert component("FaithfulnessEvaluator", {}, {}).kind is ObservationKind.EVALUATOR
    assert component("Agent", {}, {}).kind is ObservationKind.CHAIN


def test_an_agent() -> None:
    """An agent was given its messages; what it gives back is the conversation, and its last answer the output."""
    tools = {"haystack.agent.max_steps": 100, "haystack.agent.steps_taken": 2}
    span = observed(
        {
            **tools,
            "haystack.agent.input": json.dumps({"messages": [ASKED], "streaming_callback": None}),
            "haystack.agent.output": json.dumps({"messages": [ASKED, CALLED, TOLD, ANSWERED], "step_count": 2}),
        },
        name="haystack.agent.run",
    )

    assert isinstance(span, AgentSpan)
    assert span.input == [{"role": "user", "content": "What's the weather in Paris?"}]
    assert (span.output, [item.role for item in span.output_messages]) == (
        "It is 18°C.",
        ["assistant", "tool", "assistant"],
    )
    assert observed(tools, name="haystack.agent.run").kind is ObservationKind.AGENT


def test_steps_of_an_agent() -> None:
    """A step's call of a model and its calls of tools are spans of their own; a failed tool says so in a tag."""
    call = observed_call(
        {
            "haystack.agent.step.llm.input": json.dumps({"messages": [ASKED], "tools": {"data": {"tools": [TOOL]}}}),
            "haystack.agent.step.llm.output": json.dumps({"replies": [CALLED]}),
        }
    )
    tool = observed(
        {
            "haystack.tool.name": "get_weather",
            "haystack.tool.description": "Get it.",
            "haystack.agent.step.tool.input": '{"city": "Atlantis"}',
            "haystack.tool.error": True,
            "haystack.agent.step.tool.output": '{"error": "unknown city"}',
        }
    )

    assert [item.tool_calls for item in call.output_messages if isinstance(item, AssistantMessage)] == [
        (ToolCall("get_weather", {"city": "Paris"}, "call_1"),)
    ]
    assert [definition.name for definition in call.tool_definitions] == ["get_weather"]
    assert isinstance(tool, ToolSpan)
    assert (tool.tool_name, tool.arguments, str(tool.error)) == ("get_weather", {"city": "Atlantis"}, "unknown city")
    assert observed({"haystack.agent.step.tool.input": "", "haystack.agent.step.tool.output": ""}).error is None
    assert observed({"haystack.agent.step": 0}, name="haystack.agent.step").kind is ObservationKind.CHAIN


def test_steps_without_content() -> None:
    """Where content is not traced, a call of a model has no attribute at all: its name tells."""
    assert observed({}, name="haystack.agent.step.llm").kind is ObservationKind.LLM
    assert observed({"haystack.tool.name": "f"}, name="haystack.agent.step.tool").kind is ObservationKind.TOOL
    assert observed({}, name="haystack.anything").kind is ObservationKind.OTHER
    hook: dict[str, JsonValue] = {"haystack.tool.name": "f", "haystack.agent.hook.point": "before_tool"}
    assert observed(hook).kind is ObservationKind.CHAIN


def test_the_invoker_of_tools() -> None:
    """Up to 3.0 one component ran all tools that an answer asked for: one call is a tool's run, more are not."""
    span = component("ToolInvoker", {"messages": [CALLED], "state": None}, {"tool_messages": [TOLD]})
    twice = {**CALLED, "content": CALLED["content"] * 2}  # type: ignore[operator]
    several = component("ToolInvoker", {"messages": [twice]}, {"tool_messages": [TOLD, TOLD]})
    failed = json.loads(json.dumps(TOLD).replace('"error": false', '"error": true'))

    assert isinstance(span, ToolSpan)
    assert (span.tool_name, span.tool_call_id) == ("get_weather", "call_1")
    assert (span.arguments, span.result) == ({"city": "Paris"}, {"temp_c": 18})
    assert (several.kind, several.notes) == (ObservationKind.CHAIN, ("one span for 2 tool calls",))
    assert component("ToolInvoker", {"messages": [CALLED]}, {"tool_messages": [failed]}).error is not None


@pytest.mark.parametrize(
    ("outputs", "output"),
    [
        ({"llm": {"replies": [ANSWERED]}}, "It is 18°C."),
        ({"llm": {"replies": ["Hello"], "meta": [META]}}, "Hello"),
        ({"agent": {"messages": [ASKED, ANSWERED], "last_message": ANSWERED}}, "It is 18°C."),
        ({"retriever": {"documents": []}, "answers": {"answers": [{"data": "Yes", "query": "q"}]}}, "Yes"),
        ({"answers": {"answers": [{"type": "x", "init_parameters": {"data": "Yes"}}]}}, "Yes"),
        ({"a": {"replies": ["x"]}, "b": {"replies": ["y"]}}, {"a": {"replies": ["x"]}, "b": {"replies": ["y"]}}),
        ({"writer": {"documents_written": 2}}, {"writer": {"documents_written": 2}}),
        ({}, None),
    ],
)
def test_what_a_pipeline_gave_back(outputs: JsonValue, output: JsonValue) -> None:
    """A pipeline's output is its answer where there is one, else what its components gave back."""
    span = observed(
        {
            "haystack.pipeline.input_data": '{"prompt_builder": {"question": "Hi"}}',
            "haystack.pipeline.metadata": '{"team": "a"}',
            "haystack.pipeline.output_data": json.dumps(outputs),
        },
        name="haystack.pipeline.run",
    )

    assert (span.kind, span.input) == (ObservationKind.CHAIN, {"prompt_builder": {"question": "Hi"}})
    assert (span.output, span.metadata) == (output, {"team": "a"})


@pytest.mark.parametrize("value", [None, 1, "", "{", "[1]", {"replies": [1], "messages": 2}, {"documents": {"a": 1}}])
@pytest.mark.parametrize("kind", ["AGenerator", "ARetriever", "AnEmbedder", "ToolInvoker", "X", ""])
def test_any_value_under_any_key(value: JsonValue, kind: str) -> None:
    """What is no input or output of a component costs only itself."""
    names = ("component.input", "component.output", "agent.input", "agent.output", "pipeline.output_data")
    attributes = {f"haystack.{name}": value for name in names}

    assert observed({**attributes, "haystack.component.type": kind}).kind is not ObservationKind.OTHER
    assert observed(attributes).kind is ObservationKind.AGENT
