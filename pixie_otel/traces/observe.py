"""From a span's facts to an observation of the right class."""

from __future__ import annotations

from typing import Any, Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces import dialects
from pixie_otel.traces.dialects.failures import failure, last_exception
from pixie_otel.traces.dialects.first_token import first_token_ms
from pixie_otel.traces.dialects.operations import LEAF_KINDS
from pixie_otel.traces.dialects.plain import answer, plain_messages
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import text
from pixie_otel.traces.messages import AssistantMessage
from pixie_otel.traces.spans import (
    AgentSpan,
    EmbeddingSpan,
    LLMSpan,
    ObservationKind,
    ObserveSpan,
    RetrieverSpan,
    SpanError,
    ToolSpan,
)

__all__ = ["finish_reason", "observe"]

_FINISH_REASONS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "complete": "stop",
    "eos": "stop",
    "finish": "stop",
    "tool_use": "tool_calls",
    "tool-calls": "tool_calls",
    "tool_call": "tool_calls",
    "toolcalls": "tool_calls",
    "function_call": "tool_calls",
    "eos_token": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content-filter": "content_filter",
    "contentfilter": "content_filter",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    "prohibited_content": "content_filter",
    "blocklist": "content_filter",
    "blocked": "content_filter",
    "recitation": "content_filter",
    "spii": "content_filter",
    "safety": "content_filter",
    "refusal": "content_filter",
    "failed": "error",
    "malformed_function_call": "error",
}


def finish_reason(raw: str) -> str:
    """Name a finish reason as OpenTelemetry's GenAI conventions do.

    Args:
        raw: The reason as recorded: ``tool_use``, ``MAX_TOKENS``, ``FinishReason.STOP``, …

    Returns:
        ``stop``, ``length``, ``tool_calls``, ``content_filter`` or ``error``; another reason in lower case.
    """
    reason = raw.rpartition(".")[2].strip().lower()
    return _FINISH_REASONS.get(reason, reason)


def observe(facts: SpanFacts) -> ObserveSpan:
    """Read a span through its dialects.

    Args:
        facts: The decoded span.

    Returns:
        The observation, of the class of its kind.
    """
    reading, names = dialects.read(facts)
    kind = reading.kind or ObservationKind.OTHER
    base = _common(facts, reading, kind, names)
    match kind:
        case ObservationKind.LLM:
            return _llm_span(base, reading)
        case ObservationKind.TOOL:
            return ToolSpan(
                **base,
                tool_name=reading.tool_name or facts.name or None,
                tool_call_id=reading.tool_call_id,
                arguments=reading.arguments,
                result=reading.result,
                description=reading.tool_description,
            )
        case ObservationKind.RETRIEVER | ObservationKind.RERANKER:
            return RetrieverSpan(**base, query=reading.query, documents=reading.documents or ())
        case ObservationKind.AGENT:
            return _agent_span(base, reading)
        case ObservationKind.EMBEDDING:
            if reading.texts:
                base["input"] = "\n".join(reading.texts)
            return EmbeddingSpan(
                **base,
                provider=reading.provider,
                model=reading.response_model or reading.request_model,
                texts=reading.texts or (),
                input_tokens=reading.input_tokens,
            )
        case _:
            if base["input"] is None and reading.input_messages:
                base["input"] = plain_messages(reading.input_messages)
            if base["output"] is None and reading.output_messages:
                base["output"] = answer(reading.output_messages[-1:])
            return ObserveSpan(**base)


def _common(facts: SpanFacts, reading: Reading, kind: ObservationKind, names: tuple[str, ...]) -> dict[str, Any]:
    """Give what every observation has."""
    return {
        "trace_id": facts.trace_id,
        "span_id": facts.span_id,
        "parent_span_id": facts.parent_span_id,
        "name": facts.name,
        "kind": kind,
        "start_time_unix_nano": facts.start_time_unix_nano,
        "end_time_unix_nano": facts.end_time_unix_nano,
        "input": reading.input,
        "output": reading.output,
        "error": reading.error or _error(facts, reading),
        "metadata": reading.metadata or {},
        "session_id": reading.session_id,
        "user_id": reading.user_id,
        "attributes": facts.attributes,
        "events": facts.events,
        "resource": facts.resource,
        "scope": facts.scope,
        "otel_kind": facts.otel_kind,
        "dialects": names,
        "dropped_attributes": facts.dropped_attributes,
        "notes": reading.notes,
    }


def _llm_span(base: dict[str, Any], reading: Reading) -> LLMSpan:
    raw_reasons = reading.raw_finish_reasons or ()
    begun = reading.time_to_first_token_ms
    error: SpanError | None = base["error"]
    # The same call reads the same whatever recorded it: the messages count, not one instrumentation's dump of them.
    if reading.input_messages:
        base["input"] = plain_messages(reading.input_messages)
    if reading.output_messages:
        base["output"] = answer(reading.output_messages)
    return LLMSpan(
        **base,
        operation=reading.operation,
        provider=reading.provider,
        request_model=reading.request_model,
        response_model=reading.response_model,
        input_tokens=_input_tokens(reading),
        output_tokens=reading.output_tokens,
        cache_read_tokens=reading.cache_read_tokens,
        cache_creation_tokens=reading.cache_creation_tokens,
        reasoning_tokens=reading.reasoning_tokens,
        request_temperature=reading.request_temperature,
        request_max_tokens=reading.request_max_tokens,
        request_top_p=reading.request_top_p,
        finish_reasons=tuple(finish_reason(reason) for reason in raw_reasons),
        raw_finish_reasons=raw_reasons,
        response_id=reading.response_id,
        output_type=reading.output_type,
        error_type=None if error is None else error.type,
        input_messages=reading.input_messages or (),
        output_messages=reading.output_messages or (),
        tool_definitions=reading.tool_definitions or (),
        time_to_first_token_ms=first_token_ms(base["events"], base["start_time_unix_nano"]) if begun is None else begun,
        cost=reading.cost,
    )


def _input_tokens(reading: Reading) -> int | None:
    """Give the tokens in, cached ones among them: some producers pass on Anthropic's count, which leaves them out."""
    cached = (reading.cache_read_tokens or 0) + (reading.cache_creation_tokens or 0)
    said = reading.input_tokens
    return said if said is None or cached <= said else said + cached


def _agent_span(base: dict[str, Any], reading: Reading) -> AgentSpan:
    if base["input"] is None and reading.input_messages:
        base["input"] = plain_messages(reading.input_messages)
    if base["output"] is None and reading.output_messages:
        # An agent's messages may hold the whole loop; what it answered in the end is the last of them.
        answers = [item for item in reading.output_messages if isinstance(item, AssistantMessage)]
        base["output"] = _last_word(answers[-1]) if answers else answer(reading.output_messages[-1:])
    return AgentSpan(
        **base,
        agent_name=reading.agent_name,
        agent_id=reading.agent_id,
        input_messages=reading.input_messages or (),
        output_messages=reading.output_messages or (),
    )


def _last_word(item: AssistantMessage) -> JsonValue:
    """Give what an agent answered; some list the calls of all its steps with it, which are done by then."""
    done = item.tool_calls and item.finish_reason and finish_reason(item.finish_reason) == "stop"
    return item.text if done and item.text else answer([item])


def _error(facts: SpanFacts, reading: Reading) -> SpanError | None:
    if facts.status_message is not None or text(facts.attributes.get(keys.ERROR_TYPE)) is not None:
        return failure(facts)
    # Some record the exception and leave the status: what gave something back got over it, what gave nothing did not.
    said = (reading.output, reading.result, reading.output_messages, reading.documents, reading.raw_finish_reasons)
    if reading.kind not in LEAF_KINDS or any(value is not None for value in said) or last_exception(facts) is None:
        return None
    return failure(facts)
