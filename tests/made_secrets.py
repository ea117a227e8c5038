"""Credentials that are made up, and what redaction leaves of spans that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from sdk_spans import sdk_span

from pixie_otel.exporters.otlp_json import encode
from pixie_otel.exporters.redaction import Redactor

__all__ = ["KEY", "PLAIN", "redacted", "written"]


KEY = "sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8xYz1"
"""Has the shape of a credential."""


PLAIN = "tr0ub4dor-and-3"
"""Has not: only its name gives it away."""


def written(span: ReadableSpan) -> str:
    """Give all that is written of a span."""
    encoded = encode(span)
    return (encoded.data + encoded.resource + encoded.scope).decode()


def redacted(attributes: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """Give a span's attributes as the defaults leave them."""
    return dict(Redactor().redact(sdk_span(attributes, **fields)).attributes or {})
