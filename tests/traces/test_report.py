"""The accounting of a reading."""

from __future__ import annotations

import json

import pytest

from pixie_otel.errors import InputError
from pixie_otel.traces.report import Problem, ReadReport, SourceReport, Tally


class TestProblem:
    """`Problem`."""

    def test_location_names_file_and_line(self) -> None:
        """A problem in a line is located as editors expect it."""
        assert Problem("bad-line", "no JSON", "a.jsonl", 7).location == "a.jsonl:7"

    def test_location_without_a_line_is_the_file(self) -> None:
        """A problem of a whole file is located by its name alone."""
        assert Problem("empty-file", "empty", "a.jsonl").location == "a.jsonl"

    def test_to_json_leaves_out_what_is_not_known(self) -> None:
        """Only the parts that are known are written."""
        problem = Problem("orphan", "no parent", "a.jsonl", trace_id="t1")

        assert problem.to_json() == {
            "kind": "orphan",
            "message": "no parent",
            "source": "a.jsonl",
            "trace_id": "t1",
        }


class TestTally:
    """`Tally`."""

    def test_reject_moves_one_from_read_to_skipped(self) -> None:
        """What turns out to be unusable is skipped, and no longer read."""
        tally = Tally(total=2, read=2)

        tally.reject("bad-line")

        assert (tally.read, tally.skipped, tally.total) == (1, 1, 2)

    def test_pass_over_counts_one_that_was_never_read(self) -> None:
        """What is passed over enters the total."""
        tally = Tally()

        tally.pass_over("line-too-long")

        assert tally.to_json() == {"total": 1, "read": 0, "blank": 0, "skipped": {"line-too-long": 1}}


class TestReadReport:
    """`ReadReport`."""

    def test_problems_are_bounded_by_kind_and_counted_exactly(self) -> None:
        """The first problems of each kind are kept, and all are counted."""
        report = ReadReport(max_problems_per_kind=2)
        for line in range(1, 6):
            report.add(Problem("bad-line", "no JSON", "a.jsonl", line))
        report.add(Problem("orphan", "no parent", "a.jsonl"))

        assert [problem.location for problem in report.problems] == ["a.jsonl:1", "a.jsonl:2", "a.jsonl"]
        assert report.counts == {"bad-line": 5, "orphan": 1}

    def test_strict_raises_the_first_problem_with_its_location(self) -> None:
        """A strict reading ends at its first problem, which is counted."""
        report = ReadReport(strict=True)

        with pytest.raises(InputError, match=r"^a\.jsonl:3: no JSON$"):
            report.add(Problem("bad-line", "no JSON", "a.jsonl", 3))
        assert report.counts == {"bad-line": 1}

    def test_skipping_a_line_or_a_document_keeps_the_identity(self) -> None:
        """What is read, blank and skipped adds up to the total."""
        report = ReadReport()
        source = report.source("a.jsonl")
        source.lines = Tally(total=3, read=2, blank=1)
        source.documents = Tally(total=1, read=1)

        report.skip_line(Problem("bad-line", "no JSON", "a.jsonl", 1))
        report.skip_document(Problem("not-otlp", "a list", "a.jsonl", 1))

        assert (source.lines.read, source.lines.skipped_by_kind) == (1, {"bad-line": 1})
        assert (source.documents.read, source.documents.skipped_by_kind) == (0, {"not-otlp": 1})
        assert report.counts == {"bad-line": 1, "not-otlp": 1}

    def test_a_source_is_opened_once(self) -> None:
        """The same name gives the same accounting."""
        report = ReadReport()

        assert report.source("a.jsonl") is report.source("a.jsonl")
        assert dict(report.sources) == {"a.jsonl": SourceReport("a.jsonl")}

    def test_to_json_holds_everything(self) -> None:
        """The JSON form can be written, and leaves out tallies of nothing."""
        report = ReadReport(spans_read=5, spans_used=3, duplicate_spans=1, bad_spans=1)
        source = report.source("<stdin>")
        source.sha256 = "00ff"
        source.lines = Tally(total=1, read=1)
        report.skip_line(Problem("bad-line", "no JSON", "<stdin>", 1))

        assert json.loads(json.dumps(report.to_json())) == {
            "spans_read": 5,
            "spans_used": 3,
            "duplicate_spans": 1,
            "bad_spans": 1,
            "log_records": 0,
            "log_records_used": 0,
            "metrics": 0,
            "problem_counts": {"bad-line": 1},
            "problems": [{"kind": "bad-line", "message": "no JSON", "source": "<stdin>", "line": 1}],
            "sources": [
                {
                    "name": "<stdin>",
                    "bytes": 0,
                    "sha256": "00ff",
                    "lines": {"total": 1, "read": 0, "blank": 0, "skipped": {"bad-line": 1}},
                },
            ],
        }
