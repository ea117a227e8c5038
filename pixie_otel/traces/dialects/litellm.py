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
from pixie_otel.traces.dialects.identities import SESSION_NAMES, USER_NAMES, first_identity, identity
from pixie_otel.traces.dialects.literals import literal
from pixie_otel.traces.dialects.operations import operation_kind
from pixie_otel.traces.dialects.provider import read_request, read_response, read_usage
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.toolcalls import tool_definitions
from pixie_otel.traces.dialects.values import decoded, indexed, json_mapping, leaf, number, text, texts, tree
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "litellm"
ROOTS: Final = frozenset({"litellm", "llm"})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_CALL_KEYS: Final = (litellm_keys.CALL_TYPE, keys.TRACELOOP_REQUEST_TYPE, keys.GENAI_OPERATION)
_OTHER_VOCABULARIES: Final = (keys.OI_SPAN_KIND, keys.GENAI_OPERATION, keys.TRACELOOP_REQUEST_TYPE)
_RAW_SEGMENTS: Final = 3
_RAW_KEYS: Final = frozenset({"messages", "input", "contents", "prompt", "choices", "candidates", "content", "output"})
"""What only a provider's request or response has."""
_OPENING: Final = ("[", "{")
_NOBODY: Final = "None"
_SESSION_NAMES: Final = (*SESSION_NAMES, "trace_session_id", "litellm_session_id")
_USER_NAMES: Final = ("trace_user_id", *USER_NAMES)


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
    reading = Reading(kind=_kind(attributes), cost=number(attributes.get(litellm_keys.COST_TOTAL)))
    asked_by = json_mapping(literal(decoded(attributes.get(litellm_keys.REQUESTER_METADATA))))
    reading.session_id = first_identity(asked_by, _SESSION_NAMES)
    reading.user_id = identity(attributes.get(litellm_keys.USER)) or first_identity(asked_by, _USER_NAMES)
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
    """Say what was called: the function's name is recorded, and the two conventions' names for it."""
    kinds = (operation_kind(attributes.get(key)) for key in _CALL_KEYS)
    return next((kind for kind in kinds if kind is not None), None)


def _raw_call(attributes: Mapping[str, JsonValue]) -> Reading | None:
    """Read a request and its response, field by field as the provider has them."""
    found: dict[str, JsonValue] = {}
    providers: set[str] = set()
    for key, value in attributes.items():
        path = key.split(".", _RAW_SEGMENTS) if key.startswith(keys.LLM_PREFIX) else ()
        if len(path) == _RAW_SEGMENTS:
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
    return Reading(
        kind=ObservationKind.EMBEDDING,
        provider=None if provider == _NOBODY else provider,
        response_model=text(body.get("model")),
        input_tokens=read_usage(json_mapping(body.get("usage"))).input_tokens,
        texts=texts(body.get("input")) or None,
    )
