"""CrewAI: what its instrumentations say of a crew, its tasks and its agents under keys of their own.

OpenInference's writes ``crew_tasks`` and ``crew_inputs`` beside its own vocabulary, OpenLLMetry's ``crewai.*``.

Source: openinference-instrumentation-crewai 1.1, opentelemetry-instrumentation-crewai 0.40 to 0.62.
"""

from __future__ import annotations

from typing import Final

from pixie_otel.attributes import crewai as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import decoded, json_object, text

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "crewai"
ROOTS: Final = frozenset({"crewai", keys.TASKS})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""


def read(span: SpanFacts) -> Reading | None:
    """Read what a crew's span says that its vocabulary has no words for.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of the keys is there.
    """
    attributes = span.attributes
    tasks = _tasks(attributes.get(keys.CREW_TASKS, attributes.get(keys.TASKS)))
    inputs = json_object(attributes.get(keys.INPUTS))
    given: JsonValue = {"inputs": inputs, "tasks": tasks} if inputs else tasks
    reading = Reading(
        input=given or text(attributes.get(keys.TASK_DESCRIPTION)),
        output=decoded(text(attributes.get(keys.CREW_RESULT))),
        agent_name=text(attributes.get(keys.AGENT_ROLE)),
    )
    said = (reading.input, reading.output, reading.agent_name)
    return None if said == (None, None, None) else reading


def _tasks(value: JsonValue) -> JsonValue:
    """Give what the tasks say is to be done: one text, or a list of several."""
    listed = decoded(value)
    if not isinstance(listed, list):
        return None
    said = [item.get("description") for item in listed if isinstance(item, dict)]
    texts: list[JsonValue] = [item for item in said if isinstance(item, str) and item]
    return texts[0] if len(texts) == 1 else texts or None
