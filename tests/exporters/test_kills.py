"""Facts about what a kill costs: real processes, killed by SIGKILL at any moment."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from fault_programs import end_of, start_program
from fault_spans import lines_in, names_in, names_in_line, trace_files
from sdk_spans import sdk_span

from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks and SIGKILL")

_BOUND_SECONDS = 1.0

_KILLS = """
import json, mmap, os, random, signal, struct, sys, time
from fault_spans import provider_to
from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter
from pixie_otel.exporters.span_queue import span_queue

target, trials, seed, longest = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
delay, most_waiting = float(sys.argv[5]), int(sys.argv[6])
most = 200_000

def noting(export, times):
    begun = [0]

    def noted(spans):
        begun.append(time.monotonic_ns())
        outcome = export(spans)
        # What ended before the last batch but one was begun was in the last one at the latest.
        struct.pack_into("q", times, 0, begun[-2])
        return outcome

    return noted

def work(trial, times):
    chance = random.Random(trial)
    exporter = OtlpJsonlExporter(target, max_file_bytes=2_000_000)
    exporter.export_counted = noting(exporter.export_counted, times)
    queue = span_queue("kills", exporter, delay=delay)
    tracer = provider_to(queue.put).get_tracer("kills")
    number = 1
    while number < most - 100:
        while queue.stats().queued > most_waiting:
            time.sleep(0.001)
        for _ in range(chance.randrange(1, 40)):
            size = chance.choice((10, 500, 3000, 30_000))
            with tracer.start_as_current_span(f"{trial} {number}", attributes={"text": "x" * size}):
                pass
            struct.pack_into("q", times, 8 * number, time.monotonic_ns())
            number += 1
        time.sleep(chance.uniform(0, 0.01))

chance = random.Random(seed)
for trial in range(seed, seed + trials):
    times = mmap.mmap(-1, 8 * most)
    pid = os.fork()
    if pid == 0:
        try:
            work(trial, times)
        finally:
            os._exit(1)
    time.sleep(chance.uniform(0.0, longest))
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic_ns()
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    (safe,), *ended = struct.iter_unpack("q", times)
    ages = [(killed - when) / 1e9 for (when,) in ended if when]
    print(json.dumps({"trial": trial, "ages": ages, "safe": (killed - safe) / 1e9}), flush=True)
    times.close()
"""


@dataclass
class _Loss:
    """What the kills of a series cost."""

    kills: int = 0
    ended: int = 0
    lost: int = 0
    most: int = 0
    oldest: float = 0.0
    unsafe: int = 0
    """How many were lost though a later batch than theirs had been written."""
    torn: int = 0


def _judge(target: Path, outputs: list[str]) -> _Loss:
    """See that every line that a newline ends is whole, or was the last one of a killed process."""
    loss = _Loss()
    found: set[str] = set()
    for file in trace_files(target):
        lines = lines_in(file)
        for place, line in enumerate(lines, start=1):
            try:
                names = list(names_in_line(line))
            except ValueError:
                # In a file that others go on writing to, a killed process's last line need not be the file's.
                assert place == len(lines) or target.suffix
                loss.torn += 1
            else:
                assert found.isdisjoint(names)
                found.update(names)
    for output in outputs:
        for text in output.splitlines():
            trial = json.loads(text)
            lost = [age for number, age in enumerate(trial["ages"], 1) if f"{trial['trial']} {number}" not in found]
            loss.kills += 1
            loss.ended += len(trial["ages"])
            loss.lost += len(lost)
            loss.most = max(loss.most, len(lost))
            loss.oldest = max([loss.oldest, *lost])
            loss.unsafe += sum(age > trial["safe"] for age in lost)
    assert loss.torn <= loss.kills
    assert loss.ended > 0
    return loss


def _kill(target: Path, trials: int, longest: float, delay: float, most_waiting: int) -> _Loss:
    """Two processes are killed again and again, while both write to the same place."""
    arguments = longest, delay, most_waiting
    processes = [start_program(_KILLS, target, trials // 2, seed, *arguments) for seed in (1, 1_000_001)]
    return _judge(target, [end_of(process) for process in processes])


@pytest.mark.parametrize("name", ["many", "one/traces.jsonl"])
def test_a_kill_costs_the_last_second_at_most(name: str, tmp_path: Path) -> None:
    """After SIGKILL at any moment every line but the last is whole, and what is missing is the last two batches' only.

    How long a batch takes is the machine's business: that it is within the second is shown at length below.
    """
    # So few wait that a batch takes them all.
    loss = _kill(tmp_path / name, 10, 0.5, 0.02, 64)
    assert loss.kills == 10
    assert loss.unsafe == 0, loss


@pytest.mark.long
@pytest.mark.parametrize("name", ["many", "one/traces.jsonl"])
def test_three_hundred_kills_cost_the_last_second_at_most(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same three hundred times, with what it really cost printed."""
    loss = _kill(tmp_path / name, 300, 1.0, 0.1, 10**6)
    assert loss.kills == 300
    assert loss.oldest <= _BOUND_SECONDS, loss
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: {loss}\n")


_EXIT = """
import atexit, sys
from fault_spans import provider_to
from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter
from pixie_otel.exporters.span_queue import span_queue

queue = span_queue("exit", OtlpJsonlExporter(sys.argv[1]), delay=60)
tracer = provider_to(queue.put).get_tracer("exit")
atexit.register(queue.shutdown)

def end(name):
    with tracer.start_as_current_span(name):
        pass

# Registered later, so called earlier: what the application ends when it exits is still written.
atexit.register(end, "at exit")
for number in range(100):
    end(f"span {number}")
if sys.argv[2] == "exception":
    raise ValueError("the application's own")
sys.exit(0)
"""


@pytest.mark.parametrize("how", ["exit", "exception"])
def test_an_exit_costs_nothing(how: str, tmp_path: Path) -> None:
    """With a shutdown at exit everything is written, also what ends at exit and after an exception."""
    process = start_program(_EXIT, tmp_path / "traces.jsonl", how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (1 if how == "exception" else 0)
    assert ("the application's own" in errors) == (how == "exception")
    assert names_in(tmp_path) == {"at exit": 1, **{f"span {number}": 1 for number in range(100)}}


def _start_again(path: Path, number: int) -> None:
    exporter = OtlpJsonlExporter(path)
    exporter.export([sdk_span(number=number)])
    exporter.shutdown()


def test_a_restart_after_a_torn_line_loses_nothing_more(tmp_path: Path) -> None:
    """Lines written after a crash are whole, whatever the crash left at the end of the file."""
    path = tmp_path / "traces.jsonl"
    _start_again(path, 1)
    whole = path.read_bytes()
    for number, left in enumerate((1, len(whole) // 2, len(whole) - 1), start=2):
        with path.open("ab") as file:
            file.write(whole[:left])
        _start_again(path, number)
    lines = path.read_bytes().split(b"\n")
    read = [name for line in lines if line.endswith(b"]}") for name in names_in_line(line)]
    assert read == ["span 1", "span 2", "span 3", "span 1", "span 4"]


def test_a_program_that_never_closes_says_nothing_at_its_end(tmp_path: Path) -> None:
    """An exit without a shutdown prints nothing, and loses at most what waited."""
    program = _EXIT.replace("atexit.register(queue.shutdown)\n", "")
    process = start_program(program, tmp_path / "traces.jsonl", "exit")
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0
