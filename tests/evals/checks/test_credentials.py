"""The check for credentials."""

from __future__ import annotations

import json
from pathlib import Path

from checked_traces import ROOT_ID, agent, judge, llm, tool

from pixie_otel.evals.evaluation import Evaluation
from pixie_otel.evals.evaluators.checks import NoSecrets
from pixie_otel.evaluable import Evaluable
from pixie_otel.traces.reader import read_traces
from pixie_otel.traces.spans import SpanError, SpanEvent

KEY = "sk-proj-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA"
TOKEN = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"


def test_a_clean_trace_is_clean() -> None:
    """Ordinary text holds no credential."""
    spans = [agent(attributes={"input.value": "What is the capital of France?"}), llm("01")]
    assert judge(NoSecrets(), *spans).reasoning == "no credential was found"


def test_a_credential_is_found_and_not_shown() -> None:
    """The finding names kind, span and place, and gives no more than four characters away."""
    evaluation = judge(NoSecrets(), agent(attributes={"input.value": f"my key is {KEY}, use it"}))
    assert evaluation.score == 0.0
    assert evaluation.reasoning == (
        f"1 credential in the recorded text: openai-key sk-p… ({len(KEY)} characters) in input.value (span {ROOT_ID})"
    )
    assert evaluation.details["findings"] == [
        {
            "pattern": "openai-key",
            "secret": f"sk-p… ({len(KEY)} characters)",
            "span_id": ROOT_ID,
            "attribute": "input.value",
        }
    ]
    assert KEY[4:] not in json.dumps(evaluation.details) + evaluation.reasoning


def test_everything_recorded_is_searched() -> None:
    """Nested attributes, events, logs, error messages and the resource may all hold one."""
    evaluation = judge(
        NoSecrets(),
        agent(
            attributes={"a": {"b": ["x", TOKEN]}, "n": 1},
            events=(SpanEvent("log", attributes={"args": TOKEN}, body=[{"text": TOKEN}]),),
            resource={"process.command_args": ["app", f"--token={TOKEN}"]},
        ),
        tool("02", "search", error=SpanError(f"bad token {TOKEN}")),
    )
    places = [finding["attribute"] for finding in evaluation.details["findings"]]  # type: ignore[union-attr,index,call-overload]
    assert places == [
        "a.b[1]",
        "event log: args",
        "event log: body[0].text",
        "status.message",
        "resource.process.command_args[1]",
    ]
    assert evaluation.reasoning.startswith("1 credential in the recorded text, in 5 places: github-token ghp_")


def judged_file(path: Path, attribute: str) -> list[Evaluation]:
    """Judge the traces of a file of one span with one attribute."""
    span = {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": "b7ad6b7169203331",
        "name": "chat",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "attributes": [{"key": "input.value", "value": {"stringValue": attribute}}],
    }
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}), encoding="utf-8")
    return [NoSecrets()(Evaluable(), trace=trace) for trace in read_traces(path)]


def test_a_file_is_searched_undecoded_first(tmp_path: Path) -> None:
    """What the quick test lets through is decoded, and found behind JSON's escapes too."""
    clean, found = tmp_path / "clean.jsonl", tmp_path / "found.jsonl"
    (evaluation,) = judged_file(clean, "call_0123456789abcdefghij is no credential")
    assert evaluation.score == 1.0
    (evaluation,) = judged_file(found, json.dumps({"env": f"A=1\nOPENAI_API_KEY={KEY}\n{TOKEN}"}))
    assert evaluation.details["count"] == 2
