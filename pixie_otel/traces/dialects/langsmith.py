"""LangSmith's OpenTelemetry export: a run's inputs and outputs as JSON, as ``gen_ai.prompt`` and ``gen_ai.completion``.

Source: langsmith 0.3 to 0.15 for Python and its JavaScript twin: ``@traceable``, the wrappers of OpenAI and Anthropic,
and LangChain's and LangGraph's tracer. `pixie_otel.traces.dialects.genai` reads the plain GenAI attributes beside them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.attributes import langsmith as own_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.failures import failure, last_exception
from pixie_otel.traces.dialects.identities import SESSION_NAMES, USER_NAMES, first_identity
from pixie_otel.traces.dialects.literals import literal
from pixie_otel.traces.dialects.provider import read_parameters, read_usage
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.recorded import (
    read_function,
    read_given,
    read_given_back,
)
from pixie_otel.traces.dialects.values import below, decoded, first_text, json_mapping, number, text, whole
from pixie_otel.traces.spans import ObservationKind, SpanError

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "langsmith"
ROOTS: Final = frozenset({"langsmith"})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_KINDS: Final = {
    "llm": ObservationKind.LLM,
    "chain": ObservationKind.CHAIN,
    "tool": ObservationKind.TOOL,
    "retriever": ObservationKind.RETRIEVER,
    "embedding": ObservationKind.EMBEDDING,
    "prompt": ObservationKind.PROMPT,
    "parser": ObservationKind.CHAIN,
    "agent": ObservationKind.AGENT,
}
_INPUT_NAMES: Final = ("input",)
_OUTPUT_NAMES: Final = ("output", "outputs")
_MODEL_NAMES: Final = ("ls_model_name", "model_name", "model")
_DETAILS: Final = (
    ("input_token_details", own_keys.INPUT_TOKEN_DETAILS),
    ("output_token_details", own_keys.OUTPUT_TOKEN_DETAILS),
)
"""What of the tokens was cached or spent on reasoning, as Python shows it or as JSON."""
_TRACEBACK: Final = "Traceback (most recent call last)"
_EXCEPTION: Final = re.compile(r"([A-Za-z_][\w.]*)\((.*?),?\)\s*", re.DOTALL)
"""An exception as ``repr()`` writes it."""


def read(span: SpanFacts) -> Reading | None:
    """Read what LangSmith's keys say of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its keys is there.
    """
    attributes = span.attributes
    if not any(key.startswith(own_keys.PREFIX) for key in attributes):
        return None
    metadata = below(attributes, own_keys.METADATA_PREFIX)
    reading = Reading(
        metadata=metadata or None,
        session_id=first_identity(metadata, SESSION_NAMES),
        user_id=first_identity(metadata, USER_NAMES),
    )
    run_type = text(attributes.get(own_keys.SPAN_KIND))
    if run_type is None:
        # Other instrumentations' spans may have LangSmith's metadata, too.
        return reading
    reading.kind = _KINDS.get(run_type.lower())
    reading.error = _error(span)
    given = decoded(attributes.get(keys.GENAI_PROMPT))
    given_back = _unwrapped(decoded(attributes.get(keys.GENAI_COMPLETION)), _OUTPUT_NAMES)
    reading.input, reading.output = _unwrapped(given, _INPUT_NAMES), given_back
    if reading.kind is ObservationKind.LLM:
        _read_call(attributes, metadata, reading)
    else:
        if reading.kind in (ObservationKind.TOOL, ObservationKind.EMBEDDING):
            # An argument of the app's own may be called like what LangSmith puts around a run's input.
            reading.input = given
        read_function(reading)
    return reading


def _unwrapped(value: JsonValue, names: tuple[str, ...]) -> JsonValue:
    """Give a run's input or output: what is no object is put into one, and an empty one stands for nothing."""
    if not isinstance(value, dict):
        return value
    only = next(iter(value)) if len(value) == 1 else None
    return value[only] if only in names else value or None


def _read_call(attributes: Mapping[str, JsonValue], metadata: dict[str, JsonValue], reading: Reading) -> None:
    reading.provider = text(metadata.get("ls_provider"))
    reading.request_model = text(attributes.get(keys.GENAI_REQUEST_MODEL))
    reading.input_tokens = whole(attributes.get(keys.GENAI_INPUT_TOKENS))
    reading.output_tokens = whole(attributes.get(keys.GENAI_OUTPUT_TOKENS))
    details = {name: literal(decoded(attributes.get(key))) for name, key in _DETAILS}
    reading.fill(read_usage({**details, **json_mapping(metadata.get("usage_metadata"))}))
    reading.fill(read_parameters(metadata.get("ls_invocation_params")))
    reading.fill(
        Reading(
            request_temperature=number(metadata.get("ls_temperature")),
            request_max_tokens=whole(metadata.get("ls_max_tokens")),
        )
    )
    reading.fill(read_given(reading.input))
    reading.fill(read_given_back(reading.output))
    if reading.request_model is None:
        reading.request_model = first_text(metadata, _MODEL_NAMES)
    if reading.error is not None and reading.output_messages is None:
        # LangChain makes an empty result of a call that failed.
        reading.output = None


def _error(span: SpanFacts) -> SpanError | None:
    """Give a run's error: it is recorded as an exception, whatever the status says."""
    event = last_exception(span)
    if event is None:
        return None
    said = (text(event.attributes.get(keys.EXCEPTION_MESSAGE)) or "").partition(_TRACEBACK)[0].strip()
    found = _EXCEPTION.fullmatch(said)
    if found is None:
        return failure(span, said)
    arguments = literal(f"[{found[2]}]")
    message = arguments[0] if isinstance(arguments, list) and arguments else found[2]
    return SpanError(message=message if isinstance(message, str) else found[2], type=found[1])
