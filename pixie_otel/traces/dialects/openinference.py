"""OpenInference: flat keys with indexes, and ``input.value``/``output.value`` on every span.

Source: the OpenInference specification and openinference-semantic-conventions 0.1.x, as its instrumentors for OpenAI,
Anthropic, LangChain, LlamaIndex and the OpenAI Agents SDK write it (Python and JavaScript).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.call_ids import identified, lacks_ids
from pixie_otel.traces.dialects.flat_messages import (
    FlatLists,
    first_index,
    flat_items,
    flat_lists,
    flat_messages,
    flat_texts,
    items,
    shown,
)
from pixie_otel.traces.dialects.identities import SESSION_NAMES, USER_NAMES, first_identity, identity
from pixie_otel.traces.dialects.openinference_calls import ends_the_run, read_documents, read_tool
from pixie_otel.traces.dialects.openinference_runs import read_answer, run_input, run_output
from pixie_otel.traces.dialects.provider import read_parameters, read_request
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.recorded import read_embedding
from pixie_otel.traces.dialects.shown_objects import holds_objects, opened
from pixie_otel.traces.dialects.toolcalls import tool_definitions
from pixie_otel.traces.dialects.values import (
    Tree,
    decoded,
    json_object,
    json_value,
    leaf,
    number,
    text,
    tree,
    whole,
)
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "openinference"
_JSON_MIME: Final = "application/json"
_INPUT: Final = "input_messages"
_OUTPUT: Final = "output_messages"
_KINDS: Final = {kind.value: kind for kind in ObservationKind}
_NO_KINDS: Final = frozenset({"", "unknown", "unspecified"})
_SIGNS: Final = (
    ((keys.OI_RERANKER_INPUT_DOCUMENTS, keys.OI_RERANKER_OUTPUT_DOCUMENTS), ObservationKind.RERANKER),
    ((keys.OI_RETRIEVAL_DOCUMENTS,), ObservationKind.RETRIEVER),
    ((keys.OI_EMBEDDINGS,), ObservationKind.EMBEDDING),
    (
        (
            keys.LLM_OUTPUT_MESSAGES,
            keys.LLM_MODEL_NAME,
            keys.LLM_TOKENS_PROMPT,
            keys.LLM_TOKENS_COMPLETION,
            keys.LLM_SYSTEM,
        ),
        ObservationKind.LLM,
    ),
)
"""Which keys, or beginnings of keys, only spans of a kind have."""
_CONTENT_KEYS: Final = (
    keys.INPUT_VALUE,
    keys.OUTPUT_VALUE,
    keys.LLM_INPUT_MESSAGES,
    keys.LLM_TOOLS,
    keys.LLM_PROMPTS,
    keys.LLM_CHOICES,
)
ROOTS: Final = frozenset({keys.OI_SPAN_KIND, *_CONTENT_KEYS, *(key for signs, _ in _SIGNS for key in signs)})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_RESPONSE_ID: Final = re.compile(r'\{\s*"id":\s*"([^"\\]+)"')
"""How a provider's response begins: OpenAI's and Anthropic's name the answer first."""


def read(span: SpanFacts) -> Reading | None:
    """Read what OpenInference says of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its keys is there.
    """
    attributes = span.attributes
    kind = _kind(attributes)
    if kind is ObservationKind.TOOL and ends_the_run(span):
        kind = ObservationKind.CHAIN
    if kind is None and not any(key.startswith(_CONTENT_KEYS) for key in attributes):
        return None
    metadata = span.json_object(keys.METADATA)
    reading = Reading(
        kind=kind,
        metadata=metadata or None,
        session_id=identity(attributes.get(keys.SESSION_ID)) or first_identity(metadata, SESSION_NAMES),
        user_id=identity(attributes.get(keys.USER_ID)) or first_identity(metadata, USER_NAMES),
        agent_name=text(attributes.get(keys.OI_AGENT_NAME)),
    )
    if keys.OI_REDACTED in (attributes.get(keys.INPUT_VALUE), attributes.get(keys.OUTPUT_VALUE)):
        reading.notes = ("content was hidden by the producer (OPENINFERENCE_HIDE_*)",)
    if kind is ObservationKind.LLM:
        _read_llm(attributes, reading)
        return reading
    reading.input = _value(attributes, keys.INPUT_VALUE, keys.INPUT_MIME_TYPE)
    reading.output = _value(attributes, keys.OUTPUT_VALUE, keys.OUTPUT_MIME_TYPE)
    match kind:
        case ObservationKind.TOOL:
            read_tool(span, reading)
        case ObservationKind.RETRIEVER | ObservationKind.RERANKER:
            read_documents(attributes, reading)
        case ObservationKind.EMBEDDING:
            _read_embedding(attributes, reading)
        case ObservationKind.AGENT | ObservationKind.CHAIN:
            given, given_back = attributes.get(keys.INPUT_VALUE), attributes.get(keys.OUTPUT_VALUE)
            reading.input = run_input(reading.input, has_shown=holds_objects(given))
            reading.output = run_output(reading.output, has_shown=holds_objects(given_back))
            _read_messages(attributes, flat_lists(attributes), reading)
        case _:
            pass
    return reading


def _kind(attributes: Mapping[str, JsonValue]) -> ObservationKind | None:
    said = text(attributes.get(keys.OI_SPAN_KIND))
    if said is not None and (name := said.strip().lower()) not in _NO_KINDS:
        # A kind that is not OpenInference's says nothing; what else is on the span may say more.
        return _KINDS.get(name)
    # The key is set first and a full span drops its oldest attributes first, so long conversations lose it.
    for prefix, kind in _SIGNS:
        if any(key.startswith(prefix) for key in attributes):
            return kind
    return None


def _value(attributes: Mapping[str, JsonValue], key: str, mime_key: str) -> JsonValue:
    value = shown(attributes.get(key))
    mime = text(attributes.get(mime_key))
    if mime is not None and mime != _JSON_MIME:
        return value
    found = json_value(value) if mime else decoded(value)
    return opened(found) if holds_objects(value) else found


def _read_messages(attributes: Mapping[str, JsonValue], lists: FlatLists, reading: Reading) -> None:
    reading.input_messages = flat_messages(flat_items(attributes, lists, _INPUT), "user")
    reading.output_messages = flat_messages(flat_items(attributes, lists, _OUTPUT), "assistant")
    first = first_index(lists.get(_INPUT))
    if first > 1:
        # A full span drops its oldest attributes; index 0 is missing also where there are no instructions.
        reading.notes += (f"the messages before number {first} are missing",)


def _read_llm(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    lists = flat_lists(attributes)
    _read_messages(attributes, lists, reading)
    if reading.input_messages is None:
        prompts = flat_items(attributes, lists, "prompts")
        reading.input_messages = flat_texts(attributes.get(keys.LLM_PROMPTS), prompts, "prompt", "user")
    if reading.output_messages is None:
        choices = flat_items(attributes, lists, "choices")
        reading.output_messages = flat_texts(attributes.get(keys.LLM_CHOICES), choices, "completion", "assistant")
    tools = [_tool(item) for item in flat_items(attributes, lists, "tools")]
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
    reading.cost = _cost(attributes)
    reading.raw_finish_reasons = (reason,) if reason else None
    reading.tool_definitions = tool_definitions(tools) or None
    if (parameters := json_object(attributes.get(keys.LLM_INVOCATION_PARAMETERS))) is not None:
        reading.fill(read_parameters(parameters))
        reading.session_id = reading.session_id or first_identity(
            json_object(parameters.get(keys.METADATA)), SESSION_NAMES
        )
    _read_bodies(attributes, reading)


def _tool(fields: Tree) -> JsonValue:
    found = fields.get(keys.OI_TOOL_JSON_SCHEMA, fields.get("json_schema"))
    if found is not None:
        return found
    inner = tree(fields, ("tool",)).get("tool")
    return inner.get("json_schema", inner) if isinstance(inner, dict) else fields


def _read_bodies(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    """Take from the request and the response what the other attributes do not say.

    They are the largest attributes and repeat what the messages say, so they are decoded only where something is
    missing.
    """
    has_model = reading.request_model is not None or reading.response_model is not None
    answers = reading.output_messages
    if reading.input_messages is None or not has_model:
        reading.input = _value(attributes, keys.INPUT_VALUE, keys.INPUT_MIME_TYPE)
        reading.fill(read_request(reading.input))
    is_whole = answers is not None and not lacks_ids(answers)
    if not is_whole or not has_model or reading.output_tokens is None or reading.raw_finish_reasons is None:
        reading.output = _value(attributes, keys.OUTPUT_VALUE, keys.OUTPUT_MIME_TYPE)
        said = read_answer(reading.output)
        if answers is not None:
            reading.output_messages = identified(answers, said.output_messages or ())
        reading.fill(said)
    elif isinstance(body := attributes.get(keys.OUTPUT_VALUE), str) and (found := _RESPONSE_ID.match(body)):
        reading.response_id = found[1]


def _cost(attributes: Mapping[str, JsonValue]) -> float | None:
    total = number(attributes.get(keys.LLM_COST_TOTAL))
    if total is not None:
        return total
    parts = [number(attributes.get(key)) for key in (keys.LLM_COST_PROMPT, keys.LLM_COST_COMPLETION)]
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _read_embedding(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    embeddings = items(leaf(tree(attributes, (keys.OI_EMBEDDINGS,)), "embedding", "embeddings"), "embedding")
    texts = (text(shown(item.get("text"))) for item in embeddings)
    reading.texts = tuple(found for found in texts if found) or None
    reading.response_model = text(attributes.get(keys.OI_EMBEDDING_MODEL)) or text(attributes.get(keys.LLM_MODEL_NAME))
    reading.provider = text(attributes.get(keys.LLM_PROVIDER)) or text(attributes.get(keys.LLM_SYSTEM))
    reading.input_tokens = whole(attributes.get(keys.LLM_TOKENS_PROMPT))
    # What failed has neither texts nor a model under keys of their own.
    reading.fill(read_embedding(reading.input, None))
    reading.fill(read_parameters(attributes.get(keys.OI_EMBEDDING_PARAMETERS)))
