"""Requests of OTLP over HTTP: from what a client sent to lines of OTLP JSON, and the answers in the client's form."""

from __future__ import annotations

import base64
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any, Final, NoReturn, TypeAlias, cast

from pixie_otel.exporters.otlp_cleaning import cleaned
from pixie_otel.exporters.secret_cleaning import may_hold_credential

__all__ = ["JSON", "PROTOBUF", "Received", "RefusedRequest", "Signal", "failure", "received", "success", "unpacked"]

JSON: Final = "application/json"
PROTOBUF: Final = "application/x-protobuf"

_Object: TypeAlias = dict[str, Any]
_Item: TypeAlias = tuple[_Object, _Object, _Object]
"""A span or a log record, below its scope, below its resource."""

_INVALID_ARGUMENT: Final = 3
_IDS: Final = ("traceId", "spanId", "parentSpanId")


class Signal(StrEnum):
    """What a request carries, by the end of its path."""

    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"


@dataclass(frozen=True, slots=True)
class _Form:
    service: str
    request: str
    response: str
    levels: tuple[str, str, str]
    rejected: str
    items: str


_FORMS: Final = {
    Signal.TRACES: _Form(
        "opentelemetry.proto.collector.trace.v1.trace_service_pb2",
        "ExportTraceServiceRequest",
        "ExportTraceServiceResponse",
        ("resourceSpans", "scopeSpans", "spans"),
        "rejectedSpans",
        "spans",
    ),
    Signal.LOGS: _Form(
        "opentelemetry.proto.collector.logs.v1.logs_service_pb2",
        "ExportLogsServiceRequest",
        "ExportLogsServiceResponse",
        ("resourceLogs", "scopeLogs", "logRecords"),
        "rejectedLogRecords",
        "log records",
    ),
}


class RefusedRequest(Exception):  # noqa: N818 - for the recorder this is an answer, and nothing went wrong
    """A request that is answered with an error.

    Args:
        status: The HTTP status.
        reason: A short name, by which such requests are counted.
        message: What is wrong, and what to do about it.
        code: The code of gRPC that stands in the answer.
    """

    def __init__(self, status: int, reason: str, message: str, code: int = _INVALID_ARGUMENT) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.code = code


@dataclass(frozen=True, slots=True)
class Received:
    """What a request held.

    Attributes:
        lines: Its lines of OTLP JSON, each with its end.
        items: How many spans or log records stand in them.
        trace_ids: The traces that its spans belong to.
        rejected: How many spans or log records could not be taken.
        reason: Why not.
    """

    lines: bytes
    items: int
    trace_ids: frozenset[str]
    rejected: int
    reason: str


def unpacked(body: bytes, encoding: str, most: int) -> bytes:
    """Unpack a body.

    Args:
        body: The body as it came.
        encoding: What the header ``Content-Encoding`` says.
        most: How many bytes it may unpack to.

    Raises:
        RefusedRequest: It is damaged, unpacks to more, or is packed in a way that is not known.
    """
    try:
        if encoding == "gzip":
            with gzip.GzipFile(fileobj=io.BytesIO(body)) as packed:
                plain = packed.read(most + 1)
        elif encoding == "deflate":
            plain = _inflated(body, most + 1)
        elif encoding in {"", "identity"}:
            plain = body
        else:
            raise RefusedRequest(
                415,
                "unsupported-encoding",
                f"Content-Encoding {encoding!r} is not understood; set OTEL_EXPORTER_OTLP_COMPRESSION to gzip or none",
            )
    except (OSError, EOFError, zlib.error) as error:
        raise RefusedRequest(400, "damaged-body", f"the body is no {encoding} data: {error}") from error
    if len(plain) > most:
        raise RefusedRequest(413, "too-large", f"the body unpacks to more than {most} bytes; export smaller batches")
    return plain


def received(signal: Signal, content_type: str, body: bytes, max_line_bytes: int) -> Received:
    """Take a request apart.

    Args:
        signal: Traces or logs.
        content_type: `JSON` or `PROTOBUF`.
        body: The unpacked body.
        max_line_bytes: How long a line may be; longer ones are split, and a single span beyond it is not taken.

    Raises:
        RefusedRequest: It is no request of OTLP.
    """
    form = _FORMS[signal]
    document = _from_json(form, body) if content_type == JSON else _from_protobuf(form, body)
    document = _safe(document)
    items: list[_Item] = []
    broken = 0
    for item in _items(form, document):
        if item is None:
            broken += 1
        else:
            items.append(item)
    lines: list[bytes] = []
    long = _write(form, items, max_line_bytes, lines) if items else 0
    trace_ids: frozenset[str] = frozenset()
    if signal is Signal.TRACES:
        trace_ids = frozenset(str(span.get("traceId") or "")[:32].lower() for _, _, span in items)
    reasons = [
        f"{count} {form.items} {what}"
        for count, what in ((broken, "are no objects"), (long, f"are longer than {max_line_bytes} bytes"))
        if count
    ]
    return Received(b"".join(lines), len(items) - long, trace_ids, broken + long, "; ".join(reasons))


def success(signal: Signal, content_type: str, rejected: int, reason: str) -> bytes:
    """Give the body of the answer to a request that was taken.

    Args:
        signal: What it carried.
        content_type: The form to answer in.
        rejected: How many of its items could not be taken.
        reason: Why not.
    """
    if signal is Signal.METRICS or not rejected:
        return b"{}" if content_type == JSON else b""
    form = _FORMS[signal]
    # 64-bit integers are texts in OTLP's JSON.
    document = {"partialSuccess": {form.rejected: str(rejected), "errorMessage": reason}}
    if content_type == JSON:
        return _compact(document)
    return _message(form.service, form.response, document)


def failure(content_type: str, code: int, message: str) -> bytes:
    """Give the body of the answer to a request that was not taken.

    Args:
        content_type: The form to answer in.
        code: The code of gRPC.
        message: What is wrong.
    """
    document = {"code": code, "message": message}
    return _message("google.rpc.status_pb2", "Status", document) if content_type == PROTOBUF else _compact(document)


def _inflated(body: bytes, most: int) -> bytes:
    """Unpack what HTTP calls deflate: zlib's form, or, as some clients send it, the bare stream."""
    is_zlib = len(body) >= 2 and body[0] & 0x0F == 8 and int.from_bytes(body[:2]) % 31 == 0
    stream = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
    plain = stream.decompress(body, most)
    if not stream.eof and len(plain) < most:
        raise EOFError("it ends too early")
    return plain


def _safe(document: _Object) -> _Object:
    """Take credentials out; what cannot be looked at is not taken."""
    try:
        # Of bytes, only their Base64 stands there.
        data = _compact(document)
        return cleaned(document) if may_hold_credential(data) or b'"bytesValue"' in data else document
    except RecursionError as error:
        raise RefusedRequest(400, "invalid-json", "the body is nested too deep") from error


def _from_json(form: _Form, body: bytes) -> _Object:
    try:
        document = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RefusedRequest(400, "invalid-json", f"the body is no JSON: {error}") from error
    top = form.levels[0]
    if not isinstance(document, dict):
        raise RefusedRequest(400, "not-otlp", f"the body is no object with {top!r}")
    found = cast("_Object", document)
    if found and not isinstance(found.get(top), list):
        raise RefusedRequest(400, "not-otlp", f"the body has no list {top!r}; its keys are {sorted(found)[:5]}")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _from_protobuf(form: _Form, body: bytes) -> _Object:
    message: Any = getattr(import_module(form.service), form.request)()
    undecodable: Any = import_module("google.protobuf.message").DecodeError
    try:
        message.ParseFromString(body)
    except undecodable as error:
        raise RefusedRequest(400, "invalid-protobuf", f"the body is no {form.request}: {error}") from error
    to_dict: Any = import_module("google.protobuf.json_format").MessageToDict
    document: _Object = to_dict(message, use_integers_for_enums=True)
    for item in _items(form, document):
        if item is not None:
            for owner in (item[2], *item[2].get("links", ())):
                _to_hex(owner)
    return document


def _to_hex(owner: _Object) -> None:
    """Write ids as OTLP's JSON has them: protobuf's own JSON has all bytes in base64."""
    for key in _IDS:
        if key in owner:
            owner[key] = base64.b64decode(owner[key]).hex()


def _message(module: str, name: str, document: _Object) -> bytes:
    parse: Any = import_module("google.protobuf.json_format").ParseDict
    message: Any = parse(document, getattr(import_module(module), name)())
    data: bytes = message.SerializeToString()
    return data


def _items(form: _Form, document: _Object) -> Iterator[_Item | None]:
    """Give each span or log record below its scope and its resource; ``None`` for what is no object."""
    of_resources, of_scopes, of_items = form.levels
    for resource in _objects(document, of_resources):
        for scope in [None] if resource is None else _objects(resource, of_scopes):
            for item in [None] if scope is None else _objects(scope, of_items):
                yield None if resource is None or scope is None or item is None else (resource, scope, item)


def _objects(owner: _Object, key: str) -> list[_Object | None]:
    """Give the objects of a list, with ``None`` for what is none."""
    found = owner.get(key)
    if found is None:
        return []
    items = cast("list[object]", found) if isinstance(found, list) else [found]
    return [cast("_Object", item) if isinstance(item, dict) else None for item in items]


def _write(form: _Form, items: Sequence[_Item], most: int, lines: list[bytes]) -> int:
    """Add the lines that hold the items, and say how many are too long for any line."""
    line = _compact(_document(form, items)) + b"\n"
    if len(line) <= most:
        lines.append(line)
        return 0
    if len(items) == 1:
        return 1
    half = len(items) // 2
    return _write(form, items[:half], most, lines) + _write(form, items[half:], most, lines)


def _document(form: _Form, items: Sequence[_Item]) -> _Object:
    """Put items back below their scopes and resources, which stand once for all items in a row."""
    of_resources, of_scopes, of_items = form.levels
    resources: list[_Object] = []
    above: tuple[_Object, _Object] | None = None
    for resource, scope, item in items:
        if above is None or above[0] is not resource:
            resources.append({**resource, of_scopes: []})
        if above is None or above[0] is not resource or above[1] is not scope:
            resources[-1][of_scopes].append({**scope, of_items: []})
        above = resource, scope
        resources[-1][of_scopes][-1][of_items].append(item)
    return {of_resources: resources}


def _compact(document: _Object) -> bytes:
    try:
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        # Such as 1e999, which JSON can write and no number can hold.
        raise RefusedRequest(400, "invalid-json", f"the body holds a number out of range: {error}") from error
    # A lone surrogate is no character, and UTF-8 has no way to write it.
    return (
        text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode() if _is_torn(text) else text.encode()
    )


def _is_torn(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
