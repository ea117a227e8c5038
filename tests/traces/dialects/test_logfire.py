"""Logfire: the Agents SDK's spans, functions and spans of the app's own, sessions and errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from case_results import json_values
from hypothesis import given
from hypothesis import strategies as st
from observed import event, observed, observed_call

from pixie_otel.attributes import logfire as logfire_keys
from pixie_otel.evaluable import Document
from pixie_otel.traces.spans import (
    AgentSpan,
    ObservationKind,
    RetrieverSpan,
    SpanError,
    ToolSpan,
)

if TYPE_CHECKING:
    from pixie_otel.evaluable import JsonValue

QUESTION = "What is the capital of France?"
ANSWER = "The capital of France is Paris."
ARGUMENTS = {"city": "Paris", "unit": "celsius"}
PARENT = "00000000000000a0"
EVENTS = [{"event.name": "gen_ai.user.message", "content": QUESTION, "role": "user"}]


class TestAgentsSdk:
    """Spans of OpenAI's Agents SDK."""

    def test_chat_calls(self) -> None:
        """Their request data holds the answer among the messages; input and output are apart."""
        given: JsonValue = [{"role": "user", "content": QUESTION}]
        given_back: JsonValue = [{"role": "assistant", "content": ANSWER, "tool_calls": None}]
        span = observed_call(
            {
                "logfire.msg_template": "Chat completion with {gen_ai.request.model!r}",
                "input": json.dumps(given),
                "output": json.dumps(given_back),
                "model_config": '{"temperature": 0.5, "top_p": null}',
                "usage": '{"input_tokens": 57, "output_tokens": 17, "total_tokens": 74, '
                '"input_tokens_details": {"cached_tokens": 20}, "output_tokens_details": {"reasoning_tokens": 4}}',
                "gen_ai.request.model": "gpt-4o-mini",
                "request_data": json.dumps({"messages": [*given, *given_back], "model": "gpt-4o-mini"}),
            }
        )

        assert (span.input, span.output) == (given, ANSWER)
        assert (span.input_tokens, span.reasoning_tokens, span.request_temperature) == (57, 4, 0.5)

    def test_streamed_chat_calls(self) -> None:
        """Of a stream the output is a response made up of it."""
        response = {
            "id": "__fake_id__",
            "object": "response",
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}],
        }
        asked = {"input": json.dumps([{"role": "user", "content": QUESTION}]), "request_data": "{}"}
        span = observed_call({**asked, "output": json.dumps([response])})

        assert (span.output, span.response_id) == (ANSWER, None)
        assert observed_call({**asked, "output": "null"}).output is None

    def test_responses(self) -> None:
        """The whole response is there, with the instructions; the question stands as it was sent."""
        response = {
            "object": "response",
            "id": "resp_1",
            "model": "gpt-4o-mini-2024-07-18",
            "instructions": "Be brief.",
            "tools": [{"type": "function", "name": "get_weather"}],
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}],
            "usage": {"input_tokens": 57, "output_tokens": 17, "total_tokens": 74},
        }
        span = observed_call(
            {
                "logfire.msg_template": "Responses API with {gen_ai.request.model!r}",
                "gen_ai.request.model": "gpt-4o-mini",
                "raw_input": json.dumps([{"role": "user", "content": QUESTION}]),
                "response": json.dumps(response),
            }
        )

        assert [item.text for item in span.input_messages] == ["Be brief.", QUESTION]
        assert (span.output, span.request_model, span.response_id) == (ANSWER, "gpt-4o-mini", "resp_1")
        assert [tool.name for tool in span.tool_definitions] == ["get_weather"]

    def test_tools_and_agents(self) -> None:
        """What else the SDK does is told by how the span's message begins."""
        system = {"gen_ai.system": "openai"}
        function = {
            **system,
            "logfire.msg_template": "Function: {name}",
            "name": "get_weather",
            "input": json.dumps(ARGUMENTS),
            "output": '{"temp_c":18}',
        }
        tool = observed(function)
        agent = observed({**system, "logfire.msg_template": "Agent run: {name!r}", "name": "qa", "tools": "[]"})
        guard = observed({**system, "logfire.msg_template": "Guardrail {name!r} {triggered=}", "name": "g"})

        assert isinstance(tool, ToolSpan)
        assert (tool.tool_name, tool.arguments, tool.result) == ("get_weather", ARGUMENTS, {"temp_c": 18})
        assert isinstance(agent, AgentSpan)
        assert agent.agent_name == "qa"
        assert guard.kind is ObservationKind.GUARDRAIL
        del function["gen_ai.system"]
        assert observed(function).kind is ObservationKind.OTHER

    @pytest.mark.parametrize(
        ("group", "session"), [("g-1", "g-1"), ("null", None), ("[Scrubbed due to 'session']", None)]
    )
    def test_groups_are_sessions(self, group: str, session: str | None) -> None:
        """A trace's group is its session, where it was given and not scrubbed."""
        said = {"logfire.msg_template": "OpenAI Agents trace: {name}", "agent_trace_id": "trace_1", "group_id": group}
        span = observed(said)

        assert (span.kind, span.session_id) == (ObservationKind.CHAIN, session)

    def test_errors(self) -> None:
        """The SDK's error is told where the status has no message."""
        said = {
            "logfire.msg_template": "Agent run: {name!r}",
            "gen_ai.system": "openai",
            "logfire.level_num": 17,
            "error": json.dumps({"message": "Error in agent run", "data": {"error": "boom"}}),
        }

        assert observed(said, status_message="").error == SpanError("Error in agent run: boom")
        assert observed({**said, "error": '{"message": "no"}'}).error == SpanError("no")
        assert observed(said, status_message="RuntimeError: boom").error == SpanError("RuntimeError: boom")


class TestOwnSpans:
    """Functions and spans of the app's own."""

    SCHEMA = json.dumps(
        {"type": "object", "properties": {"city": {}, "unit": {}, "return": {"type": "object"}, "session_id": {}}}
    )
    FUNCTION = (
        ("code.function", "get_weather"),
        ("logfire.msg_template", "get_weather"),
        ("city", "Paris"),
        ("unit", "celsius"),
        ("session_id", "[Scrubbed due to 'session']"),
        ("logfire.span_type", "span"),
        ("return", '{"temp_c":18}'),
        ("logfire.json_schema", SCHEMA),
    )

    def test_tools(self) -> None:
        """A span in another that is named as its function, and has arguments, is a tool's run."""
        span = observed(dict(self.FUNCTION), name="get_weather", parent_span_id=PARENT)

        assert isinstance(span, ToolSpan)
        assert (span.tool_name, span.arguments, span.result) == ("get_weather", ARGUMENTS, {"temp_c": 18})

    @pytest.mark.parametrize(
        "fields",
        [
            {"name": "get_weather"},
            {"name": "weather for {city}", "parent_span_id": PARENT},
            {"name": "Calling app.tools.get_weather", "parent_span_id": PARENT},
        ],
    )
    def test_other_functions(self, fields: dict[str, str]) -> None:
        """What nothing called, or what is described rather than named, is a step like any other."""
        span = observed(dict(self.FUNCTION), **fields)

        assert (span.kind, span.input, span.output) == (ObservationKind.CHAIN, ARGUMENTS, {"temp_c": 18})

    def test_input_comes_before_output(self) -> None:
        """What was set after the span had begun is the output: one value is itself, several have names."""
        schema = json.dumps({"properties": {"question": {}, "top_k": {}, "sure": {}, "said": {}}})
        first: dict[str, JsonValue] = {"question": "Why?", "top_k": 2, "logfire.msg_template": "ask {question}"}
        span = observed({**first, "logfire.span_type": "span", "said": "So.", "logfire.json_schema": schema})
        more = {"said": '["So."]', "sure": True, "logfire.json_schema": schema}

        assert (span.input, span.output) == ({"question": "Why?", "top_k": 2}, "So.")
        assert observed({**first, "logfire.span_type": "span", **more}).output == {"said": '["So."]', "sure": True}

    def test_attributes_that_were_sorted(self) -> None:
        """Where the order was lost, the names of outputs tell."""
        schema = json.dumps({"properties": {"question": {}, "answer": {}, "unit": {}, "none": {"type": "null"}}})
        said: dict[str, JsonValue] = {
            "answer": "So.",
            "question": "Why?",
            "unit": "day",
            "none": "null",
            "logfire.msg_template": "ask",
            "logfire.span_type": "span",
            "logfire.json_schema": schema,
        }
        span = observed(dict(sorted(said.items())))

        assert (span.input, span.output) == ({"none": None, "question": "Why?", "unit": "day"}, "So.")

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("look up", {"documents": '["A.","B."]'}),
            ("retrieve", {"return": '[{"page_content":"A."},{"page_content":"B."}]'}),
        ],
    )
    def test_retrievals(self, name: str, said: dict[str, JsonValue]) -> None:
        """Documents that were found make a retrieval; so does a list that a retrieving function returned."""
        schema = json.dumps({"properties": {"query": {}, "documents": {"type": "array"}, "return": {"type": "array"}}})
        begun: dict[str, JsonValue] = {"query": "Refunds?", "logfire.msg_template": name, "logfire.span_type": "span"}
        span = observed({**begun, **said, "logfire.json_schema": schema}, name=name)

        assert isinstance(span, RetrieverSpan)
        assert (span.query, span.documents) == ("Refunds?", (Document("A."), Document("B.")))

    def test_no_documents(self) -> None:
        """A list of anything else is no retrieval."""
        schema = json.dumps({"properties": {"query": {}, "documents": {"type": "array"}}})
        begun: dict[str, JsonValue] = {"query": "x", "logfire.msg_template": "look up", "logfire.span_type": "span"}

        assert observed({**begun, "documents": "[1,2]", "logfire.json_schema": schema}).kind is ObservationKind.CHAIN

    def test_what_somebody_else_says(self) -> None:
        """A span that says in GenAI's words what it is stays that."""
        schema = json.dumps({"properties": {"question": {}, "gen_ai.operation.name": {}}})
        said = {"gen_ai.operation.name": "invoke_agent", "question": "Why?", "logfire.msg_template": "agent"}
        span = observed({**said, "logfire.json_schema": schema})

        assert (span.kind, span.input) == (ObservationKind.AGENT, {"question": "Why?"})

    def test_log_lines_are_no_steps(self) -> None:
        """A log line has no input, so that it is no case of its own; at level error it is one that failed."""
        schema = json.dumps({"properties": {"n": {}}})
        line: dict[str, JsonValue] = {
            "logfire.span_type": "log",
            "logfire.msg_template": "found {n}",
            "logfire.msg": "found 2",
            "n": 2,
            "logfire.json_schema": schema,
        }

        assert (observed(line).kind, observed(line).input, observed(line).error) == (ObservationKind.OTHER, None, None)
        assert observed({**line, "logfire.level_num": 17}).error == SpanError("found 2")

    def test_errors_by_level(self) -> None:
        """The exception that was recorded tells more than the message."""
        raised = event("exception", {"exception.type": "ValueError", "exception.message": "no"})

        assert observed({"logfire.level_num": 17}, event("retry"), raised).error == SpanError("no", "ValueError")
        assert observed({"logfire.level_num": 13}, raised).error is None
        assert observed({"logfire.level_num": 17, "error.type": "E"}, name="x").error == SpanError("x", "E")


@pytest.mark.parametrize(
    ("said", "session"),
    [
        ({"session_id": "session-ada-42"}, "session-ada-42"),
        ({"session.id": "session-ada-42", "gen_ai.conversation.id": "c"}, "session-ada-42"),
        ({"gen_ai.conversation.id": "c"}, "c"),
        (
            {"session_id": "[Scrubbed due to 'session']", "baggage_conflict.session_id": "session-ada-42"},
            "session-ada-42",
        ),
        ({"session_id": "[Scrubbed due to 'session']"}, None),
        ({"session_id": 3}, "3"),
        ({"session_id": "null"}, None),
    ],
)
def test_sessions(said: dict[str, JsonValue], session: str | None) -> None:
    """Baggage becomes attributes of every span; Logfire scrubs those that look secret where the app set them."""
    span = observed({"logfire.msg": "x", "user_id": "u", **said})

    assert (span.session_id, span.user_id) == (session, "u")


def test_nothing_said() -> None:
    """A span that only passed through Logfire is read as if it had not."""
    assert observed({"logfire.span_type": "span", "logfire.msg": "GET /"}).dialects == ()


@given(
    st.dictionaries(
        st.sampled_from(
            [key for name, key in vars(logfire_keys).items() if name.isupper()]
            + ["events", "documents", "session_id", "gen_ai.request.model", "gen_ai.response.id", "gen_ai.system"]
        ),
        json_values
        | json_values.map(json.dumps)
        | st.sampled_from(
            [
                "Function: x",
                '{"properties": {"documents": {"type": ["array"]}, "return": 1}}',
                json.dumps(EVENTS),
            ]
        ),
        max_size=10,
    )
)
def test_any_json_is_read_without_error(attributes: dict[str, JsonValue]) -> None:
    """Whatever stands under the keys, nothing is raised."""
    observed(attributes, event("exception", {"exception.type": 3}))
