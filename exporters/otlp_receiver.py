"""A receiver of OTLP over HTTP on this machine, for applications in any language that cannot write files themselves.

Traces and logs that come, as protobuf or JSON, become lines of OTLP JSON in one file, without the credentials in them;
metrics are taken and not kept.
"""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from pixie_otel.diagnostics import internal_error, warn
from pixie_otel.errors import ConfigError
from pixie_otel.exporters.loopback_server import LoopbackServer, QuietHandler
from pixie_otel.exporters.otlp_requests import (
    JSON,
    PROTOBUF,
    Received,
    RefusedRequest,
    Signal,
    failure,
    received,
    success,
    unpacked,
)
from pixie_otel.exporters.recording_file import RecordingFile, in_words
from pixie_otel.traces.limits import ReadLimits

__all__ = ["OtlpReceiver", "ReceiverCounts"]

_MAX_BODY_BYTES: Final = 64 * 2**20
_MAX_DRAINED_BYTES: Final = 2**30
_MAX_TRACES: Final = 1_000_000
"""How many trace ids are remembered, so that a recorder that runs for weeks stays small."""

_RETRY_SECONDS: Final = "5"
_CHUNK: Final = 2**20
_PATHS: Final = {f"/v1/{signal.value}": signal for signal in Signal}
_LOCAL_ORIGIN: Final = re.compile(
    r"https?://(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?"
)
_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Encoding, Content-Type",
}
_NOT_FOUND: Final = 5
_FORBIDDEN: Final = 7
_INTERNAL: Final = 13
_UNAVAILABLE: Final = 14


@dataclass(frozen=True, slots=True)
class ReceiverCounts:
    """What came, and what became of it.

    Attributes:
        requests: Requests that came, whatever became of them.
        spans: Spans that were written.
        traces: Traces that they belong to; no more than a million are told apart.
        log_records: Log records that were written.
        metric_requests: Requests with metrics, which were taken and not kept.
        bytes_written: How much was written.
        rejected: Spans and log records that were not taken, of requests of which the rest was.
        refused: Requests that were answered with an error, by reason.
    """

    requests: int = 0
    spans: int = 0
    traces: int = 0
    log_records: int = 0
    metric_requests: int = 0
    bytes_written: int = 0
    rejected: int = 0
    refused: Mapping[str, int] = field(default_factory=dict[str, int])


class OtlpReceiver:
    """Writes what is sent to it to a file, a line for each request.

    with OtlpReceiver("traces.jsonl", port=0) as receiver:
        run_the_application(OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint)
    print(receiver.counts().spans)

    Args:
        path: The file; what comes is added to its end.
        host: The address to listen on.
        port: The port; 0 takes any free one.
        max_body_bytes: How large a request's body may be, as it comes and unpacked.
        say: Told in words of what goes wrong, once for each kind; it is logged where not given.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        host: str = "127.0.0.1",
        port: int = 4318,
        max_body_bytes: int = _MAX_BODY_BYTES,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.path = Path(path)
        self.max_body_bytes = max_body_bytes
        self._host = host
        self._port = port
        self._say = say
        self._said: set[str] = set()
        self._file: RecordingFile | None = None
        self._server: LoopbackServer | None = None
        self._lock = threading.Lock()
        self._numbers: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._traces: set[str] = set()

    @property
    def endpoint(self) -> str:
        """What ``OTEL_EXPORTER_OTLP_ENDPOINT`` is to be set to."""
        port = self._port if self._server is None else self._server.server_port
        return f"http://[{self._host}]:{port}" if ":" in self._host else f"http://{self._host}:{port}"

    def counts(self) -> ReceiverCounts:
        """Say what came until now."""
        with self._lock:
            return ReceiverCounts(traces=len(self._traces), refused=dict(self._refused), **self._numbers)

    def start(self) -> Self:
        """Begin to listen; `with` does this too.

        Raises:
            ConfigError: The file cannot be written, or the address or the port cannot be had.
        """
        if self._server is not None:
            return self
        # A class of its own, so that handlers find their receiver.
        handler = type("_ReceiverHandler", (_Handler,), {"receiver": self})
        try:
            server = LoopbackServer(self._host, self._port, handler)
        except (OSError, OverflowError) as error:
            raise ConfigError(
                f"port {self._port} of {self._host} cannot be listened on: {in_words(error)}; choose another one with "
                "--port, where 0 is any free one"
            ) from error
        try:
            self._file = RecordingFile(self.path)
        except ConfigError:
            server.server_close()
            raise
        self._server = server
        server.start()
        return self

    def close(self) -> None:
        """Take no more requests, finish those that are here, and close the file."""
        if self._server is not None:
            self._server.end()
        file, self._file = self._file, None
        if file is not None:
            if not file.is_where_it_was():
                self.tell("moved", f"{self.path} was moved or deleted meanwhile; what was recorded went with it")
            file.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def take(self, signal: Signal, came: Received) -> None:
        """Write what a request held, and count it.

        Args:
            signal: Traces or logs.
            came: What it held.

        Raises:
            OSError: It cannot be written; nothing of it was.
        """
        with self._lock:
            if self._file is None:
                raise OSError("the recorder has ended")
            if came.lines:
                self._file.append(came.lines)
            self._said.discard("unwritable")
            self._numbers["spans" if signal is Signal.TRACES else "log_records"] += came.items
            self._numbers["bytes_written"] += len(came.lines)
            self._numbers["rejected"] += came.rejected
            for trace_id in came.trace_ids:
                if len(self._traces) < _MAX_TRACES:
                    self._traces.add(trace_id)
        if came.rejected:
            self.tell("rejected", came.reason)

    def note(self, what: str) -> None:
        """Count something.

        Args:
            what: A name of `ReceiverCounts`.
        """
        with self._lock:
            self._numbers[what] += 1

    def refuse(self, refused: RefusedRequest) -> None:
        """Count a request that was refused, and tell of the first of its kind.

        Args:
            refused: Why it was.
        """
        with self._lock:
            self._refused[refused.reason] += 1
        self.tell(refused.reason, f"A request was refused: {refused}")

    def tell(self, kind: str, message: str) -> None:
        """Say something, unless it has been said.

        Args:
            kind: What it is about.
            message: What to say.
        """
        with self._lock:
            if kind in self._said:
                return
            self._said.add(kind)
        if self._say is None:
            warn(f"receiver:{kind}", message)
        else:
            self._say(message)


class _Handler(QuietHandler):
    receiver: OtlpReceiver

    def do_POST(self) -> None:  # noqa: N802 - the base class calls it so
        """Take a request."""
        self.receiver.note("requests")
        content_type = self.headers.get_content_type()
        try:
            body = self._body()
            self._check_origin()
            signal = self._signal(content_type)
            rejected, reason = self._take(signal, content_type, body)
            self.send_body(200, content_type, success(signal, content_type, rejected, reason))
        except RefusedRequest as refused:
            self.receiver.refuse(refused)
            headers = {"Retry-After": _RETRY_SECONDS} if refused.status == 503 else {}
            form = PROTOBUF if content_type == PROTOBUF else JSON
            self.send_body(refused.status, form, failure(form, refused.code, str(refused)), headers)

    def do_OPTIONS(self) -> None:  # noqa: N802 - likewise
        """Answer a browser that asks whether a page may send: `end_headers` adds that one of this machine may."""
        self.send_body(200, JSON, b"", _PREFLIGHT)

    def end_headers(self) -> None:
        """Let a page of this machine read the answer."""
        origin = self.headers.get("Origin") if hasattr(self, "headers") else None
        if origin is not None and _LOCAL_ORIGIN.fullmatch(origin) is not None:
            self.send_header("Access-Control-Allow-Origin", origin)
            # `sendBeacon` asks for it.
            self.send_header("Access-Control-Allow-Credentials", "true")
            self.send_header("Vary", "Origin")
        super().end_headers()

    def _check_origin(self) -> None:
        # Browsers say where a page comes from, also if its name was made to lead to this machine.
        origin = self.headers.get("Origin")
        if origin is not None and _LOCAL_ORIGIN.fullmatch(origin) is None:
            said = f"a web page of {origin[:200]!r} may not write here, only pages of this machine may"
            raise RefusedRequest(403, "foreign-origin", said, _FORBIDDEN)

    def _signal(self, content_type: str) -> Signal:
        signal = _PATHS.get(self.path.partition("?")[0].rstrip("/"))
        if signal is None:
            said = (
                f"there is no {self.path!r} here, only {', '.join(_PATHS)}; set "
                f"OTEL_EXPORTER_OTLP_ENDPOINT={self.receiver.endpoint}, to which the SDK adds them"
            )
            raise RefusedRequest(404, "unknown-path", said, _NOT_FOUND)
        if content_type not in {JSON, PROTOBUF}:
            said = f"Content-Type {content_type!r} is neither {PROTOBUF} nor {JSON}"
            raise RefusedRequest(415, "unsupported-type", said)
        return signal

    def _take(self, signal: Signal, content_type: str, body: bytes) -> tuple[int, str]:
        encoding = (self.headers.get("Content-Encoding") or "").strip().lower()
        plain = unpacked(body, encoding, self.receiver.max_body_bytes)
        if signal is Signal.METRICS:
            self.receiver.note("metric_requests")
            return 0, ""
        try:
            came = received(signal, content_type, plain, ReadLimits().max_line_bytes)
            self.receiver.take(signal, came)
        except OSError as error:
            raise RefusedRequest(
                503,
                "unwritable",
                f"{self.receiver.path} cannot be written: {in_words(error)}; the sender is asked to try again",
                _UNAVAILABLE,
            ) from error
        except RefusedRequest:
            raise
        except Exception as error:
            internal_error("recording a request", error)
            raise RefusedRequest(
                500, "internal-error", f"pixie-otel failed: {type(error).__name__}", _INTERNAL
            ) from error
        return came.rejected, came.reason

    def _body(self) -> bytes:
        if "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            return self._chunks()
        given = self.headers.get("Content-Length") or "0"
        if not (given.isascii() and given.isdigit()):
            self.close_connection = True
            raise RefusedRequest(400, "invalid-http", f"Content-Length {given!r} is no number")
        length = int(given)
        if length > self.receiver.max_body_bytes:
            self._drain(length)
            raise self._too_large()
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True
            raise RefusedRequest(400, "invalid-http", "the body ended too early")
        return body

    def _chunks(self) -> bytes:
        """Read a body whose sender does not know its length, as Node's, which packs while it sends."""
        body = bytearray()
        try:
            while size := int(self.rfile.readline(1024).partition(b";")[0], 16):
                if not 0 < size <= self.receiver.max_body_bytes - len(body):
                    self.close_connection = True
                    raise self._too_large()
                body += self.rfile.read(size)
                self.rfile.readline(1024)
        except ValueError as error:
            self.close_connection = True
            raise RefusedRequest(400, "invalid-http", "the body's chunks are broken") from error
        for line in iter(lambda: self.rfile.readline(1024), b""):
            if not line.strip():
                break
        return bytes(body)

    def _drain(self, length: int) -> None:
        """Read what is not wanted, as a client that is still sending would not see the answer."""
        self.close_connection = True
        left = min(length, _MAX_DRAINED_BYTES)
        while left > 0 and (piece := self.rfile.read(min(left, _CHUNK))):
            left -= len(piece)

    def _too_large(self) -> RefusedRequest:
        most = self.receiver.max_body_bytes
        return RefusedRequest(413, "too-large", f"the body is larger than {most} bytes; export smaller batches")

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no request that this server understands."""
        self.receiver.note("requests")
        if code == 505:
            said = (
                "a client spoke HTTP/2, as gRPC does; set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf where it runs, or "
                "use the SDK's OTLP exporter for HTTP"
            )
            self.receiver.refuse(RefusedRequest(code, "http2", said))
        elif code == 501:
            said = f"only POST is taken, and this was {self.command}"
            self.receiver.refuse(RefusedRequest(code, "unknown-method", said))
        else:
            said = "what came was no HTTP; the endpoint begins with http://, and not with https://"
            self.receiver.refuse(RefusedRequest(code, "invalid-http", said))
        super().send_error(code, message, explain)
