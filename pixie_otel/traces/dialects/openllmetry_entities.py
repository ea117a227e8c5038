"""What OpenLLMetry's spans of frameworks were given and gave back: functions, LangChain's runs, LlamaIndex's steps."""

from __future__ import annotations

from typing import Final

from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.dialects.literals import literal
from pixie_otel.traces.dialects.reading import Reading
from pixie_otel.traces.dialects.retrieved import documents, question
from pixie_otel.traces.dialects.toolcalls import tool_message, tool_result
from pixie_otel.traces.dialects.values import call_arguments, decoded, first_text, json_mapping

__all__ = ["entity_documents", "entity_question", "given", "given_back", "is_retrieval", "is_tool", "read_tool_values"]

_LANGCHAIN_KEYS: Final = frozenset({"input_str", "kwargs"})
_LANGCHAIN_OUTPUTS: Final = ("outputs", "output")
_LLAMAINDEX_OUTPUT: Final = frozenset({"tool_name", "raw_input", "raw_output"})
_LLAMAINDEX_TOOL: Final = "Tool.task"
_RETRIEVAL: Final = "retriev"
_QUESTION_KEY: Final = "query_str"


def given(value: JsonValue) -> JsonValue:
    """Give what a framework's span was given, without the wrapping of Python calls and of LangChain's.

    Args:
        value: What was recorded, decoded.
    """
    found = decoded(call_arguments(value))
    # A tool of the app's own may well have an argument of that name, but not all of these.
    if not isinstance(found, dict) or "inputs" not in found or found.keys().isdisjoint(_LANGCHAIN_KEYS):
        return found
    return found["inputs"] or literal(decoded(found.get("input_str")))


def given_back(value: JsonValue) -> JsonValue:
    """Give what a framework's span gave back, without the wrapping of LangChain's.

    Args:
        value: What was recorded, decoded.
    """
    if isinstance(value, dict):
        for key in _LANGCHAIN_OUTPUTS:
            if value.keys() == {key, "kwargs"}:
                return value[key]
    return value


def is_tool(name: str | None, output: JsonValue) -> bool:
    """Say whether a step is the run of a tool: LlamaIndex's tools are tasks by their class's name.

    Args:
        name: The step's name.
        output: What it gave back, decoded.
    """
    return (name or "").endswith(_LLAMAINDEX_TOOL) or _is_tool_record(output)


def read_tool_values(reading: Reading, recorded_input: JsonValue) -> None:
    """Read a tool's arguments, its result and the id of its call.

    Args:
        reading: What is known of the span, input and output among it; the rest is put into it.
        recorded_input: The input as it was recorded, decoded: LangChain's has the id of the call.
    """
    reading.arguments = literal(reading.input)
    beside = json_mapping(json_mapping(recorded_input).get("kwargs"))
    reading.tool_call_id = first_text(beside, ("tool_call_id",))
    if _is_tool_record(output := reading.output):
        record = json_mapping(output)
        reading.tool_name = first_text(record, ("tool_name",)) or reading.tool_name
        reading.output = decoded(record["raw_output"])
    elif (said := tool_message(output)) is not None:
        reading.tool_call_id = reading.tool_call_id or first_text(said, ("tool_call_id",))
        reading.output = decoded(said["content"])
    reading.result = literal(tool_result(reading.output))


def is_retrieval(name: str | None) -> bool:
    """Say whether a step's name tells that it retrieves: OpenLLMetry has no kind for that.

    Args:
        name: The step's name.
    """
    return _RETRIEVAL in (name or "").lower()


def entity_documents(output: JsonValue) -> tuple[Document, ...] | None:
    """Read the documents that a step gave back; ``None`` where that is no list of them.

    Args:
        output: What it gave back, decoded.
    """
    if isinstance(output, list):
        # LlamaIndex's nodes are JSON text each.
        return documents([decoded(item) for item in output])
    return documents(output) if isinstance(output, dict) else None


def entity_question(value: JsonValue) -> str | None:
    """Give what a step searched for.

    Args:
        value: What it was given, decoded.
    """
    if isinstance(value, dict):
        for inner in (value, *value.values()):
            if (said := first_text(json_mapping(inner), (_QUESTION_KEY,))) is not None:
                return said
    return question(value)


def _is_tool_record(output: JsonValue) -> bool:
    return isinstance(output, dict) and output.keys() >= _LLAMAINDEX_OUTPUT
