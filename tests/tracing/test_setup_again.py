"""Facts about `init` and its opposite, called more than once, together, late, and around captures and forks."""

from __future__ import annotations

from pathlib import Path

from programs import start_program
from setup_programs import BEGIN, run, written_names


def test_a_second_init_changes_nothing(tmp_path: Path) -> None:
    """The same call again, or one without arguments, is silent; another one is told once and has no effect."""
    said, destinations = run(
        tmp_path,
        """
for _ in range(2):
    init(file="traces/", instrument=False)
    init()
before = len(said)
init(file="other/", instrument=False)
init(exporters=[InMemorySpanExporter()], instrument=False)
print(json.dumps([said[before:], [queue.name for queue in stats().destinations]]))
""",
    )
    assert len(said) == 1
    assert "called again with other settings, which change nothing" in said[0][1]
    assert destinations == [f"file {tmp_path}/traces/"]


def test_init_in_many_threads_is_done_once(tmp_path: Path) -> None:
    """However many threads call it at a time, there is one provider, one hub and one destination."""
    assert run(
        tmp_path,
        """
barrier = threading.Barrier(8)
def begin():
    barrier.wait()
    init(file="traces/", instrument=False)
threads = [threading.Thread(target=begin) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
end_spans("a")
flush()
print(json.dumps([len(said), len(stats().destinations), stats().ended]))
""",
    ) == [0, 1, 1]
    assert written_names(tmp_path) == ["a"]


def test_after_a_shutdown_init_begins_anew(tmp_path: Path) -> None:
    """Destinations are closed and others opened, on the same provider and hub; what ends between is counted."""
    first, second, ended, late = run(
        tmp_path,
        """
one, two = InMemorySpanExporter(), InMemorySpanExporter()
init(exporters=[one], instrument=False)
end_spans("a")
assert shutdown() and runtime.current() is None
end_spans("between")
late = stats().after_shutdown
init(exporters=[two], instrument=False)
end_spans("b")
assert flush()
print(json.dumps([names(one), names(two), stats().ended, late]))
""",
    )
    assert (first, second) == (["a"], ["b"])
    assert (ended, late) == (3, 1)


def test_after_the_provider_was_shut_down_init_begins_anew(tmp_path: Path) -> None:
    """An application that shut the provider down itself, and calls `init` again, has its spans written again."""
    assert (
        run(
            tmp_path,
            """
init(file="traces/", instrument=False)
end_spans("a")
trace.get_tracer_provider().shutdown()
init(file="traces/", instrument=False)
end_spans("b")
print(json.dumps(said))
""",
        )
        == []
    )
    assert written_names(tmp_path) == ["a", "b"]


def test_what_a_capture_set_up_gives_way_to_init(tmp_path: Path) -> None:
    """An `init` after what a capture set up by itself takes effect fully: destinations, content, name, sampler."""
    said, on, content, service = run(
        tmp_path,
        """
from pixie_otel.tracing.capture import capture_traces
with capture_traces() as capture:
    end_spans("captured")
    assert not said
    init(file="traces/", capture_content=False, service_name="late", instrument=False)
    end_spans("both")
assert [span.name for span in capture.spans] == ["captured", "both"]
init()
print(json.dumps([
    said, len(stats().destinations), runtime.current().capture_content,
    trace.get_tracer_provider().resource.attributes["service.name"],
]))
""",
        PIXIE_OTEL_INSTRUMENT="false",
    )
    assert (said, on, content, service) == ([], 1, False, "late")
    assert written_names(tmp_path) == ["both"]


def test_a_capture_sets_up_what_the_environment_says(tmp_path: Path) -> None:
    """What a capture sets up by itself writes where `PIXIE_OTEL_FILE` says, as `init()` would."""
    run(
        tmp_path,
        """
assert init_for_capture() is runtime.current() is not None
assert init_for_capture() is runtime.current()
end_spans("a")
print(json.dumps(said))
""",
        PIXIE_OTEL_FILE="traces/",
        PIXIE_OTEL_INSTRUMENT="false",
    )
    assert written_names(tmp_path) == ["a"]


def test_handlers_that_were_there_before_are_called(tmp_path: Path) -> None:
    """A handler that is added before `init` gets the spans, also after tracing was shut down and set up again."""
    assert run(
        tmp_path,
        """
from pixie_otel.exporters.handlers import InstrumentationHandler
from pixie_otel.tracing.dispatch import add_handler
seen = []
class Handler(InstrumentationHandler):
    def on_observe(self, span):
        seen.append(span.name)
add_handler(Handler())
for name in ("a", "b"):
    init(file="traces/", instrument=False)
    end_spans(name)
    shutdown()
print(json.dumps(seen))
""",
    ) == ["a", "b"]


def test_a_redactor_that_is_given_later_holds(tmp_path: Path) -> None:
    """`redact=` of a later `init` holds for destinations and captures alike."""
    captured, written = run(
        tmp_path,
        """
from pixie_otel.tracing.capture import capture_traces
exporter = InMemorySpanExporter()
init_for_capture()
init(exporters=[exporter], redact=lambda key, value: "hidden" if key == "input.value" else value, instrument=False)
with capture_traces() as capture:
    trace.get_tracer("t").start_span("s", attributes={"input.value": "mine"}).end()
flush()
print(json.dumps([capture.spans[0].input, exporter.get_finished_spans()[0].attributes["input.value"]]))
""",
        PIXIE_OTEL_INSTRUMENT="false",
    )
    assert (captured, written) == ("hidden", "hidden")


def test_a_shutdown_does_not_wait_for_an_init_for_ever(tmp_path: Path) -> None:
    """Where another thread hangs in `init`, `shutdown` gives up after its timeout and says so."""
    assert (
        run(
            tmp_path,
            """
from pixie_otel.tracing import provider
inside = threading.Event()
def slow(settings):
    inside.set(); threading.Event().wait()
provider.attach = slow
threading.Thread(target=lambda: init(instrument=False), daemon=True).start()
inside.wait()
print(json.dumps(shutdown(0.1)), flush=True)
""",
        )
        is False
    )


def test_a_fork_in_the_middle_of_init_leaves_the_child_free(tmp_path: Path) -> None:
    """A child that was forked while another thread was in `init` can call everything without waiting for it."""
    process = start_program(
        BEGIN
        + """
from pixie_otel.tracing import provider
inside, go_on = threading.Event(), threading.Event()
attach = provider.attach
def slow(settings):
    inside.set(); go_on.wait()
    return attach(settings)
provider.attach = slow
threading.Thread(target=lambda: init(instrument=False)).start()
inside.wait()
child = os.fork()
if not child:
    provider.attach = attach
    init(file="traces/", instrument=False)
    end_spans("child")
    os._exit(0 if shutdown() else 1)
status = os.waitpid(child, 0)[1]
go_on.set()
print(json.dumps(status))
""",
        tmp_path,
    )
    try:
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert out == "0\n"
    assert written_names(tmp_path) == ["child"]
