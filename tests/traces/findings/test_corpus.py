"""What is found in files of real libraries, in each of their modes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pixie_otel.traces.findings.examination import Diagnosis, Examination
from pixie_otel.traces.reader import TraceReader

CORPUS = Path(__file__).parents[1] / "corpus"
GENAI = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"
OPT_IN = "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"


def examined(dialect: str, *scenarios: str) -> dict[str, Diagnosis]:
    """Examine some scenarios of a library, or all, and give what was found by kind; notes on sessions left aside."""
    names = scenarios or [path.stem for path in (CORPUS / dialect).glob("*.jsonl") if ".logs" not in path.name]
    found = [CORPUS / dialect / f"{name}{end}.jsonl" for name in names for end in ("", ".logs")]
    reader = TraceReader(*(path for path in found if path.exists()))
    examination = Examination()
    for trace in reader:
        examination.add(trace)
    rows = {row.kind.name: row for row in examination.finish(reader.report)}
    return {kind: row for kind, row in rows.items() if kind not in {"no-session", "lost-session"}}


@pytest.mark.parametrize(
    ("dialect", "kind", "switch"),
    [
        ("openai-v2-default", "content-off", f"{OPT_IN}\n{GENAI}"),
        ("openai-v2-latest-nocontent", "content-off", f"{OPT_IN}\n{GENAI}"),
        ("genai-openai-default", "content-off", GENAI),
        ("genai-openai-true", "content-off", GENAI),
        ("google-genai-official-default", "content-off", GENAI),
        ("google-adk", "content-off", GENAI),
        ("google-adk-nocontent", "content-off", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
        ("agent-framework-nocontent", "content-off", "ENABLE_SENSITIVE_DATA=true"),
        ("anthropic-native-default", "content-off", "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"),
        ("pydantic-ai-v5-nocontent", "content-off", "InstrumentationSettings(include_content=True)"),
        ("traceloop-openai-nocontent", "content-off", "TRACELOOP_TRACE_CONTENT=true"),
        ("openinference-openai-hidden", "hidden-content", "OPENINFERENCE_HIDE_INPUTS"),
    ],
)
def test_the_switch_is_named_where_content_is_off(dialect: str, kind: str, switch: str) -> None:
    """That of the very library, and no other."""
    row = examined(dialect)[kind]

    assert row.kind.weight == "error"
    assert len(row.fixes) == 1
    assert switch in next(iter(row.fixes))


@pytest.mark.parametrize("dialect", ["js-vercel-ai", "js-vercel-ai-v7"])
def test_a_single_call_may_be_told_to_record_nothing(dialect: str) -> None:
    """In Vercel's SDK it is an option of the call."""
    assert set(examined(dialect, "nocontent")) == {"content-off"}
    assert "recordInputs: true, recordOutputs: true" in next(iter(examined(dialect, "nocontent")["content-off"].fixes))


@pytest.mark.parametrize(
    ("dialect", "scenario", "kinds"),
    [
        ("openinference-openai", "longhistory", {"dropped-attributes", "cut-history"}),
        ("langchain-oi-openai", "tool", {"two-instrumentations", "doubled-call"}),
        ("traceloop-anthropic", "chat", {"two-instrumentations", "doubled-call"}),
        ("genai-anthropic", "chat", {"two-instrumentations"}),
        ("openai-agents-oi", "chat", {"root-without-io"}),
        ("openai-agents-genai", "chat", {"root-without-io", "no-model-calls"}),
        ("phoenix-otel", "stream", {"object-repr"}),
        ("haystack-native", "stream", {"no-tokens"}),
        ("js-traceloop", "responses_stream", {"missing-output", "no-tokens"}),
        ("openai-v2-event", "multimodal", {"missing-input"}),
        ("google-genai-official-event", "tool", {"missing-tool-result"}),
        ("llama-index-oi", "chat", {"repeated-call"}),
        ("logfire-v2", "stream", {"doubled-call"}),
        ("smolagents-genai", "tool", {"no-model-calls"}),
    ],
)
def test_what_libraries_lose_is_found(dialect: str, scenario: str, kinds: set[str]) -> None:
    """And nothing else."""
    assert set(examined(dialect, scenario)) == kinds


@pytest.mark.parametrize(
    ("dialect", "but"),
    [
        ("traceloop-openai", {"multimodal"}),
        ("traceloop-openai-events", set()),
        ("openinference-openai", {"longhistory"}),
        ("genai-openai-span", set()),
        ("genai-openai-event", set()),
        ("openai-v2-span", set()),
        ("openai-v2-legacy", set()),
        ("agent-framework-content", set()),
        ("google-genai-official", set()),
        ("pydantic-ai-v1logs", set()),
        ("pydantic-ai-v6", set()),
        ("langchain-langsmith", set()),
        ("langchain-oi", set()),
        ("langfuse", set()),
        ("mlflow", set()),
        ("strands", set()),
        ("dspy-genai", set()),
    ],
)
def test_good_files_have_nothing(dialect: str, but: set[str]) -> None:
    """Also those of failed calls, of tools, and of streams."""
    names = {path.stem for path in (CORPUS / dialect).glob("*.jsonl") if ".logs" not in path.name} - but
    assert {name: set(found) for name in sorted(names) if (found := examined(dialect, name))} == {}
