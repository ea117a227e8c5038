"""What writing spans costs, against OpenTelemetry's own encoder of OTLP JSON.

All of them encode the same spans in this process, in turns; the cheapest of their rounds counts, as whatever disturbs a
measurement only ever makes it dearer.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator

import pytest
from benchmarks.measure import Figure
from opentelemetry.exporter.otlp.json.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pixie_otel.exporters.otlp_json import encode, encode_span, join_lines
from pixie_otel.exporters.redaction import Redactor

pytestmark = pytest.mark.benchmark

ROUNDS = 15
SPANS = 512
LINE = 4 * 2**20


def chats(turns: int) -> tuple[ReadableSpan, ...]:
    """Give spans of model calls as OpenInference records them.

    Args:
        turns: How many messages come before each answer.
    """
    memory = InMemorySpanExporter()
    provider = TracerProvider(
        resource=Resource({"service.name": "support-bot"}), span_limits=SpanLimits(max_span_attributes=10_000)
    )
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("openinference.instrumentation.openai", "0.1.30")
    for number in range(SPANS):
        question = f"Where is order {number}? " * 20
        messages = [{"role": ("user", "assistant")[turn % 2], "content": question} for turn in range(turns)]
        answer = {"role": "assistant", "content": f"Order {number} was shipped on Monday. " * 12}
        with tracer.start_as_current_span("ChatCompletion") as span:
            span.set_attributes(
                {
                    "openinference.span.kind": "LLM",
                    "llm.system": "openai",
                    "llm.model_name": "gpt-4o-mini-2024-07-18",
                    "llm.invocation_parameters": '{"model": "gpt-4o-mini", "temperature": 0.2}',
                    "input.value": json.dumps({"model": "gpt-4o-mini", "messages": messages}),
                    "input.mime_type": "application/json",
                    "output.value": json.dumps({"choices": [{"message": answer}]}),
                    "output.mime_type": "application/json",
                    "llm.token_count.prompt": 120,
                    "llm.token_count.completion": 80,
                    "llm.token_count.total": 200,
                }
            )
            for index, message in enumerate(messages):
                for field, text in message.items():
                    span.set_attribute(f"llm.input_messages.{index}.message.{field}", text)
            for field, text in answer.items():
                span.set_attribute(f"llm.output_messages.0.message.{field}", text)
    return memory.get_finished_spans()


@pytest.fixture
def steady() -> Iterator[None]:
    """Keep the collector from going through what the measuring itself holds."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def cheapest(*functions: Callable[[], object]) -> list[float]:
    """Run functions in turns, and give the microseconds of processor time that each took for a span at its best."""
    best = [float("inf")] * len(functions)
    for _ in range(ROUNDS):
        for number, function in enumerate(functions):
            began = time.process_time()
            function()
            best[number] = min(best[number], time.process_time() - began)
    return [seconds / SPANS * 1e6 for seconds in best]


@pytest.mark.usefixtures("steady")
@pytest.mark.parametrize("turns", [2, 40])
def test_encoding_costs_a_quarter_of_the_official_encoder(turns: int, figures: list[Figure]) -> None:
    """Encoding spans to lines takes at most a quarter of the time that the official JSON encoder takes for them."""
    spans = chats(turns)
    ours, official = cheapest(
        lambda: join_lines(map(encode, spans), LINE), lambda: encode_spans(spans).to_json().encode()
    )
    figures += (
        Figure(f"official encoder, chats of {turns} messages", official, "us"),
        Figure(f"our encoder, chats of {turns} messages", ours, "us"),
        Figure(f"our encoder against it, chats of {turns} messages", ours / official, "x", 0.25),
    )

    assert ours <= 0.25 * official


@pytest.mark.usefixtures("steady")
def test_looking_for_credentials_costs_less_than_the_official_encoder(figures: list[Figure]) -> None:
    """Encoding and finding that a span holds no credential takes at most 0.75 times as long as the official encoder."""
    spans = chats(2)
    redactor = Redactor()

    def write() -> None:
        for span in spans:
            data = encode_span(span)
            assert redactor.redact(span, data) is span

    ours, official = cheapest(write, lambda: encode_spans(spans).to_json().encode())
    figures.append(Figure("encoding and redaction against the official encoder", ours / official, "x", 0.75))

    assert ours <= 0.75 * official
