"""Facts about the exporter that writes OTLP lines."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fault_spans import lines_in, names_in, names_in_line, trace_files
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExportResult
from sdk_spans import SPANS, sdk_span

from pixie_otel.diagnostics import internal_errors
from pixie_otel.errors import ConfigError
from pixie_otel.exporters import losses, otlp_jsonl
from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter
from pixie_otel.exporters.redaction import RedactionError, Redactor
from pixie_otel.exporters.work_queue import Outcome
from pixie_otel.traces.reader import TraceReader


def test_spans_are_written_when_export_returns(tmp_path: Path) -> None:
    """No flush is needed: the spans are lines in the file, each line whole."""
    path = tmp_path / "traces.jsonl"
    exporter = OtlpJsonlExporter(path)
    assert exporter.export([sdk_span(number=1), sdk_span(number=2)]) is SpanExportResult.SUCCESS
    assert names_in(path) == {"span 1": 1, "span 2": 1}
    assert path.read_bytes().endswith(b"]}\n")
    assert exporter.force_flush()
    assert exporter.force_flush(0)
    exporter.shutdown()


def test_an_export_of_nothing_writes_nothing(tmp_path: Path) -> None:
    """Without a span there is no line and no file."""
    exporter = OtlpJsonlExporter(tmp_path / "traces.jsonl")
    assert exporter.export([]) is SpanExportResult.SUCCESS
    exporter.shutdown()
    assert not list(tmp_path.iterdir())


def test_it_works_with_opentelemetrys_own_processors(tmp_path: Path) -> None:
    """It is an exporter like any other, behind the batch processor and the simple one."""
    for name in ("batch", "simple"):
        provider = TracerProvider(shutdown_on_exit=False)
        exporter = OtlpJsonlExporter(tmp_path / f"{name}.jsonl")
        provider.add_span_processor(BatchSpanProcessor(exporter) if name == "batch" else SimpleSpanProcessor(exporter))
        for number in range(10):
            with provider.get_tracer("t").start_as_current_span(f"{name} {number}"):
                pass
        provider.shutdown()
    assert names_in(tmp_path) == {f"{name} {number}": 1 for name in ("batch", "simple") for number in range(10)}


def test_our_reader_reads_it(tmp_path: Path) -> None:
    """What is written is read without a problem, from a folder with closed and open files."""
    exporter = OtlpJsonlExporter(tmp_path, max_file_bytes=20_000)
    for number in range(1, 301):
        exporter.export([sdk_span({"text": "x" * 200}, number=number, trace=number)])
    exporter.shutdown()
    assert len(trace_files(tmp_path)) > 3
    reader = TraceReader(tmp_path)
    assert sum(len(trace.spans) for trace in reader) == 300
    assert not reader.report.problems


@pytest.mark.skipif(sys.platform == "win32", reason="counts system calls of POSIX")
def test_a_batch_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines go out by one system call, up to a mebibyte at a time."""
    writes: list[bytes] = []
    original = otlp_jsonl.os.write

    def write(descriptor: int, data: memoryview) -> int:
        writes.append(bytes(data))
        return original(descriptor, data)

    monkeypatch.setattr("os.write", write)
    exporter = OtlpJsonlExporter(tmp_path / "traces.jsonl", max_line_bytes=10_000)
    exporter.export([sdk_span({"text": "x" * 500}, number=number) for number in range(1, 101)])
    assert len(writes) == 1
    assert writes[0].count(b"\n") > 5
    exporter.export([sdk_span({"text": "x" * 50_000}, number=number) for number in range(1, 101)])
    assert len(writes) == 6
    assert all(write.endswith(b"\n") and len(write) <= 2**20 for write in writes)
    exporter.shutdown()


@given(st.lists(SPANS, max_size=6), st.integers(1, 3000))
def test_any_spans_are_written_or_counted(spans: Sequence[ReadableSpan], most: int) -> None:
    """Whatever spans hold, each is in the file once or dropped with a reason, and every line is JSON."""
    written: list[bytes] = []

    class Keeping:
        def append(self, data: bytes) -> otlp_jsonl.Appended:
            written.append(data)
            return otlp_jsonl.Appended(len(data))

    exporter = OtlpJsonlExporter("unused.jsonl", max_line_bytes=most)
    exporter._file = Keeping()  # type: ignore[assignment]
    outcome = exporter.export_counted(spans)
    lines = b"".join(written).split(b"\n")
    assert lines.pop() == b""
    assert sum(len(list(names_in_line(line))) for line in lines) == outcome.written
    assert outcome.written + sum(outcome.dropped.values()) == len(spans)


def test_one_bad_span_is_that_span(tmp_path: Path) -> None:
    """A span that cannot be encoded is dropped alone."""
    exporter = OtlpJsonlExporter(tmp_path / "traces.jsonl")
    bad = sdk_span(number=2, context="no context")
    assert exporter.export_counted([sdk_span(number=1), bad, sdk_span(number=3)]) == Outcome(2, {"encode_error": 1})
    assert exporter.export([bad]) is SpanExportResult.FAILURE
    exporter.shutdown()
    assert names_in(tmp_path) == {"span 1": 1, "span 3": 1}


def test_a_span_that_no_reader_takes_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A span longer than the longest line is dropped as too_large; a shorter one has a line for itself."""
    monkeypatch.setattr(otlp_jsonl, "_MOST_LINE_BYTES", 5000)
    exporter = OtlpJsonlExporter(tmp_path / "traces.jsonl", max_line_bytes=1000)
    spans = [sdk_span({"text": "x" * size}, number=size) for size in (10, 3000, 6000)]
    assert exporter.export_counted(spans) == Outcome(2, {"too_large": 1})
    exporter.shutdown()
    assert [list(names_in_line(line)) for line in lines_in(tmp_path / "traces.jsonl")] == [["span 10"], ["span 3000"]]


def test_credentials_are_taken_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default no credential reaches the file, with a function of the user's nothing of what it hides."""
    secret = "sk-proj-0123456789abcdef0123456789abcdef"
    span = sdk_span({"input.value": f"my key is {secret}", "user.name": "Ada"})
    for name, redact in (("on", True), ("off", False), ("own", lambda key, value: "***" if "user" in key else value)):
        exporter = OtlpJsonlExporter(tmp_path / f"{name}.jsonl", redact=redact)
        exporter.export([span])
        exporter.shutdown()
    texts = {name: (tmp_path / f"{name}.jsonl").read_text() for name in ("on", "off", "own")}
    assert {name: (secret in text, "Ada" in text) for name, text in texts.items()} == {
        "on": (False, True),
        "off": (True, True),
        "own": (False, False),
    }


def test_what_openinference_hides_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its environment variables count here too."""
    monkeypatch.setenv("OPENINFERENCE_HIDE_INPUTS", "true")
    exporter = OtlpJsonlExporter(tmp_path / "traces.jsonl")
    exporter.export([sdk_span({"input.value": "what was said"})])
    exporter.shutdown()
    assert "what was said" not in (tmp_path / "traces.jsonl").read_text()


def test_a_redactor_that_is_given_decides_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ready-made one is used as it is, and the environment adds nothing to it."""
    monkeypatch.setenv("OPENINFERENCE_HIDE_INPUTS", "true")
    span = sdk_span({"input.value": "what was said", "user.name": "Ada"})
    for name, redactor in (
        ("off", Redactor(redact=False)),
        ("own", Redactor(redact=False, hide=lambda key, value: None if key == "user.name" else value)),
    ):
        exporter = OtlpJsonlExporter(tmp_path / f"{name}.jsonl", redact=redactor)
        assert exporter.export_counted([span]) == Outcome(1, {})
        exporter.shutdown()
    texts = {name: (tmp_path / f"{name}.jsonl").read_text() for name in ("off", "own")}
    assert all("what was said" in text for text in texts.values())
    assert {name: "Ada" in text for name, text in texts.items()} == {"off": True, "own": False}


@pytest.mark.parametrize(
    ("error", "reason"), [(RedactionError("no"), "redaction_failed"), (KeyError(), "encode_error")]
)
def test_what_cannot_be_made_safe_is_not_written(
    error: Exception, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A span whose credentials cannot be taken out stays out of the file."""

    def fail(redactor: Redactor, span: ReadableSpan, encoded: bytes | None = None) -> ReadableSpan:
        raise error

    monkeypatch.setattr(Redactor, "redact", fail)
    exporter = OtlpJsonlExporter(tmp_path / "traces.jsonl")
    assert exporter.export_counted([sdk_span()]) == Outcome(0, {reason: 1})
    exporter.shutdown()


def test_a_fault_of_ours_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where something of ours breaks, the batch is dropped as internal_error and the next one is written."""
    exporter = OtlpJsonlExporter(tmp_path / "broken.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr(otlp_jsonl, "join_lines", lambda *_: 1 / 0)
        assert exporter.export_counted([sdk_span(), sdk_span()]) == Outcome(0, {"internal_error": 2})
    assert internal_errors()[f"writing spans to {tmp_path / 'broken.jsonl'}"] == 1
    assert exporter.export_counted([sdk_span()]) == Outcome(1, {})
    exporter.shutdown()


def test_a_shutdown_is_final(tmp_path: Path) -> None:
    """Afterwards spans are counted as after_shutdown, and a second shutdown does nothing."""
    exporter = OtlpJsonlExporter(tmp_path / "traces.jsonl")
    exporter.export([sdk_span()])
    exporter.shutdown()
    exporter.shutdown()
    assert exporter.export_counted([sdk_span()]) == Outcome(0, {"after_shutdown": 1})
    assert names_in(tmp_path).total() == 1


def test_a_span_that_ends_inside_an_export_is_counted(tmp_path: Path) -> None:
    """What ends and even shuts down in the thread that is just writing breaks no line."""
    outcomes: list[Outcome] = []

    def hook(key: str, value: Any) -> Any:
        outcomes.append(exporter.export_counted([sdk_span(number=9)]))
        exporter.shutdown()
        return value

    exporter = OtlpJsonlExporter(tmp_path / "traces.jsonl", redact=hook)
    assert exporter.export_counted([sdk_span({"text": "x"}, number=1)]) == Outcome(1, {})
    assert outcomes[0] == Outcome(0, {"reentered": 1})
    assert names_in(tmp_path) == {"span 1": 1}
    assert exporter.export_counted([sdk_span()]).dropped == {"after_shutdown": 1}


def test_loss_is_said_with_its_reason_and_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a queue of ours the exporter says itself why spans are lost, and how many were when it ends."""
    monkeypatch.setattr(losses, "_QUIET_SECONDS", 0.0)
    path = tmp_path / "traces.jsonl"
    exporter = OtlpJsonlExporter(path)
    path.mkdir()
    with caplog.at_level(logging.WARNING, "pixie_otel"):
        for _ in range(5):
            assert exporter.export([sdk_span()]) is SpanExportResult.FAILURE
        path.rmdir()
        assert exporter.export([sdk_span()]) is SpanExportResult.SUCCESS
    exporter.shutdown()
    why, starts, ends = (record.getMessage() for record in caplog.records)
    assert why == f"{path}: cannot be written: Is a directory; spans are dropped until it can be"
    assert "spans are being lost (io_error: the file cannot be written)" in starts
    assert f"{path}: lost 5 spans (io_error: 5); no more are being lost now." in ends


def test_a_full_folder_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where max_total_bytes leaves no room, spans are dropped as disk_cap, and the reason is said."""
    exporter = OtlpJsonlExporter(tmp_path, max_total_bytes=100)
    assert exporter.export_counted([sdk_span()]) == Outcome(0, {"disk_cap": 1})
    exporter.shutdown()
    assert "max_total_bytes is used up" in caplog.text


@pytest.mark.parametrize("variable", ["named/traces.jsonl", "", None])
def test_the_environment_names_the_file(variable: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a path, PIXIE_OTEL_FILE says where spans go; without that they go into the folder traces/ here."""
    monkeypatch.chdir(tmp_path)
    if variable is None:
        monkeypatch.delenv("PIXIE_OTEL_FILE", raising=False)
    else:
        monkeypatch.setenv("PIXIE_OTEL_FILE", variable)
    exporter = OtlpJsonlExporter()
    exporter.export([sdk_span()])
    exporter.shutdown()
    assert names_in(tmp_path / (variable or "traces")).total() == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": 3}, "3 is no path"),
        ({"path": b"traces.jsonl"}, "is no path"),
        ({"path": ""}, "has an empty name"),
        ({"path": "a\0b"}, "null character"),
        ({"max_file_bytes": 0}, "max_file_bytes is 0"),
        ({"max_file_seconds": -1.0}, r"max_file_seconds is -1\.0"),
        ({"max_total_bytes": "1 GB"}, "max_total_bytes is '1 GB'"),
        ({"max_line_bytes": True}, "max_line_bytes is True"),
        ({"max_file_seconds": float("nan")}, "max_file_seconds is nan"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    """What is wrong in the call is said there and then."""
    with pytest.raises(ConfigError, match=message):
        OtlpJsonlExporter(**{"path": tmp_path / "x.jsonl"} | options)


def test_lines_are_json_without_anything_private_of_ours(tmp_path: Path) -> None:
    """A line has the fields of OTLP and no other."""
    exporter = OtlpJsonlExporter(tmp_path / "traces.jsonl")
    exporter.export([sdk_span()])
    exporter.shutdown()
    line = json.loads((tmp_path / "traces.jsonl").read_bytes())
    assert list(line) == ["resourceSpans"]
    assert set(line["resourceSpans"][0]) <= {"resource", "scopeSpans", "schemaUrl"}
