"""The shapes that OTLP documents come in, brought down to one."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from otlp_lines import attributes, batch, span
from otlp_strategies import batches, compact
from reading import read

from pixie_otel.traces.shapes import describe_document, groups

SPAN = span(1)
RESOURCE = {"attributes": attributes({"service.name": "support-bot"})}
SCOPE = {"name": "scope"}
RESOURCE_SPANS = {"resource": RESOURCE, "scopeSpans": [{"scope": SCOPE, "spans": [SPAN]}]}
LOG = {"traceId": "a", "body": {"stringValue": "x"}}
RESOURCE_LOGS = {"resource": RESOURCE, "scopeLogs": [{"scope": SCOPE, "logRecords": [LOG]}]}


@pytest.fixture
def said() -> list[str]:
    """Collect what is said."""
    return []


def found_in(document: object, said: list[str] | None = None) -> list[tuple[Any, Any, list[Any], bool, int]]:
    """Give the groups of a document, decoded."""

    def complain(kind: str, message: str) -> None:
        assert said is not None, message
        said.append(f"{kind}: {message}")

    data = document if isinstance(document, bytes) else compact(document)
    return [
        (
            json.loads(group.resource),
            json.loads(group.scope),
            [*map(json.loads, group.records)],
            group.logs,
            group.metrics,
        )
        for group in groups(data, complain)
    ]


@pytest.mark.parametrize(
    "document",
    [
        {"resourceSpans": [RESOURCE_SPANS]},
        {"resource_spans": [{"resource": RESOURCE, "scope_spans": [{"scope": SCOPE, "spans": [SPAN]}]}]},
        {"batches": [RESOURCE_SPANS]},
        {"trace": {"batches": [RESOURCE_SPANS]}},
        {"result": {"resourceSpans": [RESOURCE_SPANS]}},
        {"data": [{"trace": {"resourceSpans": [RESOURCE_SPANS]}}]},
        {"log": json.dumps({"resourceSpans": [RESOURCE_SPANS]}) + "\n", "stream": "stdout"},
        {"resourceSpan": RESOURCE_SPANS},
        {
            "resourceSpans": [
                {
                    "resource": RESOURCE,
                    "instrumentationLibrarySpans": [{"instrumentationLibrary": SCOPE, "spans": [SPAN]}],
                }
            ]
        },
        [{"resourceSpans": [RESOURCE_SPANS]}],
        [[RESOURCE_SPANS]],
        RESOURCE_SPANS,
        {**SPAN, "resource": RESOURCE, "scope": SCOPE},
    ],
)
def test_every_shape_holds_the_same_span(document: object) -> None:
    """Wrappers, lists, older names and bare parts make no difference, and are no problem."""
    ((resource, scope, (record,), logs, metrics),) = found_in(document)

    assert (resource, scope, logs, metrics) == (RESOURCE, SCOPE, False, 0)
    assert record.items() >= SPAN.items()


@pytest.mark.parametrize(
    "document",
    [
        {"resourceLogs": [RESOURCE_LOGS]},
        {"resource_logs": [{"resource": RESOURCE, "scope_logs": [{"scope": SCOPE, "log_records": [LOG]}]}]},
        {
            "resourceLogs": [
                {
                    "resource": RESOURCE,
                    "instrumentationLibraryLogs": [{"instrumentationLibrary": SCOPE, "logRecords": [LOG]}],
                }
            ]
        },
        RESOURCE_LOGS,
    ],
)
def test_log_records_come_in_the_same_shapes(document: object) -> None:
    """They are marked as what they are."""
    assert found_in(document) == [(RESOURCE, SCOPE, [LOG], True, 0)]


def test_a_scope_of_its_own_has_no_resource() -> None:
    """A bare ScopeSpans is read all the same."""
    assert found_in({"scope": SCOPE, "spans": [SPAN]}) == [(None, SCOPE, [SPAN], False, 0)]


def test_everything_in_one_document_is_found() -> None:
    """In the document's order: spans in both ways of writing, logs, metrics."""
    document = {
        "resourceSpans": [RESOURCE_SPANS],
        "resource_spans": [RESOURCE_SPANS],
        "resourceLogs": [RESOURCE_LOGS],
        "resourceMetrics": [1, 2],
    }
    assert [(len(records), logs, metrics) for *_, records, logs, metrics in found_in(document)] == [
        (1, False, 0),
        (1, False, 0),
        (1, True, 0),
        (0, False, 2),
    ]


@pytest.mark.parametrize(
    "document",
    [{"resource_spans": []}, {"resourceSpans": None}, {"resourceSpans": [{"scopeSpans": []}]}, {"batches": []}],
)
def test_otlp_that_holds_nothing_is_otlp(document: object) -> None:
    """It is no problem, as exporters write such lines."""
    assert found_in(document) == [(None, None, [], False, 0)]


@pytest.mark.parametrize("document", [{}, [], None, 5, "x", [5, {}], {"spans": []}, {"log": "hello"}, {"trace": 5}])
def test_what_is_no_otlp_gives_nothing(document: object) -> None:
    """And nothing is said of its parts: it is reported as a whole."""
    assert found_in(document) == []


def test_keys_of_a_record_are_renamed_and_its_content_is_left(said: list[str]) -> None:
    """What is within is looked at when it is decoded, and the user's data is never touched."""
    written = {"trace_id": "a", "span_id": "b", "attributes": {"trace_id": "mine"}}
    ((*_, (record,), _, _),) = found_in({"scopeSpans": [{"spans": [written]}]}, said)

    assert record == {"traceId": "a", "spanId": "b", "attributes": {"trace_id": "mine"}}
    assert said == []


def test_parts_of_the_wrong_type_cost_themselves(said: list[str]) -> None:
    """They are told once a kind, with how many there were; spans that are none are handed on to be counted."""
    document = [
        {"resourceSpans": [5, RESOURCE_SPANS, {"scopeSpans": [None, {"spans": 7}, {"spans": [SPAN, 8]}]}]},
        {"foo": 1},
        "x",
    ]
    found = found_in(document, said)

    assert [record for _, _, records, _, _ in found for record in records] == [SPAN, SPAN, 8]
    assert said == [
        "bad-shape: resourceSpans[0] is 5, not an object; it is left out (the first of 3)",
        "not-otlp: an object with 'foo' beside OTLP is none; it is left out (the first of 2)",
    ]


def test_json_that_is_not_quite_json_is_mended(said: list[str]) -> None:
    """The whole document is parsed only then."""
    data = (
        compact(batch(span(1, name="NAME"))).replace(b'"NAME"', b'"a\\ud800"').replace(b'"flags":256', b'"flags":NaN')
    )
    ((*_, (record,), _, _),) = found_in(data, said)

    assert record["name"] == "a\ufffd"
    assert [text.partition(":")[0] for text in said] == ["bad-value", "lone-surrogate"]


def test_a_key_that_is_no_text_is_mended() -> None:
    """It shows only when the object is opened."""
    assert found_in(b'{"\xff":1,"resourceSpans":[{"scopeSpans":[{"spans":[{"\xff":1}]}]}]}', [])[0][2] == [
        {"\ufffd": 1}
    ]


def test_wrappers_are_unwrapped_so_many_times() -> None:
    """Nobody wraps traces a hundred times, but a file may."""
    document: object = {"resourceSpans": [RESOURCE_SPANS]}
    for _ in range(10):
        document = {"data": document}
    assert len(found_in(document)) == 1
    for _ in range(100):
        document = {"data": document}
    assert found_in(document) == []


@pytest.mark.parametrize("text", ["{", '{"a":}', "{" * 5000])
def test_text_in_a_wrapper_that_only_looks_like_json(text: str) -> None:
    """It is no document."""
    assert found_in({"log": text}) == []


@given(batches(), st.integers(0, 3))
def test_a_document_of_the_common_shape_is_found_whole(document: dict[str, Any], depth: int) -> None:
    """Every record is there, in order, whatever is around it."""
    wrapped: object = document
    for _ in range(depth):
        wrapped = [{"data": wrapped}]
    spans = [
        record
        for resource in document.get("resourceSpans", [])
        for scope in resource["scopeSpans"]
        for record in scope["spans"]
    ]
    assert [record for *_, records, logs, _ in found_in(wrapped) for record in records if not logs] == spans


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([{"traceID": "a", "spans": []}], "a Jaeger JSON export"),
        ({"name": "a", "context": {"trace_id": "0x1", "span_id": "0x2"}}, "ConsoleSpanExporter output"),
        ({"context": {"trace_id": "a"}, "span_kind": "LLM", "parent_id": None}, "a Phoenix span export"),
        ({"log": "hello", "stream": "stdout"}, "a Docker log wrapper"),
        ({"foo": [[[[[1]]]]]}, None),
        ([], None),
    ],
)
def test_what_else_a_document_is_can_be_said(document: object, words: str | None) -> None:
    """By its keys as they were written."""
    assert describe_document(compact(document)) == words


@pytest.mark.parametrize("data", [b"[NaN]", b'{"a":"\\ud800"}', b"[" * 90 + b"]" * 90, b'"' + b"x" * 10_000 + b'"'])
def test_any_document_can_be_described_or_not(data: bytes) -> None:
    """However it is written."""
    assert describe_document(data) is None


class TestTempo:
    """What Tempo's API gives: OTLP as protobuf's own JSON has it, with ids in base64."""

    LINKED: ClassVar[dict[str, Any]] = span(2, parent=1) | {"links": [{"traceId": "AAAAAAAAAAAAAAAAAAAAAQ==", "a": 1}]}

    @staticmethod
    def encoded(value: dict[str, Any]) -> dict[str, Any]:
        """Give a span with its ids in base64."""
        ids = {key: value[key] for key in ("traceId", "spanId", "parentSpanId") if key in value}
        return value | {key: base64.b64encode(bytes.fromhex(identity)).decode() for key, identity in ids.items()}

    @pytest.mark.parametrize("wrap", [lambda rows: {"batches": rows}, lambda rows: {"trace": {"resourceSpans": rows}}])
    def test_ids_become_hex(self, wrap: Callable[[list[Any]], object]) -> None:
        """Base64 is how they are to be there, so there is nothing to tell, and it is named what they were."""
        spans = [self.encoded(span(1)), self.encoded(self.LINKED)]
        (group,) = groups(compact(wrap([{"scopeSpans": [{"spans": spans}]}])), never)

        linked = self.LINKED | {"links": [{"traceId": f"{1:032x}", "a": 1}]}
        assert [json.loads(record) for record in group.records] == [span(1), linked]
        assert group.form == "a trace of Tempo's"

    def test_reading_it_strictly_is_no_error(self) -> None:
        """As it would be with ids in base64 elsewhere."""
        document = {"batches": batch(self.encoded(span(1)))["resourceSpans"]}
        reading = read(compact(document), strict=True)

        assert reading.traces == read(compact(batch(span(1)))).traces

    @pytest.mark.parametrize("record", [5, {}, {"traceId": 5, "links": "x"}, {"traceId": "x", "links": [5, {}]}])
    def test_what_has_no_such_ids_stays(self, record: object) -> None:
        """Whatever is wrong with it is told when it is read."""
        (group,) = groups(compact({"batches": [{"scopeSpans": [{"spans": [record]}]}]}), never)

        assert [json.loads(found) for found in group.records] == [record]


def never(kind: str, message: str) -> None:
    """Fail: there is nothing to tell."""
    raise AssertionError(f"{kind}: {message}")
