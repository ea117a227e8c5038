"""Facts about the end of a process: nothing that was recorded is lost, and the end is as it would have been."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections import Counter
from pathlib import Path
from urllib.request import urlopen

import pytest
from collectors import collector
from ending_programs import program_of
from programs import run_program, start_program
from setup_programs import written_names

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals and forks are POSIX's")

_SECONDS = 60.0
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
    process = start_program(program_of(_ENDLESS), folder)
    _read(process, str(after))
    process.send_signal(signal.SIGTERM)
    rest, errors = _end(process)
    assert process.returncode == -signal.SIGTERM, errors
    # The last line may have been cut off by the signal.
    last = max([after, *map(int, rest.split("\n")[:-1])])
    names = Counter(int(name) for name in written_names(folder))
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
        program_of("""
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
    assert written_names(tmp_path) == ["a"]


def test_a_second_sigterm_does_not_cut_the_first_one_short(tmp_path: Path) -> None:
    """Who terminates a process twice in a row loses nothing by it."""
    process = start_program(
        program_of("""
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
        program_of("""
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
    assert written_names(tmp_path) == ["a"]


def test_a_web_server_ends_in_its_own_way(tmp_path: Path) -> None:
    """uvicorn, which handles SIGTERM itself and then dies of it, finishes its requests and loses no span."""
    process = start_program(
        program_of("""
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
    assert written_names(tmp_path) == ["request"]


def test_a_web_server_that_runs_before_init(tmp_path: Path) -> None:
    """Where `init` is called inside uvicorn, as in each of its workers, the last spans of its shutdown are written."""
    process = start_program(
        program_of("""
import uvicorn
async def app(scope, receive, send):
    await receive()
    init(file="traces/", instrument=False)
    init(file="traces/", instrument=False)
    await send({"type": "lifespan.startup.complete"})
    print("ready", flush=True)
    await receive()
    end_spans("last")
    await send({"type": "lifespan.shutdown.complete"})
uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on", port=0)).run()
"""),
        tmp_path,
    )
    _read(process, "ready")
    process.send_signal(signal.SIGTERM)
    _end(process)
    assert process.returncode == -signal.SIGTERM
    assert written_names(tmp_path) == ["last"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_application_s_own_handler_is_kept(tmp_path: Path, when: str) -> None:
    """Whether it was set before or after `init`, the application's handler decides, and its exit writes the spans."""
    mine = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
    begin = 'init(file="traces/", instrument=False)\n'
    process = start_program(
        program_of(
            (mine + begin if when == "before" else begin + mine)
            + 'end_spans("a")\nprint("ready", flush=True)\nsignal.pause()'
        ),
        tmp_path,
    )
    _read(process, "ready")
    process.send_signal(signal.SIGTERM)
    _end(process)
    assert process.returncode == 7
    assert written_names(tmp_path) == ["a"]


def test_the_handler_is_only_set_where_nobody_cares(tmp_path: Path) -> None:
    """A signal that is ignored stays so, a thread sets no handler, and `shutdown` takes ours away, but no other."""
    out, _ = run_program(
        program_of("""
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
        program_of(f'init(file="traces/", instrument=False)\nend_spans("a", "b", "c")\n{end}\n'),
        tmp_path,
        status=status,
    )
    assert written_names(tmp_path) == ["a", "b", "c"]


def test_spans_of_the_last_moment_are_written(tmp_path: Path) -> None:
    """What threads and exit handlers of the application end, before ours runs, is written."""
    run_program(
        program_of("""
import atexit
init(file="traces/", instrument=False)
atexit.register(end_spans, "at exit")
threading.Thread(target=lambda: (threading.main_thread().join(), end_spans("in a thread"))).start()
"""),
        tmp_path,
    )
    assert written_names(tmp_path) == ["at exit", "in a thread"]


def test_an_exporter_that_hangs_does_not_keep_a_process_alive(tmp_path: Path) -> None:
    """At its end a process waits a few seconds for an exporter, not for ever; the file has its spans."""
    run_program(program_of('init(file="traces/", exporters=[Hanging()], instrument=False)\nend_spans("a")\n'), tmp_path)
    assert written_names(tmp_path) == ["a"]


def test_a_dead_endpoint_does_not_keep_a_process_alive(tmp_path: Path) -> None:
    """An endpoint that does not answer, or is not there, holds up the end for seconds only; the file has its spans."""
    program = program_of("""
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
            assert written_names(folder) == ["a"]


def test_the_provider_s_own_shutdown_closes_destinations(tmp_path: Path) -> None:
    """An application that shuts the provider down has everything written, and can still call `shutdown`."""
    out, _ = run_program(
        program_of("""
init(file="traces/", instrument=False)
end_spans("a")
trace.get_tracer_provider().shutdown()
end_spans("late")
print(stats().after_shutdown, shutdown(), flush())
"""),
        tmp_path,
    )
    assert out == "1 True True\n"
    assert written_names(tmp_path) == ["a"]


@pytest.mark.parametrize("where", ["under the hub's lock", "under a capture's lock"])
def test_sigterm_may_come_while_a_lock_is_held(tmp_path: Path, where: str) -> None:
    """Whatever the signal interrupts and other threads do meanwhile, spans are written and the process ends."""
    process = start_program(
        program_of(
            f"""
import contextvars
from pixie_otel.tracing.capture import capture_traces
init(file="traces/", instrument=False)
with capture_traces() as handler:
    def go_on():
        while True:
            end_spans("other")
            # Fewer than can be written, however slow the machine is.
            time.sleep(0.001)
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
    assert "before" in written_names(tmp_path)
    assert not errors
