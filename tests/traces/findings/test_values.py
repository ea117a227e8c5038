"""Whether values are whole."""

from __future__ import annotations

import json

import pytest
from checked_traces import agent, llm, says, tool
from observed import observed

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.findings import find_problems
from pixie_otel.traces.findings.found import Scene
from pixie_otel.traces.findings.values import histories, is_cut_json, object_names, values
from pixie_otel.traces.spans import ObserveSpan
from pixie_otel.traces.trace import Trace

MESSAGES = json.dumps([{"role": "user", "content": "What is the capital of France?"}])


@pytest.mark.parametrize("length", [16, 24, 40, len(MESSAGES) - 1])
def test_json_without_its_end_was_cut(length: int) -> None:
    """Wherever it was cut."""
    assert is_cut_json(MESSAGES[:length])


@pytest.mark.parametrize(
    "value",
    [
        MESSAGES,
        f"{MESSAGES}\n",
        "[1] a footnote, and more of it",
        "[note to self: call them back",
        "{'role': 'user', 'content': 'Python writes it so'",
        "{not json at all, whatever it is",
        '{"a": 1',
        "",
        "Paris.",
        '["half a pair: \ud800',
    ],
)
def test_other_text_was_not(value: str) -> None:
    """Text that only begins with a bracket, Python's own form, and what is too short to tell."""
    assert not is_cut_json(value)


def test_a_cut_value_is_told_with_its_span() -> None:
    """Once a trace, with how long it is."""
    span = observed({"input.value": MESSAGES[:40], "openinference.span.kind": "CHAIN"})
    (found,) = values(Scene(Trace.from_spans([span])))

    assert (found.kind, found.span) == ("cut-value", span)
    assert "after 40 characters" in found.said


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ("anthropic.content.truncated", "ANTHROPIC_OPEN_TELEMETRY_TRACES_MAX_CONTENT_BYTES"),
        ("pixie.truncated", "wrap(value"),
    ],
)
def test_a_library_may_say_that_it_cut(key: str, advice: str) -> None:
    """Then its own limit is the one to raise."""
    (found,) = values(Scene(Trace.from_spans([observed({key: True})])))

    assert advice in (found.fix or "")


@pytest.mark.parametrize(
    "text",
    [
        "<generator object streamed at 0x7f205333b100>",
        "<async_generator object answer at 0x7f205333b100>",
        "<coroutine object main.<locals>.answer at 0x10f0e8040>",
        "<openai.Stream object at 0x7F20AA33B100>",
        "<function main.<locals>.answer at 0x7f205333b100>",
        "[object Object]",
        "[object AsyncGenerator]",
    ],
)
def test_the_name_of_an_object_is_no_value(text: str) -> None:
    """What it would have given is not there."""
    assert [found.kind for found in object_names(Scene(Trace.from_spans([agent(output=text)])))] == ["object-repr"]
    assert list(object_names(Scene(Trace.from_spans([tool("00000000000000b0", "t", parent=None, result=text)]))))


@pytest.mark.parametrize(
    "value",
    ["<p>at 0x10</p>", "It printed <generator object x at 0x7f205333b100>", "<b>", None, 7, {"a": "[object Object]"}],
)
def test_text_about_an_object_is(value: JsonValue) -> None:
    """Only the whole value counts."""
    assert list(object_names(Scene(Trace.from_spans([agent(input=value, output=value)])))) == []


def history(first: int, prefix: str, **fields: object) -> ObserveSpan:
    """Make a call whose messages begin with a number."""
    attributes: dict[str, JsonValue] = {
        "openinference.span.kind": "LLM" if prefix.startswith("llm") else None,
        "llm.request.type": "chat",
        f"{prefix}.{first}.{'message.' if prefix.startswith('llm') else ''}role": "user",
        f"{prefix}.{first}.{'message.' if prefix.startswith('llm') else ''}content": "And of Italy?",
    }
    return observed({key: value for key, value in attributes.items() if value is not None}, **fields)


@pytest.mark.parametrize("prefix", ["llm.input_messages", "gen_ai.prompt"])
def test_a_history_begins_with_its_first_message(prefix: str) -> None:
    """Where it does not, the oldest attributes were dropped; a first one alone may be missing for other reasons."""

    def found(span: ObserveSpan) -> list[str]:
        return [finding.kind for finding in histories(Scene(Trace.from_spans([span])))]

    assert found(history(64, prefix)) == ["cut-history"]
    assert found(history(1, prefix, dropped_attributes=5)) == ["cut-history"]
    assert found(history(1, prefix)) == []
    assert found(history(0, prefix, dropped_attributes=5)) == []


def text_of(length: int, number: int) -> str:
    """Make a text of a length that is like no other."""
    return f"Answer {number} is " + "very " * length


def test_several_values_of_one_length_were_cut_there() -> None:
    """Where they are the longest of a service, and differ."""
    spans = [
        agent(),
        *(llm(f"00000000000000b{n}", says("!"), attributes={"output.value": text_of(90, n)[:300]}) for n in range(3)),
    ]
    (found,) = [problem for problem in find_problems(Trace.from_spans(spans)) if problem.kind == "cut-value"]

    assert "300 characters" in found.message
    longer = llm("00000000000000b9", says("!"), attributes={"output.value": text_of(90, 9)})
    kinds = {problem.kind for problem in find_problems(Trace.from_spans([*spans, longer]))}
    assert "cut-value" not in kinds


def test_one_value_several_times_was_not() -> None:
    """A system prompt is in every call; and ids have one length."""
    same = [llm(f"00000000000000b{n}", says("!"), attributes={"a": text_of(90, 1)}) for n in range(4)]
    ids = [llm(f"00000000000000b{n}", says("!"), attributes={"a": f"{n:0128x}"}) for n in range(4)]

    for spans in (same, ids):
        assert list(values(Scene(Trace.from_spans([agent(), *spans])))) == []
