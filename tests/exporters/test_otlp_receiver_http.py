"""The receiver of OTLP as a server of HTTP: bodies of every kind, and clients of every kind."""

from __future__ import annotations

import gzip
import json
import socket
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from google.protobuf.json_format import ParseDict
from google.rpc.status_pb2 import Status
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from otlp_lines import agent, batch, span
from receiver_requests import Answer, connect, lines, post, with_base64

from pixie_otel.exporters.otlp_receiver import OtlpReceiver
from pixie_otel.exporters.otlp_requests import JSON, PROTOBUF, Signal, received


class TestBodies:
    """How bodies are packed and cut."""

    @pytest.mark.parametrize(
        ("encoding", "pack"),
        [
            ("gzip", gzip.compress),
            ("GZIP", gzip.compress),
            ("deflate", zlib.compress),
            ("deflate", lambda data: zlib.compress(data)[2:-4]),
            ("identity", bytes),
        ],
    )
    def test_packed_bodies_are_unpacked(
        self, receiver: OtlpReceiver, encoding: str, pack: Callable[[bytes], bytes]
    ) -> None:
        """Gzip and both forms of deflate are understood."""
        data = pack(json.dumps(batch(agent(1))).encode())

        assert post(receiver, data, Content_Encoding=encoding).status == 200
        assert lines(receiver) == [batch(agent(1))]

    @pytest.mark.parametrize(
        ("encoding", "body", "status"),
        [
            ("gzip", b"no gzip", 400),
            ("gzip", gzip.compress(b"{}" * 100)[:-12], 400),
            ("deflate", zlib.compress(b"{}" * 100)[:-6], 400),
            ("deflate", b"no deflate", 400),
            ("br", b"{}", 415),
            ("gzip, gzip", b"{}", 415),
        ],
    )
    def test_damaged_bodies_are_refused(self, receiver: OtlpReceiver, encoding: str, body: bytes, status: int) -> None:
        """What cannot be unpacked is refused."""
        assert post(receiver, body, Content_Encoding=encoding).status == status

    @pytest.mark.parametrize("pack", [gzip.compress, zlib.compress], ids=["gzip", "deflate"])
    def test_a_bomb_is_not_unpacked(self, tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
        """What unpacks to more than the limit is refused with 413."""
        with OtlpReceiver(tmp_path / "out.jsonl", port=0, max_body_bytes=1000) as receiver:
            bomb = pack(b" " * 100_000)
            assert len(bomb) < 1000
            encoding = "gzip" if pack is gzip.compress else "deflate"
            assert post(receiver, bomb, Content_Encoding=encoding).status == 413
        assert receiver.counts().refused == {"too-large": 1}

    def test_large_bodies_are_refused(self, tmp_path: Path) -> None:
        """A body over the limit is answered with 413, also when its length is not known before."""
        with OtlpReceiver(tmp_path / "out.jsonl", port=0, max_body_bytes=1000) as receiver:
            assert post(receiver, b" " * 5_000_000).status == 413
            assert post(receiver, iter([b" " * 600, b" " * 600])).status == 413
        assert receiver.counts().refused == {"too-large": 2}

    def test_bodies_may_come_in_chunks(self, receiver: OtlpReceiver) -> None:
        """A sender that does not know the length, as Node's, is understood, on a connection that stays."""
        data = json.dumps(batch(agent(1))).encode()
        connection = connect(receiver)
        for _ in range(2):
            pieces = iter([data[:100], data[100:]])
            connection.request("POST", "/v1/traces", pieces, {"Content-Type": JSON}, encode_chunked=True)
            assert connection.getresponse().read() == b"{}"
        connection.close()

        assert lines(receiver) == [batch(agent(1))] * 2

    def test_long_lines_are_split(self) -> None:
        """What is longer than a line that is read becomes several, and a span that is too long alone is rejected."""
        spans = [agent(number, "x" * 100 * number) for number in range(1, 9)]
        body = json.dumps(
            {"resourceSpans": batch(*spans)["resourceSpans"] + batch(agent(9), service="b")["resourceSpans"]}
        )

        came = received(Signal.TRACES, JSON, body.encode(), 1300)

        written = came.lines.splitlines()
        assert max(map(len, written)) < 1300
        names = [
            item["spanId"]
            for line in written
            for resource in json.loads(line)["resourceSpans"]
            for scope in resource["scopeSpans"]
            for item in scope["spans"]
        ]
        assert len(names) == came.items < 9
        assert came.items + came.rejected == 9
        assert names == sorted(names)
        assert "longer than 1300 bytes" in came.reason

    @settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        data=st.binary(max_size=200), type=st.sampled_from([JSON, PROTOBUF]), path=st.sampled_from(["traces", "logs"])
    )
    def test_any_bytes_are_answered(self, receiver: OtlpReceiver, data: bytes, type: str, path: str) -> None:
        """Whatever comes is taken or refused, and what was written stays lines of JSON."""
        answer = post(receiver, data, path=f"/v1/{path}", type=type)

        assert answer.status in {200, 400}
        lines(receiver)


class TestHttp:
    """What is wrong with the request itself."""

    def test_unknown_paths_are_told_the_right_ones(self, receiver: OtlpReceiver, said: list[str]) -> None:
        """A path that OTLP has not is answered with 404 and told what to set, once."""
        for path in ("/", "/v1/profiles", "/v1/traces/x"):
            answer = post(receiver, {}, path=path)
            assert (answer.status, json.loads(answer.body)["code"]) == (404, 5)
        assert post(receiver, {}, path="/v1/traces/?a=b").status == 200

        (message,) = said
        assert f"OTEL_EXPORTER_OTLP_ENDPOINT={receiver.endpoint}" in message
        assert receiver.counts().refused == {"unknown-path": 3}

    def test_unknown_types_are_refused(self, receiver: OtlpReceiver) -> None:
        """Only protobuf and JSON are taken: a page in a browser, which can send text, is not."""
        answer = post(receiver, {}, type="text/plain")

        assert (answer.status, answer.type) == (415, JSON)
        assert "text/plain" in json.loads(answer.body)["message"]

    def test_protobuf_is_refused_in_protobuf(self, receiver: OtlpReceiver) -> None:
        """The status comes in the form of the request."""
        answer = post(receiver, b"\xff\xff", type=PROTOBUF)

        status = Status.FromString(answer.body)
        assert (answer.status, answer.type, status.code) == (400, PROTOBUF, 3)
        assert "ExportTraceServiceRequest" in status.message

    def test_rejections_come_in_protobuf(self, receiver: OtlpReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
        """A part that was not taken is told in the form of the request."""
        monkeypatch.setattr("pixie_otel.exporters.otlp_receiver.ReadLimits", _Short)
        message = ParseDict(with_base64(batch(agent(1), agent(2, "x" * 1000))), ExportTraceServiceRequest())

        answer = post(receiver, message.SerializeToString(), type=PROTOBUF)

        partial = ExportTraceServiceResponse.FromString(answer.body).partial_success
        assert (partial.rejected_spans, partial.error_message) == (1, "1 spans are longer than 1000 bytes")
        assert receiver.counts().spans == 1

    def test_only_post_is_answered(self, receiver: OtlpReceiver) -> None:
        """Other methods are refused and counted."""
        connection = connect(receiver)
        connection.request("GET", "/v1/traces")
        assert connection.getresponse().status == 501
        connection.close()
        assert receiver.counts().refused == {"unknown-method": 1}

    @pytest.mark.parametrize(
        ("sent", "reason", "hint"),
        [
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "http2", "http/protobuf"),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", "invalid-http", "https://"),
            (b"POST /v1/traces HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "invalid-http", "'-1'"),
            (b"POST /v1/traces HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "invalid-http", "chunks"),
        ],
    )
    def test_other_protocols_are_told(
        self, receiver: OtlpReceiver, said: list[str], sent: bytes, reason: str, hint: str
    ) -> None:
        """gRPC, TLS and broken HTTP are refused, with a hint at what to set."""
        with socket.create_connection(("127.0.0.1", int(receiver.endpoint.rpartition(":")[2])), timeout=30) as client:
            client.sendall(sent)
            while client.recv(1024):
                pass

        assert receiver.counts().refused == {reason: 1}
        assert hint in said[0]

    def test_a_body_that_ends_too_early_is_not_written(self, receiver: OtlpReceiver) -> None:
        """A sender that dies within a request leaves nothing behind."""
        with socket.create_connection(("127.0.0.1", int(receiver.endpoint.rpartition(":")[2])), timeout=30) as client:
            client.sendall(b"POST /v1/traces HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
            client.shutdown(socket.SHUT_WR)
            assert client.recv(12) == b"HTTP/1.1 400"

    @pytest.mark.parametrize(
        "origin", ["http://localhost:3000", "https://app.localhost", "http://127.0.0.1:8080", "http://[::1]:5173"]
    )
    def test_pages_of_this_machine_may_send(self, receiver: OtlpReceiver, origin: str) -> None:
        """A browser is told that a page of this machine may send, and may read the answer."""
        connection = connect(receiver)
        connection.request("OPTIONS", "/v1/traces", headers={"Origin": origin})
        asked = Answer(connection.getresponse())
        connection.close()
        sent = post(receiver, batch(span(1)), Origin=origin)

        assert (asked.status, asked.body, sent.status, len(lines(receiver))) == (200, b"", 200, 1)
        assert "Content-Type" in asked.headers["Access-Control-Allow-Headers"]
        assert asked.headers["Access-Control-Allow-Origin"] == origin
        assert sent.headers["Access-Control-Allow-Origin"] == origin

    @pytest.mark.parametrize(
        "origin", ["https://example.com", "null", "http://localhost.example.com", "http://127.0.0.1.example.com"]
    )
    def test_pages_of_others_may_not(self, receiver: OtlpReceiver, said: list[str], origin: str) -> None:
        """What any other page sends is not written, whatever name it gave this machine to be allowed to send."""
        connection = connect(receiver)
        connection.request("OPTIONS", "/v1/traces", headers={"Origin": origin})
        asked = Answer(connection.getresponse())
        connection.close()
        sent = post(receiver, batch(span(1)), Origin=origin, Host=origin.rpartition("/")[2])

        assert "Access-Control-Allow-Origin" not in asked.headers
        assert (sent.status, lines(receiver), receiver.counts().refused) == (403, [], {"foreign-origin": 1})
        assert origin in said[0]

    def test_many_may_send_at_the_same_time(self, receiver: OtlpReceiver) -> None:
        """Requests of many senders become whole lines, one each."""
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda n: post(receiver, batch(span(n, trace=n))).status, range(1, 101)))

        assert answers == [200] * 100
        assert len(lines(receiver)) == 100
        assert (receiver.counts().spans, receiver.counts().traces) == (100, 100)


class _Short:
    max_line_bytes = 1000
