"""Haystack's own tracing: a span a pipeline, a component, an agent, and a step of an agent.

Source: haystack-ai 2.0 to 3.4 (``haystack/core/pipeline``, ``haystack/components/agents``, ``haystack/dataclasses``).
Content is there with ``HAYSTACK_CONTENT_TRACING_ENABLED=true`` only; without it the components' types tell what they
are. Tokens and models stand in the metadata of the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pixie_otel.attributes import haystack as haystack_keys
from pixie_otel.evaluable import Document, JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.plain import answer
from pixie_otel.traces.dialects.provider import read_parameters, read_usage
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.toolcalls import tool_definitions
from pixie_otel.traces.dialects.values import decoded, first_text, json_mapping, json_object, number, text
from pixie_otel.traces.messages import AssistantMessage, Message
from pixie_otel.traces.spans import ObservationKind, SpanError

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "haystack"
ROOTS: Final = frozenset({"haystack"})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_KINDS: Final = (
    ("ImageGenerator", ObservationKind.CHAIN),
    ("Generator", ObservationKind.LLM),
    ("Retriever", ObservationKind.RETRIEVER),
    ("WebSearch", ObservationKind.RETRIEVER),
    ("Ranker", ObservationKind.RERANKER),
    ("Embedder", ObservationKind.EMBEDDING),
    ("PromptBuilder", ObservationKind.PROMPT),
    ("Evaluator", ObservationKind.EVALUATOR),
    ("ToolInvoker", ObservationKind.TOOL),
)
"""What a component is, by how its class's name ends."""

_NAMES: Final = {
    haystack_keys.SPAN_LLM_STEP: ObservationKind.LLM,
    haystack_keys.SPAN_TOOL_STEP: ObservationKind.TOOL,
    haystack_keys.SPAN_PIPELINE: ObservationKind.CHAIN,
}
"""What a span without any attributes is: where content is not traced, a call of a model has none."""
_REASON_KEYS: Final = ("finish_reason", "stop_reason", "done_reason", "status")
_DOCUMENT_KEYS: Final = frozenset(
    {"id", "content", "score", "meta", "blob", "dataframe", "embedding", "sparse_embedding", "type", "init_parameters"}
)


def read(span: SpanFacts) -> Reading | None:
    """Read what Haystack's keys say of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of the keys is there.
    """
    found = {key: value for key, value in span.attributes.items() if key.startswith(haystack_keys.PREFIX)}
    if not found:
        return Reading(kind=_NAMES[span.name]) if span.name in _NAMES else None
    if haystack_keys.COMPONENT_TYPE in found:
        return _component(found)
    if haystack_keys.LLM_STEP_INPUT in found or haystack_keys.LLM_STEP_OUTPUT in found:
        return _call(found.get(haystack_keys.LLM_STEP_INPUT), found.get(haystack_keys.LLM_STEP_OUTPUT))
    if haystack_keys.TOOL_STEP_INPUT in found or haystack_keys.TOOL_STEP_OUTPUT in found:
        return _tool(found)
    if haystack_keys.AGENT_INPUT in found or haystack_keys.AGENT_OUTPUT in found:
        return _agent(found)
    return Reading(
        kind=_bare_kind(found),
        input=decoded(found.get(haystack_keys.PIPELINE_INPUT)),
        output=_pipeline_output(decoded(found.get(haystack_keys.PIPELINE_OUTPUT))) or None,
        metadata=json_object(found.get(haystack_keys.PIPELINE_METADATA)) or None,
        tool_name=text(found.get(haystack_keys.TOOL_NAME)),
        tool_description=text(found.get(haystack_keys.TOOL_DESCRIPTION)),
    )


def _bare_kind(found: Mapping[str, JsonValue]) -> ObservationKind:
    """Say what a span is that has none of the keys for content."""
    if haystack_keys.AGENT_MAX_STEPS in found:
        return ObservationKind.AGENT
    is_hook = any(key.startswith(haystack_keys.HOOK_PREFIX) for key in found)
    return ObservationKind.TOOL if haystack_keys.TOOL_NAME in found and not is_hook else ObservationKind.CHAIN


def _component(found: Mapping[str, JsonValue]) -> Reading:
    """Read the run of a component, in a pipeline or within another."""
    name = text(found.get(haystack_keys.COMPONENT_TYPE)) or ""
    kind = next((kind for ending, kind in _KINDS if name.endswith(ending)), ObservationKind.CHAIN)
    given, given_back = found.get(haystack_keys.COMPONENT_INPUT), found.get(haystack_keys.COMPONENT_OUTPUT)
    if kind is ObservationKind.LLM:
        return _call(given, given_back)
    inputs, outputs = _without_defaults(given), decoded(given_back)
    reading = Reading(kind=kind, input=inputs, output=outputs)
    if isinstance(inputs, dict) and isinstance(outputs, dict):
        if kind is ObservationKind.TOOL:
            _read_invoker(inputs, outputs, reading)
        elif kind is ObservationKind.EMBEDDING:
            _read_embedding(inputs, outputs, reading)
        elif kind in (ObservationKind.RETRIEVER, ObservationKind.RERANKER):
            _read_retrieval(inputs, outputs, reading)
    return reading


def _without_defaults(value: JsonValue) -> JsonValue:
    """Decode a component's inputs, and leave out those that nobody gave."""
    found = decoded(value)
    return {key: said for key, said in found.items() if said is not None} if isinstance(found, dict) else found


def _call(given: JsonValue, given_back: JsonValue) -> Reading:
    """Read a call of a model: a generator's inputs and outputs, in a pipeline or within an agent."""
    inputs, outputs = json_mapping(given), json_mapping(given_back)
    reading = Reading(kind=ObservationKind.LLM)
    prompt = inputs.get("messages") or inputs.get("prompt")
    told = messages(inputs.get("system_prompt"), role="system") if "messages" not in inputs else ()
    reading.input_messages = (*told, *_messages(prompt, "user")) or None
    replies = _messages(outputs.get("replies"), "assistant")
    reading.output_messages = replies or None
    metas = _metas(outputs)
    reading.raw_finish_reasons = tuple(reason for meta in metas if (reason := first_text(meta, _REASON_KEYS))) or None
    reading.response_model = next((model for meta in metas if (model := text(meta.get("model")))), None)
    reading.response_id = next((identity for meta in metas if (identity := text(meta.get("id")))), None)
    usage = next((found for meta in metas if (found := json_object(meta.get("usage")))), None)
    if usage is not None:
        # Each of several answers has the usage of the whole call.
        reading.fill(read_usage(usage))
    reading.fill(read_parameters(inputs.get("generation_kwargs")))
    reading.tool_definitions = tool_definitions(_tools(inputs.get("tools"))) or reading.tool_definitions
    return reading


def _metas(outputs: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Give what is said of each answer: in the answers of chat models, beside those of others."""
    replies = outputs.get("replies")
    held = [reply.get("meta", reply.get("_meta")) for reply in _objects(replies)]
    beside = outputs.get("meta")
    return [meta for meta in (*held, *_objects(beside)) if isinstance(meta, dict)]


def _objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _messages(value: JsonValue, role: str) -> tuple[Message, ...]:
    """Read messages; up to 2.9 some of their keys began with an underscore."""
    listed = value if isinstance(value, list) else [value]
    return messages([_as_written(item) if isinstance(item, dict) else item for item in listed], role=role)


def _as_written(item: dict[str, JsonValue]) -> dict[str, JsonValue]:
    said = {key.removeprefix("_"): value for key, value in item.items()}
    meta = said.pop("meta", None)
    if isinstance(meta, dict) and (reason := first_text(meta, _REASON_KEYS)):
        said["finish_reason"] = reason
    return said


def _tools(value: JsonValue) -> list[JsonValue]:
    """Give the tools that a model was offered, one by one: they are listed alone, and in sets."""
    listed = value if isinstance(value, list) else [value]
    found: list[JsonValue] = []
    for item in listed:
        data = item.get("data", item) if isinstance(item, dict) else None
        if isinstance(data, dict):
            within = data.get("tools")
            found.extend([tool.get("data", tool) for tool in _objects(within)] if isinstance(within, list) else [data])
    return found


def _tool(found: Mapping[str, JsonValue]) -> Reading:
    arguments = decoded(found.get(haystack_keys.TOOL_STEP_INPUT))
    result = decoded(found.get(haystack_keys.TOOL_STEP_OUTPUT))
    reading = Reading(
        kind=ObservationKind.TOOL,
        tool_name=text(found.get(haystack_keys.TOOL_NAME)),
        tool_description=text(found.get(haystack_keys.TOOL_DESCRIPTION)),
        tool_call_id=text(found.get(haystack_keys.TOOL_CALL_ID)),
    )
    if found.get(haystack_keys.TOOL_ERROR) is True:
        said = result.get("error") if isinstance(result, dict) else result
        reading.error = SpanError(message=text(said) or "")
    # Nothing is written as an empty text.
    reading.arguments = reading.input = None if arguments == "" else arguments
    reading.result = reading.output = None if result == "" else result
    return reading


def _read_invoker(inputs: Mapping[str, JsonValue], outputs: Mapping[str, JsonValue], reading: Reading) -> None:
    """Read the run of the component that ran tools up to 3.0: all that one answer of a model asked for."""
    asked = _messages(inputs.get("messages"), "assistant")
    calls = [call for item in asked if isinstance(item, AssistantMessage) for call in item.tool_calls]
    told = _messages(outputs.get("tool_messages"), "tool")
    if any(_failed(part) for item in _objects(outputs.get("tool_messages")) for part in _objects(item.get("content"))):
        reading.error = SpanError(message="".join(item.text for item in told))
    if len(calls) != 1:
        reading.kind = ObservationKind.CHAIN
        reading.notes = (f"one span for {len(calls)} tool calls",)
        return
    reading.tool_name, reading.tool_call_id = calls[0].name or None, calls[0].id
    reading.arguments = reading.input = calls[0].arguments
    reading.result = reading.output = decoded("".join(item.text for item in told)) if told else None


def _failed(part: dict[str, JsonValue]) -> bool:
    return json_mapping(part.get("tool_call_result")).get("error") is True


def _agent(found: Mapping[str, JsonValue]) -> Reading:
    inputs = json_mapping(found.get(haystack_keys.AGENT_INPUT))
    outputs = json_mapping(found.get(haystack_keys.AGENT_OUTPUT))
    given = _messages(inputs.get("messages"), "user")
    spoken = _messages(outputs.get("messages"), "assistant")
    return Reading(
        kind=ObservationKind.AGENT,
        input=None if given else _without_defaults(inputs) or None,
        input_messages=given or None,
        # What comes back is the whole conversation.
        output_messages=(spoken[len(given) :] if spoken[: len(given)] == given else spoken) or None,
        output=None if spoken else outputs or None,
    )


def _read_embedding(inputs: dict[str, JsonValue], outputs: dict[str, JsonValue], reading: Reading) -> None:
    texts = [inputs.get("text"), *(item.get("content") for item in _objects(inputs.get("documents")))]
    reading.texts = tuple(said for item in texts if (said := text(item))) or None
    reading.output = None
    meta = json_mapping(outputs.get("meta"))
    reading.response_model = text(meta.get("model"))
    if (usage := json_object(meta.get("usage"))) is not None:
        reading.fill(read_usage(usage))


def _read_retrieval(inputs: dict[str, JsonValue], outputs: dict[str, JsonValue], reading: Reading) -> None:
    reading.query = first_text(inputs, ("query", "text"))
    if reading.query is not None:
        reading.input = reading.query
    if isinstance(listed := outputs.get("documents"), list):
        reading.documents = tuple(_document(item) for item in _objects(listed))
        reading.output = listed


def _document(item: dict[str, JsonValue]) -> Document:
    identity = item.get("id")
    # The metadata stands among the fields, unless they were asked to be written apart.
    beside = {key: value for key, value in item.items() if key not in _DOCUMENT_KEYS and value is not None}
    return Document(
        content=text(item.get("content")) or "",
        id=None if identity is None else str(identity),
        score=number(item.get("score")),
        metadata={**beside, **json_mapping(item.get("meta"))} or None,
    )


def _pipeline_output(value: JsonValue) -> JsonValue:
    """Give a pipeline's answer where there is one, else what its components gave back, by name."""
    if not isinstance(value, dict):
        return value
    answers: list[JsonValue] = []
    for given_back in value.values():
        said = _component_answer(given_back) if isinstance(given_back, dict) else None
        if said is not None and said not in answers:
            answers.append(said)
    return answers[0] if len(answers) == 1 else value


def _component_answer(outputs: Mapping[str, JsonValue]) -> JsonValue:
    for key in ("replies", "last_message"):
        if (said := _messages(outputs.get(key), "assistant")) and outputs.get(key):
            return answer(said)
    if built := _objects(outputs.get("answers")):
        texts: list[JsonValue] = [json_mapping(item.get("init_parameters", item)).get("data") for item in built]
        return texts[0] if len(texts) == 1 else texts
    return None
