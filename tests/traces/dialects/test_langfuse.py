"""Langfuse: its SDKs' observations, and its wrappers of OpenAI and LangChain."""

from __future__ import annotations

import json

import pytest
from case_results import json_values
from hypothesis import given
from hypothesis import strategies as st
from observed import START, event, observed, observed_call

from pixie_otel.attributes import langfuse as keys
from pixie_otel.evaluable import Document, JsonValue, ToolCall
from pixie_otel.traces.messages import (
    AssistantMessage,
    ReasoningContent,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
)
from pixie_otel.traces.spans import EmbeddingSpan, ObservationKind, RetrieverSpan, SpanError, ToolSpan

GENERATION = {"langfuse.observation.type": "generation"}
QUESTION = '[{"role": "user", "content": "Weather in Paris?"}]'
WEATHER = {
    "type": "function",
    "function": {"name": "get_weather", "description": "W", "parameters": {"type": "object"}},
}
CALL = '{"id": "call_1", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}'
OPENAI_USAGE = {
    "prompt_tokens": 57,
    "completion_tokens": 17,
    "total_tokens": 74,
    "prompt_tokens_details": {"cached_tokens": 20},
    "completion_tokens_details": {"reasoning_tokens": 4},
}


def test_a_wrapped_call() -> None:
    """The wrapper of OpenAI records tools beside the messages, and the answer as a message."""
    span = observed_call(
        {
            **GENERATION,
            "langfuse.observation.input": f'{{"tools": [{json.dumps(WEATHER)}], "messages": {QUESTION}}}',
            "langfuse.observation.output": f'{{"role": "assistant", "tool_calls": [{CALL}], "content": null}}',
            "langfuse.observation.model.name": "gpt-4o-mini",
            "langfuse.observation.model.parameters": '{"temperature": 0.2, "max_tokens": "Infinity", "top_p": 1}',
            "langfuse.observation.usage_details": json.dumps(OPENAI_USAGE),
            "langfuse.observation.cost_details": '{"input": 0.25, "output": 0.5}',
            "langfuse.observation.completion_start_time": '"2023-11-14T22:13:20.250Z"',
            "langfuse.observation.metadata.finish_reason": '"tool_calls"',
            "langfuse.observation.metadata.a": '{"b": 1}',
            "session.id": "session-ada-42",
            "user.id": "ada",
        }
    )

    assert span.input_messages == (UserMessage(content=(TextContent("Weather in Paris?"),)),)
    assert span.output_messages == (
        AssistantMessage(tool_calls=(ToolCall("get_weather", {"city": "Paris"}, "call_1"),)),
    )
    assert [tool.name for tool in span.tool_definitions] == ["get_weather"]
    assert (span.request_model, span.request_temperature, span.request_max_tokens, span.request_top_p) == (
        "gpt-4o-mini",
        0.2,
        None,
        1.0,
    )
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens, span.reasoning_tokens) == (57, 17, 20, 4)
    assert (span.cost, span.time_to_first_token_ms, span.finish_reasons) == (0.75, 250.0, ("tool_calls",))
    assert span.metadata == {"finish_reason": "tool_calls", "a": {"b": 1}}
    assert (span.session_id, span.user_id, span.dialects) == ("session-ada-42", "ada", ("langfuse", "generic"))


@pytest.mark.parametrize(
    ("details", "tokens"),
    [
        (OPENAI_USAGE, (57, 17, 20, None, 4)),
        ({"input": 14, "output": 8}, (14, 8, None, None, None)),
        ({"input": 14, "unit": "TOKENS", "total": 14}, (14, None, None, None, None)),
        (
            {"input": 37, "output": 13, "total": 74, "input_cached_tokens": 20, "output_reasoning_tokens": 4},
            (57, 17, 20, None, 4),
        ),
        ({"input": 37, "output": 13, "input_cache_read": 20, "output_reasoning": 4}, (57, 17, 20, None, 4)),
        ({"input": 57, "output": 17, "total": 74, "input_cached_tokens": 20}, (57, 17, 20, None, None)),
        (
            {"input": 3, "output": 17, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 5},
            (28, 17, 20, 5, None),
        ),
        # The same tokens twice among the parts: LangChain's anthropic package names those that it wrote by their time.
        (
            {
                "input": 0,
                "output": 17,
                "total": 74,
                "input_cache_read": 40,
                "input_cache_creation": 10,
                "input_ephemeral_5m_input_tokens": 10,
                "input_priority": 57,
            },
            (57, 17, 40, 10, None),
        ),
        ({"input": 1, "output": 9, "total": 5, "output_reasoning": 4}, (1, 13, None, None, 4)),
        (
            {"input_tokens": 37, "output_tokens": 17, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 0},
            (57, 17, 20, 0, None),
        ),
    ],
)
def test_tokens(details: dict[str, JsonValue], tokens: tuple[int | None, ...]) -> None:
    """Langfuse counts parts apart, which are added; a total tells where they are among the sums after all."""
    span = observed_call({**GENERATION, "langfuse.observation.usage_details": json.dumps(details)})

    assert tokens == (
        span.input_tokens,
        span.output_tokens,
        span.cache_read_tokens,
        span.cache_creation_tokens,
        span.reasoning_tokens,
    )


@pytest.mark.parametrize(
    "output",
    [
        "Paris.",
        '{"role": "assistant", "content": "Paris."}',
        '{"id": "m", "content": [{"text": "Paris.", "type": "output_text"}], "role": "assistant", "type": "message"}',
        '{"role": "assistant", "content": "Paris.", "additional_kwargs": {"refusal": null}}',
        '{"choices": [{"message": {"role": "assistant", "content": "Paris."}}]}',
        '[{"role": "assistant", "content": "Paris."}]',
    ],
)
def test_answers(output: str) -> None:
    """An answer is text, a message, an item of a response or a whole response."""
    assert observed_call({**GENERATION, "langfuse.observation.output": output}).output == "Paris."


@pytest.mark.parametrize("output", ['{"answer":"Paris","n":1}', '["a", 1]', "{cut", '"said"', "5"])
def test_answers_that_are_json(output: str) -> None:
    """JSON that is no message is what the model wrote, to the letter."""
    assert observed_call({**GENERATION, "langfuse.observation.output": output}).output in (output, json_text(output))


def json_text(output: str) -> str | None:
    """Give the text that a JSON string holds."""
    return json.loads(output) if output[0] == '"' else None


def test_items_of_a_response_are_one_answer() -> None:
    """OpenAI's responses list reasoning and calls one by one."""
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": '{"a": 1}'},
    ]
    span = observed_call({**GENERATION, "langfuse.observation.output": json.dumps(items)})

    assert span.output_messages == (
        AssistantMessage(content=(ReasoningContent("Hm."),), tool_calls=(ToolCall("get_weather", {"a": 1}, "call_1"),)),
    )


def test_langchains_callbacks() -> None:
    """The tools that a model was offered stand behind the messages as if tools had said them; calls have ``args``."""
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": "", "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c"}]},
        {"role": "tool", "content": "sunny", "tool_call_id": "c"},
        {"role": "tool", "content": WEATHER},
        {"role": "tool", "content": {"name": "g", "input_schema": {"type": "object"}}},
    ]
    span = observed_call({**GENERATION, "langfuse.observation.input": json.dumps(messages)})

    assert span.input_messages == (
        SystemMessage(content=(TextContent("Be brief."),)),
        AssistantMessage(tool_calls=(ToolCall("f", {"a": 1}, "c"),)),
        ToolResultMessage(content=(TextContent("sunny"),), tool_call_id="c"),
    )
    assert [tool.name for tool in span.tool_definitions] == ["get_weather", "g"]


@pytest.mark.parametrize(
    ("recorded", "shown"),
    [
        ('{"args": ["Weather?"], "kwargs": {}}', "Weather?"),
        ('{"args": [], "kwargs": {"question": "Weather?"}}', {"question": "Weather?"}),
        ('{"args": ["a"], "kwargs": {"b": 1}}', {"args": ["a"], "kwargs": {"b": 1}}),
        ("Weather?", "Weather?"),
        ('"Weather?"', "Weather?"),
    ],
)
def test_decorated_functions(recorded: str, shown: JsonValue) -> None:
    """A decorator records a Python call; the input is what was asked, the output what came back."""
    span = observed({"langfuse.observation.type": "agent", "langfuse.observation.input": recorded})

    assert (span.kind, span.input) == (ObservationKind.AGENT, shown)


@pytest.mark.parametrize(
    "recorded",
    [
        '{"args": [[{"role": "user", "content": "Hi"}]], "kwargs": {}}',
        '{"args": [], "kwargs": {"messages": [{"role": "user", "content": "Hi"}], "model": "m"}}',
        '{"args": ["m", [{"role": "user", "content": "Hi"}]], "kwargs": {"n": 1}}',
        '{"args": [], "kwargs": {"history": [{"role": "user", "content": "Hi"}], "n": 1}}',
        '{"args": ["Hi"], "kwargs": {}}',
        '{"model": "m", "input": "Hi"}',
        '{"role": "user", "content": "Hi"}',
        "Hi",
    ],
)
def test_what_a_decorated_model_call_was_asked(recorded: str) -> None:
    """The messages are found among a function's arguments."""
    span = observed_call({**GENERATION, "langfuse.observation.input": recorded})

    assert span.input_messages == (UserMessage(content=(TextContent("Hi"),)),)


def test_a_tool() -> None:
    """Arguments and result are decoded, also where LangChain records its own message, or Python's text of a dict."""
    tool = {"langfuse.observation.type": "tool"}
    message = {"content": '{"temp_c": 18}', "type": "tool", "name": "get_weather", "tool_call_id": "call_1"}
    for asked, given_back, identity in (
        ('{"args": [], "kwargs": {"city": "Paris"}}', '{"temp_c": 18}', None),
        ("{'city': 'Paris'}", json.dumps(message), "call_1"),
        ('{"name": "get_weather", "args": {"city": "Paris"}, "id": "c", "type": "tool_call"}', '{"temp_c": 18}', None),
    ):
        span = observed({**tool, "langfuse.observation.input": asked, "langfuse.observation.output": given_back})
        assert isinstance(span, ToolSpan)
        assert (span.arguments, span.result, span.tool_call_id) == ({"city": "Paris"}, {"temp_c": 18}, identity)
    named = observed({**tool, "langfuse.observation.metadata.tool_call_id": '"call_2"'}, name="get_weather")
    assert isinstance(named, ToolSpan)
    assert (named.tool_name, named.tool_call_id) == ("get_weather", "call_2")


def test_a_retriever() -> None:
    """The documents are whatever the function gave back."""
    span = observed(
        {
            "langfuse.observation.type": "retriever",
            "langfuse.observation.input": '{"args": [], "kwargs": {"q": "How long?", "k": 2}}',
            "langfuse.observation.output": '[{"page_content": "Refunds.", "metadata": {"a": 1}, "id": "d1"}, "Chat."]',
        }
    )

    assert isinstance(span, RetrieverSpan)
    assert span.query == "How long?"
    assert span.documents == (Document("Refunds.", "d1", None, {"a": 1}), Document("Chat."))


def test_embeddings() -> None:
    """Texts and tokens of an embedding; JavaScript's wrapper of OpenAI calls it a generation."""
    for kind in ("embedding", "generation"):
        span = observed(
            {
                "langfuse.observation.type": kind,
                "langfuse.observation.input": '["a", "b"]',
                "langfuse.observation.output": '{"dimensions": 3, "count": 2}' if kind == "embedding" else "",
                "langfuse.observation.model.name": "text-embedding-3-small",
                "langfuse.observation.usage_details": '{"input": 18}',
            }
        )
        assert isinstance(span, EmbeddingSpan)
        assert (span.texts, span.model, span.input_tokens) == (("a", "b"), "text-embedding-3-small", 18)


def test_errors() -> None:
    """The level tells of an error whatever the status says; the message stands beside it."""
    failed = {**GENERATION, "langfuse.observation.level": "ERROR", "langfuse.observation.status_message": "kaput"}

    assert observed(failed).error == SpanError("kaput")
    assert observed(failed, event("exception", {"exception.type": "E"}), status_message="x").error == SpanError(
        "kaput", "E"
    )
    assert observed({**GENERATION, "langfuse.observation.level": "WARNING"}).error is None


def test_a_traces_own_input_and_output() -> None:
    """What was set on the trace stands for its root where the root says nothing, and for no other span."""
    said = {"langfuse.trace.input": '{"q": 1}', "langfuse.trace.output": "A."}
    root = observed({**said, "langfuse.observation.type": "span"})
    child = observed({**said, "langfuse.observation.type": "span"}, parent_span_id="00000000000000b1")
    own = observed({**said, "langfuse.observation.output": "B."})

    assert (root.kind, root.input, root.output) == (ObservationKind.OTHER, {"q": 1}, "A.")
    assert (child.input, child.output) == (None, None)
    assert own.output == "B."


def test_sessions_of_metadata() -> None:
    """Session and user are found under Langfuse's own keys and in the metadata."""
    for keys_of_it in (
        {"langfuse.session.id": "s", "langfuse.user.id": "u"},
        {"langfuse.trace.metadata.langfuse_session_id": '"s"', "langfuse.trace.metadata.langfuse_user_id": '"u"'},
        {"langfuse.observation.metadata": '{"session_id": "s", "user_id": "u"}'},
    ):
        span = observed(keys_of_it)
        assert (span.session_id, span.user_id) == ("s", "u")


def test_kinds() -> None:
    """Types are kinds; a span's is left to other vocabularies, and what has a model and no type is a call."""
    kinds = {name: observed({keys.TYPE: name}).kind for name in ("chain", "guardrail", "evaluator", "event", "odd")}

    assert [kind.value for kind in kinds.values()] == ["chain", "guardrail", "evaluator", "other", "other"]
    assert observed({keys.TYPE: "span", "gen_ai.operation.name": "chat"}).kind is ObservationKind.LLM
    assert observed({keys.MODEL_NAME: "m"}).kind is ObservationKind.LLM
    assert observed({"langfuse.environment": "prod"}).kind is ObservationKind.OTHER
    assert observed({}, event("langfuse")).dialects == ()


def test_costs() -> None:
    """A total is taken as it is, parts are added, and what is no number says nothing."""
    costs = ('{"input": 0.25, "total": 0.5}', '{"input": 0.25, "output": 0.5}', '{"input": "free"}')

    assert [observed_call({**GENERATION, keys.COST_DETAILS: cost}).cost for cost in costs] == [0.5, 0.75, None]


@pytest.mark.parametrize("said", ['"no time"', "5", '"2023-11-14T22:13:19Z"', "[]"])
def test_no_first_token(said: str) -> None:
    """A time that is none, or lies before the start, says nothing."""
    span = observed_call({**GENERATION, "langfuse.observation.completion_start_time": said})

    assert span.time_to_first_token_ms is None
    unknown = {**GENERATION, "langfuse.observation.completion_start_time": '"2023-11-14T22:13:21Z"'}
    assert observed_call(unknown, start_time_unix_nano=0).time_to_first_token_ms is None
    assert observed_call(unknown, start_time_unix_nano=START).time_to_first_token_ms == 1000.0


@given(
    st.sampled_from(["generation", "tool", "retriever", "embedding", "span"]),
    st.dictionaries(
        st.sampled_from(
            [
                keys.INPUT,
                keys.OUTPUT,
                keys.METADATA,
                keys.MODEL_NAME,
                keys.MODEL_PARAMETERS,
                keys.USAGE_DETAILS,
                keys.COST_DETAILS,
                keys.COMPLETION_START,
                keys.LEVEL,
                keys.TRACE_METADATA,
            ]
        ),
        json_values | json_values.map(json.dumps),
    ),
)
def test_any_value_under_any_key(kind: str, attributes: dict[str, JsonValue]) -> None:
    """Nothing is raised whatever stands there."""
    assert observed({**attributes, keys.TYPE: kind}).dialects[0] == "langfuse"


@pytest.mark.parametrize(
    ("given", "model", "kind"),
    [
        (["a", "b"], "voyage-3", "embedding"),
        ("a", "nomic-embed-text", "embedding"),
        ("a", "gpt-4o-mini", "llm"),
        ([{"role": "user", "content": "a"}], "text-embedding-3-small", "llm"),
    ],
)
def test_generations_that_embed(given: JsonValue, model: str, kind: str) -> None:
    """A generation without an answer embedded what it got, where that is a list of texts or its model tells."""
    span = observed(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.input": json.dumps(given),
            "langfuse.observation.output": "",
            "langfuse.observation.model.name": model,
        }
    )

    assert span.kind == kind
