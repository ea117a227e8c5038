"""Exports of tools, as these write them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from foreign_samples import (
    ADOT_LOG,
    ADOT_SPAN,
    LANGFUSE,
    LANGFUSE_2,
    LANGFUSE_OBSERVATION,
    LANGSMITH,
    MLFLOW,
    MLFLOW_2,
    STRANDS_EVALS,
    TRACE_ID,
    UUID,
)
from otlp_lines import MILLISECOND
from reading import Reading, read

from pixie_otel.traces.spans import LLMSpan, ObservationKind, ObserveSpan
from pixie_otel.traces.trace import Trace


def read_one(*documents: object) -> tuple[Trace, Reading]:
    """Read documents that hold one trace."""
    reading = read("\n".join(json.dumps(document) for document in documents))
    (trace,) = reading.traces
    return trace, reading


def forms(reading: Reading) -> dict[str, int]:
    """Give what the input was."""
    (source,) = reading.report.sources.values()
    return dict(source.forms)


def the_call(trace: Trace) -> LLMSpan:
    """Give the one model call of a trace, which answered as all of these do."""
    (call,) = trace.llm_calls
    assert call.input_messages[-1].text == "weather?"
    assert call.output_messages[-1].text == "18 degrees"
    return call


class TestMLflow:
    """MLflow."""

    def test_spans_come_with_ids_times_and_content(self) -> None:
        """Ids are hex, times exact, attributes what MLflow's own OTLP export has."""
        trace, reading = read_one(MLFLOW)
        agent, chat = trace.spans
        call = the_call(trace)

        assert not reading.kinds
        assert forms(reading) == {"MLflow trace JSON": 1}
        assert (trace.trace_id, agent.span_id, chat.parent_span_id) == (TRACE_ID, "f400853428e74f0a", agent.span_id)
        assert agent.start_time_unix_nano == 1796077762337340444
        assert (agent.kind, agent.input, agent.output) == (
            ObservationKind.AGENT,
            {"question": "weather?"},
            "18 degrees",
        )
        assert (call.input_tokens, call.output_tokens, call.request_model) == (10, 3, "gpt-4o-mini")
        assert call.error is not None
        assert call.error.message == "ValueError: boom"
        assert call.events[0].attributes == {"exception.message": "boom", "exception.type": "ValueError"}

    def test_what_is_known_of_the_trace_stands_on_its_root(self) -> None:
        """Its session among it; nothing is lost."""
        trace, _ = read_one(MLFLOW)
        attributes = trace.roots[0].span.attributes

        assert trace.session_id == "session-ada-42"
        assert attributes["mlflow.traceTag.team"] == "support"
        assert attributes["mlflow.info.state"] == "OK"
        assert "mlflow.info.state" not in trace.spans[1].attributes

    def test_traces_of_version_2_are_read(self) -> None:
        """Their spans have contexts, their times other names, and a value may be no text."""
        trace, reading = read_one(MLFLOW_2)
        (span,) = trace.spans

        assert not reading.kinds
        assert (trace.trace_id, span.span_id, span.kind) == (TRACE_ID, "f400853428e74f0a", ObservationKind.CHAIN)
        assert span.input == {"question": "weather?"}
        assert span.error is not None
        assert span.events[0].time_unix_nano == 1796077762350996000

    def test_the_file_that_its_store_keeps_is_read(self) -> None:
        """It has the spans alone, which are nearly OTLP."""
        trace, _ = read_one(MLFLOW["data"])

        assert [span.name for span in trace.spans] == ["agent", "chat"]
        the_call(trace)


class TestLangfuse:
    """Langfuse."""

    def test_observations_become_spans(self) -> None:
        """With kinds, messages, tokens, costs, errors and what came with the span."""
        trace, reading = read_one(LANGFUSE)
        agent, _ = trace.spans
        call = the_call(trace)

        assert not reading.kinds
        assert forms(reading) == {"a Langfuse export": 1}
        assert (agent.kind, agent.service_name, agent.scope.name) == (ObservationKind.AGENT, "bot", "langfuse-sdk")
        assert agent.attributes["my.key"] == "kept"
        assert (call.input_tokens, call.output_tokens, call.cost) == (10, 3, 0.1)
        assert call.time_to_first_token_ms == 500
        assert call.error is not None
        assert call.error.message == "boom"
        assert call.attributes["langfuse.observation.promptName"] == "weather"
        assert call.attributes["my.key"] == "kept"

    def test_what_is_known_of_the_trace_stands_on_its_root(self) -> None:
        """Session, user, tags and metadata."""
        trace, _ = read_one(LANGFUSE)
        root = trace.roots[0].span

        assert (root.session_id, root.user_id) == ("session-ada-42", "ada")
        assert root.attributes["langfuse.trace.tags"] == ["beta"]
        assert root.attributes["langfuse.trace.metadata.plan"] == "pro"

    def test_an_older_trace_is_the_root_of_its_observations(self) -> None:
        """Where none of them stands for it: ids that are UUIDs become ids of OTLP's length."""
        trace, reading = read_one(LANGFUSE_2)
        (top,) = trace.roots

        assert not reading.kinds
        assert trace.trace_id == UUID.replace("-", "")
        assert (top.span.name, top.span.input, top.span.output) == ("chat", "weather?", "18 degrees")
        assert [child.span.name for child in top.children] == ["call 1", "call 2"]
        assert [call.input_tokens for call in trace.llm_calls] == [10, 10]
        assert trace.usage.cost == 0.5

    def test_single_observations_are_read(self) -> None:
        """A line each, as the exports of observations have them."""
        trace, _ = read_one(LANGFUSE_OBSERVATION)

        the_call(trace)

    def test_ids_in_place_of_observations_are_told(self) -> None:
        """Lists of traces have them; the trace itself is still there."""
        trace, reading = read_one({**LANGFUSE, "observations": ["a", "b"]})

        assert reading.kinds == {"bad-shape": 1}
        assert [span.name for span in trace.spans] == ["weather-agent"]


class TestLangSmith:
    """LangSmith."""

    def test_runs_become_spans(self) -> None:
        """With the runs that are in them; what the server added up stands on none that is no call."""
        trace, reading = read_one(LANGSMITH)
        (top,) = trace.roots
        call = the_call(trace)

        assert not reading.kinds
        assert forms(reading) == {"a LangSmith run export": 1}
        assert (top.span.kind, top.span.input) == (ObservationKind.CHAIN, {"question": "weather?"})
        assert [child.span.name for child in top.children] == ["ChatOpenAI"]
        assert (call.request_model, call.input_tokens, call.output_tokens, call.cost) == ("gpt-4o-mini", 10, 3, 0.1)
        assert call.error is not None
        assert call.error.message == "boom"
        assert trace.usage.input_tokens == 10
        assert top.span.start_time_unix_nano % MILLISECOND == 1000

    def test_runs_in_lines_are_one_trace(self) -> None:
        """Each names its parent."""
        top = {key: value for key, value in LANGSMITH.items() if key != "child_runs"}
        child = {**LANGSMITH["child_runs"][0], "parent_run_id": UUID}
        trace, _ = read_one(top, child)

        assert len(trace.roots) == 1


class TestAws:
    """CloudWatch, and what evaluators on AWS get."""

    def test_spans_and_their_log_records_belong_together(self) -> None:
        """What was said is in the records' bodies."""
        trace, reading = read_one(ADOT_SPAN, ADOT_LOG)
        (span,) = trace.spans

        assert forms(reading) == {"CloudWatch/ADOT spans": 2}
        assert the_call(trace).finish_reasons == ("stop",)
        assert (span.service_name, span.otel_kind, span.duration_ms) == ("bot", "client", 0.01)
        assert span.error is not None
        assert span.attributes["cloudwatch.aws"] == '{"region":"eu-west-1"}'

    def test_a_message_that_is_a_line_of_cloudwatch_logs(self) -> None:
        """As `aws logs filter-log-events` gives them."""
        trace, _ = read_one({"events": [{"timestamp": 1, "message": json.dumps(ADOT_SPAN)}]})

        assert [span.name for span in trace.spans] == ["chat"]

    def test_a_body_that_is_no_conversation_stays(self) -> None:
        """It is the body of the span's event."""
        trace, _ = read_one(ADOT_SPAN, {**ADOT_LOG, "body": {"free": "form"}})

        assert trace.spans[0].events[0].body == {"free": "form"}

    def test_spans_with_their_events_are_read(self) -> None:
        """As evaluators get them."""
        trace, reading = read_one(STRANDS_EVALS)

        assert forms(reading) == {"strands-evals spans": 1}
        the_call(trace)
        assert trace.spans[0].events[-1].attributes == {"body": '{"free":"form"}'}


def test_jaegers_ids_may_lack_zeros() -> None:
    """Older versions leave them out; the parent may stand beside the references."""
    spans = [
        {"traceID": "ab", "spanID": "1", "operationName": "a", "startTime": 1_700_000_000_000_000, "duration": 5},
        {
            "traceID": "ab",
            "spanID": "2",
            "parentSpanID": "1",
            "operationName": "b",
            "startTime": 1_700_000_000_000_001,
            "process": {"serviceName": "bot", "tags": []},
            "tags": [
                {"key": "error", "type": "string", "value": "out of order"},
                {"key": "x", "type": "bool", "value": "true"},
            ],
        },
    ]
    trace, _ = read_one(*spans)
    first, second = trace.spans

    assert trace.trace_id == "ab".rjust(32, "0")
    assert second.parent_span_id == first.span_id == "1".rjust(16, "0")
    assert second.service_name == "bot"
    assert second.attributes == {"x": True, "error": "out of order"}


@pytest.mark.parametrize(
    "value",
    [
        '{"event": {"a": 1}}',
        '"event": {"a": 1}',
        'event: {"a": 1}',
    ],
)
def test_zipkins_annotations_are_events(value: str) -> None:
    """Exporters put attributes behind the name, each in its own way."""
    assert _annotated(value)[0].name == "event"
    assert _annotated(value)[0].attributes == {"a": 1}


@pytest.mark.parametrize("value", ["event", "{event", "a: {b", '{"a": 1, "b": 2}'])
def test_zipkins_other_annotations_are_names(value: str) -> None:
    """Nothing else is made of them."""
    assert _annotated(value)[0].name == value


def _annotated(value: str) -> Any:
    annotation = {"timestamp": 1_700_000_000_000_000, "value": value}
    trace, _ = read_one({"traceId": "ab", "id": "1" * 16, "tags": {}, "annotations": [annotation]})
    return trace.spans[0].events


def test_phoenix_names_things_in_two_ways() -> None:
    """Its page's query has camelCase, wrapped into the answer of GraphQL, with attributes as text."""
    node = {
        "context": {"traceId": TRACE_ID, "spanId": "f400853428e74f0a"},
        "name": "chat",
        "spanKind": "llm",
        "parentId": None,
        "startTime": "2026-11-30T12:00:00.5+01:00",
        "endTime": "2026-11-30T12:00:01+01:00",
        "statusCode": "ERROR",
        "statusMessage": "boom",
        "attributes": json.dumps({"llm": {"model_name": "gpt-4o-mini"}, "metadata": {"plan": "pro"}}),
        "events": [{"name": "exception", "message": "boom", "timestamp": "2026-11-30T12:00:00Z"}],
        "latencyMs": 500,
    }
    trace, _ = read_one({"data": {"project": {"spans": {"edges": [{"node": node}]}}}})
    (span,) = trace.spans

    assert isinstance(span, LLMSpan)
    assert (span.response_model, span.metadata, span.duration_ms) == ("gpt-4o-mini", {"plan": "pro"}, 500)
    assert span.start_time_unix_nano == 1_796_036_400_500_000_000
    assert span.events[0].attributes == {"exception.message": "boom"}
    assert span.attributes["phoenix.latencyMs"] == 500


def test_a_row_of_a_data_set_is_no_span_of_zipkins() -> None:
    """Its tags are a list, and not values by key."""
    reading = read(json.dumps({"traceId": "t1", "id": "1", "tags": ["a"], "input": "weather?"}))

    assert not reading.traces
    assert list(reading.kinds) == ["not-otlp"]


def test_a_document_of_no_form_is_told() -> None:
    """As before."""
    document: dict[str, Any] = copy.deepcopy(MLFLOW)
    del document["info"]
    del document["data"]

    assert read(json.dumps({**document, "x": 1})).kinds == {"not-otlp": 1}


def test_nothing_in_an_export_is_no_problem() -> None:
    """An export may hold no span."""
    reading = read(json.dumps({**LANGSMITH, "child_runs": []}) + "\n" + json.dumps({"traceID": "a", "spans": []}))

    assert not reading.kinds
    assert [type(span) for trace in reading.traces for span in trace.spans] == [ObserveSpan]
