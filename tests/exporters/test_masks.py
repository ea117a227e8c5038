"""What hides contents hides them in all places: in files, at endpoints and in captures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from programs import run_program

CANARY = "CANARY"
"""In every content that the program has, and in nothing else that it has."""

PROGRAM = """
    import contextlib, json, pathlib, sys

    import openai
    import pixie_otel as pixie
    from pixie_otel.exporters.otlp_receiver import OtlpReceiver
    from pixie_otel.testing import OpenAIStub

    TOOL = {"name": "search", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}

    class Answers:
        def __init__(self, client):
            self.client = client

        @pixie.observe(kind="agent")
        def answer(self, question):
            messages = [{"role": "system", "content": "CANARY system"}, {"role": "user", "content": question}]
            ask = self.client.chat.completions.create
            ask(model="m", messages=messages, tools=[{"type": "function", "function": TOOL}])
            list(ask(model="m", messages=messages, stream=True))
            self.client.responses.create(model="m", input="CANARY input")
            list(self.client.responses.create(model="m", input="CANARY input", stream=True))
            self.client.embeddings.create(model="e", input=["CANARY text"])
            pixie.wrap(lambda x: "CANARY " + x, purpose="input", name="documents")("CANARY")
            pixie.wrap({"reply": "CANARY reply"}, purpose="output", name="reply")
            with pixie.start_observation(name="block", kind="tool", input=["CANARY"]) as observation:
                observation.set_output({"deep": ["CANARY"]})
            return "CANARY answer"

    with contextlib.ExitStack() as stack:
        receiver = stack.enter_context(OtlpReceiver("endpoint.jsonl", port=0))
        stub = stack.enter_context(OpenAIStub(lambda body: "CANARY reply"))
        stack.enter_context(stub.activate())
        pixie.init(
            file="file.jsonl", endpoint=receiver.endpoint, instrument=["openai"], **json.loads(sys.argv[1])
        )
        with pixie.capture_traces() as handler:
            Answers(openai.OpenAI(max_retries=0)).answer("CANARY question")
        captured = repr(handler.spans) + "".join(trace.to_text() for trace in handler.get_all_traces().values())
        pathlib.Path("memory.txt").write_text(captured)
        pixie.shutdown()
"""
HIDES_ALL = {"OPENINFERENCE_HIDE_INPUTS": "true", "OPENINFERENCE_HIDE_OUTPUTS": "true"}


@pytest.mark.parametrize(
    ("arguments", "variables", "is_hidden"),
    [
        ("{}", {}, False),
        ('{"capture_content": false}', {}, True),
        ("{}", HIDES_ALL, True),
        ('{"redact": false}', HIDES_ALL, True),
    ],
)
def test_all_places_hide_the_same(
    arguments: str,
    variables: Mapping[str, str],
    is_hidden: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
) -> None:
    """No byte that is written or captured holds content that is to be hidden; all of it is there where none is."""
    run_program(PROGRAM, tmp_path, variables, arguments)

    for name in ("file.jsonl", "endpoint.jsonl", "memory.txt"):
        written = (tmp_path / name).read_text()
        assert "gpt" not in written
        assert "answer" in written
        assert (CANARY in written) is not is_hidden
