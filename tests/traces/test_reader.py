"""Reading traces: from paths to traces, with an account of everything that was read."""

from __future__ import annotations

import gzip
import itertools
import json
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
from corpora import corpora_path
from hypothesis import given, settings
from hypothesis import strategies as st
from otlp_forms import FORMS, plain
from otlp_lines import batch, line, span, write
from otlp_strategies import batches, compact
from reading import Reading, check_accounting, read

from pixie_otel.errors import InputError, PixieError
from pixie_otel.traces.limits import ReadLimits
from pixie_otel.traces.reader import TraceReader, read_traces
from pixie_otel.traces.spans import LLMSpan

DOCUMENTS = st.lists(batches(), min_size=1, max_size=4)
FRAGMENTS = (
    b"NaN",
    b"null",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"1e999",
    rb"\ud800",
    b"\xff",
    b"\x00",
    b"\n",
    b"\t",
    b"-",
)


def read_both(data: bytes) -> Reading:
    """Read some bytes, and once more strictly, which ends in our own error where anything is wrong with them."""
    reading = read(data)
    if reading.kinds:
        with pytest.raises(PixieError):
            read(data, strict=True)
    else:
        assert read(data, strict=True).traces == reading.traces
    return reading


class TestAnyInput:
    """Whatever stands in a file, it ends in traces and a report."""

    @given(st.binary(max_size=300))
    def test_any_bytes(self, data: bytes) -> None:
        """Most of them are no traces, and all of them are accounted for."""
        read_both(data)

    @given(st.text(st.sampled_from('{}[]",:\\\n 01eE-resourceSpans'), max_size=120))
    def test_any_text_that_looks_like_json(self, text: str) -> None:
        """Brackets, quotes and escapes in any order."""
        read_both(text.encode())

    @given(DOCUMENTS, st.data())
    def test_valid_files_with_faults(self, documents: list[dict[str, Any]], data: st.DataObject) -> None:
        """Bytes flipped, cut out, repeated, and put in; a file cut off."""
        content = bytearray(plain(documents))
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(0, len(content)))
            match data.draw(st.sampled_from(["flip", "cut", "repeat", "insert", "end"])):
                case "flip":
                    content[at : at + 1] = data.draw(st.binary(min_size=1, max_size=1))
                case "cut":
                    del content[at : at + data.draw(st.integers(1, 60))]
                case "repeat":
                    start = data.draw(st.integers(0, len(content)))
                    content[at:at] = content[start : start + data.draw(st.integers(1, 300))]
                case "insert":
                    content[at:at] = data.draw(st.sampled_from(FRAGMENTS))
                case _:
                    del content[at:]
        read_both(bytes(content))

    @given(DOCUMENTS, st.data())
    def test_valid_files_with_values_of_the_wrong_type(
        self, documents: list[dict[str, Any]], data: st.DataObject
    ) -> None:
        """Any value of a document may be any other."""
        # What strategies give may be shared between examples.
        documents = deepcopy(documents)
        document: Any = documents[0]
        while isinstance(document, dict | list) and document:
            keys = list(document) if isinstance(document, dict) else list(range(len(document)))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(document[key], dict | list) or not document[key] or data.draw(st.integers(0, 5)) == 0:
                document[key] = data.draw(
                    st.sampled_from([None, True, 0, -1, 1.5, 2**70, "", "x", [], {}, [[]], [{}], {"values": 1}])
                )
                break
            document = document[key]
        read_both(plain(documents))


class TestOrder:
    """The order of lines and files makes no difference."""

    @given(DOCUMENTS, st.randoms(), st.integers(1, 3), st.booleans())
    def test_shuffled_lines_in_several_files(
        self,
        documents: list[dict[str, Any]],
        random: Random,
        files: int,
        repeated: bool,  # noqa: FBT001 - hypothesis passes by position
    ) -> None:
        """The same traces in the same order, with the same problems: duplicates, conflicts, log records and all."""
        lines = [compact(document) + b"\n" for document in documents]
        if repeated:
            lines.append(random.choice(lines))
        expected = read(b"".join(lines))
        random.shuffle(lines)
        inputs = [b"".join(lines[number::files]) for number in range(files)]
        found = read(*(content for content in inputs if content))

        assert [trace.trace_id for trace in found.traces] == [trace.trace_id for trace in expected.traces]
        assert found.traces == expected.traces
        assert found.trace_problems() == expected.trace_problems()
        assert (found.counts, found.kinds) == (expected.counts, expected.kinds)

    def test_traces_come_in_order_of_their_start(self) -> None:
        """Whichever was written first."""
        reading = read(line(span(3, trace=1)), line(span(2, trace=2), span(1, trace=3)))

        assert [trace.trace_id for trace in reading.traces] == [f"{number:032x}" for number in (3, 2, 1)]


class TestForms:
    """Every way of writing the same traces."""

    @pytest.mark.parametrize("form", FORMS)
    @settings(max_examples=30)
    @given(documents=DOCUMENTS)
    def test_give_the_same(self, form: str, documents: list[dict[str, Any]]) -> None:
        """Equal traces, equal counts, and nothing to say but that ids were encoded."""
        expected, found = read(plain(documents)), read(FORMS[form](documents))

        assert found.traces == expected.traces
        assert found.counts == expected.counts
        encoded = found.kinds.pop("encoded-id", 0)
        assert {kind: count for kind, count in found.kinds.items() if kind != "encoded-id"} == expected.kinds
        assert (encoded == len(found.traces)) if form == "base64 ids" else not encoded


@pytest.mark.parametrize("key", ["resourceLogs", "scopeLogs"])
def test_a_log_record_of_two_lists_counts_once(key: str) -> None:
    """Whether they are on one line, as when a collector joins what it was given twice, or on two."""
    record = {"traceId": f"{1:032x}", "spanId": f"{1:016x}", "timeUnixNano": "5", "eventName": "a"}

    def events(*lists: list[Any]) -> int:
        entries = [{"scope": {}, "logRecords": records} for records in lists]
        resources = [{"scopeLogs": entries}] if key == "scopeLogs" else [{"scopeLogs": [entry]} for entry in entries]
        on_one, on_many = [{"resourceLogs": resources}], [{"resourceLogs": [resource]} for resource in resources]
        found = {
            len(read(line(span(1)), plain(documents)).traces[0].spans[0].events) for documents in (on_one, on_many)
        }
        (number,) = found
        return number

    assert events([record], [record]) == 1
    assert events([record, record]) == 2
    assert events([record, record], [record]) == 2


class TestReader:
    """The reader and its report."""

    def test_read_traces_is_the_short_way(self, tmp_path: Path) -> None:
        """For whoever needs no report."""
        path = write(tmp_path / "a.jsonl", line(span(1)), line(span(2, trace=2)))

        assert list(read_traces(path)) == list(TraceReader(path))
        assert [trace.source for trace in read_traces(str(path))] == [str(path)] * 2

    def test_spans_of_a_trace_may_lie_in_several_files(self, tmp_path: Path) -> None:
        """Compressed or not."""
        write(tmp_path / "a.jsonl", line(span(1)))
        (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(line(span(2, parent=1)).encode()))
        (trace,) = TraceReader(tmp_path)

        assert [node.span.span_id for node in trace.roots[0].walk()] == [f"{1:016x}", f"{2:016x}"]

    def test_reading_again_gives_a_new_account(self, tmp_path: Path) -> None:
        """The report is that of the last reading."""
        reader = TraceReader(write(tmp_path / "a.jsonl", line(span(1)), "oops\n"))
        first = list(reader)
        report = reader.report

        assert list(reader) == first
        assert reader.report is not report
        assert reader.report_json() == report.to_json()
        check_accounting(reader.report, first)

    def test_two_iterations_at_a_time_have_an_account_each(self, tmp_path: Path) -> None:
        """The reader shows that of the one that began last; the other one's is complete all the same."""
        reader = TraceReader(write(tmp_path / "a.jsonl", line(span(1)), line(span(2, trace=2))))
        first = iter(reader)
        traces = [next(first)]
        report = reader.report
        second = list(reader)
        traces += first

        assert traces == second
        assert report is not reader.report
        check_accounting(report, traces)
        check_accounting(reader.report, second)

    def test_traces_outlive_their_reading(self, tmp_path: Path) -> None:
        """What is decoded later needs neither the reader nor the file; only the line of a bad value is not known."""
        bad = line(span(1, attributes={"k": 1})).replace('"intValue":"1"', '"intValue":"x"')
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(gzip.compress(bad.encode()))
        (trace,) = read_traces(path)
        path.unlink()

        assert trace.spans[0].attributes == {"k": "x"}
        assert [(problem.kind, problem.line) for problem in trace.problems] == [("bad-value", None)]

    def test_a_copy_shares_no_value_with_other_spans(self, tmp_path: Path) -> None:
        """Resource, scope and tools are the same for many spans, and whoever got a copy may change them."""
        tools = json.dumps([{"name": "f", "parameters": {"type": "object"}}])
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": tools}
        document = batch(span(1, attributes=attributes), span(2, parent=1, attributes=attributes))
        values = {"arrayValue": {"values": [{"stringValue": "a"}]}}
        document["resourceSpans"][0]["resource"]["attributes"] = [{"key": "list", "value": values}]
        (trace,) = read_traces(write(tmp_path / "a.jsonl", json.dumps(document) + "\n"))
        changed = trace.copy().copy().spans[0]
        assert isinstance(changed, LLMSpan)
        assert changed == trace.spans[0]
        (tool,) = changed.tool_definitions
        assert tool.parameters is not None
        tool.parameters.clear()
        changed.scope.attributes["k"] = 1
        listed = changed.resource["list"]
        assert isinstance(listed, list)
        listed.clear()

        for other in (*trace.spans, *trace.copy().spans):
            assert isinstance(other, LLMSpan)
            assert other.tool_definitions[0].parameters == {"type": "object"}
            assert (other.resource, other.scope.attributes) == ({"list": ["a"]}, {})

    def test_a_file_that_is_overwritten_while_it_is_read_costs_what_was_lost(self, tmp_path: Path) -> None:
        """Accounted for like anything else."""
        padding = line(span(9, trace=9, start_ms=100, name="x" * 300_000))
        path = write(tmp_path / "a.jsonl", line(span(1)), padding, line(span(2, trace=2, start_ms=200)))
        reader = TraceReader(path)
        traces = iter(reader)
        found = [next(traces)]
        path.write_bytes(b"?" * path.stat().st_size)
        found += traces

        assert [trace.trace_id for trace in found] == [f"{1:032x}"]
        assert reader.report.counts == {"bad-span": 2}
        check_accounting(reader.report, found)

    def test_stopping_in_the_middle_is_no_problem(self, tmp_path: Path) -> None:
        """What was opened is closed."""
        traces = iter(TraceReader(write(tmp_path / "a.jsonl", line(span(1)), line(span(2, trace=2)))))
        assert next(traces).trace_id == f"{1:032x}"
        del traces

    def test_a_path_that_leads_nowhere_is_an_error(self, tmp_path: Path) -> None:
        """Before anything is read."""
        with pytest.raises(InputError, match=r"gone\.jsonl"):
            TraceReader(tmp_path / "gone.jsonl")

    @pytest.mark.parametrize(
        ("content", "where"),
        [
            (line(span(1)) + "oops\n" + line(span(2)), ":2: it is no JSON"),
            (line(span(1), span(2, parent=1, kind="FOO")), ":1: kind is 'FOO'"),
            (
                line(span(1, attributes={"k": 1})).replace('"intValue":"1"', '"intValue":"x"'),
                ":1: attribute 'k'.intValue",
            ),
            (line(span(1)) + line(span(2, parent=9)), ": 1 span of 2 with a parent that is not in the input"),
            (line(span(1)) * 2, ": 1 repeated span was left out"),
        ],
    )
    def test_strict_makes_the_first_problem_fatal(self, content: str, where: str) -> None:
        """With its place, even where it shows only when a span is decoded."""
        with pytest.raises(InputError) as caught:
            read(content, strict=True)
        assert where in str(caught.value)

    def test_strict_reads_what_is_right(self) -> None:
        """All of it."""
        assert len(read(line(span(1), span(2, parent=1)), strict=True).traces) == 1

    def test_spools_may_be_on_disk(self) -> None:
        """What had to be salvaged gives the same from a file as from memory."""
        content = FORMS["snake_case"]([batch(*(span(number) for number in range(1, 50)))])

        assert read(content, limits=ReadLimits(spool_bytes=100)).traces == read(content).traces

    def test_every_line_may_have_a_resource_of_its_own(self) -> None:
        """And each span gets its own."""
        reading = read("".join(line(span(1, trace=number), service=f"service {number}") for number in range(1, 3001)))

        assert all(trace.service_names == [f"service {int(trace.trace_id, 16)}"] for trace in reading.traces)

    def test_log_records_without_spans_make_no_traces(self) -> None:
        """However many there are."""
        records = [{"traceId": f"{number:032x}", "body": {"stringValue": "x"}} for number in range(1, 1001)]
        reading = read(compact({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}))

        assert (reading.traces, reading.counts["log_records"], reading.kinds) == ([], 1000, {})


class TestPublicData:
    """Data that was made to break parsers."""

    def test_every_file_of_the_json_test_suite(self) -> None:
        """As a line, a value and a span: the lines beside it are read, and wrong JSON is reported."""
        for path in sorted(corpora_path("JSONTestSuite").rglob("*.json")):
            content, verdict = path.read_bytes(), path.name[0]
            beside = line(span(2, name="beside")).encode()
            as_line = read(beside + content + b"\n" + beside)
            assert as_line.counts["spans_used"] == 1, path
            if content.strip(b" \n\xef\xbb\xbf"):
                assert as_line.kinds.keys() - {"duplicate-span"}, path
            template = compact(batch(span(1, attributes={"k": "VALUE"})))
            as_value = read(template.replace(b'{"stringValue":"VALUE"}', content) + b"\n" + beside)
            as_span = read(template.replace(b'"spans":[', b'"spans":[' + content + b",") + b"\n" + beside)
            if verdict == "y":
                assert as_value.counts["spans_used"] == 2, path
                assert as_span.counts["spans_read"] == 3, path
            elif verdict == "n" and b"\n" not in content:
                assert as_value.kinds, path
                assert as_span.kinds, path

    def test_json_of_the_test_suite_as_text(self) -> None:
        """Whatever is in an attribute that holds text, it comes back unchanged."""
        keys = ("input.value", "llm.input_messages.0.message.content", "gen_ai.input.messages", "metadata")
        paths = sorted(corpora_path("JSONTestSuite").rglob("*.json"))
        texts = [path.read_bytes().decode(errors="replace") for path in paths]
        written = [
            span(number, trace=number, attributes={key: text})
            for number, (key, text) in enumerate(itertools.product(keys, texts), 1)
        ]
        reading = read(line(*written))

        assert reading.kinds == {}
        assert [trace.spans[0].attributes for trace in reading.traces] == [
            {key: text} for key, text in itertools.product(keys, texts)
        ]

    @pytest.mark.parametrize("form", ["escaped", "indented", "snake_case", "upper-case ids"])
    def test_naughty_strings_come_back_unchanged(self, form: str) -> None:
        """As names, keys and values, in spans, events and resources, however they were escaped."""
        texts = json.loads((corpora_path("BLNS") / "blns.json").read_text(encoding="utf-8"))
        written = []
        for number, text in enumerate(texts, 1):
            values = {text: "v", "text": text, "list": [text], "object": {text: text}}
            found = span(number, trace=number, name=text, attributes=values, error=text)
            found["events"] = [{"name": text, "timeUnixNano": "1", "attributes": found["attributes"]}]
            written.append(batch(found, service=text, scope=text))
        reading = read(FORMS[form](written))

        assert reading.kinds == {}
        for trace, text in zip(reading.traces, texts, strict=True):
            (found,) = trace.spans
            values = {text: "v", "text": text, "list": [text], "object": {text: text}}
            assert (found.name, found.attributes) == (text, values)
            assert (found.events[0].name, found.events[0].attributes) == (text, values)
            assert found.error is not None
            assert (found.error.message, found.resource, found.scope.name) == (text, {"service.name": text}, text)
