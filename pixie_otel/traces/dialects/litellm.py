"""LiteLLM: what its own two loggers add to the conventions that they follow.

The older one makes ``litellm_request`` and in it ``raw_gen_ai_request``, the provider's request and response under
``llm.<provider>.*`` as Python shows them; the newer one (``LITELLM_OTEL_V2``) makes one span a call.

Source: LiteLLM 1.80 to 1.110, Python and proxy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.attributes import litellm as litellm_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.literals import literal
from pixie_otel.traces.dialects.provider import read_request, read_response, read_usage
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.toolcalls import tool_definitions
from pixie_otel.traces.dialects.values import decoded, first_text, indexed, json_mapping, leaf, number, text, tree
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "litellm"
ROOTS: Final = frozenset({"litellm", "llm"})
"""The first segments of the keys that this dialect reads."""

_CALL_TYPES: Final = {
    "chat": ObservationKind.LLM,
    "completion": ObservationKind.LLM,
    "text_completion": ObservationKind.LLM,
    "responses": ObservationKind.LLM,
    "anthropic_messages": ObservationKind.LLM,
    "generate_content": ObservationKind.LLM,
    "generate_content_stream": ObservationKind.LLM,
    "embedding": ObservationKind.EMBEDDING,
    "rerank": ObservationKind.RERANKER,
}
"""The functions that may have been called; those of ``asyncio`` have an ``a`` before these names."""
_OTHER_VOCABULARIES: Final = (keys.OI_SPAN_KIND, keys.GENAI_OPERATION, keys.TRACELOOP_REQUEST_TYPE)
_RAW_SEGMENTS: Final = 3
_RAW_KEYS: Final = frozenset({"messages", "input", "contents", "prompt", "choices", "candidates", "content", "output"})
"""What only a provider's request or response has."""
_OPENING: Final = ("[", "{")
_NOBODY: Final = "None"
_SESSION_KEYS: Final = ("session_id", "trace_session_id", "litellm_session_id", "thread_id", "conversation_id")
_USER_KEYS: Final = ("trace_user_id", "user_id")


def read(span: SpanFacts) -> Reading | None:
    """Read what LiteLLM says of a call.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its own keys is there.
    """
    attributes = span.attributes
    if litellm_keys.CALL_ID in attributes:
        return _call(attributes)
    if any(key in attributes for key in _OTHER_VOCABULARIES):
        return None
    return _raw_call(attributes)


def _call(attributes: Mapping[str, JsonValue]) -> Reading:
    reading = Reading(kind=_kind(attributes), cost=_cost(attributes))
    asked_by = json_mapping(literal(decoded(attributes.get(litellm_keys.REQUESTER_METADATA))))
    reading.session_id = first_text(asked_by, _SESSION_KEYS)
    reading.user_id = text(attributes.get(litellm_keys.USER)) or first_text(asked_by, _USER_KEYS)
    provider, _, model = (text(attributes.get(litellm_keys.PROVIDER_MODEL)) or "").partition("/")
    if model and not any(text(attributes.get(key)) for key in (keys.GENAI_PROVIDER, keys.GENAI_SYSTEM)):
        reading.provider = provider
    used = read_usage(json_mapping(literal(decoded(attributes.get(litellm_keys.USAGE_OBJECT)))))
    # What is counted in whole stands in OpenTelemetry's attributes as well.
    reading.cache_read_tokens = used.cache_read_tokens
    reading.cache_creation_tokens = used.cache_creation_tokens
    reading.reasoning_tokens = used.reasoning_tokens
    prefix = f"{litellm_keys.TOOLS}."
    listed = indexed(leaf(tree(attributes, (prefix,)), *litellm_keys.TOOLS.split(".")))
    reading.tool_definitions = tool_definitions(dict(item) for _, item in listed) or None
    if reading.kind is ObservationKind.EMBEDDING:
        given = messages(attributes.get(keys.GENAI_INPUT_MESSAGES))
        reading.texts = tuple(item.text for item in given if item.text) or None
    return reading


def _kind(attributes: Mapping[str, JsonValue]) -> ObservationKind | None:
    for key in (litellm_keys.CALL_TYPE, keys.TRACELOOP_REQUEST_TYPE, keys.GENAI_OPERATION):
        said = text(attributes.get(key)) or ""
        if (kind := _CALL_TYPES.get(said) or _CALL_TYPES.get(said.removeprefix("a"))) is not None:
            return kind
    return None


def _cost(attributes: Mapping[str, JsonValue]) -> float | None:
    costs = (number(attributes.get(key)) for key in (litellm_keys.COST_TOTAL, litellm_keys.OLD_COST_TOTAL))
    return next((cost for cost in costs if cost is not None), None)


def _raw_call(attributes: Mapping[str, JsonValue]) -> Reading | None:
    """Read a request and its response, field by field as the provider has them."""
    found: dict[str, JsonValue] = {}
    providers: set[str] = set()
    for key, value in attributes.items():
        path = key.split(".", _RAW_SEGMENTS)
        if len(path) == _RAW_SEGMENTS and key.startswith(keys.LLM_PREFIX):
            providers.add(path[1])
            found[path[2]] = value
    if len(providers) != 1 or _RAW_KEYS.isdisjoint(found):
        return None
    (provider,) = providers
    read = {name: literal(decoded(value)) for name, value in found.items()}
    # What is left of a list or an object that was cut is nobody's words.
    body = {name: value for name, value in read.items() if not (isinstance(value, str) and value[:1] in _OPENING)}
    if isinstance(body.get("data"), list):
        return _raw_embedding(body, provider)
    reading = read_request(body)
    # Where both have a model, or tools, one took the other's place.
    reading.fill(read_response(body))
    if reading.input_messages is None and reading.output_messages is None:
        return None
    reading.kind = ObservationKind.LLM
    reading.provider = None if provider == _NOBODY else provider
    return reading


def _raw_embedding(body: dict[str, JsonValue], provider: str) -> Reading:
    given = body.get("input")
    listed = given if isinstance(given, list) else [given]
    return Reading(
        kind=ObservationKind.EMBEDDING,
        provider=None if provider == _NOBODY else provider,
        response_model=text(body.get("model")),
        input_tokens=read_usage(json_mapping(body.get("usage"))).input_tokens,
        texts=tuple(item for item in listed if isinstance(item, str) and item) or None,
    )
