"""The tools that model calls asked for, with what the tools gave back as the next calls' messages tell it.

Where an instrumentation records model calls alone, nothing records the run of a tool; but its result stands among the
messages of the call that came next.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pixie_otel.evaluable import JsonValue, ToolCall
from pixie_otel.traces.dialects.plain import plain_content
from pixie_otel.traces.dialects.values import decoded
from pixie_otel.traces.messages import AssistantMessage, Message, ToolResultMessage
from pixie_otel.traces.spans import LLMSpan

__all__ = ["asked_tools"]

_MOST_LOOKED_AT: Final = 64
"""The call that goes on from an answer is among the next few; of thousands, each must not look through all others."""


def asked_tools(calls: Iterable[LLMSpan]) -> list[list[ToolCall]]:
    """Give the tool calls that models asked for, with their results where later messages hold these.

    Args:
        calls: The model calls of one trace or conversation.

    Returns:
        The tool calls of each model call. A result whose text is JSON is decoded.
    """
    all_asked = [(call, _asked(call)) for call in calls]
    if not any(asked for _, asked in all_asked):
        return [asked for _, asked in all_asked]
    readers = sorted((call for call, _ in all_asked), key=_start)
    by_id = _results_by_id(readers, Counter(tool.id for _, asked in all_asked for tool in asked))
    return [_with_results(call, asked, readers, by_id) for call, asked in all_asked]


def _asked(call: LLMSpan) -> list[ToolCall]:
    answers = [message for message in call.output_messages if isinstance(message, AssistantMessage)]
    return [tool for answer in answers for tool in answer.tool_calls]


def _with_results(
    call: LLMSpan, asked: list[ToolCall], readers: Sequence[LLMSpan], by_id: Mapping[str | None, ToolResultMessage]
) -> list[ToolCall]:
    if not asked:
        return asked
    results = _results(call, asked, readers) or [None] * len(asked)
    found = [result or by_id.get(tool.id) for tool, result in zip(asked, results, strict=True)]
    return [
        tool if result is None else replace(tool, result=_value(result))
        for tool, result in zip(asked, found, strict=True)
    ]


def _results(call: LLMSpan, asked: list[ToolCall], readers: Sequence[LLMSpan]) -> list[ToolResultMessage | None]:
    """Find the results of one answer's tool calls in the first later call that goes on from that answer."""
    next_at = bisect_left(readers, call.end_time_unix_nano, key=_start)
    for reader in readers[next_at : next_at + _MOST_LOOKED_AT]:
        messages = reader.input_messages
        for at in range(len(messages) - 1, -1, -1):
            said = messages[at]
            if isinstance(said, AssistantMessage) and _are_same(said.tool_calls, asked):
                return _assigned(asked, said.tool_calls, list(_answers(messages[at + 1 :])))
    return []


def _assigned(
    asked: list[ToolCall], said: Sequence[ToolCall], answers: list[ToolResultMessage]
) -> list[ToolResultMessage | None]:
    """Give each tool call its result: by id, else, where none has one, in order."""
    by_id = {answer.tool_call_id: answer for answer in reversed(answers) if answer.tool_call_id}
    found = [by_id.get(tool.id or "") or by_id.get(same.id or "") for tool, same in zip(asked, said, strict=True)]
    if not any(found) and len(answers) == len(asked):
        return list(answers)
    return found


def _answers(messages: Sequence[Message]) -> Iterator[ToolResultMessage]:
    """Give the results that follow an answer, up to the next answer."""
    for message in messages:
        if isinstance(message, AssistantMessage):
            return
        if isinstance(message, ToolResultMessage):
            yield message


def _are_same(said: Sequence[ToolCall], asked: Sequence[ToolCall]) -> bool:
    """Say whether two lists of tool calls are one; ids may differ, as one call has several in some APIs."""
    return len(said) == len(asked) and all(map(_is_same, said, asked))


def _is_same(said: ToolCall, asked: ToolCall) -> bool:
    if None in (said.arguments, asked.arguments) and said.id is not None:
        return said.id == asked.id
    return said == asked


def _results_by_id(readers: Iterable[LLMSpan], asked: Mapping[str | None, int]) -> dict[str | None, ToolResultMessage]:
    """Find the results of those tool calls whose ids are no other's: some APIs number the calls of each answer anew."""
    found: dict[str | None, ToolResultMessage] = {}
    for reader in readers:
        for message in reader.input_messages:
            if isinstance(message, ToolResultMessage) and message.tool_call_id and asked.get(message.tool_call_id) == 1:
                found.setdefault(message.tool_call_id, message)
    return found


def _value(message: ToolResultMessage) -> JsonValue:
    content = plain_content(message)
    return decoded(content) if isinstance(content, str) else content


def _start(call: LLMSpan) -> int:
    return call.start_time_unix_nano
