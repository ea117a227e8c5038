"""What a stand-in for a model answers: texts, calls of tools, refusals, and every way in which a provider fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = [
    "CutReply",
    "ErrorReply",
    "FunctionCall",
    "RawReply",
    "Reply",
    "ReplyLike",
    "Script",
    "StubRequest",
    "as_reply",
]


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A tool that the model wants to be called.

    Attributes:
        name: The tool's name.
        arguments: Its arguments; a text is sent as it is, so that it may be no JSON.
        id: The call's id; one is made of the request's number where none is given.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict[str, Any])
    id: str | None = None

    @property
    def arguments_text(self) -> str:
        """The arguments as they are sent."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(dict(self.arguments))


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the model.

    Attributes:
        text: What it says; ``None`` for nothing.
        tool_calls: The tools that it wants to be called.
        refusal: What it says instead of an answer.
        finish_reason: Why it stopped; ``tool_calls`` or ``stop`` where not given. ``length`` makes an answer of the
            Responses API incomplete.
        usage: How many tokens the prompt has, and how many the answer; words are counted where not given.
        choice: More fields of a chat completion's choice, such as ``logprobs``.
        wait_for: The answer waits until this is set, or the stub ends.
        wait_after: How many events of a stream are sent before it waits.
    """

    text: str | None = None
    tool_calls: Sequence[FunctionCall] = ()
    refusal: str | None = None
    finish_reason: str | None = None
    usage: tuple[int, int] | None = None
    choice: Mapping[str, Any] = field(default_factory=dict[str, Any])
    wait_for: threading.Event | None = None
    wait_after: int = 0


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """A refusal of the provider, in OpenAI's form.

    Attributes:
        status: The HTTP status, such as 401, 429 or 500.
        message: What is said of it.
        code: OpenAI's code, such as ``rate_limit_exceeded``.
        retry_after: Seconds for the header ``Retry-After``; left out where ``None``.
        headers: More headers; ``{"x-should-retry": "false"}`` keeps OpenAI's client from trying again.
        wait_for: The answer waits until this is set, or the stub ends.
    """

    status: int
    message: str = "refused by the stub"
    code: str | None = None
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    wait_for: threading.Event | None = None


@dataclass(frozen=True, slots=True)
class RawReply:
    """Any bytes in place of an answer, such as JSON that is cut short.

    Attributes:
        body: The bytes.
        status: The HTTP status.
        content_type: What they claim to be.
        wait_for: The answer waits until this is set, or the stub ends.
    """

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    wait_for: threading.Event | None = None


@dataclass(frozen=True, slots=True)
class CutReply:
    """A connection that breaks.

    Attributes:
        reply: The answer that it breaks in.
        after: Of a stream, how many events are sent before it breaks; of an answer sent as a whole, 0 sends nothing
            and any other number sends half of it.
    """

    reply: Reply = field(default_factory=Reply)
    after: int = 0


ReplyLike: TypeAlias = "str | Mapping[str, Any] | Reply | ErrorReply | RawReply | CutReply"
"""A reply, or what stands for one: a text, or an object whose JSON is the text."""

Script: TypeAlias = "ReplyLike | Sequence[ReplyLike] | Callable[[dict[str, Any]], ReplyLike]"
"""One reply to everything, replies in their order (the last one again and again), or what makes one of the body."""


@dataclass(frozen=True, slots=True)
class StubRequest:
    """A request that the stub got.

    Attributes:
        method: ``GET`` or ``POST``.
        path: Its path, without what follows a ``?``.
        body: Its JSON; empty where it had none.
        headers: Its headers by their names in lower case, without those that carry keys.
    """

    method: str
    path: str
    body: dict[str, Any]
    headers: dict[str, str]


def as_reply(given: ReplyLike) -> Reply | ErrorReply | RawReply | CutReply:
    """Give what stands for a reply as a reply.

    Args:
        given: A reply, a text or an object.
    """
    if isinstance(given, str):
        return Reply(given)
    if isinstance(given, Mapping):
        return Reply(json.dumps(dict(given)))
    return given
