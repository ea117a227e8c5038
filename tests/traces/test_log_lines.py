"""Traces in the log of a program: behind what a logger puts before them, and between what the program printed."""

from __future__ import annotations

import json

import pytest
from foreign_forms import console, logger
from otlp_lines import agent, batch, line, span
from reading import read

from pixie_otel.traces.lines import Line, behind_prefix

ONE = line(agent(1))
EXPECTED = read(ONE).traces


@pytest.mark.parametrize(
    "prefix",
    [
        "INFO: ",
        "[otel.javaagent 2026-11-30 12:00:00:123 +0000] [main] INFO i.o.e.l.o.OtlpJsonLoggingSpanExporter - ",
        "web-1  | ",
        "2026-11-30T12:00:00Z ",
        "Nov 30 12:00:00 host app[12]: ",
    ],
)
def test_a_prefix_is_passed_over(prefix: str) -> None:
    """Whichever logger made it; that is no problem, and is noted."""
    reading = read(f"{prefix}{ONE}")

    assert reading.traces == EXPECTED
    assert not reading.kinds
    (source,) = reading.report.sources.values()
    assert source.forms == {"lines of a log": 1}


def test_lines_of_javas_logger_come_in_twos() -> None:
    """The first says who speaks, and all of these are told of at once."""
    reading = read(logger([batch(agent(1)), batch(span(2, trace=2))]))

    assert len(reading.traces) == 2
    assert reading.problem("log-text").message.startswith("2 lines")


def test_text_in_a_file_that_is_no_log_is_told_line_by_line() -> None:
    """Nobody expects it there."""
    assert read(f"{ONE}hello\nworld\n").kinds == {"bad-line": 2}


def test_a_torn_line_is_no_prefix() -> None:
    """What it held is lost, and that is said."""
    torn = ONE[: len(ONE) // 2] + ONE

    assert read(torn).kinds == {"torn-line": 1}
    assert read(ONE[100:300] + ONE).kinds == {"torn-line": 1}


def test_what_only_looks_like_a_document_is_none() -> None:
    """As a line that says what was sent."""
    assert read(f'sending {{"name": 5 items\n{ONE}').kinds == {"log-text": 1}


def test_what_is_printed_over_many_lines_stands_between_others() -> None:
    """As the ConsoleSpanExporter prints spans between what a program says."""
    reading = read(console([batch(agent(1), span(2, parent=1))]) + b'{"level": "info", "msg": "done"}\n')

    assert [len(trace.spans) for trace in reading.traces] == [2]
    assert reading.kinds == {"bad-document": 2, "not-otlp": 1}


@pytest.mark.parametrize("key", ["message", "msg", "line", "textPayload", "@message"])
def test_json_logs_have_documents_as_text(key: str) -> None:
    """Under the key that the logger or the log service has for what was said."""
    assert read(json.dumps({"level": "INFO", key: ONE}) + "\n").traces == EXPECTED


def test_where_a_document_begins_is_known() -> None:
    """Its bytes are read again from the file itself."""
    found = behind_prefix(Line(3, 100, b'INFO: {"resourceSpans":[]}'))

    assert found == Line(3, 106, b'{"resourceSpans":[]}')
    assert behind_prefix(Line(3, 100, b"INFO: nothing")) is None
