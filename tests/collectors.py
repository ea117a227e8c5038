"""A stand-in for an OpenTelemetry collector on this machine: it keeps what official OTLP exporters send it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from pixie_otel.exporters.loopback_server import LoopbackServer, QuietHandler

__all__ = ["Collected", "collector"]


@dataclass
class Collected:
    """What was sent, in the order in which it came."""

    endpoint: str = ""
    """Where the collector listens; a base URL."""

    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)
    answering: threading.Event = field(default_factory=threading.Event)
    """Requests are answered while it is set."""

    @property
    def spans(self) -> list[Span]:
        """The spans of all requests."""
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def names(self) -> list[str]:
        """The names of the spans."""
        return [span.name for span in self.spans]

    @property
    def services(self) -> set[str]:
        """The names of the services that sent them."""
        return {
            attribute.value.string_value
            for request in self.requests
            for resource in request.resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
        }


@contextmanager
def collector() -> Iterator[Collected]:
    """Listen on a free port of this machine for OTLP over HTTP, as protobuf."""
    collected = Collected()
    collected.answering.set()

    class Handler(QuietHandler):
        def do_POST(self) -> None:  # noqa: N802 - so the server calls it
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collected.paths.append(self.path)
            collected.headers.append({name.lower(): value for name, value in self.headers.items()})
            collected.requests.append(ExportTraceServiceRequest.FromString(body))
            collected.answering.wait(60)
            self.send_body(200, "application/x-protobuf", ExportTraceServiceResponse().SerializeToString())

    server = LoopbackServer("127.0.0.1", 0, Handler)
    server.start()
    collected.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield collected
    finally:
        collected.answering.set()
        server.end()
