"""A queue in front of an exporter of spans, so that the application never waits for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, cast

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from pixie_otel.diagnostics import internal_error, warn
from pixie_otel.exporters.redaction import RedactionError, Redactor
from pixie_otel.exporters.work_queue import Outcome, WorkQueue

__all__ = ["span_queue", "span_size"]

_Export: TypeAlias = Callable[[Sequence[ReadableSpan]], Outcome]

_SPAN_BYTES: Final = 1024
_ATTRIBUTE_BYTES: Final = 128


def span_queue(
    name: str,
    exporter: SpanExporter,
    *,
    redactor: Redactor | None = None,
    max_bytes: int = 64 * 2**20,
    delay: float = 0.1,
) -> WorkQueue[ReadableSpan]:
    """Put a queue in front of an exporter; closing the queue shuts the exporter down.

    Args:
        name: Where the spans go, as the user would say it.
        exporter: One of ours, with ``export_counted``, tells what became of every span; with any other, a batch is
            written, or dropped as ``export_failed``.
        redactor: Hides secrets before the exporter sees them; ``None`` where it does so itself.
        max_bytes: How many bytes may wait.
        delay: How long spans wait for others, in seconds.
    """
    counted = getattr(exporter, "export_counted", None)
    export = cast("_Export", counted) if callable(counted) else _counting(name, exporter)
    if redactor is not None:
        export = _redacting(redactor, export)
    return WorkQueue(name, export, span_size, max_bytes=max_bytes, delay=delay, close=exporter.shutdown)


def span_size(span: ReadableSpan) -> int:
    """Estimate how many bytes a span takes in memory; it is quick rather than exact."""
    # Private, and several times as quick as the public properties, which copy; an application's thread pays for it.
    size = _SPAN_BYTES + _attributes_size(getattr(span, "_attributes", None) or span.attributes)
    events = getattr(span, "_events", None)
    for event in span.events if events is None else events:
        size += _SPAN_BYTES + _attributes_size(event.attributes)
    links = getattr(span, "_links", None)
    return size + _SPAN_BYTES * len(span.links if links is None else links)


def _attributes_size(attributes: Mapping[str, object] | None) -> int:
    if not attributes:
        return 0
    inner: object = getattr(attributes, "_dict", None)
    if type(inner) is dict:
        attributes = cast("dict[str, object]", inner)
    size = _ATTRIBUTE_BYTES * len(attributes)
    for value in attributes.values():
        # The exact type first: nearly all that is long is text, and it is twice as quick.
        if type(value) is str or isinstance(value, str | bytes):
            size += len(value)
        elif isinstance(value, Sequence):
            items = cast("Sequence[object]", value)
            size += sum(_ATTRIBUTE_BYTES + (len(item) if isinstance(item, str) else 0) for item in items)
    return size


def _counting(name: str, exporter: SpanExporter) -> _Export:
    def export(spans: Sequence[ReadableSpan]) -> Outcome:
        why = "it reported a failure"
        try:
            if exporter.export(spans) is SpanExportResult.SUCCESS:
                return Outcome(len(spans), {})
        except Exception as error:  # noqa: BLE001 - somebody else's exporter
            why = f"{type(error).__name__}: {error}"
        warn(f"export:{name}", f"{name}: an export failed ({why}); its {len(spans)} spans are dropped")
        return Outcome(0, {"export_failed": len(spans)})

    return export


def _redacting(redactor: Redactor, export: _Export) -> _Export:
    def redact_and_export(spans: Sequence[ReadableSpan]) -> Outcome:
        safe: list[ReadableSpan] = []
        for span in spans:
            try:
                safe.append(redactor.redact(span))
            except RedactionError:
                continue
            except Exception as error:  # noqa: BLE001 - one bad span is that span
                internal_error("hiding the secrets of a span", error)
        failed = len(spans) - len(safe)
        outcome = export(safe) if safe else Outcome(0, {})
        if not failed:
            return outcome
        return Outcome(outcome.written, Counter(outcome.dropped) + Counter(redaction_failed=failed))

    return redact_and_export
