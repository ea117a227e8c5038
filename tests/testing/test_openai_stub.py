"""The stand-in for OpenAI, asked by OpenAI's own client."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest
from stub_questions import ASKED, ask

from pixie_otel.testing import (
    ErrorReply,
    FunctionCall,
    OpenAIStub,
    Reply,
    embedding,
)

LOOK_UP = FunctionCall("look_up", {"place": "France"})


class TestChat:
    """Chat completions."""

    def test_answers(self, client: openai.OpenAI) -> None:
        """A text is a whole completion, with usage and the model that was asked for."""
        answer = ask(client)

        assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("Paris, of course.", "stop")
        assert (answer.id, answer.model) == ("chatcmpl-1", "gpt-4o-mini")
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (7, 5, 12)

    def test_streams(self, client: openai.OpenAI) -> None:
        """The same comes as a stream in pieces, ending in a reason and, where asked for, usage."""
        chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))

        pieces = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
        assert [piece for piece in pieces if piece] == ["Paris,", " of", " course."]
        assert chunks[-2].choices[0].finish_reason == "stop"
        assert chunks[-1].usage.total_tokens == 12
        assert all(chunk.usage is None for chunk in chunks[:-1])

    def test_streams_without_usage(self, client: openai.OpenAI) -> None:
        """No usage comes where none was asked for."""
        chunks = list(ask(client, stream=True))

        assert all(chunk.usage is None and chunk.choices for chunk in chunks)

    def test_calls_tools(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """Calls of tools come with ids, and the reason for the end is theirs."""
        stub.script(Reply(tool_calls=[LOOK_UP, FunctionCall("broken", '{"place": ', id="call_x")]))

        (choice,) = ask(client).choices
        first, second = choice.message.tool_calls
        assert choice.finish_reason == "tool_calls"
        assert (first.id, first.function.name) == ("call_1_0", "look_up")
        assert json.loads(first.function.arguments) == {"place": "France"}
        assert (second.id, second.function.arguments) == ("call_x", '{"place": ')

    def test_streams_calls_of_tools(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """OpenAI's own accumulation of a stream gives the calls whole."""
        stub.script(Reply("Let me see.", tool_calls=[LOOK_UP, LOOK_UP]))

        with client.chat.completions.stream(model="gpt-4o-mini", messages=ASKED) as stream:
            (choice,) = stream.get_final_completion().choices
        calls = choice.message.tool_calls or []
        assert (choice.message.content, choice.finish_reason) == ("Let me see.", "tool_calls")
        assert [(call.id, json.loads(call.function.arguments)) for call in calls] == [
            ("call_1_0", {"place": "France"}),
            ("call_1_1", {"place": "France"}),
        ]

    @pytest.mark.parametrize("stream", [False, True])
    def test_refuses(self, stub: OpenAIStub, client: openai.OpenAI, *, stream: bool) -> None:
        """A refusal is no content."""
        stub.script(Reply(refusal="I would rather not."))

        if stream:
            with client.chat.completions.stream(model="gpt-4o-mini", messages=ASKED) as events:
                (choice,) = events.get_final_completion().choices
        else:
            (choice,) = ask(client).choices
        assert (choice.message.content, choice.message.refusal) == (None, "I would rather not.")

    def test_may_be_cut_by_length(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """Reason, usage and further fields of a choice can be given."""
        stub.script(Reply("Par", finish_reason="length", usage=(100, 1), choice={"logprobs": {"content": []}}))

        answer = ask(client)
        assert answer.choices[0].finish_reason == "length"
        assert answer.choices[0].logprobs.content == []
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (100, 1)

    def test_gives_several_choices(self, client: openai.OpenAI) -> None:
        """`n` gives as many choices."""
        assert [choice.index for choice in ask(client, n=3).choices] == [0, 1, 2]

    def test_an_object_stands_for_its_json(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """A mapping is answered as JSON text, as where a schema was asked for."""
        stub.script({"verdict": "yes"})

        assert json.loads(ask(client).choices[0].message.content) == {"verdict": "yes"}

    def test_async(self, stub: OpenAIStub) -> None:
        """The asynchronous client is answered as well, whole and as a stream."""

        async def run() -> tuple[str | None, str]:
            async with openai.AsyncOpenAI(base_url=stub.base_url, api_key="sk-x", max_retries=0) as client:
                whole = await client.chat.completions.create(model="gpt-4o-mini", messages=ASKED)
                stream = await client.chat.completions.create(model="gpt-4o-mini", messages=ASKED, stream=True)
                pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
                return whole.choices[0].message.content, "".join(pieces)

        assert asyncio.run(run()) == ("Paris, of course.", "Paris, of course.")


class TestResponses:
    """The Responses API."""

    def test_answers(self, client: openai.OpenAI) -> None:
        """A text is a whole response."""
        answer = client.responses.create(model="gpt-4o-mini", input="What is the capital of France?")

        assert (answer.output_text, answer.status, answer.id) == ("Paris, of course.", "completed", "resp_1")
        assert answer.usage is not None
        assert (answer.usage.input_tokens, answer.usage.output_tokens) == (7, 5)

    def test_streams(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """OpenAI's own accumulation of a stream gives what the whole answer is."""
        stub.script(Reply("Let me see.", tool_calls=[LOOK_UP]))
        whole = client.responses.create(model="gpt-4o-mini", input="Where?")
        stub.script(Reply("Let me see.", tool_calls=[LOOK_UP]))

        with client.responses.stream(model="gpt-4o-mini", input="Where?") as stream:
            kinds = [event.type for event in stream]
            final = stream.get_final_response()

        assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
        assert kinds.count("response.output_text.delta") == 3
        assert final.output_text == whole.output_text == "Let me see."
        for answer in (whole, final):
            call = answer.output[1]
            assert call.type == "function_call"
            assert (call.name, json.loads(call.arguments)) == ("look_up", {"place": "France"})

    def test_may_be_incomplete_or_refused(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """What was cut by length is incomplete, and a refusal is a part of its own."""
        stub.script([Reply("Par", finish_reason="length"), Reply(refusal="No.")])

        cut = client.responses.create(model="gpt-4o-mini", input="Where?")
        refused = client.responses.create(model="gpt-4o-mini", input="Where?")

        assert cut.incomplete_details is not None
        assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        message = refused.output[0]
        assert message.type == "message"
        assert message.content[0].type == "refusal"


class TestEmbeddings:
    """Vectors of texts."""

    def test_base64_and_numbers_are_the_same(self, client: openai.OpenAI) -> None:
        """The client's base64 and plain numbers give the same vectors, of length 1."""
        texts = ["refunds take five days", "shipping is free"]
        packed = client.embeddings.create(model="text-embedding-3-small", input=texts)
        plain = client.embeddings.create(model="text-embedding-3-small", input=texts, encoding_format="float")

        for one, other in zip(packed.data, plain.data, strict=True):
            assert one.embedding == pytest.approx(other.embedding)
            assert sum(number * number for number in one.embedding) == pytest.approx(1.0)

    def test_shared_words_make_texts_close(self) -> None:
        """Texts that share words are closer than others, in any process."""
        asked, right, wrong = map(
            embedding, ("How long do refunds take?", "Refunds take five days", "We ship to Italy")
        )

        def closeness(one: list[float], other: list[float]) -> float:
            return sum(a * b for a, b in zip(one, other, strict=True))

        assert closeness(asked, right) > closeness(asked, wrong)
        assert embedding("", 4) == embedding("", 4)

    def test_takes_all_forms_of_input(self, client: openai.OpenAI) -> None:
        """A text, tokens, and lists of both are all taken, with as many dimensions as asked for."""
        for given, count in (("", 1), ([1, 2, 3], 1), ([[1, 2], [3]], 2), (["a"], 1)):
            answer = client.embeddings.create(model="m", input=given, dimensions=16)  # type: ignore[arg-type]
            assert [len(item.embedding) for item in answer.data] == [16] * count

    def test_may_be_made_by_a_test(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """A test gives its own vectors, or an error."""
        stub.embed = lambda text: [float(len(text)), 0.0]
        assert client.embeddings.create(model="m", input="four").data[0].embedding == [4.0, 0.0]

        stub.embed = ErrorReply(400, "too long")
        with pytest.raises(openai.BadRequestError, match="too long"):
            client.embeddings.create(model="m", input="four")


class TestScript:
    """What decides the answers."""

    def test_replies_come_in_order_and_the_last_repeats(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """A list is answered one by one; its last reply again and again."""
        stub.script(["one", Reply("two")])

        assert [ask(client).choices[0].message.content for _ in range(4)] == ["one", "two", "two", "two"]

    def test_a_function_answers_what_was_asked(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """A callable makes the reply of the request's body, also for many at the same time."""
        stub.script(lambda body: body["messages"][-1]["content"].upper())

        def echo(text: str) -> str | None:
            answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
            return answer.choices[0].message.content

        texts = [f"question {number}" for number in range(20)]
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(echo, texts)) == [text.upper() for text in texts]

    def test_a_failing_function_is_told_to_the_test(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """What a test's own function raises stands in the client's error."""
        stub.script(lambda body: body["no such key"])

        with pytest.raises(openai.InternalServerError, match="the stub's script raised KeyError"):
            ask(client.with_options(max_retries=2))
        assert len(stub.requests) == 1

    def test_no_replies_are_an_error(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """An empty list answers nothing, and says so."""
        stub.script([])

        with pytest.raises(openai.InternalServerError, match="no replies"):
            ask(client)

    def test_keeps_what_was_asked(self, stub: OpenAIStub, client: openai.OpenAI) -> None:
        """Requests are kept with path, body and headers, and without the key."""
        ask(client, extra_headers={"x-tag": "42"})

        (request,) = stub.requests
        assert (request.method, request.path) == ("POST", "/v1/chat/completions")
        assert request.body == {"model": "gpt-4o-mini", "messages": ASKED}
        assert request.headers["x-tag"] == "42"
        assert "sk-secret" not in str(request)


class TestServer:
    """How it comes and goes."""

    def test_lists_models(self, client: openai.OpenAI) -> None:
        """Models are listed, and any other is there too when asked for."""
        assert [model.id for model in client.models.list()] == ["gpt-4o-mini", "text-embedding-3-small"]
        assert client.models.retrieve("ft:gpt-4o/x").id == "ft:gpt-4o/x"

    def test_sets_the_environment_for_a_while(self, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch) -> None:
        """Clients made while it is active need no settings, and afterwards everything is as it was."""
        monkeypatch.setenv("OPENAI_API_KEY", "sk-before")
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

        with stub.activate(), openai.OpenAI() as client:
            assert ask(client).choices[0].message.content == "Paris, of course."
        assert os.environ["OPENAI_API_KEY"] == "sk-before"
        assert "OPENAI_BASE_URL" not in os.environ

    def test_is_not_asked_through_a_proxy(self, stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where a proxy is set, this machine is left out of it."""
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv("NO_PROXY", "example.org")
        monkeypatch.delenv("no_proxy", raising=False)

        assert stub.env()["NO_PROXY"] == "example.org,127.0.0.1,localhost,::1"
        with stub.activate(), openai.OpenAI(max_retries=0) as client:
            assert ask(client).id == "chatcmpl-1"

    def test_closes_open_connections(self) -> None:
        """When it ends, a client that still holds a connection is told, and its answer that waits is given up."""
        with OpenAIStub(Reply("never", wait_for=threading.Event())) as stub:
            host, _, port = stub.base_url.removeprefix("http://").removesuffix("/v1").partition(":")
            idle = socket.create_connection((host, int(port)), timeout=30)
            waiting = socket.create_connection((host, int(port)), timeout=30)
            body = b'{"messages": []}'
            idle.sendall(b"GET /nothing HTTP/1.1\r\n\r\n")
            assert idle.recv(12) == b"HTTP/1.1 404"
            waiting.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
            deadline = time.monotonic() + 30
            while len(stub.requests) < 2:
                assert time.monotonic() < deadline
                time.sleep(0.001)
        with idle, waiting:
            while idle.recv(1024):
                pass
            assert waiting.recv(1) == b""
        names = [thread.name for thread in threading.enumerate()]
        assert not [name for name in names if name.startswith("pixie-otel-http")]

    def test_must_run_to_be_asked(self) -> None:
        """A stub that is not running has no address, and ending it twice is once."""
        stub = OpenAIStub()
        with pytest.raises(RuntimeError, match="not running"):
            _ = stub.base_url
        with stub:
            assert urllib.request.urlopen(f"{stub.base_url}/models").status == 200
            stub.close()
        with pytest.raises(RuntimeError, match="not running"):
            _ = stub.base_url


def test_loads_nothing_heavy() -> None:
    """The stub alone loads neither OpenAI's client nor OpenTelemetry."""
    program = (
        "import sys; from pixie_otel.testing import OpenAIStub\n"
        "with OpenAIStub(): pass\n"
        "print(sorted({'openai', 'opentelemetry', 'pydantic', 'msgspec'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
