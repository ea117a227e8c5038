"""Genkit: what went into an action and came out of it, whole, and what kind of action it is.

Source: ``genkit`` 1.x for JavaScript; those for Go and Python write the same keys.
"""

from __future__ import annotations

from typing import Final

from pixie_otel.attributes import genkit as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.failures import failure
from pixie_otel.traces.dialects.identities import SESSION_NAMES, USER_NAMES, first_identity
from pixie_otel.traces.dialects.plain import answer, plain_messages
from pixie_otel.traces.dialects.provider import read_request, read_response
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.retrieved import documents
from pixie_otel.traces.dialects.values import json_mapping, json_value, text
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "genkit"
ROOTS: Final = frozenset({keys.TYPE, keys.SUBTYPE, keys.INPUT, keys.OUTPUT})
"""The first segments of the keys that this dialect reads: their segments are not parted by dots."""

_KINDS: Final = {
    "model": ObservationKind.LLM,
    "background-model": ObservationKind.LLM,
    "tool": ObservationKind.TOOL,
    keys.TOOL_V2: ObservationKind.TOOL,
    "retriever": ObservationKind.RETRIEVER,
    "reranker": ObservationKind.RERANKER,
    "embedder": ObservationKind.EMBEDDING,
    "evaluator": ObservationKind.EVALUATOR,
    "agent": ObservationKind.AGENT,
}
_SESSION_NAMES: Final = ("genkit:sessionId", *SESSION_NAMES, "threadName")


def read(span: SpanFacts) -> Reading | None:
    """Read what Genkit says of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its keys is there.
    """
    attributes = span.attributes
    action = text(attributes.get(keys.SUBTYPE)) or text(attributes.get(keys.TYPE))
    given, given_back = json_value(attributes.get(keys.INPUT)), json_value(attributes.get(keys.OUTPUT))
    if action is None and given is None and given_back is None:
        return None
    kind = _KINDS.get(action or "", ObservationKind.CHAIN)
    said = {
        key.removeprefix(keys.METADATA): value for key, value in attributes.items() if key.startswith(keys.METADATA)
    }
    said.pop(keys.SUBTYPE.removeprefix(keys.METADATA), None)
    reading = Reading(
        kind=kind,
        input=given,
        output=given_back,
        metadata=said or None,
        session_id=first_identity(said, _SESSION_NAMES),
        user_id=first_identity(said, USER_NAMES),
    )
    if attributes.get(keys.STATE) == "error":
        reading.error = failure(span)
    name = text(attributes.get(keys.NAME)) or span.name
    match kind:
        case ObservationKind.LLM:
            _read_call(given, given_back, name, reading)
        case ObservationKind.TOOL:
            reading.tool_name = name
            reading.arguments, reading.result = given, given_back
        case ObservationKind.RETRIEVER | ObservationKind.RERANKER:
            reading.query = _content(json_mapping(given).get("query"))
            reading.input = reading.query or given
            reading.documents = documents(given_back)
        case ObservationKind.EMBEDDING:
            _read_embedding(given, name, reading)
        case _:
            _read_conversation(given, given_back, reading)
    return reading


def _read_call(given: JsonValue, given_back: JsonValue, name: str, reading: Reading) -> None:
    request = read_request(given)
    provider, _, model = name.rpartition("/")
    request.request_model = request.request_model or model
    request.provider = provider or None
    request.operation = "chat"
    request.output_type = text(json_mapping(json_mapping(given).get("output")).get("format"))
    reading.fill(request)
    # Genkit calls it a stop where the provider says that tools were called.
    reading.raw_finish_reasons = read_response(json_mapping(given_back).get("raw")).raw_finish_reasons
    reading.fill(read_response(given_back))


def _read_conversation(given: JsonValue, given_back: JsonValue, reading: Reading) -> None:
    """Read what Genkit's own helpers around a call are given and give back as the conversation that it is."""
    if isinstance(given, dict) and isinstance(listed := given.get("messages"), list):
        reading.input = plain_messages(messages(listed)) or given
    if isinstance(given_back, dict) and isinstance(said := given_back.get("message"), dict):
        reading.output = answer(messages(said, role="assistant"))


def _read_embedding(given: JsonValue, name: str, reading: Reading) -> None:
    reading.provider, _, reading.request_model = name.rpartition("/")
    listed = json_mapping(given).get("input")
    texts = [_content(item) for item in listed] if isinstance(listed, list) else [_content(listed)]
    reading.texts = tuple(said for said in texts if said) or None


def _content(value: JsonValue) -> str | None:
    """Give the text of one of Genkit's documents; a query is one as well."""
    if isinstance(value, str):
        return value or None
    return "".join(item.text for item in messages(value)) or None if isinstance(value, dict) else None
