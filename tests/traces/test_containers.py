"""Lines that a container's runtime wrapped."""

from __future__ import annotations

import json

import pytest
from foreign_forms import docker, kubernetes
from hypothesis import given
from hypothesis import strategies as st
from otlp_lines import agent, batch, line
from reading import read

from pixie_otel.traces.containers import container_form, unwrapped
from pixie_otel.traces.limits import ReadLimits

LONG = batch(agent(1, "x" * 50_000))


def text_of(data: bytes, size: int = 1000, **limits: int) -> bytes:
    """Unwrap a text that comes in chunks."""
    chunks = (data[at : at + size] for at in range(0, len(data), size))
    return b"".join(unwrapped(chunks, ReadLimits(**limits), lambda _: None))


def wrapped(log: str, **fields: object) -> str:
    """Give a line as Docker writes it."""
    return json.dumps({"log": log, **fields}) + "\n"


def test_line_numbers_stay_what_they_were() -> None:
    """A piece that is not the last gives an empty line, so that a problem is found where it is said to be."""
    reading = read(docker([LONG]) + wrapped('{"resourceSpans": [\n', stream="stdout").encode())

    assert len(reading.traces) == 1
    assert reading.problem("bad-line").line == docker([LONG]).count(b"\n") + 1


def test_text_beside_traces_is_told_once() -> None:
    """A program also writes other things, and its log is no worse for that."""
    reading = read(kubernetes([LONG, LONG]))

    assert reading.kinds == {"log-text": 1, "duplicate-span": 1}
    (source,) = reading.report.sources.values()
    assert source.lines.skipped_by_kind["log-text"] == 9
    assert source.forms == {"a Kubernetes log": 17}


def test_a_document_over_many_lines_is_read() -> None:
    """Each of its lines was wrapped."""
    texts = json.dumps(LONG, indent=2).splitlines()
    reading = read("\n".join(f"2026-11-30T12:00:00Z stdout F {text}" for text in texts))

    assert len(reading.traces) == 1
    assert not reading.kinds


@pytest.mark.parametrize(
    ("fields", "is_last"),
    [({"logtag": "P"}, False), ({"logtag": "F"}, True), ({"_p": "P"}, False), ({"_p": "F"}, True), ({}, True)],
)
def test_fluent_bit_marks_pieces(fields: dict[str, str], *, is_last: bool) -> None:
    """By a tag, for it takes the newline away."""
    first, second = wrapped("one", stream="stdout", **fields), wrapped("two\n", stream="stdout")

    assert text_of((first + second).encode()) == (b"one\ntwo\n" if is_last else b"\nonetwo\n")


def test_streams_of_pods_do_not_mix() -> None:
    """Pieces of two containers may stand in turns."""
    lines = [
        wrapped(text, stream="stdout", logtag=tag, kubernetes={"pod_name": pod, "container_name": "main"})
        for text, tag, pod in (("a1", "P", "a"), ("b1", "P", "b"), ("a2", "F", "a"), ("b2", "F", "b"))
    ]

    assert text_of("".join(lines).encode()) == b"\n\na1a2\nb1b2\n"


def test_what_is_not_wrapped_stays() -> None:
    """Torn lines, other objects, and everything else."""
    data = b'torn"}\n{"log": 5}\n{"a": 1}\n{"log": "x\n\n'

    assert text_of(data) == data


def test_the_last_piece_may_be_missing() -> None:
    """Its writer was cut off; what is there is a torn line."""
    cut = kubernetes([LONG]).rpartition(b"2026-11-30T12:00:00.123456789Z stdout F")[0]
    reading = read(cut)

    assert "torn-last-line" in reading.kinds


def test_a_line_for_ever_is_not_held() -> None:
    """Neither a line nor the sum of its pieces."""
    piece = b"2026-11-30T12:00:00Z stdout P " + b"x" * 100 + b"\n"

    assert text_of(piece * 100, max_line_bytes=1000).count(b"x") == 10_000
    assert text_of(b"y" * 10_000, max_line_bytes=1000) == b"y" * 10_000


@pytest.mark.parametrize(
    ("head", "form"),
    [
        (docker([LONG])[:4096], "a Docker log"),
        (kubernetes([LONG])[:4096], "a Kubernetes log"),
        (b'{"time":"2026","stream":"stdout","log":"{', "a Docker log"),
        (b'{"date": 1.5, "stream": "stderr", "_p": "F", "log": "x"}', "a Docker log"),
        (b'{"level":"info","log":"x"}', None),
        (line(agent(1)).encode()[:4096], None),
        (b'{"resourceSpans":[{"scope":"\\n{\\"log\\":\\"x"}]}', None),
        (b"", None),
    ],
)
def test_wrapping_is_recognised(head: bytes, form: str | None) -> None:
    """By how lines begin."""
    assert container_form(head) == form


@given(st.binary(max_size=300), st.integers(1, 50))
def test_any_bytes_survive(data: bytes, size: int) -> None:
    """However they come in chunks."""
    whole = text_of(data, 10_000)

    assert text_of(data, size) == whole
    if container_form(data) is None and b'"log"' not in data:
        assert whole == data
