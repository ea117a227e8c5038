"""Facts about `init`, `flush`, `shutdown` and `stats`, each in a process of its own, as a process has one of each."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from collectors import collector
from programs import run_program, start_program, written_spans

from pixie_otel.exporters.loopback_server import LoopbackServer, QuietHandler
from pixie_otel.traces.spans import LLMSpan
from pixie_otel.tracing import setup

_SECRET = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY"
_BEGIN = """
import json, logging, os, sys, threading
from opentelemetry import context, trace
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pixie_otel.errors import ConfigError
from pixie_otel.tracing import runtime
from pixie_otel.tracing.setup import flush, init, init_for_capture, shutdown, stats

said = []

class _Listener(logging.Handler):
    def emit(self, record):
        said.append((record.levelname, record.getMessage()))

logging.getLogger("pixie_otel").addHandler(_Listener())
logging.getLogger("pixie_otel").setLevel("INFO")

def end_spans(*names):
    for name in names:
        trace.get_tracer("t").start_span(str(name)).end()

def roomy(**settings):
    return TracerProvider(span_limits=SpanLimits(max_span_attributes=10_000), **settings)

def names(exporter):
    return [span.name for span in exporter.get_finished_spans()]

class Hanging(SpanExporter):
    entered = threading.Event()
    def export(self, spans):
        self.entered.set()
        threading.Event().wait()

"""


def _run(folder: Path, program: str, *arguments: str, **variables: str) -> Any:
    """Run a program, and give the value that it printed as JSON."""
    out, _ = run_program(_BEGIN + program, folder, variables, *arguments)
    return json.loads(out)


def _names(folder: Path) -> list[str]:
    return sorted(span.name for span in written_spans(folder / "traces"))


def test_one_call_writes_a_file(tmp_path: Path) -> None:
    """`init(file=…)` and nothing else writes every span of the process, under the name that was given, silently."""
    said = _run(tmp_path, 'init(file="traces/", service_name="bot")\nend_spans("a", "b")\nprint(json.dumps(said))')
    spans = written_spans(tmp_path / "traces")
    assert said == []
    assert [span.name for span in spans] == ["a", "b"]
    assert {span.resource["service.name"] for span in spans} == {"bot"}


@pytest.mark.parametrize("where", ["variable", "project"])
def test_no_argument_is_needed(tmp_path: Path, where: str) -> None:
    """`init()` does the same where the environment or the project says so."""
    variables = {}
    if where == "variable":
        variables = {"PIXIE_OTEL_FILE": "traces/", "PIXIE_OTEL_INSTRUMENT": "false"}
    else:
        (tmp_path / "pyproject.toml").write_text("[tool.pixie-otel]\nfile = 'traces/'\ninstrument = false\n")
        (tmp_path / "src").mkdir()
    folder = tmp_path / "src" if where == "project" else tmp_path
    assert _run(folder, 'init()\nend_spans("a")\nprint(json.dumps(said))', **variables) == []
    assert _names(tmp_path) == ["a"]


def test_spans_that_go_nowhere_are_told_once(tmp_path: Path) -> None:
    """With nothing set spans are made and counted, and one warning says that they go nowhere yet."""
    said, recording, ended = _run(
        tmp_path,
        """
init(instrument=False)
init()
shutdown()
init(instrument=False)
end_spans("a")
print(json.dumps([said, trace.get_tracer("t").start_span("s").is_recording(), stats().ended]))
""",
    )
    assert (recording, ended) == (True, 1)
    assert len(said) == 1
    assert said[0][0] == "WARNING"
    assert "go nowhere yet" in said[0][1]


def test_openai_is_traced_out_of_the_box(tmp_path: Path) -> None:
    """A call of openai's client, made with nothing but `init`, is in the file with its messages and its answer."""

    class Model(QuietHandler):
        def do_POST(self) -> None:  # noqa: N802 - so the server calls it
            self.rfile.read(int(self.headers["Content-Length"]))
            message = {"role": "assistant", "content": "Hi there"}
            answer = {
                "id": "c1",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
            }
            self.send_body(200, "application/json", json.dumps(answer).encode())

    server = LoopbackServer("127.0.0.1", 0, Model)
    server.start()
    program = """
init(file="traces/", capture_content=sys.argv[2] == "with")
import openai
client = openai.OpenAI(base_url=sys.argv[1], api_key="k")
client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello " + sys.argv[3]}])
print(json.dumps(said))
"""
    try:
        for content in ("with", "without"):
            folder = tmp_path / content
            folder.mkdir()
            assert _run(folder, program, f"http://127.0.0.1:{server.server_port}", content, _SECRET) == []
    finally:
        server.end()
    (span,) = written_spans(tmp_path / "with" / "traces")
    assert isinstance(span, LLMSpan)
    assert [message.text for message in span.output_messages] == ["Hi there"]
    assert span.input_messages[0].text.startswith("Hello ")
    text = "".join(path.read_text() for path in (tmp_path / "with" / "traces").iterdir())
    assert _SECRET not in text
    text = "".join(path.read_text() for path in (tmp_path / "without" / "traces").iterdir())
    assert "Hello" not in text
    assert "Hi there" not in text


def test_a_second_init_changes_nothing(tmp_path: Path) -> None:
    """The same call again, or one without arguments, is silent; another one is told once and has no effect."""
    said, destinations = _run(
        tmp_path,
        """
for _ in range(2):
    init(file="traces/", instrument=False)
    init()
before = len(said)
init(file="other/", instrument=False)
init(exporters=[InMemorySpanExporter()], instrument=False)
print(json.dumps([said[before:], [queue.name for queue in stats().destinations]]))
""",
    )
    assert len(said) == 1
    assert "called again with other settings, which change nothing" in said[0][1]
    assert destinations == [f"file {tmp_path}/traces/"]


def test_init_in_many_threads_is_done_once(tmp_path: Path) -> None:
    """However many threads call it at a time, there is one provider, one hub and one destination."""
    assert _run(
        tmp_path,
        """
barrier = threading.Barrier(8)
def begin():
    barrier.wait()
    init(file="traces/", instrument=False)
threads = [threading.Thread(target=begin) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
end_spans("a")
flush()
print(json.dumps([len(said), len(stats().destinations), stats().ended]))
""",
    ) == [0, 1, 1]
    assert _names(tmp_path) == ["a"]


def test_after_a_shutdown_init_begins_anew(tmp_path: Path) -> None:
    """Destinations are closed and others opened, on the same provider and hub; what ends between is counted."""
    first, second, ended, late = _run(
        tmp_path,
        """
one, two = InMemorySpanExporter(), InMemorySpanExporter()
init(exporters=[one], instrument=False)
end_spans("a")
assert shutdown() and runtime.current() is None
end_spans("between")
late = stats().after_shutdown
init(exporters=[two], instrument=False)
end_spans("b")
assert flush()
print(json.dumps([names(one), names(two), stats().ended, late]))
""",
    )
    assert (first, second) == (["a"], ["b"])
    assert (ended, late) == (3, 1)


def test_after_the_provider_was_shut_down_init_begins_anew(tmp_path: Path) -> None:
    """An application that shut the provider down itself, and calls `init` again, has its spans written again."""
    assert (
        _run(
            tmp_path,
            """
init(file="traces/", instrument=False)
end_spans("a")
trace.get_tracer_provider().shutdown()
init(file="traces/", instrument=False)
end_spans("b")
print(json.dumps(said))
""",
        )
        == []
    )
    assert _names(tmp_path) == ["a", "b"]


def test_before_init_there_is_nothing_to_do(tmp_path: Path) -> None:
    """`flush`, `shutdown` and `stats` may be called at any time."""
    assert _run(tmp_path, "print(json.dumps([flush(), shutdown(), stats().ended, stats().destinations]))") == [
        True,
        True,
        0,
        [],
    ]


@pytest.mark.parametrize("call", ["flush", "shutdown"])
def test_a_timeout_holds_for_all_destinations_together(tmp_path: Path, call: str) -> None:
    """With several exporters that hang, waiting ends, says that it was in vain, and the application goes on."""
    done, written = _run(
        tmp_path,
        f"""
whole = InMemorySpanExporter()
init(exporters=[Hanging(), whole, Hanging()], instrument=False)
end_spans("a")
Hanging.entered.wait()
print(json.dumps([{call}(0.5), names(whole)]), flush=True)
os._exit(0)
""",
    )
    assert done is False
    assert written == ["a"]


@pytest.mark.parametrize("call", ["flush(0)", "flush(-1)", "shutdown(0)", "shutdown(-1)"])
def test_no_time_at_all_is_a_timeout_too(tmp_path: Path, call: str) -> None:
    """A timeout of nothing comes back at once with an answer."""
    program = f'init(file="traces/", instrument=False)\nend_spans("a")\nprint(json.dumps({call} in (True, False)))'
    assert _run(tmp_path, program) is True


def test_an_application_s_provider_keeps_its_own_exporters(tmp_path: Path) -> None:
    """Where the application has set OpenTelemetry up, spans go to its exporter and to ours, once each."""
    theirs, said = _run(
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
    assert _names(tmp_path) == ["a"]


def test_several_tools_share_a_provider(tmp_path: Path) -> None:
    """Tools that add a processor before and after, filter spans or have a provider of their own all get their spans."""
    results = _run(
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
    assert _names(tmp_path) == ["llm call", "other"]


def test_low_limits_of_an_application_s_provider_are_told_once(tmp_path: Path) -> None:
    """The standard limits of the application's provider are one warning, however often tracing is set up."""
    said = _run(
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
    said = _run(
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
    assert _names(tmp_path) == ["ours", "ours"]


def test_a_disabled_sdk_stays_off(tmp_path: Path) -> None:
    """With `OTEL_SDK_DISABLED=true` nothing is traced or instrumented, and one note says so."""
    said, off = _run(
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
        said = _run(
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
        _run(
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
    assert _names(tmp_path) == []


def test_a_session_comes_with_the_baggage(tmp_path: Path) -> None:
    """A `session.id` in the W3C baggage of a request is that of the spans below it."""
    _run(
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
    first, second = _run(tmp_path, program), _run(tmp_path, program)
    assert not {*first} & {*second}


@pytest.mark.parametrize("strict", ["argument", "variable"])
@pytest.mark.parametrize(
    "arguments",
    ["endpoint='nowhere'", "instrument=['opnai']", "file=3", "redact='no'", "exporters=[3]"],
)
def test_what_is_wrong_is_raised_where_that_is_asked_for(tmp_path: Path, arguments: str, strict: str) -> None:
    """Without `strict` a wrong setting is one warning and tracing is on; with it, the same words are raised."""
    said, on, raised = _run(
        tmp_path,
        f"""
settings = dict(exporters=[InMemorySpanExporter()], instrument=False)
settings.update({arguments})
init(**settings)
on = runtime.current() is not None
shutdown()
said = [message for _, message in said]
raised = None
if {strict == "variable"}:
    os.environ["PIXIE_OTEL_STRICT"] = "1"
else:
    settings["strict"] = True
try:
    init(**settings)
except ConfigError as error:
    raised = str(error)
print(json.dumps([said, on, raised]))
""",
    )
    assert on is True
    assert raised is not None
    assert raised in said
    assert len([message for message in said if "go nowhere" not in message]) == 1


def test_strictness_leaves_no_half(tmp_path: Path) -> None:
    """Where a strict `init` raises for a destination, nothing is in force, and a right one takes effect after it."""
    raised, off, wrote = _run(
        tmp_path,
        """
exporter = InMemorySpanExporter()
os.environ["OTEL_TRACES_EXPORTER"] = "nonesuch"
raised = False
try:
    init(exporters=[InMemorySpanExporter()], instrument=False, strict=True)
except ConfigError:
    raised = True
off = runtime.current() is None
del os.environ["OTEL_TRACES_EXPORTER"]
init(exporters=[exporter], instrument=False, strict=True)
end_spans("a")
flush()
print(json.dumps([raised, off, names(exporter)]))
""",
    )
    assert (raised, off, wrote) == (True, True, ["a"])


def test_a_fault_of_our_own_is_counted_and_goes_no_further(tmp_path: Path) -> None:
    """Whatever fails inside, `init`, `flush`, `shutdown` and the application go on; strictly, it is raised."""
    failed, raised = _run(
        tmp_path,
        """
from pixie_otel.tracing import provider
def broken(*_, **__): raise RuntimeError("broken")
attach, provider.attach = provider.attach, broken
init(instrument=False)
raised = False
try:
    init(instrument=False, strict=True)
except ConfigError as error:
    raised = isinstance(error.__cause__, RuntimeError)
provider.attach = attach
init(instrument=False)
hub = runtime.current().hub
hub.flush = hub.close = broken
assert flush() is False and shutdown() is False
print(json.dumps([stats().internal_errors, raised]))
""",
    )
    assert failed == {"init": 1, "flush": 1, "shutdown": 1}
    assert raised is True


def test_what_a_capture_set_up_gives_way_to_init(tmp_path: Path) -> None:
    """An `init` after what a capture set up by itself takes effect fully: destinations, content, name, sampler."""
    said, on, content, service = _run(
        tmp_path,
        """
from pixie_otel.tracing.capture import capture_traces
with capture_traces() as capture:
    end_spans("captured")
    assert not said
    init(file="traces/", capture_content=False, service_name="late", instrument=False)
    end_spans("both")
assert [span.name for span in capture.spans] == ["captured", "both"]
init()
print(json.dumps([
    said, len(stats().destinations), runtime.current().capture_content,
    trace.get_tracer_provider().resource.attributes["service.name"],
]))
""",
        PIXIE_OTEL_INSTRUMENT="false",
    )
    assert (said, on, content, service) == ([], 1, False, "late")
    assert _names(tmp_path) == ["both"]


def test_a_capture_sets_up_what_the_environment_says(tmp_path: Path) -> None:
    """What a capture sets up by itself writes where `PIXIE_OTEL_FILE` says, as `init()` would."""
    _run(
        tmp_path,
        """
assert init_for_capture() is runtime.current() is not None
assert init_for_capture() is runtime.current()
end_spans("a")
print(json.dumps(said))
""",
        PIXIE_OTEL_FILE="traces/",
        PIXIE_OTEL_INSTRUMENT="false",
    )
    assert _names(tmp_path) == ["a"]


def test_handlers_that_were_there_before_are_called(tmp_path: Path) -> None:
    """A handler that is added before `init` gets the spans, also after tracing was shut down and set up again."""
    assert _run(
        tmp_path,
        """
from pixie_otel.exporters.handlers import InstrumentationHandler
from pixie_otel.tracing.dispatch import add_handler
seen = []
class Handler(InstrumentationHandler):
    def on_observe(self, span):
        seen.append(span.name)
add_handler(Handler())
for name in ("a", "b"):
    init(file="traces/", instrument=False)
    end_spans(name)
    shutdown()
print(json.dumps(seen))
""",
    ) == ["a", "b"]


def test_a_redactor_that_is_given_later_holds(tmp_path: Path) -> None:
    """`redact=` of a later `init` holds for destinations and captures alike."""
    captured, written = _run(
        tmp_path,
        """
from pixie_otel.tracing.capture import capture_traces
exporter = InMemorySpanExporter()
init_for_capture()
init(exporters=[exporter], redact=lambda key, value: "hidden" if key == "input.value" else value, instrument=False)
with capture_traces() as capture:
    trace.get_tracer("t").start_span("s", attributes={"input.value": "mine"}).end()
flush()
print(json.dumps([capture.spans[0].input, exporter.get_finished_spans()[0].attributes["input.value"]]))
""",
        PIXIE_OTEL_INSTRUMENT="false",
    )
    assert (captured, written) == ("hidden", "hidden")


def test_without_content_no_content_leaves_whoever_recorded_it(tmp_path: Path) -> None:
    """`capture_content=False` also keeps out what instrumentation that others switched on has recorded."""
    attributes = {
        "input.value": "mine",
        "llm.output_messages.0.message.content": "mine",
        "gen_ai.input.messages": "mine",
        "gen_ai.prompt.0.content": "mine",
        "traceloop.entity.output": "mine",
        "llm.model_name": "m",
    }
    _run(
        tmp_path,
        f"""
init(file="traces/", capture_content=False, instrument=False)
trace.get_tracer("t").start_span("s", attributes={attributes!r}).end()
try:
    with trace.get_tracer("t").start_as_current_span("failing"):
        raise ValueError("cannot answer 'mine'")
except ValueError:
    print("null")
""",
    )
    text = "".join(path.read_text() for path in (tmp_path / "traces").iterdir())
    assert "mine" not in text
    assert '"llm.model_name"' in text
    assert '"exception.type","value":{"stringValue":"ValueError"}' in text


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


def test_a_shutdown_does_not_wait_for_an_init_for_ever(tmp_path: Path) -> None:
    """Where another thread hangs in `init`, `shutdown` gives up after its timeout and says so."""
    assert (
        _run(
            tmp_path,
            """
from pixie_otel.tracing import provider
inside = threading.Event()
def slow(settings):
    inside.set(); threading.Event().wait()
provider.attach = slow
threading.Thread(target=lambda: init(instrument=False), daemon=True).start()
inside.wait()
print(json.dumps(shutdown(0.1)), flush=True)
""",
        )
        is False
    )


def test_a_fork_in_the_middle_of_init_leaves_the_child_free(tmp_path: Path) -> None:
    """A child that was forked while another thread was in `init` can call everything without waiting for it."""
    process = start_program(
        _BEGIN
        + """
from pixie_otel.tracing import provider
inside, go_on = threading.Event(), threading.Event()
attach = provider.attach
def slow(settings):
    inside.set(); go_on.wait()
    return attach(settings)
provider.attach = slow
threading.Thread(target=lambda: init(instrument=False)).start()
inside.wait()
child = os.fork()
if not child:
    provider.attach = attach
    init(file="traces/", instrument=False)
    end_spans("child")
    os._exit(0 if shutdown() else 1)
status = os.waitpid(child, 0)[1]
go_on.set()
print(json.dumps(status))
""",
        tmp_path,
    )
    try:
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert out == "0\n"
    assert _names(tmp_path) == ["child"]


def test_setting_up_loads_no_more_than_it_needs(tmp_path: Path) -> None:
    """Without an endpoint, and where nothing is instrumented, nothing heavy is loaded."""
    assert (
        _run(
            tmp_path,
            """
init(file="traces/", instrument=False)
end_spans("a")
heavy = ("pydantic", "openai", "openinference", "google.protobuf", "grpc", "requests", "autoevals", "typer")
print(json.dumps([name for name in heavy if name in sys.modules]))
""",
        )
        == []
    )


def test_a_suspended_generator_is_recorded_at_the_end(tmp_path: Path) -> None:
    """The span of a generator that nobody reads on is ended and written when the process ends."""
    _run(
        tmp_path,
        """
from pixie_otel.tracing.observe import observe
init(file="traces/", instrument=False)
@observe
def stream():
    yield "one"
    yield "two"
reading = stream()
assert next(reading) == "one"
print("null")
""",
    )
    (span,) = written_spans(tmp_path / "traces")
    assert span.name == "stream"
    assert "one" in str(span.output)


def test_a_checkout_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package's metadata is missing, spans are made all the same, without a version."""

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(setup, "version", missing)
    setup._version.cache_clear()
    assert setup._version() == ""
    setup._version.cache_clear()


def test_that_spans_go_nowhere_is_told_beside_another_fault(tmp_path: Path) -> None:
    """An instrumentation that cannot be had does not hide that there is no destination."""
    said = _run(tmp_path, 'init(instrument=["nonesuch"])\nprint(json.dumps(said))')
    assert [("nonesuch" in message, "go nowhere" in message) for _, message in said] == [(True, False), (False, True)]
