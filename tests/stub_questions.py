"""What the tests of the stub ask it."""

from __future__ import annotations

from typing import Any

import openai
from openai.types.chat import ChatCompletionMessageParam

__all__ = ["ASKED", "ask"]


ASKED: list[ChatCompletionMessageParam] = [{"role": "user", "content": "What is the capital of France?"}]


def ask(client: openai.OpenAI, **more: Any) -> Any:
    """Ask the one question."""
    return client.chat.completions.create(model="gpt-4o-mini", messages=ASKED, **more)
