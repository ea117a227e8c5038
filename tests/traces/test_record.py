"""A span between file and observation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from otlp_lines import START, attributes, chat, span
from otlp_strategies import compact, spans

from pixie_otel.traces.record import Origin, SpanRecord, log_time, nanoseconds, read_span, span_digest
from pixie_otel.traces.spans import LLMSpan, Scope
from pixie_otel.traces.wire import WireLog, decode_log, decode_span

ORIGIN = Origin("a.jsonl", compact({"attributes": attributes({"service.name": "bot"})}), b'{"name":"s","version":"1"}')


@pytest.fixture
def said() -> list[str]:
    """Collect what is said."""
    return []


def record_of(
    written: dict[str, Any], said: list[str], *, origin: Origin = ORIGIN, logs: tuple[WireLog, ...] = ()
) -> SpanRecord:
    """Make a record of a span."""
    return SpanRecord(
        data=compact(written),
        origin=origin,
        trace_id="t",
        span_id="s",
        parent_span_id=None,
        start_time_unix_nano=5,
        end_time_unix_nano=6,
        complain=lambda _, message: said.append(message),
        decoded=decode_span(compact({"traceId": "t", **written})),
        logs=[*logs],
    )


class TestOrigins:
    """Resources and scopes."""

    def test_both_are_decoded_once(self) -> None:
        """All spans of a scope share them."""
        assert ORIGIN.resource == {"service.name": "bot"}
        assert ORIGIN.scope == Scope("s", "1")
        assert ORIGIN.resource is ORIGIN.resource
        assert ORIGIN.complaints == []

    @pytest.mark.parametrize("nothing", [b"null", b"{}", b'{"attributes":null}'])
    def test_there_may_be_none(self, nothing: bytes) -> None:
        """Exporters leave empty ones out."""
        origin = Origin("a", nothing, nothing)

        assert (origin.resource, origin.scope, origin.complaints) == ({}, Scope(), [])

    def test_what_is_wrong_with_them_is_kept_to_be_told(self) -> None:
        """For each trace that has spans of theirs."""
        origin = Origin("a", b"5", b'{"name":7,"attributes":[{"key":"k","value":5}]}')

        assert (origin.resource, origin.scope) == ({}, Scope("", "", {"k": 5}))
        assert [kind for kind, _ in origin.complaints] == ["bad-value", "bad-value"]

    def test_of_two_origins_the_choice_depends_on_what_they_are(self) -> None:
        """And not on which was read first."""
        first, second = Origin("b", b"1", b"2"), Origin("a", b"2", b"1")

        assert min(first, second, key=Origin.order) is min(second, first, key=Origin.order) is first


class TestObserving:
    """From the record to the observation."""

    def test_a_span_is_read_with_everything_that_it_has(self, said: list[str]) -> None:
        """Times and ids are the record's, all else is the span's."""
        written = chat(1, error="boom", events=[{"name": "e", "timeUnixNano": "7", "attributes": attributes({"a": 1})}])
        found = record_of(written, said).observe()

        assert isinstance(found, LLMSpan)
        assert (found.trace_id, found.span_id, found.start_time_unix_nano, found.otel_kind) == ("t", "s", 5, "internal")
        assert (found.resource, found.scope.name, found.error and found.error.message) == (
            {"service.name": "bot"},
            "s",
            "boom",
        )
        assert [(event.name, event.time_unix_nano, event.attributes) for event in found.events] == [("e", 7, {"a": 1})]
        assert said == []

    def test_what_is_wrong_is_told_the_first_time_only(self, said: list[str]) -> None:
        """Whoever gets a copy of a trace decodes its spans again."""
        record = record_of({**span(1), "kind": "FOO", "attributes": attributes({"a": 1}) * 2}, said)

        assert record.observe() == record.observe()
        assert said == [
            "attribute 'a' stands twice; the last value counts",
            "kind is 'FOO', none of OpenTelemetry's span kinds; it is left out",
        ]

    @pytest.mark.parametrize(
        ("kind", "name"),
        [
            (3, "client"),
            ("3", "client"),
            ("SPAN_KIND_CLIENT", "client"),
            ("SpanKind.CLIENT", "client"),
            ("client", "client"),
            (0, ""),
            ("", ""),
            (None, ""),
            ("SPAN_KIND_UNSPECIFIED", ""),
            ("internal", "internal"),
            ("5", "consumer"),
        ],
    )
    def test_kinds_are_numbers_or_names(self, kind: object, name: str, said: list[str]) -> None:
        """OTLP wants numbers, and other producers write names."""
        assert record_of({**span(1), "kind": kind}, said).observe().otel_kind == name
        assert said == []

    @pytest.mark.parametrize("kind", [6, -1, "FOO", "٣", 2**70])
    def test_another_kind_is_left_out_and_told(self, kind: object, said: list[str]) -> None:
        """With what stood there."""
        assert record_of({**span(1), "kind": kind}, said).observe().otel_kind == ""
        assert [message.partition(" is ")[0] for message in said] == ["kind"]

    @pytest.mark.parametrize(
        ("code", "failed"),
        [
            (2, True),
            ("2", True),
            ("STATUS_CODE_ERROR", True),
            ("ERROR", True),
            ("Error", True),
            ("StatusCode.ERROR", True),
            (1, False),
            ("STATUS_CODE_OK", False),
            ("Unset", False),
            (0, False),
            (None, False),
        ],
    )
    def test_status_codes_are_numbers_or_names(self, code: object, failed: bool, said: list[str]) -> None:  # noqa: FBT001 - a parameter of the test
        """Only an error is one."""
        found = record_of({**span(1), "status": {"code": code, "message": "m"}}, said).observe()

        assert (found.error is not None) is failed
        assert said == []

    @pytest.mark.parametrize("code", [3, -1, "FATAL", "٢"])
    def test_another_status_code_is_read_as_unset(self, code: object, said: list[str]) -> None:
        """And told."""
        assert record_of({**span(1), "status": {"code": code}}, said).observe().error is None
        assert [message.partition(" is ")[0] for message in said] == ["status.code"]

    def test_log_records_are_events_of_the_span(self, said: list[str]) -> None:
        """In order of time among the others; a body that is no AnyValue is kept and told."""
        logs = (
            decode_log(b'{"timeUnixNano":"9","eventName":"late","body":{"stringValue":"b"}}'),
            decode_log(
                b'{"timeUnixNano":"1","attributes":[{"key":"event.name","value":{"stringValue":"early"}}],"body":"x"}'
            ),
        )
        written = {**span(1), "events": [{"name": "e", "timeUnixNano": "5"}]}
        found = record_of(written, said, logs=logs).observe()

        assert [(event.name, event.body) for event in found.events] == [("early", "x"), ("e", None), ("late", "b")]
        assert said == ["a log record's body is 'x', not an object that names its type; it is kept as it stands"]

    def test_bad_events_cost_themselves(self, said: list[str]) -> None:
        """The good ones are there."""
        written = {**span(1), "events": [5, {"name": "e", "timeUnixNano": "x"}]}

        assert [event.name for event in record_of(written, said).observe().events] == ["e"]
        assert len(said) == 2

    def test_content_can_be_searched_without_decoding(self, said: list[str]) -> None:
        """The span's bytes, and those of its logs."""
        log = decode_log(b'{"body":{"stringValue":"secret"},"attributes":[]}')
        parts = record_of(chat(1, "the question"), said, logs=(log,)).wire_bytes()

        assert any(b"the question" in part for part in parts)
        assert any(b"secret" in part for part in parts)


@pytest.mark.parametrize(
    ("fields", "is_remote"),
    [
        ({"flags": 769}, True),
        ({"flags": "768"}, True),
        ({"flags": 256}, False),
        ({"flags": 512}, False),
        ({"flags": {"a": 1}}, False),
        ({"flags": None}, False),
        ({}, False),
    ],
)
def test_flags_say_where_a_parent_is(fields: dict[str, Any], said: list[str], *, is_remote: bool) -> None:
    """Whatever stands there, in another process only where both bits say so."""
    written = {key: value for key, value in span(1).items() if key != "flags"}

    assert record_of(written | fields, said).has_remote_parent is is_remote
    assert said == []


class TestTimes:
    """Times in nanoseconds."""

    @pytest.mark.parametrize("value", [-5, "-5", "x", " 5", "1_0", 2**70])
    def test_what_is_no_time_is_read_as_unknown(self, value: str | int, said: list[str]) -> None:
        """And told with what stood there."""
        assert nanoseconds(value, "it", lambda _, message: said.append(message)) == 0
        assert said[0].startswith("it is ")
        assert "no time in nanoseconds since 1970" in said[0]

    @pytest.mark.parametrize("value", [None, "", 0, "0"])
    def test_a_missing_time_is_no_problem_here(self, value: str | int | None) -> None:
        """The integrity of the trace says that it is missing."""
        assert nanoseconds(value, "it", lambda *told: pytest.fail(f"{told}")) == 0

    def test_a_log_has_the_time_when_it_was_seen_at_least(self) -> None:
        """Zero where it has neither."""
        assert log_time(WireLog(time_unix_nano="5", observed_time_unix_nano=6)) == 5
        assert log_time(WireLog(time_unix_nano=0, observed_time_unix_nano=6)) == 6
        assert log_time(WireLog(time_unix_nano="x")) == 0


class TestDigests:
    """What makes two ways of writing the same span the same."""

    def test_writing_makes_no_difference(self) -> None:
        """Numbers or text, names or numbers, ids of either case, empty fields or none."""
        written = span(0xAB, parent=0xCD, attributes={"n": 5, "d": 1.5})
        other = {
            **written,
            "spanId": written["spanId"].upper(),
            "kind": "SPAN_KIND_INTERNAL",
            "startTimeUnixNano": int(written["startTimeUnixNano"]),
            "status": {"code": 0, "message": ""},
            "events": [],
            "droppedAttributesCount": 0,
        }
        assert span_digest(decode_span(compact(written))) == span_digest(decode_span(compact(other)))

    @pytest.mark.parametrize(
        "change",
        [
            {"name": "other"},
            {"kind": 2},
            {"startTimeUnixNano": START},
            {"endTimeUnixNano": START},
            {"attributes": attributes({"a": 1})},
            {"status": {"code": 2}},
            {"status": {"message": "x"}},
            {"events": [{"name": "e"}]},
            {"parentSpanId": "00000000000000ff"},
            {"droppedAttributesCount": 1},
        ],
    )
    def test_every_fact_makes_a_difference(self, change: dict[str, Any]) -> None:
        """A span that says something else is another span."""
        written = span(1)

        assert span_digest(decode_span(compact(written))) != span_digest(decode_span(compact(written | change)))

    @given(spans())
    def test_the_same_span_has_the_same_digest(self, written: dict[str, Any]) -> None:
        """Whichever order its keys have."""
        backwards = dict(reversed(written.items()))

        assert span_digest(decode_span(compact(written))) == span_digest(decode_span(compact(backwards)))


@given(st.binary(max_size=60))
def test_any_bytes_are_a_span_or_are_none(data: bytes) -> None:
    """What is none is told as a bad span."""
    said: list[str] = []
    if read_span(data, lambda kind, _: said.append(kind)) is None:
        assert said[-1] == "bad-span"
