"""Observations: spans read through their dialects.

`ObserveSpan` is any observation; its subclasses add what their kind has. All are frozen values, so that a trace read
from memory and the same trace read from a file compare equal.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct

from pixie_otel import attributes as keys
from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.messages import Message

__all__ = [
    "AgentSpan",
    "Document",
    "EmbeddingSpan",
    "LLMSpan",
    "ObservationKind",
    "ObserveSpan",
    "RetrieverSpan",
    "Scope",
    "SpanError",
    "SpanEvent",
    "ToolDefinition",
    "ToolSpan",
]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_NANO: Final = 253_402_300_799 * 1_000_000_000
"""The end of the year 9999, the last that `datetime` can say."""


class ObservationKind(StrEnum):
    """What an observation is; OpenInference's span kinds in lower case, and ``other`` for the rest."""

    LLM = "llm"
    TOOL = "tool"
    RETRIEVER = "retriever"
    EMBEDDING = "embedding"
    AGENT = "agent"
    CHAIN = "chain"
    RERANKER = "reranker"
    GUARDRAIL = "guardrail"
    EVALUATOR = "evaluator"
    PROMPT = "prompt"
    OTHER = "other"


class SpanError(Struct, frozen=True):
    """Why a span failed.

    Attributes:
        message: What was recorded about the error; empty where only the fact was.
        type: The exception's class or the error code, where recorded.
    """

    message: str = ""
    type: str | None = None

    def __str__(self) -> str:
        """Say type and message as Python does; many messages begin with the type, which is said once."""
        if self.type and self.message.startswith(self.type.rpartition(".")[2]):
            return self.message
        return ": ".join(part for part in (self.type, self.message) if part) or "unknown error"


class SpanEvent(Struct, frozen=True):
    """Something that happened during a span: a span event, or a log record that belongs to the span.

    Attributes:
        name: The event's name.
        time_unix_nano: When, in nanoseconds since 1970; 0 where not recorded.
        attributes: Its attributes, decoded.
        body: A log record's body; ``None`` for span events.
    """

    name: str
    time_unix_nano: int = 0
    attributes: dict[str, JsonValue] = {}
    body: JsonValue = None


class Scope(Struct, frozen=True):
    """The instrumentation scope that made a span.

    Attributes:
        name: The instrumentation's name.
        version: Its version.
        attributes: Its attributes, decoded.
    """

    name: str = ""
    version: str = ""
    attributes: dict[str, JsonValue] = {}


class ToolDefinition(Struct, frozen=True):
    """A tool that was offered to a model.

    Attributes:
        name: The tool's name.
        description: What the model was told about it.
        parameters: The JSON Schema of its arguments, where recorded.
    """

    name: str
    description: str | None = None
    parameters: dict[str, JsonValue] | None = None


class ObserveSpan(Struct, frozen=True, kw_only=True):
    """A span, read through its dialects: what it was, what went in, what came out, what went wrong.

    Attributes:
        trace_id: The trace's id, 32 hex digits (or what the producer wrote in its place).
        span_id: The span's id, 16 hex digits (likewise).
        parent_span_id: The parent's id; ``None`` for a root.
        name: The span's name.
        kind: What the observation is.
        start_time_unix_nano: Start, in nanoseconds since 1970; 0 where not recorded.
        end_time_unix_nano: End, likewise.
        input: What went in: text, or JSON where the recorded text is JSON; ``None`` where nothing was recorded.
        output: What came out, likewise.
        error: Why it failed; ``None`` for a span that did not.
        metadata: What the producer recorded as metadata.
        session_id: The session or conversation that it belongs to, where recorded.
        user_id: The user, where recorded.
        attributes: All attributes, decoded.
        events: Span events and the log records of this span, by time.
        resource: The attributes of the resource that made it.
        scope: The instrumentation scope that made it.
        otel_kind: OpenTelemetry's span kind: ``internal``, ``server``, ``client``, ``producer``, ``consumer`` or "".
        dialects: The dialects that understood something of the span, most specific first.
        dropped_attributes: How many attributes the producer dropped; above 0, content may be missing.
        notes: What a reader should know about how the span was read, for people.
    """

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    name: str = ""
    kind: ObservationKind = ObservationKind.OTHER
    start_time_unix_nano: int = 0
    end_time_unix_nano: int = 0
    input: JsonValue = None
    output: JsonValue = None
    error: SpanError | None = None
    metadata: dict[str, JsonValue] = {}
    session_id: str | None = None
    user_id: str | None = None
    attributes: dict[str, JsonValue] = {}
    events: tuple[SpanEvent, ...] = ()
    resource: dict[str, JsonValue] = {}
    scope: Scope = Scope()
    otel_kind: str = ""
    dialects: tuple[str, ...] = ()
    dropped_attributes: int = 0
    notes: tuple[str, ...] = ()

    @property
    def started_at(self) -> datetime | None:
        """The start in UTC, to the microsecond; ``None`` where not recorded or past the year 9999."""
        return _moment(self.start_time_unix_nano)

    @property
    def ended_at(self) -> datetime | None:
        """The end in UTC, likewise."""
        return _moment(self.end_time_unix_nano)

    @property
    def duration_ms(self) -> float | None:
        """How long it took, in milliseconds; ``None`` where a time is missing or the end is before the start."""
        if not self.start_time_unix_nano or self.end_time_unix_nano < self.start_time_unix_nano:
            return None
        return (self.end_time_unix_nano - self.start_time_unix_nano) / 1e6

    @property
    def service_name(self) -> str | None:
        """The resource's ``service.name``."""
        name = self.resource.get(keys.SERVICE_NAME)
        return name if isinstance(name, str) else None


class LLMSpan(ObserveSpan, frozen=True, kw_only=True):
    """A call of a language model.

    Attributes:
        operation: ``chat``, ``text_completion``, ``generate_content``, …
        provider: Who served it, as recorded: ``openai``, ``anthropic``, ``aws.bedrock``, …
        request_model: The model asked for.
        response_model: The model that answered.
        input_tokens: Tokens in, cached ones included; ``None`` where not recorded.
        output_tokens: Tokens out, reasoning included.
        cache_read_tokens: Input tokens served from the provider's cache.
        cache_creation_tokens: Input tokens written to it.
        reasoning_tokens: Output tokens spent on reasoning.
        request_temperature: The sampling temperature asked for.
        request_max_tokens: The output limit asked for.
        request_top_p: The nucleus sampling share asked for.
        finish_reasons: Why each choice ended, as OpenTelemetry's GenAI conventions name it: ``stop``, ``length``,
            ``tool_calls``, ``content_filter``, ``error``; other values as recorded.
        raw_finish_reasons: The same as recorded.
        response_id: The provider's id of the answer.
        output_type: What was asked for: ``text``, ``json``, …
        error_type: The class of the error, where the call failed.
        input_messages: What the model was given, system prompt first.
        output_messages: What it answered.
        tool_definitions: The tools it was offered.
        time_to_first_token_ms: Milliseconds until the first token of a stream.
        cost: What the call cost in US dollars, where recorded.
    """

    operation: str | None = None
    provider: str | None = None
    request_model: str | None = None
    response_model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_creation_tokens: int | None = None
    reasoning_tokens: int | None = None
    request_temperature: float | None = None
    request_max_tokens: int | None = None
    request_top_p: float | None = None
    finish_reasons: tuple[str, ...] = ()
    raw_finish_reasons: tuple[str, ...] = ()
    response_id: str | None = None
    output_type: str | None = None
    error_type: str | None = None
    input_messages: tuple[Message, ...] = ()
    output_messages: tuple[Message, ...] = ()
    tool_definitions: tuple[ToolDefinition, ...] = ()
    time_to_first_token_ms: float | None = None
    cost: float | None = None

    @property
    def model(self) -> str | None:
        """The model that answered, else the one asked for."""
        return self.response_model or self.request_model


class ToolSpan(ObserveSpan, frozen=True, kw_only=True):
    """A run of a tool.

    Attributes:
        tool_name: The tool's name.
        tool_call_id: The id of the model's call that it answers, where recorded.
        arguments: What the tool was called with.
        result: What it gave back.
        description: What the tool does, where recorded.
    """

    tool_name: str | None = None
    tool_call_id: str | None = None
    arguments: JsonValue = None
    result: JsonValue = None
    description: str | None = None


class RetrieverSpan(ObserveSpan, frozen=True, kw_only=True):
    """A retrieval of documents.

    Attributes:
        query: What was looked for.
        documents: What was found, in the retriever's order.
    """

    query: str | None = None
    documents: tuple[Document, ...] = ()


class AgentSpan(ObserveSpan, frozen=True, kw_only=True):
    """A run of an agent.

    Attributes:
        agent_name: The agent's name, where recorded.
        agent_id: Its id.
        input_messages: What it was given, where recorded as messages.
        output_messages: What it answered, likewise.
    """

    agent_name: str | None = None
    agent_id: str | None = None
    input_messages: tuple[Message, ...] = ()
    output_messages: tuple[Message, ...] = ()


class EmbeddingSpan(ObserveSpan, frozen=True, kw_only=True):
    """An embedding of texts; its ``input`` is the texts, a line each.

    Attributes:
        provider: Who served it.
        model: The embedding model.
        texts: What was embedded, where recorded.
        input_tokens: Tokens in.
    """

    provider: str | None = None
    model: str | None = None
    texts: tuple[str, ...] = ()
    input_tokens: int | None = None


def _moment(nanoseconds: int) -> datetime | None:
    if not 0 < nanoseconds <= _LAST_NANO:
        return None
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
