"""Spring AI: clients, advisors, tools and vector stores, and the log lines that hold what models were asked.

Source: spring-ai 1.0 to 2.1 (``spring-ai-commons``, ``org.springframework.ai.observation``). Calls of models are under
OpenTelemetry's GenAI keys. What was asked and answered is in log lines only, as a list of texts without roles.
"""

from __future__ import annotations

from typing import Final

from pixie_otel.attributes import spring_ai as spring_keys
from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import decoded, text
from pixie_otel.traces.messages import Message
from pixie_otel.traces.spans import ObservationKind

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "spring_ai"
ROOTS: Final = frozenset({"spring", spring_keys.QUERY, ""})
"""The beginnings of its keys; its log lines have no name."""

_KINDS: Final = {
    "chat_client": ObservationKind.CHAIN,
    "advisor": ObservationKind.CHAIN,
    "tool_call": ObservationKind.TOOL,
    "vector_store": ObservationKind.CHAIN,
}
_KEYS: Final = (
    spring_keys.KIND,
    spring_keys.CONVERSATION_ID,
    spring_keys.TOOL_NAME,
    spring_keys.USER_TEXT,
    spring_keys.QUERY_CONTENT,
    spring_keys.QUERY_DOCUMENTS,
)
_PROMPTS: Final = ("Chat Model Prompt Content:", "Chat Client Prompt Content:")
_ANSWERS: Final = ("Chat Model Completion:", "Chat Client Completion:")
_FOUND: Final = "Vector Store Query Response:"


def read(span: SpanFacts) -> Reading | None:
    """Read what Spring AI's own keys and log lines say of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where there are none.
    """
    attributes = span.attributes
    if not span.events and not any(key in attributes for key in _KEYS):
        return None
    said = text(attributes.get(spring_keys.KIND))
    query = text(attributes.get(spring_keys.QUERY_CONTENT))
    reading = Reading(
        kind=_KINDS.get(said or ""),
        session_id=text(attributes.get(spring_keys.CONVERSATION_ID)),
        documents=_documents(attributes.get(spring_keys.QUERY_DOCUMENTS)),
    )
    logged = _read_lines(span, reading)
    if spring_keys.TOOL_NAME in attributes:
        _read_tool(attributes, reading)
    if query is not None or reading.documents is not None:
        reading.kind = ObservationKind.RETRIEVER
        reading.query = reading.input = query
        reading.output = [item.content for item in reading.documents or ()] or None
    elif user := text(attributes.get(spring_keys.USER_TEXT)):
        told = messages(attributes.get(spring_keys.SYSTEM_TEXT), role="system")
        reading.input_messages = (*told, *messages({"role": "user", "content": user}))
    return reading if said or logged or reading.kind or reading.session_id else None


def _read_tool(attributes: dict[str, JsonValue], reading: Reading) -> None:
    reading.kind = ObservationKind.TOOL
    reading.tool_name = text(attributes.get(spring_keys.TOOL_NAME))
    reading.tool_description = text(attributes.get(spring_keys.TOOL_DESCRIPTION))
    reading.tool_call_id = text(attributes.get(spring_keys.TOOL_CALL_ID))
    reading.arguments = reading.input = decoded(attributes.get(spring_keys.TOOL_CALL_ARGUMENTS))
    # A tool's result is JSON, that of a text too.
    reading.result = reading.output = decoded(attributes.get(spring_keys.TOOL_CALL_RESULT))


def _read_lines(span: SpanFacts, reading: Reading) -> bool:
    """Read the log lines that hold content; say whether there are any."""
    logged = False
    for event in span.events:
        if not isinstance(event.body, str):
            continue
        title, _, rest = event.body.partition("\n")
        if title in _PROMPTS:
            reading.input_messages = _messages(rest, "user") or None
        elif title in _ANSWERS:
            reading.output_messages = _messages(rest, "assistant") or None
        elif title == _FOUND:
            reading.documents = _documents(rest)
        else:
            continue
        logged = True
    return logged


def _messages(line: str, role: str) -> tuple[Message, ...]:
    found = decoded(line)
    if isinstance(found, dict) and isinstance(listed := found.get("messages"), list):
        return messages(listed, role=role)
    texts = _texts(line)
    return messages([{"role": role, "content": said} for said in texts])


def _texts(value: JsonValue) -> list[str]:
    """Give listed texts: they are put in quotes, and what is in them is not escaped."""
    found = decoded(value)
    if isinstance(found, list):
        return [said for said in found if isinstance(said, str)]
    if not isinstance(found, str):
        return []
    if found.startswith('["') and found.endswith('"]'):
        return found[2:-2].split('", "')
    return [found] if found and found != "[]" else []


def _documents(value: JsonValue) -> tuple[Document, ...] | None:
    return tuple(Document(content=said) for said in _texts(value)) or None
