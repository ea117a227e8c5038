"""OpenLLMetry, the conventions of Traceloop: ``traceloop.*`` on framework spans, indexed prompts in its older form.

Source: opentelemetry-semantic-conventions-ai; instrumentations below 0.55 write ``gen_ai.prompt.N.*`` and
``llm.request.type``, later ones OpenTelemetry's GenAI attributes, which `pixie_otel.traces.dialects.genai` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.dialects.chat import message
from pixie_otel.traces.dialects.identities import SESSION_NAMES, USER_NAMES, first_identity
from pixie_otel.traces.dialects.openllmetry_entities import (
    entity_documents,
    entity_question,
    given,
    given_back,
    is_retrieval,
    is_tool,
    read_tool_values,
)
from pixie_otel.traces.dialects.operations import LEAF_KINDS, operation_kind
from pixie_otel.traces.dialects.parts import kind as part_kind
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.recorded import read_embedding
from pixie_otel.traces.dialects.retrieved import document
from pixie_otel.traces.dialects.toolcalls import tool_definitions
from pixie_otel.traces.dialects.values import (
    Tree,
    decoded,
    indexed,
    json_mapping,
    leaf,
    number,
    text,
    tree,
    whole,
)
from pixie_otel.traces.messages import Message
from pixie_otel.traces.spans import ObservationKind, SpanEvent

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "openllmetry"
ROOTS: Final = frozenset(
    {
        "traceloop",
        keys.TRACELOOP_REQUEST_TYPE,
        keys.TRACELOOP_FUNCTIONS,
        keys.GENAI_PROMPT,
        keys.GENAI_COMPLETION,
        keys.TRACELOOP_QUERY_RESULT,
        keys.TRACELOOP_SEARCH_RESULT,
    }
)
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_KINDS: Final = {
    "workflow": ObservationKind.CHAIN,
    "task": ObservationKind.CHAIN,
    "agent": ObservationKind.AGENT,
    "tool": ObservationKind.TOOL,
}
_TREES: Final = (keys.GENAI_PROMPT, keys.GENAI_COMPLETION, keys.TRACELOOP_FUNCTIONS)
_TELLING_KEYS: Final = (keys.TRACELOOP_PREFIX, keys.TRACELOOP_FUNCTIONS)
_RESULT_EVENTS: Final = (keys.TRACELOOP_QUERY_RESULT, keys.TRACELOOP_SEARCH_RESULT)
_SESSION_KEYS: Final = tuple(keys.TRACELOOP_ASSOCIATION + name for name in SESSION_NAMES)
_USER_KEYS: Final = tuple(keys.TRACELOOP_ASSOCIATION + name for name in USER_NAMES)
_EMPTY_TEXT: Final = '""'
_NO_CONTENT: Final = "null"
_TOOLS: Final = "tool"


def read(span: SpanFacts) -> Reading | None:
    """Read what OpenLLMetry says of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its own keys is there.
    """
    attributes = span.attributes
    branches = tree(attributes, _TREES)
    prompts = _messages(leaf(branches, "gen_ai", "prompt"), "user")
    completions = _messages(leaf(branches, "gen_ai", "completion"), "assistant")
    kind = _kind(attributes)
    documents = _documents(span.events)
    is_told = kind is not None or prompts or completions or documents
    if not is_told and not any(key.startswith(_TELLING_KEYS) for key in attributes):
        return None
    recorded_input = decoded(attributes.get(keys.TRACELOOP_ENTITY_INPUT))
    reading = Reading(
        kind=kind or (ObservationKind.RETRIEVER if documents else ObservationKind.LLM if completions else None),
        input=given(recorded_input),
        output=given_back(decoded(attributes.get(keys.TRACELOOP_ENTITY_OUTPUT))),
        session_id=first_identity(attributes, _SESSION_KEYS),
        user_id=first_identity(attributes, _USER_KEYS),
        input_messages=tuple(item for item, _ in prompts) or None,
        output_messages=tuple(item for item, _ in completions) or None,
        raw_finish_reasons=tuple(reason for _, reason in completions if reason) or None,
        reasoning_tokens=whole(attributes.get(keys.TRACELOOP_LLM_REASONING_TOKENS)),
        documents=documents or None,
    )
    entity = text(attributes.get(keys.TRACELOOP_ENTITY_NAME))
    _read_step(reading, entity)
    if reading.kind is ObservationKind.TOOL:
        reading.tool_name = text(attributes.get(keys.GENAI_TOOL_NAME)) or entity
        read_tool_values(reading, recorded_input)
    elif reading.kind is ObservationKind.AGENT:
        reading.agent_name = text(attributes.get(keys.GENAI_AGENT_NAME)) or entity
    elif reading.kind is ObservationKind.EMBEDDING:
        said = tuple(item.text for item, _ in prompts if item.text)
        reading.texts = said or read_embedding(reading.input, None).texts
        reading.input_messages = None
    functions = [_function(item) for _, item in indexed(leaf(branches, "llm", "request", "functions"))]
    reading.tool_definitions = tool_definitions(functions) or None
    return reading


def _kind(attributes: Mapping[str, JsonValue]) -> ObservationKind | None:
    said = _KINDS.get((text(attributes.get(keys.TRACELOOP_SPAN_KIND)) or "").lower())
    if said is not None and said is not ObservationKind.CHAIN:
        return said
    requested = operation_kind(attributes.get(keys.TRACELOOP_REQUEST_TYPE))
    if requested is not None or said is None:
        return requested
    # Where a framework's step is itself a model call or a retrieval, it is called a task all the same.
    operation = operation_kind(attributes.get(keys.GENAI_OPERATION))
    return operation if operation in LEAF_KINDS else said


def _read_step(reading: Reading, entity: str | None) -> None:
    """Tell of a step that has no kind of its own in this vocabulary whether it retrieves or runs a tool."""
    if reading.kind is ObservationKind.CHAIN:
        if is_tool(entity, reading.output):
            reading.kind = ObservationKind.TOOL
        elif is_retrieval(entity) and (found := entity_documents(reading.output)):
            reading.kind = ObservationKind.RETRIEVER
            reading.documents = reading.documents or found
    elif reading.kind is ObservationKind.RETRIEVER and reading.documents is None:
        reading.documents = entity_documents(reading.output)
    if reading.kind is ObservationKind.RETRIEVER:
        reading.query = entity_question(reading.input)


def _messages(branch: JsonValue, role: str) -> list[tuple[Message, str | None]]:
    found: list[tuple[Message, str | None]] = []
    for _, item in indexed(branch):
        calls: list[JsonValue] = [dict(call) for _, call in indexed(item.get("tool_calls"))]
        if not calls and isinstance(listed := decoded(item.get("tool_calls")), list):
            calls = listed
        if not calls and isinstance(old := item.get("function_call"), dict):
            calls.append({"name": old.get("name"), "arguments": old.get("arguments")})
        said: dict[str, JsonValue] = {
            **{key: item[key] for key in ("role", "name", "tool_call_id", "refusal", "finish_reason") if key in item},
            "content": _content(item.get("content", item.get("text")), text(item.get("finish_reason")) or ""),
            "tool_calls": calls,
        }
        found.append((message(said, role=role), text(item.get("finish_reason"))))
    return found


def _content(value: JsonValue, reason: str) -> JsonValue:
    """Decode content only where it is a list of parts: a tool's JSON result is text to the model."""
    if value == _EMPTY_TEXT or (value == _NO_CONTENT and _TOOLS in reason):
        # Some write as JSON that there is none.
        return None
    if isinstance(value, dict):
        # Some backends flatten the parts as well.
        return [part for _, part in indexed(value)] or None
    parts = decoded(value, depth=1)
    if isinstance(parts, list) and parts and all(isinstance(part, dict) and _is_part(part) for part in parts):
        return parts
    return value if isinstance(value, str) else None


def _is_part(value: dict[str, JsonValue]) -> bool:
    """Say whether an object is a part of a message: it has a type, or is one of Bedrock's, which have one key each."""
    return "type" in value or (len(value) == 1 and bool(part_kind(value)))


def _function(item: Tree) -> JsonValue:
    return {key: item.get(key) for key in ("name", "description", "parameters")}


def _documents(events: Sequence[SpanEvent]) -> tuple[Document, ...]:
    found: list[Document] = []
    for event in events:
        if event.name not in _RESULT_EVENTS:
            continue
        said = {key.removeprefix(event.name + "."): value for key, value in event.attributes.items()}
        if (distance := number(said.get("distance"))) is not None:
            # A score says how near a document is, a distance how far.
            said["metadata"] = {**json_mapping(said.get("metadata", said.get("entity"))), "distance": distance}
        found.append(document(said))
    return tuple(found)
