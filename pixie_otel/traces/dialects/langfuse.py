"""Langfuse: ``langfuse.observation.*``, JSON or plain text under every key.

Source: Langfuse's SDKs for Python (3 to 5) and JavaScript (4 and 5), their wrappers of OpenAI and LangChain, and what
others write for Langfuse's OpenTelemetry endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.attributes import langfuse as own_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.failures import failure
from pixie_otel.traces.dialects.first_token import ms_until
from pixie_otel.traces.dialects.identities import SESSION_NAMES, USER_NAMES, first_identity
from pixie_otel.traces.dialects.provider import read_parameters, read_usage
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.recorded import (
    read_function,
    read_given,
    read_given_back,
)
from pixie_otel.traces.dialects.toolcalls import tool_definition, tool_definitions, tool_list
from pixie_otel.traces.dialects.values import (
    below,
    call_arguments,
    decoded,
    first_text,
    first_whole,
    json_object,
    number,
    text,
    whole,
)
from pixie_otel.traces.messages import AssistantMessage, TextContent
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "langfuse"
ROOTS: Final = frozenset({"langfuse"})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_KINDS: Final = {
    "generation": ObservationKind.LLM,
    "embedding": ObservationKind.EMBEDDING,
    "tool": ObservationKind.TOOL,
    "agent": ObservationKind.AGENT,
    "chain": ObservationKind.CHAIN,
    "retriever": ObservationKind.RETRIEVER,
    "evaluator": ObservationKind.EVALUATOR,
    "guardrail": ObservationKind.GUARDRAIL,
}
"""What the types say; of a ``span`` or an ``event`` nothing is known, and another dialect may say more."""
_ERROR: Final = "ERROR"
_EMBEDDING: Final = "embed"
_SESSION_NAMES: Final = ("langfuse_session_id", *SESSION_NAMES)
_USER_NAMES: Final = ("langfuse_user_id", *USER_NAMES)
_REASON_NAMES: Final = ("finish_reason", "stop_reason")
_CACHE_READ_NAMES: Final = ("cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "cache_read")
_CACHE_CREATION_NAMES: Final = ("cache_creation_input_tokens", "input_cache_creation", "input_cache_write_tokens")
_REASONING_NAMES: Final = ("output_reasoning_tokens", "output_reasoning", "reasoning_tokens")
_APART: Final = ("cache_read_input_tokens", "cache_creation_input_tokens")
_OVERLAPPING: Final = ("input_priority", "output_priority")
"""Counts that say how tokens were billed, and that other counts hold as well."""


def read(span: SpanFacts) -> Reading | None:
    """Read what Langfuse's keys say of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its keys is there.
    """
    attributes = span.attributes
    if not any(key.startswith(own_keys.PREFIX) for key in attributes):
        return None
    metadata = below(attributes, own_keys.METADATA)
    about_trace = {**below(attributes, own_keys.TRACE_METADATA), **metadata}
    reading = Reading(
        kind=_kind(attributes),
        metadata=metadata or None,
        session_id=first_identity(attributes, (own_keys.TRACE_SESSION_ID, keys.SESSION_ID))
        or first_identity(about_trace, _SESSION_NAMES),
        user_id=first_identity(attributes, (own_keys.TRACE_USER_ID, keys.USER_ID))
        or first_identity(about_trace, _USER_NAMES),
    )
    level = text(attributes.get(own_keys.LEVEL))
    if level is not None and level.upper() == _ERROR:
        reading.error = failure(span, text(attributes.get(own_keys.STATUS_MESSAGE)))
    given, given_back = attributes.get(own_keys.INPUT), attributes.get(own_keys.OUTPUT)
    if span.parent_span_id is None:
        # What a trace was given and gave back belongs to its root, which may say nothing itself.
        given = attributes.get(own_keys.TRACE_INPUT) if given is None else given
        given_back = attributes.get(own_keys.TRACE_OUTPUT) if given_back is None else given_back
    reading.input, reading.output = call_arguments(decoded(given)), decoded(given_back)
    _read_kind(span, given_back, metadata, reading)
    return reading


def _kind(attributes: Mapping[str, JsonValue]) -> ObservationKind | None:
    said = text(attributes.get(own_keys.TYPE))
    if said is not None:
        return _KINDS.get(said.lower())
    # Who writes for Langfuse's endpoint may leave the type out: only a model call has these.
    is_call = own_keys.MODEL_NAME in attributes or own_keys.USAGE_DETAILS in attributes
    return ObservationKind.LLM if is_call else None


def _read_kind(span: SpanFacts, given_back: JsonValue, metadata: dict[str, JsonValue], reading: Reading) -> None:
    match reading.kind:
        case ObservationKind.LLM:
            _read_call(span, given_back, metadata, reading)
        case ObservationKind.EMBEDDING:
            _read_model(span.attributes, metadata, reading)
            read_function(reading)
        case _:
            read_function(reading)
            if reading.kind is ObservationKind.TOOL:
                reading.tool_call_id = reading.tool_call_id or text(metadata.get("tool_call_id"))


def _read_model(attributes: Mapping[str, JsonValue], metadata: dict[str, JsonValue], reading: Reading) -> None:
    reading.request_model = text(attributes.get(own_keys.MODEL_NAME))
    reading.provider = text(metadata.get("ls_provider"))
    if (usage := json_object(attributes.get(own_keys.USAGE_DETAILS))) is not None:
        reading.fill(_usage(usage))
    if (cost := json_object(attributes.get(own_keys.COST_DETAILS))) is not None:
        reading.cost = _cost(cost)


def _read_call(span: SpanFacts, given_back: JsonValue, metadata: dict[str, JsonValue], reading: Reading) -> None:
    attributes = span.attributes
    reason = first_text(metadata, _REASON_NAMES)
    reading.raw_finish_reasons = (reason,) if reason else None
    _read_model(attributes, metadata, reading)
    reading.fill(read_parameters(attributes.get(own_keys.MODEL_PARAMETERS)))
    given, tools = _without_tools(reading.input)
    reading.tool_definitions = (
        tool_definitions(tools) or reading.tool_definitions or tool_list(metadata.get("tools")) or None
    )
    reading.fill(read_given(given))
    reading.fill(read_given_back(decoded(given_back, depth=1)))
    if reading.output_messages is None and isinstance(given_back, str) and given_back:
        # JSON that is no message is what the model wrote.
        reading.output_messages = (AssistantMessage(content=(TextContent(given_back),)),)
    reading.time_to_first_token_ms = ms_until(decoded(span.attributes.get(own_keys.COMPLETION_START)), span)
    if reading.output_messages is None and _is_embedding(span, reading):
        # JavaScript's wrapper of OpenAI calls everything a generation.
        reading.kind = ObservationKind.EMBEDDING
        read_function(reading)


def _is_embedding(span: SpanFacts, reading: Reading) -> bool:
    """Say whether a call that answered nothing embedded texts: it got a list of them, or its name or model tells."""
    if isinstance(given := reading.input, list) and given:
        return all(isinstance(item, str) for item in given)
    return any(_EMBEDDING in (name or "").lower() for name in (span.name, reading.request_model))


def _without_tools(given: JsonValue) -> tuple[JsonValue, list[JsonValue]]:
    """Take the tools out of the messages: LangChain's callbacks list what a model was offered behind them."""
    if not isinstance(given, list):
        return given, []
    tools = [
        item["content"]
        for item in given
        if isinstance(item, dict) and item.get("role") == "tool" and tool_definition(item.get("content")) is not None
    ]
    if not tools:
        return given, []
    return [item for item in given if not isinstance(item, dict) or item.get("content") not in tools], tools


def _usage(details: dict[str, JsonValue]) -> Reading:
    """Read how many tokens a call took: as the provider counts, or as Langfuse does, with each part counted apart."""
    counts = {key: count for key, said in details.items() if (count := whole(said)) is not None}
    given, given_back = counts.get("input"), counts.get("output")
    if given is None and given_back is None:
        return read_usage(details)
    parts_in = _sum(counts, "input_") + sum(counts.get(name, 0) for name in _APART)
    parts_out = _sum(counts, "output_")
    sums = ((given or 0) + parts_in, (given_back or 0) + parts_out)
    total = counts.get("total")
    if total is not None and total != sum(sums):
        if total == (given or 0) + (given_back or 0):
            # The parts are among the sums, after all.
            sums = (given or 0, given_back or 0)
        elif given is not None and total >= sums[1]:
            # Of parts that overlap more was taken off than there was.
            sums = (total - sums[1], sums[1])
    return Reading(
        input_tokens=None if given is None else sums[0],
        output_tokens=None if given_back is None else sums[1],
        cache_read_tokens=first_whole(details, _CACHE_READ_NAMES),
        cache_creation_tokens=first_whole(details, _CACHE_CREATION_NAMES),
        reasoning_tokens=first_whole(details, _REASONING_NAMES),
    )


def _sum(counts: Mapping[str, int], prefix: str) -> int:
    return sum(count for key, count in counts.items() if key.startswith(prefix) and not key.startswith(_OVERLAPPING))


def _cost(details: dict[str, JsonValue]) -> float | None:
    total = number(details.get("total"))
    if total is not None:
        return total
    known = [cost for said in details.values() if (cost := number(said)) is not None]
    return sum(known) if known else None
