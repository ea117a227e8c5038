"""The first reading of the inputs: where everything is, and what became of every line."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from otlp_lines import START, batch, line, span
from otlp_strategies import compact
from reading import Reading, read

from pixie_otel.traces.limits import ReadLimits

PLAIN = compact(batch(span(1, name="one"))) + b"\n"
OTHER = compact(batch(span(2, name="two", parent=1))) + b"\n"


def spans_of(reading: Reading) -> list[tuple[str, str, int]]:
    """Give id, name and start of every span."""
    return [
        (found.span_id, found.name, found.start_time_unix_nano) for trace in reading.traces for found in trace.spans
    ]


class TestLines:
    """What becomes of lines."""

    @pytest.mark.parametrize(
        ("content", "kinds"),
        [
            (PLAIN + OTHER, {}),
            (b"\xef\xbb\xbf" + PLAIN.replace(b"\n", b"\r\n") + b"\r\n  \n" + OTHER[:-1], {}),
            (PLAIN + b"nonsense\n" + OTHER, {"bad-line": 1}),
            (PLAIN + OTHER + PLAIN[:200], {"torn-last-line": 1}),
            (PLAIN + OTHER + b'{"torn', {"torn-last-line": 1}),
            (PLAIN + OTHER[:200] + OTHER, {"torn-line": 1}),
            (PLAIN + OTHER[:200] + b"\n" + OTHER, {"bad-line": 1}),
            (PLAIN + OTHER[:200] + OTHER[:200] + b"\n" + OTHER, {"bad-line": 1}),
            (PLAIN + b'{"foo":1}\n' + OTHER, {"not-otlp": 1}),
            (PLAIN + b"[1,2]\n5\nnull\n" + OTHER, {"not-otlp": 3}),
            (b"\x00" * 10 + PLAIN + OTHER, {"nul-bytes": 1}),
            (PLAIN + OTHER.replace(b'"kind":1', b'"kind":NaN'), {"bad-value": 2}),
            (b"[" * 10_000 + b"\n" + PLAIN + OTHER, {"bad-document": 1}),
        ],
    )
    def test_one_bad_line_costs_that_line(self, content: bytes, kinds: dict[str, int]) -> None:
        """The others are read."""
        reading = read(content)

        assert [name for _, name, _ in spans_of(reading)] == ["one", "two"]
        assert reading.kinds == kinds

    def test_two_documents_on_one_line_are_both_read(self) -> None:
        """As when two writers share a file; and it is told."""
        reading = read(PLAIN + PLAIN[:-1] + OTHER)

        assert [name for _, name, _ in spans_of(reading)] == ["one", "two"]
        assert reading.kinds == {"joined-lines": 1, "duplicate-span": 1}

    def test_a_problem_says_where_and_why(self) -> None:
        """File, line and reason."""
        problem = read(PLAIN + b"{oops}\n").problem("bad-line")

        assert problem.line == 2
        assert problem.source.endswith("0.jsonl")
        assert problem.message.startswith("it is no JSON: Expecting property name")
        assert problem.message.endswith("; skipped")

    def test_what_a_line_is_instead_is_said(self) -> None:
        """Where it is known."""
        dataset = compact({"messages": [{"role": "user", "content": "hi"}]})

        assert read(PLAIN + dataset).problem("not-otlp").message == ("this is a chat dataset, not OTLP JSON; skipped")

    def test_nothing_is_said_of_the_parts_of_a_line_that_is_lost(self) -> None:
        """One bad line is one problem."""
        assert read(PLAIN + b'{"resourceSpans":[NaN,"\xff\\ud800"\n' + OTHER).kinds == {"bad-line": 1}

    def test_a_line_over_the_cap_is_passed_over(self) -> None:
        """And counted."""
        limits = ReadLimits(max_line_bytes=len(OTHER))
        reading = read(PLAIN + line(span(3, name="x" * 1000)).encode() + OTHER, limits=limits)

        assert [name for _, name, _ in spans_of(reading)] == ["one", "two"]
        assert reading.kinds == {"line-too-long": 1}

    def test_documents_over_many_lines_are_read(self) -> None:
        """One after another, with the line at which a problem's document begins."""
        text = "\n".join(
            json.dumps(document, indent=2) for document in (batch(span(1)), {"foo": 1}, batch(span(2, kind="?")))
        )
        reading = read(text)

        assert reading.counts["spans_used"] == 2
        assert reading.problem("not-otlp").line == text[: text.index('"foo"')].count("\n")
        assert reading.problem("bad-value").line == text[: text.rindex('"resourceSpans"')].count("\n")

    def test_metrics_are_counted(self) -> None:
        """In any form of line."""
        metrics = {"resourceMetrics": [{}, {}], "resourceProfiles": [{}]}

        assert read(compact(metrics) + b"\n" + compact({"resource_metrics": [{}]})).counts["metrics"] == 4


class TestSpans:
    """What becomes of spans."""

    def test_one_bad_span_costs_that_span(self) -> None:
        """It is told with its line, and counted, in the common form as in any other."""
        bad: list[Any] = [5, None, "x", []]
        for document in (batch(span(1), *bad, span(2)), {"batches": batch(span(1), *bad, span(2))["resourceSpans"]}):
            reading = read(PLAIN + compact(document))

            assert reading.counts["bad_spans"] == 4
            assert reading.counts["spans_read"] == 7
            assert {problem.message for problem in reading.report.problems if problem.kind == "bad-span"} == {
                "a span is 5, not an object; it is skipped",
                "a span is null, not an object; it is skipped",
                "a span is 'x', not an object; it is skipped",
                "a span is an empty list, not an object; it is skipped",
            }
            assert {problem.line for problem in reading.report.problems if problem.kind == "bad-span"} == {2}

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text.replace('"startTimeUnixNano":', '"startTimeUnixNano" : '),
            lambda text: re.sub(r'(?<!\\)":', '" : ', text),
            lambda text: text.replace('{"traceId"', '{ "traceId"'),
            lambda text: text.replace(
                '"startTimeUnixNano":"1764500000001000000"', '"startTimeUnixNano":1764500000001000000'
            ),
            lambda text: text.replace('"flags":256', r'"\u0066lags":256'),
            lambda text: text.replace('"flags":256', '"flags":{"startTimeUnixNano":"1","traceId":"x"}'),
            lambda text: text.replace(
                '"flags":256', '"links":[{"traceId":"ff","spanId":"ee","startTimeUnixNano":"1"}]'
            ),
            lambda text: text.replace('"flags":256', r'"traceState":"a=\"startTimeUnixNano\":\"1\""'),
            lambda text: text.replace('"flags":256', '"traceState":null,"parentSpanId":""'),
            lambda text: text.replace('"flags":256', '"unknown":[[{}],"}]"]'),
        ],
    )
    def test_how_a_span_is_written_makes_no_difference(self, change: Any) -> None:
        """Spaces, numbers, escapes, unknown and nested fields leave everything as it is, the order of traces too."""
        name = r'a "startTimeUnixNano":"5",{"traceId":"b"}'
        plain = [batch(span(number, name=name, trace=trace)) for number, trace in ((2, 2), (1, 1))]
        text = "".join(compact(document).decode() + "\n" for document in plain)
        assert change(text) != text
        expected, found = read(text), read(change(text))

        assert found.traces == expected.traces
        assert [trace.trace_id for trace in found.traces] == [f"{trace:032x}" for trace in (1, 2)]
        assert found.kinds == expected.kinds == {}

    def test_times_as_floats_put_traces_in_order(self) -> None:
        """As far as floats can say them."""
        times = [START + (number << 20) for number in (2, 1)]
        text = "".join(line(span(1, trace=trace, startTimeUnixNano=str(time))) for trace, time in enumerate(times, 1))
        as_floats = re.sub(r'"startTimeUnixNano":"(\d+)"', r'"startTimeUnixNano":\1.0', text)

        assert [trace.trace_id for trace in read(as_floats).traces] == [f"{trace:032x}" for trace in (2, 1)]
        assert read(as_floats).traces == read(text).traces

    def test_fields_in_any_order(self) -> None:
        """Attributes first, ids last."""
        backwards = dict(reversed(span(1, name="one").items()))

        assert read(compact(batch(backwards))).traces == read(PLAIN).traces

    def test_a_copy_of_a_span_in_an_unknown_field_is_not_read(self) -> None:
        """What follows the copy is not what follows the span."""
        first, second, evil = (compact(span(number, name=name)) for number, name in ((1, "a"), (2, "b"), (3, "c")))
        text = b'{"resourceSpans":[{"unknown":[%b,%b],"scopeSpans":[{"spans":[%b,%b]}]}]}' % (
            first,
            evil,
            first,
            second,
        )

        assert [name for _, name, _ in spans_of(read(text))] == ["a", "b"]

    @pytest.mark.parametrize("before", ["flags", "attributes", "status"])
    def test_a_second_trace_id_in_a_span_is_told(self, before: str) -> None:
        """The first counts, wherever the second stands."""
        text = line(span(1, attributes={"a": 1}))
        at = text.rindex(f'"{before}"')
        reading = read(text[:at] + f'"traceId":"{"a" * 32}",' + text[at:])

        assert reading.traces == read(text).traces
        assert reading.kinds == {"duplicate-key": 1}

    def test_spans_in_both_ways_of_writing_a_line_are_all_read(self) -> None:
        """Whatever stands beside the common form is looked for."""
        document = {
            **batch(span(1)),
            "resource_spans": batch(span(2))["resourceSpans"],
            "batches": batch(span(3))["resourceSpans"],
            "resourceMetrics": [{}],
        }
        reading = read(compact(document))

        assert (reading.counts["spans_used"], reading.counts["metrics"]) == (3, 1)

    @pytest.mark.parametrize(
        "document",
        [
            {"resourceSpans": []},
            {"resourceSpans": [{"resource": {}}]},
            {"resourceSpans": [{"scopeSpans": [{"scope": {}}]}]},
            {"resourceSpans": [{"scopeSpans": []}], "resourceLogs": [{"scopeLogs": [{}]}]},
        ],
    )
    def test_otlp_without_spans_is_no_problem(self, document: object) -> None:
        """Exporters leave empty lists out, and write empty lines."""
        reading = read(PLAIN + compact(document))

        assert (reading.kinds, reading.counts["spans_used"]) == ({}, 1)

    @pytest.mark.parametrize(
        ("field", "value"),
        [("traceId", 5), ("traceId", "trace-1"), ("traceId", True), ("traceId", "ABC"), ("traceId", "0af7")],
    )
    def test_odd_trace_ids_still_group(self, field: str, value: object) -> None:
        """Spans of one trace stay together under the id that people know, and it is told once."""
        reading = read(line(span(1, **{field: value}), span(2, **{field: value})), line(span(3, **{field: value})))
        (trace,) = reading.traces

        assert trace.trace_id == (value if isinstance(value, str) else json.dumps(value))
        assert len(trace.spans) == 3
        assert reading.kinds["odd-id"] == 1

    @pytest.mark.parametrize("value", ["", "0" * 32, None, [], {}])
    def test_a_span_without_a_trace_id_is_a_trace_of_its_own(self, value: object) -> None:
        """The same one whenever it is read, and each one told."""
        text = line(span(1, traceId=value), span(2, traceId=value))
        reading = read(text, text)

        assert [len(trace.spans) for trace in reading.traces] == [1, 1]
        assert reading.traces == read(text).traces
        assert (reading.counts["duplicate_spans"], reading.kinds["missing-id"]) == (2, 4)


class TestLogs:
    """What becomes of log records."""

    def logs(self, *records: dict[str, Any]) -> bytes:
        """Give log records as a line."""
        return compact({"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}) + b"\n"

    def log(self, number: int, **fields: object) -> dict[str, Any]:
        """Make a log record of the first span of the first trace."""
        ids = {"traceId": f"{1:032x}", "spanId": f"{1:016x}"}
        times = {"timeUnixNano": str(START + number), "observedTimeUnixNano": str(START + number)}
        return ids | times | {"eventName": "gen_ai.user.message", "body": {"stringValue": f"log {number}"}} | fields

    def test_they_are_events_of_their_span(self) -> None:
        """In order of time, whatever line or file they stand in, and once however often they were delivered."""
        reading = read(self.logs(self.log(3), self.log(1)), PLAIN, self.logs(self.log(2), self.log(1)))
        (trace,) = reading.traces

        assert [event.body for event in trace.spans[0].events] == ["log 1", "log 2", "log 3"]
        assert (reading.counts["log_records"], reading.counts["log_records_used"]) == (4, 3)

    def test_their_ids_are_read_like_those_of_spans(self) -> None:
        """Either case, base64, or odd like those of the spans."""
        ids = {"traceId": "AAAAAAAAAAAAAAAAAAAAAQ==", "spanId": "AAAAAAAAAAE="}
        assert read(PLAIN + self.logs(self.log(1, **ids))).counts["log_records_used"] == 1
        odd = {"traceId": "trace-1", "spanId": "span-1"}
        assert read(line(span(1, **odd)), self.logs(self.log(1, **odd))).counts["log_records_used"] == 1

    def test_one_bad_record_costs_itself(self) -> None:
        """And a bad field costs the field."""
        reading = read(
            PLAIN + self.logs(self.log(1, timeUnixNano=[]), self.log(2)).replace(b'"logRecords":[', b'"logRecords":[5,')
        )

        assert (reading.counts["log_records"], reading.counts["log_records_used"]) == (3, 2)
        assert reading.problem("bad-log").message == "a log record is 5, not an object; it is skipped"
        assert (reading.problem("bad-value").line, reading.kinds) == (2, {"bad-log": 1, "bad-value": 1})

    def test_records_without_a_span_are_counted(self) -> None:
        """They make no trace."""
        reading = read(
            self.logs(self.log(1), self.log(2, traceId=""), self.log(3, eventName="other", traceId="0" * 32))
        )

        assert (reading.traces, reading.counts["log_records"], reading.counts["log_records_used"]) == ([], 3, 0)

    def test_an_answer_that_lost_its_span_is_found_by_its_time(self) -> None:
        """As OpenLLMetry logs it for streams; the span has logs and no answer, and nothing else has that time."""
        answer = self.log(5, eventName="gen_ai.choice", traceId="", spanId="")
        start = {"startTimeUnixNano": str(START), "endTimeUnixNano": str(START + 100)}
        spans = line(span(1, **start)).encode()

        assert read(spans + self.logs(self.log(1), answer)).counts["log_records_used"] == 2
        assert read(spans + self.logs(answer)).counts["log_records_used"] == 0
        assert read(spans + self.logs(self.log(1), answer, self.log(6, traceId=""))).counts["log_records_used"] == 1
        backwards = line(span(1, startTimeUnixNano=str(START + 100), endTimeUnixNano=str(START))).encode()
        assert read(backwards + self.logs(self.log(1), answer)).counts["log_records_used"] == 1
