"""Requests to a receiver of OTLP, as clients send them, and what it made of them."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Iterator
from typing import Any

from pixie_otel.exporters.otlp_receiver import OtlpReceiver
from pixie_otel.exporters.otlp_requests import JSON

__all__ = ["Answer", "connect", "lines", "post", "with_base64"]


class Answer:
    """What the receiver answers."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.type = response.headers.get_content_type()
        self.body = response.read()


def connect(receiver: OtlpReceiver) -> http.client.HTTPConnection:
    """Connect to a receiver."""
    return http.client.HTTPConnection(receiver.endpoint.removeprefix("http://"), timeout=30)


def post(receiver: OtlpReceiver, body: Any, *, path: str = "/v1/traces", type: str = JSON, **headers: str) -> Answer:
    """Send one request."""
    data = body if isinstance(body, (bytes, Iterator)) else json.dumps(body).encode()
    connection = connect(receiver)
    try:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", path, data, {"Content-Type": type, **names})
        return Answer(connection.getresponse())
    finally:
        connection.close()


def lines(receiver: OtlpReceiver) -> list[dict[str, Any]]:
    """Read what was written."""
    data = receiver.path.read_bytes()
    assert not data or data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def with_base64(document: Any) -> Any:
    """Write ids as protobuf's own JSON has them."""
    if isinstance(document, list):
        return [with_base64(item) for item in document]
    if isinstance(document, dict):
        return {
            key: base64.b64encode(bytes.fromhex(value)).decode() if key.endswith("Id") else with_base64(value)
            for key, value in document.items()
        }
    return document
