"""Spans that are read as if they came from a file."""

from __future__ import annotations

import json

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from sdk_spans import sdk_span

from pixie_otel.exporters.otlp_json import EncodedSpan, encode
from pixie_otel.exporters.readback import record, traces
from pixie_otel.exporters.redaction import Redactor, encode_redacted
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import LLMSpan, ObserveSpan
from pixie_otel.traces.trace import Trace

FULL = {
    "gen_ai.operation.name": "chat",
    "gen_ai.response.id": "r",
    "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}]),
}
BARE = {"gen_ai.operation.name": "chat", "gen_ai.response.id": "r", "gen_ai.usage.input_tokens": 5}


def only(found: dict[str, Trace]) -> Trace:
    """Give the only trace."""
    (trace,) = found.values()
    return trace


def kinds(trace: Trace) -> list[str]:
    """Give the kinds of what is wrong with a trace."""
    return [problem.kind for problem in trace.problems]


def test_an_observation() -> None:
    """A span is read through its dialects, with its resource and its scope."""
    call = sdk_span({"openinference.span.kind": "LLM", "llm.model_name": "gpt-4o"}, number=7)
    span = record(encode(call)).observe()

    assert isinstance(span, LLMSpan)
    assert (span.model, span.name, span.span_id) == ("gpt-4o", "span 7", f"{7:016x}")
    assert (span.service_name, span.scope.name) == ("support-bot", "tests")


def test_secrets_are_hidden_before_it_is_read() -> None:
    """A span with a secret is encoded anew without it, and one without is encoded once."""
    span = sdk_span({"input.value": "my key is AKIAZ5QRTWXNV2HGJK7M"})
    clean = sdk_span({"input.value": "no key"})

    assert "AKIAZ5" not in encode_redacted(span, Redactor()).data.decode()
    assert "AKIAZ5" in encode_redacted(span, Redactor(redact=False)).data.decode()
    assert encode_redacted(clean, Redactor()) == encode(clean)


def test_many_resources() -> None:
    """Spans of more resources than are remembered have each their own."""
    spans = [record(encode(sdk_span(resource={"service.name": str(number)}))).observe() for number in range(300)]

    assert [span.service_name for span in spans] == [str(number) for number in range(300)]


def test_a_call_that_two_traces_record_counts_once() -> None:
    """As in a file, the bare span of a call that another trace holds in full is no second call."""
    held = [record(encode(sdk_span(FULL, trace=1, number=1))), record(encode(sdk_span(BARE, trace=2, number=2)))]
    full, bare = traces(reversed(held)).values()

    assert [len(full.llm_calls), len(bare.llm_calls)] == [1, 0]
    assert kinds(bare) == ["doubled-call"]


def test_two_traces_of_one_moment_record_a_call() -> None:
    """As in a file, it counts once, whichever of them comes first."""
    for first, second in ((1, 2), (2, 1)):
        full = sdk_span(FULL, trace=first, number=1, end_time=1_764_500_000_009_000_000)
        found = traces([record(encode(full)), record(encode(sdk_span(BARE, trace=second, number=2)))])

        assert [len(found[f"{trace:032x}"].llm_calls) for trace in (first, second)] == [1, 0]


def test_the_same_span_twice() -> None:
    """It counts once, and another one with its id is kept, however they come."""
    same = record(encode(sdk_span(number=1)))
    other = record(encode(sdk_span(number=1, name="other")))
    trace = only(traces([same, other, same]))

    assert trace == only(traces([other, same, same]))
    assert sorted(span.name for span in trace.spans) == ["other", "span 1"]
    assert kinds(trace) == ["duplicate-span", "conflicting-span", "several-roots"]


def test_observations_beside_spans() -> None:
    """What is there as an observation only takes its place in the tree, once, also without a trace id that is hex."""
    held = record(encode(sdk_span(number=1)))
    below = ObserveSpan(
        trace_id=held.trace_id, span_id="b", parent_span_id=held.span_id, start_time_unix_nano=2_000_000_000_000_000_000
    )
    odd = ObserveSpan(trace_id="odd", span_id="c")
    nameless = ObserveSpan(trace_id="", span_id="d")
    found = traces([below, held.observe(), odd, held, below, nameless])

    assert list(found) == ["", "odd", held.trace_id]
    (root,) = found[held.trace_id]
    assert [child.span for child in root.children] == [below]
    assert found["odd"][0].span is odd


def test_what_is_wrong_with_values_is_told_on_every_trace() -> None:
    """Each trace that is built says what could not be read, once it is decoded, and only once."""
    encoded = encode(sdk_span({"a": 1}))
    held = record(encoded._replace(data=encoded.data.replace(b'"intValue":"1"', b'"intValue":"one"')))
    first, second = only(traces([held])), only(traces([held]))

    for trace in (first, second):
        assert kinds(trace) == []
        assert trace.spans
        trace.to_text()
        (problem,) = trace.problems
        assert isinstance(problem, Problem)
        assert (problem.kind, problem.source, problem.span_id) == ("bad-value", "memory", held.span_id)


def test_a_trace_that_is_gone_hears_nothing() -> None:
    """A node that outlives its trace can still be decoded."""
    encoded = encode(sdk_span({"a": 1}))
    held = record(encoded._replace(data=encoded.data.replace(b'"intValue":"1"', b'"intValue":"one"')))
    (node,) = only(traces([held])).roots

    assert node.span.name == "span 1"


@pytest.mark.parametrize("span", [ReadableSpan("nobody"), ReadableSpan("nobody", start_time=5, end_time=7)])
def test_a_span_without_an_identity(span: ReadableSpan) -> None:
    """It is a trace of its own, whose id its content makes."""
    encoded: EncodedSpan = encode(span)
    trace = only(traces([record(encoded), record(encoded)]))

    assert trace.trace_id == record(encoded).trace_id
    assert len(trace.trace_id) == 32
    assert [found.name for found in trace.spans] == ["nobody"]
