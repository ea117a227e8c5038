"""Spans that were written when they started."""

from __future__ import annotations

from typing import Any

import pytest
from otlp_lines import line, span
from reading import read
from sdk_spans import sdk_span

from pixie_otel.exporters.otlp_json import encode
from pixie_otel.exporters.readback import record, traces

NO_PARENT = "0" * 16


def copied(number: int, of: int, parent: int | None = None, **fields: Any) -> dict[str, Any]:
    """Make the copy that Logfire writes when a span starts."""
    attributes = {
        "logfire.span_type": "pending_span",
        "logfire.pending_parent_id": NO_PARENT if parent is None else f"{parent:016x}",
    }
    return span(number, parent=of, ms=0, attributes=attributes, **{"start_ms": of, "name": f"span {of}", **fields})


def tree(*spans: dict[str, Any]) -> tuple[list[tuple[str, str | None]], dict[str, int]]:
    """Read spans, and give what is in the trace, with the problems by kind."""
    reading = read(line(*spans))
    (trace,) = reading.traces
    found = [(item.span_id[-2:], item.parent_span_id and item.parent_span_id[-2:]) for item in trace.spans]
    return found, {kind: count for kind, count in reading.kinds.items() if kind.endswith("-span")}


def test_copies_of_spans_that_are_there_are_left_out() -> None:
    """They are no spans, and are accounted for."""
    spans = [copied(0x11, 1), copied(0x12, 2, 1), span(2, parent=1), span(1, ms=30)]

    assert tree(*spans) == tree(*reversed(spans)) == ([("01", None), ("02", "01")], {"pending-span": 1})
    assert read(line(*spans)).report.duplicate_spans == 2
    message = read(line(*spans)).problem("pending-span").message
    assert message.startswith("2 copies of spans were left out")
    assert read(line(*spans[1:])).problem("pending-span").message.startswith("1 copy of a span was left out")


def test_a_copy_stands_in_for_what_is_not_there() -> None:
    """The program ended first: what was in the span hangs below the copy, which hangs where the span would."""
    spans = [copied(0x11, 1), copied(0x12, 2, 1), span(3, parent=2)]

    assert tree(*spans) == tree(*reversed(spans))
    assert tree(*spans) == ([("01", None), ("02", "01"), ("03", "02")], {"unfinished-span": 1})
    message = read(line(*spans)).problem("unfinished-span").message
    assert message.startswith("2 spans are there only as recorded at the start")
    assert "'span 1' 0000000000000001" in message


def test_several_copies_of_one_span_stand_in_once() -> None:
    """Exporters repeat what they are not sure to have sent."""
    assert tree(copied(0x11, 1), copied(0x12, 1)) == ([("01", None)], {"pending-span": 1, "unfinished-span": 1})


@pytest.mark.parametrize(
    "attributes",
    [
        {"logfire.span_type": "pending_span"},
        {"logfire.pending_parent_id": NO_PARENT, "text": "pending_span"},
        {"logfire.span_type": "pending_span", "logfire.pending_parent_id": 7},
        {"logfire.span_type": "log", "logfire.pending_parent_id": NO_PARENT, "text": "pending_span"},
    ],
)
def test_other_spans_are_kept(attributes: dict[str, object]) -> None:
    """What is not marked as a copy is none."""
    found, kinds = tree(span(1), span(2, parent=1, ms=0, attributes=attributes))

    assert found == [("01", None), ("02", "01")]
    assert not kinds


def test_what_was_put_in_its_place_before_is_kept() -> None:
    """A file made of what was read has such spans where they belong, still with what Logfire wrote on them."""
    placed = copied(2, 1, 1)

    assert tree(span(1, ms=30), placed) == ([("01", None), ("02", "01")], {})


def test_a_span_that_takes_time_or_has_no_parent_is_no_copy() -> None:
    """A copy names the span that it is of, and takes no time."""
    marks = {"logfire.span_type": "pending_span", "logfire.pending_parent_id": NO_PARENT}

    assert tree(span(1), span(2, parent=1, attributes=marks))[0] == [("01", None), ("02", "01")]
    assert tree(span(2, ms=0, attributes=marks))[0] == [("02", None)]


def test_bad_attributes_are_no_error() -> None:
    """A copy that cannot be decoded is a span like any other."""
    text = line(span(1), copied(0x11, 1)).replace('"boolValue"', "")
    bad = text.replace('{"stringValue":"pending_span"}', '{"stringValue":"pending_span"},"x":"pending_span"').replace(
        f'"stringValue":"{NO_PARENT}"', '"arrayValue":7,"stringValue":"0"'
    )

    assert len(read(bad).traces[0].spans) in (1, 2)


def test_in_memory_it_is_the_same() -> None:
    """Copies are told apart there as in a file."""
    marks = {"logfire.span_type": "pending_span", "logfire.pending_parent_id": NO_PARENT}
    whole = sdk_span(number=1)
    times = {"parent": whole.context, "start_time": whole.start_time, "end_time": whole.start_time}
    held = [record(encode(whole)), record(encode(sdk_span(marks, number=2, **times)))]
    (trace,) = traces(held).values()

    assert [item.span_id[-2:] for item in trace.spans] == ["01"]
    assert [problem.kind for problem in trace.problems] == ["pending-span"]
