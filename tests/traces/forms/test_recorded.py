"""Real spans, written as other tools write them, read the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from foreign_forms import FOREIGN, LOSSLESS
from reading import Reading, read

from pixie_otel.traces.spans import LLMSpan, ObserveSpan

CORPUS = Path(__file__).parents[1] / "corpus"
RECORDED = sorted(
    path
    for folder in ("openinference-openai", "openai-agents-oi", "langchain-oi", "traceloop-openai", "openai-v2-both")
    for path in (CORPUS / folder).glob("*.jsonl")
)
SPANS = [path for path in RECORDED if not path.name.endswith(".logs.jsonl")]
"""Those with spans, which is all that other tools have."""


def documents(path: Path) -> list[dict[str, Any]]:
    """Give the lines of a file."""
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]


def facts(span: ObserveSpan) -> list[object]:
    """Give what every form must keep of a span."""
    found: list[object] = [span.trace_id, span.span_id, span.parent_span_id, span.name, span.kind]
    found += [span.start_time_unix_nano // 1000, span.input, span.output, span.error, span.session_id]
    if isinstance(span, LLMSpan):
        found += [span.input_messages, span.output_messages, span.request_model, span.input_tokens, span.output_tokens]
    return found


def all_facts(reading: Reading) -> list[list[object]]:
    """Give the facts of all spans, in an order that does not depend on fractions of microseconds."""
    return sorted((facts(span) for trace in reading.traces for span in trace.spans), key=lambda found: str(found[1]))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_forms_with_room_for_everything_give_equal_traces(path: Path) -> None:
    """Whatever a runtime, a logger or a collector made of the lines."""
    found = documents(path)
    expected = read(path.read_bytes())

    for name, write in LOSSLESS.items():
        reading = read(write(found))
        assert reading.traces == expected.traces, name
        (source,) = reading.report.sources.values()
        assert source.forms, name


@pytest.mark.parametrize("path", SPANS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_forms_of_other_tools_give_the_same_spans(path: Path) -> None:
    """With their ids, parents, names, kinds, messages, tokens and errors."""
    found = documents(path)
    expected = all_facts(read(path.read_bytes()))

    for name, write in FOREIGN.items():
        reading = read(write(found))
        assert all_facts(reading) == expected, name
        (source,) = reading.report.sources.values()
        assert len(source.forms) == 1, name
