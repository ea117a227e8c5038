"""Facts about processes that fork or share a file: forks under load, pools, children that end at once."""

from __future__ import annotations

import gc
import multiprocessing.process
import multiprocessing.util
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from fault_programs import run_program
from fault_spans import names_in, trace_files

from pixie_otel.diagnostics import internal_errors
from pixie_otel.exporters import forks

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


class _Owner:
    """Has a method to call in children."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.calls = 0

    def renew(self) -> None:
        self.calls += 1
        if self.error is not None:
            raise self.error


def test_who_is_gone_is_not_called_in_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Living objects are told of a fork, one that fails stops no other, and nothing is kept alive for it."""
    monkeypatch.setattr(forks, "_methods", {})
    before = internal_errors().get("starting afresh after a fork", 0)
    failing, living, gone = _Owner(ValueError("x")), _Owner(), _Owner()
    for owner in (failing, gone, living):
        forks.in_child(owner.renew)
    del owner, gone
    gc.collect()
    forks._after_fork()
    assert (failing.calls, living.calls) == (1, 1)
    assert internal_errors()["starting afresh after a fork"] == before + 1
    forks.in_child(living.renew)
    assert len(forks._methods) == 3


def test_a_process_of_multiprocessing_is_told_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """There, and nowhere else, a method is called before and after the application's own finalizers."""
    finalizers: list[tuple[Callable[[], None], int]] = []

    def record(target: None, method: Callable[[], None], *, exitpriority: int) -> None:
        finalizers.append((method, exitpriority))

    monkeypatch.setattr(multiprocessing.util, "Finalize", record)
    owner = _Owner()
    forks.before_exit_of_child(owner.renew)
    assert not finalizers
    monkeypatch.setattr(multiprocessing.process, "parent_process", lambda: "a parent")
    forks.before_exit_of_child(owner.renew)
    assert [priority for _, priority in finalizers] == [100, -100]
    finalizers[0][0]()
    assert owner.calls == 1
    del owner
    gc.collect()
    finalizers[1][0]()


_PACKING = """
import os, shutil, sys
from pathlib import Path
from pixie_otel.exporters.rotation import DiskSpace, compress_file, own_file_name, own_files

folder = Path(sys.argv[1])
path = folder / own_file_name()
path.write_bytes(b"a line\\n")
done, finish = os.pipe()
original = shutil.copyfileobj

def copy_and_fork(*arguments):
    original(*arguments)
    global pid
    pid = os.fork()
    if pid == 0:
        os.close(finish)
        ours = [file for file in os.listdir("/proc/self/fd") if "traces-" in os.path.realpath(f"/proc/self/fd/{file}")]
        os.read(done, 1)
        os._exit(len(ours))

shutil.copyfileobj = copy_and_fork
compress_file(path)
space = DiskSpace(folder, own_files(), 1)
space.take(1)
assert space.deleted_files == 1, os.listdir(folder)
os.close(finish)
assert os.waitpid(pid, 0)[1] == 0
print("fine")
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="lists open files")
def test_a_child_keeps_nothing_of_a_compression(tmp_path: Path) -> None:
    """A process that is forked while a file is compressed neither holds it open nor keeps it from being deleted."""
    assert run_program(_PACKING, tmp_path) == "fine\n"


_FORK_INSIDE = """
import os, signal, sys, threading
from fault_spans import balanced
from pixie_otel.exporters.work_queue import Outcome, WorkQueue

children = []
entered, let = threading.Event(), threading.Event()

def fork(*_):
    pid = os.fork()
    if pid:
        children.append(pid)
    let.set()

def refuse(thread):
    raise RuntimeError("can't start new thread")

def handle(batch):
    entered.set()
    if sys.argv[1] == "handler":
        fork()
    let.wait(30)
    return Outcome(len(batch), {})

queue = WorkQueue("forks", handle, lambda item: 1)
start = threading.Thread.start
if sys.argv[1] == "handler":
    # So that the handler runs in this thread, which goes on in the child.
    threading.Thread.start = refuse
    queue.put("parent")
else:
    queue.put("parent")
    assert entered.wait(30)
    signal.signal(signal.SIGALRM, fork)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
code = 1
try:
    assert queue.flush(None)
    assert balanced(queue.stats()).written == len(children)
    if not children:
        threading.Thread.start = start
        queue._handle = lambda batch: Outcome(len(batch), {})
        queue.put("child")
        assert queue.flush(30)
        assert balanced(queue.stats()).written == 1
    else:
        assert os.waitpid(children[0], 0)[1] == 0
        print("fine", flush=True)
    code = 0
finally:
    os._exit(code)
"""


@pytest.mark.parametrize("where", ["handler", "flush"])
def test_a_fork_inside_the_queues_own_work(where: str) -> None:
    """Forked by the handler, or by a signal that interrupts a flush, a child counts from zero and waits for nobody."""
    assert run_program(_FORK_INSIDE, where) == "fine\n"


_BESIDE_MAIN = """
import os, sys, threading
from pathlib import Path
from pixie_otel.exporters.work_queue import Outcome, WorkQueue

def write(batch):
    with open(sys.argv[1], "a") as file:
        file.write("".join(f"{item}\\n" for item in batch))
    return Outcome(len(batch), {})

queue = WorkQueue("test", write, lambda item: 1)
queue.put("parent")
queue.flush()

def fork():
    child = os.fork()
    if not child:
        queue.put("child")
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)

thread = threading.Thread(target=fork)
thread.start()
thread.join()
"""


def test_a_child_that_ends_with_its_last_thread_ends(tmp_path: Path) -> None:
    """A child of a thread beside the main one lives as long as its threads: the worker leaves when all is written."""
    written = tmp_path / "written"

    assert run_program(_BESIDE_MAIN, written) == "0\n"
    assert written.read_text() == "parent\nchild\n"


_PATCHED_LATER = """
import _thread, queue, sys, threading
from pixie_otel.exporters.work_queue import Outcome, WorkQueue

real = threading.current_thread

def cooperative(*arguments):
    raise SystemExit("a thread that is not preempted")

# What gevent does where it is imported after pixie-otel.
_thread.start_new_thread = threading._start_new_thread = cooperative
threading.Lock = threading.RLock = _thread.allocate_lock = None
written = []
work = WorkQueue("test", lambda batch: written.extend(batch) or Outcome(len(batch), {}), lambda item: 1)
work.put("a")
print(work.flush(), written)
work.put("b")
print(work.shutdown(), written)
"""


def test_threads_that_are_patched_later_change_nothing() -> None:
    """Where gevent patches threads after pixie-otel was imported, the worker still has a thread of the system's."""
    assert run_program(_PATCHED_LATER) == "True ['a']\nTrue ['a', 'b']\n"
