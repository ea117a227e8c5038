"""`pixie-otel record`: as a process, since it lives until it is told to end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from command_calls import Pixie
from otlp_lines import agent, batch, chat

from pixie_otel.exporters.otlp_receiver import OtlpReceiver
from pixie_otel.traces.reader import read_traces

COMMAND = (sys.executable, "-m", "pixie_otel", "record")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")

APPLICATION = """
import sys
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
with provider.get_tracer("app").start_as_current_span("answer"):
    print("at work", sys.argv[1:])
provider.shutdown()
sys.exit(int(sys.argv[1]))
"""


@contextmanager
def recording(folder: Path, *arguments: str, **streams: Any) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """Run a recorder until it has said where it listens; give it, that, and what it said."""
    process = subprocess.Popen(
        [*COMMAND, "-o", "out.jsonl", "--port", "0", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        **streams,
    )
    with process:
        try:
            assert process.stderr is not None
            said: list[str] = []
            for text in process.stderr:
                said.append(text.rstrip("\n"))
                if "PROTOCOL=" in text:
                    break
            endpoint = next(word for text in said for word in text.split() if word.startswith("http://"))
            yield process, endpoint, said
        finally:
            process.kill()


def send(endpoint: str, body: object, path: str = "/v1/traces") -> None:
    """Send a request of OTLP."""
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(endpoint + path, json.dumps(body).encode(), headers)) as answer:
        assert answer.status == 200


def run(folder: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a recorder to its end."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture
def application(tmp_path: Path) -> str:
    """A program that sends a span by OTLP's own settings and ends with the code that it is told."""
    path = tmp_path / "application.py"
    path.write_text(APPLICATION, encoding="utf-8")
    return str(path)


class TestAlone:
    """The recorder by itself."""

    @POSIX
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_ends_it_in_order(self, tmp_path: Path, number: signal.Signals) -> None:
        """Ctrl-C and SIGTERM end it with 0, all that came in the file, and what to do next."""
        with recording(tmp_path) as (process, endpoint, said):
            send(endpoint, batch(agent(1), chat(2, parent=1)))
            send(endpoint, {"resourceLogs": [{"scopeLogs": [{"logRecords": [{}]}]}]}, "/v1/logs")
            send(endpoint, {}, "/v1/metrics")
            process.send_signal(number)
            out, err = process.communicate()

        assert process.returncode == 0
        assert said == [
            f"Recording what is sent to {endpoint} in out.jsonl; Ctrl-C ends it.",
            "In the shell that starts the application:",
            f"  export OTEL_EXPORTER_OTLP_ENDPOINT={endpoint}",
            "  export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
        ]
        assert err.splitlines() == [
            "Recorded 2 spans of 1 trace and 1 log record in out.jsonl.",
            "1 request with metrics, which are not kept.",
            "Next:",
            "  pixie-otel show out.jsonl",
            "  pixie-otel eval out.jsonl",
            "  pixie-otel scan out.jsonl",
        ]
        assert not out
        (trace,) = read_traces(tmp_path / "out.jsonl")
        assert len(trace.llm_calls) == 1

    @POSIX
    def test_nothing_is_3(self, tmp_path: Path) -> None:
        """A recorder to which nothing came ends with 3, and asks what one would look at."""
        with recording(tmp_path) as (process, _, _):
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()

        assert process.returncode == 3
        assert err.startswith(
            "Recorded 0 spans of 0 traces in out.jsonl.\nNothing was sent. Was the application started"
        )

    @POSIX
    def test_says_what_was_refused(self, tmp_path: Path) -> None:
        """A request that cannot be taken is told at once, and counted at the end."""
        with recording(tmp_path) as (process, endpoint, _):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                send(endpoint, {}, "/")
            assert process.stderr is not None
            assert "there is no '/' here" in process.stderr.readline()
            document = batch(agent(1))
            document["resourceSpans"].append("no object")
            send(endpoint, document)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate()

        assert process.returncode == 0
        assert "1 spans are no objects\n" in err
        assert "1 request refused: 1 unknown-path.\n" in err
        assert "1 spans or log records were not taken.\n" in err

    def test_ends_after_a_time(self, tmp_path: Path) -> None:
        """`--duration` ends it, and `--json` gives what came as a document on stdout."""
        done = run(tmp_path, "-o", "out.jsonl", "--port", "0", "--duration", "0.01", "--json", "-q")

        assert done.returncode == 3
        document = json.loads(done.stdout)
        assert (document["file"], document["spans"], document["refused"]) == ("out.jsonl", 0, {})
        assert "export" not in done.stderr

    def test_adds_to_what_is_there(self, tmp_path: Path) -> None:
        """A file that is there is added to, and that is said."""
        (tmp_path / "out.jsonl").write_text("{}\n", encoding="utf-8")

        done = run(tmp_path, "-o", "out.jsonl", "--port", "0", "--duration", "0.01", "--host", "0.0.0.0")

        assert "in out.jsonl, after the 3 bytes that are there; Ctrl-C ends it." in done.stderr
        assert "Warning: 0.0.0.0 may be reached from other machines" in done.stderr
        assert (tmp_path / "out.jsonl").read_bytes() == b"{}\n"

    @POSIX
    def test_counts_at_a_terminal(self, tmp_path: Path) -> None:
        """At a terminal, a line tells how much came, and is gone at the end."""
        import pty

        ours, theirs = pty.openpty()
        environment = {name: value for name, value in os.environ.items() if name != "CI"} | {"TERM": "xterm"}
        process = subprocess.Popen(
            [*COMMAND, "-o", "out.jsonl", "--port", "0"], cwd=tmp_path, stderr=theirs, env=environment
        )
        with process, os.fdopen(ours, "rb", buffering=0) as terminal:
            os.close(theirs)
            said = b""
            while b"PROTOCOL=" not in said:
                said += terminal.read(1024)
            endpoint = next(word for word in said.decode().split() if word.startswith("http://"))
            send(endpoint, batch(agent(1)))
            while "1 span of 1 trace …".encode() not in said:
                said += terminal.read(1024)
            process.terminate()
            assert process.wait() == 0


class TestCommand:
    """A recorder with a program of its own."""

    @pytest.mark.parametrize("code", [0, 7])
    def test_records_what_a_program_sends(self, tmp_path: Path, application: str, code: int) -> None:
        """The program is told where to send by its environment, and its exit code is the recorder's."""
        done = run(
            tmp_path,
            *("-o", "out.jsonl", "--port", "0", "--", sys.executable, application, code, "--port", "1"),
            OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="http://127.0.0.1:9/v1/traces",
            HTTP_PROXY="http://127.0.0.1:9",
            OTEL_SERVICE_NAME="bot",
        )

        assert done.returncode == code, done.stderr
        assert done.stdout == f"at work ['{code}', '--port', '1']\n"
        assert "Recorded 1 span of 1 trace in out.jsonl." in done.stderr
        (trace,) = read_traces(tmp_path / "out.jsonl")
        assert trace.roots[0].span.name == "answer"

    def test_json_is_alone_on_stdout(self, tmp_path: Path, application: str) -> None:
        """With `--json`, what the program prints goes to stderr."""
        done = run(tmp_path, "-o", "out.jsonl", "--port", "0", "--json", sys.executable, application, "5")

        document = json.loads(done.stdout)
        assert (document["spans"], document["command_exit_code"], done.returncode) == (1, 5, 5)
        assert "at work" in done.stderr

    def test_a_program_that_sends_nothing_is_told(self, tmp_path: Path) -> None:
        """Nothing recorded is said, and the exit code stays the program's."""
        done = run(tmp_path, "-o", "out.jsonl", "--port", "0", "-q", "--", sys.executable, "-c", "")

        assert done.returncode == 0
        assert "Nothing was sent" in done.stderr

    def test_a_program_that_is_not_there_is_usage(self, tmp_path: Path) -> None:
        """What cannot be started ends with 2 and is named."""
        done = run(tmp_path, "-o", "out.jsonl", "--port", "0", "--", "no-such-program")

        assert done.returncode == 2
        assert "Error: 'no-such-program' cannot be started: No such file or directory" in done.stderr

    @POSIX
    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_a_signal_is_passed_on(self, tmp_path: Path, number: signal.Signals, code: int) -> None:
        """A signal to the recorder ends the program, whose code is told as a shell tells it."""
        waiting = "import time; print('waiting', flush=True); time.sleep(600)"
        process = subprocess.Popen(
            [*COMMAND, "-o", "out.jsonl", "--port", "0", "-q", "--", sys.executable, "-c", waiting],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        with process:
            assert process.stdout is not None
            assert process.stdout.readline() == "waiting\n"
            process.send_signal(number)
            process.communicate()

        assert process.returncode == code

    @POSIX
    def test_a_program_that_takes_too_long_is_told_to_end(self, tmp_path: Path) -> None:
        """After `--duration` the program gets what Ctrl-C would send it."""
        patient = "import time; time.sleep(600)"

        done = run(tmp_path, "-o", "out.jsonl", "--port", "0", "--duration", "0.5", "--", sys.executable, "-c", patient)

        assert done.returncode == 130


@POSIX
class TestInThisProcess:
    """The same without a process of its own."""

    def test_ends_by_a_signal(self, pixie: Pixie, folder: Path) -> None:
        """Ctrl-C ends it in order, and afterwards does what it did before."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        before = signal.getsignal(signal.SIGINT)

        def act() -> None:
            deadline = monotonic() + 30
            while monotonic() < deadline:
                with contextlib.suppress(OSError):
                    send(f"http://127.0.0.1:{port}", batch(agent(1), chat(2, parent=1)))
                    break
            os.kill(os.getpid(), signal.SIGINT)

        sender = threading.Thread(target=act)
        sender.start()
        done = pixie("record", "-o", "out.jsonl", "--port", port)
        sender.join()

        assert done.code == 0
        assert "Recorded 2 spans of 1 trace in out.jsonl." in done.err
        assert signal.getsignal(signal.SIGINT) is before

    def test_ends_after_a_time(self, pixie: Pixie, folder: Path) -> None:
        """`--duration` ends it; the document tells all counts."""
        done = pixie("record", "-o", "out.jsonl", "--port", "0", "--duration", "0.001", "--json", "--host", "0.0.0.0")

        assert done.code == 3
        assert sorted(json.loads(done.out)) == [
            "bytes_written",
            "file",
            "log_records",
            "metric_requests",
            "refused",
            "rejected",
            "requests",
            "spans",
            "traces",
        ]
        assert "Warning: 0.0.0.0" in done.err

    def test_runs_a_program(self, pixie: Pixie, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Programs end it with their own codes, whatever the environment said before."""
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "grpc")
        program = "import os, sys; sys.exit('OTEL_EXPORTER_OTLP_LOGS_PROTOCOL' in os.environ and 9 or 4)"

        assert pixie("record", "-o", "out.jsonl", "--port", "0", "--json", sys.executable, "-c", program).code == 4
        assert pixie("record", "-o", "out.jsonl", "--port", "0", "no-such-program").code == 2

    def test_a_signal_is_passed_on(self, pixie: Pixie, folder: Path) -> None:
        """A program that tells the recorder to end is told to end itself; so it is when its time is over."""
        program = "import os, signal, time; os.kill(os.getppid(), signal.SIGTERM); time.sleep(600)"
        assert pixie("record", "-o", "out.jsonl", "--port", "0", "--", sys.executable, "-c", program).code == 143
        sleeper = (sys.executable, "-c", "import time; time.sleep(600)")
        assert pixie("record", "-o", "out.jsonl", "--port", "0", "--duration", "0.1", "--", *sleeper).code == 130


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no file was given: say where to write by -o"),
        (["-o", "out.jsonl", "--port", "70000"], "--port is 70000"),
        (["-o", "out.jsonl", "--port", "some"], "--port"),
        (["-o", "out.jsonl", "--duration", "0"], "--duration is 0"),
        (["-o", "out.jsonl", "--duration", "nan"], "--duration is nan"),
        (["-o", ".", "--port", "0"], ". cannot be written: Is a directory"),
        (["-o", "out.jsonl", "--no-such-option"], "--no-such-option"),
    ],
)
def test_wrong_usage_is_said(pixie: Pixie, arguments: list[str], said: str) -> None:
    """Wrong usage ends with 2 and a message that names what was wrong."""
    done = pixie("record", *arguments)

    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_port_in_use_is_said(pixie: Pixie, folder: Path) -> None:
    """A port that another program has ends with 2, names the option, and makes no file."""
    with OtlpReceiver(folder / "first.jsonl", port=0) as receiver:
        port = receiver.endpoint.rpartition(":")[2]
        done = pixie("record", "-o", "second.jsonl", "--port", port)

    assert done.code == 2
    assert f"port {port} of 127.0.0.1 cannot be listened on: Address already in use" in done.err
    assert "--port" in done.err
    assert not (folder / "second.jsonl").exists()


def test_its_help_has_examples() -> None:
    """The help has examples and tells the exit codes."""
    from pixie_otel.cli.record import record_command

    help_text, _, examples = str(record_command.__doc__).partition("Examples:\n")
    assert examples.count("pixie-otel record ") >= 3
    assert "Ends with 0" in help_text
