"""What a model call was told before: message histories as digests that grow message by message.

A call that goes on with a conversation is given all that was said in the call before, its answer included, and then
something new. A digest of everything up to an answer is the same on both sides, so two calls can be compared without
keeping what was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue, ToolCall, canonical_json
from pixie_otel.traces.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    OtherContent,
    SystemMessage,
    TextContent,
    ToolResultMessage,
)
from pixie_otel.traces.spans import LLMSpan

__all__ = ["History", "State", "history_of"]

_DIGEST_BYTES: Final = 16
_MOST_CHOICES: Final = 8
_MOST_STATES: Final = 64
"""How many of the answers in a history are looked for, from the latest back."""
_ITEM_PREFIX: Final = "fc_"
"""OpenAI's Responses API names a tool call twice: by this for the item, and otherwise for the call."""


class State(Struct, frozen=True):
    """A history up to an answer.

    Attributes:
        digest: Stands for all that was said, and for the service that said it; not for system prompts, which often hold
            the time, or what was retrieved for the question, and are then different in each call.
        ids: Stands for the ids of all tool calls in it; empty where there are none, ``None`` where they cannot be
            compared.
        prompts: Stands for the system prompts; empty where there are none.
    """

    digest: bytes
    ids: bytes | None = b""
    prompts: bytes = b""


class History(Struct, frozen=True):
    """What a call goes on from, and what may go on from it.

    Attributes:
        before: What the call was given, up to each answer in it, the latest first.
        after: All that the call was given and what it answered: one state; several where the model gave several answers
            to choose from; none where no answer was recorded, or not what it answers.
    """

    before: tuple[State, ...] = ()
    after: tuple[State, ...] = ()


def history_of(call: LLMSpan) -> History:
    """Give the history of a call.

    Args:
        call: The call.
    """
    if _is_hidden(call):
        return History()
    told = list(_merged(call.input_messages))
    states = [State(_hashed(b"", call.service_name or ""))]
    for message in told:
        states.append(_further(states[-1], message, states[0]))
    before = [state for state, message in zip(states[1:], told, strict=True) if isinstance(message, AssistantMessage)]
    # The model may go on with an answer that was begun for it.
    begun = told[-1:] if told and isinstance(told[-1], AssistantMessage) else []
    answers = [message for message in call.output_messages if _says_something(message)]
    choices = [answers] if answers and told else []
    if choices and 1 < len(answers) <= _MOST_CHOICES:
        choices.extend([answer] for answer in answers)
    after: dict[State, None] = {}
    for choice in choices:
        state = states[-1 - len(begun)]
        for message in _merged([*begun, *choice]):
            state = _further(state, message, states[0])
        after[state] = None
    return History(tuple(before[: -_MOST_STATES - 1 : -1]), tuple(after))


def _further(state: State, message: Message, start: State) -> State:
    """Give the state after one more message."""
    said = canonical_json(_plain(message))
    if isinstance(message, SystemMessage):
        return State(state.digest, state.ids, _hashed(state.prompts, said))
    digest, ids = state.digest, state.ids
    if isinstance(message, AssistantMessage):
        if digest == start.digest:
            # Where nobody asked, the prompt is all that the answer is to.
            digest += state.prompts
        for tool in message.tool_calls:
            if ids is None or not tool.id or tool.id.startswith(_ITEM_PREFIX):
                ids = None
                break
            ids = _hashed(ids, tool.id)
    return State(_hashed(digest, said), ids, state.prompts)


def _merged(messages: Iterable[Message]) -> Iterator[Message]:
    """Give messages with what one answer was recorded as made one, and without those that say nothing."""
    waiting: list[AssistantMessage] = []
    for message in messages:
        if not _says_something(message):
            continue
        if isinstance(message, AssistantMessage):
            waiting.append(message)
            continue
        if waiting:
            yield _one(waiting)
            waiting = []
        yield message
    if waiting:
        yield _one(waiting)


def _one(answers: Sequence[AssistantMessage]) -> AssistantMessage:
    if len(answers) == 1:
        return answers[0]
    return AssistantMessage(
        content=tuple(part for answer in answers for part in answer.content),
        tool_calls=tuple(call for answer in answers for call in answer.tool_calls),
    )


def _is_hidden(call: LLMSpan) -> bool:
    """Say whether something of what was said was left out when it was recorded: all such histories look alike."""
    return any(message.text == keys.OI_REDACTED for message in (*call.input_messages, *call.output_messages))


def _says_something(message: Message) -> bool:
    return isinstance(message, ToolResultMessage) or bool(
        message.content or (isinstance(message, AssistantMessage) and message.tool_calls)
    )


def _plain(message: Message) -> JsonValue:
    """Give what is the same of a message wherever it is recorded: reasoning, ids and reasons to stop are not."""
    said: list[JsonValue] = [message.role, message.text.strip()]
    for part in message.content:
        match part:
            case ImageContent(url=url):
                said.append(["image", url])
            case OtherContent(type=kind, value=value):
                said.append([kind, value])
            case TextContent() | _:
                pass
    if isinstance(message, AssistantMessage):
        said.extend(_plain_call(call) for call in message.tool_calls)
    return said


def _plain_call(call: ToolCall) -> JsonValue:
    return [call.name, call.arguments]


def _hashed(before: bytes, said: str) -> bytes:
    return blake2b(before + said.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
