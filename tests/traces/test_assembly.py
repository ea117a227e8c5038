"""Putting one trace together, with what is wrong with it."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
from otlp_lines import START, batch, line, span
from otlp_strategies import compact
from reading import read

from pixie_otel.traces.reader import TraceReader
from pixie_otel.traces.spans import ObserveSpan


def spans_of(*written: dict[str, Any]) -> list[ObserveSpan]:
    """Read spans of one trace."""
    (trace,) = read(line(*written)).traces
    return trace.spans


class TestDoubles:
    """Spans that stand in the input more than once."""

    def test_a_span_that_was_delivered_twice_counts_once(self) -> None:
        """However it was written, and it is told once for the trace with how many there were."""
        other = {**span(1), "kind": "SPAN_KIND_INTERNAL", "startTimeUnixNano": START + 1_000_000}
        reading = read(line(span(1), span(2, parent=1)), line(span(1)), line(other), line(span(1)))

        assert (reading.counts["spans_used"], reading.counts["duplicate_spans"]) == (2, 3)
        assert reading.problem("duplicate-span").message == "3 repeated spans were left out; each span counts once"

    def test_of_two_resources_the_same_one_is_kept_whatever_the_order(self) -> None:
        """The span itself does not say which is right."""
        lines = [line(span(1), service=service) for service in ("b", "a", "c")]

        assert read(*lines).traces == read(*reversed(lines)).traces
        assert read(*lines).traces[0].service_names == ["a"]

    def test_different_spans_with_one_id_are_all_kept(self) -> None:
        """And told; the one that ended last has the children and the log records."""
        log = {"traceId": f"{1:032x}", "spanId": f"{1:016x}", "timeUnixNano": "1", "body": {"stringValue": "x"}}
        logs = compact({"resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}]}).decode() + "\n"
        lines = [line(span(1, ms=ms, name=f"{ms} ms")) for ms in (5, 20, 10)]
        reading = read(*lines, line(span(2, parent=1)), logs)
        (trace,) = reading.traces

        assert read(logs, line(span(2, parent=1)), *reversed(lines)).traces == reading.traces
        assert [(root.span.name, len(root.children), len(root.span.events)) for root in trace.roots] == [
            ("5 ms", 0, 0),
            ("10 ms", 0, 0),
            ("20 ms", 1, 1),
        ]
        problem = reading.problem("conflicting-span")
        assert problem.message == "span id '0000000000000001' is used by 3 different spans; all are kept"
        assert problem.span_id == f"{1:016x}"

    def test_twins_with_the_same_times_stand_in_an_order_of_their_own(self) -> None:
        """What was read first does not matter."""
        lines = [line(span(1, name=f"name {number}")) for number in range(6)]

        assert read(*lines).traces == read(*reversed(lines)).traces

    def test_the_same_id_in_another_trace_is_another_span(self) -> None:
        """Span ids are unique within their trace only."""
        reading = read(line(span(1), span(1, trace=2)))

        assert (len(reading.traces), reading.kinds) == (2, {})


class TestIds:
    """Ids of spans and parents."""

    @pytest.mark.parametrize("form", ["00000000000000AB", "AAAAAAAAAKs=", "AAAAAAAAAKs", "0x00000000000000ab"])
    def test_a_parent_is_found_however_the_ids_are_written(self, form: str) -> None:
        """The id has one form in the end."""
        for written in ([span(0xAB, spanId=form), span(2, parent=0xAB)], [span(0xAB), span(2, parentSpanId=form)]):
            (trace,) = read(line(*written)).traces
            assert [node.span.span_id for node in trace.walk()] == [f"{0xAB:016x}", f"{2:016x}"]
            assert len(trace.roots) == 1

    def test_base64_ids_are_told_once_for_a_trace(self) -> None:
        """Nobody has to guess why ids look different elsewhere."""
        encoded = {"traceId": "AAAAAAAAAAAAAAAAAAAAAQ=="}
        reading = read(line(span(1, **encoded), span(2, parent=1, **encoded), span(3, parent=1)))

        assert reading.traces == read(line(span(1), span(2, parent=1), span(3, parent=1))).traces
        assert reading.problem("encoded-id").message == (
            f"ids are not plain hex: traceId 'AAAAAAAAAAAAAAAAAAAAAQ==' is read as {1:032x}"
        )

    def test_odd_span_ids_link_as_they_stand(self) -> None:
        """And are told."""
        reading = read(line(span(1, spanId="step-1"), span(2, parentSpanId="step-1")))
        (trace,) = reading.traces

        assert len(trace.roots) == 1
        assert reading.problem("odd-id").message == "spanId 'step-1' is no 8 bytes in hex or base64; it is kept"

    @pytest.mark.parametrize("missing", ["", "0" * 16, None, {}])
    def test_a_span_without_an_id_gets_one_that_is_always_the_same(self, missing: object) -> None:
        """No other span can be below it, and the same span twice is still one."""
        written = [span(1, spanId=missing), span(2, spanId=missing), span(1, spanId=missing)]
        reading = read(line(*written))

        assert reading.traces == read(line(*reversed(written))).traces
        assert (reading.counts["spans_used"], reading.kinds["missing-id"]) == (2, 3)
        assert len({found.span_id for found in reading.traces[0].spans}) == 2


class TestProblems:
    """What is wrong with values, resources and the trace as a whole."""

    def test_a_bad_value_is_told_with_its_place(self) -> None:
        """File, line, trace and span: on the trace and in the report."""
        text = line(span(1)) * 2 + line(span(2, parent=1, endTimeUnixNano="x"))
        reading = read(text)
        problem = reading.problem("bad-value")

        assert (problem.line, problem.trace_id, problem.span_id) == (3, f"{1:032x}", f"{2:016x}")
        assert problem in reading.traces[0].problems

    @pytest.mark.parametrize("spaced", [False, True])
    def test_what_shows_only_when_a_span_is_decoded_is_told_then(self, tmp_path: Path, *, spaced: bool) -> None:
        """With its line, as long as the input is there; without an error when it is gone."""
        path = tmp_path / "a.jsonl"
        text = line(span(1)) + line(span(2, parent=1, kind=9, attributes={"a": 1}))
        path.write_text(text.replace(":", ": ") if spaced else text, encoding="utf-8")
        for is_gone in (False, True):
            reader = TraceReader(path)
            (trace,) = list(reader)
            if is_gone:
                path.unlink()
            assert trace.problems == ()
            assert [found.name for found in trace.spans] == ["span 1", "span 2"]
            (problem,) = trace.problems
            assert (problem.kind, problem.span_id) == ("bad-value", f"{2:016x}")
            assert problem.line == (2 if spaced or not is_gone else None)
            assert reader.report.counts == {"bad-value": 1}

    def test_a_bad_resource_is_told_on_every_trace_that_has_it(self) -> None:
        """Once a trace, however many spans and lines share it."""
        document = batch(span(1), span(2, parent=1), span(3, trace=2))
        document["resourceSpans"][0]["resource"]["attributes"].append({"key": "k", "value": 5})
        text = compact(document) + b"\n"
        for reading in (read(text, text), read(text + text)):
            assert [[problem.kind for problem in trace.problems] for trace in reading.traces] == [
                ["duplicate-span", "bad-value"],
                ["duplicate-span", "bad-value"],
            ]

    def test_problems_of_one_kind_are_bounded_on_a_trace(self) -> None:
        """All are counted."""
        reading = read("".join(line(span(number, kind="?", name=f"n{number}")) for number in range(1, 301)))

        assert reading.kinds["bad-value"] == 300
        assert len([problem for problem in reading.traces[0].problems if problem.kind == "bad-value"]) == 100
        assert len(reading.report.problems) == 101

    def test_one_bad_value_costs_that_value(self) -> None:
        """The span, and its other values, stay."""
        written = span(1, attributes={"good": 1, "bad": 2})
        written["attributes"][1]["value"] = {"intValue": "two"}
        for text in (line(written), line(written).replace('"two"', '"\udc80"')):
            data = text.encode("utf-8", "surrogateescape")
            (trace,) = read(data).traces
            assert trace.spans[0].attributes["good"] == 1

    def test_an_explosion_of_twins_takes_no_explosion_of_time(self) -> None:
        """Thousands of spans with one id, the same or not."""
        written = [span(1, name=f"name {number % 3000}") for number in range(6000)]
        reading = read(*(line(*written[at : at + 500]) for at in range(0, 6000, 500)))

        assert (reading.counts["spans_used"], reading.counts["duplicate_spans"]) == (3000, 3000)

    def test_a_trace_can_be_freed_without_the_garbage_collector(self, tmp_path: Path) -> None:
        """No cycles, as those would pile up while a large file is read."""
        path = tmp_path / "a.jsonl"
        path.write_text(line(span(1), span(2, parent=1, kind="?")), encoding="utf-8")
        (trace,) = list(TraceReader(path))
        assert len(trace.spans) == 2
        gc.disable()
        try:
            gone = weakref.ref(trace)
            del trace
            assert gone() is None
        finally:
            gc.enable()


def test_spans_have_attributes_in_every_form() -> None:
    """A list of pairs as OTLP has it, or an object with the user's own keys."""
    mapping = {"trace_id": "mine", "n": {"intValue": "5"}}
    as_pairs = spans_of(span(1, attributes={"trace_id": "mine", "n": 5}))
    as_object = spans_of({**span(1), "attributes": mapping})

    assert as_pairs == as_object
    assert as_pairs[0].attributes == {"trace_id": "mine", "n": 5}


def test_a_second_trace_id_is_told_when_the_span_is_decoded() -> None:
    """The tree is built from what stands before the attributes; a key that stands twice shows later."""
    second = f'"attributes":[],"traceId":"{9:032x}","attributes":[{{"key":"a"'
    (trace,) = read(line(span(1, attributes={"a": "b"})).replace('"attributes":[{"key":"a"', second)).traces

    assert trace.trace_id == f"{1:032x}"
    assert trace.spans[0].attributes == {"a": "b"}
    assert [problem.kind for problem in trace.problems] == ["duplicate-key"]


def test_a_file_that_changes_while_it_is_read_costs_the_spans_that_changed(tmp_path: Path) -> None:
    """Not the rest, and there is no error."""
    path = tmp_path / "a.jsonl"
    lines = [line(span(n, trace=n, start_ms=100 * n, attributes={"a": "b"})) for n in (1, 2, 3)]
    path.write_text("".join(lines), encoding="utf-8")
    reader = TraceReader(path)
    traces = iter(reader)
    found = [next(traces)]
    path.write_text(lines[0] + "x" * (len(lines[1]) - 1) + "\n" + lines[2], encoding="utf-8")
    found += traces

    assert [trace.trace_id for trace in found] == [f"{1:032x}", f"{3:032x}"]
    assert reader.report.counts == {"bad-span": 1}
