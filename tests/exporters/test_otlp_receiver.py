"""The receiver of OTLP over HTTP, asked by OpenTelemetry's own exporters and by hand."""

from __future__ import annotations

import base64
import json
import os
import socket
import stat
import sys
import threading
from pathlib import Path

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Link
from otlp_lines import agent, batch, chat, span
from receiver_requests import connect, lines, post, with_base64

from pixie_otel.errors import ConfigError
from pixie_otel.exporters.otlp_receiver import OtlpReceiver, ReceiverCounts
from pixie_otel.exporters.otlp_requests import JSON, PROTOBUF, RefusedRequest
from pixie_otel.traces.reader import TraceReader, read_traces

KEY = "sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8xYz1"
PLAIN = "tr0ub4dor-and-3"


def traced(exporter: OTLPSpanExporter) -> None:
    """Trace two spans, of which one links to the other."""
    provider = TracerProvider(resource=Resource({"service.name": "bot"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test", "1")
    with tracer.start_as_current_span("outer", attributes={"n": 2**62, "x": 0.5, "b": True}) as outer:
        link = Link(outer.get_span_context(), {"why": "test"})
        with tracer.start_as_current_span("inner", links=[link], attributes={"texts": ["ä", "☃"]}) as inner:
            inner.add_event("seen", {"k": "v"})
    provider.shutdown()


class TestExporters:
    """OpenTelemetry's own exporters."""

    @pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip, Compression.Deflate])
    def test_protobuf_becomes_lines(self, receiver: OtlpReceiver, compression: Compression) -> None:
        """What the official exporter sends becomes a line each, with ids in hex, and reads back as what was traced."""
        traced(OTLPSpanExporter(f"{receiver.endpoint}/v1/traces", compression=compression))

        (inner,), (outer,) = (line["resourceSpans"][0]["scopeSpans"][0]["spans"] for line in lines(receiver))
        assert inner["parentSpanId"] == outer["spanId"]
        assert [(link["traceId"], link["spanId"]) for link in inner["links"]] == [(outer["traceId"], outer["spanId"])]
        assert outer["attributes"][0] == {"key": "n", "value": {"intValue": str(2**62)}}
        assert outer["kind"] == 1
        (trace,) = read_traces(receiver.path)
        assert [node.span.name for node in trace.roots] == ["outer"]
        assert trace.roots[0].find("inner")[0].span.attributes["texts"] == ["ä", "☃"]
        counts = receiver.counts()
        assert (counts.requests, counts.spans, counts.traces, counts.refused) == (2, 2, 1, {})
        assert counts.bytes_written == receiver.path.stat().st_size

    def test_log_records_become_lines(self, receiver: OtlpReceiver) -> None:
        """Log records are written too, with the ids of their spans in hex."""
        record = {
            "timeUnixNano": "1764500000000000000",
            "traceId": "AAAAAAAAAAAAAAAAAAAAAQ==",
            "spanId": "AAAAAAAAAAE=",
            "body": {"stringValue": "hello"},
        }
        document = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
        message = ParseDict(document, ExportLogsServiceRequest())

        answer = post(receiver, message.SerializeToString(), path="/v1/logs", type=PROTOBUF)

        assert (answer.status, answer.type, answer.body) == (200, PROTOBUF, b"")
        (line,) = lines(receiver)
        (written,) = line["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
        assert (written["traceId"], written["spanId"]) == (f"{1:032x}", f"{1:016x}")
        assert (receiver.counts().log_records, receiver.counts().spans) == (1, 0)

    def test_metrics_are_taken_and_not_kept(self, receiver: OtlpReceiver) -> None:
        """Metrics are answered as taken, counted and not written."""
        answers = [
            post(receiver, b"whatever", path="/v1/metrics", type=PROTOBUF),
            post(receiver, {}, path="/v1/metrics"),
        ]

        assert [(answer.status, answer.body) for answer in answers] == [(200, b""), (200, b"{}")]
        assert receiver.counts() == ReceiverCounts(requests=2, metric_requests=2)
        assert receiver.path.read_bytes() == b""


class TestCredentials:
    """What others send is cleaned like what is traced here."""

    def test_are_not_written(self, receiver: OtlpReceiver) -> None:
        """Wherever a credential stands in spans and logs, it is not written, and everything else is."""
        values = [
            {"key": "password", "value": {"stringValue": PLAIN}},
            {
                "key": "headers",
                "value": {"kvlistValue": {"values": [{"key": "x-api-key", "value": {"stringValue": PLAIN}}]}},
            },
            {
                "key": "arguments",
                "value": {"arrayValue": {"values": [{"stringValue": "--token"}, {"stringValue": KEY}]}},
            },
            {"key": "data", "value": {"bytesValue": base64.b64encode(f"api_key={PLAIN}".encode()).decode()}},
            {"key": "pin.password", "value": {"intValue": "123456"}},
            {"key": "kept", "value": {"intValue": "7"}},
        ]
        sent = batch(span(1))
        resource = sent["resourceSpans"][0]
        resource["resource"] = {"attributes": values}
        one = resource["scopeSpans"][0]["spans"][0]
        one |= {"name": f"GET /?api_key={PLAIN}", "attributes": values, "status": {"code": 2, "message": f"bad {KEY}"}}
        one["events"] = [{"name": f"used {KEY}", "attributes": values}]
        one["links"] = [{"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1", "attributes": values}]
        record = {"body": {"stringValue": f"password: {PLAIN}"}, "attributes": values}
        logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
        binary = ParseDict(logs, ExportLogsServiceRequest()).SerializeToString()

        assert post(receiver, sent).status == post(receiver, logs, path="/v1/logs").status == 200
        assert post(receiver, binary, path="/v1/logs", type=PROTOBUF).status == 200
        written = receiver.path.read_text()
        for hidden in (KEY, PLAIN, base64.b64encode(f"api_key={PLAIN}".encode()).decode(), "123456"):
            assert hidden not in written
        assert written.count('{"key":"kept","value":{"intValue":"7"}}') == 6
        assert lines(receiver)[1]["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["body"] == {
            "stringValue": "password: <redacted>"
        }


class TestJson:
    """Requests in JSON."""

    def test_is_written_as_one_line(self, receiver: OtlpReceiver) -> None:
        """A body over many lines becomes one, with all that it held."""
        document = batch(agent(1), chat(2, parent=1))
        pretty = json.dumps(document, indent=2).encode()

        answer = post(receiver, pretty, type="application/json; charset=utf-8")

        assert (answer.status, answer.type, answer.body) == (200, JSON, b"{}")
        assert lines(receiver) == [document]
        assert (receiver.counts().spans, receiver.counts().traces) == (2, 1)

    def test_reads_back_as_the_same_traces(self, receiver: OtlpReceiver, tmp_path: Path) -> None:
        """Protobuf and JSON of the same spans read back alike."""
        document = batch(agent(1), chat(2, parent=1), span(3, parent=2, error="no", kind=3))
        message = ParseDict(with_base64(document), ExportTraceServiceRequest())
        with OtlpReceiver(tmp_path / "other.jsonl", port=0) as other:
            post(receiver, document)
            post(other, message.SerializeToString(), type=PROTOBUF)

        (one,), (same,) = read_traces(receiver.path), read_traces(other.path)
        assert one.roots == same.roots

    def test_an_empty_request_is_a_request(self, receiver: OtlpReceiver) -> None:
        """A request without spans is taken, and nothing is written."""
        for body in ({}, {"resourceSpans": []}, {"resourceSpans": [{"scopeSpans": []}]}):
            assert post(receiver, body).status == 200
        assert receiver.path.read_bytes() == b""

    def test_odd_characters_stay(self, receiver: OtlpReceiver) -> None:
        """Line separators stay within the line, and a lone surrogate becomes U+FFFD."""
        post(receiver, batch(span(1, name="a\u2028b\nc\x00\ud800")))

        (line,) = lines(receiver)
        (written,) = line["resourceSpans"][0]["scopeSpans"][0]["spans"]
        assert written["name"].rstrip("\ufffd") == "a\u2028b\nc\x00"
        assert written["name"] != "a\u2028b\nc\x00"

    def test_what_is_no_span_is_not_taken(self, receiver: OtlpReceiver, said: list[str]) -> None:
        """What is no object within a request is rejected by number, and the rest is written."""
        document = batch(agent(1))
        document["resourceSpans"][0]["scopeSpans"][0]["spans"].append("no span")
        document["resourceSpans"].append(7)

        answer = post(receiver, document)

        assert json.loads(answer.body) == {
            "partialSuccess": {"rejectedSpans": "2", "errorMessage": "2 spans are no objects"}
        }
        assert lines(receiver) == [batch(agent(1))]
        assert (receiver.counts().spans, receiver.counts().rejected) == (1, 2)
        assert said == ["2 spans are no objects"]

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            (b"{", "invalid-json"),
            (b"\xff\xfe\xfa", "invalid-json"),
            (b"[" * 100_000, "invalid-json"),
            (b'{"resourceSpans": [NaN]}', "invalid-json"),
            (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"x": 1e999}]}]}]}', "invalid-json"),
            (b"[]", "not-otlp"),
            (b'{"resource_spans": []}', "not-otlp"),
            (b'{"resourceSpans": {}}', "not-otlp"),
            (b'{"resourceLogs": []}', "not-otlp"),
        ],
    )
    def test_what_is_no_request_is_refused(self, receiver: OtlpReceiver, body: bytes, reason: str) -> None:
        """What is no OTLP is answered with 400 and a status that says why, and nothing is written."""
        answer = post(receiver, body)

        assert (answer.status, answer.type) == (400, JSON)
        assert json.loads(answer.body)["code"] == 3
        assert receiver.counts().refused == {reason: 1}
        assert receiver.path.read_bytes() == b""


class TestFile:
    """The file that it writes."""

    def test_is_for_its_owner_alone(self, tmp_path: Path) -> None:
        """The file is made with its folder, and nobody else may read it."""
        with OtlpReceiver(tmp_path / "new" / "out.jsonl", port=0) as receiver:
            post(receiver, batch(agent(1)))

        if sys.platform != "win32":
            assert stat.S_IMODE(receiver.path.stat().st_mode) == 0o600
        assert len(lines(receiver)) == 1

    @pytest.mark.parametrize("there", ['{"resourceSpans":[]}\n', '{"resourceSp'])
    def test_is_added_to(self, tmp_path: Path, there: str) -> None:
        """What is there stays, and a line that was torn before does not swallow the first one of ours."""
        path = tmp_path / "out.jsonl"
        path.write_text(there, encoding="utf-8")
        with OtlpReceiver(path, port=0) as receiver:
            post(receiver, batch(agent(1)))
            post(receiver, batch(agent(2, trace=2)))

        assert path.read_text(encoding="utf-8").startswith(there)
        reader = TraceReader(path)
        assert len(list(reader)) == 2

    def test_a_full_disk_asks_the_sender_to_wait(
        self, receiver: OtlpReceiver, said: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where it cannot write, it answers 503 until it can, says so once each time, and leaves no part of a line."""
        write = os.write
        full = True

        def half(number: int, data: bytes) -> int:
            if full and data.startswith(b'{"resourceSpans"'):
                return write(number, data[: len(data) // 2])
            if full and data.endswith(b"}]}]}]}\n"):
                raise OSError(28, "No space left on device")
            return write(number, data)

        monkeypatch.setattr(os, "write", half)
        answers = [post(receiver, batch(agent(1))) for _ in range(3)]
        full = False
        assert post(receiver, batch(agent(1))).status == 200

        assert [(answer.status, answer.headers["Retry-After"]) for answer in answers] == [(503, "5")] * 3
        assert json.loads(answers[0].body)["code"] == 14
        assert lines(receiver) == [batch(agent(1))]
        assert receiver.counts().refused == {"unwritable": 3}
        assert len(said) == 1
        assert "No space left on device" in said[0]

    def test_a_fault_of_ours_is_answered(self, receiver: OtlpReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
        """A bug costs one request, which is counted, and no connection."""

        def broken(*_: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(receiver, "take", broken)

        assert post(receiver, batch(agent(1))).status == 500
        assert receiver.counts().refused == {"internal-error": 1}

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no open file")
    def test_a_file_that_went_away_is_said(self, receiver: OtlpReceiver, said: list[str]) -> None:
        """A file that was deleted meanwhile is told of at the end."""
        receiver.path.unlink()
        receiver.close()

        assert "moved or deleted" in said[0]

    def test_a_file_that_cannot_be_is_an_error(self, tmp_path: Path) -> None:
        """A folder in the file's place is an error before anything is listened on."""
        with pytest.raises(ConfigError, match="cannot be written: Is a directory"), OtlpReceiver(tmp_path, port=0):
            pass


class TestAddress:
    """Where it listens."""

    def test_a_port_in_use_is_an_error(self, receiver: OtlpReceiver, tmp_path: Path) -> None:
        """A port that another one has is named."""
        port = int(receiver.endpoint.rpartition(":")[2])

        with (
            pytest.raises(ConfigError, match=f"port {port} of 127.0.0.1 cannot be listened on"),
            OtlpReceiver(tmp_path / "other.jsonl", port=port),
        ):
            pass

    @pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("no such host", 0), ("203.0.113.1", 0)])
    def test_an_address_that_cannot_be_is_an_error(self, tmp_path: Path, host: str, port: int) -> None:
        """So is an address that this machine has not."""
        with (
            pytest.raises(ConfigError, match="cannot be listened on"),
            OtlpReceiver(tmp_path / "out.jsonl", host=host, port=port),
        ):
            pass

    @pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
    def test_listens_on_ipv6(self, tmp_path: Path) -> None:
        """An address of IPv6 stands in brackets in the endpoint."""
        try:
            receiver = OtlpReceiver(tmp_path / "out.jsonl", host="::1", port=0).start()
        except ConfigError:
            pytest.skip("this machine has no address of IPv6")
        with receiver:
            assert receiver.endpoint.startswith("http://[::1]:")
            assert post(receiver, batch(agent(1))).status == 200

    def test_ends_what_it_began(self, tmp_path: Path) -> None:
        """After its end there is no thread of it, and ending it again does nothing."""
        receiver = OtlpReceiver(tmp_path / "out.jsonl", port=0).start()
        idle = connect(receiver)
        idle.request("POST", "/v1/traces", b"{}", {"Content-Type": JSON})
        idle.getresponse().read()
        receiver.close()
        receiver.close()
        idle.close()

        assert not [thread for thread in threading.enumerate() if thread.name.startswith("pixie-otel-http")]


def test_a_refusal_says_why() -> None:
    """A refused request has a status, a reason to count it by, and a message."""
    refused = RefusedRequest(415, "unsupported-type", "no")

    assert (refused.status, refused.reason, refused.code, str(refused)) == (415, "unsupported-type", 3, "no")
