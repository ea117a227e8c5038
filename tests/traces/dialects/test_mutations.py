"""Spans of real files, broken: nothing is raised, and only what was broken is lost."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from attribute_keys import every_key
from broken_spans import INDEXES, corpus_spans
from case_results import json_values
from hypothesis import given
from hypothesis import strategies as st
from observed import observed, observed_call

from pixie_otel.evaluable import collapse_named_data
from pixie_otel.traces.selectors import last_llm_call, root
from pixie_otel.traces.spans import SpanEvent
from pixie_otel.traces.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from pixie_otel.traces.spans import ObserveSpan

KEYS = sorted(
    {key for key in every_key() if "." in key}
    | {
        "llm.input_messages.0.message.content",
        "llm.input_messages.0.message.contents.0.message_content.image.image.url",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments",
        "llm.prompts.0.prompt.text",
        "llm.tools.0.tool.json_schema",
        "retrieval.documents.0.document.metadata",
        "embedding.embeddings.0.embedding.text",
        "gen_ai.prompt.0.content",
        "gen_ai.prompt.0.content.0.text",
        "gen_ai.completion.0.tool_calls.0.arguments",
        "llm.request.functions.0.parameters",
        "llm.openai.messages",
        "langfuse.observation.metadata.tools",
        "mastra.model_step.input",
        "mastra.model_step.output",
        "logfire.json_schema",
        "request_data",
        "response_data",
        "events",
        "tool_response",
        "genkit:input",
        "genkit:output",
        "genkit:metadata:subtype",
        "crew_tasks",
        "input",
        "output",
        "metadata",
    }
)
"""All keys that dialects read, and some of each family of keys."""
EVENTS = [
    "exception",
    "gen_ai.client.inference.operation.details",
    "gen_ai.user.message",
    "gen_ai.tool.message",
    "gen_ai.choice",
    "gen_ai.content.prompt",
    "db.query.result",
]
NAMES = [
    "LLM",
    "TOOL",
    "AGENT",
    "RETRIEVER",
    "RERANKER",
    "EMBEDDING",
    "chat",
    "execute_tool",
    "retrieval",
    "embeddings",
    "ai.generateText.doGenerate",
    "ai.rerank.doRerank",
    "model_step",
    "model",
    "generation",
]
ODD = [
    None,
    True,
    -1,
    10**400,
    "",
    "{",
    "[1",
    "null",
    "[" * 5000,
    "[" * 300 + "]" * 300,
    "__REDACTED__",
    [],
    {},
    [[]],
    [{}],
    {"": {"": 1}},
    [{"role": None, "content": [None, 3, {"type": 5}]}],
    '[{"parts": [{"type": "tool_call_response"}, {"image": {"image": {"image": 3}}}]}]',
    '[{"parts": [{"type": "reasoning", "summary": [1]}, {"type": "tool_call"}]}]',
    '{"messages": [[[{}]]], "choices": [1, {"message": 3}]}',
]

values = st.sampled_from(ODD) | json_values | json_values.map(json.dumps) | st.sampled_from(NAMES)
attributes = st.dictionaries(st.sampled_from(KEYS), values, max_size=12)
events = st.lists(
    st.builds(
        SpanEvent,
        name=st.sampled_from(EVENTS),
        attributes=st.dictionaries(
            st.sampled_from([*KEYS, "content", "message", "finish_reason", "role"]), values, max_size=4
        ),
        body=values,
    ),
    max_size=4,
).map(tuple)


def use(span: ObserveSpan) -> None:
    """Do with an observation all that evaluating it does."""
    trace = Trace.from_spans([span])
    assert trace.to_text()
    made = root(trace)
    json.dumps([collapse_named_data(made.eval_input), collapse_named_data(made.eval_output)])
    hash(tuple(made.tools_called or ()))
    if trace.llm_calls:
        json.dumps(collapse_named_data(last_llm_call(trace).eval_output))
    assert trace.usage.total_tokens is None or isinstance(trace.usage.total_tokens, int)


@given(attributes, events)
def test_any_values_under_known_keys(given_attributes: dict[str, Any], given_events: tuple[SpanEvent, ...]) -> None:
    """Whatever stands under the keys of the dialects, reading does not fail and changes nothing."""
    before = copy.deepcopy(given_attributes)

    use(observed(given_attributes, *given_events))

    assert given_attributes == before


@st.composite
def broken_spans(draw: st.DrawFn) -> tuple[dict[str, Any], tuple[SpanEvent, ...]]:
    """Break a few attributes of a real span: renamed, cut, gone, of another type, at another index."""
    span = draw(st.sampled_from(corpus_spans()))
    found = dict(span.attributes)
    for _ in range(draw(st.integers(1, 4))):
        if not found:
            break
        key = draw(st.sampled_from(sorted(found)))
        breakings: list[Callable[[], None]] = [
            lambda key=key: found.pop(key),
            lambda key=key: found.update({key: draw(values)}),
            lambda key=key: found.update({key: _cut(found[key], draw(st.integers(0, 200)))}),
            lambda key=key: found.update({_reindexed(key, draw(st.sampled_from(INDEXES))): found.pop(key)}),
            lambda key=key: found.update(
                {key + draw(st.sampled_from([".0", ".x", ".content", "." * 50])): draw(values)}
            ),
            lambda key=key: found.update({key.rpartition(".")[0] or "x": draw(values)}),
        ]
        draw(st.sampled_from(breakings))()
    told = tuple(
        SpanEvent(item.name, item.time_unix_nano, item.attributes, draw(values)) if draw(st.booleans()) else item
        for item in span.events[:5]
    )
    return found, told


def _cut(value: object, length: int) -> object:
    return value[:length] if isinstance(value, str | list) else value


def _reindexed(key: str, index: str) -> str:
    return ".".join(index if segment.isdigit() else segment for segment in key.split("."))


@given(broken_spans())
def test_broken_spans_are_read(broken: tuple[dict[str, Any], tuple[SpanEvent, ...]]) -> None:
    """No way to break a real span makes reading fail."""
    found, told = broken

    use(observed(found, *told))


OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "m",
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "a",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.content": "b",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "c",
    "llm.token_count.prompt": 5,
    "llm.token_count.completion": 2,
    "llm.finish_reason": "stop",
    "session.id": "s",
}
OPENLLMETRY = {
    "llm.request.type": "chat",
    "gen_ai.response.model": "m",
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "a",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": "b",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "c",
    "gen_ai.completion.0.finish_reason": "stop",
    "gen_ai.usage.prompt_tokens": 5,
    "gen_ai.usage.completion_tokens": 2,
    "traceloop.association.properties.session_id": "s",
}
GENAI = {
    "gen_ai.operation.name": "chat",
    "gen_ai.response.model": "m",
    "gen_ai.system_instructions": '[{"type": "text", "content": "a"}]',
    "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "b"}]}]',
    "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "c"}]}]',
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 5,
    "gen_ai.usage.output_tokens": 2,
    "gen_ai.conversation.id": "s",
}


SAYING_KINDS = {"openinference.span.kind", "llm.request.type", "gen_ai.operation.name"}
"""Without these a span may be no call at all."""


def facts(found: dict[str, Any]) -> dict[str, object]:
    """Give the facts of a call, each by itself."""
    span = observed_call(found)
    said = {f"in {item.text}": item.role for item in span.input_messages if item.text in "abc"}
    return {
        **said,
        "model": span.model,
        "out": span.output,
        "tokens in": span.input_tokens,
        "tokens out": span.output_tokens,
        "finish": span.finish_reasons,
        "session": span.session_id,
    }


@pytest.mark.parametrize("whole", [OPENINFERENCE, OPENLLMETRY, GENAI])
@given(data=st.data())
def test_a_broken_attribute_costs_one_fact(whole: dict[str, Any], data: st.DataObject) -> None:
    """Whatever becomes of one attribute, every fact that rests on others is read as before."""
    key = data.draw(st.sampled_from(sorted(set(whole) - SAYING_KINDS)))
    value = data.draw(st.sampled_from([None, "", "[1", -1, [], {}, [[]], True, "[" * 5000]) | json_values)
    before = facts(whole)
    assert len(before) == 8

    after = facts({**whole, key: value})

    lost = {name for name, fact in before.items() if after.get(name) != fact}
    assert len(lost) <= 1


@pytest.mark.parametrize("whole", [OPENINFERENCE, OPENLLMETRY, GENAI])
def test_a_missing_or_renamed_attribute_costs_one_fact(whole: dict[str, Any]) -> None:
    """The same for keys that are not there, or under a name that nobody knows."""
    before = facts(whole)

    for key in set(whole) - SAYING_KINDS:
        rest = {name: value for name, value in whole.items() if name != key}
        for found in (rest, {**rest, f"zork.{key}": whole[key]}):
            after = facts(found)
            assert len([name for name, fact in before.items() if after.get(name) != fact]) <= 1, key
