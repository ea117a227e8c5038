"""The command as a process: signals, pipes and streams as the system gives them."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from otlp_lines import agent, chat, line, write

from pixie_otel.runs.manifest import RunStatus
from pixie_otel.runs.store import find_run

COMMAND = (sys.executable, "-m", "pixie_otel")

SLOW = """
import os, subprocess, sys, time

def slow(evaluable, trace):
    if int(trace.trace_id, 16) > 1:
        print("waiting", file=sys.stderr, flush=True)
        time.sleep(600)
    return True

def noisy(evaluable):
    print("noise on stdout")
    os.write(1, b"noise below" + os.linesep.encode())
    subprocess.run([sys.executable, "-c", "print('noise of a program')"], check=True)
    return True
"""


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Three traces."""
    return write(
        tmp_path / "traces.jsonl", *(line(agent(n, trace=n), chat(n + 100, parent=n, trace=n)) for n in (1, 2, 3))
    )


@pytest.fixture
def judges(tmp_path: Path) -> Path:
    """Evaluators that hang and that print."""
    return write(tmp_path / "judges.py", SLOW)


def run(*arguments: object, folder: Path, **more: object) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    environment = {**os.environ, "COLUMNS": "80", **{key: str(value) for key, value in more.items()}}
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def lines_until(stream: IO[str], wanted: str) -> Iterator[str]:
    """Read lines until one is the wanted one."""
    for text in stream:
        yield text
        if text.strip() == wanted:
            return


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_is_done(number: signal.Signals, code: int, traces: Path, judges: Path) -> None:
    """Ctrl-C and SIGTERM end the run with the case that was done kept, a report of it, and a code of their own."""
    process = subprocess.Popen(
        [*COMMAND, "eval", str(traces), "-e", f"{judges}:slow", "--concurrency", "1"],
        cwd=traces.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    with process:
        assert process.stderr is not None
        assert list(lines_until(process.stderr, "waiting"))
        process.send_signal(number)
        out, err = process.communicate()

    assert process.returncode == code
    assert "Traceback" not in err
    assert out.startswith("INTERRUPTED: ")
    kept = find_run("latest", traces.parent / "pixie-runs")
    assert [case.case.trace_id for case in kept] == [f"{1:032x}"]
    assert (kept.manifest.status, kept.exit_code) == (RunStatus.INTERRUPTED, code)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_before_the_first_case(number: signal.Signals, code: int, traces: Path) -> None:
    """A signal while an evaluator's file is being imported ends the command at once, and quietly."""
    loading = write(traces.parent / "loading.py", "import time\nprint('waiting', flush=True)\ntime.sleep(600)\n")
    process = subprocess.Popen(
        [*COMMAND, "eval", str(traces), "-e", f"{loading}:judge"],
        cwd=traces.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    with process:
        assert process.stderr is not None
        assert list(lines_until(process.stderr, "waiting"))
        process.send_signal(number)
        out, err = process.communicate()

    assert (process.returncode, out) == (code, "")
    assert err == "Interrupted before anything was judged.\n"


def test_json_is_alone_on_stdout(traces: Path, judges: Path) -> None:
    """With `--json`, stdout holds one document and nothing that evaluators print, or the programs that they start."""
    done = run("eval", traces, "-e", f"{judges}:noisy", "--json", folder=traces.parent)

    assert done.returncode == 0
    assert json.loads(done.stdout)["exit_code"] == 0
    noise = ("noise on stdout", "noise below", "noise of a program")
    assert [done.stderr.count(text) for text in noise] == [3, 3, 3]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
@pytest.mark.parametrize("command", ["show", "eval"])
def test_a_reader_that_left_is_no_error(command: str, traces: Path) -> None:
    """A pager that was closed, or `head`, ends the output and nothing else: the code is that of the work done."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, command, str(traces)],
            cwd=traces.parent,
            stdout=writing,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only some systems have a device that is always full")
def test_a_full_disk_is_said(traces: Path) -> None:
    """Where stdout cannot be written to, that is said, and the results are kept all the same."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, "eval", str(traces)],
            cwd=traces.parent,
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )

    assert done.returncode == 4
    assert done.stderr == "Error: stdout cannot be written to: No space left on device\n"
    assert find_run("latest", traces.parent / "pixie-runs").exit_code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_talk_that_nobody_hears_is_no_error(traces: Path) -> None:
    """With stderr closed too, the exit code is still that of what happened."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([*COMMAND, "show", "nowhere"], cwd=traces.parent, stderr=writing, check=False)
    finally:
        os.close(writing)

    assert done.returncode == 3


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such shell")
@pytest.mark.parametrize(
    ("arguments", "closed", "code"),
    [
        ("eval traces.jsonl", ">&-", 0),
        ("eval traces.jsonl --json", ">&-", 0),
        ("show traces.jsonl", ">&-", 0),
        ("eval traces.jsonl -q", "2>&-", 0),
        ("eval nowhere.jsonl", "2>&-", 3),
        ("eval nowhere.jsonl --json", ">&- 2>&-", 3),
    ],
)
def test_streams_may_be_closed(traces: Path, arguments: str, closed: str, code: int) -> None:
    """Where stdout or stderr is closed, as in some services, nobody is told anything, and the exit code is the same."""
    done = subprocess.run(
        f"{shlex.join(COMMAND)} {arguments} {closed}",
        shell=True,
        cwd=traces.parent,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_reads_standard_input(traces: Path) -> None:
    """`-` reads what is piped in."""
    done = subprocess.run(
        [*COMMAND, "eval", "-", "-q"],
        cwd=traces.parent,
        input=traces.read_bytes(),
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, b"PASSED: 3 of 3 judged cases passed" + os.linesep.encode())


def test_any_encoding_will_do(traces: Path) -> None:
    """Where stdout cannot hold a character, an escape stands for it."""
    path = write(traces.parent / "names.jsonl", line(agent(1, name="日本 \ud83d\ude00")))

    done = run("show", path, folder=traces.parent, PYTHONIOENCODING="ascii")

    assert done.returncode == 0
    assert r"\u65e5\u672c" in done.stdout


def test_completes_in_a_shell(traces: Path) -> None:
    """Commands and options complete in bash."""
    done = run(
        folder=traces.parent,
        _PIXIE_OTEL_COMPLETE="complete_bash",
        COMP_WORDS="pixie-otel eval --eval",
        COMP_CWORD="2",
    )

    assert done.returncode == 0
    assert done.stdout.split() == ["--evaluator"]
