"""``pixie-otel record``: write down what an application sends by OTLP."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Generator
from queue import Empty, SimpleQueue
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from pixie_otel.errors import ConfigError

if TYPE_CHECKING:
    from pixie_otel.cli.console import Console
    from pixie_otel.exporters.otlp_receiver import OtlpReceiver, ReceiverCounts

__all__ = ["record_command"]

_PORT: Final = 4318
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_PROTOCOL: Final = "http/protobuf"
_SIGNALS: Final = ("TRACES", "LOGS", "METRICS")
_LOOK_SECONDS: Final = 0.2
_NO_TRACE: Final = 3
_RECORDING: Final = "Recording"

_Out: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--out",
        metavar="FILE",
        rich_help_panel=_RECORDING,
        show_default=False,
        help="The file to add lines of OTLP JSON to; it is made, for you alone to read, where it is not there. "
        "Example: -o traces.jsonl",
    ),
]
_Port: TypeAlias = Annotated[
    int,
    typer.Option(
        metavar="N",
        rich_help_panel=_RECORDING,
        show_default=False,
        help="The port to listen on; 0 takes any free one. Default: 4318, OTLP's own. Example: --port 0",
    ),
]
_Host: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        rich_help_panel=_RECORDING,
        show_default=False,
        help="The address to listen on. Default: 127.0.0.1, which only this machine reaches. Example: --host 0.0.0.0 "
        "in a container",
    ),
]
_Duration: TypeAlias = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        rich_help_panel=_RECORDING,
        show_default=False,
        help="End after so long; a COMMAND is then told to end, as by Ctrl-C. Default: when Ctrl-C is pressed, or the "
        "COMMAND ends. Example: --duration 60",
    ),
]
_Json: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json",
        rich_help_panel="Results",
        help="Print what was recorded as one JSON document; what a COMMAND prints then goes to stderr.",
    ),
]
_Quiet: TypeAlias = Annotated[
    bool,
    typer.Option("-q", "--quiet", rich_help_panel="Results", help="Say only what is wrong."),
]
_Command: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[-- COMMAND...]",
        show_default=False,
        help="A program to run, told by its environment where to send its traces; recording ends when it does.",
    ),
]


def record_command(
    *,
    out: _Out = None,
    port: _Port = _PORT,
    host: _Host = _LOOPBACK[0],
    duration: _Duration = None,
    as_json: _Json = False,
    quiet: _Quiet = False,
    command: _Command = None,
) -> None:
    """Record what applications in any language send by OTLP, over HTTP, on this machine.

    Takes traces and logs, as protobuf or JSON, and adds a line for each request to
    a file that 'show', 'eval' and 'scan' read. Credentials are taken out first;
    metrics are taken and not kept. Nothing is sent anywhere, and of web pages only
    those of this machine may send. Point the application at it:
      OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318
      OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf

    Ends with 0 (spans were recorded), 2 (usage, or the port is taken), 3 (no span
    came); with a COMMAND, with that command's own exit code, or 2 where it cannot
    be started.

    \b
    Examples:
      pixie-otel record -o traces.jsonl
      pixie-otel record -o traces.jsonl -- node app.js --port 8080
      pixie-otel record -o traces.jsonl --port 0 --json -- pytest -q
      pixie-otel record -o nightly.jsonl --duration 3600 -q
    """  # noqa: D301 - Typer rewraps every paragraph, but for one that a real \b marks
    from pixie_otel.cli.console import Console
    from pixie_otel.exporters.otlp_receiver import OtlpReceiver

    if not out:
        raise ConfigError("no file was given: say where to write by -o, as in -o traces.jsonl")
    if not 0 <= port < 65_536:
        raise ConfigError(f"--port is {port}: give 0 to 65535")
    if duration is not None and not duration > 0:
        raise ConfigError(f"--duration is {duration:g}: give a number of seconds greater than 0")
    console = Console()
    is_counting = not quiet and not command and console.shows_progress

    def say(text: str) -> None:
        if is_counting:
            console.show_progress("")
        console.say(text)

    code = None
    receiver = OtlpReceiver(out, host=host, port=port, say=say)
    with _signals() as signals, receiver:
        if not quiet:
            _say_start(receiver, console, host, is_alone=not command)
        if command:
            code = _run(command, receiver, signals, duration, as_json=as_json)
        else:
            _watch(receiver, signals, duration, console if is_counting else None)
    counts = receiver.counts()
    if as_json:
        console.write([_document(receiver, counts, code)])
    if not quiet or not counts.spans:
        _say_end(receiver, counts, console)
    if code is None:
        code = 0 if counts.spans else _NO_TRACE
    raise typer.Exit(code)


@contextlib.contextmanager
def _signals() -> Generator[SimpleQueue[int]]:
    """Give a queue of the signals that tell this process to end, which then do nothing else."""
    signals: SimpleQueue[int] = SimpleQueue()

    def note(number: int, _frame: FrameType | None) -> None:
        signals.put(number)

    before: dict[signal.Signals, Any] = {}
    # Only the main thread takes signals; whoever calls this from another one ends it in another way.
    with contextlib.suppress(ValueError):
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, note)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say_start(receiver: OtlpReceiver, console: Console, host: str, *, is_alone: bool) -> None:
    there = receiver.path.stat().st_size
    added = f", after the {there} bytes that are there" if there else ""
    ending = "; Ctrl-C ends it" if is_alone else ""
    console.say(f"Recording what is sent to {receiver.endpoint} in {receiver.path}{added}{ending}.")
    if host not in _LOOPBACK:
        console.say(f"Warning: {host} may be reached from other machines, and whoever does can write to the file.")
    if is_alone:
        word = "set" if sys.platform == "win32" else "export"
        console.say("In the shell that starts the application:")
        for name, value in _variables(receiver).items():
            console.say(f"  {word} {name}={value}")


def _variables(receiver: OtlpReceiver) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": _PROTOCOL}


def _watch(receiver: OtlpReceiver, signals: SimpleQueue[int], duration: float | None, console: Console | None) -> None:
    """Wait for a signal or the time, and show meanwhile on a console what came."""
    end = math.inf if duration is None else monotonic() + duration
    while (left := end - monotonic()) > 0:
        with contextlib.suppress(Empty):
            signals.get(timeout=min(_LOOK_SECONDS, left))
            break
        if console is not None:
            counts = receiver.counts()
            console.show_progress(f"{_numbered(counts.spans, 'span')} of {_numbered(counts.traces, 'trace')} …")
    if console is not None:
        console.show_progress("")


def _run(
    command: list[str], receiver: OtlpReceiver, signals: SimpleQueue[int], duration: float | None, *, as_json: bool
) -> int:
    """Run a program until it ends, and give its exit code."""
    try:
        process = subprocess.Popen(  # noqa: S603 - it is what the user typed
            command, env=_environment(receiver), stdout=_stderr_number() if as_json else None
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"{command[0]!r} cannot be started: {why}") from error
    end = math.inf if duration is None else monotonic() + duration
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(_LOOK_SECONDS)
            # A shell says it so of a program that a signal has ended.
            return code if code >= 0 else 128 - code
        if monotonic() >= end:
            end = math.inf
            _tell(process, signal.SIGINT)
        while not signals.empty():
            number = signals.get()
            # Ctrl-C in a terminal goes to all programs there, and has reached this one by itself.
            if number != signal.SIGINT or not _is_at_terminal():
                _tell(process, number)


def _stderr_number() -> int:
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        # It is closed, or an object of Python's alone.
        return subprocess.DEVNULL


def _tell(process: subprocess.Popen[bytes], number: int) -> None:
    # Windows has no signals that could be sent to one program.
    process.terminate() if sys.platform == "win32" else process.send_signal(number)


def _is_at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _environment(receiver: OtlpReceiver) -> dict[str, str]:
    """Give the environment of the program: what names another receiver for one signal would win over ours."""
    from pixie_otel.exporters.loopback_server import unproxied

    more_special = {f"OTEL_EXPORTER_OTLP_{name}_{what}" for name in _SIGNALS for what in ("ENDPOINT", "PROTOCOL")}
    environment = {name: value for name, value in os.environ.items() if name not in more_special}
    return environment | _variables(receiver) | unproxied(environment)


def _say_end(receiver: OtlpReceiver, counts: ReceiverCounts, console: Console) -> None:
    logs = f" and {_numbered(counts.log_records, 'log record')}" if counts.log_records else ""
    console.say(
        f"Recorded {_numbered(counts.spans, 'span')} of {_numbered(counts.traces, 'trace')}{logs} in {receiver.path}."
    )
    if counts.metric_requests:
        console.say(f"{_numbered(counts.metric_requests, 'request')} with metrics, which are not kept.")
    if counts.rejected:
        console.say(f"{counts.rejected} spans or log records were not taken.")
    if counts.refused:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.refused.items()))
        console.say(f"{_numbered(sum(counts.refused.values()), 'request')} refused: {reasons}.")
    if counts.spans:
        path = shlex.quote(str(receiver.path))
        console.say("Next:")
        for command in ("show", "eval", "scan"):
            console.say(f"  pixie-otel {command} {path}")
    elif not counts.requests:
        settings = " ".join(f"{name}={value}" for name, value in _variables(receiver).items())
        console.say(f"Nothing was sent. Was the application started with {settings}, and did it flush before it ended?")


def _numbered(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _document(receiver: OtlpReceiver, counts: ReceiverCounts, code: int | None) -> str:
    import dataclasses
    import json

    recorded = {"file": str(receiver.path), **dataclasses.asdict(counts)}
    return json.dumps(recorded if code is None else recorded | {"command_exit_code": code})
