"""OTLP that is no JSON."""

from __future__ import annotations

import gzip
import json
import struct
import sys
from typing import Any

import pytest
from foreign_forms import framed, messages, plain_map, protobuf
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from otlp_lines import agent, attributes, batch, chat, line
from otlp_strategies import batches
from reading import read

from pixie_otel.errors import MissingExtraError
from pixie_otel.traces.binary import json_lines
from pixie_otel.traces.formats import BinaryForm
from pixie_otel.traces.limits import ReadLimits

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DOCUMENTS = [batch(agent(1), chat(2, parent=1)), batch(agent(3, trace=3))]
EXPECTED = read("".join(json.dumps(document) + "\n" for document in DOCUMENTS)).traces
LOGS = {
    "resourceLogs": [
        {
            "resource": {},
            "scopeLogs": [
                {
                    "scope": {"name": "s"},
                    "logRecords": [
                        {
                            "timeUnixNano": "5",
                            "traceId": f"{1:032x}",
                            "spanId": f"{1:016x}",
                            "eventName": "an event",
                            "body": {"stringValue": "hi"},
                            "attributes": attributes({"a": 1}),
                        }
                    ],
                }
            ],
        }
    ]
}


def frame(message: bytes) -> bytes:
    """Put a message behind its length."""
    return struct.pack(">I", len(message)) + message


def metrics() -> bytes:
    """Give a message with a metric."""
    request = ExportMetricsServiceRequest()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add(name="0123456789abcdef")
    metric.description = "01234567"
    metric.sum.SetInParent()
    return bytes(request.SerializeToString())


def zstd_framed(documents: list[dict[str, Any]]) -> bytes:
    """Write documents as the collector does with its older compression, first as protobuf, then as JSON."""
    texts = [json.dumps(document).encode() + b"\n" for document in documents]
    return b"".join(frame(zstd.compress(message)) for message in (*messages(documents[:1]), *texts[1:]))


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (protobuf(DOCUMENTS), BinaryForm.MESSAGE),
        (framed(DOCUMENTS), BinaryForm.FRAMED),
        (zstd_framed(DOCUMENTS), BinaryForm.FRAMED_ZSTD),
        (gzip.compress(framed(DOCUMENTS)), BinaryForm.FRAMED),
        (zstd.compress(protobuf(DOCUMENTS)), BinaryForm.MESSAGE),
    ],
)
def test_spans_are_the_same(data: bytes, form: BinaryForm) -> None:
    """Whatever they are framed by and packed with."""
    reading = read(data)

    assert reading.traces == EXPECTED
    assert not reading.kinds
    (source,) = reading.report.sources.values()
    assert source.forms == {form.value: 1}


@given(st.lists(batches(), max_size=3))
def test_any_spans_are_the_same(documents: list[dict[str, Any]]) -> None:
    """Of which protobuf can hold every value."""
    spans = [{"resourceSpans": document["resourceSpans"]} for document in documents if document.get("resourceSpans")]
    try:
        data = framed(spans)
    except ValueError:
        # An id of another length, or a number that no field can hold.
        return
    expected = read("".join(json.dumps(document) + "\n" for document in spans)).traces
    lines = list(json_lines(iter([data]), BinaryForm.FRAMED, ReadLimits(), _fail))

    assert read(b"".join(lines)).traces == expected or _has_odd_ids(spans)


def _fail(kind: str, message: str) -> None:
    raise AssertionError(f"{kind}: {message}")


def _has_odd_ids(documents: list[dict[str, Any]]) -> bool:
    # A key that is empty is none for protobuf.
    return '"key": ""' in json.dumps(documents) or any(
        len(span.get("traceId", "")) != 32 or len(span.get("spanId", "")) != 16
        for document in documents
        for resource in document["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    )


def test_log_records_and_metrics_are_told_apart() -> None:
    """By what is in them, for all three begin alike."""
    (logs,) = messages([LOGS])
    reading = read(frame(messages(DOCUMENTS)[0]) + frame(logs) + frame(metrics()))
    (trace,) = reading.traces

    assert trace.spans[0].events[0].body == "hi"
    assert trace.spans[0].events[0].attributes == {"a": 1}
    assert reading.report.metrics == 1
    assert not reading.kinds


def test_damage_costs_what_comes_after_it() -> None:
    """In a message that is all there is of a file."""
    data = protobuf(DOCUMENTS)

    assert read(data[:-3]).kinds == {"truncated-protobuf": 1}
    assert len(read(data[:-3]).traces) == 1
    assert read(data + b"\x12\x00").kinds == {"bad-protobuf": 1}
    assert read(data + b"\x0a\xff").kinds == {"bad-protobuf": 1}
    assert read(data + b"\x0a" + b"\xff" * 12).kinds == {"bad-protobuf": 1}
    assert read(data + b"\x0a\x04abcd").kinds == {"bad-protobuf": 1}


def test_a_damaged_frame_costs_itself() -> None:
    """Its length tells where the next one begins."""
    first, second = map(frame, messages(DOCUMENTS))
    packed = frame(b"\x28\xb5\x2f\xfd rubbish")

    for damaged in (b"\x0a\x04abcd", b"\x12\x04abcd"):
        assert read(first + frame(damaged) + second).kinds == {"bad-protobuf": 1}
        assert read(first + frame(damaged) + second).traces == EXPECTED
    assert read(first + packed + second).kinds == {"bad-zstd": 1}
    assert read(first + second[:-1]).kinds == {"truncated-protobuf": 1}
    assert read(first + b"\x00").kinds == {"truncated-protobuf": 1}


def test_what_is_too_long_is_left_out() -> None:
    """Before it is held, and what is packed before it is unpacked any further."""
    short, long = batch(agent(1)), batch(agent(2, "x" * 5000, trace=2))
    limits = ReadLimits(max_document_bytes=3000)
    kinds: list[str] = []

    def complain(kind: str, message: str) -> None:
        assert "max_document_bytes" in message
        kinds.append(kind)

    for form, data in (
        (BinaryForm.MESSAGE, protobuf([long, short])),
        (BinaryForm.FRAMED, framed([long, short])),
        (BinaryForm.FRAMED_ZSTD, b"".join(frame(zstd.compress(message)) for message in messages([long, short]))),
    ):
        (found,) = json_lines(iter([data[:100], data[100:]]), form, limits, complain)
        assert f"{1:016x}".encode() in found
    assert kinds == ["document-too-long"] * 3


def test_spans_without_ids_are_spans() -> None:
    """What they lack is told when they are read."""
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.add(name="x")
    lines = list(json_lines(iter([bytes(request.SerializeToString())]), BinaryForm.MESSAGE, ReadLimits(), _fail))

    assert read(lines[0]).kinds == {"missing-id": 2, "missing-time": 1}


def test_values_are_those_of_otlp() -> None:
    """Bytes, numbers that are none, and empty values, too."""
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add(trace_id=b"\1" * 16, span_id=b"\2" * 8)
    span.attributes.add(key="bytes").value.bytes_value = b"\xff"
    span.attributes.add(key="double").value.double_value = float("inf")
    span.attributes.add(key="none")
    span.links.add(trace_id=b"\3" * 16, span_id=b"\4" * 8)
    (found,) = json_lines(iter([bytes(request.SerializeToString())]), BinaryForm.MESSAGE, ReadLimits(), _fail)
    ((written,),) = [
        scope["spans"] for resource in json.loads(found)["resourceSpans"] for scope in resource["scopeSpans"]
    ]

    assert written["links"][0]["spanId"] == "04" * 8
    assert plain_map([pair for pair in written["attributes"] if pair.get("value")]) == {
        "bytes": "/w==",
        "double": "Infinity",
    }
    assert read(found).traces[0].spans[0].attributes == {"bytes": "/w==", "double": "Infinity", "none": None}


def test_zstd_frames_need_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is what to type."""
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.delattr("backports.zstd", raising=False)

    with pytest.raises(MissingExtraError, match=r"pip install 'pixie-otel\[zstd\]'"):
        read(zstd_framed(DOCUMENTS))


def test_lines_are_lines() -> None:
    """A message of JSON over many lines becomes one."""
    data = frame(zstd.compress(json.dumps(DOCUMENTS[0], indent=1).encode()))
    (found,) = json_lines(iter([data]), BinaryForm.FRAMED_ZSTD, ReadLimits(), _fail)

    assert found.count(b"\n") == 1
    assert read(found).traces == read(line(agent(1), chat(2, parent=1))).traces
