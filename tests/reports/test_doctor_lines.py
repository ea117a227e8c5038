"""What is wrong with traces, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from otlp_lines import agent, chat, line, span, write

from pixie_otel.reports.doctor_document import doctor_document, kinds_document
from pixie_otel.reports.doctor_lines import doctor_lines, kind_lines
from pixie_otel.reports.style import Style
from pixie_otel.traces.findings.examination import Diagnosis, Examination
from pixie_otel.traces.findings.kinds import KINDS
from pixie_otel.traces.reader import TraceReader

BARE = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 1, "session.id": "s"}

ADVICE = (
    "  To do: opentelemetry-instrumentation-openai-v2 records messages with, in the application's environment "
    "(without the first of them it takes =true, and writes messages as log records):"
)


def examine(path: Path) -> tuple[Examination, list[Diagnosis]]:
    """Examine the traces of a file."""
    reader, examined = TraceReader(path), Examination()
    for trace in reader:
        examined.add(trace)
    return examined, examined.finish(reader.report)


def text(path: Path, *, width: int = 80, verbose: bool = False) -> list[str]:
    """Say what is wrong with a file, without the folder that it is in."""
    examined, found = examine(path)
    lines = doctor_lines(examined, found, width, Style(), verbose=verbose)
    return [said.replace(f"{path.parent}/", "") for said in lines]


def test_says_each_kind_with_an_example_and_what_to_do(tmp_path: Path) -> None:
    """What is to be typed stands on lines of its own."""
    scope = "opentelemetry.instrumentation.openai_v2"
    spans = [span(n, trace=n, name="chat gpt", attributes=BARE) for n in (1, 2)]
    path = write(tmp_path / "a.jsonl", *(line(item, scope=scope) for item in spans))

    assert text(path, width=200) == [
        "Examined 2 traces (2 spans, 2 model calls): 1 error.",
        "",
        "ERROR content-off: in 2 traces",
        "  Model calls hold no messages, so that nothing that was said can be judged.",
        "  - a.jsonl, trace 00000000: model call 'chat gpt' 0000000000000001 without what was asked and answered",
        "  - … and 1 more",
        ADVICE,
        "      OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
        "      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
    ]


def test_says_that_nothing_is_wrong(tmp_path: Path) -> None:
    """In one line."""
    path = write(tmp_path / "a.jsonl", line(agent(1), chat(2, parent=1)))

    assert text(path, width=200) == [
        "Examined 1 trace (2 spans, 1 model call): nothing is wrong with them for an evaluation."
    ]


def test_says_where_files_are_wrong(tmp_path: Path) -> None:
    """By line; verbose gives every example."""
    path = write(tmp_path / "a.jsonl", line(chat(1)), "{}}\n", "{}}\n")

    assert "ERROR bad-line: 2 times" in text(path)
    assert sum(said.startswith("  - a.jsonl:") for said in text(path)) == 1
    assert sum(said.startswith("  - a.jsonl:") for said in text(path, verbose=True)) == 2


def test_fits_a_terminal(tmp_path: Path) -> None:
    """Whatever stands in a trace cannot steer it, or make lines longer."""
    name = "\x1b[31m" + "chat " * 40
    path = write(tmp_path / "a.jsonl", line(span(1, name=name, parent=9, attributes=BARE)))
    examined, found = examine(path)
    lines = list(doctor_lines(examined, found, 60, Style()))

    assert all(len(said) <= 60 or said.startswith("      ") for said in lines)
    assert "\x1b" not in "".join(lines)


def test_lists_kinds() -> None:
    """Each with how much it matters, what it is and what to do."""
    lines = list(kind_lines(80, Style()))

    assert "content-off (error)" in lines
    assert len([said for said in lines if said and not said.startswith(" ")]) == len(KINDS)
    assert all(len(said) <= 80 for said in lines)


def test_is_json_for_programs(tmp_path: Path) -> None:
    """With counts, examples and fixes of each kind."""
    examined, found = examine(write(tmp_path / "a.jsonl", line(span(1, attributes=BARE))))
    document = json.loads(doctor_document(examined, found, ["content-off"], 1))
    (finding,) = document.pop("findings")

    expected = {"schema": 1, "exit_code": 1, "traces": 1, "spans": 1, "llm_calls": 1}
    assert document == expected | {"failed_on": ["content-off"]}
    assert (finding["kind"], finding["weight"], finding["count"], finding["traces"]) == ("content-off", "error", 1, 1)
    assert finding["fixes"] == [{"fix": KINDS["content-off"].fix, "count": 1}]
    assert finding["examples"][0]["span_id"] == f"{1:016x}"
    assert {kind["kind"] for kind in json.loads(kinds_document())["kinds"]} == KINDS.keys()
