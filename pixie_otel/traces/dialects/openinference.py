"""OpenInference: flat keys with indexes, and ``input.value``/``output.value`` on every span.

Source: the OpenInference specification and openinference-semantic-conventions 0.1.x, as its instrumentors for OpenAI,
Anthropic, LangChain, LlamaIndex and the OpenAI Agents SDK write it (Python and JavaScript).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.dialects.chat import message, tool_definitions
from pixie_otel.traces.dialects.provider import read_parameters, read_request, read_response
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import (
    Tree,
    call_arguments,
    decoded,
    indexed,
    json_mapping,
    json_object,
    leaf,
    number,
    text,
    tree,
    whole,
)
from pixie_otel.traces.messages import Message
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "openinference"
ROOTS: Final = frozenset(
    {
        "openinference",
        "llm",
        "input",
        "output",
        "embedding",
        "retrieval",
        "reranker",
        "tool",
        "agent",
        "session",
        "metadata",
    }
)
"""The first segments of the keys that this dialect reads."""

_JSON_MIME: Final = "application/json"
_TREES: Final = (
    keys.LLM_INPUT_MESSAGES,
    keys.LLM_OUTPUT_MESSAGES,
    keys.LLM_TOOLS,
    keys.LLM_PROMPTS,
    keys.LLM_CHOICES,
    keys.OI_RETRIEVAL_DOCUMENTS,
    keys.OI_RERANKER_INPUT_DOCUMENTS,
    keys.OI_RERANKER_OUTPUT_DOCUMENTS,
    keys.OI_EMBEDDINGS,
)
_LLM_SIGNS: Final = (keys.LLM_MODEL_NAME, keys.LLM_TOKENS_PROMPT, keys.LLM_TOKENS_COMPLETION, keys.LLM_SYSTEM)
_SESSION_KEYS: Final = ("session_id", "thread_id", "conversation_id")


def read(span: SpanFacts) -> Reading | None:
    """Read what OpenInference says of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its keys is there.
    """
    attributes = span.attributes
    shown_input, hidden_input = _value(attributes, keys.INPUT_VALUE, keys.INPUT_MIME_TYPE)
    shown_output, hidden_output = _value(attributes, keys.OUTPUT_VALUE, keys.OUTPUT_MIME_TYPE)
    branches = tree(attributes, _TREES)
    kind = _kind(attributes, branches)
    if kind is None and not branches and keys.INPUT_VALUE not in attributes and keys.OUTPUT_VALUE not in attributes:
        return None
    metadata = json_object(attributes.get(keys.METADATA))
    reading = Reading(
        kind=kind,
        input=shown_input,
        output=shown_output,
        metadata=metadata,
        session_id=text(attributes.get(keys.SESSION_ID)) or _session(metadata),
        user_id=text(attributes.get(keys.USER_ID)),
        agent_name=text(attributes.get(keys.OI_AGENT_NAME)),
    )
    if hidden_input or hidden_output:
        reading.notes = ("content was hidden by the producer (OPENINFERENCE_HIDE_*)",)
    match kind:
        case ObservationKind.LLM:
            _read_llm(attributes, branches, reading)
        case ObservationKind.TOOL:
            _read_tool(attributes, reading)
        case ObservationKind.RETRIEVER | ObservationKind.RERANKER:
            _read_documents(attributes, branches, reading)
        case ObservationKind.EMBEDDING:
            _read_embedding(attributes, branches, reading)
        case ObservationKind.AGENT | ObservationKind.CHAIN:
            reading.input_messages = _messages(branches, "input_messages")
            reading.output_messages = _messages(branches, "output_messages")
        case _:
            pass
    return reading


def _kind(attributes: Mapping[str, JsonValue], branches: Tree) -> ObservationKind | None:
    said = text(attributes.get(keys.OI_SPAN_KIND))
    if said is not None:
        try:
            return ObservationKind(said.lower())
        except ValueError:
            return ObservationKind.OTHER
    # The key is set first and a full span drops its oldest attributes first, so long conversations lose it.
    if leaf(branches, "llm", "output_messages") is not None or any(key in attributes for key in _LLM_SIGNS):
        return ObservationKind.LLM
    return None


def _value(attributes: Mapping[str, JsonValue], key: str, mime_key: str) -> tuple[JsonValue, bool]:
    value = attributes.get(key)
    if value == keys.OI_REDACTED:
        return None, True
    mime = attributes.get(mime_key)
    return (decoded(value) if mime in (_JSON_MIME, None) else value), False


def _session(metadata: dict[str, JsonValue] | None) -> str | None:
    if metadata is None:
        return None
    return next((found for key in _SESSION_KEYS if (found := text(metadata.get(key)))), None)


def _read_llm(attributes: Mapping[str, JsonValue], branches: Tree, reading: Reading) -> None:
    reading.input_messages = _messages(branches, "input_messages") or _prompts(branches, "prompts", "prompt")
    reading.output_messages = _messages(branches, "output_messages") or _prompts(branches, "choices", "completion")
    tools = [
        leaf(item, "tool", "json_schema") or leaf(item, "json_schema")
        for _, item in indexed(leaf(branches, "llm", "tools"))
    ]
    reason = text(attributes.get(keys.LLM_FINISH_REASON))
    model = text(attributes.get(keys.LLM_MODEL_NAME))
    reading.provider = text(attributes.get(keys.LLM_PROVIDER)) or text(attributes.get(keys.LLM_SYSTEM))
    reading.request_model = text(attributes.get(keys.LLM_REQUEST_MODEL_NAME))
    reading.response_model = text(attributes.get(keys.LLM_RESPONSE_MODEL_NAME)) or model
    reading.input_tokens = whole(attributes.get(keys.LLM_TOKENS_PROMPT))
    reading.output_tokens = whole(attributes.get(keys.LLM_TOKENS_COMPLETION))
    cached = whole(attributes.get(keys.LLM_TOKENS_CACHE_READ))
    reading.cache_read_tokens = whole(attributes.get(keys.LLM_TOKENS_CACHE_INPUT)) if cached is None else cached
    reading.cache_creation_tokens = whole(attributes.get(keys.LLM_TOKENS_CACHE_WRITE))
    reading.reasoning_tokens = whole(attributes.get(keys.LLM_TOKENS_REASONING))
    reading.cost = number(attributes.get(keys.LLM_COST_TOTAL))
    reading.raw_finish_reasons = (reason,) if reason else None
    reading.tool_definitions = tool_definitions(tools) or None
    reading.fill(read_parameters(attributes.get(keys.LLM_INVOCATION_PARAMETERS)))
    reading.fill(read_request(reading.input))
    reading.fill(read_response(reading.output))


def _messages(branches: Tree, which: str) -> tuple[Message, ...] | None:
    role = "assistant" if which == "output_messages" else "user"
    branch = leaf(branches, "llm", which)
    found: list[Message] = []
    if isinstance(branch, dict):
        for _, item in indexed(branch):
            inner = item.get("message")
            found.append(message(_as_chat(inner if isinstance(inner, dict) else item), role=role))
    else:
        # Some producers, and nested exports, hold the whole list in the one attribute.
        listed = decoded(branch)
        for entry in listed if isinstance(listed, list) else []:
            if isinstance(entry, dict):
                inner = entry.get("message")
                flat = tree(entry, ("message",)).get("message")
                chosen = inner if isinstance(inner, dict) else flat if isinstance(flat, dict) else entry
                found.append(message(_as_chat(chosen), role=role))
    return tuple(found) or None


def _as_chat(item: Tree) -> dict[str, JsonValue]:
    """Give an OpenInference message in the shape of a chat message."""
    said: dict[str, JsonValue] = {
        key: item[key] for key in ("role", "name", "tool_call_id") if isinstance(item.get(key), str)
    }
    parts = [_as_part(leaf(part, "message_content") or part) for part in _items(item.get("contents"))]
    content = item.get("content")
    if isinstance(content, dict):
        content = content.get("")
    has_text = any(part.get("type") == "text" for part in parts)
    if isinstance(content, str) and content and not has_text:
        parts.insert(0, {"type": "text", "text": content})
    elif isinstance(content, list):
        parts.extend(part for part in content if isinstance(part, dict))
    said["parts"] = list(parts)
    calls = [_as_call(leaf(call, "tool_call") or call) for call in _items(item.get("tool_calls"))]
    if isinstance(name := item.get("function_call_name"), str):
        calls.append({"function": {"name": name, "arguments": item.get("function_call_arguments_json")}})
    said["tool_calls"] = list(calls)
    return said


def _items(branch: JsonValue) -> list[Tree]:
    if isinstance(branch, list):
        return [item for item in branch if isinstance(item, dict)]
    return [item for _, item in indexed(branch)]


def _as_part(part: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(part, dict):
        return {}
    kind = text(part.get("type")) or ("text" if "text" in part else "unknown")
    url = leaf(part, "image", "image", "url")
    if url is not None:
        return {"type": "image", "url": url}
    return {**part, "type": kind}


def _as_call(call: JsonValue) -> dict[str, JsonValue]:
    return {
        "id": leaf(call, "id"),
        "function": {"name": leaf(call, "function", "name"), "arguments": leaf(call, "function", "arguments")},
    }


def _prompts(branches: Tree, which: str, inner: str) -> tuple[Message, ...] | None:
    """Read the texts of a completion call: prompts in, choices out."""
    branch = leaf(branches, "llm", which)
    role = "user" if which == "prompts" else "assistant"
    if isinstance(branch, list):
        said = [item for item in branch if isinstance(item, str)]
    else:
        said = [found for _, item in indexed(branch) if (found := text(leaf(item, inner, "text")))]
    return tuple(message({"content": item}, role=role) for item in said) or None


def _read_tool(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    reading.tool_name = text(attributes.get(keys.OI_TOOL_NAME))
    reading.tool_description = text(attributes.get(keys.OI_TOOL_DESCRIPTION))
    reading.tool_call_id = text(attributes.get(keys.OI_TOOL_CALL_ID)) or text(attributes.get(keys.OI_TOOL_ID))
    reading.arguments = call_arguments(reading.input)
    result = json_object(reading.output)
    if result is not None and result.get("type") == "tool" and isinstance(inner := result.get("data"), dict):
        # LangChain gives the tool message that it makes of the result.
        reading.result = decoded(inner.get("content"))
        reading.output = reading.result
        reading.tool_call_id = reading.tool_call_id or text(inner.get("tool_call_id"))
    else:
        reading.result = decoded(reading.output)


def _read_documents(attributes: Mapping[str, JsonValue], branches: Tree, reading: Reading) -> None:
    said = json_mapping(reading.input)
    reading.query = text(attributes.get(keys.OI_RERANKER_QUERY)) or text(reading.input) or text(said.get("query"))
    for path in (("retrieval", "documents"), ("reranker", "output_documents")):
        branch = leaf(branches, *path)
        items = _items(decoded(branch) if isinstance(branch, str) else branch)
        if items:
            reading.documents = tuple(_document(leaf(item, "document") or item) for item in items)
            return


def _document(item: JsonValue) -> Document:
    content = leaf(item, "content")
    identity = leaf(item, "id")
    return Document(
        content=content if isinstance(content, str) else "",
        id=None if identity is None else str(identity),
        score=number(leaf(item, "score")),
        metadata=json_object(leaf(item, "metadata")),
    )


def _read_embedding(attributes: Mapping[str, JsonValue], branches: Tree, reading: Reading) -> None:
    embeddings = indexed(leaf(branches, "embedding", "embeddings"))
    texts = (text(leaf(item, "embedding", "text")) for _, item in embeddings)
    reading.texts = tuple(found for found in texts if found) or None
    reading.response_model = text(attributes.get(keys.OI_EMBEDDING_MODEL)) or text(attributes.get(keys.LLM_MODEL_NAME))
    reading.provider = text(attributes.get(keys.LLM_PROVIDER)) or text(attributes.get(keys.LLM_SYSTEM))
    reading.input_tokens = whole(attributes.get(keys.LLM_TOKENS_PROMPT))
