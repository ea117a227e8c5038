"""A stub of OpenAI, and OpenAI's own client that asks it."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest

from pixie_otel.testing import (
    OpenAIStub,
)


@pytest.fixture
def stub() -> Iterator[OpenAIStub]:
    """A stub that answers with one text."""
    with OpenAIStub("Paris, of course.") as stub:
        yield stub


@pytest.fixture
def client(stub: OpenAIStub) -> Iterator[openai.OpenAI]:
    """OpenAI's client, asking the stub, once."""
    with openai.OpenAI(base_url=stub.base_url, api_key="sk-secret", max_retries=0, timeout=30) as client:
        yield client
