"""OTLP as protobuf, bare or in the frames of the collector's file exporter, to lines of OTLP JSON.

A message is taken apart at its top level, so that one resource's records are held at a time. Damage ends the stream
with a complaint; what came before it is kept.

Source: opentelemetry-proto, and the collector's ``fileexporter``: with ``format: proto``, or with ``compression: zstd``
in its older way, each message stands behind its length in 4 bytes, big-endian.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pixie_otel.errors import InputError
from pixie_otel.traces.formats import BinaryForm

if TYPE_CHECKING:
    from pixie_otel.traces.limits import ReadLimits
    from pixie_otel.traces.unpack import Complain

__all__ = ["json_lines"]

_LENGTH_BYTES: Final = 4
_MOST_VARINT_BYTES: Final = 10
_ENTRY: Final = 0x0A
"""Field 1, of a length: the resources of a message, whatever their records are."""
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_IDS: Final = ("traceId", "spanId", "parentSpanId")
_TRACE_ID_BYTES: Final = 16
_SPAN_ID_BYTES: Final = 8
_PACKAGE: Final = "opentelemetry.proto."
_NEWLINE: Final = b"\n"


class _DamagedError(Exception):
    """The bytes are no protobuf from here on."""


class _Bytes:
    """A stream of chunks, taken by length."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._held = b""
        self._at = 0

    def take(self, length: int) -> bytes:
        """Give so many bytes, fewer only at the end."""
        parts = [self._held[self._at : self._at + length]]
        self._at += len(parts[0])
        missing = length - len(parts[0])
        while missing:
            self._held, self._at = next(self._chunks, b""), 0
            if not self._held:
                break
            parts.append(self._held[:missing])
            self._at = len(parts[-1])
            missing -= self._at
        return b"".join(parts)

    def skip(self, length: int) -> None:
        """Pass over so many bytes without holding them."""
        while length and (passed := self.take(min(length, 1 << 20))):
            length -= len(passed)


def json_lines(chunks: Iterator[bytes], form: BinaryForm, limits: ReadLimits, complain: Complain) -> Iterator[bytes]:
    """Give the records of an input as lines of OTLP JSON.

    Args:
        chunks: The input.
        form: How it is written.
        limits: How long a message may be.
        complain: Told of damage, and of messages that are too long.

    Raises:
        MissingExtraError: Messages are packed with zstd, and the library for that is not installed.
    """
    data = _Bytes(chunks)
    try:
        if form is BinaryForm.MESSAGE:
            yield from _entries(data, limits, complain)
        else:
            yield from _frames(data, limits, complain)
    except _DamagedError as damaged:
        complain("bad-protobuf", f"the protobuf data is damaged ({damaged}); what came before the damage was read")


def _frames(data: _Bytes, limits: ReadLimits, complain: Complain) -> Iterator[bytes]:
    number = 0
    while header := data.take(_LENGTH_BYTES):
        number += 1
        length = int.from_bytes(header)
        if length > limits.max_document_bytes:
            complain("document-too-long", _too_long(number, length, limits))
            data.skip(length)
            continue
        message = data.take(length)
        if len(header) < _LENGTH_BYTES or len(message) < length:
            complain("truncated-protobuf", f"message {number} ends too early; what came before it was read")
            return
        if message.startswith(_ZSTD):
            message = _unzstd(message, number, limits, complain)
        if message.startswith(b"{"):
            # A newline is between the parts of JSON, if anywhere.
            yield message.strip().replace(_NEWLINE, b" ") + _NEWLINE
            continue
        try:
            yield from _entries(_Bytes(iter([message])), limits, complain)
        except _DamagedError as damaged:
            complain("bad-protobuf", f"message {number} is no OTLP ({damaged}); it was left out")


def _unzstd(message: bytes, number: int, limits: ReadLimits, complain: Complain) -> bytes:
    from pixie_otel.traces.unpack import zstd_library

    zstd = zstd_library()
    try:
        plain: bytes = zstd.ZstdDecompressor().decompress(message, limits.max_document_bytes + 1)
    except zstd.ZstdError as error:
        complain("bad-zstd", f"message {number} is damaged ({error}); it was left out")
        return b""
    if len(plain) > limits.max_document_bytes:
        complain("document-too-long", _too_long(number, len(plain), limits))
        return b""
    return plain


def _too_long(number: int, length: int, limits: ReadLimits) -> str:
    return (
        f"message {number} has {length} bytes or more, over max_document_bytes ({limits.max_document_bytes}), and was "
        f"left out; raise the limit"
    )


def _entries(data: _Bytes, limits: ReadLimits, complain: Complain) -> Iterator[bytes]:
    number = 0
    while tag := data.take(1):
        length = _varint(data)
        number += 1
        if tag[0] != _ENTRY:
            raise _DamagedError(f"a field with tag {tag[0]} stands where a resource should")
        if length > limits.max_document_bytes:
            complain("document-too-long", _too_long(number, length, limits))
            data.skip(length)
            continue
        entry = data.take(length)
        if len(entry) < length:
            complain("truncated-protobuf", f"resource {number} ends too early; what came before it was read")
            return
        line = _line(entry)
        if line is None:
            complain("bad-protobuf", f"resource {number} holds no spans, log records or metrics; it was left out")
        else:
            yield line


def _varint(data: _Bytes) -> int:
    value = 0
    for index in range(_MOST_VARINT_BYTES):
        byte = data.take(1)
        if not byte:
            raise _DamagedError("it ends within a length")
        value |= (byte[0] & 0x7F) << (7 * index)
        if byte[0] < 0x80:
            return value
    raise _DamagedError("a length is longer than any can be")


def _line(entry: bytes) -> bytes | None:
    """Give the records of a resource as a line; what they are shows in them."""
    for module, name, key, holds in (
        ("trace.v1.trace_pb2", "ResourceSpans", "resourceSpans", _holds_spans),
        ("logs.v1.logs_pb2", "ResourceLogs", "resourceLogs", _holds_logs),
        ("metrics.v1.metrics_pb2", "ResourceMetrics", "resourceMetrics", _holds_metrics),
        ("trace.v1.trace_pb2", "ResourceSpans", "resourceSpans", _holds_anything),
    ):
        message = _parsed(module, name, entry)
        if message is not None and holds(message):
            found = _as_dict(message)
            return msgspec.json.encode({key: [found]}) + _NEWLINE
    return None


def _parsed(module: str, name: str, entry: bytes) -> Any:  # noqa: ANN401 - a message of protobuf's
    try:
        message = getattr(import_module(_PACKAGE + module), name)()
        undecodable: Any = import_module("google.protobuf.message").DecodeError
    except ImportError as error:
        raise InputError("reading protobuf needs opentelemetry-proto: pip install opentelemetry-proto") from error
    try:
        message.ParseFromString(entry)
    except undecodable:
        return None
    return message


def _holds_spans(message: Any) -> bool:  # noqa: ANN401 - likewise
    spans = [span for scope in message.scope_spans for span in scope.spans]
    return bool(spans) and all(
        # A metric's name and description may be as long as ids.
        len(span.trace_id) == _TRACE_ID_BYTES and len(span.span_id) == _SPAN_ID_BYTES and span.start_time_unix_nano
        for span in spans
    )


def _holds_logs(message: Any) -> bool:  # noqa: ANN401 - likewise
    records = [record for scope in message.scope_logs for record in scope.log_records]
    return bool(records) and all(record.time_unix_nano or record.observed_time_unix_nano for record in records)


def _holds_metrics(message: Any) -> bool:  # noqa: ANN401 - likewise
    return any(metric.WhichOneof("data") for scope in message.scope_metrics for metric in scope.metrics)


def _holds_anything(message: Any) -> bool:  # noqa: ANN401 - likewise
    return message is not None


def _as_dict(message: Any) -> dict[str, Any]:  # noqa: ANN401 - likewise
    to_dict: Any = import_module("google.protobuf.json_format").MessageToDict
    found: dict[str, Any] = to_dict(message, use_integers_for_enums=True)
    for scope in (*found.get("scopeSpans", ()), *found.get("scopeLogs", ())):
        for record in (*scope.get("spans", ()), *scope.get("logRecords", ())):
            for owner in (record, *record.get("links", ())):
                for key in _IDS:
                    if key in owner:
                        # Protobuf's own JSON has all bytes in base64.
                        owner[key] = base64.b64decode(owner[key]).hex()
    return found
