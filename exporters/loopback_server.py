"""A small HTTP server on this machine: it answers on threads of its own, and ends in order.

What receives OTLP and what stands in for a model in tests are both built on it.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import sys
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from typing import Any, Final

__all__ = ["LoopbackServer", "QuietHandler", "unproxied"]

_IDLE_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.05
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_NEVER_PROXIED: Final = "127.0.0.1,localhost,::1"


def unproxied(environment: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that keep clients from asking a proxy for what is on this machine.

    Args:
        environment: The environment that the clients would have.
    """
    if not any(environment.get(name) or environment.get(name.lower()) for name in _PROXIES):
        return {}
    return {name: ",".join(filter(None, [environment.get(name), _NEVER_PROXIED])) for name in ("NO_PROXY", "no_proxy")}


class QuietHandler(BaseHTTPRequestHandler):
    """Keeps connections open between requests, and writes nothing to stderr."""

    protocol_version = "HTTP/1.1"
    server_version = "pixie-otel"
    sys_version = ""
    # A client that says nothing for so long has gone.
    timeout = _IDLE_SECONDS
    # An answer is short, and its reader waits for it.
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def send_body(self, status: int, content_type: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send an answer as a whole.

        Args:
            status: The HTTP status.
            content_type: What the body is.
            body: The body.
            headers: More headers.
        """
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class LoopbackServer(ThreadingHTTPServer):
    """An HTTP server whose threads and connections end with it.

    Args:
        host: The address to listen on.
        port: The port; 0 takes any free one.
        handler: What answers.

    Raises:
        OSError: The address or the port cannot be had.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    # On Windows this would let a second server take the same port.
    allow_reuse_address = sys.platform != "win32"

    def __init__(self, host: str, port: int, handler: type[QuietHandler]) -> None:
        if ":" in host:
            self.address_family = socket.AF_INET6
        self.ending = threading.Event()
        self._open: dict[Any, threading.Thread] = {}
        self._lock = threading.Lock()
        self._accepting: threading.Thread | None = None
        super().__init__((host, port), handler)

    def server_bind(self) -> None:
        """Take the address, without asking the network for this machine's full name."""
        socketserver.TCPServer.server_bind(self)
        self.server_name = str(self.server_address[0])
        self.server_port = int(self.server_address[1])

    def start(self) -> None:
        """Begin to answer, on a thread that does not keep the process alive."""
        self._accepting = threading.Thread(
            target=self.serve_forever, args=(_POLL_SECONDS,), name="pixie-otel-http", daemon=True
        )
        self._accepting.start()

    def end(self, timeout: float = 5.0) -> None:
        """Take no more requests, let those that are here be answered, and close every connection.

        Args:
            timeout: How many seconds to wait for them.
        """
        self.ending.set()
        if self._accepting is not None:
            self.shutdown()
            self._accepting.join()
        self.server_close()
        # Who waits for the next request sees the end now; who answers one can still do so.
        deadline = monotonic() + timeout
        for how in (socket.SHUT_RD, socket.SHUT_RDWR):
            with self._lock:
                left = dict(self._open)
            for connection in left:
                with contextlib.suppress(OSError):
                    connection.shutdown(how)
            for thread in left.values():
                thread.join(max(deadline - monotonic(), 0.1))

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in the base class
        """Answer a connection on a thread of its own."""
        thread = threading.Thread(
            target=self.process_request_thread,
            args=(request, client_address),
            name="pixie-otel-http-client",
            daemon=True,
        )
        with self._lock:
            self._open[request] = thread
        thread.start()

    def close_request(self, request: Any) -> None:  # noqa: ANN401 - as in the base class
        """Close a connection."""
        super().close_request(request)
        with self._lock:
            self._open.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401, ARG002 - as in the base class
        """Tell of a fault of our own; that a client has gone is none."""
        error = sys.exception()
        if error is not None and not isinstance(error, (ConnectionError, TimeoutError)):
            from pixie_otel.diagnostics import internal_error

            internal_error("answering a request", error)
