"""Facts about the end of a process: nothing that was recorded is lost, and the end is as it would have been."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast
from urllib.request import urlopen

import pytest
from collectors import collector
from opentelemetry import trace
from programs import run_program, start_program, written_spans

from pixie_otel import diagnostics
from pixie_otel.tracing import lifecycle, runtime

if TYPE_CHECKING:
    from pixie_otel.tracing.hub import SpanHub

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
    """Wait for a process to end, and give what it had still to say."""
    assert process.stdout is not None
    assert process.stderr is not None
    watchdog = threading.Timer(_SECONDS, process.kill)
    watchdog.start()
    try:
        # Not `communicate`, which would leave out what was read ahead by `_read`.
        return process.stdout.read(), process.stderr.read()
    finally:
        process.wait()
        watchdog.cancel()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


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
    assert process.stdin is not None
    process.stdin.write("go on\n")
    process.stdin.flush()
    out, _ = _end(process)
    assert process.returncode == -signal.SIGTERM
    assert out.split() == ["a", "b"]


def test_sigterm_reaches_an_event_loop(tmp_path: Path) -> None:
    """A program that waits in asyncio is terminated all the same, with its spans written."""
    process = start_program(
        _program("""
import asyncio
async def main():
    init(file="traces/", instrument=False)
    end_spans("a")
    print("ready", flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""),
        tmp_path,
    )
    _read(process, "ready")
    process.send_signal(signal.SIGTERM)
    _end(process)
    assert process.returncode == -signal.SIGTERM
    assert _names(tmp_path) == ["a"]


def test_a_web_server_ends_in_its_own_way(tmp_path: Path) -> None:
    """uvicorn, which handles SIGTERM itself and then dies of it, finishes its requests and loses no span."""
    process = start_program(
        _program("""
import socket, uvicorn
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    end_spans("request")
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"done"})
init(file="traces/", instrument=False)
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off")).run(sockets=[listening])
"""),
        tmp_path,
    )
    assert process.stdout is not None
    port = int(process.stdout.readline())
    with urlopen(f"http://127.0.0.1:{port}/", timeout=_SECONDS) as answer:
        assert answer.read() == b"done"
    process.send_signal(signal.SIGTERM)
    _end(process)
    assert process.returncode == -signal.SIGTERM
    assert _names(tmp_path) == ["request"]


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


class _Hub:
    """A hub that keeps what it is asked, and may fail."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self._error = error

    def flush(self, timeout: float) -> bool:
        """Flush."""
        return self._did(f"flush {timeout:g}")

    def close(self, timeout: float) -> bool:
        """Close."""
        return self._did(f"close {timeout:g}")

    def _did(self, what: str) -> bool:
        self.asked.append(what)
        if self._error is not None:
            raise self._error
        return True


@contextmanager
def _in_force(hub: _Hub | None) -> Iterator[None]:
    before, handler = runtime.current(), signal.getsignal(signal.SIGTERM)
    runtime.install(None if hub is None else runtime.Runtime(trace.get_tracer("t"), cast("SpanHub", hub)))
    try:
        yield
    finally:
        runtime.install(before)
        signal.signal(signal.SIGTERM, handler)


@pytest.mark.parametrize("error", [None, RuntimeError("broken")])
def test_the_handler_flushes_and_hands_the_signal_on(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    """Whatever fails in a flush, the signal then goes to the system, and a second one does not come between."""
    hub, sent = _Hub(error), list[tuple[int, int]]()

    def kill(process: int, number: int) -> None:
        sent.append((process, number))

    monkeypatch.setattr(diagnostics, "_errors", {})
    monkeypatch.setattr(lifecycle.os, "kill", kill)
    with _in_force(hub):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        lifecycle.arm()
        signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        lifecycle.arm()
        monkeypatch.setattr(lifecycle, "_ending", _held())
        signal.raise_signal(signal.SIGTERM)
        lifecycle.disarm()
    assert hub.asked == ["flush 1.5"]
    assert sent == [(os.getpid(), signal.SIGTERM)]
    assert diagnostics.internal_errors() == ({} if error is None else {"flushing on SIGTERM": 1})


def _held() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


@pytest.mark.parametrize("error", [None, RuntimeError("broken")])
def test_the_exit_closes_what_is_in_force(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    """At the end everything is closed within seconds, and a fault goes no further; without tracing nothing happens."""
    hub = _Hub(error)
    monkeypatch.setattr(diagnostics, "_errors", {})
    with _in_force(hub):
        lifecycle._at_exit()
    with _in_force(None):
        lifecycle._at_exit()
    assert hub.asked == ["flush 1.5", "close 0.5"]
    faults = {"flushing at exit": 1, "shutting down at exit": 1}
    assert diagnostics.internal_errors() == ({} if error is None else faults)


@pytest.mark.parametrize("error", [None, RuntimeError("broken")])
def test_the_end_of_a_process_of_celery_flushes(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    """What Celery announces is a flush, of which no fault goes further; without tracing nothing happens."""
    hub = _Hub(error)
    monkeypatch.setattr(diagnostics, "_errors", {})
    with _in_force(hub):
        lifecycle._on_celery_end(sender=None, pid=1, exitcode=0)
    with _in_force(None):
        lifecycle._on_celery_end(sender=None, pid=1, exitcode=0)
    assert hub.asked == ["flush 1.5"]
    assert diagnostics.internal_errors() == ({} if error is None else {"flushing for Celery": 1})


def test_a_flush_goes_on_for_as_long_as_spans_get_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue that empties slowly is waited for; one in which nothing moves any more is given up."""
    counts = [(10, 6), (10, 3), (10, 3), (10, 0)]

    class Slow:
        flushes = 0

        def flush(self, timeout: float) -> bool:
            self.flushes += 1
            return not counts[0][1]

        def stats(self) -> SimpleNamespace:
            ended, queued = counts.pop(0)
            return SimpleNamespace(destinations=[SimpleNamespace(ended=ended, queued=queued)])

    dead = Slow()
    lifecycle._flush(cast("SpanHub", dead), 60)
    assert (dead.flushes, counts) == (3, [(10, 0)])
    counts[:] = [(10, 6), (10, 3), (10, 0)]
    slow = Slow()
    lifecycle._flush(cast("SpanHub", slow), 60)
    assert (slow.flushes, counts) == (3, [(10, 0)])


def test_an_interpreter_that_may_not_set_handlers_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python refuses to set handlers, as in interpreters beside the main one, `init` and `shutdown` go on."""

    def refuse(*_: object) -> None:
        raise ValueError("signal only works in main thread of the main interpreter")

    with _in_force(None):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with monkeypatch.context() as patch:
            patch.setattr(lifecycle.signal, "signal", refuse)
            lifecycle.arm()
            lifecycle.disarm()
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        lifecycle.arm()
        with monkeypatch.context() as patch:
            patch.setattr(lifecycle.signal, "signal", refuse)
            lifecycle.disarm()
        lifecycle.disarm()


@pytest.mark.parametrize("where", ["under the hub's lock", "under a capture's lock"])
def test_sigterm_may_come_while_a_lock_is_held(tmp_path: Path, where: str) -> None:
    """Whatever the signal interrupts and other threads do meanwhile, spans are written and the process ends."""
    process = start_program(
        _program(
            f"""
import contextvars
from pixie_otel.tracing.capture import capture_traces
init(file="traces/", instrument=False)
with capture_traces() as handler:
    def go_on():
        while True:
            end_spans("other")
    threading.Thread(target=contextvars.copy_context().run, args=(go_on,), daemon=True).start()
    end_spans("before")
    def interrupted():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    if {where!r} == "under a capture's lock":
        with handler.store._lock:
            interrupted()
    main, expect = threading.get_ident(), handler.store.expect
    handler.store.expect = lambda: interrupted() if threading.get_ident() == main else expect()
    end_spans("interrupted")
"""
        ),
        tmp_path,
    )
    _, errors = _end(process)
    assert process.returncode == -signal.SIGTERM, errors
    assert "before" in _names(tmp_path)
    assert not errors


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
        _program(
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
    assert _names(tmp_path) == ["task"]
