"""Google's Agent Development Kit: what its spans hold beside OpenTelemetry's GenAI keys.

Source: google-adk 0.5, 1.0, 1.9 and 2.13 (``google/adk/telemetry``). Up to 1.x, and in 2.x with schema version 1, the
content of a call stands whole in ``gcp.vertex.agent.llm_request`` and ``.llm_response``, a tool's in
``.tool_call_args`` and ``.tool_response``. With schema version 2 it stands under the GenAI keys. Up to 1.0 a tool's
call and its response are two spans, of which only the first is read as the run of a tool.
"""

from __future__ import annotations

from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.attributes import google_adk as adk_keys
from pixie_otel.evaluable import JsonValue
from pixie_otel.traces.dialects.chat import messages
from pixie_otel.traces.dialects.plain import plain_messages
from pixie_otel.traces.dialects.provider import read_request, read_response
from pixie_otel.traces.dialects.reading import Reading, SpanFacts
from pixie_otel.traces.dialects.values import decoded, json_mapping, text
from pixie_otel.traces.spans import ObservationKind, SpanError

__all__ = ["NAME", "ROOTS", "read"]

NAME: Final = "google_adk"
ROOTS: Final = frozenset({"gcp"})
"""The keys, or their beginnings, with one of which this dialect knows something of a span."""

_MERGED: Final = "(merged tools)"
_NOT_GIVEN: Final = ("<not specified>", "<not serializable>", "N/A")
_EXECUTE_TOOL: Final = "execute_tool"
_NAMES: Final = {
    "invocation": ObservationKind.CHAIN,
    "agent_run": ObservationKind.AGENT,
    "invoke_agent": ObservationKind.AGENT,
    "call_llm": ObservationKind.LLM,
    "execute_tool": ObservationKind.TOOL,
    "tool_call": ObservationKind.TOOL,
}
_OLD_CALL: Final = "tool_call ["


def read(span: SpanFacts) -> Reading | None:
    """Read what the kit's own keys say of a span.

    Args:
        span: The span.

    Returns:
        The reading; ``None`` where none of the keys is there.
    """
    attributes = span.attributes
    if not any(key.startswith(adk_keys.PREFIX) for key in attributes):
        return _named(span)
    reading = Reading(session_id=text(attributes.get(adk_keys.SESSION_ID)))
    is_tool = attributes.get(keys.GENAI_OPERATION) == _EXECUTE_TOOL
    if is_tool or adk_keys.TOOL_CALL_ARGS in attributes or adk_keys.TOOL_RESPONSE in attributes:
        _read_tool(span, reading)
    elif adk_keys.LLM_REQUEST in attributes or adk_keys.LLM_RESPONSE in attributes:
        _read_call(attributes, reading)
    elif (sent := messages(attributes.get(adk_keys.DATA))) and adk_keys.DATA in attributes:
        reading.kind = ObservationKind.CHAIN
        reading.input = plain_messages(sent)
    return reading


def _named(span: SpanFacts) -> Reading | None:
    """Read a span of the kit's that has none of its keys: those that failed have no keys at all."""
    if span.scope.name != adk_keys.SCOPE:
        return None
    name, _, inner = span.name.partition(" ")
    kind = _NAMES.get(name)
    if kind is None:
        return None
    reading = Reading(kind=kind)
    if kind is ObservationKind.TOOL:
        reading.tool_name = inner.strip("[]") or None
    elif kind is ObservationKind.AGENT:
        reading.agent_name = inner.strip("[]") or None
    return reading


def _read_call(attributes: dict[str, JsonValue], reading: Reading) -> None:
    reading.kind = ObservationKind.LLM
    request = json_mapping(attributes.get(adk_keys.LLM_REQUEST))
    response = json_mapping(attributes.get(adk_keys.LLM_RESPONSE))
    reading.fill(read_request(request))
    # The kit passes on the one candidate without the list that is around it in Google's own response.
    reading.fill(read_response({**response, "candidates": [response]}))
    code, message = text(response.get("error_code")), text(response.get("error_message"))
    if message is not None or (code is not None and not reading.output_messages):
        reading.error = SpanError(message=message or "", type=code)


def _read_tool(span: SpanFacts, reading: Reading) -> None:
    attributes = span.attributes
    response = decoded(attributes.get(adk_keys.TOOL_RESPONSE))
    if text(attributes.get(keys.GENAI_TOOL_NAME)) == _MERGED:
        # A span for the kit's own web interface: each of the calls has a span of its own.
        reading.kind = ObservationKind.CHAIN
        reading.output = _given(response)
        return
    arguments = _given(decoded(attributes.get(adk_keys.TOOL_CALL_ARGS)))
    if adk_keys.TOOL_CALL_ARGS not in attributes and keys.GENAI_OPERATION not in attributes:
        # Up to 1.0: the event in which the tool's call, or those of several, are answered.
        reading.kind = ObservationKind.CHAIN
        reading.output = _given(response)
        return
    if response is None:
        response = decoded(attributes.get(keys.GENAI_TOOL_CALL_RESULT))
    reading.kind = ObservationKind.TOOL
    if arguments == {} and response == {}:
        # So they are written where content is not captured.
        arguments = response = None
    reading.arguments = reading.input = arguments
    reading.result = reading.output = _given(_returned(response))
    if span.name.startswith(_OLD_CALL):
        reading.tool_name = span.name.removeprefix(_OLD_CALL).removesuffix("]")


def _returned(response: JsonValue) -> JsonValue:
    """Give what a tool returned: the kit makes an object of whatever is none."""
    if isinstance(response, dict) and response.keys() == {"result"} and not isinstance(response["result"], dict):
        return decoded(response["result"])
    return response


def _given(value: JsonValue) -> JsonValue:
    return None if value in _NOT_GIVEN else value
