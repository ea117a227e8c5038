"""A server on this machine that speaks OpenAI's API and answers what a test tells it to."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Final, Self, cast
from urllib.parse import unquote

from pixie_otel.exporters.loopback_server import LoopbackServer, QuietHandler, unproxied
from pixie_otel.testing.openai_answers import (
    Body,
    Embedder,
    chat_completion,
    chat_events,
    embeddings,
    model,
    response,
    response_events,
)
from pixie_otel.testing.replies import CutReply, ErrorReply, RawReply, Reply, Script, StubRequest, as_reply

__all__ = ["OpenAIStub"]

_MODELS: Final = ("gpt-4o-mini", "text-embedding-3-small")
_CARRY_KEYS: Final = {"authorization", "api-key", "x-api-key", "cookie", "proxy-authorization"}
_WAIT_SECONDS: Final = 0.02


class OpenAIStub:
    """Stands in for OpenAI: real HTTP on 127.0.0.1, answers from a script, no key and no network.

    with OpenAIStub(["Paris.", ErrorReply(429, retry_after=1)]) as stub, stub.activate():
        openai.OpenAI().chat.completions.create(...)
    assert stub.requests[0].body["model"] == "gpt-4o-mini"

    It answers chat completions and responses (also as streams), embeddings and the list of models. Requests that come
    at the same time take replies in the order in which they arrive; where that must not matter, give a callable.

    Args:
        replies: What is answered to chat completions and responses: one reply, a list of which the last is repeated,
            or what makes a reply of the request's body. A text stands for a reply, and an object for its JSON.
        embed: What makes a vector of a text; where not given, texts that share words have close vectors. An
            `ErrorReply` or a `RawReply` answers every request for embeddings.
        models: The names that the list of models has; any other name is answered all the same.
    """

    def __init__(
        self,
        replies: Script = "Hello from the stub.",
        *,
        embed: Embedder | ErrorReply | RawReply | None = None,
        models: Sequence[str] = _MODELS,
    ) -> None:
        self.embed = embed
        self.models = tuple(models)
        self._lock = threading.Lock()
        self._requests: list[StubRequest] = []
        self._answered = 0
        self._server: LoopbackServer | None = None
        self._replies: Script = replies
        self._used = 0

    @property
    def requests(self) -> list[StubRequest]:
        """What was asked, in the order in which it came."""
        with self._lock:
            return list(self._requests)

    @property
    def base_url(self) -> str:
        """Where it listens, as OpenAI's client wants to be told.

        Raises:
            RuntimeError: It has not been started.
        """
        if self._server is None:
            raise RuntimeError("the stub is not running; use it as `with OpenAIStub(…) as stub:`")
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def script(self, replies: Script) -> None:
        """Answer something else from now on, beginning with the first of the new replies.

        Args:
            replies: As when it was made.
        """
        with self._lock:
            self._replies, self._used = replies, 0

    def start(self) -> Self:
        """Begin to answer; `with` does this too."""
        if self._server is None:
            # A class of its own, so that handlers find their stub.
            handler = type("_StubHandler", (_Handler,), {"stub": self})
            self._server = LoopbackServer("127.0.0.1", 0, handler)
            self._server.start()
        return self

    def close(self) -> None:
        """End; connections that are open are closed."""
        server, self._server = self._server, None
        if server is not None:
            server.end()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def env(self) -> dict[str, str]:
        """Give the environment variables that make OpenAI's clients ask this stub, as for a process of its own."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": "sk-stub", **unproxied(os.environ)}

    @contextlib.contextmanager
    def activate(self) -> Generator[Self]:
        """Set `env` in this process for a while; clients that are made meanwhile ask this stub.

        Yields:
            The stub.
        """
        variables = self.env()
        before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        try:
            yield self
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def take(self, request: StubRequest) -> int:
        """Keep a request, and say which one it is.

        Args:
            request: The request.
        """
        with self._lock:
            self._requests.append(request)
            return len(self._requests)

    def next_reply(self, body: Body) -> Reply | ErrorReply | RawReply | CutReply:
        """Give what is to be answered to a request.

        Args:
            body: The request's body.
        """
        with self._lock:
            replies = self._replies
            at, self._used = self._used, self._used + 1
        if callable(replies):
            return as_reply(replies(body))
        if isinstance(replies, (str, Mapping)) or not isinstance(replies, Sequence):
            return as_reply(replies)
        if not replies:
            return ErrorReply(500, "the stub has no replies", headers={"x-should-retry": "false"})
        return as_reply(replies[min(at, len(replies) - 1)])


class _Handler(QuietHandler):
    stub: OpenAIStub

    def do_GET(self) -> None:  # noqa: N802 - the base class calls it so
        """Answer questions about models."""
        self._note({})
        path = self._path()
        if path == "/v1/models":
            self._send({"object": "list", "data": [model(name) for name in self.stub.models]})
        elif path.startswith("/v1/models/"):
            self._send(model(unquote(path.removeprefix("/v1/models/"))))
        else:
            self._fail(ErrorReply(404, f"the stub does not know GET {path}"))

    def do_POST(self) -> None:  # noqa: N802 - the base class calls it so
        """Answer everything else."""
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self._note({})
            self._fail(ErrorReply(400, "the request's body is no JSON object", code="invalid_json"))
            return
        number = self._note(cast("Body", body))
        try:
            self._answer(cast("Body", body), number)
        except _Cut:
            self.close_connection = True

    def _answer(self, body: Body, number: int) -> None:
        path = self._path()
        if path == "/v1/embeddings":
            embed = self.stub.embed
            if isinstance(embed, (ErrorReply, RawReply)):
                self._refuse(embed)
            else:
                self._send(embeddings(body, embed))
            return
        if path not in {"/v1/chat/completions", "/v1/responses"}:
            self._fail(ErrorReply(404, f"the stub does not know POST {path}"))
            return
        needed = "messages" if path == "/v1/chat/completions" else "input"
        if not _is_asked(body.get(needed)):
            self._fail(ErrorReply(400, f"Invalid or missing parameter: '{needed}'.", code="invalid_value"))
            return
        try:
            reply = self.stub.next_reply(body)
        except Exception as error:  # noqa: BLE001 - a test's own function failed, and the test is to see it
            message = f"the stub's script raised {type(error).__name__}: {error}"
            self._fail(ErrorReply(500, message, headers={"x-should-retry": "false"}))
            return
        if isinstance(reply, (ErrorReply, RawReply)):
            self._refuse(reply)
            return
        said, cut_after = (reply.reply, reply.after) if isinstance(reply, CutReply) else (reply, None)
        if body.get("stream"):
            events = chat_events if needed == "messages" else response_events
            self._stream(events(body, said, number), said, cut_after)
        else:
            self._wait(said.wait_for)
            whole = chat_completion if needed == "messages" else response
            self._send(whole(body, said, number), cut_after)

    def _stream(self, events: Iterable[str], reply: Reply, cut_after: int | None) -> None:
        if cut_after == 0:
            raise _Cut
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at, event in enumerate(events):
            if at == cut_after:
                raise _Cut
            if at == reply.wait_after:
                self._wait(reply.wait_for)
            data = event.encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, reply: ErrorReply | RawReply) -> None:
        self._wait(reply.wait_for)
        if isinstance(reply, RawReply):
            self.send_body(reply.status, reply.content_type, reply.body)
        else:
            self._fail(reply)

    def _fail(self, reply: ErrorReply) -> None:
        kind = "invalid_request_error" if reply.status < 500 else "server_error"
        error = {"message": reply.message, "type": kind, "param": None, "code": reply.code}
        headers = {} if reply.retry_after is None else {"Retry-After": f"{reply.retry_after:g}"}
        body = json.dumps({"error": error}).encode()
        self.send_body(reply.status, "application/json", body, headers | dict(reply.headers))

    def _send(self, answer: Body, cut_after: int | None = None) -> None:
        body = json.dumps(answer).encode()
        if cut_after == 0:
            raise _Cut
        if cut_after is not None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
            raise _Cut
        self.send_body(200, "application/json", body)

    def _wait(self, event: threading.Event | None) -> None:
        """Wait for a test's event, or for the end of the stub."""
        server = self.server
        while event is not None and not event.wait(_WAIT_SECONDS):
            if isinstance(server, LoopbackServer) and server.ending.is_set():
                raise _Cut

    def _note(self, body: Body) -> int:
        headers = {name.lower(): value for name, value in self.headers.items() if name.lower() not in _CARRY_KEYS}
        return self.stub.take(StubRequest(self.command, self._path(), body, headers))

    def _path(self) -> str:
        return self.path.partition("?")[0]


def _is_asked(value: object) -> bool:
    """Tell whether a request asks something: a text, or a list of messages."""
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(item, dict) for item in cast("list[object]", value))
    )


class _Cut(Exception):  # noqa: N818 - it says what to do, and nothing went wrong
    """The connection is to be closed as it is."""
