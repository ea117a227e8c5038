"""OpenInference's tools and retrievers: what went in and what came out, as each framework's instrumentor writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.flat_messages import items, shown
from pixie_otel.traces.dialects.literals import literal
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.recorded import tool_arguments
from pixie_otel.traces.dialects.retrieved import document, documents, question
from pixie_otel.traces.dialects.toolcalls import tool_message, tool_result
from pixie_otel.traces.dialects.values import decoded, json_mapping, leaf, text, tree

__all__ = ["ends_the_run", "read_documents", "read_tool"]

_DOCUMENT_TREES: Final = (
    keys.OI_RETRIEVAL_DOCUMENTS,
    keys.OI_RERANKER_INPUT_DOCUMENTS,
    keys.OI_RERANKER_OUTPUT_DOCUMENTS,
)
_DOCUMENT_PATHS: Final = (("retrieval", "documents"), ("reranker", "output_documents"))
_TOOL_OUTPUT_KEYS: Final = frozenset({"tool_name", "raw_input", "raw_output"})
_OWN_ARGUMENTS: Final = frozenset({"sanitize_inputs_outputs"})
"""What smolagents gives its tools beside what the model says."""
_CALLED: Final = ".__call__"
_ENDINGS: Final = {"FinalAnswerTool": "final_answer", f"finish{_CALLED}": None}
"""The spans of the tools by which a framework lets its model say that it is done, and what smolagents calls them."""


def ends_the_run(span: SpanFacts) -> bool:
    """Say whether a tool's span is only how a framework's model says that it is done.

    smolagents and DSPy make that a tool of their own, which the app never gave the model.

    Args:
        span: The span.
    """
    if span.name not in _ENDINGS:
        return False
    return text(span.attributes.get(keys.OI_TOOL_NAME)) == _ENDINGS[span.name]


def read_tool(span: SpanFacts, reading: Reading) -> None:
    """Read a tool's span.

    Args:
        span: The span.
        reading: What is known of it, input and output among it; the rest is put into it.
    """
    attributes = span.attributes
    reading.tool_name = text(attributes.get(keys.OI_TOOL_NAME)) or text(span.name.removesuffix(_CALLED))
    reading.tool_description = text(attributes.get(keys.OI_TOOL_DESCRIPTION))
    reading.tool_call_id = text(attributes.get(keys.OI_TOOL_CALL_ID)) or text(attributes.get(keys.OI_TOOL_ID))
    given = reading.input
    if isinstance(given, dict) and not given.keys().isdisjoint(_OWN_ARGUMENTS):
        given = {name: value for name, value in given.items() if name not in _OWN_ARGUMENTS}
    reading.arguments = tool_arguments(given)
    result = json_mapping(reading.output)
    if (said := tool_message(result)) is not None:
        reading.output = decoded(said["content"])
        reading.tool_call_id = reading.tool_call_id or text(said["tool_call_id"])
    elif result.keys() >= _TOOL_OUTPUT_KEYS:
        # LlamaIndex gives its own record of the call, with what the function returned in it.
        raw = decoded(result["raw_output"])
        reading.output = decoded(result.get("content")) if raw is None else raw
    reading.result = literal(tool_result(reading.output))


def read_documents(attributes: Mapping[str, JsonValue], reading: Reading) -> None:
    """Read a retriever's or a reranker's span.

    Args:
        attributes: Its attributes.
        reading: What is known of it, input and output among it; the rest is put into it.
    """
    branches = tree(attributes, _DOCUMENT_TREES)
    reading.query = text(attributes.get(keys.OI_RERANKER_QUERY)) or question(reading.input)
    for path in _DOCUMENT_PATHS:
        found = items(leaf(branches, *path), "document")
        if found:
            reading.documents = tuple(document({key: shown(value) for key, value in item.items()}) for item in found)
            return
    if isinstance(output := reading.output, dict | list):
        # LlamaIndex gives nodes as Python shows objects that have no text.
        listed = [item for item in output if not _is_nameless(item)] if isinstance(output, list) else output
        reading.documents = documents(listed)


def _is_nameless(item: JsonValue) -> bool:
    return isinstance(item, str) and item.startswith("<") and item.endswith(">")
