"""Two fixtures for the tests of applications that are traced; pytest finds them wherever pixie-otel is installed.

`captured_traces` holds what ended while the test ran, and `openai_stub` stands in for OpenAI:

    def test_answers(captured_traces, openai_stub):
        openai_stub.script(["Paris."])
        ask("What is the capital of France?")
        (trace,) = captured_traces.get_all_traces().values()
        assert trace.llm_calls[0].input_tokens

Fixtures are set up in the context that sync tests run in. An async test often runs in a context of its own that was
copied before; it opens its capture itself: `async with pixie_otel.capture_traces() as traces:`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

# Every pytest run of every user loads this module; what a test needs is loaded when it asks for it.
if TYPE_CHECKING:
    from pixie_otel.exporters.memory import MemoryTraceHandler
    from pixie_otel.testing.openai_stub import OpenAIStub

__all__ = ["captured_traces", "openai_stub"]


@pytest.fixture
def captured_traces() -> Generator[MemoryTraceHandler]:
    """What is traced while the test runs: `spans`, `get_trace(trace_id)`, `get_all_traces()`."""
    from pixie_otel.tracing.capture import capture_traces

    with capture_traces() as traces:
        yield traces


@pytest.fixture
def openai_stub() -> Generator[OpenAIStub]:
    """A stand-in for OpenAI that clients made in the test ask; `script(replies)` tells it what to answer."""
    from pixie_otel.testing.openai_stub import OpenAIStub

    with OpenAIStub() as stub, stub.activate():
        yield stub
