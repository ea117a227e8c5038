"""What frameworks were asked and what they answered, as OpenInference's instrumentors write their functions' values."""

from __future__ import annotations

from typing import Final

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.plain import answer, plain_messages
from pixie_otel.traces.dialects.provider import read_response, read_usage
from pixie_otel.traces.dialects.reading import Reading
from pixie_otel.traces.dialects.recorded import read_given_back
from pixie_otel.traces.dialects.values import first_text, json_mapping

__all__ = ["read_answer", "run_input", "run_output"]

_WRAPPERS: Final = ("input_args", "data")
"""What DSPy's and Haystack's values stand under where nothing stands beside them."""
_SMOLAGENTS_RUN: Final = frozenset({"task", "reset", "additional_args"})
_ANSWERS: Final = ("last_message", "replies")
"""Where Haystack's agents and models have what they answered."""
_CREW_OUTPUT: Final = frozenset({"raw", "pydantic", "json_dict"})
_MAX_DEPTH: Final = 4


def run_input(value: JsonValue, *, has_shown: bool = False) -> JsonValue:
    """Give what a framework was asked, without what its function takes beside that.

    Args:
        value: What was recorded, decoded.
        has_shown: Whether messages in it were written as Python shows them.
    """
    if not isinstance(value, dict):
        return value
    if value.keys() >= _SMOLAGENTS_RUN and not value["additional_args"] and not value.get("images"):
        return value["task"]
    for key in _WRAPPERS:
        if value.keys() == {key} and isinstance(inner := value[key], dict):
            value = inner
    return _plain(value, 0) if has_shown else value


def run_output(value: JsonValue, *, has_shown: bool = False) -> JsonValue:
    """Give what a framework answered; the answer alone where it is one among what its components gave back.

    Args:
        value: What was recorded, decoded.
        has_shown: Whether messages in it were written as Python shows them.
    """
    if isinstance(value, dict) and value.keys() >= _CREW_OUTPUT:
        structured = next((found for key in ("json_dict", "pydantic") if (found := value[key])), None)
        return value["raw"] if structured is None else structured
    if not has_shown:
        return value
    answers = [
        answer(messages(said, role="assistant"))
        for part in ((value, *value.values()) if isinstance(value, dict) else ())
        if isinstance(part, dict) and (said := next((part[key] for key in _ANSWERS if part.get(key)), None))
    ]
    return answers[0] if len(answers) == 1 else _plain(value, 0)


def read_answer(value: JsonValue) -> Reading:
    """Read what a model gave back: a response, a message or a text, or Haystack's replies.

    Args:
        value: What was recorded, decoded.
    """
    replies = value.get("replies") if isinstance(value, dict) else None
    if not isinstance(replies, list):
        answered = read_response(value)
        if answered.output_messages is None:
            answered.fill(read_given_back(value))
        return answered
    metas = [json_mapping(reply.get("meta")) for reply in replies if isinstance(reply, dict)]
    reading = Reading(
        output_messages=messages(replies, role="assistant") or None,
        raw_finish_reasons=tuple(reason for meta in metas if (reason := first_text(meta, ("finish_reason",)))) or None,
        response_model=next((model for meta in metas if (model := first_text(meta, ("model",)))), None),
    )
    for meta in metas[:1]:
        reading.fill(read_usage(json_mapping(meta.get("usage"))))
    return reading


def _plain(value: JsonValue, depth: int) -> JsonValue:
    """Give lists of messages in the one form in which messages are shown."""
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, list):
        are_messages = bool(value) and all(isinstance(item, dict) and "role" in item for item in value)
        return plain_messages(messages(value)) if are_messages else [_plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item, depth + 1) for name, item in value.items()}
    return value
