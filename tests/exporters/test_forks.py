"""Facts about processes that fork or share a file: forks under load, pools, children that end at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fault_programs import run_program
from fault_spans import names_in, trace_files

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")

_START = """
import os, sys, threading, time
from fault_spans import provider_to
from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter
from pixie_otel.exporters.span_queue import span_queue

target, count = sys.argv[1], int(sys.argv[2])
queue = span_queue("forks", OtlpJsonlExporter(target, max_file_bytes=200_000))
provider = provider_to(queue.put)
tracer = provider.get_tracer("forks")

def end(name):
    with tracer.start_as_current_span(name, attributes={"text": "x" * 500}):
        pass
"""

_UNDER_LOAD = (
    _START
    + """
go_on = True
ended = [0] * 4

def load(thread):
    while go_on:
        for _ in range(20):
            end(f"parent {thread} {ended[thread]}")
            ended[thread] += 1
        time.sleep(0.001)

threads = [threading.Thread(target=load, args=(thread,)) for thread in range(4)]
for thread in threads:
    thread.start()
for number in range(count):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            for place in range(5):
                end(f"child {number} {place}")
            stats = queue.stats()
            if stats.ended == 5 and queue.flush(20) and queue.stats().written == 5:
                code = 0
        finally:
            os._exit(code)
    deadline = time.monotonic() + 20
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(pid, 9)
            sys.exit(f"child {number} hangs")
        time.sleep(0.001)
    assert status == 0, (number, status)
go_on = False
for thread in threads:
    thread.join()
assert queue.shutdown(60)
stats = queue.stats()
assert stats.written == stats.ended == sum(ended), stats
print(*ended)
"""
)


def _fork_under_load(target: Path, count: int) -> None:
    ended = [int(number) for number in run_program(_UNDER_LOAD, target, count).split()]
    expected = {f"child {number} {place}" for number in range(count) for place in range(5)}
    expected |= {f"parent {thread} {number}" for thread, most in enumerate(ended) for number in range(most)}
    found = names_in(target)
    assert found.keys() == expected
    assert set(found.values()) == {1}


@pytest.mark.parametrize("name", ["many", "one/traces.jsonl"])
def test_forks_under_load_lose_and_double_nothing(name: str, tmp_path: Path) -> None:
    """While four threads export, children write their own spans: none hangs, none is missing, none is there twice."""
    _fork_under_load(tmp_path / name, 20)


@pytest.mark.long
@pytest.mark.parametrize("name", ["many", "one/traces.jsonl"])
def test_two_hundred_forks_under_load_lose_and_double_nothing(name: str, tmp_path: Path) -> None:
    """The same with two hundred forks."""
    _fork_under_load(tmp_path / name, 200)


_MULTIPROCESSING = """
import multiprocessing, os, sys
from concurrent.futures import ProcessPoolExecutor
from fault_spans import provider_to
from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter
from pixie_otel.exporters.span_queue import span_queue

def set_up():
    global queue, tracer
    queue = span_queue("children", OtlpJsonlExporter(sys.argv[1]), delay=60)
    tracer = provider_to(queue.put).get_tracer("children")

def work(number):
    if "queue" not in globals():
        set_up()
    with tracer.start_as_current_span(f"child {number}"):
        pass

if __name__ == "__main__":
    method, count = sys.argv[2], int(sys.argv[3])
    context = multiprocessing.get_context(method)
    if method == "fork":
        set_up()
        work(-1)
    children = [context.Process(target=work, args=(number,)) for number in range(count)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        assert child.exitcode == 0, child
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        list(pool.map(work, range(count, count + 4)))
    if method == "fork":
        assert queue.shutdown(60)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_short_children_of_multiprocessing_lose_nothing(method: str, tmp_path: Path) -> None:
    """Children that end at once, by os._exit and without atexit, have written what they ended."""
    program = tmp_path / "program.py"
    program.write_text(_MULTIPROCESSING)
    run_program(program, tmp_path / "traces", method, 2)
    expected = {f"child {number}": 1 for number in range(6)}
    if method == "fork":
        expected["child -1"] = 1
    assert names_in(tmp_path / "traces") == expected


_CELERY = (
    _START
    + """
# As billiard's workers do: each answers, waits (they do for a second), and is gone without another word.
pids = []
for number in range(count):
    pid = os.fork()
    if pid == 0:
        end(f"task {number}")
        deadline = time.monotonic() + 60
        while not queue.stats().written and time.monotonic() < deadline:
            time.sleep(0.01)
        os._exit(0)
    pids.append(pid)
for pid in pids:
    assert os.waitpid(pid, 0)[1] == 0
print("fine")
"""
)


def test_workers_like_celerys_lose_nothing(tmp_path: Path) -> None:
    """A worker that does one task, and ends by os._exit a moment later, has written its span without being asked."""
    assert run_program(_CELERY, tmp_path / "traces", 4) == "fine\n"
    assert names_in(tmp_path / "traces") == {f"task {number}": 1 for number in range(4)}


_PREFORK = (
    _START
    + """
import signal

# As gunicorn with --preload: the master traces too, then workers serve until SIGTERM, which the application handles.
end("master")
pids = []
for worker in range(count):
    ready, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        def stop(number, frame):
            os._exit(0 if queue.flush(20) else 1)
        signal.signal(signal.SIGTERM, stop)
        for request in range(50):
            end(f"worker {worker} {request}")
        os.write(tell, b"!")
        while True:
            signal.pause()
    assert os.read(ready, 1) == b"!"
    pids.append(pid)
for pid in pids:
    os.kill(pid, signal.SIGTERM)
for pid in pids:
    assert os.waitpid(pid, 0)[1] == 0
assert queue.shutdown(20)
print("fine")
"""
)


def test_prefork_workers_have_files_of_their_own(tmp_path: Path) -> None:
    """Master and workers write to different files in the folder, and a flush in a signal handler loses nothing."""
    assert run_program(_PREFORK, tmp_path / "traces", 3) == "fine\n"
    expected = {f"worker {worker} {request}": 1 for worker in range(3) for request in range(50)}
    assert names_in(tmp_path / "traces") == {"master": 1, **expected}
    assert len(trace_files(tmp_path / "traces")) == 4


_LEASE = (
    _START
    + """
from pathlib import Path
from pixie_otel.exporters.rotation import DiskSpace, own_files

# A child must not take the parent's lease with it, nor keep it when the parent has let go.
end("parent")
assert queue.flush(20)
ready, tell = os.pipe()
done, finish = os.pipe()
pid = os.fork()
if pid == 0:
    # So that the end of the parent, whatever it is, ends this one.
    os.close(finish)
    end("child")
    queue.flush(20)
    os.write(tell, b"!")
    os.read(done, 1)
    os._exit(0)
os.read(ready, 1)
space = DiskSpace(Path(target), own_files(), 1)
assert not space.take(1)
assert space.deleted_files == 0
assert queue.shutdown(20)
assert not space.take(1)
assert space.deleted_files == 1
os.write(finish, b"!")
assert os.waitpid(pid, 0)[1] == 0
space.take(1)
assert space.deleted_files == 2
print("fine")
"""
)


def test_a_lease_is_that_process_alone(tmp_path: Path) -> None:
    """The parent's file is protected while the parent has it open, and no longer, whatever its children do."""
    assert run_program(_LEASE, tmp_path / "traces", 0) == "fine\n"


_MANY = """
import os, sys
from fault_spans import provider_to
from pixie_otel.exporters.otlp_jsonl import OtlpJsonlExporter
from pixie_otel.exporters.span_queue import span_queue

target, count = sys.argv[1], int(sys.argv[2])

def write(process):
    queue = span_queue("many", OtlpJsonlExporter(target, max_file_bytes=200_000))
    tracer = provider_to(queue.put).get_tracer("many")
    for number in range(count):
        with tracer.start_as_current_span(f"{process} {number}", attributes={"text": "x" * 500}):
            pass
        # Faster than it can be written is another fact.
        if number % 1000 == 999:
            assert queue.flush(60)
    assert queue.shutdown(60)
    stats = queue.stats()
    assert (stats.ended, stats.written) == (count, count), stats

# Each with all of its own: nothing is shared but the target.
ready, go = os.pipe()
pids = []
for process in range(8):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(go)
            os.read(ready, 1)
            write(process)
            code = 0
        finally:
            os._exit(code)
    pids.append(pid)
os.close(go)
assert not any(os.waitpid(pid, 0)[1] for pid in pids)
print("fine")
"""


def _write_from_eight(target: Path, count: int) -> None:
    assert run_program(_MANY, target, count) == "fine\n"
    found = names_in(target)
    assert found.total() == 8 * count
    assert found.keys() == {f"{process} {number}" for process in range(8) for number in range(count)}


@pytest.mark.parametrize("name", ["many", "one/traces.jsonl"])
def test_eight_processes_write_at_once(name: str, tmp_path: Path) -> None:
    """Eight processes into one folder, or one file, which rotates under them: the sum is exact."""
    _write_from_eight(tmp_path / name, 500)


@pytest.mark.long
@pytest.mark.parametrize("name", ["many", "one/traces.jsonl"])
def test_eight_processes_write_ten_thousand_spans_each(name: str, tmp_path: Path) -> None:
    """The same with ten thousand spans each."""
    _write_from_eight(tmp_path / name, 10_000)
