"""What a dialect says about a span, and how several such readings become one observation."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import astuple

from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.dialects.values import json_mapping
from pixie_otel.traces.messages import Message
from pixie_otel.traces.spans import ObservationKind, Scope, SpanError, SpanEvent, ToolDefinition

__all__ = ["Reading", "SpanFacts"]


class SpanFacts(Struct, frozen=True, kw_only=True):
    """A span, decoded and not yet understood: what a dialect gets to see.

    Attributes:
        trace_id: The trace's id.
        span_id: The span's id.
        parent_span_id: The parent's id; ``None`` for a root.
        name: The span's name.
        start_time_unix_nano: Start, in nanoseconds since 1970; 0 where not recorded.
        end_time_unix_nano: End, likewise.
        attributes: Its attributes, decoded.
        events: Its events and log records, by time.
        resource: The resource's attributes.
        scope: The instrumentation scope; its name is a hint at most.
        otel_kind: OpenTelemetry's span kind, in lower case.
        status_message: What the status says of an error; ``None`` where the status is no error.
        dropped_attributes: How many attributes the producer dropped.
        objects: The JSON objects among the attributes that were decoded.
    """

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    name: str = ""
    start_time_unix_nano: int = 0
    end_time_unix_nano: int = 0
    attributes: dict[str, JsonValue] = {}
    events: tuple[SpanEvent, ...] = ()
    resource: dict[str, JsonValue] = {}
    scope: Scope = Scope()
    otel_kind: str = ""
    status_message: str | None = None
    dropped_attributes: int = 0
    objects: dict[str, dict[str, JsonValue]] = {}

    def json_object(self, key: str) -> dict[str, JsonValue]:
        """Give the JSON object under a key, decoded once, whichever dialects ask; empty for anything else.

        Args:
            key: The attribute's key.
        """
        found = self.objects.get(key)
        if found is None:
            found = self.objects[key] = json_mapping(self.attributes.get(key))
        return found


class Reading(Struct, kw_only=True):
    """What one dialect, or several together, say of a span; ``None`` where they say nothing.

    The fields are those of the observation classes in `pixie_otel.traces.spans`.
    """

    kind: ObservationKind | None = None
    input: JsonValue = None
    output: JsonValue = None
    error: SpanError | None = None
    metadata: dict[str, JsonValue] | None = None
    session_id: str | None = None
    user_id: str | None = None
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
    raw_finish_reasons: tuple[str, ...] | None = None
    response_id: str | None = None
    output_type: str | None = None
    input_messages: tuple[Message, ...] | None = None
    output_messages: tuple[Message, ...] | None = None
    tool_definitions: tuple[ToolDefinition, ...] | None = None
    time_to_first_token_ms: float | None = None
    cost: float | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_description: str | None = None
    arguments: JsonValue = None
    result: JsonValue = None
    query: str | None = None
    documents: tuple[Document, ...] | None = None
    agent_name: str | None = None
    agent_id: str | None = None
    texts: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    def fill(self, other: Reading) -> None:
        """Take from another reading what this one does not say.

        Args:
            other: A reading of the same span by a dialect that is asked later.
        """
        for name, said in zip(_FIELDS, astuple(other), strict=True):
            if said is not None and getattr(self, name) is None:
                setattr(self, name, said)
        self.notes += other.notes


_FIELDS: Final = Reading.__struct_fields__
