"""What people say of an observation: its kind, its name, whose it is; never a reason for an application to fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

from pixie_otel import attributes as keys
from pixie_otel.diagnostics import warn
from pixie_otel.tracing.spans import AttributeValue
from pixie_otel.tracing.type_facts import type_name, type_of
from pixie_otel.tracing.values import encode_arguments

__all__ = ["Kind", "end_attributes", "kind_attribute", "shown", "text_of"]

Kind: TypeAlias = Literal[
    "agent", "chain", "embedding", "evaluator", "guardrail", "llm", "prompt", "reranker", "retriever", "tool"
]
"""What an observation can be; OpenInference's kinds of spans."""

_LONGEST_SHOWN: Final = 80
_KINDS: Final[frozenset[str]] = frozenset(get_args(Kind))


def kind_attribute(kind: object) -> str:
    """Give a kind as OpenInference writes it; a chain, and a warning, for one that there is not."""
    plain = kind.lower() if type(kind) is str else ""
    if plain in _KINDS:
        return plain.upper()
    word = shown(kind)
    warn(
        f"kind:{word}",
        f"there is no observation of the kind {word}; it is recorded as a chain. Kinds are "
        f"{', '.join(sorted(_KINDS))}.",
    )
    return "CHAIN"


def text_of(value: Any, what: str) -> str:  # noqa: ANN401 - whatever was given
    """Give a text as it is, and a number as text; a warning, and the type's name, for anything else.

    Args:
        value: What was given.
        what: What it was given for, for the warning.
    """
    if type(value) is str:
        return value
    kind = type_of(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        return int.__repr__(value)
    warn(f"no-text:{what}", f"{what} must be a text; a {type_name(kind)} was given")
    return type_name(kind)


def shown(value: object) -> str:
    """Give a wrong word as it is shown in a warning, without asking an object of the application's."""
    return repr(value[:_LONGEST_SHOWN]) if type(value) is str else f"<{type_name(type(value))}>"


def end_attributes(
    name: str, kind: str, session_id: object, user_id: object, metadata: Mapping[str, object] | None
) -> dict[str, AttributeValue]:
    """Give what is said of an observation beside its input and output."""
    attributes: dict[str, AttributeValue] = {keys.OI_TOOL_NAME: name} if kind == "TOOL" else {}
    if session_id is not None:
        attributes[keys.SESSION_ID] = text_of(session_id, "session_id")
    if user_id is not None:
        attributes[keys.USER_ID] = text_of(user_id, "user_id")
    if metadata is not None:
        attributes[keys.METADATA] = encode_arguments(metadata).text
    return attributes
