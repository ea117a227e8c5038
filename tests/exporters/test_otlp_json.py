"""The encoder of spans, compared with OpenTelemetry's own and read by our reader."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain
from typing import Any

import httpx
import pytest
from answered_calls import CALL, TOOL, answered
from hypothesis import given
from hypothesis import strategies as st
from openai import OpenAI
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.exporter.otlp.json.common.trace_encoder import encode_spans
from opentelemetry.proto_json.collector.trace.v1.trace_service import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from reading import read
from sdk_spans import KEYS, SPANS, VALUES, sdk_span

from pixie_otel.exporters import otlp_json, otlp_values
from pixie_otel.exporters.otlp_json import encode, encode_resource, encode_scope, encode_span, join_lines
from pixie_otel.traces import indexing
from pixie_otel.traces.wire import MAX_VALUE_DEPTH

LARGE = 4 * 2**20


def lines_of(*spans: ReadableSpan, most: int = LARGE) -> bytes:
    """Give spans as the lines of a file."""
    return b"".join(line for line, _ in join_lines(map(encode, spans), most))


def meaning(data: str | bytes) -> list[dict[str, Any]]:
    """Say what some lines mean to the official decoder: each span with its resource and scope, in no order."""
    found: list[dict[str, Any]] = []
    for line in data.splitlines() if isinstance(data, bytes) else [data]:
        document = ExportTraceServiceRequest.from_json(line).to_dict()
        for resource in document.get("resourceSpans", []):
            for scope in resource.pop("scopeSpans"):
                # A status without a code and a message says no more than none.
                found += (
                    {"resource": resource, "scope": scope, "span": {"status": {}, **span}}
                    for span in scope.pop("spans")
                )
    return sorted(found, key=json.dumps)


def read_back(value: object) -> object:
    """Give what an attribute's value should be when our reader gives it back."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {key: read_back(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [read_back(inner) for inner in value]
    return value


def attributes_read(span: ReadableSpan) -> dict[str, Any]:
    """Write a span, read it with our reader, and give its attributes; nothing may be wrong with it."""
    reading = read(lines_of(span))
    (trace,) = reading.traces
    assert reading.kinds == {}
    return dict(trace.roots[0].span.attributes)


class TestAgainstTheOfficialEncoder:
    """Our lines mean what the official encoder's mean, wherever that one is right."""

    @given(st.lists(SPANS, max_size=5))
    def test_spans_mean_the_same(self, spans: list[ReadableSpan]) -> None:
        """To the official decoder, our lines say what the official encoder's document says."""
        assert meaning(lines_of(*spans)) == meaning(encode_spans(spans).to_json())

    def test_spans_of_a_real_tracer_mean_the_same(self) -> None:
        """So they do for spans that a tracer made, with errors, links, remote parents and what limits dropped."""
        memory = InMemorySpanExporter()
        limits = SpanLimits(max_span_attributes=2, max_events=1, max_links=1, max_event_attributes=1)
        provider = TracerProvider(resource=Resource({"service.name": "bot", "list": [1, 2]}), span_limits=limits)
        provider.add_span_processor(SimpleSpanProcessor(memory))
        tracer = provider.get_tracer("tracer", "1.2", "https://example.com/schema", {"team": "a"})
        with tracer.start_as_current_span("outer", kind=SpanKind.SERVER) as outer:
            outer.set_attributes({"a": 1, "b": True, "c": [1.5, 2.5], "d": {"x": [b"\x00", None]}})
            links = [Link(outer.get_span_context(), {"n": 1}), Link(outer.get_span_context())]
            with tracer.start_as_current_span("inner", links=links, kind=SpanKind.CLIENT) as inner:
                inner.add_event("one", {"a": 1, "b": 2})
                inner.record_exception(ValueError("no"))
                inner.set_status(Status(StatusCode.ERROR, "it failed"))
                inner.set_attributes({"a": 1, "b": 2, "c": 3, "d": 4})
        spans = memory.get_finished_spans()

        assert [(s.dropped_attributes, s.dropped_events, s.dropped_links) for s in spans] == [(2, 1, 1), (2, 0, 0)]
        assert meaning(lines_of(*spans)) == meaning(encode_spans(spans).to_json())

    def test_lone_surrogates_are_replaced(self) -> None:
        """A lone surrogate, which the official encoder lets through and no UTF-8 can hold, becomes U+FFFD."""
        span = sdk_span({"a\ud800": "x\udc00y\ud800\ud83d\ude00\udfff"}, name="\udcff")
        with pytest.raises(UnicodeEncodeError):
            json.dumps(json.loads(encode_spans([span]).to_json()), ensure_ascii=False).encode()

        assert attributes_read(span) == {"a\ufffd": "x\ufffdy\ufffd\U0001f600\ufffd"}

    @given(st.text(st.characters(), max_size=8))
    def test_any_text_can_be_written(self, text: str) -> None:
        """Any text comes back, with U+FFFD for each surrogate that has no other half."""
        expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert attributes_read(sdk_span({"a": text})) == {"a": expected}

    @pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**64, 10**400])
    def test_integers_beyond_64_bits_are_text(self, number: int) -> None:
        """An integer that no int64 can hold, which the official encoder writes as one, becomes text."""
        assert attributes_read(sdk_span({"a": number, "b": [number]})) == {"a": str(number), "b": [str(number)]}

    def test_an_integer_too_long_for_python_is_hexadecimal(self) -> None:
        """An integer of more digits than Python writes, for which the official encoder fails, is written in hex."""
        assert attributes_read(sdk_span({"a": 10**5000})) == {"a": hex(10**5000)}

    def test_what_is_nested_too_deep_ends_in_words(self) -> None:
        """A value nested deeper than readers take, for which the official encoder fails, is cut and says so."""
        deep: object = "end"
        for _ in range(3000):
            deep = {"in": deep}
        # The SDK itself fails on it, so only a span made otherwise can hold it.
        found = attributes_read(sdk_span({"a": deep}, cleaned=False))["a"]

        depth = 1
        while isinstance(found, dict):
            found, depth = found["in"], depth + 1
        assert (found, depth) == (f"<nested more than {MAX_VALUE_DEPTH} levels deep>", MAX_VALUE_DEPTH)

    def test_what_may_be_nested_stays(self) -> None:
        """A value nested as deep as readers take comes back whole."""
        deep: object = "end"
        for _ in range(MAX_VALUE_DEPTH - 1):
            deep = [deep]
        assert attributes_read(sdk_span({"a": deep})) == {"a": deep}


@pytest.fixture
def openai_spans() -> Iterator[tuple[OpenAI, InMemorySpanExporter]]:
    """Give OpenAI's client, instrumented as applications have it, and where its spans go."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(span_limits=SpanLimits(max_span_attributes=10_000))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    instrumentor = OpenAIInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    try:
        with OpenAI(api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(answered))) as client:
            yield client, memory
    finally:
        instrumentor.uninstrument()


def test_spans_of_real_model_calls(openai_spans: tuple[OpenAI, InMemorySpanExporter]) -> None:
    """Spans of chats, streams, tools and 500 messages mean the same, and our reader understands them."""
    client, memory = openai_spans
    create = client.chat.completions.create
    question: Any = [{"role": "user", "content": 'Sag "hallo" 👋\n'}]
    long: Any = [{"role": ("user", "assistant")[n % 2], "content": f"message {n} \u2028"} for n in range(500)]
    called: Any = [*question, {"role": "assistant", "tool_calls": [CALL]}]
    called += [{"role": "tool", "tool_call_id": "call_1", "content": "sunny"}]
    tools: Any = [TOOL]
    create(model="gpt-4o-mini", messages=question, temperature=0.2)
    assert "".join(part.choices[0].delta.content or "" for part in create(model="m", messages=question, stream=True))
    create(model="gpt-4o-mini", messages=question, tools=tools)
    create(model="gpt-4o-mini", messages=called)
    create(model="gpt-4o-mini", messages=long)
    spans = memory.get_finished_spans()
    data = lines_of(*spans)
    reading = read(data)
    calls = [call for trace in reading.traces for call in trace.llm_calls]

    assert meaning(data) == meaning(encode_spans(spans).to_json())
    assert [len(call.input_messages) for call in calls] == [1, 1, 1, 3, 500]
    assert [call.output_messages[0].text for call in calls] == ["Grüße!", "Grüße!", "", "Grüße!", "Grüße!"]
    assert reading.kinds == {}


class Colour(str, Enum):  # noqa: UP042 - many applications have it so
    """A text that is more than a text."""

    RED = "red"


class Loud(str):
    """A text that cannot say what it is."""

    __slots__ = ()

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError("not to be asked")


class Large(int):
    """A number that lies."""

    def __format__(self, spec: str, /) -> str:
        """Give something else."""
        return "lie"


class Hostile(Mapping[str, int]):
    """A mapping that fails when it is read."""

    def __getitem__(self, key: str) -> int:
        """Fail."""
        raise RuntimeError("no item")

    def __iter__(self) -> Iterator[str]:
        """Fail."""
        raise RuntimeError("no keys")

    def __len__(self) -> int:
        """Claim to hold something."""
        return 1


class TestReadByOurReader:
    """What was written comes back."""

    @given(st.dictionaries(KEYS, VALUES, max_size=4))
    def test_attributes_come_back(self, attributes: dict[str, Any]) -> None:
        """Every attribute comes back with nothing to complain of, bytes as Base64 and what is not finite as a word."""
        span = sdk_span(attributes)
        assert attributes_read(span) == read_back(span.attributes)

    def test_the_rest_of_a_span_comes_back(self) -> None:
        """Name, times, parent, events, status, resource and scope come back."""
        parent = SpanContext(1, 7, is_remote=True, trace_flags=TraceFlags(1))
        span = sdk_span(
            {"input.value": "hi", "output.value": "hello"},
            name='say "hi"',
            parent=parent,
            events=[Event("exception", {"exception.type": "ValueError", "exception.message": "no"}, 1_764_500_000)],
            status=Status(StatusCode.ERROR, "it failed"),
            resource={"service.name": "bot"},
            instrumentation_scope=InstrumentationScope("scope", "3", "", {"a": 1}),
        )
        (trace,) = read(lines_of(span)).traces
        found = trace.roots[0].span

        assert (found.name, found.input, found.output, found.parent_span_id) == ('say "hi"', "hi", "hello", f"{7:016x}")
        assert found.error is not None
        assert found.error.message == "it failed"
        assert [(event.name, event.attributes["exception.type"]) for event in found.events] == [
            ("exception", "ValueError")
        ]
        assert found.resource == {"service.name": "bot"}
        assert found.scope.name == "scope"

    @pytest.mark.parametrize("status", [Status(StatusCode.UNSET), Status(StatusCode.OK), Status(StatusCode.ERROR)])
    @pytest.mark.parametrize("parent", [None, SpanContext(1, 7, is_remote=False)])
    @pytest.mark.parametrize("value", ["text", 1, True, 1.5, b"x", None, [1], [], {"a": 1}, {}])
    def test_our_spans_are_read_the_fast_way(self, status: Status, parent: SpanContext | None, value: object) -> None:
        """Of a span without events or links, its place in its tree is read without decoding it, whatever it holds."""
        data = encode_span(sdk_span({"a": 1, "last": value}, status=status, parent=parent))

        assert indexing._PLAIN_HEAD.match(data)
        assert data.endswith(indexing._PLAIN_ENDS)


class TestSpansMadeByHand:
    """What no SDK looked at costs as little as can be."""

    def test_what_no_attribute_can_be_is_named_by_its_type(self) -> None:
        """A value of another type is written as the type's name, and is never asked for its own."""
        span = sdk_span({"a": object(), "b": {1, 2}, "c": [Hostile], 5: 1, object: 2}, cleaned=False)
        assert attributes_read(span) == {"a": "<object>", "b": "<set>", "c": ["<ABCMeta>"], "5": 1, "<type>": 2}

    def test_derived_types_are_what_they_derive_from(self) -> None:
        """Texts and numbers of derived types are written as Python's own say, whatever the types do."""
        span = sdk_span({"a": Colour.RED, "b": Loud("x"), "c": Large(7), Loud("d"): [Loud("é")]}, cleaned=False)
        assert attributes_read(span) == {"a": "red", "b": "x", "c": 7, "d": ["é"]}

    @pytest.mark.parametrize(
        ("start", "written"),
        [(None, 0), (1.5e18, 1_500_000_000_000_000_000), (-5, 0), (math.nan, 0), ("now", 0), (2**70, 2**64 - 1)],
    )
    def test_impossible_times_are_brought_into_range(self, start: object, written: int) -> None:
        """A time that OTLP cannot hold costs that time, not the span."""
        assert json.loads(encode_span(sdk_span(start_time=start)))["startTimeUnixNano"] == str(written)

    def test_odd_names_and_kinds_are_no_reason_to_lose_a_span(self) -> None:
        """A name that is no text and a kind that is none are written as such."""
        found = json.loads(encode_span(sdk_span(name=5, kind="client", status=None)))
        assert (found["name"], found["kind"], found["status"]) == ("<int>", 0, {})
        assert json.loads(encode_span(sdk_span(name=Loud("x"))))["name"] == "x"
        assert json.loads(encode_span(sdk_span(name=None)))["name"] == ""

    def test_a_span_without_a_context_has_the_ids_that_stand_for_none(self) -> None:
        """Without a context, the ids are zeros, as the official encoder writes them."""
        span = sdk_span(context=None)
        assert meaning(lines_of(span)) == meaning(encode_spans([span]).to_json())

    @pytest.mark.parametrize(
        "broken",
        [
            {"attributes": Hostile(), "cleaned": False},
            {"attributes": {"a": {"b": Hostile()}}, "cleaned": False},
            {"context": SpanContext(2**128, 1, is_remote=False)},
            {"context": SpanContext(1, -1, is_remote=False)},
            {"parent": SpanContext(1, 2**64, is_remote=False)},
            {"status": "failed"},
            {"events": [None]},
        ],
    )
    def test_a_span_that_cannot_be_encoded_is_a_value_error(self, broken: dict[str, Any]) -> None:
        """Whatever goes wrong is a ValueError that does not repeat what the span holds."""
        with pytest.raises(ValueError, match=r"the span cannot be encoded: \w+$"):
            encode_span(sdk_span(**broken))

    def test_a_broken_resource_is_a_value_error(self) -> None:
        """So is what goes wrong with the resource."""
        span = sdk_span()
        span._resource = Hostile()  # type: ignore[assignment]
        with pytest.raises(ValueError, match="resource or scope cannot be encoded: AttributeError"):
            encode(span)

    def test_attributes_of_a_subclass_count(self) -> None:
        """A span that gives its attributes in its own way is asked for them."""

        class Hidden(ReadableSpan):
            @property
            def attributes(self) -> Mapping[str, str]:
                return {"a": "shown"}

        context = SpanContext(1, 2, is_remote=False)
        span = Hidden("x", context, attributes={"a": "kept"}, resource=Resource({}), start_time=5, end_time=6)
        assert attributes_read(span) == {"a": "shown"}


class TestLines:
    """Spans are joined to lines."""

    @given(st.lists(SPANS, min_size=1, max_size=8), st.integers(1, 4000))
    def test_lines_are_bounded_and_hold_every_span_once(self, spans: list[ReadableSpan], most: int) -> None:
        """No line of several spans is longer than the limit, each is one JSON document, and every span is in one."""
        lines = join_lines(map(encode, spans), most)
        held = [meaning(line) for line, _ in lines]

        assert all(len(line) <= most or count == 1 for line, count in lines)
        assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line, _ in lines)
        assert [count for _, count in lines] == list(map(len, held))
        assert sorted(chain.from_iterable(held), key=json.dumps) == meaning(encode_spans(spans).to_json())

    def test_spans_of_one_scope_stand_together(self) -> None:
        """In a line, each resource stands once, and in it each of its scopes."""
        scopes = [InstrumentationScope("a"), InstrumentationScope("b")]
        resources = [{"service.name": "x"}, {"service.name": "y"}]
        spans = [
            sdk_span(number=n, resource=resources[n % 2], instrumentation_scope=scopes[n // 2 % 2]) for n in range(8)
        ]
        ((line, count),) = join_lines(map(encode, spans), LARGE)
        document = json.loads(line)["resourceSpans"]

        assert count == 8
        assert [[len(scope["spans"]) for scope in resource["scopeSpans"]] for resource in document] == [[2, 2]] * 2

    def test_no_spans_give_no_lines(self) -> None:
        """Nothing to write is no line, not an empty one."""
        assert join_lines([], LARGE) == []


class TestCaches:
    """What comes again and again is encoded once, within bounds."""

    def test_resources_and_scopes_are_encoded_once(self) -> None:
        """The same resource and the same scope give the same bytes object."""
        resource, scope = Resource({"a": 1}), InstrumentationScope("a", "1")
        assert encode_resource(resource) is encode_resource(resource)
        assert encode_scope(scope) is encode_scope(scope)

    def test_caches_are_bounded(self) -> None:
        """However many keys, resources and scopes there are, no more than a fixed number is held."""
        for number in range(2 * otlp_values._MOST_KEYS):
            encode_span(sdk_span({f"key.{number}": 1, f"{number}" * 300: 1}, cleaned=False))
            if number < 2 * otlp_json._MOST_SCOPES:
                encode_scope(InstrumentationScope(f"scope {number}"))
            if number < 2 * otlp_json._MOST_RESOURCES:
                encode_resource(Resource({"number": number}))

        assert len(otlp_values._prefixes) <= otlp_values._MOST_KEYS
        assert max(map(len, otlp_values._prefixes)) <= otlp_values._LONGEST_KEY
        assert len(otlp_json._resources) <= otlp_json._MOST_RESOURCES
        assert len(otlp_json._scopes) <= otlp_json._MOST_SCOPES
