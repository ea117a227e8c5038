"""Facts about the end of a process: nothing that was recorded is lost, and the end is as it would have been."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from collectors import collector
from programs import run_program, start_program, written_spans

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals and forks are POSIX's")

_SECONDS = 60.0
_BEGIN = """
import os, signal, sys, threading, time
from opentelemetry import trace
from pixie_otel.tracing.setup import flush, init, shutdown, stats
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

def end_spans(*names):
    for name in names:
        trace.get_tracer("t").start_span(str(name)).end()

class Hanging(SpanExporter):
    def export(self, spans):
        print("hanging", flush=True)
        threading.Event().wait()

class Slow(SpanExporter):
    def export(self, spans):
        print("slow", flush=True)
        sys.stdin.readline()
        print(*(span.name for span in spans), flush=True)
        return SpanExportResult.SUCCESS
"""
# Says the number of each span after it has ended, for as long as it lives.
_ENDLESS = """
init(file="traces/", instrument=False)
number = 0
while True:
    end_spans(number)
    os.write(1, b"%d\\n" % number)
    number += 1
    time.sleep(0.0002)
"""


def _program(text: str) -> str:
    return _BEGIN + text


def _names(folder: Path) -> list[str]:
    return sorted(span.name for span in written_spans(folder / "traces"))


def _end(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate(timeout=_SECONDS)
    finally:
        process.kill()
        process.wait()


def _read(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == text:
            return
    pytest.fail(f"{text!r} was never said: {_end(process)}")


def _terminated(folder: Path, *, after: int) -> None:
    """Terminate a program in the middle of its work, and look for every span of which it knew that it had ended."""
    process = start_program(_program(_ENDLESS), folder)
    _read(process, str(after))
    process.send_signal(signal.SIGTERM)
    rest, errors = _end(process)
    assert process.returncode == -signal.SIGTERM, errors
    # The last line may have been cut off by the signal.
    last = max([after, *map(int, rest.split("\n")[:-1])])
    names = Counter(int(name) for name in _names(folder))
    assert [number for number in range(last + 1) if names[number] != 1] == []
    assert len(names) <= last + 2
    assert not errors


def test_sigterm_loses_nothing(tmp_path: Path) -> None:
    """A process that is terminated has written all spans that had ended, and dies of the signal."""
    for number, after in enumerate((0, 40, 500)):
        folder = tmp_path / str(number)
        folder.mkdir()
        _terminated(folder, after=after)


@pytest.mark.long
def test_a_hundred_sigterms_lose_nothing(tmp_path: Path) -> None:
    """What holds for a few processes that are terminated holds for a hundred."""
    for number in range(100):
        folder = tmp_path / str(number)
        folder.mkdir()
        _terminated(folder, after=number * 7)


def test_sigterm_ends_a_process_whose_exporter_hangs(tmp_path: Path) -> None:
    """An exporter that never comes back does not keep a process from being terminated, nor the file from its spans."""
    process = start_program(
        _program("""
init(file="traces/", exporters=[Hanging()], instrument=False)
end_spans("a")
signal.pause()
"""),
        tmp_path,
    )
    _read(process, "hanging")
    process.send_signal(signal.SIGTERM)
    _end(process)
    assert process.returncode == -signal.SIGTERM
    assert _names(tmp_path) == ["a"]


def test_a_second_sigterm_does_not_cut_the_first_one_short(tmp_path: Path) -> None:
    """Who terminates a process twice in a row loses nothing by it."""
    process = start_program(
        _program("""
init(exporters=[Slow()], instrument=False)
real = signal.getsignal(signal.SIGTERM)
end_spans("a", "b")
while True:
    signal.pause()
"""),
        tmp_path,
    )
    _read(process, "slow")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate("go on\n", timeout=_SECONDS)
    assert process.returncode == -signal.SIGTERM
    assert out.split() == ["a", "b"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_application_s_own_handler_is_kept(tmp_path: Path, when: str) -> None:
    """Whether it was set before or after `init`, the application's handler decides, and its exit writes the spans."""
    mine = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
    begin = 'init(file="traces/", instrument=False)\n'
    process = start_program(
        _program(
            (mine + begin if when == "before" else begin + mine)
            + 'end_spans("a")\nprint("ready", flush=True)\nsignal.pause()'
        ),
        tmp_path,
    )
    _read(process, "ready")
    process.send_signal(signal.SIGTERM)
    _end(process)
    assert process.returncode == 7
    assert _names(tmp_path) == ["a"]


def test_the_handler_is_only_set_where_nobody_cares(tmp_path: Path) -> None:
    """A signal that is ignored stays so, a thread sets no handler, and `shutdown` takes ours away, but no other."""
    out, _ = run_program(
        _program("""
def now(): return signal.getsignal(signal.SIGTERM)
def of_ours(): return getattr(now(), "__module__", None) == "pixie_otel.tracing.lifecycle"
signal.signal(signal.SIGTERM, signal.SIG_IGN)
init(instrument=False, exporters=[])
print(now() is signal.SIG_IGN)
shutdown()
print(now() is signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
thread = threading.Thread(target=lambda: (init(instrument=False), shutdown(), init(instrument=False)))
thread.start(); thread.join()
print(now() is signal.SIG_DFL)
shutdown()
init(instrument=False)
print(of_ours())
shutdown()
print(now() is signal.SIG_DFL)
init(instrument=False)
def other(*_): pass
signal.signal(signal.SIGTERM, other)
shutdown()
print(now() is other)
"""),
        tmp_path,
    )
    assert out.split() == ["True"] * 6


@pytest.mark.parametrize(
    ("end", "status"), [("", 0), ("sys.exit(3)", 3), ("raise RuntimeError", 1), ("os.kill(os.getpid(), 2)", -2)]
)
def test_every_ordinary_end_writes_everything(tmp_path: Path, end: str, status: int) -> None:
    """The end of the program, `sys.exit`, an exception and Ctrl-C all write the spans, and keep their status."""
    run_program(
        _program(f'init(file="traces/", instrument=False)\nend_spans("a", "b", "c")\n{end}\n'), tmp_path, status=status
    )
    assert _names(tmp_path) == ["a", "b", "c"]


def test_spans_of_the_last_moment_are_written(tmp_path: Path) -> None:
    """What threads and exit handlers of the application end, before ours runs, is written."""
    run_program(
        _program("""
import atexit
init(file="traces/", instrument=False)
atexit.register(end_spans, "at exit")
threading.Thread(target=lambda: (threading.main_thread().join(), end_spans("in a thread"))).start()
"""),
        tmp_path,
    )
    assert _names(tmp_path) == ["at exit", "in a thread"]


def test_an_exporter_that_hangs_does_not_keep_a_process_alive(tmp_path: Path) -> None:
    """At its end a process waits a few seconds for an exporter, not for ever; the file has its spans."""
    run_program(_program('init(file="traces/", exporters=[Hanging()], instrument=False)\nend_spans("a")\n'), tmp_path)
    assert _names(tmp_path) == ["a"]


def test_a_dead_endpoint_does_not_keep_a_process_alive(tmp_path: Path) -> None:
    """An endpoint that does not answer, or is not there, holds up the end for seconds only; the file has its spans."""
    program = _program("""
import logging
logging.disable()
init(file="traces/", endpoint=sys.argv[1], instrument=False)
end_spans("a")
""")
    with collector() as silent:
        silent.answering.clear()
        for number, endpoint in enumerate((silent.endpoint, "http://127.0.0.1:9")):
            folder = tmp_path / str(number)
            folder.mkdir()
            run_program(program, folder, None, endpoint)
            assert _names(folder) == ["a"]


def test_the_provider_s_own_shutdown_closes_destinations(tmp_path: Path) -> None:
    """An application that shuts the provider down has everything written, and can still call `shutdown`."""
    out, _ = run_program(
        _program("""
init(file="traces/", instrument=False)
end_spans("a")
trace.get_tracer_provider().shutdown()
end_spans("late")
print(stats().after_shutdown, shutdown(), flush())
"""),
        tmp_path,
    )
    assert out == "1 True True\n"
    assert _names(tmp_path) == ["a"]


@pytest.mark.parametrize("end", ["sys.exit(4)", "os.kill(os.getpid(), signal.SIGTERM)", "flush(); os._exit(4)"])
def test_a_forked_child_writes_its_own_spans(tmp_path: Path, end: str) -> None:
    """Spans of parent and children are written once, however a child ends; what waits at the fork is the parent's."""
    out, _ = run_program(
        _program(f"""
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
    assert _names(tmp_path) == ["before", "child 0", "child 1", "child 2", "parent"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing_write_their_own_spans(tmp_path: Path, method: str) -> None:
    """Processes and pools of multiprocessing, which skip the exit handlers, write every span once."""
    (tmp_path / "work.py").write_text(
        _BEGIN
        + """
def work(name):
    init(file="traces/", instrument=False)
    end_spans(name)
    return name
"""
    )
    run_program(
        _program(f"""
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
    assert _names(tmp_path) == ["child", "parent", "pool 1", "pool 2"]


def test_a_child_that_is_terminated_writes_its_spans(tmp_path: Path) -> None:
    """A process of multiprocessing that its parent terminates loses nothing."""
    run_program(
        _program("""
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
    assert _names(tmp_path) == ["child"]
