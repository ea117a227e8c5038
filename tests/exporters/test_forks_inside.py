"""Facts about forks in the middle of our own work, and about what is called in the child."""

from __future__ import annotations

import gc
import multiprocessing.process
import multiprocessing.util
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from fault_programs import run_program

from pixie_otel.diagnostics import internal_errors
from pixie_otel.exporters import forks

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")


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
