"""What people and models said taken out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conversions import convert
from foreign_samples import SAMPLES
from otlp_lines import agent, attributes, chat, line, span
from reading import read

from pixie_otel.traces.masking import DROPPED, masked_log, masked_object, masked_span
from pixie_otel.traces.trace import Trace

CORPUS = Path(__file__).parent / "corpus"
TRUTHS = sorted(CORPUS.glob("*/*.truth.json"))
NO_CONTENT = {"user", "assistant", "system", "tool", "text", "image_url", "input_text", "input_image", "function_call"}
NO_CONTENT |= {"function_call_output", "message", "output_text", "weather", "celsius", "get_weather", "call_abc123"}
"""What stands in scripts in places of content and is none, or is a part of a name as well."""


WITHIN_CONTENT = {"crewai-traceloop", "haystack-native-2", "litellm-oi", "llama-index-traceloop", "logfire-agents"}
"""Whose spans say what they are or were called, or a session, within what was said, so that these go with it."""


def texts_in(value: Any) -> Iterator[str]:
    """Give all texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_in(inner)


def said_in(truth: dict[str, Any]) -> set[str]:
    """Give everything that was said in a scenario."""
    found: list[Any] = []
    for trace in truth["traces"]:
        found += [trace.get("root_input"), trace.get("root_output"), trace.get("retrieved_documents")]
        for call in trace.get("llm_calls", []):
            found += [message.get("content") for message in call.get("input_messages") or []]
            found += [call.get("output_text")]
            found += [asked.get("arguments") for asked in call.get("output_tool_calls") or []]
        for executed in trace.get("tool_calls_executed") or []:
            found += [executed.get("arguments"), executed.get("result")]
    return {text for text in texts_in(found) if len(text) > 4} - NO_CONTENT


def shape_of(trace: Trace, *, has_names: bool = True) -> list[object]:
    """Give what must stay of a trace, with the names and the session in it or without."""
    # A call that used nothing may be told from an embedding by its input alone.
    calls = [
        (call.request_model or call.response_model, call.input_tokens, call.output_tokens)
        for call in trace.llm_calls
        if call.input_tokens is not None
    ]
    spans = [
        (span.span_id, span.parent_span_id, span.start_time_unix_nano, span.end_time_unix_nano) for span in trace.spans
    ]
    failed = [span.span_id for span in trace.spans if span.error is not None]
    names = [[span.name for span in trace.spans], [span.tool_name for span in trace.tool_spans], trace.session_id]
    return [calls, spans, failed, *(names if has_names else ())]


@pytest.mark.parametrize("path", TRUTHS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_that_was_said_is_left(path: Path) -> None:
    """And what spans were, how long they took and what they used stays."""
    truth = json.loads(path.read_text(encoding="utf-8"))
    recorded = truth["recorded"]
    names = [recorded["file"], *([recorded["logs_file"]] if recorded.get("logs_file") else [])]
    inputs = [path.with_name(name).read_bytes() for name in names]

    data = convert(*inputs, drops_content=True).data
    everything = "\n".join(texts_in([json.loads(text) for text in data.splitlines()]))
    # Whatever is still JSON within text is searched as well.
    everything += everything.replace('\\"', '"')

    assert {text for text in said_in(truth) if text in everything} == set()
    has_names = path.parent.name not in WITHIN_CONTENT
    kept, told = (
        [shape_of(trace, has_names=has_names) for trace in read(*given).traces] for given in ((data,), inputs)
    )
    assert kept == told


@pytest.mark.parametrize("name", SAMPLES)
def test_exports_of_other_tools_keep_nothing_either(name: str) -> None:
    """Of a Langfuse trace, a run of LangSmith and so on."""
    document = json.dumps(SAMPLES[name])
    inputs = [document] if name != "adot log" else [document, json.dumps(SAMPLES["adot span"])]
    data = convert(*inputs, drops_content=True).data

    assert b"weather?" not in data
    assert b"18 degrees" not in data
    assert b"boom" not in data
    assert [call.input_tokens for trace in read(data).traces for call in trace.llm_calls] == [
        call.input_tokens for trace in read(*inputs).traces for call in trace.llm_calls
    ]


def kept(**values: object) -> dict[str, Any]:
    """Give what stays of attributes, decoded."""
    data = convert(
        line(span(1, attributes={key.replace("__", "."): value for key, value in values.items()})), drops_content=True
    ).data
    return dict(read(data).traces[0].spans[0].attributes)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("gen_ai__request__model", "gpt-4o-mini"),
        ("model", '"gpt-4o-mini"'),
        ("gen_ai__response__finish_reasons", ["stop"]),
        ("gen_ai__response__finish_reasons", '["stop"]'),
        ("openinference__span__kind", "LLM"),
        ("mlflow__spanType", '"CHAT_MODEL"'),
        ("gen_ai__tool__call__id", "call_1"),
        ("gen_ai__agent__name", "Weather agent"),
        ("llm__token_count__prompt", 14),
        ("gen_ai__request__temperature", 0.5),
        ("stream", True),
        ("usage_details", '{"input":14,"details":{"cached":2}}'),
        ("a_key__that__nobody__knows", 5),
        ("service__version", "1.2"),
        ("exception__type", "ValueError"),
        ("user__id", "u-1"),
        ("langsmith__metadata__thread_id", "t-1"),
        ("llm__invocation_parameters", '{"temperature":0.5,"model":"gpt-4o-mini"}'),
    ],
)
def test_what_is_no_content_stays(key: str, value: object) -> None:
    """Known by the last words of its key, and by being one word itself."""
    assert kept(**{key: value}) == {key.replace("__", "."): value}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("input__value", "What is it?"),
        ("input__value", "Paris"),
        ("a_key__that__nobody__knows", "Paris"),
        ("metadata__city", "Paris"),
        ("metadata__type", "Paris"),
        ("user__name", "Ada"),
        ("embedding__vector", [0.1, 0.2]),
        ("tool__parameters", '{"city":"Paris","days":3}'),
        ("output__value", '{"Paris":18,"Rome":20}'),
        ("output__value", '{"name":"Ada","input":"x"}'),
        ("output__value", '[{"name":"Ada"},"Paris"]'),
        ("traceloop__entity__input", '{"args":["Paris"],"kwargs":{}}'),
        ("output__value", "{" * 100),
        ("patient__status", "HIV-positive"),
        ("order__id", "4111-1111"),
        ("user__role", "oncologist"),
        ("home__address", "12-Main-St"),
        ("code", "s3cret"),
        ("http__request__header__x-role", "oncologist"),
        ("mlflow__traceTag__status", "fired"),
        ("order", '{"type":"object","id":"4111-1111","status":"cancelled"}'),
        ("orders", ["4111-1111"]),
    ],
)
def test_what_may_be_content_goes(key: str, value: object) -> None:
    """Whatever it is."""
    assert kept(**{key: value}) == {key.replace("__", "."): DROPPED}


@pytest.mark.parametrize("key", ["gen_ai__system", "session__id", "gen_ai__response__finish_reason"])
def test_what_is_no_id_is_not_taken_for_one(key: str) -> None:
    """It is left out altogether, for something else would be read as one."""
    assert kept(**{key: "You are a helpful assistant."}) == {}


def test_messages_keep_their_form() -> None:
    """Roles, types, names of tools and reasons, in whichever shape."""
    messages = [
        {"role": "user", "parts": [{"type": "text", "content": "weather?"}, {"type": "mine", "content": "x"}]},
        {
            "role": "assistant",
            "content": None,
            "name": "Ada",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'},
                }
            ],
            "finish_reason": "tool_calls",
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
    ]
    found = json.loads(kept(gen_ai__input__messages=json.dumps(messages))["gen_ai.input.messages"])

    assert found == [
        {"role": "user", "parts": [{"type": "text", "content": DROPPED}, DROPPED]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": DROPPED}}
            ],
            "finish_reason": "tool_calls",
        },
        {"role": "tool", "tool_call_id": "call_1", "content": DROPPED},
    ]


def test_answers_keep_their_tokens() -> None:
    """Where they stand nowhere else."""
    answer = {
        "id": "chatcmpl-1",
        "model": "gpt-4o-mini",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "18 degrees"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 14, "note": "Paris", "details": {"cached": 2}},
        "mine": "Paris",
    }
    found = json.loads(kept(output__value=json.dumps(answer))["output.value"])

    assert found == {
        "id": "chatcmpl-1",
        "model": "gpt-4o-mini",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": DROPPED}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 14, "details": {"cached": 2}},
    }


def test_documents_keep_their_number() -> None:
    """With ids and scores, without what their metadata are."""
    documents = [{"id": "d1", "content": "Refunds take 5 days.", "score": 0.5, "metadata": {"author": "Ada"}}]
    found = json.loads(kept(retrieval__documents=json.dumps(documents))["retrieval.documents"])

    assert found == [{"id": "d1", "content": DROPPED, "score": 0.5, "metadata": DROPPED}]


def test_tools_keep_their_form() -> None:
    """Names and types of parameters, and nothing that is said to the model."""
    schema = {"type": "function", "function": {"name": "f", "description": "Says it", "parameters": {"type": "object"}}}

    assert json.loads(kept(llm__tools__0__tool__json_schema=json.dumps(schema))["llm.tools.0.tool.json_schema"]) == {
        "type": "function",
        "function": {"name": "f", "parameters": {"type": "object"}},
    }


def test_the_rest_of_a_span() -> None:
    """Names that are sentences over many lines, messages of errors, events, links, and fields that nobody knows."""
    masked = masked_span(
        {
            "traceId": "a",
            "name": "What?\nParis!",
            "status": {"code": 2, "message": "Paris"},
            "droppedEventsCount": 3,
            "events": [
                {"name": "exception", "timeUnixNano": "5", "attributes": attributes({"exception.message": "Paris"})},
                5,
            ],
            "links": [{"traceId": "b", "spanId": "c", "attributes": attributes({"x": "Paris"}), "mine": "Paris"}],
            "mine": "Paris",
            "attributes": [5, *attributes({"b": "Paris"}), {"key": "bytes", "value": {"bytesValue": "AAAA"}}],
        }
    )

    assert "Paris" not in json.dumps(masked)
    assert "AAAA" not in json.dumps(masked)
    assert masked["name"] == DROPPED
    assert masked["status"] == {"code": 2, "message": DROPPED}
    assert masked["droppedEventsCount"] == 3
    assert masked["links"] == [{"traceId": "b", "spanId": "c", "attributes": attributes({"x": DROPPED})}]


def test_log_records() -> None:
    """Bodies are messages, text, or anything; what a record is called stays."""
    body = {"kvlistValue": {"values": attributes({"role": "user", "content": "Paris"})}}
    masked = masked_log({"eventName": "gen_ai.user.message", "body": body, "severityNumber": 9, "mine": "Paris"})

    assert masked["eventName"] == "gen_ai.user.message"
    assert masked["severityNumber"] == 9
    assert "Paris" not in json.dumps(masked)
    assert "user" in json.dumps(masked)
    assert masked_log({"body": {"stringValue": "Paris"}})["body"] == {"stringValue": DROPPED}


@pytest.mark.parametrize("name", ["gen_ai.content.prompt", "exception", "First Token Stream Event"])
def test_names_of_events_stay_where_they_are_names(name: str) -> None:
    """Conventions call them by a word, but for one."""
    assert masked_span({"events": [{"name": name}]})["events"] == [{"name": name}]


def test_names_of_events_that_are_lines_of_a_log_go() -> None:
    """And so do fields that hold something else than they should."""
    masked = masked_span(
        {
            "events": [{"name": "Ada likes Paris", "droppedAttributesCount": "Paris"}],
            "flags": "likes Paris",
            "thingsCount": "Paris",
        }
    )

    assert masked["events"] == [{"name": DROPPED}]
    assert "Paris" not in json.dumps(masked)
    assert "Paris" not in json.dumps(masked_log({"eventName": "Ada likes Paris", "severityText": "to Paris"}))
    assert "Paris" not in json.dumps(masked_object({"name": {"a": "Paris"}, "version": "Paris?"}))


def test_resources_and_scopes_keep_their_names() -> None:
    """And neither commands nor paths."""
    found = masked_object(
        {"name": "s", "version": "1", "attributes": attributes({"service.name": "bot", "cmd": "--x y"})}
    )

    assert found == {"name": "s", "version": "1", "attributes": attributes({"service.name": "bot", "cmd": DROPPED})}


def test_masking_twice_changes_nothing() -> None:
    """Nothing is left to take out, and nothing to clean."""
    once = convert(line(agent(1), chat(2, parent=1)), drops_content=True).data
    assert convert(once).data == once

    assert convert(once, drops_content=True).data == once
