"""What is captured in memory and what is read back from a file are the same."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer
from programs import run_program
from sdk_spans import SPANS, TEXT
from tracing_runtime import recording

from pixie_otel.errors import ObservationError
from pixie_otel.exporters.memory import MemoryTraceHandler
from pixie_otel.exporters.otlp_json import encode, join_lines
from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter
from pixie_otel.exporters.span_queue import span_queue
from pixie_otel.traces.reader import read_traces
from pixie_otel.traces.selectors import last_llm_call, llm_calls, root
from pixie_otel.traces.trace import Trace
from pixie_otel.tracing.capture import capture_traces
from pixie_otel.tracing.hub import SpanHub

_EXAMPLES = 60
_LONG_EXAMPLES = 1000

MESSAGES = st.text(st.characters(exclude_categories=[]), max_size=12)
VALUES = st.one_of(
    MESSAGES,
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(-5, 5), TEXT),
        lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(TEXT, inner, max_size=2)),
        max_leaves=4,
    ).map(json.dumps),
)
COMMON = {
    "input.value": VALUES,
    "output.value": VALUES,
    "session.id": st.sampled_from(["s1", "s2"]),
    "user.id": TEXT,
    "metadata": st.sampled_from(['{"tier": "gold"}', "no JSON", '{"api_key": "AKIAZ5QRTWXNV2HGJK7M"}']),
    "secret": st.just("Bearer abcdefghijklmnopqrstuvwxyz0123456789"),
    "pixie.truncated": st.just(["input.value"]),
    "unusual": st.one_of(st.floats(), st.integers(-(2**70), 2**70), st.binary(max_size=3), st.lists(TEXT, max_size=2)),
}
KINDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "LLM": {
        "llm.model_name": st.sampled_from(["gpt-4o", "claude"]),
        "llm.input_messages.0.message.role": st.sampled_from(["user", "system"]),
        "llm.input_messages.0.message.content": MESSAGES,
        "llm.output_messages.0.message.role": st.just("assistant"),
        "llm.output_messages.0.message.content": MESSAGES,
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": st.just("search"),
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": VALUES,
        "llm.token_count.prompt": st.integers(0, 100),
        "llm.token_count.completion": st.integers(0, 100),
        "llm.tools.0.tool.json_schema": st.just('{"name": "search"}'),
        "llm.finish_reason": st.sampled_from(["stop", "tool_calls"]),
        "gen_ai.response.id": st.sampled_from(["r1", "r2"]),
        "gen_ai.operation.name": st.just("chat"),
    },
    "TOOL": {"tool.name": TEXT, "tool.parameters": VALUES, "tool_call.id": TEXT},
    "RETRIEVER": {
        "retrieval.documents.0.document.content": MESSAGES,
        "retrieval.documents.0.document.score": st.floats(0, 1),
        "retrieval.documents.1.document.content": MESSAGES,
    },
    "CHAIN": {
        "pixie.wrap.name": TEXT,
        "pixie.wrap.purpose": st.sampled_from(["input", "output", "state"]),
        "pixie.wrap.description": TEXT,
    },
    "AGENT": {"agent.name": TEXT},
    "EMBEDDING": {"embedding.model_name": TEXT, "embedding.embeddings.0.embedding.text": MESSAGES},
}


@st.composite
def attributes(draw: st.DrawFn) -> dict[str, Any]:
    """Give a span's attributes, as OpenInference's instrumentations and ours make them."""
    kind = draw(st.sampled_from([None, *KINDS]))
    possible = COMMON | KINDS.get(kind or "", {})
    chosen = draw(st.lists(st.sampled_from(sorted(possible)), max_size=8, unique=True))
    found = {key: draw(possible[key]) for key in chosen}
    return found if kind is None else {"openinference.span.kind": kind, **found}


@st.composite
def plans(draw: st.DrawFn, depth: int = 3) -> dict[str, Any]:
    """Give a span that is to be made, and those below it."""
    below = st.lists(plans(depth - 1), max_size=3) if depth else st.just([])
    return {
        "name": draw(MESSAGES),
        "kind": draw(st.sampled_from(SpanKind)),
        "start": draw(st.integers(0, 3)) * 40_000,
        "attributes": draw(attributes()),
        "events": draw(st.lists(st.tuples(TEXT, attributes()), max_size=2)),
        "error": draw(st.sampled_from([None, None, "boom", "exception"])),
        "below": draw(below),
    }


def make(tracer: Tracer, plan: dict[str, Any], start: int) -> None:
    """Make a span as planned, and those below it."""
    start += plan["start"]
    with tracer.start_as_current_span(
        plan["name"],
        kind=plan["kind"],
        start_time=start,
        attributes=plan["attributes"],
        end_on_exit=False,
    ) as span:
        for name, values in plan["events"]:
            span.add_event(name, values, timestamp=start + 1)
        for child in plan["below"]:
            make(tracer, child, start)
        fail(span, plan["error"])
    span.end(start + 1_000_000)


def fail(span: Span, how: str | None) -> None:
    """Let a span fail in one of two ways, or not at all."""
    if how == "boom":
        span.set_status(Status(StatusCode.ERROR, "boom"))
    elif how == "exception":
        span.record_exception(ValueError("wrong"))
        span.set_status(Status(StatusCode.ERROR, "ValueError: wrong"))


def judged(trace: Trace, selector: Callable[[Trace], object]) -> object:
    """Give what a selector picks of a trace, or why it picks nothing."""
    try:
        return selector(trace)
    except ObservationError as error:
        return str(error)


def assert_same(captured: Sequence[Trace], read: Sequence[Trace]) -> None:
    """See that traces are the same, in the same order, and that the same of them is judged."""
    assert list(captured) == list(read)
    for ours, theirs in zip(captured, read, strict=True):
        assert ours.spans == theirs.spans
        assert ours.llm_calls == theirs.llm_calls
        assert ours.usage == theirs.usage
        assert ours.start_time_unix_nano == theirs.start_time_unix_nano
        for selector in (root, last_llm_call, llm_calls):
            assert judged(ours, selector) == judged(theirs, selector)
        assert [node.wire_bytes() for node in ours.walk()] == [node.wire_bytes() for node in theirs.walk()]
        assert ours.to_text() == theirs.to_text()
        assert told(ours) == told(theirs)


def told(trace: Trace) -> list[tuple[str, str, str | None]]:
    """Give what is wrong with a trace, but for what the form of a file brings with it."""
    problems = [problem for problem in trace.problems if problem.kind != "missing-id"]
    return sorted((problem.kind, problem.message, problem.span_id) for problem in problems)


def check_made_by_hand(spans: list[ReadableSpan]) -> None:
    """Compare spans that were never open, with whatever ids and times they have."""
    handler = MemoryTraceHandler(redact=False)
    handler.export(spans)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        path.write_bytes(b"".join(line for line, _ in join_lines(map(encode, spans), 2_000)))
        read = list(read_traces(path))
        assert_same([*handler.get_all_traces().values()], read)


def check_made_by_an_application(forest: list[dict[str, Any]]) -> None:
    """Compare what an application's spans are in a capture and in the file that is written beside it."""
    hub = SpanHub()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        hub.add_destination(span_queue("file", OtlpJsonlExporter(path)))
        with recording(processors=[hub], hub=hub) as recorded, capture_traces() as handler:
            for number, plan in enumerate(forest):
                tracer = recorded.provider.get_tracer(f"app {number % 2}", "1.0")
                make(tracer, plan, 1_764_500_000_000_000_000)
        assert hub.close()
        assert (handler.dropped, handler.late, handler.unattributed) == (0, 0, 0)
        assert_same([*handler.get_all_traces().values()], list(read_traces(path)))
        for trace_id, trace in handler.get_all_traces().items():
            assert handler.get_trace(trace_id) == trace


@pytest.fixture(autouse=True, scope="module")
def quiet() -> Iterator[None]:
    """Let OpenTelemetry keep to itself what it says of every attribute that is too many or of no type it knows."""
    logger = logging.getLogger("opentelemetry.attributes")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(before)


@given(st.lists(SPANS, min_size=1, max_size=4))
@settings(max_examples=_EXAMPLES)
def test_spans_made_by_hand(spans: list[ReadableSpan]) -> None:
    """Whatever a span holds, without ids, with colliding ones, or twice: the traces are equal, in the same order."""
    check_made_by_hand([*spans, spans[0]])


@pytest.mark.long
@given(st.lists(SPANS, min_size=1, max_size=6))
@settings(max_examples=_LONG_EXAMPLES)
def test_many_spans_made_by_hand(spans: list[ReadableSpan]) -> None:
    """The same, with more of them."""
    check_made_by_hand([*spans, spans[0]])


@given(st.lists(plans(), min_size=1, max_size=4))
@settings(max_examples=_EXAMPLES)
def test_spans_of_an_application(forest: list[dict[str, Any]]) -> None:
    """LLM calls, tools, retrievals, wrapped values, errors and secrets: equal trees, and equal Evaluables."""
    check_made_by_an_application(forest)


@pytest.mark.long
@given(st.lists(plans(), min_size=1, max_size=6))
@settings(max_examples=_LONG_EXAMPLES)
def test_many_spans_of_an_application(forest: list[dict[str, Any]]) -> None:
    """The same, with more of them."""
    check_made_by_an_application(forest)


def test_the_example_application(tmp_path: Path) -> None:
    """The support bot's traces are equal, captured and read back, and so is what is judged of them."""
    program = """
        import sys
        from pathlib import Path

        sys.path.insert(0, sys.argv[1])
        from bot import answer
        from model import reply

        import pixie_otel as pixie
        from pixie_otel.testing import OpenAIStub

        pixie.init(file="traces.jsonl")
        with OpenAIStub(reply) as stub, stub.activate(), pixie.capture_traces() as handler:
            for question in ("How many days does a refund take?", "Where is my order A-1042?"):
                answer(question)
        pixie.shutdown()
        captured, read = [*handler.get_all_traces().values()], [*pixie.read_traces("traces.jsonl")]
        print(len(read), captured == read)
        for selector in (pixie.root, pixie.last_llm_call):
            print([*map(selector, captured)] == [*map(selector, read)], selector(captured[0]).eval_output is not None)
    """
    bot = Path(__file__).parents[2] / "examples" / "support_bot"
    out, _ = run_program(program, tmp_path, {}, str(bot))

    assert out.splitlines() == ["2 True", "True True", "True True"]
