"""Coding agents with names of their own: Claude Code's spans and log records, and Codex CLI's.

Source: Claude Code 2.1's tracing (beta) and events, as documented; Codex CLI 0.150's spans and events. Gemini CLI and
Copilot CLI write OpenTelemetry's GenAI attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pixie_otel import attributes as general_keys
from pixie_otel.attributes import coding_agents as keys
from pixie_otel.attributes.logfire import ERROR
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.failures import failure
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import decoded, number, text, whole
from pixie_otel.traces.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
)
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "coding_agents"
ROOTS: Final = frozenset({"span", "codex", keys.TOOL_NAME, keys.USER_PROMPT})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_KINDS: Final = {
    "interaction": ObservationKind.AGENT,
    "llm_request": ObservationKind.LLM,
    "tool": ObservationKind.TOOL,
}
"""What counts; a tool's run, the wait for leave and hooks lie within these."""
_HIDDEN: Final = frozenset({"<REDACTED>", "[REDACTED]"})
_SECTION: Final = re.compile(
    r"^\[(USER PROMPT|USER|ASSISTANT|TOOL RESULT|TOOL INPUT)(?:: ([^\]\n]*))?\]\n?", re.MULTILINE
)
"""How Claude Code heads what it writes: who said it, and of a tool its name or the call's id."""
_PARTING: Final = "\n\n---"
_RESPONSE_EVENT: Final = "assistant_response"
_OUTPUT_KEYS: Final = ("output", "content", "result")


def read(span: SpanFacts) -> Reading | None:
    """Read what a coding agent says of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` for spans of others.
    """
    kind = _claude_kind(span)
    return _read_codex(span) if kind is None else _read_claude(span, kind)


def _claude_kind(span: SpanFacts) -> ObservationKind | None:
    """Say what a span of Claude Code is: its keys have no prefix, so its name has to tell."""
    if not span.name.startswith(keys.CLAUDE_CODE):
        return None
    said = text(span.attributes.get(keys.SPAN_TYPE)) or span.name.removeprefix(keys.CLAUDE_CODE)
    return _KINDS.get(said, ObservationKind.OTHER)


def _read_claude(span: SpanFacts, kind: ObservationKind) -> Reading:
    attributes = span.attributes
    reading = Reading(kind=kind, session_id=text(attributes.get(general_keys.SESSION_ID)))
    if attributes.get(keys.SUCCESS) in (False, "false"):
        reading.error = failure(span, text(attributes.get(ERROR)))
    match kind:
        case ObservationKind.LLM:
            _read_claude_call(attributes, reading)
        case ObservationKind.TOOL:
            _read_claude_tool(span, reading)
        case ObservationKind.AGENT:
            reading.input = _shown(attributes.get(keys.USER_PROMPT)) or _told(span, keys.USER_PROMPT, "prompt")
            reading.output = _told(span, _RESPONSE_EVENT, "response")
        case _:
            pass
    return reading


def _read_claude_call(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.operation = "chat"
    reading.request_model = text(attributes.get(keys.MODEL))
    reading.cache_read_tokens = whole(attributes.get(keys.CACHE_READ_TOKENS))
    reading.cache_creation_tokens = whole(attributes.get(keys.CACHE_CREATION_TOKENS))
    given = whole(attributes.get(keys.INPUT_TOKENS))
    if given is not None:
        # As Anthropic counts, without what was cached.
        reading.input_tokens = given + (reading.cache_read_tokens or 0) + (reading.cache_creation_tokens or 0)
    reading.output_tokens = whole(attributes.get(keys.OUTPUT_TOKENS))
    reading.time_to_first_token_ms = number(attributes.get(keys.TTFT))
    if reason := text(attributes.get(keys.STOP_REASON)):
        reading.raw_finish_reasons = (reason,)
    told: list[Message] = []
    if (system := _shown(attributes.get(keys.SYSTEM_PROMPT))) is not None:
        told.append(SystemMessage(content=(TextContent(system),)))
    if (context := _shown(attributes.get(keys.NEW_CONTEXT))) is not None:
        told.extend(_sections(context))
        reading.notes = ("the conversation before what is new in this call is not recorded",)
    reading.input_messages = tuple(told) or None
    if (answer := _shown(attributes.get(keys.MODEL_OUTPUT))) is not None:
        reading.output_messages = (AssistantMessage(content=(TextContent(answer),)),)


def _sections(context: str) -> Iterator[Message]:
    heads = list(_SECTION.finditer(context))
    if not heads or heads[0].start():
        yield UserMessage(content=(_body(context[: heads[0].start()] if heads else context),))
    for place, head in enumerate(heads):
        end = heads[place + 1].start() if place + 1 < len(heads) else len(context)
        content = (_body(context[head.end() : end]),)
        match head[1]:
            case "ASSISTANT":
                yield AssistantMessage(content=content)
            case "TOOL RESULT":
                yield ToolResultMessage(content=content, tool_call_id=head[2])
            case _:
                yield UserMessage(content=content)


def _body(section: str) -> TextContent:
    """Give what a section says, without the line that parts it from the next."""
    return TextContent(section.strip("\n").removesuffix(_PARTING).strip("\n"))


def _read_claude_tool(span: SpanFacts, reading: Reading) -> None:
    attributes = span.attributes
    reading.tool_name = text(attributes.get(keys.TOOL_NAME))
    reading.tool_call_id = text(attributes.get(keys.TOOL_USE_ID))
    reading.arguments = _headless(attributes.get(keys.TOOL_INPUT))
    if reading.arguments is None:
        names = ((keys.FULL_COMMAND, "command"), (keys.FILE_PATH, keys.FILE_PATH), (keys.SUBAGENT, keys.SUBAGENT))
        found: dict[str, JsonValue] = {name: attributes[key] for key, name in names if key in attributes}
        reading.arguments = found or None
    reading.result = _headless(attributes.get(keys.NEW_CONTEXT))
    for event in span.events:
        if reading.result is None and event.name == keys.TOOL_OUTPUT_EVENT:
            said = (event.attributes[key] for key in _OUTPUT_KEYS if key in event.attributes)
            reading.result = next((decoded(found) for found in said), None)
    reading.input, reading.output = reading.arguments, reading.result


def _headless(value: JsonValue) -> JsonValue:
    said = _shown(value)
    return None if said is None else decoded(_SECTION.sub("", said, count=1))


def _read_codex(span: SpanFacts) -> Reading | None:
    attributes = span.attributes
    session = text(attributes.get(keys.CODEX_CONVERSATION)) or text(attributes.get(keys.CODEX_THREAD))
    if keys.CODEX_TOTAL_TOKENS in attributes:
        return Reading(
            kind=ObservationKind.LLM,
            operation="chat",
            session_id=session,
            request_model=text(attributes.get(keys.MODEL)),
            reasoning_tokens=whole(attributes.get(keys.CODEX_REASONING_TOKENS)),
        )
    if any(key.startswith(keys.CODEX_TURN) for key in attributes):
        return Reading(
            kind=ObservationKind.AGENT, session_id=session, input=_told(span, keys.CODEX_PROMPT_EVENT, "prompt")
        )
    if keys.TOOL_NAME not in attributes or keys.CALL_ID not in attributes or keys.ABORTED not in attributes:
        return None
    arguments = decoded(_told(span, keys.CODEX_TOOL_EVENT, "arguments"))
    result = decoded(_told(span, keys.CODEX_TOOL_EVENT, "output"))
    return Reading(
        kind=ObservationKind.TOOL,
        session_id=session,
        tool_name=text(attributes.get(keys.TOOL_NAME)),
        tool_call_id=text(attributes.get(keys.CALL_ID)),
        arguments=arguments,
        result=result,
        input=arguments,
        output=result,
    )


def _told(span: SpanFacts, name: str, key: str) -> str | None:
    """Give what the last event of a name says under a key."""
    found = (
        _shown(event.attributes.get(key))
        for event in reversed(span.events)
        if event.name.removeprefix(keys.CLAUDE_CODE) == name
    )
    return next((said for said in found if said is not None), None)


def _shown(value: JsonValue) -> str | None:
    said = text(value)
    return None if said in _HIDDEN else said
