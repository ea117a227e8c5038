"""Spans as lines of OTLP JSON in a file, in the form of OpenTelemetry's "OTLP File Exporter" specification.

`OtlpJsonlExporter` writes in the thread that calls it: when `export` returns, the spans are in the file, or counted as
dropped with a reason. Behind a queue, as `init` uses it, this is what can be lost:

- At an exit, a shutdown and a SIGTERM that flush: nothing.
- By SIGKILL, or any end that runs no more code: what ended within the last 0.1 s, for which spans wait for others, and
  the batch being written. Where spans end faster than they can be written, what waits is bounded by the queue (65,536
  spans, 64 MiB). One unfinished line can be left at the end of the file; whoever writes to that file next starts a line
  of its own.
- By a loss of power: with ``fsync=False`` also what the system had not put on the disk yet.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from pixie_otel.diagnostics import internal_error, warn
from pixie_otel.errors import ConfigError
from pixie_otel.exporters.forks import in_child
from pixie_otel.exporters.losses import LossWatch
from pixie_otel.exporters.otlp_json import EncodedSpan, join_lines
from pixie_otel.exporters.redaction import (
    Redact,
    RedactionError,
    Redactor,
    encode_redacted,
    hide_from_environment,
)
from pixie_otel.exporters.trace_files import Appended, FileLimits, open_target
from pixie_otel.exporters.work_queue import Outcome

__all__ = ["OtlpJsonlExporter"]

_MIB: Final = 2**20
_VARIABLE: Final = "PIXIE_OTEL_FILE"
_DEFAULT: Final = "traces/"
# As long as our reader takes a line to be one, with room for what stands around a span.
_MOST_LINE_BYTES: Final = 64 * _MIB - 1024
_WRITE_BYTES: Final = _MIB


class OtlpJsonlExporter(SpanExporter):
    """Writes spans to a file, or to files in a folder; a line holds spans, a file holds whole lines.

    The form is that of OpenTelemetry's "OTLP File Exporter" specification: a line is one ``TracesData`` in OTLP JSON.
    Whatever happens to the file or the disk, nothing is raised, and writing goes on as soon as it is possible again.
    Files are the user's alone (0600, in folders made 0700). Processes may share a file or a folder.

    Args:
        path: A file, or a folder: it ends with a separator, is one, or has no suffix. In a folder every process has
            files of its own, called ``traces-<host>-<pid>-<start>-<random>.jsonl``. Where it is not given, the
            environment variable ``PIXIE_OTEL_FILE`` says it, and without that it is the folder ``traces/`` here: with
            ``OTEL_TRACES_EXPORTER=pixie_otel`` there need be nothing else to set.
        redact: Whether credentials are taken out; a function ``(attribute key, value) -> value`` takes out more. What
            OpenInference's ``OPENINFERENCE_HIDE_…`` variables name is hidden in any case. A ``Redactor`` decides alone.
        max_file_bytes: How large a file becomes before another one is begun, 100 MiB if not given, but no more than a
            quarter of ``max_total_bytes``; ``None`` for no bound.
        max_file_seconds: How old a file becomes before another one is begun; ``None`` for no bound.
        max_total_bytes: How much all files together may take, 1 GiB if not given: the oldest that nobody has open are
            deleted, and where there is none, spans are dropped. ``None`` for no bound.
        compress: Whether files are gzipped when another one was begun.
        max_line_bytes: How long a line of several spans may be, 4 MiB if not given. A longer span has its own line,
            up to the 64 MiB that readers take.
        fsync: Whether every batch waits until the disk has it.

    Attributes:
        path: The file or folder, as it was given.

    Raises:
        ConfigError: The path is none, or a setting is no number it can be.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        redact: bool | Redact | Redactor = True,
        max_file_bytes: int | None = 100 * _MIB,
        max_file_seconds: float | None = None,
        max_total_bytes: int | None = 1024 * _MIB,
        compress: bool = True,
        max_line_bytes: int = 4 * _MIB,
        fsync: bool = False,
    ) -> None:
        self.path = _path(path)
        for name, value in (
            ("max_file_bytes", max_file_bytes),
            ("max_file_seconds", max_file_seconds),
            ("max_total_bytes", max_total_bytes),
        ):
            if value is not None:
                _check_positive(name, value)
        _check_positive("max_line_bytes", max_line_bytes)
        self._redactor = redact if isinstance(redact, Redactor) else Redactor(redact, hide=hide_from_environment())
        self._max_line_bytes = max_line_bytes
        limits = FileLimits(max_file_bytes, max_file_seconds, max_total_bytes)
        self._file = open_target(self.path, limits, compress=compress, fsync=fsync)
        self._closed = False
        self._reset()
        in_child(self._reset)

    def _reset(self) -> None:
        self._lock = threading.RLock()
        self._busy = False
        self._failing = False
        self._dropped: Counter[str] = Counter()
        self._losses = LossWatch(self.path)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write spans; success means that all of them are in the file."""
        outcome = self.export_counted(spans)
        try:
            with self._lock:
                self._dropped.update(outcome.dropped)
                self._losses.look(self._dropped)
        except Exception as error:  # noqa: BLE001 - whoever ends a span must not hear of it
            internal_error("telling of lost spans", error)
        return SpanExportResult.FAILURE if outcome.dropped else SpanExportResult.SUCCESS

    def export_counted(self, spans: Sequence[ReadableSpan]) -> Outcome:
        """Write spans, and say what became of them; a queue tells of what is lost itself.

        Returns:
            How many were written, and how many were not: because of ``encode_error``, ``redaction_failed``,
            ``too_large``, ``io_error``, ``disk_cap``, ``after_shutdown``, ``reentered`` (a span that ended inside
            an export of the same thread) or ``internal_error``.
        """
        count = len(spans)
        with self._lock:
            if self._closed:
                return Outcome(0, {"after_shutdown": count})
            if self._busy:
                return Outcome(0, {"reentered": count})
            account = _Account()
            try:
                self._busy = True
                self._export(spans, account)
            except Exception as error:  # noqa: BLE001 - the next batch may fare better
                internal_error(f"writing spans to {self.path}", error)
            finally:
                self._busy = False
                # A signal handler may have shut down what it interrupted.
                if self._closed:
                    self._file.close()
            missing = count - account.written - account.dropped.total()
            if missing > 0:
                account.dropped["internal_error"] += missing
            return Outcome(account.written, dict(account.dropped))

    def force_flush(self, timeout_millis: int = 30000) -> bool:  # noqa: ARG002 - the name is OpenTelemetry's
        """Say that everything is written, as it always is when `export` returns."""
        return True

    def shutdown(self) -> None:
        """Close the file, and wait a few seconds for the compression of closed ones. Spans that end later are lost."""
        try:
            with self._lock:
                if self._closed:
                    return
                self._closed = True
                if not self._busy:
                    self._file.close()
        except Exception as error:  # noqa: BLE001 - an application that ends must not hear of it
            internal_error(f"closing {self.path}", error)

    def _export(self, spans: Iterable[ReadableSpan], account: _Account) -> None:
        encoded: list[EncodedSpan] = []
        for span in spans:
            result = self._encode(span)
            if isinstance(result, str):
                account.dropped[result] += 1
            else:
                encoded.append(result)
        chunk: list[tuple[bytes, int]] = []
        size = 0
        for line in join_lines(encoded, self._max_line_bytes):
            if chunk and size + len(line[0]) > _WRITE_BYTES:
                self._write(chunk, account)
                chunk, size = [], 0
            chunk.append(line)
            size += len(line[0])
        if chunk:
            self._write(chunk, account)

    def _encode(self, span: ReadableSpan) -> EncodedSpan | str:
        """Encode a span without its secrets, or say why it cannot be written."""
        try:
            encoded = encode_redacted(span, self._redactor)
        except RedactionError:
            return "redaction_failed"
        except ValueError:
            return "encode_error"
        except Exception as error:  # noqa: BLE001 - one bad span is that span
            internal_error("encoding a span", error)
            return "encode_error"
        if len(encoded.data) + len(encoded.resource) + len(encoded.scope) > _MOST_LINE_BYTES:
            return "too_large"
        return encoded

    def _write(self, lines: Sequence[tuple[bytes, int]], account: _Account) -> None:
        appended = self._file.append(lines[0][0] if len(lines) == 1 else b"".join(line for line, _ in lines))
        reason = "disk_cap" if appended.error is None else "io_error"
        end = 0
        lost = False
        for line, spans in lines:
            end += len(line)
            # A line that lacks its newline only is a line: the next one starts with it.
            if appended.kept >= end - 1:
                account.written += spans
            else:
                account.dropped[reason] += spans
                lost = True
        if lost and not self._failing:
            self._say_why(appended)
        self._failing = lost

    def _say_why(self, appended: Appended) -> None:
        if appended.error is None:
            warn(
                f"disk-cap:{self.path}",
                f"{self.path}: max_total_bytes is used up, and there is no closed file to delete; spans are dropped "
                "until there is room",
            )
        else:
            why = appended.error.strerror or type(appended.error).__name__
            warn(
                f"file:{self.path}",
                f"{self.path}: cannot be written: {why}; spans are dropped until it can be",
            )


class _Account:
    """What became of the spans of one batch so far."""

    def __init__(self) -> None:
        self.written = 0
        self.dropped: Counter[str] = Counter()


def _path(given: object) -> str:
    path = os.environ.get(_VARIABLE) or _DEFAULT if given is None else given
    if not isinstance(path, str):
        fspath: object = getattr(path, "__fspath__", None)
        path = fspath() if callable(fspath) else None
    if not isinstance(path, str):
        raise ConfigError(f"the trace file {given!r} is no path; give a str or a path")
    if not path:
        raise ConfigError("the trace file has an empty name; give a path")
    if "\0" in path:
        raise ConfigError(f"the trace file {path!r} cannot exist, as no path holds a null character")
    return path


def _check_positive(name: str, value: object) -> None:
    # Written this way round, the comparison refuses NaN too.
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise ConfigError(f"{name} is {value!r}; give a number above 0")
