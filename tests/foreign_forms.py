"""OTLP documents written as other tools write traces, for tests; what a form has no room for is left out."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

Document = dict[str, Any]

_KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_CODES: Final = ("UNSET", "OK", "ERROR")
_IDS: Final = {"traceId", "spanId", "parentSpanId"}
_PIECE: Final = 16 * 1024


def plain(value: Document) -> Any:
    """Give an AnyValue as what it stands for."""
    ((variant, inner),) = value.items() or [("", None)]
    if variant == "intValue":
        return int(inner)
    if variant == "arrayValue":
        return [plain(item) for item in inner.get("values", [])]
    if variant == "kvlistValue":
        return plain_map(inner.get("values", []))
    return inner


def plain_map(pairs: list[Document]) -> Document:
    """Give attributes as a plain map."""
    return {pair["key"]: plain(pair["value"] or {"": None}) for pair in pairs}


def spans_of(documents: list[Document]) -> Iterator[tuple[Document, Document, Document]]:
    """Give each span with its resource and scope."""
    for document in documents:
        for resource in document.get("resourceSpans", []):
            for scope in resource.get("scopeSpans", []):
                for span in scope.get("spans", []):
                    yield span, resource.get("resource", {}), scope.get("scope", {})


def _nano(span: Document, key: str) -> int:
    return int(span.get(key, 0))


def _iso(nanoseconds: int) -> str:
    seconds, fraction = divmod(nanoseconds, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{fraction:09d}Z"


def _lines(objects: Iterator[Document]) -> bytes:
    return b"".join(json.dumps(found).encode() + b"\n" for found in objects)


def jaeger(documents: list[Document]) -> bytes:
    """As Jaeger's page lets one download them."""
    traces: dict[str, Document] = {}
    for span, resource, scope in spans_of(documents):
        trace = traces.setdefault(span["traceId"], {"traceID": span["traceId"], "spans": [], "processes": {}})
        tags = plain_map(resource.get("attributes", []))
        process = {"serviceName": tags.pop("service.name", "unknown"), "tags": _tags(tags)}
        name = f"p{len(trace['processes'])}"
        trace["processes"][name] = process
        own = plain_map(span.get("attributes", [])) | {
            "otel.scope.name": scope.get("name"),
            "otel.scope.version": scope.get("version"),
            "span.kind": _KINDS[span.get("kind", 0)].lower(),
        }
        status = span.get("status", {})
        if status.get("code"):
            own |= {"otel.status_code": _CODES[status["code"]], "otel.status_description": status.get("message")}
        if status.get("code") == 2:
            own["error"] = True
        references = [{"refType": "CHILD_OF", "traceID": span["traceId"], "spanID": span.get("parentSpanId")}]
        trace["spans"].append(
            {
                "traceID": span["traceId"],
                "spanID": span["spanId"],
                "operationName": span.get("name", ""),
                "references": references if span.get("parentSpanId") else [],
                "startTime": _nano(span, "startTimeUnixNano") // 1000,
                "duration": (_nano(span, "endTimeUnixNano") - _nano(span, "startTimeUnixNano")) // 1000,
                "tags": _tags({key: value for key, value in own.items() if value is not None}),
                "logs": [
                    {
                        "timestamp": _nano(event, "timeUnixNano") // 1000,
                        "fields": _tags({"event": event.get("name")} | plain_map(event.get("attributes", []))),
                    }
                    for event in span.get("events", [])
                ],
                "processID": name,
                "warnings": None,
            }
        )
    return json.dumps({"data": list(traces.values()), "total": 0, "errors": None}, indent=2).encode()


def _tags(values: Document) -> list[Document]:
    found: list[Document] = []
    for key, value in values.items():
        kind = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "string"
        kind = "float64" if isinstance(value, float) else kind
        text = json.dumps(value) if isinstance(value, list | dict) else value
        found.append({"key": key, "type": kind, "value": text})
    return found


def console(documents: list[Document]) -> bytes:
    """As the ConsoleSpanExporter prints them."""
    texts = [
        json.dumps(
            {
                "name": span.get("name", ""),
                "context": {
                    "trace_id": f"0x{span['traceId']}",
                    "span_id": f"0x{span['spanId']}",
                    "trace_state": "[]",
                },
                "kind": f"SpanKind.{_KINDS[span.get('kind', 0)]}",
                "parent_id": f"0x{span['parentSpanId']}" if span.get("parentSpanId") else None,
                "start_time": _iso(_nano(span, "startTimeUnixNano")),
                "end_time": _iso(_nano(span, "endTimeUnixNano")),
                "status": {
                    "status_code": _CODES[span.get("status", {}).get("code", 0)],
                    "description": span.get("status", {}).get("message"),
                },
                "attributes": plain_map(span.get("attributes", [])),
                "events": [
                    {
                        "name": event.get("name"),
                        "timestamp": _iso(_nano(event, "timeUnixNano")),
                        "attributes": plain_map(event.get("attributes", [])),
                    }
                    for event in span.get("events", [])
                ],
                "links": [],
                "resource": {"attributes": plain_map(resource.get("attributes", [])), "schema_url": ""},
            },
            indent=4,
        )
        for span, resource, _ in spans_of(documents)
    ]
    return "\n".join(["Starting the app", *texts, "Done"]).encode() + b"\n"


def phoenix(documents: list[Document]) -> bytes:
    """As Phoenix's client gives spans, a line for each."""
    return _lines(_phoenix_span(span, nested=False) for span, _, _ in spans_of(documents))


def phoenix_nested(documents: list[Document]) -> bytes:
    """As Phoenix's page gives spans: in one list, with attributes in attributes."""
    return json.dumps([_phoenix_span(span, nested=True) for span, _, _ in spans_of(documents)]).encode()


def phoenix_rows(documents: list[Document]) -> bytes:
    """As rows of Phoenix's data frames."""
    rows: list[Document] = []
    for span, _, _ in spans_of(documents):
        found = _phoenix_span(span, nested=False)
        context, attributes = found.pop("context"), found.pop("attributes")
        found |= {f"context.{key}": value for key, value in context.items()}
        rows.append(found | {f"attributes.{key}": value for key, value in attributes.items()})
    return json.dumps(rows).encode()


def _phoenix_span(span: Document, *, nested: bool) -> Document:
    attributes = plain_map(span.get("attributes", []))
    kind = attributes.get("openinference.span.kind", "UNKNOWN")
    return {
        "id": "U3Bhbjox",
        "name": span.get("name", ""),
        "context": {"trace_id": span["traceId"], "span_id": span["spanId"]},
        "span_kind": kind,
        "parent_id": span.get("parentSpanId"),
        "start_time": _iso(_nano(span, "startTimeUnixNano")),
        "end_time": _iso(_nano(span, "endTimeUnixNano")),
        "status_code": _CODES[span.get("status", {}).get("code", 0)],
        "status_message": span.get("status", {}).get("message", ""),
        "attributes": _nested(attributes) if nested else attributes,
        "events": [
            {
                "name": event.get("name"),
                "timestamp": _iso(_nano(event, "timeUnixNano")),
                "attributes": plain_map(event.get("attributes", [])),
            }
            for event in span.get("events", [])
        ],
    }


def _nested(flat: Document) -> Document:
    top: Document = {}
    for key, value in flat.items():
        at = top
        *above, last = key.split(".")
        for part in above:
            at = at.setdefault(part, {})
        at[last] = value
    return {key: _with_lists(value) for key, value in top.items()}


def _with_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _with_lists(item) for key, item in value.items()}
    if inner and all(key == str(index) for index, key in enumerate(inner)):
        return list(inner.values())
    return inner


def zipkin(documents: list[Document]) -> bytes:
    """As an exporter for Zipkin writes them."""
    found: list[Document] = []
    for span, resource, scope in spans_of(documents):
        tags = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in plain_map(span.get("attributes", [])).items()
        }
        tags |= {"otel.scope.name": scope.get("name", ""), "otel.scope.version": scope.get("version", "")}
        status = span.get("status", {})
        if status.get("code"):
            tags["otel.status_code"] = _CODES[status["code"]]
        if status.get("code") == 2:
            tags["error"] = status.get("message", "")
        start = _nano(span, "startTimeUnixNano") // 1000
        found.append(
            {
                "traceId": span["traceId"],
                "id": span["spanId"],
                **({"parentId": span["parentSpanId"]} if span.get("parentSpanId") else {}),
                "name": span.get("name", ""),
                "timestamp": start,
                "duration": _nano(span, "endTimeUnixNano") // 1000 - start,
                "localEndpoint": {"serviceName": plain_map(resource.get("attributes", [])).get("service.name", "app")},
                "tags": tags,
                "annotations": [
                    {
                        "timestamp": _nano(event, "timeUnixNano") // 1000,
                        "value": json.dumps({event.get("name", ""): plain_map(event.get("attributes", []))}),
                    }
                    for event in span.get("events", [])
                ],
            }
        )
    return json.dumps(found).encode()


def columns(documents: list[Document]) -> bytes:
    """As ClickHouse gives the rows of the collector's table."""
    return _lines(
        {
            "Timestamp": _iso(_nano(span, "startTimeUnixNano")).replace("T", " ").rstrip("Z"),
            "TraceId": span["traceId"],
            "SpanId": span["spanId"],
            "ParentSpanId": span.get("parentSpanId", ""),
            "SpanName": span.get("name", ""),
            "SpanKind": _KINDS[span.get("kind", 0)].capitalize(),
            "ServiceName": plain_map(resource.get("attributes", [])).get("service.name", ""),
            "ResourceAttributes": plain_map(resource.get("attributes", [])),
            "ScopeName": scope.get("name", ""),
            "ScopeVersion": scope.get("version", ""),
            "SpanAttributes": {
                key: value if isinstance(value, str) else json.dumps(value)
                for key, value in plain_map(span.get("attributes", [])).items()
            },
            "Duration": str(_nano(span, "endTimeUnixNano") - _nano(span, "startTimeUnixNano")),
            "StatusCode": _CODES[span.get("status", {}).get("code", 0)].capitalize(),
            "StatusMessage": span.get("status", {}).get("message", ""),
            "Events.Timestamp": [_iso(_nano(event, "timeUnixNano")) for event in span.get("events", [])],
            "Events.Name": [event.get("name") for event in span.get("events", [])],
            "Events.Attributes": [plain_map(event.get("attributes", [])) for event in span.get("events", [])],
        }
        for span, resource, scope in spans_of(documents)
    )


def cloudwatch(documents: list[Document]) -> bytes:
    """As CloudWatch has what AWS's distribution sent."""
    return _lines(
        {
            "resource": {"attributes": plain_map(resource.get("attributes", []))},
            "scope": scope,
            **{key: value for key, value in span.items() if key not in {"attributes", "events", "status"}},
            "kind": _KINDS[span.get("kind", 0)],
            "startTimeUnixNano": _nano(span, "startTimeUnixNano"),
            "endTimeUnixNano": _nano(span, "endTimeUnixNano"),
            "durationNano": _nano(span, "endTimeUnixNano") - _nano(span, "startTimeUnixNano"),
            "attributes": plain_map(span.get("attributes", [])),
            "status": {
                "code": _CODES[span.get("status", {}).get("code", 0)],
                "message": span.get("status", {}).get("message", ""),
            },
            "events": [
                {
                    "timeUnixNano": _nano(event, "timeUnixNano"),
                    "name": event.get("name"),
                    "attributes": plain_map(event.get("attributes", [])),
                }
                for event in span.get("events", [])
            ],
        }
        for span, resource, scope in spans_of(documents)
    )


def docker(documents: list[Document]) -> bytes:
    """As Docker's log files have what a container printed, cut at 16 KiB."""
    objects: list[Document] = [{"log": "starting\n", "stream": "stderr", "time": "2026-11-30T12:00:00.1Z"}]
    for document in documents:
        text = json.dumps(document) + "\n"
        objects += [
            {"log": text[at : at + _PIECE], "stream": "stdout", "time": "2026-11-30T12:00:00.2Z"}
            for at in range(0, len(text), _PIECE)
        ]
    return _lines(iter(objects))


def kubernetes(documents: list[Document]) -> bytes:
    """As the log files of pods have it, with lines of another stream in between."""
    lines = ["2026-11-30T12:00:00.123456789Z stderr F starting"]
    for document in documents:
        text = json.dumps(document)
        for at in range(0, len(text), _PIECE):
            tag = "F" if at + _PIECE >= len(text) else "P"
            lines.append(f"2026-11-30T12:00:00.123456789Z stdout {tag} {text[at : at + _PIECE]}")
            lines.append("2026-11-30T12:00:00.123456789Z stderr F in between")
    return "\n".join(lines).encode() + b"\n"


def logger(documents: list[Document]) -> bytes:
    """As Java's logging exporters write resources behind the text of a logger, on two lines."""
    text = "".join(
        "Nov 30, 2026 12:00:00 PM io.opentelemetry.exporter.logging.otlp.OtlpJsonLoggingSpanExporter export\n"
        f"INFO: {json.dumps(resource)}\n"
        for document in documents
        for key in document
        for resource in document[key]
    )
    return text.encode()


def _base64_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: base64.b64encode(bytes.fromhex(inner)).decode()
            if key in _IDS and isinstance(inner, str)
            else _base64_ids(inner)
            for key, inner in value.items()
        }
    return [_base64_ids(item) for item in value] if isinstance(value, list) else value


def messages(documents: list[Document]) -> list[bytes]:
    """Give each document as a message of protobuf."""
    found: list[bytes] = []
    for document in documents:
        kind = ExportTraceServiceRequest if "resourceSpans" in document else ExportLogsServiceRequest
        found.append(ParseDict(_base64_ids(document), kind(), ignore_unknown_fields=True).SerializeToString())
    return found


def protobuf(documents: list[Document]) -> bytes:
    """As one message of protobuf, which several after another are."""
    return b"".join(messages(documents))


def framed(documents: list[Document]) -> bytes:
    """As the collector's file exporter writes protobuf."""
    return b"".join(struct.pack(">I", len(message)) + message for message in messages(documents))


LOSSLESS: Final[dict[str, Callable[[list[Document]], bytes]]] = {
    "docker": docker,
    "kubernetes": kubernetes,
    "logger": logger,
    "protobuf": protobuf,
    "framed": framed,
}
"""Forms that have room for everything."""

FOREIGN: Final[dict[str, Callable[[list[Document]], bytes]]] = {
    "jaeger": jaeger,
    "console": console,
    "phoenix": phoenix,
    "phoenix_nested": phoenix_nested,
    "phoenix_rows": phoenix_rows,
    "zipkin": zipkin,
    "columns": columns,
    "cloudwatch": cloudwatch,
}
"""Forms that have spans in a way of their own."""
