"""Facts about where spans are sent."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from collectors import Collected, collector
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sdk_spans import sdk_span

from pixie_otel import diagnostics
from pixie_otel.exporters.memory import MemoryTraceHandler
from pixie_otel.exporters.redaction import Redactor
from pixie_otel.exporters.work_queue import QueueStats
from pixie_otel.tracing.destinations import make_redactor, open_destinations
from pixie_otel.tracing.settings import Problem, Settings

_SECRET = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY"


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("OTEL_", "PIXIE_")):
            monkeypatch.delenv(name)


@pytest.fixture
def collected() -> Iterator[Collected]:
    """Listen for OTLP."""
    with collector() as it:
        yield it


def _sent(
    settings: Settings, spans: Sequence[ReadableSpan] = (sdk_span(),), *, standard: bool = True
) -> tuple[list[QueueStats], list[Problem]]:
    """Send spans to every destination, and say what became of them."""
    queues, problems = open_destinations(settings, Redactor(settings.redact), standard=standard)
    for queue in queues:
        for span in spans:
            queue.put(span)
    assert all(queue.shutdown() for queue in queues)
    return [queue.stats() for queue in queues], problems


def _lines(path: Path) -> list[Any]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_nothing_named_is_nowhere() -> None:
    """Without a destination nothing is opened, and above all no network connection."""
    assert _sent(Settings()) == ([], [])


def test_a_file_gets_lines(tmp_path: Path) -> None:
    """A file named by a path, and a folder, get the spans as OTLP JSON; its name is that of the destination."""
    file, folder = tmp_path / "traces.jsonl", tmp_path / "traces"
    for path in (f"{file}", f"{folder}{os.sep}"):
        (stats,), problems = _sent(Settings(file=path))
        assert not problems
        assert (stats.name, stats.written) == (f"file {path}", 1)
    assert len(_lines(file)) == len(_lines(folder)) == 1


def test_credentials_stay_out_of_every_destination(tmp_path: Path, collected: Collected) -> None:
    """File, endpoint and exporters get no credentials; with `redact=False` they get the spans as they are."""
    span = sdk_span({"input.value": f"my key is {_SECRET}"})
    for redact, shown in ((True, False), (False, True)):
        path, exporter = tmp_path / f"{redact}.jsonl", InMemorySpanExporter()
        settings = Settings(file=str(path), endpoint=collected.endpoint, exporters=(exporter,), redact=redact)
        stats, problems = _sent(settings, [span])
        assert not problems
        assert [queue.written for queue in stats] == [1, 1, 1]
        for content in (path.read_text(), str(collected.requests[-1]), exporter.get_finished_spans()[0].to_json()):
            assert (_SECRET in content) is shown


def test_an_endpoint_is_a_base_url(collected: Collected) -> None:
    """The path of traces is added to an endpoint, unless it ends so; the headers go along."""
    for endpoint in ("", "/", "/v1/traces", "/prefix/"):
        _sent(Settings(endpoint=collected.endpoint + endpoint, headers={"X-Key": "k"}))
    assert collected.paths == ["/v1/traces", "/v1/traces", "/v1/traces", "/prefix/v1/traces"]
    assert {headers["x-key"] for headers in collected.headers} == {"k"}
    assert collected.names == ["span 1"] * 4


def test_headers_of_the_environment_go_to_an_endpoint_that_is_given(
    collected: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`OTEL_EXPORTER_OTLP_HEADERS` holds for `endpoint=` too."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=from%20environment")
    _sent(Settings(endpoint=collected.endpoint))
    assert collected.headers[0]["x-key"] == "from environment"


def test_credentials_of_a_url_are_in_no_name() -> None:
    """The name of a destination, which is logged, shows neither user nor password nor query."""
    settings = Settings(endpoint="http://user:hunter2@127.0.0.1:9/base?key=hunter2")
    (queue,), _ = open_destinations(settings, Redactor(), standard=False)
    queue.shutdown(0)
    assert queue.name == "otlp http://127.0.0.1:9/base"


def test_the_port_of_grpc_is_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """An endpoint with gRPC's port that would be spoken to over HTTP is one warning; another port is none."""
    monkeypatch.setattr(diagnostics, "_last", {})
    for port in (4318, 4317):
        (queue,), _ = open_destinations(Settings(endpoint=f"http://127.0.0.1:{port}"), Redactor(), standard=False)
        queue.shutdown()
    (message,) = caplog.messages
    assert "port 4317 is usually that of gRPC" in message


def test_without_content_ours_gets_none_either(tmp_path: Path) -> None:
    """Contents stay out of our own files where they are not wanted; what cannot be made safe is counted."""
    settings = Settings(file=f"{tmp_path}/t.jsonl", capture_content=False)
    (queue,), _ = open_destinations(settings, make_redactor(settings), standard=False)
    queue.put(sdk_span({"input.value": "mine", "gen_ai.prompt.0.content": "mine", "llm.model_name": "m"}))
    queue.put(sdk_span(name=None, cleaned=False))
    queue.shutdown()
    text = (tmp_path / "t.jsonl").read_text()
    assert "mine" not in text
    assert '"llm.model_name"' in text
    assert queue.stats().written + sum(queue.stats().dropped.values()) == 2


def test_what_is_to_stay_out_stays_out_of_an_exporter_of_ours_that_was_given() -> None:
    """Contents and what the function hides are taken out for whatever exporter is given, one of ours too."""
    handler = MemoryTraceHandler(redact=False)
    settings = Settings(exporters=(handler,), capture_content=False, redact=lambda key, value: "hidden")
    (queue,), _ = open_destinations(settings, make_redactor(settings), standard=False)
    queue.put(sdk_span({"input.value": "mine", "llm.model_name": "m"}))
    queue.shutdown()
    (span,) = handler.spans
    assert "mine" not in str(span.attributes)
    assert span.attributes["llm.model_name"] == "hidden"


@pytest.mark.parametrize(
    "variables",
    [
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "{}"},
        {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "{}/v1/traces"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "{}", "OTEL_TRACES_EXPORTER": "otlp"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "{}", "OTEL_TRACES_EXPORTER": "otlp_proto_http"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "{}", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
    ],
)
def test_the_standard_variables_name_an_endpoint(
    collected: Collected, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    """An endpoint in the environment, with or without an exporter's name, gets the spans with its headers."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(collected.endpoint))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=k")
    (stats,), problems = _sent(Settings())
    assert not problems
    assert stats.written == 1
    assert collected.paths == ["/v1/traces"]
    assert collected.headers[0]["x-key"] == "k"


def test_what_is_given_goes_before_the_same_in_the_environment(
    tmp_path: Path, collected: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint or a file that is given replaces that of the environment; one of the other kind stays."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    stats, _ = _sent(Settings(endpoint=collected.endpoint))
    assert [queue.name for queue in stats] == [f"otlp {collected.endpoint}"]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collected.endpoint)
    stats, _ = _sent(Settings(file=f"{tmp_path}/t.jsonl"))
    assert [queue.name for queue in stats] == [f"file {tmp_path}/t.jsonl", "otlp"]
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "pixie_otel")
    stats, _ = _sent(Settings(file=f"{tmp_path}/t.jsonl"))
    assert [queue.name for queue in stats] == [f"file {tmp_path}/t.jsonl"]


def test_our_exporter_is_found_by_the_standard_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`OTEL_TRACES_EXPORTER=pixie_otel` writes to `PIXIE_OTEL_FILE`, as it does in any application of OpenTelemetry."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "pixie_otel")
    monkeypatch.setenv("PIXIE_OTEL_FILE", f"{tmp_path}/t.jsonl")
    (stats,), _ = _sent(Settings())
    assert stats.written == 1
    assert len(_lines(tmp_path / "t.jsonl")) == 1


def test_several_exporters_are_named_with_commas(collected: Collected, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name of the list is a destination, once."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console, otlp,,console")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collected.endpoint)
    stats, problems = _sent(Settings())
    assert not problems
    assert [(queue.name, queue.written) for queue in stats] == [("console", 1), ("otlp", 1)]


def test_none_switches_the_standard_exporters_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """`OTEL_TRACES_EXPORTER=none` holds also where an endpoint is set, but not for what is given."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert _sent(Settings()) == ([], [])
    assert len(_sent(Settings(exporters=(InMemorySpanExporter(),)))[0]) == 1


def test_the_standard_variables_are_the_application_s_business_where_it_has_a_provider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the application set OpenTelemetry up itself, what it does with the variables is not done again."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert _sent(Settings(), standard=False) == ([], [])


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"OTEL_TRACES_EXPORTER": "kafka"}, "no exporter called 'kafka' is installed; there are console, otlp, "),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"},
            "OTEL_EXPORTER_OTLP_PROTOCOL is 'http/json'; there are grpc, http/protobuf",
        ),
    ],
)
def test_an_exporter_that_cannot_be_had_is_told(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], said: str
) -> None:
    """A wrong name or protocol is one message that says what there is; the other destinations get the spans."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (stats,), (problem,) = _sent(Settings(exporters=(InMemorySpanExporter(),)))
    assert stats.written == 1
    assert problem.message.startswith("OTEL_TRACES_EXPORTER: no spans go to ")
    assert said in problem.message


@pytest.mark.parametrize("source", ["raise ImportError('broken')", "def Exporter(): raise ValueError('broken')"])
def test_an_exporter_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """What loading or making an exporter raises is in the message and behind it."""
    (tmp_path / "broken_exporter.py").write_text(source)
    info = tmp_path / "broken_exporter-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-exporter\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[opentelemetry_traces_exporter]\nbroken = broken_exporter:Exporter\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "broken")
    _, (problem,) = _sent(Settings())
    sys.modules.pop("broken_exporter", None)
    assert problem.message.startswith("OTEL_TRACES_EXPORTER: no spans go to broken: ")
    assert problem.message.endswith("Error: broken")
    assert isinstance(problem.cause, ImportError | ValueError)


def test_destinations_of_one_name_are_told_apart() -> None:
    """Each destination has a name of its own in the statistics."""
    exporters = InMemorySpanExporter(), InMemorySpanExporter(), InMemorySpanExporter()
    stats, _ = _sent(Settings(exporters=exporters))
    assert [queue.name for queue in stats] == [
        "InMemorySpanExporter",
        "InMemorySpanExporter (2)",
        "InMemorySpanExporter (3)",
    ]
    assert all(len(exporter.get_finished_spans()) == 1 for exporter in exporters)


def test_a_broken_exporter_does_not_keep_spans_from_the_others() -> None:
    """One that raises loses its own spans only, and they are counted."""

    class Broken(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            raise RuntimeError("broken")

    whole = InMemorySpanExporter()
    stats, _ = _sent(Settings(exporters=(Broken(), whole)))
    assert [(queue.written, dict(queue.dropped)) for queue in stats] == [(0, {"export_failed": 1}), (1, {})]
    assert len(whole.get_finished_spans()) == 1


class _Servicer(TraceServiceServicer):  # type: ignore[misc]
    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.metadata: dict[str, Any] = {}

    def Export(self, request: ExportTraceServiceRequest, context: Any) -> ExportTraceServiceResponse:  # noqa: N802 - so the service calls it
        self.requests.append(request)
        self.metadata = dict(context.invocation_metadata())
        return ExportTraceServiceResponse()


def test_grpc_is_used_where_the_environment_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `OTEL_EXPORTER_OTLP_PROTOCOL=grpc` both kinds of endpoint are spoken to in gRPC, headers included."""
    servicer = _Servicer()
    server = grpc.server(ThreadPoolExecutor(1))
    add_TraceServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        endpoint = f"http://127.0.0.1:{port}"
        (stats,), _ = _sent(Settings(endpoint=endpoint, headers={"X-Key": "k"}))
        assert stats.written == 1
        assert servicer.metadata["x-key"] == "k"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        (stats,), _ = _sent(Settings())
        assert stats.written == 1
    finally:
        server.stop(None)
    assert len(servicer.requests) == 2
