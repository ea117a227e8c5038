"""Facts about `init` beside what the application has: its provider, its environment, its handlers."""

from __future__ import annotations

from pathlib import Path

import pytest
from collectors import collector
from programs import run_program, written_spans
from setup_programs import run, written_names


def test_an_application_s_provider_keeps_its_own_exporters(tmp_path: Path) -> None:
    """Where the application has set OpenTelemetry up, spans go to its exporter and to ours, once each."""
    theirs, said = run(
        tmp_path,
        """
exporter = InMemorySpanExporter()
provider = roomy()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
init(file="traces/", instrument=False)
init(file="traces/", instrument=False)
end_spans("a")
assert trace.get_tracer_provider() is provider
print(json.dumps([names(exporter), said]))
""",
        # What these mean is the application's business, which has an exporter already.
        OTEL_TRACES_EXPORTER="console",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
    )
    assert theirs == ["a"]
    assert said == []
    assert written_names(tmp_path) == ["a"]


def test_several_tools_share_a_provider(tmp_path: Path) -> None:
    """Tools that add a processor before and after, filter spans or have a provider of their own all get their spans."""
    results = run(
        tmp_path,
        """
class Filtering(BatchSpanProcessor):
    # As tools do that send only what concerns language models.
    def on_end(self, span):
        if span.name.startswith("llm"):
            super().on_end(span)

before, after, apart = InMemorySpanExporter(), InMemorySpanExporter(), InMemorySpanExporter()
own = roomy()
own.add_span_processor(SimpleSpanProcessor(apart))
trace.set_tracer_provider(roomy())
trace.get_tracer_provider().add_span_processor(Filtering(before))
init(file="traces/", instrument=False)
trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(after))
end_spans("llm call", "other")
own.get_tracer("t").start_span("apart").end()
trace.get_tracer_provider().force_flush()
print(json.dumps([names(before), names(after), names(apart), said]))
""",
    )
    assert results == [["llm call"], ["llm call", "other"], ["apart"], []]
    assert written_names(tmp_path) == ["llm call", "other"]


def test_low_limits_of_an_application_s_provider_are_told_once(tmp_path: Path) -> None:
    """The standard limits of the application's provider are one warning, however often tracing is set up."""
    said = run(
        tmp_path,
        """
trace.set_tracer_provider(TracerProvider())
for _ in range(3):
    init(file="traces/", instrument=False)
    shutdown()
print(json.dumps(said))
""",
    )
    assert [level for level, _ in said] == ["WARNING"]
    assert "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=10000" in said[0][1]


def test_a_provider_without_processors_is_left_alone(tmp_path: Path) -> None:
    """Beside a foreign provider ours has its own, which is said once, and what is observed is written."""
    said = run(
        tmp_path,
        """
class Foreign(trace.NoOpTracerProvider):
    pass
trace.set_tracer_provider(Foreign())
for _ in range(2):
    init(file="traces/", instrument=False)
    end_spans("theirs")
    runtime.current().tracer.start_span("ours").end()
    shutdown()
print(json.dumps(said))
""",
    )
    assert len(said) == 1
    assert "Foreign) takes no span processors" in said[0][1]
    assert written_names(tmp_path) == ["ours", "ours"]


def test_a_disabled_sdk_stays_off(tmp_path: Path) -> None:
    """With `OTEL_SDK_DISABLED=true` nothing is traced or instrumented, and one note says so."""
    said, off = run(
        tmp_path,
        """
init(file="traces/")
end_spans("a")
print(json.dumps([said, runtime.current() is None and init_for_capture() is None and "openai" not in sys.modules]))
""",
        OTEL_SDK_DISABLED="True",
    )
    assert off is True
    assert said == [["INFO", "OTEL_SDK_DISABLED is true: nothing is traced"]]
    assert not (tmp_path / "traces").exists()


def test_the_standard_variables_set_everything_up(tmp_path: Path) -> None:
    """`init()` with nothing but `OTEL_*` sends to the collector, under the service's name, with the headers."""
    with collector() as collected:
        said = run(
            tmp_path,
            """
init()
end_spans("a")
print(json.dumps(said))
""",
            OTEL_EXPORTER_OTLP_ENDPOINT=collected.endpoint,
            OTEL_EXPORTER_OTLP_HEADERS="x-key=k",
            OTEL_SERVICE_NAME="bot",
            OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=staging",
            PIXIE_OTEL_INSTRUMENT="0",
        )
    assert said == []
    assert (collected.names, collected.services) == (["a"], {"bot"})
    assert collected.headers[0]["x-key"] == "k"
    assert "staging" in str(collected.requests[0].resource_spans[0].resource)


def test_sampling_is_opentelemetry_s(tmp_path: Path) -> None:
    """`OTEL_TRACES_SAMPLER` decides which traces are recorded, and what it leaves out is not written."""
    assert (
        run(
            tmp_path,
            """
init(file="traces/", instrument=False)
end_spans("a")
print(json.dumps(stats().destinations[0].ended))
""",
            OTEL_TRACES_SAMPLER="traceidratio",
            OTEL_TRACES_SAMPLER_ARG="0",
        )
        == 0
    )
    assert written_names(tmp_path) == []


def test_a_session_comes_with_the_baggage(tmp_path: Path) -> None:
    """A `session.id` in the W3C baggage of a request is that of the spans below it."""
    run(
        tmp_path,
        """
from opentelemetry.propagate import extract
init(file="traces/", instrument=False)
context.attach(extract({"baggage": "session.id=s-1", "traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"}))
end_spans("a")
print("null")
""",
    )
    (span,) = written_spans(tmp_path / "traces")
    assert (span.session_id, span.trace_id) == ("s-1", "a" * 32)


def test_ids_are_new_in_every_process(tmp_path: Path) -> None:
    """Two runs of an application that seeds `random` share no id."""
    program = """
import random
init(instrument=False)
random.seed(42)
span = trace.get_tracer("t").start_span("s")
print(json.dumps([span.context.trace_id, span.context.span_id]))
"""
    first, second = run(tmp_path, program), run(tmp_path, program)
    assert not {*first} & {*second}


@pytest.mark.parametrize("strict", [False, True])
def test_a_variable_that_the_sdk_cannot_be_loaded_with_is_told(tmp_path: Path, *, strict: bool) -> None:
    """OpenTelemetry's SDK raises as it is imported where a limit is no number; the application runs all the same."""
    program = """
import pixie_otel as pixie
try:
    pixie.init(file="traces/", strict=STRICT)
except pixie.ConfigError as error:
    print(error)
print(pixie.wrap(3, purpose="output", name="n"), pixie.flush(), pixie.stats(), pixie.shutdown())
""".replace("STRICT", str(strict))
    out, err = run_program(program, tmp_path, {"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "-1"})
    said = "OpenTelemetry's SDK cannot be loaded, so nothing is traced: OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT must be"
    assert (out if strict else err).startswith(said)
    assert out.endswith("3 True 0 spans ended True\n")
