"""What an input is when it is not OTLP JSON, in words for a message."""

from __future__ import annotations

import re
import struct
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["BinaryForm", "binary_form", "describe_foreign", "describe_foreign_value"]


class BinaryForm(StrEnum):
    """How OTLP is written that is not JSON; the words for a message."""

    MESSAGE = "OTLP protobuf"
    FRAMED = "the collector file exporter's output in proto format"
    FRAMED_ZSTD = "the collector file exporter's output with zstd compression (framed messages, no zstd stream)"


_ZSTD: Final = b"\x28\xb5\x2f\xfd"

_MAGIC: Final = (
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x04\x22\x4d\x18", "lz4 data"),
    (b"\xff\x06\x00\x00sNaPpY", "snappy data"),
    (b"PAR1", "Parquet"),
    (b"ARROW1", "an Arrow file"),
    (b"ORC", "an ORC file"),
    (b"Obj\x01", "an Avro file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"%PDF-", "a PDF document"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x03", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
    (b"version https://git-lfs", "a Git LFS pointer (the file itself was not fetched)"),
)
_TAR_MAGIC_AT: Final = 257

_JS_CONSOLE: Final = re.compile(
    rb"\{\s+(?:resource|instrumentationScope|traceId|parentId|parentSpanContext|traceState): "
)
_SSE: Final = re.compile(rb"(?:data|event|id|retry): ?\S")
_TEXT_PROTO: Final = re.compile(rb"(?:resource_spans|scope_spans|spans)\s*\{")
_UTF16_JSON: Final = re.compile(rb'[{\[]\x00[\s"{\[]\x00|\x00[{\[]\x00[\s"{\[]')

_COLUMN: Final = re.compile(r'"?[A-Za-z_][\w .\-]*"?', re.ASCII)
_KNOWN_COLUMNS: Final = {
    *("trace_id", "traceid", "span_id", "spanid", "parent_id", "context.trace_id", "context.span_id"),
    *("name", "input", "output", "expected", "expected_output", "expectation", "question", "answer", "id", "timestamp"),
}

_CONTROL: Final = bytes(set(range(32)) - set(b"\x00\t\n\r\x1b"))
_BINARY_SHARE: Final = 0.05

_OTLP_KEYS: Final = (b"\x0a\x0cservice.name", b"\x0a\x16telemetry.sdk.language", b"\x0a\x12telemetry.sdk.name")
_SPAN_IDS: Final = re.compile(rb"\x0a\x10.{16}\x12\x08.{8}", re.DOTALL)


def describe_foreign(head: bytes) -> str | None:
    """Say what an input is, judging by its first bytes; None where it may well be JSON.

    Args:
        head: The first few kilobytes, unpacked.
    """
    if (binary := _describe_binary(head)) is not None:
        return binary
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\x00 \t\r\n")
    if text.startswith((b"{", b"[")):
        return "output of the JavaScript ConsoleSpanExporter" if _JS_CONSOLE.match(text) else None
    if text.startswith(b"<"):
        return _describe_markup(text)
    if _TEXT_PROTO.match(text):
        return "OTLP in protobuf's text format"
    if _SSE.match(text):
        return "a server-sent event stream"
    if _is_table(text):
        return "CSV"
    controls = len(head) - len(head.translate(None, _CONTROL))
    return "binary data" if controls > len(head) * _BINARY_SHARE else None


def _describe_binary(head: bytes) -> str | None:
    for magic, words in _MAGIC:
        if head.startswith(magic):
            return words
    if head[_TAR_MAGIC_AT:].startswith(b"ustar"):
        return "a tar archive"
    if _UTF16_JSON.match(head):
        return "UTF-16 text without a byte order mark"
    form = binary_form(head)
    return None if form is None else form.value


def binary_form(head: bytes) -> BinaryForm | None:
    """Say how OTLP is written that is not JSON; None where it is none.

    Args:
        head: The first few kilobytes, unpacked.
    """
    if head[4:8] == _ZSTD:
        return BinaryForm.FRAMED_ZSTD
    if _is_otlp_protobuf(head):
        return BinaryForm.MESSAGE
    if len(head) > 4 and _is_otlp_protobuf(head[4:]) and struct.unpack_from(">I", head)[0] > 4:
        return BinaryForm.FRAMED
    return None


def _describe_markup(text: bytes) -> str | None:
    lowered = text.lower()
    if lowered.startswith((b"<!doctype html", b"<html")):
        return "HTML"
    if b"<testsuite" in lowered:
        return "a JUnit XML report"
    return "XML" if re.match(rb"<[?!a-z]", lowered) else None


def _is_table(text: bytes) -> bool:
    header, _, rest = text.partition(b"\n")
    separator = b"\t" if b"\t" in header else b","
    columns = [column.strip() for column in header.decode("utf-8", "replace").split(separator.decode())]
    if len(columns) < 2 or not all(_COLUMN.fullmatch(column) for column in columns):
        return False
    # A line torn off its beginning can look like a header, but then lines of JSON follow it.
    return not rest.startswith((b"{", b"[")) and any(column.strip('"').lower() in _KNOWN_COLUMNS for column in columns)


def _is_otlp_protobuf(head: bytes) -> bool:
    # resource_spans is field 1 of every OTLP request; in it come resource (1) and scope_spans (2).
    outer = _read_field(head, 0)
    if outer is None or outer[0] != 0x0A:
        return False
    inner = _read_field(head, outer[2])
    if inner is None or inner[0] not in {0x0A, 0x12} or inner[1] > outer[1]:
        return False
    return any(key in head for key in _OTLP_KEYS) or _SPAN_IDS.search(head) is not None


def _read_field(data: bytes, start: int) -> tuple[int, int, int] | None:
    """Read a length-delimited field's tag, its length, and where its content begins."""
    length = 0
    for index, byte in enumerate(data[start + 1 : start + 6]):
        length |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return data[start], length, start + 2 + index
    return None


def describe_foreign_value(value: object) -> str | None:
    """Say what a JSON value is that is not OTLP; None where it is not known.

    Args:
        value: A decoded JSON value; of a list, the first item tells.
    """
    if _is_list(value):
        value = value[0] if value else None
    if not _is_object(value):
        return None
    return next((words for words, matches in _SHAPES if matches(value)), None)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _child(value: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Give the object at a key, or the first one of the list there; empty where there is neither."""
    child = value.get(key)
    if _is_list(child) and child:
        child = child[0]
    return child if _is_object(child) else {}


def _is_jaeger(value: Mapping[str, object]) -> bool:
    return any("traceID" in part and ("spans" in part or "spanID" in part) for part in (value, _child(value, "data")))


def _is_console(value: Mapping[str, object]) -> bool:
    return str(_child(value, "context").get("trace_id", "")).startswith("0x")


def _is_phoenix(value: Mapping[str, object]) -> bool:
    return "trace_id" in _child(value, "context") and ("span_kind" in value or "parent_id" in value)


def _is_phoenix_table(value: Mapping[str, object]) -> bool:
    return "context.trace_id" in value and "context.span_id" in value


def _is_langfuse(value: Mapping[str, object]) -> bool:
    if "observations" in value:
        return bool({"trace", "projectId", "htmlPath"} & value.keys())
    return {"traceId", "parentObservationId", "type"} <= value.keys()


def _is_mlflow(value: Mapping[str, object]) -> bool:
    return "info" in value and "spans" in _child(value, "data")


def _is_langsmith(value: Mapping[str, object]) -> bool:
    return "run_type" in value and bool({"dotted_order", "trace_id", "session_id"} & value.keys())


def _is_cloudwatch(value: Mapping[str, object]) -> bool:
    return "durationNano" in value and "traceId" in value


def _is_strands(value: Mapping[str, object]) -> bool:
    return "span_events" in value and "span_id" in value


def _is_zipkin(value: Mapping[str, object]) -> bool:
    return "traceId" in value and "localEndpoint" in value


def _is_x_ray(value: Mapping[str, object]) -> bool:
    return "Segments" in value or str(value.get("trace_id", "")).startswith("1-")


def _is_clickhouse(value: Mapping[str, object]) -> bool:
    return {"TraceId", "SpanId"} <= value.keys()


def _is_docker(value: Mapping[str, object]) -> bool:
    return isinstance(value.get("log"), str) and bool({"stream", "time", "kubernetes"} & value.keys())


def _is_chat_dataset(value: Mapping[str, object]) -> bool:
    return "role" in _child(value, "messages")


def _is_json_schema(value: Mapping[str, object]) -> bool:
    return "$schema" in value


_SHAPES: Final[tuple[tuple[str, Callable[[Mapping[str, object]], bool]], ...]] = (
    ("a Jaeger JSON export", _is_jaeger),
    ("ConsoleSpanExporter output", _is_console),
    ("a Phoenix span export", _is_phoenix),
    ("a Phoenix span table", _is_phoenix_table),
    ("a Langfuse export", _is_langfuse),
    ("MLflow trace JSON", _is_mlflow),
    ("a LangSmith run export", _is_langsmith),
    ("CloudWatch/ADOT spans", _is_cloudwatch),
    ("strands-evals spans", _is_strands),
    ("a Zipkin JSON export", _is_zipkin),
    ("an AWS X-Ray export", _is_x_ray),
    ("rows of a ClickHouse span table", _is_clickhouse),
    ("a Docker log wrapper", _is_docker),
    ("a chat dataset", _is_chat_dataset),
    ("a JSON schema", _is_json_schema),
)
