"""What decorators and callbacks record of a call: whatever went into a function, and whatever came out of it.

A model call's input may be a provider's request, messages or a text; its output a response, LangChain's result, one
message, several items or a text. A tool's are a function's arguments and what it returned, or LangChain's message of
that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.chunks import joined_chunks
from pixie_otel.traces.dialects.literals import literal
from pixie_otel.traces.dialects.parts import CALL_TYPES, RESULT_TYPES
from pixie_otel.traces.dialects.provider import one_answer, read_request, read_response, read_usage
from pixie_otel.traces.dialects.reading import Reading
from pixie_otel.traces.dialects.retrieved import documents, question
from pixie_otel.traces.dialects.toolcalls import tool_message, tool_result
from pixie_otel.traces.dialects.values import call_arguments, decoded, first_text, json_mapping, text, texts
from pixie_otel.traces.messages import AssistantMessage, Message, TextContent, UserMessage
from pixie_otel.traces.spans import ObservationKind

__all__ = [
    "are_messages",
    "read_embedding",
    "read_function",
    "read_given",
    "read_given_back",
    "says_something",
    "tool_arguments",
    "tool_output",
]

_Object: TypeAlias = dict[str, JsonValue]

_MESSAGE_TYPES: Final = frozenset({"human", "ai", "system", "tool", "function", "message", "reasoning", "constructor"})
_PLAIN_KEYS: Final = frozenset(
    {
        "content",
        "tool_calls",
        "function_call",
        "invalid_tool_calls",
        "additional_kwargs",
        "refusal",
        "reasoning",
        "reasoning_content",
        "annotations",
        "audio",
        "id",
        "name",
        "type",
    }
)
"""What a message without a role has and nothing else."""
_REASON_KEYS: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason")
_MODEL_KEYS: Final = ("model_name", "model")
_TEXT_KEYS: Final = ("input", "texts", "text", "documents", "query", "contents", "content", "inputs")


def are_messages(value: JsonValue) -> bool:
    """Say whether a value is a message, or a list of messages and nothing else."""
    if isinstance(value, dict):
        return _is_message(value)
    if not isinstance(value, list) or not value:
        return False
    return all(are_messages(item) if isinstance(item, list) else _is_message(item) for item in value)


def read_given(value: JsonValue) -> Reading:
    """Read what went into a model call.

    Args:
        value: The input, decoded.

    Returns:
        The messages and the parameters, as far as there are any.
    """
    value = call_arguments(value)
    if isinstance(value, str) and value:
        return Reading(input_messages=(UserMessage(content=(TextContent(value),)),))
    if isinstance(value, list):
        return Reading(input_messages=(messages(value) or None) if are_messages(value) else None)
    if not isinstance(value, dict):
        return Reading()
    reading = read_request(value)
    if reading.input_messages is None:
        reading.input_messages = next((messages(said) for said in _candidates(value) if are_messages(said)), None)
    return reading


def _candidates(value: _Object) -> Iterator[JsonValue]:
    """Give where messages may lie in what is no request: the value itself, and a call's arguments."""
    yield value
    if isinstance(positional := value.get("args"), list):
        yield from positional
    if isinstance(named := value.get("kwargs"), dict):
        yield from named.values()
    yield from value.values()


def read_given_back(value: JsonValue) -> Reading:
    """Read what came out of a model call.

    Args:
        value: The output, decoded.

    Returns:
        The answer, and what else a response says, as far as there is any.
    """
    if isinstance(value, str):
        return Reading(output_messages=_text(value))
    if isinstance(value, list):
        # A generator's pieces stand in a list.
        if (response := joined_chunks(value)) is not None:
            return read_response(response)
        return Reading(output_messages=_listed(value))
    if not isinstance(value, dict):
        return Reading()
    if isinstance(generations := value.get("generations"), list):
        return _langchain(generations, json_mapping(value.get("llm_output")))
    if not _is_message(value):
        return read_response(value)
    # Anthropic's response is a message, too.
    reading = read_response(value) if "usage" in value or "stop_reason" in value else Reading()
    reading.fill(_said_beside(value))
    if reading.output_messages is None:
        reading.output_messages = messages(value, role="assistant") or None
    return reading


def _text(value: str) -> tuple[Message, ...] | None:
    """Make a message of a text; JSON in it is what the model wrote."""
    return (AssistantMessage(content=(TextContent(value),)),) if value else None


def _listed(value: list[JsonValue]) -> tuple[Message, ...] | None:
    if value and all(isinstance(item, str) for item in value):
        return _text("".join(item for item in value if isinstance(item, str)))
    if not are_messages(value):
        return None
    found = messages(value, role="assistant")
    is_one_answer = any(isinstance(item, dict) and "type" in item and "id" in item for item in value)
    return one_answer(found) if is_one_answer else found


def _langchain(generations: list[JsonValue], said: _Object) -> Reading:
    """Read what LangChain's models return: for each prompt, the generations of it."""
    reading = Reading()
    answers: list[Message] = []
    reasons: list[str] = []
    for item in _flat(generations):
        inner = item.get("message")
        beside = _said_beside(inner) if isinstance(inner, dict) else Reading()
        found = messages(inner if isinstance(inner, dict) else item.get("text"), role="assistant")
        ended = first_text(json_mapping(item.get("generation_info")), _REASON_KEYS)
        reason = (ended,) if ended else beside.raw_finish_reasons
        # Of a call that failed, LangChain records a message without anything in it.
        answers.extend(answer for answer in found if reason or says_something(answer))
        reasons.extend(reason or ())
        beside.raw_finish_reasons = None
        reading.fill(beside)
    reading.output_messages = tuple(answers) or None
    reading.raw_finish_reasons = tuple(reasons) or None
    reading.response_model = reading.response_model or first_text(said, _MODEL_KEYS)
    for key in ("token_usage", "usage"):
        if usage := json_mapping(said.get(key)):
            reading.fill(read_usage(usage))
    return reading


def _said_beside(message: _Object) -> Reading:
    """Read what LangChain's messages say beside what was said: the tokens, the model, why the answer ended."""
    inner = next((below for key in ("kwargs", "data") if isinstance(below := message.get(key), dict)), message)
    about = json_mapping(inner.get("response_metadata"))
    reason = first_text(about, _REASON_KEYS)
    reading = read_usage(json_mapping(inner.get("usage_metadata")))
    for key in ("token_usage", "usage"):
        if usage := json_mapping(about.get(key)):
            reading.fill(read_usage(usage))
    reading.raw_finish_reasons = (reason,) if reason else None
    reading.response_model = first_text(about, _MODEL_KEYS)
    reading.response_id = text(about.get("id"))
    return reading


def read_embedding(given: JsonValue, given_back: JsonValue) -> Reading:
    """Read an embedding call: the texts, the model and the tokens.

    Args:
        given: The input, decoded.
        given_back: The output, decoded.
    """
    given = call_arguments(given)
    asked = read_request(given)
    answered = read_response(given_back)
    if isinstance(given, dict):
        given = next((found for key in _TEXT_KEYS if (found := given.get(key))), None)
    return Reading(
        texts=texts(given) or None,
        request_model=asked.request_model,
        response_model=answered.response_model,
        input_tokens=answered.input_tokens,
    )


def tool_arguments(value: JsonValue) -> JsonValue:
    """Give the arguments that a tool was called with.

    Args:
        value: What went into it, decoded: LangChain gives the text that ``str()`` makes of the arguments, or the whole
            call.
    """
    value = literal(call_arguments(value))
    if isinstance(value, dict) and value.keys() == {"input"} and isinstance(inner := value["input"], str):
        found = literal(decoded(inner))
        return found if isinstance(found, dict) else value
    if isinstance(value, dict) and value.get("type") == "tool_call" and "args" in value:
        return decoded(value["args"])
    return value


def tool_output(value: JsonValue) -> tuple[JsonValue, str | None]:
    """Give what a tool returned, and the id of the call where the result says it.

    Args:
        value: What came out of it, decoded or not.
    """
    message = tool_message(decoded(value))
    return tool_result(value), None if message is None else text(message["tool_call_id"])


def read_function(reading: Reading) -> None:
    """Read what a function was given and gave back as what its kind makes of it: a tool, a retriever or an embedder.

    Args:
        reading: What is known of it, kind, input and output among it; the rest is put into it.
    """
    match reading.kind:
        case ObservationKind.EMBEDDING:
            reading.fill(read_embedding(reading.input, reading.output))
        case ObservationKind.TOOL:
            reading.arguments = reading.input = tool_arguments(reading.input)
            reading.result, identity = tool_output(reading.output)
            reading.tool_call_id = reading.tool_call_id or identity
            reading.output = reading.result
        case ObservationKind.RETRIEVER | ObservationKind.RERANKER:
            reading.query = question(reading.input)
            reading.documents = documents(reading.output)
        case _:
            pass


def _is_message(value: JsonValue) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("role"), str):
        return True
    said = text(value.get("type"))
    if said is not None and (
        said in _MESSAGE_TYPES or said in CALL_TYPES or said in RESULT_TYPES or said.endswith(("_call", "MessageChunk"))
    ):
        return said != "constructor" or "kwargs" in value
    return value.keys() <= _PLAIN_KEYS and ("content" in value or "tool_calls" in value)


def _flat(generations: Iterable[JsonValue]) -> Iterator[_Object]:
    for batch in generations:
        for item in batch if isinstance(batch, list) else [batch]:
            if isinstance(item, dict):
                yield item


def says_something(answer: Message) -> bool:
    """Say whether there is anything in a message."""
    return bool(answer.content) or (isinstance(answer, AssistantMessage) and bool(answer.tool_calls))
