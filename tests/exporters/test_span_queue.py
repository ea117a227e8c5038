"""Facts about the queue in front of an exporter."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fault_spans import balanced, names_in, provider_to
from hypothesis import given
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from sdk_spans import SPANS, sdk_span

from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter
from pixie_otel.exporters.redaction import RedactionError, Redactor
from pixie_otel.exporters.span_queue import span_queue, span_size
from pixie_otel.exporters.work_queue import QueueStats


class _Foreign(SpanExporter):
    """Somebody else's exporter."""

    def __init__(self, answer: object = SpanExportResult.SUCCESS) -> None:
        self.answer = answer
        self.spans: list[ReadableSpan] = []
        self.shut_down = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.spans += spans
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[return-value]

    def shutdown(self) -> None:
        self.shut_down += 1


def test_ended_spans_reach_the_file(tmp_path: Path) -> None:
    """What ends goes through the queue into the file, and closing the queue closes the exporter."""
    exporter = OtlpJsonlExporter(tmp_path / "traces.jsonl")
    queue = span_queue("the file", exporter)
    tracer = provider_to(queue.put).get_tracer("tests")
    for number in range(1000):
        with tracer.start_as_current_span(f"span {number}"):
            pass
    assert queue.shutdown(30)
    assert names_in(tmp_path) == {f"span {number}": 1 for number in range(1000)}
    assert balanced(queue.stats()) == QueueStats("the file", 1000, 1000, 0, {})
    assert exporter.export_counted([sdk_span()]).dropped == {"after_shutdown": 1}


def test_our_exporter_tells_each_spans_fate(tmp_path: Path) -> None:
    """One bad span is that span, with its own reason; those of its batch are written."""
    queue = span_queue("one bad", OtlpJsonlExporter(tmp_path / "traces.jsonl"), delay=60)
    for number in range(1, 6):
        queue.put(sdk_span(number=number) if number != 3 else sdk_span(number=3, context=_Hostile()))
    assert queue.shutdown(30)
    assert balanced(queue.stats()).dropped == {"encode_error": 1}
    assert queue.stats().written == 4


class _Hostile:
    """No context of a span."""

    @property
    def trace_id(self) -> int:
        raise RuntimeError("no")


@pytest.mark.parametrize("answer", [SpanExportResult.FAILURE, None, ValueError("x"), SystemExit(3)])
def test_a_foreign_exporter_that_fails_drops_its_batch(answer: object) -> None:
    """Failure, an exception or no answer at all: the batch is dropped with a reason, and the next one is tried."""
    exporter = _Foreign(answer)
    queue = span_queue(f"foreign {answer!r}", exporter, delay=60)
    queue.put(sdk_span(number=1))
    queue.put(sdk_span(number=2))
    assert queue.flush(30)
    exporter.answer = SpanExportResult.SUCCESS
    queue.put(sdk_span(number=3))
    assert queue.shutdown(30)
    reason = "internal_error" if isinstance(answer, SystemExit) else "export_failed"
    assert balanced(queue.stats()).dropped == {reason: 2}
    assert queue.stats().written == 1
    assert exporter.shut_down == 1


def test_secrets_are_gone_before_a_foreign_exporter_sees_a_span() -> None:
    """With a redactor, somebody else's exporter gets spans without credentials, and clean spans as they are."""
    exporter = _Foreign()
    queue = span_queue("redacted", exporter, redactor=Redactor())
    clean = sdk_span({"input.value": "hello"}, number=1)
    queue.put(clean)
    queue.put(sdk_span({"input.value": "hello", "api_key": "sk-proj-0123456789abcdef0123456789abcdef"}, number=2))
    assert queue.shutdown(30)
    assert exporter.spans[0] is clean
    assert "0123456789abcdef" not in repr(dict(exporter.spans[1].attributes or {}))


@pytest.mark.parametrize("error", [RedactionError("no"), ValueError("no")])
def test_what_cannot_be_made_safe_is_not_exported(error: Exception) -> None:
    """A span whose secrets cannot be taken out is dropped, and the others of its batch are exported."""

    class Failing(Redactor):
        def redact(self, span: ReadableSpan, encoded: bytes | None = None) -> ReadableSpan:
            if span.name == "span 2":
                raise error
            return span

    exporter = _Foreign()
    queue = span_queue("unsafe", exporter, redactor=Failing(), delay=60)
    for number in (1, 2, 3):
        queue.put(sdk_span(number=number))
    queue.flush(30)
    queue.put(sdk_span(number=2))
    assert queue.shutdown(30)
    assert [span.name for span in exporter.spans] == ["span 1", "span 3"]
    assert balanced(queue.stats()).dropped == {"redaction_failed": 2}


def test_the_application_never_waits_for_the_exporter() -> None:
    """While the exporter hangs spans end as ever, are bounded by their bytes, and a flush gives up in time."""
    entered, let = threading.Event(), threading.Event()

    class Hanging(_Foreign):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            entered.set()
            assert let.wait(30)
            return super().export(spans)

    exporter = Hanging()
    queue = span_queue("hanging exporter", exporter, max_bytes=100_000, delay=0)
    queue.put(sdk_span())
    assert entered.wait(30)
    for number in range(100):
        queue.put(sdk_span({"input.value": "x" * 10_000}, number=number + 2))
    stats = balanced(queue.stats())
    assert stats.dropped["queue_full"] > 90
    assert not queue.flush(0.01)
    let.set()
    assert queue.shutdown(30)
    assert len(exporter.spans) == balanced(queue.stats()).written < 10


@given(SPANS)
def test_any_span_can_be_measured(span: ReadableSpan) -> None:
    """Whatever a span holds, its size is a number."""
    assert span_size(span) >= 1024


@pytest.mark.parametrize(
    "fields",
    [
        {"attributes": {"text": "x" * 5000}},
        {"attributes": {"texts": ["x" * 1000] * 5}},
        {"events": [Event("e", {"text": "x" * 5000})]},
        {"attributes": {"bytes": b"x" * 5000}},
    ],
)
def test_what_makes_a_span_large_is_measured(fields: dict[str, Any]) -> None:
    """Long texts count, wherever they stand."""
    assert span_size(sdk_span(**fields)) - span_size(sdk_span()) >= 5000
