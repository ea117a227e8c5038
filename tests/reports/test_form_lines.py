"""What files were that are not OTLP JSON."""

from __future__ import annotations

from pixie_otel.reports.form_lines import form_lines
from pixie_otel.traces.report import ReadReport


def test_forms_are_told_once_each() -> None:
    """With the first file of each."""
    report = ReadReport()
    for name, form in (("a.json", "X"), ("b.json", "Y"), ("c.json", "X"), ("d.json", "X")):
        report.source(name).note_form(form, 5)
    report.source("e.jsonl")

    assert list(form_lines(report.to_json(), 80)) == [
        "a.json and 2 more: converted from X",
        "b.json: converted from Y",
    ]


def test_plain_files_need_no_word() -> None:
    """Nor does a run without an account of its reading."""
    report = ReadReport()
    report.source("a.jsonl")

    assert list(form_lines(report.to_json(), 80)) == []
    assert list(form_lines({}, 80)) == []


def test_a_file_may_be_of_two_forms() -> None:
    """Names that would move the cursor do not."""
    report = ReadReport()
    report.source("a\x1b[2J.log").note_form("X")
    report.source("a\x1b[2J.log").note_form("lines of a log")

    assert [line.partition(": ")[2] for line in form_lines(report.to_json(), 80)] == [
        "converted from X",
        "converted from lines of a log",
    ]
    assert "\x1b" not in "".join(form_lines(report.to_json(), 80))
