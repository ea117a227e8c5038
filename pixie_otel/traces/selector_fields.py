"""The fields by which selectors choose observations: name, kind, tool, agent, wrap, model, status."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.spans import AgentSpan, EmbeddingSpan, LLMSpan, ObservationKind, ObserveSpan, ToolSpan

__all__ = ["FIELDS", "SelectorField", "attribute_values"]


@dataclass(frozen=True, slots=True)
class SelectorField:
    """A field of observations.

    Attributes:
        read: Gives what an observation says of it; nothing for one that has no such field.
        plural: What the values are called.
        words: The values there are, where they are not free.
    """

    read: Callable[[ObserveSpan], Iterable[str]]
    plural: str
    words: tuple[str, ...] = ()


def attribute_values(span: ObserveSpan, key: str) -> Iterator[JsonValue]:
    """Give what stands under a key on a span and on its resource.

    Args:
        span: The span.
        key: The attribute's key.
    """
    for attributes in (span.attributes, span.resource):
        if key in attributes:
            yield attributes[key]


def _tools(span: ObserveSpan) -> Iterable[str]:
    return (span.tool_name or "",) if isinstance(span, ToolSpan) else ()


def _agents(span: ObserveSpan) -> Iterable[str]:
    return (span.agent_name or span.name,) if isinstance(span, AgentSpan) else ()


def _wraps(span: ObserveSpan) -> Iterable[str]:
    if keys.PIXIE_WRAP_PURPOSE not in span.attributes:
        return ()
    return (str(span.attributes.get(keys.PIXIE_WRAP_NAME) or span.name),)


def _models(span: ObserveSpan) -> Iterable[str]:
    if isinstance(span, LLMSpan):
        return filter(None, (span.response_model, span.request_model))
    return (span.model,) if isinstance(span, EmbeddingSpan) and span.model else ()


FIELDS: Final[dict[str, SelectorField]] = {
    "name": SelectorField(lambda span: (span.name,), "names"),
    "kind": SelectorField(lambda span: (span.kind.value,), "kinds", tuple(ObservationKind)),
    "tool": SelectorField(_tools, "tools"),
    "agent": SelectorField(_agents, "agents"),
    "wrap": SelectorField(_wraps, "wrapped values"),
    "model": SelectorField(_models, "models"),
    "status": SelectorField(lambda span: ("ok" if span.error is None else "error",), "statuses", ("error", "ok")),
}
