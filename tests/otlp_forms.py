"""The ways in which producers write the same OTLP document."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from otlp_strategies import compact

Document = dict[str, Any]

_IDS: Final = {"traceId", "spanId", "parentSpanId"}
_VARIANTS: Final = ("stringValue", "intValue", "boolValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue")
_KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_CODES: Final = ("UNSET", "OK", "ERROR")
_OLDER: Final = {
    "scopeSpans": "instrumentationLibrarySpans",
    "scopeLogs": "instrumentationLibraryLogs",
    "scope": "instrumentationLibrary",
}


def _rewritten(value: Any, pair: Callable[[str, Any], tuple[str, Any]]) -> Any:
    """Rewrite every key and value of a document's objects."""
    if isinstance(value, dict):
        return dict(pair(key, _rewritten(inner, pair)) for key, inner in value.items())
    return [_rewritten(inner, pair) for inner in value] if isinstance(value, list) else value


def _snake_case(key: str, value: object) -> tuple[str, object]:
    return re.sub("([A-Z])", lambda match: "_" + match[1].lower(), key), value


def _base64_ids(key: str, value: Any) -> tuple[str, object]:
    return key, base64.b64encode(bytes.fromhex(value)).decode() if key in _IDS else value


def _upper_ids(key: str, value: Any) -> tuple[str, object]:
    return key, value.upper() if key in _IDS else value


def _numbers(key: str, value: Any) -> tuple[str, object]:
    return key, int(value) if key.endswith("Nano") or key == "intValue" else value


def _enum_names(key: str, value: Any) -> tuple[str, object]:
    if key == "kind":
        return key, f"SPAN_KIND_{_KINDS[value]}"
    return key, f"STATUS_CODE_{_CODES[value]}" if key == "code" else value


def _older(key: str, value: object) -> tuple[str, object]:
    return _OLDER.get(key, key), value


def _all_variants(key: str, value: Any) -> tuple[str, object]:
    is_any_value = key in {"value", "body"}
    if key == "arrayValue":
        return key, {"values": [dict.fromkeys(_VARIANTS) | inner for inner in value["values"]]}
    return key, dict.fromkeys(_VARIANTS) | value if is_any_value else value


def _backwards(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _backwards(inner) for key, inner in reversed(value.items())}
    return [_backwards(inner) for inner in value] if isinstance(value, list) else value


def _with_unknown_fields(value: Any) -> Any:
    if isinstance(value, dict) and "key" not in value:
        unknown = [{"traceId": "f" * 32, "spanId": "1" * 16, "startTimeUnixNano": "7", "spans": [{}]}]
        # A body that is empty but for an unknown field is a value of an unknown type.
        known = {key: _with_unknown_fields(inner) if inner or key != "body" else inner for key, inner in value.items()}
        return {"unknown": unknown} | known
    return [_with_unknown_fields(inner) for inner in value] if isinstance(value, list) else value


def _lines(rewrite: Callable[[Document], object]) -> Callable[[list[Document]], bytes]:
    return lambda documents: b"".join(compact(rewrite(document)) + b"\n" for document in documents)


def _by(pair: Callable[[str, Any], tuple[str, Any]]) -> Callable[[list[Document]], bytes]:
    return _lines(lambda document: _rewritten(document, pair))


def _joined(texts: Iterable[str]) -> bytes:
    return "\n".join(texts).encode()


plain = _lines(lambda document: document)
"""As OpenTelemetry's exporters write them."""

FORMS: Final[dict[str, Callable[[list[Document]], bytes]]] = {
    "snake_case": _by(_snake_case),
    "base64 ids": _by(_base64_ids),
    "upper-case ids": _by(_upper_ids),
    "numbers": _by(_numbers),
    "names of enums": _by(_enum_names),
    "instrumentationLibrary": _by(_older),
    "all variants": _by(_all_variants),
    "keys backwards": _lines(_backwards),
    "unknown fields": _lines(_with_unknown_fields),
    "indented": lambda documents: _joined(json.dumps(document, indent=2) for document in documents),
    "spaced": lambda documents: _joined(json.dumps(document, separators=(" ,  ", " :\t")) for document in documents),
    "escaped": lambda documents: _joined(json.dumps(document, ensure_ascii=True) for document in documents),
    "BOM and CRLF": lambda documents: b"\xef\xbb\xbf" + plain(documents).replace(b"\n", b"\r\n"),
    "UTF-16": lambda documents: plain(documents).decode().encode("utf-16"),
    "no newline at the end": lambda documents: plain(documents)[:-1],
    "arrays": _lines(lambda document: [document]),
    "one indented array": lambda documents: json.dumps(documents, indent=1).encode(),
    "bare resources": lambda documents: b"".join(
        compact(resource) + b"\n" for document in documents for key in document for resource in document[key]
    ),
    "Tempo's batches": _by(lambda key, value: ("batches" if key == "resourceSpans" else key, value)),
    "wrapped": _lines(lambda document: {"result": {"trace": document}}),
    "wrapped as text": _lines(lambda document: {"log": json.dumps(document) + "\n", "stream": "stdout"}),
    "beside metrics": _lines(lambda document: {"resourceMetrics": [], **document}),
}
