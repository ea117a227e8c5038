"""Facts about `init`, `flush`, `shutdown` and `stats`, each in a process of its own, as a process has one of each."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from programs import written_spans
from setup_programs import run, written_names

from pixie_otel.exporters.loopback_server import LoopbackServer, QuietHandler
from pixie_otel.traces.spans import LLMSpan
from pixie_otel.tracing import setup

_SECRET = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY"


def test_one_call_writes_a_file(tmp_path: Path) -> None:
    """`init(file=…)` and nothing else writes every span of the process, under the name that was given, silently."""
    said = run(tmp_path, 'init(file="traces/", service_name="bot")\nend_spans("a", "b")\nprint(json.dumps(said))')
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
    assert run(folder, 'init()\nend_spans("a")\nprint(json.dumps(said))', **variables) == []
    assert written_names(tmp_path) == ["a"]


def test_spans_that_go_nowhere_are_told_once(tmp_path: Path) -> None:
    """With nothing set spans are made and counted, and one warning says that they go nowhere yet."""
    said, recording, ended = run(
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
            assert run(folder, program, f"http://127.0.0.1:{server.server_port}", content, _SECRET) == []
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


@pytest.mark.parametrize("call", ["flush", "shutdown"])
def test_a_timeout_holds_for_all_destinations_together(tmp_path: Path, call: str) -> None:
    """With several exporters that hang, waiting ends, says that it was in vain, and the application goes on."""
    done, written = run(
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
    assert run(tmp_path, program) is True


def test_before_init_there_is_nothing_to_do(tmp_path: Path) -> None:
    """`flush`, `shutdown` and `stats` may be called at any time."""
    assert run(tmp_path, "print(json.dumps([flush(), shutdown(), stats().ended, stats().destinations]))") == [
        True,
        True,
        0,
        [],
    ]


@pytest.mark.parametrize("strict", ["argument", "variable"])
@pytest.mark.parametrize(
    "arguments",
    ["endpoint='nowhere'", "instrument=['opnai']", "file=3", "redact='no'", "exporters=[3]"],
)
def test_what_is_wrong_is_raised_where_that_is_asked_for(tmp_path: Path, arguments: str, strict: str) -> None:
    """Without `strict` a wrong setting is one warning and tracing is on; with it, the same words are raised."""
    said, on, raised = run(
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
    raised, off, wrote = run(
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
    failed, raised = run(
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
    run(
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


def test_setting_up_loads_no_more_than_it_needs(tmp_path: Path) -> None:
    """Without an endpoint, and where nothing is instrumented, nothing heavy is loaded."""
    assert (
        run(
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
    run(
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
    said = run(tmp_path, 'init(instrument=["nonesuch"])\nprint(json.dumps(said))')
    assert [("nonesuch" in message, "go nowhere" in message) for _, message in said] == [(True, False), (False, True)]
