"""Runs as LangSmith exports them: an object for each run, with its parent's id.

Source: langsmith's ``Run`` (``run.dict()`` and the bulk exports). Attributes are those of LangSmith's own OpenTelemetry
export.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Raw

from pixie_otel import attributes as keys
from pixie_otel.attributes import langsmith as langsmith_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.forms import building
from pixie_otel.traces.group import Group
from pixie_otel.traces.lenient import Complain

__all__ = ["NAME", "convert", "recognises"]

NAME: Final = "a LangSmith run export"
_READ: Final = frozenset(
    {"id", "trace_id", "parent_run_id", "name", "run_type", "start_time", "end_time", "inputs", "outputs", "error"}
    | {"extra", "child_runs"}
    # These are made of the others, or of the server.
    | {"dotted_order", "child_run_ids", "direct_child_run_ids", "parent_run_ids", "app_path", "serialized", "events"}
    | {"total_tokens", "prompt_tokens", "completion_tokens", "total_cost", "manifest_id", "prompt_cost"}
    | {"completion_cost", "inputs_s3_urls", "outputs_s3_urls", "in_dataset", "execution_order"}
)
_SCOPE: Final = building.scope_of("langsmith")
_OPERATIONS: Final = {"llm": "chat", "tool": "execute_tool", "retriever": "retrieval", "embedding": "embeddings"}


def recognises(members: Mapping[str, Raw]) -> bool:
    """Say whether an object is a run.

    Args:
        members: The object's values by key.
    """
    return {"run_type", "id", "start_time"} <= members.keys() and not members.keys().isdisjoint(
        ("dotted_order", "trace_id", "session_id", "parent_run_id", "child_runs")
    )


def convert(members: Mapping[str, Raw], _complain: Complain) -> Iterator[Group]:
    """Make spans of OTLP of it and of the runs within it.

    Args:
        members: The object's values by key.

    Yields:
        Each run.
    """
    trace = building.trace_id(building.value(members, "trace_id", "id"))
    pending: list[tuple[Mapping[str, Raw], JsonValue]] = [(members, None)]
    while pending:
        run, above = pending.pop()
        yield Group(scope=_SCOPE, records=(_span(run, trace, above),), form=NAME)
        pending.extend((child, building.value(run, "id")) for child in building.objects(run, "child_runs"))


def _span(run: Mapping[str, Raw], trace: str, above: JsonValue) -> bytes:
    error = building.value(run, "error")
    start = building.nanoseconds(building.value(run, "start_time"))
    return building.span(
        trace=trace,
        identity=building.span_id(building.value(run, "id")),
        parent=building.span_id(building.value(run, "parent_run_id") or above),
        name=building.value(run, "name"),
        kind=1,
        start=start,
        end=building.nanoseconds(building.value(run, "end_time")) or start,
        code=building.ERROR if error else building.OK,
        message=error,
        attributes=_attributes(run),
    )


def _attributes(run: Mapping[str, Raw]) -> dict[str, JsonValue]:
    extra = building.mapping(run, "extra")
    metadata = extra.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    kind = building.text_of(building.value(run, "run_type"))
    parameters = extra.get("invocation_params")
    parameters = parameters if isinstance(parameters, dict) else {}
    model = metadata.get("ls_model_name") or parameters.get("model") or parameters.get("model_name")
    found: dict[str, JsonValue] = {
        langsmith_keys.SPAN_KIND: kind,
        keys.GENAI_OPERATION: _OPERATIONS.get(kind, kind or None),
        keys.GENAI_PROMPT: building.as_attribute(building.value(run, "inputs")),
        keys.GENAI_COMPLETION: building.as_attribute(building.value(run, "outputs")),
        keys.GENAI_SYSTEM: metadata.get("ls_provider"),
        keys.GENAI_REQUEST_MODEL: model,
        keys.GENAI_REQUEST_TEMPERATURE: metadata.get("ls_temperature"),
        keys.GENAI_REQUEST_MAX_TOKENS: metadata.get("ls_max_tokens"),
        keys.GENAI_INPUT_TOKENS: building.value(run, "prompt_tokens"),
        keys.GENAI_OUTPUT_TOKENS: building.value(run, "completion_tokens"),
        keys.GENAI_USAGE_COST: _number(building.value(run, "total_cost")),
        keys.GENAI_TOOL_NAME: building.value(run, "name") if kind == "tool" else None,
        **{f"{langsmith_keys.METADATA_PREFIX}{key}": building.as_attribute(value) for key, value in metadata.items()},
        **building.rest(run, _READ, langsmith_keys.PREFIX),
    }
    if kind != "llm":
        # The server adds up what is below a run.
        for key in (keys.GENAI_INPUT_TOKENS, keys.GENAI_OUTPUT_TOKENS, keys.GENAI_USAGE_COST):
            found.pop(key)
    return {key: value for key, value in found.items() if value is not None}


def _number(value: JsonValue) -> JsonValue:
    """Give a cost as a number: the client writes it as text."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return None
