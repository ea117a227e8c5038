"""OTLP documents of all kinds, valid and not, for hypothesis."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from pixie_otel import attributes as keys

Json = dict[str, Any]

_START = 1_764_500_000_000_000_000
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_KNOWN_KEYS = st.sampled_from(
    [
        "input.value",
        "output.value",
        "openinference.span.kind",
        "llm.model_name",
        "llm.input_messages.0.message.role",
        "llm.input_messages.0.message.content",
        "llm.output_messages.0.message.content",
        "llm.token_count.prompt",
        "gen_ai.operation.name",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.usage.input_tokens",
        "gen_ai.prompt.0.content",
        "gen_ai.tool.call.arguments",
        "traceloop.entity.input",
        "session.id",
        "metadata",
    ]
)
KEYS = st.one_of(_KNOWN_KEYS, _TEXT)

_JSON_TEXT = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), _TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_TEXT, inner, max_size=3)),
    max_leaves=6,
).map(json.dumps)


def _pairs(values: st.SearchStrategy[Json]) -> st.SearchStrategy[list[Json]]:
    pair = st.builds(lambda key, value: {"key": key, "value": value}, KEYS, values)
    return st.lists(pair, max_size=4, unique_by=lambda pair: pair["key"])


ANY_VALUES: st.SearchStrategy[Json] = st.recursive(
    st.one_of(
        st.builds(lambda text: {"stringValue": text}, st.one_of(_TEXT, _JSON_TEXT)),
        st.builds(lambda number: {"intValue": str(number)}, st.integers(-(2**63), 2**63 - 1)),
        st.builds(lambda truth: {"boolValue": truth}, st.booleans()),
        st.builds(lambda number: {"doubleValue": number}, st.floats(allow_nan=False, allow_infinity=False)),
        st.sampled_from([{"doubleValue": "NaN"}, {"doubleValue": "-Infinity"}, {"bytesValue": "AAEC"}, {}]),
    ),
    lambda inner: st.one_of(
        st.builds(lambda values: {"arrayValue": {"values": values}}, st.lists(inner, max_size=3)),
        st.builds(lambda values: {"kvlistValue": {"values": values}}, _pairs(inner)),
    ),
    max_leaves=4,
)
ATTRIBUTES = _pairs(ANY_VALUES)

TRACE_IDS = st.integers(1, 3).map(lambda number: f"{number * 0x1F2F3F:032x}")
SPAN_IDS = st.integers(1, 6).map(lambda number: f"{number * 0xA1B2C3:016x}")
TIMES = st.integers(0, 5).map(lambda number: str(_START + number * 40_000))

EVENTS = st.lists(
    st.fixed_dictionaries({"name": _TEXT, "timeUnixNano": TIMES}, optional={"attributes": ATTRIBUTES}), max_size=2
)
STATUSES = st.sampled_from([{}, {"code": 1}, {"code": 2, "message": "boom"}, {"code": 2}])


@st.composite
def spans(draw: st.DrawFn) -> Json:
    """Give a span as OpenTelemetry's exporters write it."""
    start = int(draw(TIMES))
    span: Json = {
        "traceId": draw(TRACE_IDS),
        "spanId": draw(SPAN_IDS),
        "name": draw(_TEXT),
        "kind": draw(st.integers(0, 5)),
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + draw(st.integers(0, 3)) * 1_000_000),
        "attributes": draw(ATTRIBUTES),
        "status": draw(STATUSES),
    }
    if draw(st.booleans()):
        span["parentSpanId"] = draw(SPAN_IDS)
    if draw(st.booleans()):
        span["events"] = draw(EVENTS)
    return span


@st.composite
def log_records(draw: st.DrawFn) -> Json:
    """Give a log record of a model's message, most often within a span."""
    event = draw(st.sampled_from(["gen_ai.user.message", keys.GENAI_EVENT_CHOICE, "something.else"]))
    log: Json = {
        "timeUnixNano": draw(TIMES),
        "observedTimeUnixNano": draw(TIMES),
        "eventName": event,
        "body": draw(ANY_VALUES),
        "attributes": draw(ATTRIBUTES),
    }
    if draw(st.integers(0, 3)):
        log |= {"traceId": draw(TRACE_IDS), "spanId": draw(SPAN_IDS)}
    return log


RESOURCES = st.sampled_from(["a", "b"]).map(
    lambda name: {"attributes": [{"key": "service.name", "value": {"stringValue": name}}]}
)
SCOPES = st.sampled_from([{}, {"name": "scope", "version": "1"}])


@st.composite
def batches(draw: st.DrawFn) -> Json:
    """Give a document with spans, log records or both."""
    document: Json = {}
    if draw(st.integers(0, 3)):
        scopes = st.lists(st.fixed_dictionaries({"scope": SCOPES, "spans": st.lists(spans(), max_size=3)}), max_size=2)
        document["resourceSpans"] = draw(
            st.lists(st.fixed_dictionaries({"resource": RESOURCES, "scopeSpans": scopes}), min_size=1, max_size=2)
        )
    if "resourceSpans" not in document or not draw(st.integers(0, 2)):
        records = st.fixed_dictionaries({"scope": SCOPES, "logRecords": st.lists(log_records(), max_size=3)})
        document["resourceLogs"] = draw(
            st.lists(
                st.fixed_dictionaries({"resource": RESOURCES, "scopeLogs": st.lists(records, max_size=2)}),
                min_size=1,
                max_size=2,
            )
        )
    return document


def compact(document: object) -> bytes:
    """Write a document as exporters do."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
