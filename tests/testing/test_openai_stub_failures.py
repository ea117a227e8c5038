"""The stub fails in every way in which a provider fails."""

from __future__ import annotations

import json
import threading

import openai
import pytest
from stub_questions import ask

from pixie_otel.testing import (
    CutReply,
    ErrorReply,
    OpenAIStub,
    RawReply,
    Reply,
)


class TestFailures:
    """What a provider does on a bad day."""

    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (400, openai.BadRequestError),
            (401, openai.AuthenticationError),
            (404, openai.NotFoundError),
            (429, openai.RateLimitError),
            (500, openai.InternalServerError),
        ],
    )
    def test_an_error_is_the_clients_error(
        self, status: int, error: type[openai.APIStatusError], stub: OpenAIStub, client: openai.OpenAI
    ) -> None:
        """A status becomes the error that OpenAI's client has for it, with message and code."""
        stub.script(ErrorReply(status, "not today", code="some_code"))

        with pytest.raises(error, match="not today") as raised:
            ask(client, stream=True)
        assert raised.value.code == "some_code"

    def test_a_client_may_try_again(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """After a 429 with `Retry-After`, the client comes again and gets the next reply."""
        stub.script([ErrorReply(429, retry_after=0.01), "Paris."])

        assert ask(client.with_options(max_retries=1)).choices[0].message.content == "Paris."
        assert len(stub.requests) == 2

    def test_json_may_be_broken(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """Any bytes can be answered."""
        stub.script(RawReply(b'{"choices": ['))

        with pytest.raises((openai.APIError, json.JSONDecodeError)):
            ask(client)

    @pytest.mark.parametrize("after", [0, 1])
    def test_a_connection_may_break(self, after: int, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """A connection breaks before the answer or within it."""
        stub.script(CutReply(Reply("Paris."), after))

        with pytest.raises(openai.APIConnectionError):
            ask(client)

    @pytest.mark.parametrize("after", [0, 2])
    def test_a_stream_may_break(self, after: int, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """A stream breaks after some of its events."""
        stub.script(CutReply(Reply("Paris, of course."), after))
        came: list[object] = []

        # OpenAI's client passes on what httpx, whose versions differ in name, raises within a stream.
        with pytest.raises(Exception, match=r"(?i)peer closed|connection"):
            came.extend(iter(ask(client, stream=True)))
        assert len(came) == after

    def test_an_answer_waits_for_an_event(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """An answer comes when the test wants it to: before that, a stream has only its first events."""
        go = threading.Event()
        stub.script(Reply("Paris, of course.", wait_for=go, wait_after=2))

        chunks = iter(ask(client, stream=True))
        first = [next(chunks), next(chunks)]
        assert [chunk.choices[0].delta.content for chunk in first] == ["", "Paris,"]
        with pytest.raises(openai.APITimeoutError):
            ask(client, timeout=0.05)
        go.set()
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == " of course."

    def test_wrong_requests_are_refused(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """What is no request of OpenAI's API is refused in its form."""
        for path, body in (
            ("/chat/completions", {"model": "m"}),
            ("/chat/completions", {"model": "m", "messages": ["hello"]}),
            ("/responses", {"model": "m"}),
        ):
            with pytest.raises(openai.BadRequestError, match="Invalid or missing parameter"):
                client.post(path, body=body, cast_to=object)
        with pytest.raises(openai.BadRequestError, match="no JSON object"):
            client.post("/chat/completions", body=[1], cast_to=object)
        for call in (client.post, client.get):
            with pytest.raises(openai.NotFoundError, match="does not know"):
                call("/unknown", cast_to=object)
