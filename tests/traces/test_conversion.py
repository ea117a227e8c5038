"""From files of any form to clean lines, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conversions import convert
from foreign_forms import FOREIGN, LOSSLESS
from foreign_samples import SAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from otlp_forms import FORMS
from otlp_lines import agent, attributes, batch, chat, line, span
from otlp_strategies import batches
from reading import read

from pixie_otel.traces.filters import TraceFilter

CORPUS = Path(__file__).parent / "corpus"
RECORDED = sorted(path for path in CORPUS.glob("*/*.jsonl") if not path.name.endswith(".logs.jsonl"))
STRICT = {"bad-value", "duplicate-key", "encoded-id", "missing-id", "not-otlp", "bad-shape", "invalid-utf8"}
"""What no clean file has."""


def log(number: int, *, trace: int = 1, body: object = "hi", **fields: Any) -> dict[str, Any]:
    """Give a log record of a span."""
    return {
        "timeUnixNano": "1764500000000000005",
        "severityNumber": 9,
        "eventName": "an event",
        "body": {"stringValue": body},
        "attributes": attributes({"a": 1}),
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        **fields,
    }


def logs(*records: dict[str, Any], scope: str = "s") -> str:
    """Give log records as a line."""
    return (
        json.dumps(
            {"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {"name": scope}, "logRecords": records}]}]}
        )
        + "\n"
    )


def check(*inputs: bytes | str) -> bytes:
    """Convert some inputs, and see that nothing changed and that another conversion changes nothing."""
    done = convert(*inputs)
    before, after = read(*inputs), read(done.data)

    assert after.traces == before.traces
    assert not after.kinds.keys() & STRICT
    assert convert(done.data).data == done.data
    assert sum(trace.spans for trace in done.traces) == before.report.spans_used
    return done.data


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_recorded_traces_stay_what_they_are(path: Path) -> None:
    """With their log records; spans byte for byte, as these libraries write clean ones."""
    beside = path.with_name(f"{path.stem}.logs.jsonl")
    inputs = [path.read_bytes(), *([beside.read_bytes()] if beside.exists() else [])]
    check(*inputs)


@pytest.mark.parametrize("name", FORMS)
def test_otlp_in_any_form_becomes_clean(name: str) -> None:
    """And what is read of it stays the same."""
    documents = [batch(agent(1), chat(2, parent=1), span(3, parent=1, error="boom"))]

    check(FORMS[name](documents))


@pytest.mark.parametrize("name", [*FOREIGN, *LOSSLESS])
def test_other_forms_become_clean(name: str) -> None:
    """Likewise."""
    documents = [batch(agent(1), chat(2, parent=1), span(3, parent=1, error="boom"))]

    check((FOREIGN | LOSSLESS)[name](documents))


@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - {"adot log"}))
def test_exports_become_clean(name: str) -> None:
    """Likewise."""
    check(json.dumps(SAMPLES[name]))


@settings(max_examples=50, deadline=None)
@given(st.lists(batches(), max_size=3), st.sampled_from(sorted(FORMS)))
def test_any_traces_survive(documents: list[dict[str, Any]], form: str) -> None:
    """Whatever is in them, and in whatever way it is written."""
    check(FORMS[form](documents))


@pytest.mark.parametrize(
    "change",
    [
        {"attributes": [{"key": "a", "value": {"intValue": "1", "stringValue": "x"}}, {"key": "a", "value": {}}]},
        {"attributes": [{"key": "a", "value": {"intValue": 2**70}}, {"key": "b", "value": {"doubleValue": "1e999"}}]},
        {"attributes": [{"key": "a", "value": {"arrayValue": [1, {"stringValue": "x"}]}}, {"key": "b", "value": "x"}]},
        {"attributes": [{"key": "a", "value": {"kvlistValue": {"values": [5, {"key": "b", "value": {"x": 1}}]}}}]},
        {"attributes": [{"key": "a", "value": {"bytesValue": "//8="}}, {"key": "b", "value": {"boolValue": "x"}}, 5]},
        {"attributes": {"a": {"stringValue": "x"}, "b": {"c": [1, None]}, "d": None}},
        {"attributes": 5, "events": [5, {"name": 5, "timeUnixNano": "-5", "droppedAttributesCount": 1}], "links": [5]},
        {"links": [{"traceId": "AAAAAAAAAAAAAAAAAAAAAQ==", "spanId": "AAAAAAAAAAE=", "attributes": {"a": 1}}]},
        {"kind": "SPAN_KIND_SERVER", "status": {"code": "STATUS_CODE_ERROR", "message": "boom"}},
        {"kind": 99, "status": {"code": "x", "message": 5}, "traceState": 5},
        {"name": 5, "startTimeUnixNano": 1764500000000000000.0, "endTimeUnixNano": None, "status": None},
        {"traceId": "an id of mine", "spanId": "another", "parentSpanId": "x"},
        {"traceId": "", "spanId": ""},
        {"name": "half a pair: \ud800", "flags": 257, "droppedEventsCount": 3, "mine": {"a": [1]}},
        {
            "attributes": [
                {"key": "a", "value": {"arrayValue": {"values": None}}},
                {"key": "b", "value": {"kvlistValue": {}}},
            ]
        },
    ],
)
def test_what_is_wrong_with_a_span_is_made_right(change: dict[str, Any]) -> None:
    """A reading of what is written gives what a reading of what was there gave."""
    check(line(span(1), span(2, parent=1) | change))


def test_fields_that_nobody_knows_are_kept() -> None:
    """As are those that no observation has."""
    changed = span(1, traceState="a=b", flags=257, droppedEventsCount=3, mine={"a": [1]}, kind="SPAN_KIND_SERVER")
    (found,) = json.loads(check(line(changed)))["resourceSpans"][0]["scopeSpans"][0]["spans"]

    assert found == {key: value for key, value in changed.items() if key != "attributes"} | {"kind": 2}


def test_a_trace_is_a_line() -> None:
    """Wherever its spans stood, with each resource and scope once."""
    data = check(line(span(2, parent=1)), line(span(1)), line(span(3, trace=2)), line(span(4), service="other"))
    first, second = map(json.loads, data.splitlines())

    assert [len(entry["scopeSpans"][0]["spans"]) for entry in first["resourceSpans"]] == [2, 1]
    assert len(second["resourceSpans"]) == 1


def test_a_long_trace_is_several_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line need be held that is as long as a trace."""
    monkeypatch.setattr("pixie_otel.traces.conversion._LINE_BYTES", 1000)

    assert check(line(*(span(number) for number in range(1, 30)))).count(b"\n") > 5


def test_order_does_not_matter() -> None:
    """The lines of several files in any order are the same bytes."""
    lines = [line(span(2, parent=1)), line(span(1)), line(span(3, trace=2)), logs(log(1), log(2))]

    assert check(*lines) == check(*reversed(lines))


class TestLogs:
    """Log records."""

    def test_they_survive_with_all_their_fields(self) -> None:
        """In a line behind the trace's spans."""
        data = check(line(span(1)), logs(log(1), log(1, body="ho"), scope="other"))
        written = json.loads(data.splitlines()[1])

        assert written["resourceLogs"][0]["scopeLogs"][0]["logRecords"] == [log(1), log(1, body="ho")]
        assert written["resourceLogs"][0]["scopeLogs"][0]["scope"] == {"name": "other"}

    def test_those_that_came_twice_are_written_once(self) -> None:
        """As they are read."""
        data = check(line(span(1)), logs(log(1)), logs(log(1)))

        assert data.count(b"an event") == 1

    def test_their_order_survives_scopes_in_turns(self) -> None:
        """Records of one time are in the order in which they stand."""
        records = [log(1, body=str(number)) for number in range(6)]
        mixed = {
            "resourceLogs": [
                {"resource": {}, "scopeLogs": [{"scope": {"name": str(number % 2)}, "logRecords": [record]}]}
                for number, record in enumerate(records)
            ]
        }
        check(line(span(1)), json.dumps(mixed))

    def test_odd_ones_are_made_right(self) -> None:
        """Ids, times and bodies."""
        odd = log(1, timeUnixNano=5, observedTimeUnixNano="x", body=5, traceId="AAAAAAAAAAAAAAAAAAAAAQ==")
        odd |= {"attributes": {"a": 1}, "flags": None}
        data = check(line(span(1)), logs(odd))

        assert (
            json.loads(data.splitlines()[1])["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["timeUnixNano"] == "5"
        )

    def test_one_that_was_found_by_its_time_says_where_it_belongs(self) -> None:
        """An answer that was logged when its span was no longer the current one."""
        question = log(1, eventName="gen_ai.user.message", body="hi")
        answer = log(1, eventName="gen_ai.choice", body="ho", traceId="", spanId="", timeUnixNano="1764500000002000000")
        data = check(line(span(1)), logs(question, answer))

        assert data.count(f'"spanId":"{1:016x}"'.encode()) == 3


class TestChoice:
    """Which traces, and what of them."""

    def test_traces_are_filtered(self) -> None:
        """By the conditions of `eval`."""
        done = convert(line(span(1), span(2, trace=2)), wanted=TraceFilter.parse(trace_ids=[f"{2:032x}"]))

        assert [trace.trace_id for trace in done.traces] == [f"{2:032x}"]
        assert done.conversion.read == 2

    def test_the_earliest_come_first(self) -> None:
        """Up to a limit."""
        done = convert(line(span(3, trace=3), span(1, trace=1), span(2, trace=2)), limit=2)

        assert [int(trace.trace_id, 16) for trace in done.traces] == [1, 2]

    def test_what_a_selector_picks_becomes_a_root(self) -> None:
        """With all below it, and the log records of these."""
        inputs = (
            line(agent(1), span(2, parent=1, name="outer"), chat(3, parent=2), span(4, parent=1)),
            logs(log(1), log(3)),
        )
        done = convert(*inputs, select="name:outer")
        (trace,) = read(done.data).traces

        assert [(node.span.name, node.span.parent_span_id) for node in trace.walk()] == [
            ("outer", None),
            ("ChatCompletion", f"{2:016x}"),
        ]
        assert (done.traces[0].spans, done.traces[0].log_records) == (2, 1)
        assert not read(done.data).kinds

    def test_what_is_picked_within_what_is_picked_is_there_once(self) -> None:
        """The outermost counts."""
        done = convert(line(chat(1), chat(2, parent=1)), select="kind:llm")

        assert done.traces[0].spans == 2
        assert len(read(done.data).traces[0].roots) == 1

    def test_traces_in_which_nothing_is_picked_are_left_out(self) -> None:
        """And counted."""
        done = convert(line(agent(1), chat(2, trace=2)), select="last_llm_call")

        assert [trace.trace_id for trace in done.traces] == [f"{2:032x}"]
        assert done.conversion.unselected == 1

    def test_the_root_is_the_whole_trace(self) -> None:
        """Where nothing is above it."""
        text = line(agent(1), chat(2, parent=1))

        assert convert(text, select="root").data == convert(text).data
