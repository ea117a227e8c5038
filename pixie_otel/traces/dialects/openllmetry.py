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
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.toolcalls import tool_definitions
from pixie_otel.traces.dialects.values import (
    Tree,
    call_arguments,
    decoded,
    indexed,
    json_object,
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
ROOTS: Final = frozenset({"traceloop", "llm", "gen_ai", "db"})
"""The first segments of the keys that this dialect reads."""

_KINDS: Final = {
    "workflow": ObservationKind.CHAIN,
    "task": ObservationKind.CHAIN,
    "agent": ObservationKind.AGENT,
    "tool": ObservationKind.TOOL,
}
_REQUEST_KINDS: Final = {
    "chat": ObservationKind.LLM,
    "completion": ObservationKind.LLM,
    "embedding": ObservationKind.EMBEDDING,
    "rerank": ObservationKind.RERANKER,
}
_TREES: Final = (keys.GENAI_PROMPT, keys.GENAI_COMPLETION, keys.TRACELOOP_FUNCTIONS)
_OWN_KEYS: Final = (
    keys.TRACELOOP_PREFIX,
    keys.TRACELOOP_REQUEST_TYPE,
    keys.TRACELOOP_FUNCTIONS,
    keys.GENAI_PROMPT,
    keys.GENAI_COMPLETION,
)
_RESULT_EVENTS: Final = (keys.TRACELOOP_QUERY_RESULT, keys.TRACELOOP_SEARCH_RESULT)
_SESSION_NAMES: Final = ("session_id", "thread_id", "conversation_id", "chat_id")


def read(span: SpanFacts) -> Reading | None:
    """Read what OpenLLMetry says of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its own keys is there.
    """
    attributes = span.attributes
    if not span.events and not any(key.startswith(_OWN_KEYS) for key in attributes):
        return None
    branches = tree(attributes, _TREES)
    prompts = _messages(leaf(branches, "gen_ai", "prompt"), "user")
    completions = _messages(leaf(branches, "gen_ai", "completion"), "assistant")
    kind = _kind(attributes)
    documents = _documents(span.events)
    ours = kind is not None or any(key.startswith(keys.TRACELOOP_PREFIX) for key in attributes)
    if not (ours or prompts or completions or documents):
        return None
    reading = Reading(
        kind=kind or (ObservationKind.RETRIEVER if documents else ObservationKind.LLM if completions else None),
        input=_given(decoded(attributes.get(keys.TRACELOOP_ENTITY_INPUT))),
        output=_given_back(decoded(attributes.get(keys.TRACELOOP_ENTITY_OUTPUT))),
        session_id=_association(attributes, *_SESSION_NAMES),
        user_id=_association(attributes, "user_id"),
        input_messages=tuple(item for item, _ in prompts) or None,
        output_messages=tuple(item for item, _ in completions) or None,
        raw_finish_reasons=tuple(reason for _, reason in completions if reason) or None,
        reasoning_tokens=whole(attributes.get(keys.TRACELOOP_LLM_REASONING_TOKENS)),
        documents=documents or None,
    )
    entity = text(attributes.get(keys.TRACELOOP_ENTITY_NAME))
    if reading.kind is ObservationKind.TOOL:
        reading.tool_name = text(attributes.get(keys.GENAI_TOOL_NAME)) or entity
        reading.arguments = reading.input
        reading.result = reading.output
    elif reading.kind is ObservationKind.AGENT:
        reading.agent_name = text(attributes.get(keys.GENAI_AGENT_NAME)) or entity
    elif reading.kind is ObservationKind.EMBEDDING:
        reading.texts = tuple(item.text for item, _ in prompts if item.text) or None
        reading.input_messages = None
    functions = [_function(item) for _, item in indexed(leaf(branches, "llm", "request", "functions"))]
    reading.tool_definitions = tool_definitions(functions) or None
    return reading


def _kind(attributes: Mapping[str, JsonValue]) -> ObservationKind | None:
    said = text(attributes.get(keys.TRACELOOP_SPAN_KIND))
    if said is not None and (kind := _KINDS.get(said.lower())) is not None:
        return kind
    return _REQUEST_KINDS.get(text(attributes.get(keys.TRACELOOP_REQUEST_TYPE)) or "")


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
            "content": _content(item.get("content")),
            "tool_calls": calls,
        }
        found.append((message(said, role=role), text(item.get("finish_reason"))))
    return found


def _content(value: JsonValue) -> JsonValue:
    """Decode content only where it is a list of typed parts: a tool's JSON result is text to the model."""
    parts = decoded(value, depth=1)
    if isinstance(parts, list) and parts and all(isinstance(part, dict) and "type" in part for part in parts):
        return parts
    return value if isinstance(value, str) else None


def _function(item: Tree) -> JsonValue:
    return {key: item.get(key) for key in ("name", "description", "parameters")}


def _given(value: JsonValue) -> JsonValue:
    """Give what a framework's span was given, without the wrapping of Python calls and of LangChain's."""
    given = decoded(call_arguments(value))
    # A tool of the app's own may well have an argument of that name, but not all of these.
    if not isinstance(given, dict) or "inputs" not in given or given.keys().isdisjoint(("input_str", "kwargs")):
        return given
    return given["inputs"] or decoded(given.get("input_str"))


def _given_back(value: JsonValue) -> JsonValue:
    return value["outputs"] if isinstance(value, dict) and value.keys() == {"outputs", "kwargs"} else value


def _association(attributes: Mapping[str, JsonValue], *names: str) -> str | None:
    return next((found for name in names if (found := text(attributes.get(keys.TRACELOOP_ASSOCIATION + name)))), None)


def _documents(events: Sequence[SpanEvent]) -> tuple[Document, ...]:
    found: list[Document] = []
    for event in events:
        if event.name not in _RESULT_EVENTS:
            continue
        said = {key.removeprefix(event.name + "."): value for key, value in event.attributes.items()}
        identity = said.get("id")
        metadata = json_object(said.get("metadata"))
        if (distance := number(said.get("distance"))) is not None:
            # A score says how near a document is, a distance how far.
            metadata = {**(metadata or {}), "distance": distance}
        found.append(
            Document(
                content=text(said.get("document")) or "",
                id=None if identity is None else str(identity),
                score=number(said.get("score")),
                metadata=metadata,
            )
        )
    return tuple(found)
