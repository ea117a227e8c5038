"""Runs and traces as JSON documents."""

from __future__ import annotations

import json
from pathlib import Path

from case_results import case_result
from otlp_lines import agent, chat, line, span, write

from pixie_otel.errors import ConfigError
from pixie_otel.reports.run_document import error_document, run_document
from pixie_otel.reports.trace_document import trace_document
from pixie_otel.runs.verdict import decide
from pixie_otel.runs.writer import RunWriter
from pixie_otel.traces.reader import read_traces


def test_a_run(tmp_path: Path) -> None:
    """A run's document says what it comes to, where it is, and what was found."""
    with RunWriter(tmp_path) as writer:
        writer.write(case_result("a", "failed"))
        run = writer.finish(decide(writer.summary), counts={"read": 1})

    document = json.loads(run_document(run))

    assert document["schema"] == 1
    assert document["exit_code"] == 1
    assert document["passed"] is False
    assert document["status"] == "finished"
    assert document["run_id"] == run.id
    assert document["path"] == str(run.path)
    assert document["counts"] == {"read": 1}
    assert document["summary"]["outcomes"]["failed"] == 1


def test_an_error() -> None:
    """An error's document says what went wrong, whatever characters that takes."""
    document = json.loads(error_document(ConfigError("bad \ud800 name"), 2))

    assert document == {
        "schema": 1,
        "exit_code": 2,
        "passed": False,
        "error": {"type": "ConfigError", "message": "bad \ufffd name"},
    }


def test_a_trace(tmp_path: Path) -> None:
    """A trace's document has its spans in order with what was recorded, and leaves out what was not."""
    path = write(tmp_path / "t.jsonl", line(agent(1), chat(2, parent=1), span(3, parent=9, error="late")))
    (trace,) = read_traces(path)

    document = json.loads(trace_document(trace))

    assert [found["span_id"] for found in document["spans"]] == [f"{n:016x}" for n in (1, 2, 3)]
    assert document["spans"][0]["input"] == "What is the capital of France?"
    assert document["spans"][1]["input_messages"] == [{"role": "user", "content": "What is the capital of France?"}]
    assert document["spans"][2]["error"] == {"message": "late", "type": None}
    assert "output" not in document["spans"][2]
    assert [problem["kind"] for problem in document["problems"]]


def test_a_call_that_two_spans_recorded(tmp_path: Path) -> None:
    """The document has the calls as they count, and the spans that do not, with the rule."""
    path = write(tmp_path / "t.jsonl", line(chat(1, name="ChatOpenAI"), chat(2, parent=1, name="ChatCompletion")))
    (trace,) = read_traces(path)
    document = json.loads(trace_document(trace))

    (call,) = document["llm_calls"]
    assert (call["span_id"], call["model"], call["output"]) == (f"{1:016x}", "gpt-4o-mini", "Paris.")
    assert call["notes"][0].startswith(f"one call with span {2:016x} (ChatCompletion)")
    assert document["repeats"] == [
        {
            "rule": "wrapper",
            "trace_id": f"{1:032x}",
            "span_id": f"{2:016x}",
            "name": "ChatCompletion",
            "counted": f"{1:016x}",
            "counted_trace_id": f"{1:032x}",
            "reason": "one is around the other, and both recorded the same call",
        }
    ]
