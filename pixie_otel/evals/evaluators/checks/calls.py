"""The tool calls that models asked for in a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue, ToolCall, canonical_json
from pixie_otel.traces.messages import AssistantMessage

if TYPE_CHECKING:
    from pixie_otel.traces.spans import LLMSpan
    from pixie_otel.traces.trace import Trace

__all__ = ["HIDDEN", "arguments_key", "asked_calls", "json_arguments"]

HIDDEN: Final = keys.OI_REDACTED
"""What OpenInference writes in the place of content that it was told to hide."""


def asked_calls(trace: Trace) -> list[tuple[LLMSpan, ToolCall]]:
    """Give every tool call that a model asked for, once, with the LLM call that asked.

    Args:
        trace: The trace.

    Returns:
        The calls in the order of the LLM calls, those without a name left out. A call that was recorded twice, with one
        id, stands once.
    """
    found: list[tuple[LLMSpan, ToolCall]] = []
    seen: dict[str, ToolCall] = {}
    for llm_call in trace.llm_calls:
        for message in llm_call.output_messages:
            if not isinstance(message, AssistantMessage):
                continue
            for call in message.tool_calls:
                # Some instrumentations record an empty call for a part of the answer that is none.
                if not call.name:
                    continue
                # Some servers number the calls of every answer anew, so an id alone does not make it the same call.
                if call.id is not None:
                    twin = seen.get(call.id)
                    if twin is not None and twin.name == call.name and twin.arguments == call.arguments:
                        continue
                    seen[call.id] = call
                found.append((llm_call, call))
    return found


def json_arguments(call: ToolCall) -> JsonValue:
    """Give a call's arguments as JSON, where they are; ``None`` where they were not recorded.

    Args:
        call: The call. Nothing between the quotes means no arguments, as some providers write them.

    Returns:
        The arguments; text only where what was recorded is no JSON.
    """
    arguments = call.arguments
    if not isinstance(arguments, str):
        return arguments
    if arguments == HIDDEN:
        return None
    if not arguments.strip():
        return {}
    try:
        decoded: JsonValue = msgspec.json.decode(arguments)
        return decoded
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return arguments


def arguments_key(arguments: JsonValue) -> str | None:
    """Give text that is equal for equal arguments; ``None`` where there are none, or too deep to compare.

    Args:
        arguments: A call's arguments.
    """
    if arguments is None or arguments == HIDDEN:
        return None
    try:
        return canonical_json(arguments)
    except RecursionError:
        return None
