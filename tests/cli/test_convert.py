"""`pixie-otel convert`."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any, TextIO

import pytest
from command_calls import Pixie
from foreign_forms import jaeger, protobuf
from otlp_lines import agent, batch, chat, line, span, write
from reading import read

from pixie_otel.runs.interrupted import Terminated


def test_writes_clean_lines(pixie: Pixie, traces: Path, folder: Path) -> None:
    """What is read of them is what was read before, and what was written is said."""
    done = pixie("convert", traces, "-o", "out.jsonl")

    assert done.code == 0
    assert not done.out
    assert done.err == "Wrote 3 traces with 5 spans to out.jsonl.\n"
    assert read((folder / "out.jsonl").read_bytes()).traces == read(traces.read_bytes()).traces


def test_merges_files_of_any_form(pixie: Pixie, folder: Path) -> None:
    """And says what they were."""
    (folder / "jaeger.json").write_bytes(jaeger([batch(agent(1), chat(2, parent=1))]))
    (folder / "export.pb").write_bytes(protobuf([batch(agent(3, trace=2))]))
    done = pixie("convert", folder, "-o", "../out.jsonl", "--force")

    assert done.code == 0
    assert "Wrote 2 traces with 3 spans" in done.err
    said = " ".join(done.err.split())
    assert "jaeger.json: converted from a Jaeger JSON export" in said
    assert "export.pb: converted from OTLP protobuf" in said


def test_writes_to_stdout(pixie: Pixie, traces: Path, folder: Path) -> None:
    """As UTF-8, whatever the terminal's encoding is; talk goes to stderr."""
    pixie("convert", traces, "-o", "out.jsonl")
    done = pixie("convert", traces, "-o", "-")

    assert done.out == (folder / "out.jsonl").read_text(encoding="utf-8")
    assert "to standard output" in done.err


def test_a_reader_that_has_seen_enough(
    pixie: Pixie, traces: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """A pipe that is closed is no error, and nothing is said of what nobody wanted."""

    class Closed(io.BytesIO):
        def write(self, _data: object) -> int:
            raise BrokenPipeError

    with (folder / "nowhere").open("w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", _WithBuffer(stream, Closed()))
        done = pixie("convert", traces, "-o", "-")

    assert done.code == 0
    assert not done.err


class _WithBuffer:
    """A stream with bytes of its own below it."""

    def __init__(self, stream: TextIO, buffer: io.BytesIO) -> None:
        self.buffer = buffer
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def test_packs_where_the_name_says_so(pixie: Pixie, traces: Path, folder: Path) -> None:
    """The same traces are the same bytes."""
    pixie("convert", traces, "-o", "out.jsonl")
    pixie("convert", traces, "-o", "a.jsonl.gz")
    pixie("convert", "a.jsonl.gz", "-o", "b.jsonl.gz")

    assert (folder / "a.jsonl.gz").read_bytes() == (folder / "b.jsonl.gz").read_bytes()
    assert gzip.decompress((folder / "a.jsonl.gz").read_bytes()) == (folder / "out.jsonl").read_bytes()


def test_replaces_nothing_unless_told_to(pixie: Pixie, traces: Path, folder: Path) -> None:
    """Not even its own input, which may be replaced with --force."""
    before = read(traces.read_bytes()).traces
    refused = pixie("convert", traces, "-o", traces)

    assert refused.code == 2
    assert "--force" in refused.err
    assert pixie("convert", traces, "-o", traces, "--force").code == 0
    assert read(traces.read_bytes()).traces == before


def test_nothing_is_written_where_something_goes_wrong(pixie: Pixie, folder: Path) -> None:
    """What was there stays, and no temporary file is left."""
    path = write(folder / "torn.jsonl", line(agent(1)), '{"resourceSpans": [\n')
    (folder / "out.jsonl").write_text("mine")

    assert pixie("convert", path, "-o", "out.jsonl", "--force", "--strict").code == 3
    assert (folder / "out.jsonl").read_text() == "mine"
    assert sorted(found.name for found in folder.iterdir()) == ["out.jsonl", "torn.jsonl"]


def test_says_what_was_wrong(pixie: Pixie, folder: Path) -> None:
    """With file and line, beside what could be converted."""
    done = pixie("convert", write(folder / "torn.jsonl", line(agent(1)), '{"resourceSpans": [\n'), "-o", "out.jsonl")

    assert done.code == 0
    assert "torn.jsonl:2" in done.err
    assert "Wrote 1 trace with 1 span" in done.err


def test_says_what_was_left_out(pixie: Pixie, folder: Path) -> None:
    """Spans that cannot be read or came twice, log records of no trace, metrics."""
    log = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "x"}}]}]}]}
    bad = batch(span(1))
    bad["resourceSpans"][0]["scopeSpans"][0]["spans"].append(5)
    lines = [json.dumps(bad) + "\n", line(span(1)), json.dumps(log) + "\n", '{"resourceMetrics": [{}, {}]}\n']
    done = pixie("convert", write(folder / "all.jsonl", *lines), "-o", "out.jsonl")

    assert (
        "Left out: 1 span that cannot be read; 1 span that stood there twice; 1 log record of no trace; metrics of 2 "
        "resources."
    ) in " ".join(done.err.split())


class TestSplitting:
    """`--split-by trace`."""

    def test_each_trace_has_a_file(self, pixie: Pixie, traces: Path, folder: Path) -> None:
        """Named by its id, for its owner alone."""
        assert pixie("convert", traces, "-o", "split", "--split-by", "trace").code == 0
        files = sorted((folder / "split").iterdir())

        assert [path.name for path in files] == [f"{number:032x}.jsonl" for number in (1, 2, 3)]
        assert [len(read(path.read_bytes()).traces) for path in files] == [1, 1, 1]
        if sys.platform != "win32":
            assert stat.S_IMODE(files[0].stat().st_mode) == 0o600

    def test_an_id_is_never_a_path(self, pixie: Pixie, folder: Path) -> None:
        """Whatever stands in its place."""
        path = write(folder / "odd.jsonl", line(span(1, traceId="../../etc/passwd")), line(span(2, traceId="CON")))
        pixie("convert", path, "-o", "split", "--split-by", "trace")

        assert all(found.name.startswith("trace-") for found in (folder / "split").iterdir())
        assert len(list((folder / "split").iterdir())) == 2

    def test_a_folder_with_something_in_it_needs_force(self, pixie: Pixie, traces: Path, folder: Path) -> None:
        """What else is in it stays."""
        (folder / "split").mkdir()
        (folder / "split" / "notes.txt").write_text("mine")

        assert pixie("convert", traces, "-o", "split", "--split-by", "trace").code == 2
        assert pixie("convert", traces, "-o", "split", "--split-by", "trace", "--force").code == 0
        assert len(list((folder / "split").iterdir())) == 4

    def test_all_files_or_none(self, pixie: Pixie, folder: Path) -> None:
        """No half of a split, and nothing beside it."""
        path = write(folder / "torn.jsonl", line(agent(1)), '{"resourceSpans": [\n')

        assert pixie("convert", path, "-o", "split", "--split-by", "trace", "--strict").code == 3
        assert [found.name for found in folder.iterdir()] == ["torn.jsonl"]


class TestChoice:
    """Which traces, and what of them."""

    def test_traces_are_chosen_as_by_show(self, pixie: Pixie, traces: Path, folder: Path) -> None:
        """By id, service, time, conditions, and number."""
        for arguments, count in (
            (("--trace", f"{1:032x}"), 1),
            (("--where", "kind=llm"), 2),
            (("--service", "support-bot", "--limit", "2"), 2),
            (("--since", "2025-11-30", "--until", "2025-12-01"), 3),
        ):
            assert pixie("convert", traces, "-o", "out.jsonl", "--force", *arguments).code == 0
            assert len(read((folder / "out.jsonl").read_bytes()).traces) == count

    def test_parts_are_selected(self, pixie: Pixie, traces: Path, folder: Path) -> None:
        """With what is below them."""
        assert pixie("convert", traces, "-o", "out.jsonl", "--select", "kind:llm").code == 0
        assert [
            node.span.name for trace in read((folder / "out.jsonl").read_bytes()).traces for node in trace.walk()
        ] == ["ChatCompletion", "ChatCompletion"]

    def test_content_is_dropped(self, pixie: Pixie, traces: Path, folder: Path) -> None:
        """What was asked and answered."""
        assert pixie("convert", traces, "-o", "out.jsonl", "--drop-content").code == 0
        text = (folder / "out.jsonl").read_text(encoding="utf-8")

        assert "France" not in text
        assert "gpt-4o-mini" in text

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("--trace", "ffffffff"), "none of 3 traces fits --trace ffffffff"),
            (("--select", "tool:x"), "in none of 3 traces does --select tool:x pick anything"),
        ],
    )
    def test_nothing_to_write_is_said(self, pixie: Pixie, traces: Path, arguments: tuple[str, ...], said: str) -> None:
        """With 3, and no file is made."""
        done = pixie("convert", traces, "-o", "out.jsonl", *arguments)

        assert done.code == 3
        assert said in done.err
        assert not (traces.parent / "out.jsonl").exists()

    def test_no_trace_is_said(self, pixie: Pixie, folder: Path) -> None:
        """With what is there instead."""
        done = pixie("convert", write(folder / "empty.jsonl", "{}\n"), "-o", "out.jsonl")

        assert done.code == 3
        assert "no trace was found in " in done.err
        assert "empty.jsonl:1: this JSON holds no OTLP" in done.err

    def test_a_file_of_logs_alone_is_said(self, pixie: Pixie, folder: Path) -> None:
        """Its spans are in another file."""
        log = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"traceId": "a" * 32, "body": {"stringValue": "x"}}]}]}]}
        done = pixie("convert", write(folder / "logs.jsonl", json.dumps(log) + "\n"), "-o", "out.jsonl")

        assert done.code == 3
        assert "1 log record and no span; give the file with the spans as well" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("traces.jsonl",), "no -o was given"),
        (("-o", "out.jsonl"), "no PATH was given"),
        (("traces.jsonl", "-o", "-", "--json"), "--json writes there, too"),
        (("traces.jsonl", "-o", "-", "--split-by", "trace"), "--split-by needs a folder"),
        (("traces.jsonl", "-o", "x", "--split-by", "session"), "--split-by is 'session'"),
        (("traces.jsonl", "-o", "traces.jsonl", "--split-by", "trace"), "this is no folder"),
        (("traces.jsonl", "-o", "."), "this is a folder"),
        (("traces.jsonl", "-o", os.devnull, "--force"), "this is no regular file"),
        (("traces.jsonl", "-o", "nowhere/out.jsonl"), "there is no folder nowhere"),
        (("traces.jsonl", "-o", "x", "--limit", "0"), "--limit is 0"),
        (("traces.jsonl", "-o", "x", "--max-line-bytes", "0"), "--max-line-bytes is 0"),
        (("traces.jsonl", "-o", "x", "--select", "what"), "unknown selector"),
    ],
)
def test_wrong_usage_is_said_before_anything_is_read(
    pixie: Pixie, traces: Path, arguments: tuple[str, ...], said: str
) -> None:
    """With 2."""
    done = pixie("convert", *arguments)

    assert done.code == 2
    assert said in done.err


def test_answers_in_json(pixie: Pixie, traces: Path) -> None:
    """What was written, and the account of the reading."""
    done = pixie("convert", traces, "-o", "out.jsonl", "--json", "--max-line-bytes", "1000000")
    found = json.loads(done.out)

    assert not done.err
    assert found["out"] == "out.jsonl"
    assert (found["traces"], found["spans"], found["log_records"]) == (3, 5, 0)
    assert found["bytes"] == (traces.parent / "out.jsonl").stat().st_size
    assert found["reading"]["spans_used"] == 5


@pytest.mark.parametrize(("interrupt", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_an_interrupt_leaves_what_was_there(
    pixie: Pixie, traces: Path, monkeypatch: pytest.MonkeyPatch, interrupt: type[KeyboardInterrupt], code: int
) -> None:
    """And ends with a code of its own."""

    def interrupted(*_: object) -> None:
        raise interrupt

    monkeypatch.setattr("pixie_otel.cli.targets._write_lines", interrupted)
    for out, said in (("out.jsonl", "Interrupted; out.jsonl is as it was.\n"), ("-", "Interrupted.\n")):
        done = pixie("convert", traces, "-o", out)

        assert done.code == code
        assert done.err == said
    assert [path.name for path in traces.parent.iterdir()] == ["traces.jsonl"]


def test_a_full_disk_is_said(pixie: Pixie, traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 4, and nothing is left behind."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pixie_otel.cli.targets._write_lines", full)
    done = pixie("convert", traces, "-o", "out.jsonl")

    assert done.code == 4
    assert "out.jsonl cannot be written: No space left on device" in done.err
    assert [path.name for path in traces.parent.iterdir()] == ["traces.jsonl"]


def test_shows_how_far_it_is(pixie: Pixie, traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where somebody can see it, and it is gone in the end."""
    monkeypatch.setattr("pixie_otel.cli.console.Console.shows_progress", True)
    shown = pixie("convert", traces, "-o", "out.jsonl").err

    assert "Reading" in shown
    assert "Converted 1 " in shown
    assert "\x1b[2KWrote 3 traces" in shown
    assert "Reading" not in pixie("convert", traces, "-o", "out.jsonl", "--force", "--no-progress").err
