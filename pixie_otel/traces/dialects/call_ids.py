"""The ids of tool calls, where one record of an answer has them and the other has not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from msgspec import structs

from pixie_otel.evaluable import ToolCall
from pixie_otel.traces.messages import AssistantMessage, Message

__all__ = ["called", "identified", "lacks_ids"]


def called(answers: tuple[Message, ...], identity: str) -> tuple[Message, ...]:
    """Give answers whose only tool call has an id that is recorded beside them.

    Args:
        answers: The answers.
        identity: The id.

    Returns:
        The answers; as they are where there are several calls, or none.
    """
    match _calls(answers):
        case [call] if call.id != identity:
            return tuple(
                structs.replace(answer, tool_calls=(replace(call, id=identity),))
                if isinstance(answer, AssistantMessage) and answer.tool_calls
                else answer
                for answer in answers
            )
        case _:
            return answers


def lacks_ids(answers: Iterable[Message]) -> bool:
    """Say whether answers call a tool without the call's id."""
    return any(call.id is None for call in _calls(answers))


def identified(answers: tuple[Message, ...], others: Iterable[Message]) -> tuple[Message, ...]:
    """Give answers with the ids of their tool calls from another record of the same answers.

    Args:
        answers: The answers.
        others: What the other record holds.

    Returns:
        The answers, each call without an id with that of the first one like it that no other has.
    """
    if not lacks_ids(answers):
        return answers
    taken = {call.id for call in _calls(answers)}
    spare = [call for call in _calls(others) if call.id is not None and call.id not in taken]
    return tuple(
        structs.replace(answer, tool_calls=tuple(_identified(call, spare) for call in answer.tool_calls))
        if isinstance(answer, AssistantMessage) and answer.tool_calls
        else answer
        for answer in answers
    )


def _identified(call: ToolCall, spare: list[ToolCall]) -> ToolCall:
    if call.id is not None:
        return call
    for position, other in enumerate(spare):
        if (other.name, other.arguments) == (call.name, call.arguments):
            return replace(call, id=spare.pop(position).id)
    return call


def _calls(answers: Iterable[Message]) -> list[ToolCall]:
    return [call for answer in answers if isinstance(answer, AssistantMessage) for call in answer.tool_calls]
