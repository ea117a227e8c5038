"""What is not OTLP JSON is recognised."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from pixie_otel.traces.formats import describe_foreign, describe_foreign_value

EXPORTS: list[tuple[object, str]] = [
    ({"data": [{"traceID": "a", "spans": [], "processes": {}}]}, "a Jaeger JSON export"),
    ({"traceID": "a", "spans": [], "processes": {}}, "a Jaeger JSON export"),
    ({"traceID": "a", "spanID": "b", "operationName": "x"}, "a Jaeger JSON export"),
    (
        {"name": "x", "context": {"trace_id": "0xab", "span_id": "0xcd"}, "parent_id": None},
        "ConsoleSpanExporter output",
    ),
    ({"context": {"trace_id": "ab", "span_id": "cd"}, "span_kind": "LLM"}, "a Phoenix span export"),
    ({"context.trace_id": "ab", "context.span_id": "cd"}, "a Phoenix span table"),
    ({"trace": {}, "observations": []}, "a Langfuse export"),
    ({"id": "a", "observations": [], "projectId": "p", "htmlPath": "/"}, "a Langfuse export"),
    ([{"id": "a", "traceId": "t", "parentObservationId": None, "type": "SPAN"}], "a Langfuse export"),
    ({"info": {"trace_id": "tr-1"}, "data": {"spans": []}}, "MLflow trace JSON"),
    ({"id": "a", "run_type": "llm", "dotted_order": "2026"}, "a LangSmith run export"),
    ({"traceId": "a", "durationNano": 5, "kind": "SERVER"}, "CloudWatch/ADOT spans"),
    ({"span_id": "a", "parent_span_id": None, "span_events": []}, "strands-evals spans"),
    ([{"traceId": "a", "localEndpoint": {}}], "a Zipkin JSON export"),
    ({"Segments": []}, "an AWS X-Ray export"),
    ({"TraceId": "a", "SpanId": "b", "SpanAttributes": {}}, "rows of a ClickHouse span table"),
    ({"log": "{}\n", "stream": "stdout"}, "a Docker log wrapper"),
    ({"messages": [{"role": "user", "content": "hi"}]}, "a chat dataset"),
    ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, "a JSON schema"),
]

NOT_FOREIGN: list[object] = [
    None,
    [],
    [1],
    "text",
    {},
    {"resourceSpans": []},
    {"resource_spans": [{"scope_spans": []}]},
    {"resource": {}, "scopeSpans": []},
    {"resourceLogs": []},
    {"batches": []},
    {"traceId": "a", "spanId": "b", "name": "chat"},
]


def _protobuf(*, with_resource: bool) -> bytes:
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add()
    if with_resource:
        attribute = spans.resource.attributes.add()
        attribute.key = "service.name"
        attribute.value.string_value = "bot"
    spans.scope_spans.add().spans.add(trace_id=bytes(range(16)), span_id=bytes(range(8)), name="chat")
    return bytes(request.SerializeToString())


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("traces.jsonl", "{}")
    return file.getvalue()


def _tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("traces.jsonl"))
    return file.getvalue()


class TestHead:
    """`describe_foreign`."""

    @pytest.mark.parametrize(
        ("head", "words"),
        [
            (_zip(), "a zip archive"),
            (_tar(), "a tar archive"),
            (b"PAR1\x15\x04", "Parquet"),
            (b"BZh91AY&SY", "bzip2 data"),
            (b"SQLite format 3\x00", "an SQLite database"),
            (b"\x80\x04\x95", "a Python pickle"),
            (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer (the file itself was not fetched)"),
            (_protobuf(with_resource=True), "OTLP protobuf"),
            (_protobuf(with_resource=False), "OTLP protobuf"),
            (
                struct.pack(">I", 99) + _protobuf(with_resource=True),
                "the collector file exporter's output in proto format",
            ),
            (
                struct.pack(">I", 99) + b"\x28\xb5\x2f\xfd\x00",
                "the collector file exporter's output with zstd compression (framed messages, no zstd stream)",
            ),
            ('{"resourceSpans":[]}'.encode("utf-16-le"), "UTF-16 text without a byte order mark"),
            ('{"resourceSpans":[]}'.encode("utf-16-be"), "UTF-16 text without a byte order mark"),
            (b"<!DOCTYPE html><html>", "HTML"),
            (b'<?xml version="1.0"?><testsuites><testsuite/></testsuites>', "a JUnit XML report"),
            (b"<trace/>", "XML"),
            (b"trace_id,span_id,name\n1,2,chat\n", "CSV"),
            (b'"input"\t"output"\nhi\tho\n', "CSV"),
            (b'data: {"resourceSpans":[]}\n\n', "a server-sent event stream"),
            (b"resource_spans {\n  scope_spans {\n", "OTLP in protobuf's text format"),
            (
                b"{\n  resource: { attributes: {} },\n  traceId: 'ab',",
                "output of the JavaScript ConsoleSpanExporter",
            ),
            (b"\x7fELF" + bytes(range(1, 32)), "binary data"),
        ],
    )
    def test_foreign_formats_are_named(self, head: bytes, words: str) -> None:
        """What is no JSON is called by its name."""
        assert describe_foreign(head) == words

    @pytest.mark.parametrize(
        "head",
        [
            b"",
            b'{"resourceSpans":[]}',
            b"\xef\xbb\xbf{",
            b'\x00\x00\x00\x00{"resourceSpans":[]}',
            b"\n\n\n[{}]",
            b'2026-11-30 12:00:00,123 INFO {"resourceSpans":[]}',
            b'ans":[],"name","id","trace_id"}]}\n{"resourceSpans":[]}',
            b'name, id\n{"resourceSpans":[]}',
            b"Dear reader, this is a letter\n",
            b"< 5",
        ],
    )
    def test_what_may_hold_json_is_not_refused(self, head: bytes) -> None:
        """JSON, JSON behind a log prefix, torn lines and plain text are left to the reader of lines."""
        assert describe_foreign(head) is None

    @settings(deadline=None)
    @given(st.binary(max_size=5000))
    def test_any_bytes_are_described_or_not(self, head: bytes) -> None:
        """No bytes make the description fail."""
        assert describe_foreign(head) is None or describe_foreign(head)


class TestValue:
    """`describe_foreign_value`."""

    @pytest.mark.parametrize(("value", "words"), EXPORTS)
    def test_exports_of_other_tools_are_named(self, value: object, words: str) -> None:
        """What other tools write is called by its name."""
        assert describe_foreign_value(value) == words

    @pytest.mark.parametrize("value", NOT_FOREIGN)
    def test_otlp_and_the_unknown_are_not_named(self, value: object) -> None:
        """OTLP in any of its forms is not foreign, nor is what nobody knows."""
        assert describe_foreign_value(value) is None

    @settings(deadline=None)
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=3),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["data", "context", "trace_id", "traceID", "spans", "info", "messages", "log"]),
                    inner,
                )
            ),
        )
    )
    def test_any_value_is_described_or_not(self, value: object) -> None:
        """No JSON value makes the description fail."""
        assert describe_foreign_value(value) is None or describe_foreign_value(value)
