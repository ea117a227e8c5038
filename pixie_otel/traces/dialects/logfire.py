"""Logfire: the calls that it instruments, functions and spans of the app's own, and what it says on any span.

Source: Logfire 3.25 to 5.4. Calls of OpenAI's and Anthropic's SDKs have the request and the response as they were
(always up to 4, optional in 5), events in one attribute (OpenAI's responses), or OpenTelemetry's GenAI attributes,
which `pixie_otel.traces.dialects.genai` reads. What the app itself recorded is what the span's JSON schema names; as
attributes stand in the order in which they were set, those after the span's type were set when it was done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from pixie_otel import attributes as keys
from pixie_otel.attributes import logfire as logfire_keys
from pixie_otel.attributes import pydantic_ai as pydantic_ai_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.identities import SESSION_NAMES, USER_NAMES, first_identity, identity
from pixie_otel.traces.dialects.message_events import event_messages, listed_events
from pixie_otel.traces.dialects.provider import one_answer, read_parameters, read_request, read_response, read_usage
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.retrieved import documents, question
from pixie_otel.traces.dialects.values import decoded, first_text, json_mapping, text, texts, whole
from pixie_otel.traces.messages import AssistantMessage, Message
from pixie_otel.traces.spans import ObservationKind, SpanError

__all__ = ["NAME", "ROOTS", "read"]

_Attributes: TypeAlias = Mapping[str, JsonValue]
_Object: TypeAlias = dict[str, JsonValue]

NAME: Final = "logfire"
ROOTS: Final = frozenset({"logfire", logfire_keys.REQUEST_DATA, logfire_keys.RESPONSE_DATA})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_AGENTS_SDK: Final = (
    ("Function: ", ObservationKind.TOOL),
    ("Agent run: ", ObservationKind.AGENT),
    ("Guardrail ", ObservationKind.GUARDRAIL),
    ("OpenAI Agents trace: ", ObservationKind.CHAIN),
    ("Handoff: ", ObservationKind.CHAIN),
    ("Custom span: ", ObservationKind.CHAIN),
    ("Task: ", ObservationKind.CHAIN),
    ("Turn ", ObservationKind.CHAIN),
)
"""How the messages of the OpenAI Agents SDK's spans begin."""
_LOG: Final = "log"
_ERROR_LEVEL: Final = 17
_ANSWER_KEYS: Final = ("text", "combined_chunk_content")
_OUTPUT_NAMES: Final = frozenset({"answer", "output", "outputs", "response", "result", "results", logfire_keys.RETURN})
_DOCUMENT_NAMES: Final = ("documents", "docs", "retrieved_documents", "chunks", "passages")
_RETRIEVAL: Final = "retriev"
_KIND_KEYS: Final = (keys.GENAI_OPERATION, keys.GENAI_REQUEST_MODEL, keys.GENAI_TOOL_NAME)
"""With one of these, a span of the app's own says in GenAI's words what it is."""
_BAGGAGE: Final = "baggage_conflict."
_SESSION_NAMES: Final = ("session_id", f"{_BAGGAGE}session_id", *SESSION_NAMES)
"""Baggage whose name an attribute of the span has is called a conflict."""
_USER_NAMES: Final = ("user_id", f"{_BAGGAGE}user_id", *USER_NAMES, keys.ENDUSER_ID)
_MANY: Final = 2
_IMAGE_START: Final = "data:image/"
_STRUCTURED: Final = frozenset({"object", "array"})


def read(span: SpanFacts) -> Reading | None:
    """Read what Logfire says of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of its keys says anything.
    """
    attributes = span.attributes
    reading = Reading(
        error=_error(span),
        session_id=first_identity(attributes, _SESSION_NAMES),
        user_id=first_identity(attributes, _USER_NAMES),
    )
    template = text(attributes.get(logfire_keys.MSG_TEMPLATE))
    if _is_call(attributes):
        _read_call(attributes, reading)
    elif template is not None and attributes.get(logfire_keys.SPAN_TYPE) != _LOG:
        kind = next((kind for start, kind in _AGENTS_SDK if template.startswith(start)), None)
        if kind is not None and (keys.GENAI_SYSTEM in attributes or logfire_keys.AGENT_TRACE_ID in attributes):
            _read_agents_sdk(attributes, kind, reading)
        else:
            _read_own(span, reading)
    return None if reading == _NOTHING else reading


_NOTHING: Final = Reading()


def _error(span: SpanFacts) -> SpanError | None:
    """Give the error that the level, or the Agents SDK, tells of where the status does not."""
    level = whole(span.attributes.get(logfire_keys.LEVEL_NUM))
    if level is None or level < _ERROR_LEVEL or span.status_message:
        return None
    said = json_mapping(span.attributes.get(logfire_keys.ERROR))
    if (message := text(said.get("message"))) is not None:
        detail = text(json_mapping(said.get("data")).get("error"))
        return SpanError(f"{message}: {detail}" if detail else message)
    for event in reversed(span.events):
        if event.name == keys.EXCEPTION_EVENT:
            found = event.attributes
            return SpanError(text(found.get(keys.EXCEPTION_MESSAGE)) or "", text(found.get(keys.EXCEPTION_TYPE)))
    kind = text(span.attributes.get(keys.ERROR_TYPE))
    return SpanError(text(span.attributes.get(logfire_keys.MSG)) or span.name, kind)


# --- Calls of a provider's SDK, and the Agents SDK's model calls ---


def _is_call(attributes: _Attributes) -> bool:
    if logfire_keys.REQUEST_DATA in attributes or logfire_keys.RESPONSE_DATA in attributes:
        return True
    if logfire_keys.RAW_INPUT in attributes:
        return True
    return keys.GENAI_REQUEST_MODEL in attributes and _has_events(attributes)


def _has_events(attributes: _Attributes) -> bool:
    # Pydantic AI's events are its own dialect's.
    return pydantic_ai_keys.EVENTS in attributes and pydantic_ai_keys.MODEL_REQUEST_PARAMETERS not in attributes


def _read_call(attributes: _Attributes, reading: Reading) -> None:
    # They are the largest attributes, and are decoded only where others do not say what is in them.
    is_asked = keys.GENAI_INPUT_MESSAGES in attributes and keys.GENAI_OPERATION in attributes
    request = {} if is_asked else json_mapping(attributes.get(logfire_keys.REQUEST_DATA))
    is_answered = keys.GENAI_OUTPUT_MESSAGES in attributes and logfire_keys.USAGE_RAW in attributes
    answered = {} if is_answered else json_mapping(attributes.get(logfire_keys.RESPONSE_DATA))
    reading.kind = _call_kind(attributes, request, answered)
    if reading.kind is ObservationKind.EMBEDDING:
        reading.texts = texts(request.get("input")) or None
    elif reading.kind is ObservationKind.LLM:
        _read_given(attributes, request, reading)
        if reading.output_messages is not None:
            pass
        elif keys.GENAI_OUTPUT_MESSAGES in attributes:
            reading.output_messages = _one_of_many(attributes[keys.GENAI_OUTPUT_MESSAGES])
        else:
            _read_answer(answered, reading)
    else:
        reading.input, reading.output = request or None, answered or None
    for usage in (attributes.get(logfire_keys.USAGE_RAW), answered.get("usage"), attributes.get(logfire_keys.USAGE)):
        if found := json_mapping(usage):
            reading.fill(read_usage(found))


def _call_kind(attributes: _Attributes, request: _Object, answered: _Object) -> ObservationKind | None:
    """Say what was called; older versions do not name the operation."""
    said = text(attributes.get(keys.GENAI_OPERATION))
    if logfire_keys.URL in attributes or "images" in answered or said == "image_generation":
        return None
    return ObservationKind.EMBEDDING if "input" in request or said == "embeddings" else ObservationKind.LLM


def _read_given(attributes: _Attributes, request: _Object, reading: Reading) -> None:
    if keys.GENAI_INPUT_MESSAGES in attributes:
        if _has_events(attributes):
            _read_events(attributes, reading)
            reading.input_messages = None
        return
    response = json_mapping(attributes.get(logfire_keys.RESPONSE))
    if logfire_keys.RAW_INPUT in attributes and "output" in response:
        given = decoded(attributes.get(logfire_keys.RAW_INPUT))
        reading.fill(read_request({"input": given, "instructions": response.get("instructions")}))
        reading.fill(read_response(response))
        settings = read_parameters(response)
        settings.request_model = None
        reading.fill(settings)
    elif _has_events(attributes):
        _read_events(attributes, reading)
    elif isinstance(given := decoded(attributes.get(logfire_keys.INPUT)), list):
        # The Agents SDK's chat calls: their request data holds the answer as well.
        reading.input_messages = messages(given) or None
        reading.output_messages = _said(decoded(attributes.get(logfire_keys.OUTPUT))) or None
        reading.fill(read_parameters(attributes.get(logfire_keys.MODEL_CONFIG)))
    else:
        reading.fill(read_request(request))


def _said(given_back: JsonValue) -> tuple[Message, ...]:
    """Read what a chat call of the Agents SDK gave back: messages, or for a stream a whole response made of it."""
    if not isinstance(given_back, list):
        return ()
    if len(given_back) == 1 and (answers := read_response(given_back[0]).output_messages):
        return answers
    return messages(given_back, role="assistant")


def _read_events(attributes: _Attributes, reading: Reading) -> None:
    """Read the events of a call of OpenAI's responses: those of the answer stand after those of the request."""
    said, answers, _ = event_messages(listed_events(_with_images(decoded(attributes.get(pydantic_ai_keys.EVENTS)))))
    end = len(said)
    if not answers and (keys.GENAI_RESPONSE_ID in attributes or keys.GENAI_OUTPUT_TOKENS in attributes):
        while end and isinstance(said[end - 1], AssistantMessage):
            end -= 1
        answers = one_answer(said[end:])
    reading.input_messages = said[:end] or None
    reading.output_messages = answers or None


def _with_images(events: JsonValue) -> JsonValue:
    """Give events with each image in the message that it belongs to: it is an event of its own after the text."""
    if not isinstance(events, list):
        return events
    found: list[JsonValue] = []
    for event in events:
        image = _image(event) if isinstance(event, dict) else None
        if image is None or not isinstance(event, dict):
            found.append(event)
            continue
        before = found[-1] if found else None
        if isinstance(before, dict) and before.get("role") == event.get("role"):
            said = [before["data"]] if "data" in before else before.get("content")
            parts: list[JsonValue] = said if isinstance(said, list) else [{"type": "text", "text": said}]
            joined: _Object = {**before, "data": None, "content": [*parts, image]}
            found[-1] = joined
        else:
            found.append({**event, "data": None, "content": [image]})
    return found


def _image(event: _Object) -> _Object | None:
    """Give the image that an event is: its URI as text, or what older versions had no event for."""
    data, said = event.get("data"), event.get("content")
    if isinstance(data, dict):
        return data if data.get("type") == "input_image" else None
    return {"type": "image_url", "image_url": said} if isinstance(said, str) and said.startswith(_IMAGE_START) else None


def _read_answer(answered: _Object, reading: Reading) -> None:
    said = answered.get("message")
    if isinstance(said, dict):
        reading.output_messages = messages(_plainly(said), role="assistant") or None
    elif (content := first_text(answered, _ANSWER_KEYS)) is not None:
        reading.output_messages = messages(content, role="assistant")
    if (reason := text(answered.get("finish_reason"))) is not None:
        reading.raw_finish_reasons = (reason,)


def _one_of_many(given_back: JsonValue) -> tuple[Message, ...] | None:
    """Make one message of OpenAI's responses, each item of which is a message without an end of its own."""
    if isinstance(given_back, str) and given_back.count('"role"') < _MANY:
        return None
    found = messages(given_back, role="assistant")
    if len(found) < _MANY or any(isinstance(item, AssistantMessage) and item.finish_reason for item in found):
        return None
    return one_answer(found)


def _plainly(said: _Object) -> _Object:
    """Give an answer with the arguments of its tool calls as they are: Anthropic's are written into ``input``."""
    calls = said.get("tool_calls")
    if not isinstance(calls, list):
        return said
    return {**said, "tool_calls": [_call(call) if isinstance(call, dict) else call for call in calls]}


def _call(call: _Object) -> _Object:
    function = call.get("function")
    if "type" in call or not isinstance(function, dict):
        return call
    arguments = decoded(function.get("arguments"))
    if not isinstance(arguments, dict) or arguments.keys() != {"input"}:
        return call
    return {**call, "function": {**function, "arguments": arguments["input"]}}


# --- The OpenAI Agents SDK's other spans ---


def _read_agents_sdk(attributes: _Attributes, kind: ObservationKind, reading: Reading) -> None:
    reading.kind = kind
    reading.session_id = reading.session_id or identity(attributes.get(logfire_keys.GROUP_ID))
    name = text(attributes.get(logfire_keys.NAME))
    if kind is ObservationKind.AGENT:
        reading.agent_name = name
    elif kind is ObservationKind.TOOL:
        reading.tool_name = name
        reading.arguments = reading.input = decoded(attributes.get(logfire_keys.INPUT))
        reading.result = reading.output = decoded(attributes.get(logfire_keys.OUTPUT))


# --- Functions and spans of the app's own ---


def _read_own(span: SpanFacts, reading: Reading) -> None:
    given, given_back = _values(span.attributes)
    reading.input = given or None
    reading.output = next(iter(given_back.values())) if len(given_back) == 1 else given_back or None
    if (not given and not given_back) or any(key in span.attributes for key in _KIND_KEYS):
        return
    reading.kind = ObservationKind.CHAIN
    found = _found(span.name, given_back)
    if found is not None:
        reading.kind = ObservationKind.RETRIEVER
        reading.query = question(given)
        reading.output = found
        reading.documents = documents(found)
    elif given and span.parent_span_id is not None and _is_function(span):
        reading.kind = ObservationKind.TOOL
        reading.tool_name = span.name
        reading.arguments = given
        reading.result = reading.output


def _is_function(span: SpanFacts) -> bool:
    """Say whether a span is named as the function that it is in, as those of tools are; Logfire's own say more."""
    function = text(span.attributes.get(logfire_keys.CODE_FUNCTION)) or ""
    return function.rpartition(".")[2] == span.name


def _found(name: str, given_back: _Object) -> JsonValue:
    """Give the documents that a span retrieved, as they were recorded."""
    for key in _DOCUMENT_NAMES:
        if isinstance(listed := given_back.get(key), list) and documents(listed):
            return listed
    returned = given_back.get(logfire_keys.RETURN)
    return returned if _RETRIEVAL in name.lower() and isinstance(returned, list) and documents(returned) else None


def _values(attributes: _Attributes) -> tuple[_Object, _Object]:
    """Give what the app set when the span began, and what it set later."""
    schema = json_mapping(json_mapping(attributes.get(logfire_keys.JSON_SCHEMA)).get("properties"))
    given: _Object = {}
    given_back: _Object = {}
    # A backend that sorts attributes has lost the order in which they were set.
    shuffled = list(attributes) == sorted(attributes)
    done = False
    for key, value in attributes.items():
        if key == logfire_keys.SPAN_TYPE:
            done = not shuffled
        if key not in schema or key.startswith(keys.GENAI_PREFIX) or key in _SESSION_NAMES or key in _USER_NAMES:
            continue
        (given_back if done or key in _OUTPUT_NAMES else given)[key] = _value(value, schema[key])
    return given, given_back


def _value(value: JsonValue, schema: JsonValue) -> JsonValue:
    """Decode a value where its schema says that it is JSON."""
    said = text(schema.get("type")) if isinstance(schema, dict) else None
    if said == "null":
        return None
    return decoded(value) if said in _STRUCTURED else value
