"""Facts about the end of child processes: each writes its own spans, once."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from ending_programs import BEGIN, program_of
from programs import run_program
from setup_programs import written_names

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals and forks are POSIX's")


@pytest.mark.parametrize("end", ["sys.exit(4)", "os.kill(os.getpid(), signal.SIGTERM)", "flush(); os._exit(4)"])
def test_a_forked_child_writes_its_own_spans(tmp_path: Path, end: str) -> None:
    """Spans of parent and children are written once, however a child ends; what waits at the fork is the parent's."""
    out, _ = run_program(
        program_of(f"""
init(file="traces/", instrument=False)
end_spans("before")
children = []
for number in range(3):
    child = os.fork()
    if not child:
        end_spans(f"child {{number}}")
        {end}
    children.append(child)
end_spans("parent")
for child in children:
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""),
        tmp_path,
    )
    assert set(out.split()) == {"-15" if "kill" in end else "4"}
    assert written_names(tmp_path) == ["before", "child 0", "child 1", "child 2", "parent"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing_write_their_own_spans(tmp_path: Path, method: str) -> None:
    """Processes and pools of multiprocessing, which skip the exit handlers, write every span once."""
    (tmp_path / "work.py").write_text(
        BEGIN
        + """
def work(name):
    init(file="traces/", instrument=False)
    end_spans(name)
    return name
"""
    )
    run_program(
        program_of(f"""
import multiprocessing
from work import work
if __name__ == "__main__":
    init(file="traces/", instrument=False)
    end_spans("parent")
    context = multiprocessing.get_context({method!r})
    child = context.Process(target=work, args=("child",))
    child.start(); child.join()
    assert child.exitcode == 0
    with context.Pool(1) as pool:
        assert pool.map(work, ["pool 1", "pool 2"]) == ["pool 1", "pool 2"]
        pool.close(); pool.join()
"""),
        tmp_path,
    )
    assert written_names(tmp_path) == ["child", "parent", "pool 1", "pool 2"]


def test_a_child_that_is_terminated_writes_its_spans(tmp_path: Path) -> None:
    """A process of multiprocessing that its parent terminates loses nothing."""
    run_program(
        program_of("""
import multiprocessing
def work(ready):
    end_spans("child")
    ready.send(True)
    signal.pause()
init(file="traces/", instrument=False)
context = multiprocessing.get_context("fork")
mine, its = context.Pipe()
child = context.Process(target=work, args=(its,))
child.start(); mine.recv()
child.terminate(); child.join()
assert child.exitcode == -15
"""),
        tmp_path,
    )
    assert written_names(tmp_path) == ["child"]


@pytest.mark.parametrize("first", ["init", "celery"])
def test_a_process_of_celery_writes_its_spans(tmp_path: Path, first: str) -> None:
    """A process of Celery's pool that is killed at its end has written its spans, whichever was imported first."""
    steps = ['init(file="traces/", instrument=False)', "import celery.signals"]
    steps.sort(key=lambda step: first not in step)
    (tmp_path / "celery").mkdir()
    (tmp_path / "celery" / "__init__.py").touch()
    (tmp_path / "celery" / "signals.py").write_text(
        "class Signal:\n"
        "    receivers = {}\n"
        "    def connect(self, receiver, *, weak, dispatch_uid):\n"
        "        self.receivers[dispatch_uid] = receiver\n"
        "    def send(self, **named):\n"
        "        for receiver in self.receivers.values():\n"
        "            receiver(signal=self, **named)\n"
        "worker_process_shutdown = Signal()\n",
        encoding="utf-8",
    )
    run_program(
        program_of(
            "\n".join(steps)
            + """
if (pid := os.fork()) == 0:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_spans("task")
    celery.signals.worker_process_shutdown.send(sender=None, pid=os.getpid(), exitcode=0)
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(pid, 0)
"""
        ),
        tmp_path,
        {"PYTHONPATH": "."},
    )
    assert written_names(tmp_path) == ["task"]
