"""OpenTelemetry's GenAI conventions, current and older."""

from __future__ import annotations

import json

import pytest
from observed import event, log, observed, observed_call

from pixie_otel.evaluable import Document, JsonValue, ToolCall
from pixie_otel.traces.messages import AssistantMessage, SystemMessage, TextContent, UserMessage
from pixie_otel.traces.spans import AgentSpan, EmbeddingSpan, ObservationKind, RetrieverSpan, SpanEvent, ToolSpan

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
GIVEN = [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]
ANSWERED = [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}], "finish_reason": "stop"}]
SYSTEM = SystemMessage(content=(TextContent("Be brief."),))
USER = UserMessage(content=(TextContent("Hi"),))
DETAILS = "gen_ai.client.inference.operation.details"


def texts(*events: SpanEvent, **attributes: object) -> tuple[list[str], list[str]]:
    """Give the texts of a call's messages, in and out."""
    span = observed_call(
        {**CHAT, **{f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}}, *events
    )
    return [item.text for item in span.input_messages], [item.text for item in span.output_messages]


class TestKinds:
    """What a span is."""

    @pytest.mark.parametrize(
        ("operation", "kind"),
        [
            ("chat", "llm"),
            ("generate_content", "llm"),
            ("text_completion", "llm"),
            ("embeddings", "embedding"),
            ("retrieval", "retriever"),
            ("execute_tool", "tool"),
            ("create_agent", "agent"),
            ("invoke_agent", "agent"),
            ("INVOKE_AGENT", "agent"),
            ("invoke_workflow", "chain"),
        ],
    )
    def test_operations(self, operation: str, kind: str) -> None:
        """The operation says what a span is."""
        assert observed({"gen_ai.operation.name": operation}).kind == kind

    def test_unknown_operations(self) -> None:
        """Without a known operation, a model with tokens is a call, where it is no sum of calls below."""
        model = {"gen_ai.request.model": "m"}
        used = {**model, "gen_ai.usage.input_tokens": 5}

        assert observed(used).kind is ObservationKind.LLM
        assert observed({**used, "gen_ai.operation.name": "UNKNOWN"}).kind is ObservationKind.LLM
        assert observed({**model, "gen_ai.input.messages": json.dumps(GIVEN)}).kind is ObservationKind.LLM
        assert observed({**used, "gen_ai.operation.name": "run_team"}).kind is ObservationKind.OTHER
        ended = {**used, "gen_ai.operation.name": "converse", "gen_ai.response.id": "r"}
        assert observed(ended).kind is ObservationKind.LLM
        assert observed(model).kind is ObservationKind.OTHER
        assert observed({"gen_ai.usage.input_tokens": 5}).kind is ObservationKind.OTHER
        assert observed({"gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c"}).kind is ObservationKind.TOOL

    def test_an_agents_sums_are_no_call(self) -> None:
        """An agent's span may carry messages and the usage of all its calls, and is an agent."""
        span = observed(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "a",
                "gen_ai.agent.id": "1",
                "gen_ai.request.model": "m",
                "gen_ai.usage.input_tokens": 155,
                "gen_ai.input.messages": json.dumps(GIVEN),
                "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": []}, *ANSWERED]),
            }
        )

        assert isinstance(span, AgentSpan)
        assert (span.agent_name, span.agent_id) == ("a", "1")
        assert span.input == [{"role": "user", "content": "Hi"}]
        assert span.output == "Hello"


class TestMessages:
    """Messages on the span and in details events."""

    @pytest.mark.parametrize("write", [json.dumps, lambda value: value, lambda value: json.dumps(json.dumps(value))])
    def test_text_or_structured(self, write: object) -> None:
        """Messages may be JSON text, or AnyValues with a structure."""
        assert callable(write)
        assert texts(input__messages=write(GIVEN), output__messages=write(ANSWERED)) == (["Hi"], ["Hello"])

    def test_openai_style(self) -> None:
        """Messages without parts are read too, and so are a single one and plain text."""
        assert texts(input__messages=[{"role": "user", "content": "Hi"}])[0] == ["Hi"]
        assert texts(input__messages={"role": "user", "content": "Hi"})[0] == ["Hi"]
        assert texts(input__messages="Hi", output__messages="Hello") == (["Hi"], ["Hello"])

    @pytest.mark.parametrize(
        "instructions",
        [
            [{"type": "text", "content": "Be brief."}],
            {"type": "text", "content": "Be brief."},
            [{"role": "system", "content": "Be brief."}],
            ["Be brief."],
            "Be brief.",
        ],
    )
    def test_system_instructions(self, instructions: object) -> None:
        """Instructions come first, unless the messages hold them as well."""
        told = {**CHAT, "gen_ai.system_instructions": json.dumps(instructions)}

        assert observed_call({**told, "gen_ai.input.messages": GIVEN}).input_messages == (SYSTEM, USER)
        assert observed_call(told, event("gen_ai.user.message", {"content": "Hi"})).input_messages == (SYSTEM, USER)
        both = [{"role": "system", "content": "Be brief."}, *GIVEN]
        assert observed_call({**told, "gen_ai.input.messages": both}).input_messages == (SYSTEM, USER)
        other = [{"role": "system", "content": "You are kind."}, *GIVEN]
        assert [item.text for item in observed_call({**told, "gen_ai.input.messages": other}).input_messages] == [
            "Be brief.",
            "You are kind.",
            "Hi",
        ]

    def test_no_instructions(self) -> None:
        """An empty list of instructions is no message."""
        assert texts(system_instructions="[]", input__messages=GIVEN)[0] == ["Hi"]

    @pytest.mark.parametrize("make", [event, lambda name, attributes: log(name, None, **attributes)])
    def test_details_event(self, make: object) -> None:
        """The details event, on the span or as a log record, holds what the span does not."""
        assert callable(make)
        details = make(DETAILS, {"gen_ai.input.messages": GIVEN, "gen_ai.output.messages": ANSWERED})

        assert texts(details) == (["Hi"], ["Hello"])
        assert texts(details, details) == (["Hi"], ["Hello"])
        assert texts(details, input__messages=json.dumps(GIVEN)) == (["Hi"], ["Hello"])
        assert texts(details, input__messages="[]", output__messages="") == (["Hi"], ["Hello"])

    def test_details_in_pieces(self) -> None:
        """Several details events may hold a piece each, or each a message more."""
        more = [*GIVEN, {"role": "user", "parts": [{"type": "text", "content": "?"}]}]
        pieces = [
            event(DETAILS, {"gen_ai.system_instructions": '[{"type": "text", "content": "Be brief."}]'}),
            event(DETAILS, {"gen_ai.input.messages": GIVEN}),
            event(DETAILS, {"gen_ai.output.messages": ANSWERED}),
        ]

        assert texts(*pieces) == (["Be brief.", "Hi"], ["Hello"])
        assert texts(*pieces, event(DETAILS, {"gen_ai.input.messages": more[1:]}))[0] == ["Be brief.", "Hi", "?"]
        assert texts(*pieces, event(DETAILS, {"gen_ai.input.messages": json.dumps(more)}))[0] == [
            "Be brief.",
            "Hi",
            "?",
        ]
        assert texts(*pieces, event(DETAILS, {"gen_ai.input.messages": None}))[0] == ["Be brief.", "Hi"]
        assert texts(*pieces, event(DETAILS, {"gen_ai.input.messages": 5}))[0] == ["Be brief.", "Hi"]
        assert texts(event(DETAILS, {"gen_ai.input.messages": ""}), *pieces)[0] == ["Be brief.", "Hi"]

    def test_messages_on_the_span_and_in_events_are_one(self) -> None:
        """Where the span holds the messages, the events of the same call do not double them."""
        told = (
            event("gen_ai.user.message", {"content": "Hi"}),
            log("gen_ai.choice", {"message": {"content": "Hello"}}),
        )

        assert texts(*told, input__messages=GIVEN, output__messages=ANSWERED) == (["Hi"], ["Hello"])
        assert texts(*told, output__messages=ANSWERED) == (["Hi"], ["Hello"])

    def test_a_stream_in_pieces(self) -> None:
        """A streamed answer in pieces is one answer; several choices, and an agent's steps, are not."""
        said = [{"role": "assistant", "parts": [{"type": "text", "content": text}]} for text in ("It ", "is ", "18.")]
        said[-1]["finish_reason"] = "stop"
        agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": said}

        assert observed_call({**CHAT, "gen_ai.output.messages": said}).output == "It is 18."
        assert observed(agent).output == "18."
        every = [{**item, "finish_reason": "stop"} for item in said]
        assert observed_call({**CHAT, "gen_ai.output.messages": every}).output == ["It ", "is ", "18."]

    def test_parallel_results_are_split(self) -> None:
        """Two results in one message are two messages, in order."""
        results = [{"type": "tool_call_response", "id": name, "response": name} for name in ("a", "b")]

        assert texts(input__messages=[*GIVEN, {"role": "tool", "parts": results}])[0] == ["Hi", "a", "b"]

    def test_content_capture_off(self) -> None:
        """That nothing was recorded is not an empty question and an empty answer."""
        span = observed_call(
            {**CHAT, "gen_ai.usage.input_tokens": 5},
            log("gen_ai.user.message", {}),
            log("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"role": "assistant"}}),
        )

        assert (span.input, span.output, span.input_messages, span.output_messages) == (None, None, (), ())
        assert span.finish_reasons == ("stop",)


class TestOldForms:
    """The forms up to 1.27."""

    @pytest.mark.parametrize(
        "value", ["Hi", json.dumps([{"role": "user", "content": "Hi"}]), '{"messages": [{"content": "Hi"}]}']
    )
    def test_prompt_and_completion(self, value: str) -> None:
        """One attribute a direction, on the span or on a content event."""
        answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Hello"}}]})

        assert texts(prompt=value, completion=answer) == (["Hi"], ["Hello"])
        assert texts(
            event("gen_ai.content.completion", {"gen_ai.completion": answer}),
            event("gen_ai.content.prompt", {"gen_ai.prompt": value}),
        ) == (["Hi"], ["Hello"])

    def test_what_is_no_prompt(self) -> None:
        """Objects that hold no messages, and the name of a prompt, are none."""
        assert texts(prompt='{"question": "Hi"}', prompt__name="greeting") == ([], [])
        assert texts(prompt='{"messages": [5, "Hi"]}')[0] == ["Hi"]

    def test_old_token_names(self) -> None:
        """Tokens under the names of 1.26, and caches and reasoning under the names of other instrumentations."""
        span = observed_call(
            {
                **CHAT,
                "gen_ai.usage.prompt_tokens": "5",
                "gen_ai.usage.completion_tokens": 0,
                "gen_ai.usage.cache_read_input_tokens": 1,
                "gen_ai.usage.cache_write.input_tokens": 2,
                "gen_ai.usage.reasoning_tokens": 3,
                "gen_ai.usage.cost": "0.5",
            }
        )

        assert (span.input_tokens, span.output_tokens, span.cost) == (5, 0, 0.5)
        assert (span.cache_read_tokens, span.cache_creation_tokens, span.reasoning_tokens) == (1, 2, 3)


class TestCalls:
    """What else is known of a call."""

    def test_fields(self) -> None:
        """Every field from its key."""
        span = observed_call(
            {
                **CHAT,
                "gen_ai.system": "old",
                "gen_ai.provider.name": "openai",
                "gen_ai.response.model": "m-1",
                "gen_ai.response.id": "r",
                "gen_ai.request.temperature": 0.2,
                "gen_ai.request.max_tokens": 100,
                "gen_ai.request.top_p": 1,
                "gen_ai.output.type": "json",
                "gen_ai.conversation.id": "s",
                "enduser.id": "u",
                "gen_ai.tool.definitions": '[{"type": "function", "name": "f"}]',
            }
        )

        assert (span.operation, span.provider, span.request_model, span.response_model) == (
            "chat",
            "openai",
            "m",
            "m-1",
        )
        assert (span.request_temperature, span.request_max_tokens, span.request_top_p) == (0.2, 100, 1.0)
        assert (span.response_id, span.output_type, span.session_id, span.user_id) == ("r", "json", "s", "u")
        assert [tool.name for tool in span.tool_definitions] == ["f"]

    @pytest.mark.parametrize(
        ("recorded", "reasons"),
        [
            (["stop"], ("stop",)),
            ('["STOP"]', ("stop",)),
            ("max_tokens", ("length",)),
            (["FinishReason.TOOL_CALLS", "end_turn"], ("tool_calls", "stop")),
            (["", None, 5], ("content_filter",)),
            ([], ("content_filter",)),
        ],
    )
    def test_finish_reasons(self, recorded: object, reasons: tuple[str, ...]) -> None:
        """Lists, JSON and single texts; what says nothing leaves it to the messages."""
        said = [{"role": "assistant", "parts": [], "finish_reason": "refusal"}]
        span = observed_call({**CHAT, "gen_ai.response.finish_reasons": recorded, "gen_ai.output.messages": said})

        assert span.finish_reasons == reasons

    @pytest.mark.parametrize(
        ("said", "milliseconds"),
        [(0.25, 250.0), (250, 250.0), ("0.25", 250.0), (2.0, 2000.0), (0, 0.0), ("soon", None)],
    )
    def test_time_to_first_token(self, said: object, milliseconds: float | None) -> None:
        """Seconds, as the conventions say; milliseconds where seconds would be after the span's end."""
        key = "gen_ai.server.time_to_first_token"

        assert observed_call({**CHAT, key: said}).time_to_first_token_ms == milliseconds

    def test_events_without_attributes(self) -> None:
        """Where the span lost its attributes, its events still say what was said."""
        assert observed({}, event(DETAILS, {**CHAT, "gen_ai.input.messages": GIVEN})).kind is ObservationKind.LLM
        assert observed({}, event("gen_ai.user.message", {"content": "Hi"})).dialects == ("gen_ai",)


class TestOthers:
    """Tools, retrievals and embeddings."""

    def test_tools(self) -> None:
        """Arguments and result from the attributes, and from events where those have none."""
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c"}
        said = {
            "gen_ai.tool.call.arguments": '{"a": 1}',
            "gen_ai.tool.call.result": "ok",
            "gen_ai.tool.description": "d",
        }
        told = (
            event("gen_ai.tool.message", {"content": '{"a": 1}', "id": "c"}),
            event("gen_ai.choice", {"message": "ok"}),
            event("gen_ai.choice", {"message": "later"}),
        )

        for span in (observed({**tool, **said}), observed(tool, *told)):
            assert isinstance(span, ToolSpan)
            assert (span.tool_name, span.tool_call_id) == ("f", "c")
            assert (span.arguments, span.result, span.input, span.output) == ({"a": 1}, "ok", {"a": 1}, "ok")

    def test_retrieval(self) -> None:
        """The query and the documents, as objects or texts."""
        span = observed(
            {
                "gen_ai.operation.name": "retrieval",
                "gen_ai.retrieval.query.text": "q",
                "gen_ai.retrieval.documents": '[{"id": 1, "score": 0.5, "content": "a"}, "b", 5]',
            }
        )

        assert isinstance(span, RetrieverSpan)
        assert (span.query, span.documents) == ("q", (Document("a", "1", 0.5), Document("b")))

    def test_embeddings(self) -> None:
        """The texts, where an instrumentation recorded them as input messages."""
        embedding = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "m"}

        for said in (["a", "b"], [{"role": "user", "content": "a"}, {"content": "b"}]):
            span = observed({**embedding, "gen_ai.input.messages": json.dumps(said)})
            assert isinstance(span, EmbeddingSpan)
            assert (span.texts, span.input, span.model) == (("a", "b"), "a\nb", "m")

    def test_a_chat_that_names_a_tool(self) -> None:
        """OpenLIT's calls carry the tool asked for, and are calls."""
        span = observed_call(
            {**CHAT, "gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c", "gen_ai.usage.input_tokens": 1}
        )

        assert span.kind is ObservationKind.LLM


def test_tool_calls_as_recorded() -> None:
    """Arguments that are JSON inside JSON are decoded."""
    part = {"type": "tool_call", "id": "c", "name": "f", "arguments": '{"a": 1}'}
    span = observed_call({**CHAT, "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [part]}])})

    assert span.output_messages == (AssistantMessage(tool_calls=(ToolCall("f", {"a": 1}, "c"),)),)
    assert span.output == {"content": "", "tool_calls": [{"id": "c", "name": "f", "arguments": {"a": 1}}]}


def test_cached_tokens_beside_the_input() -> None:
    """More cached tokens than input shows that they were left out of it, as Anthropic does; fewer show nothing."""
    cached = {**CHAT, "gen_ai.usage.cache_read.input_tokens": 20, "gen_ai.usage.cache_creation.input_tokens": 5}

    assert observed_call({**cached, "gen_ai.usage.input_tokens": 3}).input_tokens == 28
    assert observed_call({**cached, "gen_ai.usage.input_tokens": 25}).input_tokens == 25
    assert observed_call(cached).input_tokens is None


def test_details_in_a_records_body() -> None:
    """Some log records hold the conventions' keys in their body."""
    span = observed_call(CHAT, log(DETAILS, {"gen_ai.input.messages": GIVEN, "gen_ai.output.messages": ANSWERED}))

    assert (span.input_messages[0].text, span.output, span.finish_reasons) == ("Hi", "Hello", ("stop",))


def test_content_elsewhere() -> None:
    """Messages that were uploaded are not in the file, and a note says so."""
    span = observed({**CHAT, "gen_ai.input.messages_ref": "s3://bucket/1"})

    assert span.notes == ("content was uploaded to where its attributes point: it is not in the file",)


@pytest.mark.parametrize("key", ["gen_ai.usage.cost", "operation.cost", "gen_ai.cost.total_cost"])
def test_costs(key: str) -> None:
    """The conventions have no key for the cost; the common ones are read whoever writes them."""
    assert observed_call({**CHAT, key: "0.25"}).cost == 0.25


def test_older_names_of_a_tools_arguments() -> None:
    """OpenLIT's runs of tools have them under a shorter name."""
    span = observed({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.args": '{"city": "Paris"}'})

    assert isinstance(span, ToolSpan)
    assert span.arguments == {"city": "Paris"}


def test_a_retrieval_that_was_asked_by_message() -> None:
    """Without a query of its own, the message is what was searched for; a document may be without content."""
    span = observed(
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.input.messages": json.dumps(GIVEN),
            "gen_ai.retrieval.documents": '[{"id": 1, "score": 0.5}, "t", {"content": "c", "metadata": {"a": 1}}, 5]',
        }
    )

    assert isinstance(span, RetrieverSpan)
    assert span.query == "Hi"
    assert span.documents == (Document("", "1", 0.5), Document("t"), Document("c", metadata={"a": 1}))


def test_token_names_of_dotnets_semantic_kernel() -> None:
    """Its older versions count in the response."""
    span = observed_call({**CHAT, "gen_ai.response.prompt_tokens": 3, "gen_ai.response.completion_tokens": 4})

    assert (span.input_tokens, span.output_tokens) == (3, 4)


def test_a_json_result_of_bedrock() -> None:
    """A tool's result in a block of JSON is the JSON."""
    record = log("gen_ai.tool.message", {"id": "t1", "content": [{"json": {"temperature": 18}}]})

    assert observed_call(CHAT, record).input_messages[0].text == '{"temperature":18}'


def test_what_is_left_of_a_full_span() -> None:
    """Of a client's call that lost its oldest attributes the tokens may be all that is left."""
    left = {"gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 3}

    assert observed(left, otel_kind="client").kind is ObservationKind.LLM
    assert observed(left).kind is ObservationKind.OTHER
    assert observed({"gen_ai.usage.input_tokens": 9}, otel_kind="client").kind is ObservationKind.OTHER


@pytest.mark.parametrize("cut", ['[{"role": "user", "par', True, "", "[]"])
def test_content_that_was_cut_on_the_span(cut: JsonValue) -> None:
    """A limit on values cuts attributes; the event then has the whole."""
    details = event(DETAILS, {"gen_ai.input.messages": GIVEN})

    assert observed_call({**CHAT, "gen_ai.input.messages": cut}, details).input_messages == (USER,)
